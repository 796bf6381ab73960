"""Progressive validation: published figures, no use of later results, and scores calculated by hand."""

import json
import math

import pytest
from extent import times

import podium
from podium.analysis.evaluation import evaluate
from podium.analysis.predictions import MIN_PROBABILITY
from podium.analysis.scores import Window
from podium.cli.commands import build
from podium.systems import find


def races(*orders, start=1):
    return [
        {"event_id": f"r{number}", "started_at": f"2025-01-{number:02d}", "player": player, "position": place}
        for number, order in enumerate(orders, start=start)
        for place, player in enumerate(order, start=1)
    ]


def scores(rows, *systems, **options):
    return evaluate(rows, systems or [find("elo")()], **options).scores.row(0, named=True)


def test_elo_on_half_a_century_of_tennis(shared):
    metrics = scores(shared("data/atp.parquet"), window=Window(since="1991-01-01"))
    assert metrics["pairs"] == metrics["events"] == 107_810
    assert metrics["log_loss"] == pytest.approx(0.61607418593, abs=1e-9)
    assert metrics["brier"] == pytest.approx(0.21395953212, abs=1e-9)
    assert metrics["accuracy"] == pytest.approx(0.65695668305, abs=1e-9)


def test_the_share_of_clipped_predictions():
    """Two matches: first equals, then a wrong prediction with all the certainty of a double."""
    metrics = scores(races("ab", "ba"), find("elo")(scale=1e-3))
    assert metrics["clipped"] == 0.5
    assert metrics["clipped_log_loss"] == pytest.approx(-math.log(MIN_PROBABILITY) / 2.0, rel=1e-12)
    assert metrics["log_loss"] == pytest.approx((math.log(2.0) - math.log(MIN_PROBABILITY)) / 2.0, rel=1e-12)
    assert scores(races("ab", "ba"))["clipped"] == 0.0


def test_two_matches_by_hand():
    """First equals. Then the winner leads by 24 points, is expected to win again, and loses."""
    metrics = scores(races("ab", "ba"))
    expected = 1.0 / (1.0 + 10.0 ** (-24.0 / 400.0))
    assert metrics["log_loss"] == pytest.approx((math.log(2.0) - math.log(1.0 - expected)) / 2.0)
    assert metrics["brier"] == pytest.approx((0.25 + expected**2) / 2.0)
    assert metrics["accuracy"] == 0.25
    assert metrics["winner_log_loss"] == pytest.approx(metrics["log_loss"])
    assert metrics["winner_accuracy"] == 0.25
    assert metrics["kendall_tau"] == pytest.approx(-0.5)


def test_a_field_of_three_by_hand():
    """All pairs of Elo follow from strengths, so the chance to win is the share of the strengths (Luce)."""
    metrics = scores(races("abc", "abc"), window=Window(since="2025-01-02"))
    rating = {"a": 1512.0, "b": 1500.0, "c": 1488.0}
    strength = {name: 10.0 ** (points / 400.0) for name, points in rating.items()}
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    losses = [-math.log(strength[one] / (strength[one] + strength[two])) for one, two in pairs]
    assert metrics["log_loss"] == pytest.approx(sum(losses) / 3.0)
    assert metrics["winner_log_loss"] == pytest.approx(-math.log(strength["a"] / sum(strength.values())))
    assert (metrics["accuracy"], metrics["kendall_tau"], metrics["winner_accuracy"]) == (1.0, 1.0, 1.0)


def test_later_results_are_never_used():
    past = races("abcd", "badc", "dbca")
    windows = Window(until="2025-01-03")
    one = scores(past + races("abcd", "acbd", start=4), window=windows)
    two = scores(past + races("dcba", "dbac", start=4), window=windows)
    assert one == two
    assert one["events"] == 3


def test_a_draw_is_half_right_and_newcomers_are_counted_separately():
    drawn = [row | {"position": 1} for row in races("ab")]
    assert scores(drawn)["accuracy"] == 0.5
    metrics = scores(races(*["ab"] * 12))
    assert (metrics["newcomer_pairs"], metrics["established_pairs"]) == (10, 2)
    assert scores(races(*["ab"] * 12), window=Window(min_events=5))["pairs"] == 7


def test_weights_matter_if_fields_differ_in_size():
    rows = races("ab", "abcd")
    by_pair, by_event = (scores(rows, weight=weight) for weight in ("pair", "event"))
    assert by_pair["log_loss"] != by_event["log_loss"]
    assert by_pair["pairs"] == by_event["pairs"] == 7
    assert scores(rows, weight="player") == by_pair  # nobody has a team


def test_a_system_does_not_differ_from_itself():
    difference = evaluate(races("abc", "bca", "acb"), [find("elo")()] * 2).differences.row(0, named=True)
    assert (difference["log_loss"], difference["low"], difference["high"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", times(["folyami", "glicko2"], ["folyami", "glicko2", "xonstat", "trials"]))
def test_systems_can_be_judged_on_the_example_season(name):
    from podium.cli.demo import season_path

    metrics = scores(season_path(), find(name)())
    assert 0.2 < metrics["log_loss"] < 1.5
    assert 0.5 < metrics["accuracy"] < 1.0


def test_the_command_prints_json(tmp_path, capsys, monkeypatch):
    path = tmp_path / "races.json"
    path.write_text(json.dumps(races("abc", "bca")))
    arguments = ["evaluate", str(path), "--system", "elo", "--system", "elo:k=40,scale=200", "--format", "json"]
    build()(arguments, standalone_mode=False)
    output = json.loads(capsys.readouterr().out)
    assert [each["system"] for each in output["systems"]] == ["elo", "elo:k=40,scale=200"]
    assert len(output["differences"]) == 1


def test_an_empty_window_is_an_error():
    with pytest.raises(podium.ParameterError, match="no pair to judge"):
        evaluate(races("ab"), [find("elo")()], window=Window(since="2026-01-01"))
    rows = [{key: value for key, value in row.items() if key != "started_at"} for row in races("ab")]
    with pytest.raises(podium.ParameterError, match="started_at"):
        evaluate(rows, [find("elo")()], window=Window(since="2026-01-01"))


def team_games(**compared):
    """Return two games of two against two, with these values of the first and the second side."""
    return [
        {"event_id": event, "player": player, "team": "ab"[k // 2]}
        | {name: both[k // 2] for name, both in compared.items()}
        for event in ("g1", "g2")
        for k, player in enumerate(["ana", "ben", "cleo", "dan"])
    ]


@pytest.mark.parametrize("name", ["elo-mmr", "codeforces"])
@pytest.mark.parametrize("compared", [{"team_score": (1, 3)}, {"position": (2, 1)}])
def test_single_player_systems_are_not_judged_on_team_games(name, compared):
    games = team_games(**compared)
    changes = podium.rate(games, name).history.filter(event_id="g1")
    assert changes["delta"].head(2).max() < 0 < changes["delta"].tail(2).min()  # in the order of the sides
    with pytest.raises(
        podium.ParameterError, match=f"{name}: it rates each player individually, and in g1 the members of a team"
    ):
        podium.evaluate(games, ["elo", name])
    with pytest.raises(podium.ParameterError, match="the members of a team share a result"):
        podium.tune(games, name, train_until="50%", trials=2)


def test_players_with_only_a_team_label_are_judged_individually():
    own = [row | {"position": place} for place, row in enumerate(team_games(), start=1)]
    assert podium.evaluate(own, ["elo", "elo-mmr"]).scores["pairs"].to_list() == [12, 12]
    label = [row | {"position": 1.0} for row in own if row["player"] in ("ana", "cleo")]
    assert podium.evaluate(label, ["elo", "elo-mmr"]).scores["pairs"].n_unique() == 1


def test_win_draw_and_loss_are_scored_in_pools_with_drawn_duels():
    drawn = [row | {"position": 1} for row in races("ab")]
    found = scores(drawn + races("ab", "abc", start=2))
    first = -math.log(0.2)  # at first, a fifth of the duels between equals are draws
    later = evaluate(drawn, [find("elo")()]).scores["three_way_log_loss"].item()
    assert later == pytest.approx(first)
    assert found["three_way_log_loss"] > 0.0
    assert (found["pairs"], scores(races("ab", "abc"))["three_way_log_loss"]) == (5, None)
    two = [row | {"pool": "other", "event_id": f"o{row['event_id']}"} for row in races("ab", "ab")]
    assert scores([row | {"pool": "main"} for row in drawn] + two)["three_way_log_loss"] == pytest.approx(first)
