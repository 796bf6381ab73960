"""Functions for data analysis: systems by name or text, results as tables, and user-defined metrics."""

import math
from datetime import UTC, datetime, timedelta
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from extent import times

import podium
from podium.systems import find

SEASON = podium.simulate(players=12, events=60, entrants=5, heats=2, teams=0, seed=5).results


@pytest.mark.parametrize("system", times(["elo", "elo-mmr"], ["elo", "glicko2", "elo-mmr"]))
@pytest.mark.parametrize("period", ["event", "1w"])
def test_predictions_are_the_pairs_of_an_evaluation(system, period):
    if (system, period) == ("elo-mmr", "1w"):
        with pytest.raises(podium.ParameterError, match="has no rating periods"):
            podium.rate(SEASON, system, period=period)
        return
    pairs = podium.rate(SEASON, system, period=period).predictions()
    assert pairs.columns == ["event_id", "heat", "pool", "started_at", "player", "opponent", "expected", "result"]
    chance, won = pairs["expected"].to_numpy(), pairs["result"].to_numpy()
    loss = -np.mean(won * np.log(chance) + (1.0 - won) * np.log1p(-chance))
    judged = podium.evaluate(SEASON, system, period=period).scores.row(0, named=True)
    assert pairs.height == judged["pairs"]
    assert loss == pytest.approx(judged["log_loss"], rel=1e-12)


def test_a_prediction_is_the_expected_score_before_the_event():
    events = SEASON["event_id"].unique(maintain_order=True)
    until = SEASON.filter(pl.col("event_id").is_in(events[:40].implode()))
    pairs = podium.rate(SEASON, "glicko2").predictions().filter(event_id=events[40])
    before = podium.rate(until, "glicko2")
    for player, opponent, expected in pairs.select("player", "opponent", "expected").iter_rows():
        assert expected == pytest.approx(before.expected(player, opponent), abs=2e-3)  # without idle days


def test_sides_are_compared_but_not_two_quitters():
    rows = [
        {"event_id": "a", "player": "ana", "team": "x", "position": 1},
        {"event_id": "a", "player": "ben", "team": "x", "position": 1},
        {"event_id": "a", "player": "cy", "team": "y", "position": 2},
        {"event_id": "b", "player": "ana", "position": 1},
        {"event_id": "b", "player": "ben", "status": "dnf"},
        {"event_id": "b", "player": "cy", "status": "quit"},
    ]
    pairs = podium.rate(rows, "elo").predictions()
    found = {(event, frozenset(pair)) for event, *pair in pairs.select("event_id", "player", "opponent").iter_rows()}
    assert (pairs["result"] == pairs["player"].str.starts_with("ana").cast(float)).all()
    assert found == {
        ("a", frozenset({"ana, ben", "cy"})),
        ("b", frozenset({"ana", "ben"})),
        ("b", frozenset({"ana", "cy"})),
    }
    nothing = podium.rate([row | {"ranked": False} for row in rows], "elo").predictions()
    assert nothing.is_empty()


def test_a_user_defined_metric_is_a_column_over_the_judged_pairs():
    from sklearn.metrics import roc_auc_score

    window = podium.Window(since=SEASON["started_at"].to_list()[SEASON.height // 2], min_events=3)
    metrics = {
        "auc": lambda result, expected: roc_auc_score(result > 0.5, expected),
        "pairs_seen": lambda result, _: result.size,
    }
    scores = podium.evaluate(SEASON, ["elo:k=20", "trueskill"], window=window, metrics=metrics).scores
    assert scores["system"].to_list() == ["elo:k=20", "trueskill"]
    assert scores["pairs_seen"].to_list() == scores["pairs"].to_list()
    assert scores["auc"].is_between(0.5, 1.0).all()


def test_a_text_can_set_a_systems_parameters():
    by_text, by_name = podium.rate(SEASON, "elo:k=20,scale=300"), podium.rate(SEASON, "elo", k=20, scale=300)
    assert by_text.ratings.equals(by_name.ratings)
    assert podium.rate(SEASON, "elo:k=20", scale=300).ratings.equals(by_name.ratings)
    with pytest.raises(podium.ParameterError, match="elo:k=20 already sets k"):
        podium.rate(SEASON, "elo:k=20", k=30)
    with pytest.raises(podium.ParameterError, match="k=20,scale=300,k=30 sets a parameter twice"):
        podium.rate(SEASON, "elo:k=20,scale=300,k=30")
    with pytest.raises(podium.ParameterError, match="'k' is not a setting"):
        podium.evaluate(SEASON, "elo:k")
    with pytest.raises(podium.ParameterError, match="there is no system to judge"):
        podium.evaluate(SEASON, [])
    with pytest.raises(podium.ParameterError, match="2 labels are given for 1 system"):
        podium.evaluate(SEASON, ["elo"], labels=["one", "two"])


def test_audit_predict_tune_and_plot_accept_tables_and_names(tmp_path):
    rated = podium.rate(SEASON, "glicko2")
    assert podium.audit(SEASON, "glicko2").months.equals(podium.audit(rated).months)
    names = SEASON["player"].unique().sort().to_list()[:3]
    assert podium.predict(SEASON, names, "glicko2").ranks.equals(rated.predict(names).ranks)
    tuned = podium.tune(SEASON, "elo", "70%", trials=3)
    assert tuned.test.scores["system"].to_list() == ["defaults", "tuned"]
    page = tmp_path / "histories.html"
    podium.plot("histories", rated, players=names, out=page)
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org", "")
    for name in names:
        assert name in text
    with pytest.raises(podium.UnknownError, match="player 'nobody' is not in pool"):
        podium.plot("histories", rated, players=["nobody"])
    with pytest.raises(podium.ParameterError, match=r"'history' is not a chart .*; did you mean 'histories'"):
        podium.plot("history", rated)
    with pytest.raises(podium.ParameterError, match="histories: this chart needs results"):
        podium.plot("histories")


UNDATED: list[dict[str, Any]] = [
    {"event_id": "e", "player": name, "position": place} for place, name in enumerate("abc", 1)
]
CAR, NOON, DAY = {"player": "a", "shared": "x"}, datetime(2025, 1, 1, 12, tzinfo=UTC), timedelta(days=1)
WRONG: Any = {"system": lambda: 0, "class": find("elo"), "name": ["a"], "number": 7, "top": 1.5}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: podium.rate(SEASON, WRONG["system"]),
            "a system is a name, such as 'elo' or 'elo:k=20', or .* not a function",
        ),
        (lambda: podium.rate(SEASON, WRONG["class"]), "not the class Elo: call it"),
        (lambda: podium.rate(SEASON, "elo", columns={"player": "name"}), r"podium\.read_results"),
        (
            lambda: podium.rate(SEASON, "elo").expected(WRONG["name"], "b"),
            r"a name must be a string, but \['a'\] is a list",
        ),
        (lambda: podium.rate(SEASON, "elo").predict("ab"), "entrants: 'ab' is a string"),
        (lambda: podium.Live("elo").expected("a", WRONG["number"]), "a name must be a string, but 7 is a int"),
        (lambda: podium.evaluate(SEASON, "elo", since="2025-02-01"), r"evaluate takes no since; window=podium\.Window"),
        (lambda: podium.rate(SEASON, "elo", period=WRONG["number"]), "period 7 is not a time span"),
        (lambda: podium.rate(SEASON, "elo").leaderboard(top=0), "top: 0 is too small"),
        (lambda: podium.tune(SEASON, "elo", "60%", trials=0), "trials is 0; it must be at least 1"),
        (lambda: podium.rate(UNDATED, "elo").predict(["a", "b"], top=0), "top: 0 is not a number of places"),
        (
            lambda: podium.rate(UNDATED, "elo").predict(["a", "b"], top=WRONG["top"]),
            "top: 1.5 is not a number of places",
        ),
        (lambda: podium.rate(UNDATED, "elo").strengths(top=WRONG["top"]), "top: 1.5 is not a number of places"),
        (lambda: podium.rate(UNDATED, "elo").predict([CAR, "b"]), "a: shared is 'x'. Give equipment by kind"),
        (lambda: podium.rate(UNDATED, "elo").leaderboard(at=NOON), "a date requires the started_at column"),
        (
            lambda: podium.rate(UNDATED, "elo").leaderboard(active_within=DAY),
            "active_within: this requires the started_at column",
        ),
        (lambda: podium.rate(UNDATED, "adaptive").hindsight().at(NOON), "a date requires the started_at column"),
        (lambda: podium.evaluate(UNDATED, "elo", weight="entry"), "weight 'entry' is not one of"),
        (lambda: podium.evaluate(UNDATED, "elo", workers=2), "evaluate takes no workers"),
        (lambda: podium.rate(UNDATED, find("elo")(), k=3), "elo is already an instance. Pass parameters with a system"),
        (lambda: find("adaptive")(shared="a/b/c/d/e/f/g/h"), "adaptive: shared names 8 kinds"),
        (lambda: podium.rate(podium.simulate(events=3), "elo"), "a Simulated is not a table"),
        (
            lambda: podium.rate(SEASON.rename({"player": "xyz"})),
            r"which column has the players\? Give podium\.read_results answers=\['columns\.player=xyz'\]",
        ),
    ],
)
def test_wrong_arguments_are_clear_errors(call, sentence):
    with pytest.raises((podium.ParameterError, podium.ResultsError), match=sentence):
        call()


def test_a_season_can_be_simulated_from_settings():
    assert podium.simulate(events=5, seed=2).results.equals(podium.simulate(podium.Scenario(events=5, seed=2)).results)
    with pytest.raises(podium.ParameterError, match="'evnets' is not a setting of a season"):
        podium.simulate(evnets=5)


PLAYED = ["event_id", "player", "played_s"]
RNG = np.random.default_rng(5)
TEAMS = pl.DataFrame(
    [
        {
            "event_id": f"e{event:02}",
            "player": f"p{player}",
            "team": None if number == 6 else f"t{number // 3}",  # three against three, and one alone
            "position": places[number // 3],
            "status": "quit" if (event + 3 * number) % 11 == 0 else "finished",
            "played_s": 200.0 * (number % 4),
            "duration_s": 600.0,
        }
        for event in range(60)
        for places in [RNG.permutation([1, 2, 3]).tolist()]
        for number, player in enumerate(RNG.permutation(12)[:7].tolist())
    ]
)


def chance_by_sums(system, mine, theirs):
    """Return a side's chance from sums of means and variances. Members are (mean, deviation, part of the game)."""
    lead = sum(part * mean for mean, _, part in mine) - sum(part * mean for mean, _, part in theirs)
    variance = sum(part**2 * (deviation**2 + system.tau**2) for _, deviation, part in mine + theirs)
    if system.name == "trueskill":
        parts = sum(part**2 for *_, part in mine + theirs)
        return NormalDist().cdf(lead / math.sqrt(variance + parts * system.beta**2))
    return 1.0 / (1.0 + math.exp(-lead / math.sqrt(variance + 2.0 * system.beta**2)))


@pytest.mark.parametrize("name", ["trueskill", "openskill-pl", "elo"])
def test_a_side_is_predicted_by_the_model_that_rates_it(name):
    rated = podium.rate(TEAMS, name)
    system, before = rated.system, {}
    parts = {(event, player): max(played / 600.0, 1e-4) for event, player, played in TEAMS[PLAYED].iter_rows()}
    pairs = rated.predictions().rows_by_key("event_id", named=True)
    assert podium.evaluate(TEAMS, name).scores["pairs"].item() == sum(map(len, pairs.values()))
    assert {len(pair["player"].split(", ")) for each in pairs.values() for pair in each} == {1, 2, 3}
    for event, changes in rated.history.rows_by_key("event_id", named=True).items():
        for pair in pairs[event]:
            sides = [pair[side].split(", ") for side in ("player", "opponent")]
            if name == "elo":
                mine, theirs = ([before.get(member, (system.initial, 0.0))[0] for member in side] for side in sides)
                chance = np.mean([1.0 / (1.0 + 10.0 ** ((b - a) / 400.0)) for a in mine for b in theirs])
            else:
                newcomer = system.initial, system.deviation
                known = [
                    [(*before.get(member, newcomer), parts[event, member] if len(side) > 1 else 1.0) for member in side]
                    for side in sides
                ]
                chance = chance_by_sums(system, *known)
            assert pair["expected"] == pytest.approx(chance, abs=1e-9)
        before |= {each["player"]: (each["rating"], each.get("deviation", 0.0)) for each in changes}


@pytest.mark.parametrize("name", ["trueskill", "openskill-bt"])
def test_a_single_players_quit_does_not_affect_the_prediction(name):
    rows = [("ana", 1, "finished", 600.0), ("ben", 2, "finished", 600.0), ("cleo", 3, "quit", 30.0)]
    names = ["player", "position", "status", "played_s"]
    race = pl.DataFrame([{"event_id": "e", "duration_s": 600.0, **dict(zip(names, row, strict=True))} for row in rows])
    assert podium.rate(race, name).predictions()["expected"].to_list() == [0.5] * 3


@pytest.mark.parametrize("system", ["elo", "openskill-pl"])
@pytest.mark.parametrize("season", [SEASON, TEAMS], ids=["alone", "teams"])
def test_the_order_of_rows_in_an_event_does_not_affect_metrics(system, season):
    from sklearn.metrics import roc_auc_score

    metrics = {"auc": lambda result, chance: roc_auc_score(result[result != 0.5] == 1.0, chance[result != 0.5])}
    by_finish = season.sort("event_id", "position", maintain_order=True)
    shuffled = by_finish.sample(fraction=1.0, shuffle=True, seed=2).sort("event_id", maintain_order=True)
    first, second = (podium.evaluate(each, system, metrics=metrics).scores for each in (by_finish, shuffled))
    for column in ("log_loss", "brier", "auc"):
        assert first[column].item() == pytest.approx(second[column].item(), abs=1e-9), column
    won = podium.rate(by_finish, system).predictions()["result"]
    assert 0.4 < won.mean() < 0.6
