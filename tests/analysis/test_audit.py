"""The audit of points: sources and losses of points add up, and suspicious patterns are found."""

import json

import numpy as np
import polars as pl
import pytest
import scipy

import podium
from podium.analysis.audit import audit, connected_groups
from podium.cli.commands import build
from podium.cli.demo import season_path
from podium.systems import names


def duels(*results, start=0):
    return [
        {"event_id": f"d{number:04d}", "player": player, "position": place}
        for number, pair in enumerate(results, start=start)
        for place, player in enumerate(pair, start=1)
    ]


def karts():
    season = podium.read_results(season_path())
    return podium.Results(season.frame.filter(pl.col("pool") == "karts"), season.source)


@pytest.mark.parametrize("name", ["elo", "folyami", "stk", "glicko2", "trueskill"])
def test_points_in_circulation_are_the_sum_of_the_ratings(name):
    rated = podium.rate(karts(), name)
    last = audit(rated).months["circulation"][-1]
    assert last == pytest.approx(rated.ratings["rating"].sum(), rel=1e-9)


def test_base_points_are_separate_from_exchanged_points():
    rated = podium.rate(karts(), "stk")
    found = audit(rated)
    base = found.months["introduced_base_points"].sum()
    assert base == pytest.approx(base_of(rated))
    assert found.unbalanced.is_empty()
    assert found.months["created"].sum() == pytest.approx(0.0, abs=1e-6)


def base_of(rated):
    """Return the sum of instalments: 88, 86, ... points for a player's first, second, ... of 45 events."""
    counts = rated.ratings["events"].to_list()
    return sum(max(2 * (45 - n), 8) for events in counts for n in range(1, min(events, 45) + 1))


def test_asymmetric_factors_create_or_lose_points():
    found = audit(podium.rate(karts(), "folyami")).months
    assert found["created"].sum() + found["leaked"].sum() > 0.0


def test_an_exchange_that_does_not_sum_to_zero_is_reported(monkeypatch):
    """The test pretends that folyami, whose players have different factors, conserves points."""
    rated = podium.rate(karts(), "folyami")
    assert audit(rated).unbalanced.is_empty()
    monkeypatch.setattr(type(rated.system), "conserves", True)
    assert audit(rated).unbalanced["event_id"].is_in(rated.history["event_id"].to_list()).all()
    assert audit(rated).unbalanced.height > 0


def test_unequal_numbers_of_opponents_are_not_reported():
    """Two quitters are not compared with each other, and a team of three plays a single player."""
    finish = [{"event_id": "race", "player": "a", "position": 1}, *duels(("a", "b"))]
    quits = [{"event_id": "race", "player": name, "status": "quit"} for name in "bc"]
    teams = [
        {"event_id": "game", "player": name, "team": "xxxy"[k], "team_score": k // 3} for k, name in enumerate("abcd")
    ]
    found = audit(podium.rate([*finish, *quits, *teams], "elo"))
    assert found.months["leaked"].sum() > 24.0
    assert found.unbalanced.is_empty()


def test_farming_and_isolated_groups_are_found():
    rows = duels(*[("shark", "fish")] * 40, *[("ann", "bob"), ("bob", "cay"), ("cay", "ann"), ("ann", "dan")])
    found = audit(podium.rate(rows, "elo"))
    assert found.farming["player"].to_list() == ["shark"]
    assert found.farming["opponents"][0].to_list() == ["fish"]
    assert [sorted(players) for players in found.isolated_groups["players"]] == [["fish", "shark"]]


def test_steep_newcomers_and_quitters_are_found():
    crowd = [f"p{k:02d}" for k in range(20)]
    rows = duels(*[(crowd[k % 20], crowd[(k * 7 + 3) % 20]) for k in range(400) if k % 20 != (k * 7 + 3) % 20])
    rows += duels(*[("star", crowd[k]) for k in range(12)], start=1000)
    for row in duels(*[(crowd[k], "rager") for k in range(8)], start=2000):
        rows.append(row | ({"status": "quit", "position": None} if row["player"] == "rager" else {}))
    found = audit(podium.rate(rows, "elo"))
    assert "star" in found.newcomers["player"].to_list()
    assert found.quitters.select("player", "quits").rows() == [("rager", 8)]
    assert found.quitters["points"][0] < 0.0


def test_the_command_prints_json(tmp_path, capsys):
    path = tmp_path / "duels.json"
    path.write_text(json.dumps(duels(("ann", "bob"), ("bob", "ann"))))
    build()(["audit", str(path), "--system", "elo", "--format", "json"], standalone_mode=False)
    output = json.loads(capsys.readouterr().out)
    assert output["months"][0]["newcomers"] == 2
    assert list(output) == ["months", "broken", "farmed", "groups", "newcomers", "quitters"]
    assert output["broken"] == []
    assert output["groups"] == []


def test_the_command_prints_every_table_with_rows(tmp_path, capsys):
    path = tmp_path / "duels.json"
    path.write_text(json.dumps(duels(*[("shark", "fish")] * 40, ("ann", "bob"), ("bob", "cay"), ("cay", "ann"))))
    build()(["audit", str(path), "--system", "elo"], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "Points mostly from a few opponents" in printed
    assert "Groups that only play each other" in printed


def equals(matches=600):
    """Yield the results of equal players: random fields in random order."""
    rng = np.random.default_rng(1)
    for number in range(matches):
        field = rng.permutation(24)[: rng.choice([2, 4, 6])]
        for k, player in enumerate(field):
            measures = {"time_s": 100.0 + k, "score": 10.0 - k, "played_s": 600.0, "duration_s": 600.0}
            yield {"event_id": f"e{number}", "player": f"p{player}", "position": k + 1, "mode": "duel"} | measures


@pytest.mark.parametrize("name", names())
def test_equal_players_gain_nothing_from_each_other(name):
    """The audit measures the drift that asymmetric deviations cause."""
    rated = podium.rate(list(equals()), name)
    month = audit(rated).months.row(0, named=True)
    players = rated.ratings.height
    drift = month["mean"] * players - month["introduced_starts"] - month["introduced_base_points"]
    assert month["created"] - month["leaked"] == pytest.approx(drift, abs=1e-6)
    assert month["drift"] == pytest.approx(drift / month["events"], abs=1e-6)
    if rated.system.conserves:
        assert drift == pytest.approx(0.0, abs=1e-6)
    if not rated.system.equals_drift:
        spread = rated.ratings["rating"].std()
        assert drift / players < 0.1 * spread or drift == spread == 0.0  # in fide, these players are all unrated


def test_the_command_has_no_negative_counts_and_shortens_long_lists(tmp_path, capsys):
    farmed = duels(*[("farmer", "friend")] * 20)
    islands = [("x", f"x{k:02d}") for k in range(60)] + [("y", f"y{k:02d}") for k in range(50)]
    path = tmp_path / "results.csv"
    pl.DataFrame(farmed + duels(*islands, start=20)).write_csv(path)
    assert audit(pl.read_csv(path)).farming["others"].to_list() == [0] * audit(pl.read_csv(path)).farming.height
    build()(["audit", str(path)], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "4294967295" not in shown
    assert "and 43 more" in shown
    assert len(shown.splitlines()) < 60


@pytest.mark.parametrize(("size", "links"), [(1, 0), (5, 0), (40, 12), (300, 150), (300, 400)])
def test_groups_are_the_connected_components_of_scipy(size, links):
    one, other = np.random.default_rng(size + links).integers(0, size, (2, links))
    graph = scipy.sparse.coo_array((np.ones(links), (one, other)), shape=(size, size))
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    found = connected_groups(size, one, other)
    smallest = {number: int(np.flatnonzero(label == number)[0]) for number in label.tolist()}
    assert found.tolist() == [smallest[number] for number in label.tolist()]


def test_a_long_chain_is_one_group():
    order = np.random.default_rng(3).permutation(1000)
    assert connected_groups(1000, order[:-1], order[1:]).max() == 0
