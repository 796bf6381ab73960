"""Elo compared with the FIDE handbook's percentages and with changes calculated by hand."""

from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from entering import ONCE, entry

import podium
from podium.engine.inputs import Heat
from podium.engine.rules import compare, enter
from podium.systems import find

# FIDE Handbook B.02, 8.1.2: the middle of each range of rating differences, and the higher player's expected score in
# hundredths.
EXPECTED = {0: 50, 7: 51, 50: 57, 95: 63, 125: 67, 166: 72, 202: 76, 251: 81, 309: 86, 351: 89}


@pytest.mark.parametrize("gap", EXPECTED)
def test_expected_scores_on_the_logistic_curve(gap):
    """The handbook uses the normal curve, which here differs from the logistic one by at most two hundredths."""
    params = find("elo")().params()
    me, them = (enter(params, find("elo").state_type(rating, 1.0), ONCE) for rating in (1500.0 + gap, 1500.0))
    comparison = compare(params, me, them, entry(1.0), entry(2.0), Heat(2.0, 0.0))[0]
    assert comparison.expected == pytest.approx(EXPECTED[gap] / 100.0, abs=0.02)


def rows(*places):
    return [
        {"event_id": "e", "player": player, "position": place} for player, place in zip("abc", places, strict=False)
    ]


def test_equal_players_win_and_lose_half_of_k():
    assert podium.rate(rows(1, 2), "elo", k=24).ratings["rating"].to_list() == [1512.0, 1488.0]
    assert podium.rate(rows(1, 1), "elo", k=24).ratings["rating"].to_list() == [1500.0, 1500.0]


def test_several_opponents_are_averaged_or_summed():
    """Two wins of half each: their mean is 12 of 24 points, their sum 24."""
    for pairs, rating in (("mean", 1512.0), ("sum", 1524.0)):
        assert podium.rate(rows(1, 2, 3), "elo", k=24, pairs=pairs).ratings["rating"][0] == rating


def test_a_gap_of_one_scale_means_odds_of_ten_to_one():
    """1900 beats 1500 and gains 24 / 11."""
    system = find("elo")(k=24)
    params = system.params()
    entering_states = [system.state_type(rating, 9.0) for rating in (1900.0, 1500.0)]
    comparison = compare(params, *entering_states, entry(1.0), entry(2.0), Heat(2.0, 0.0))[0]
    assert comparison.weight * (comparison.result - comparison.expected) == pytest.approx(24.0 / 11.0, rel=1e-12)


FOOTBALL: dict[str, Any] = {"k": 20, "home": 100, "margin": "goals"}
NFL = "elo:k=20,home=65,margin=log,keep=0.6666666666666667,mean=1505,initial=1300,season=7"
REVERTED = (  # FiveThirtyEight's ratings at the start of a season that replace the reversion
    ("CBD", 1925, 1502.032), ("RAC", 1926, 1403.384), ("LOU", 1926, 1307.201), ("CIB", 1927, 1362.919),
    ("MNN", 1929, 1306.702), ("BFF", 1929, 1331.943), ("LAR", 1944, 1373.977), ("PHI", 1944, 1497.988),
    ("ARI", 1945, 1353.939), ("PIT", 1945, 1353.939), ("CLE", 1999, 1300.0),
)  # fmt: skip


def match(goals, others, day="2025-08-01", weight=1.0, home=None):
    """Return one match of Ana against Ben. `home` is the player at home."""
    side = {home: "home"}
    rows = [("ana", goals), ("ben", others)]
    shared = {"event_id": day, "started_at": day, "weight": weight}
    return [shared | {"player": name, "score": score, "side": side.get(name)} for name, score in rows]


def start(ana, ben):
    return [{"player": "ana", "rating": float(ana)}, {"player": "ben", "rating": float(ben)}]


def test_world_football_elo():
    """The example of eloratings.net, "About": 630 beats 500 by 3-1 in a friendly on neutral ground."""
    rated = podium.rate(match(3, 1), "elo", start=start(630, 500), **FOOTBALL)
    assert rated.history["delta"].to_list() == pytest.approx([9.6355, -9.6355], abs=1e-4)
    for goals, factor in ((1, 1.0), (2, 1.5), (3, 1.75), (4, 1.875), (7, 2.25)):
        won = podium.rate(match(goals, 0, weight=3.0), "elo", start=start(1500, 1500), **FOOTBALL)
        assert won.history["delta"][0] == pytest.approx(60 * factor * 0.5, rel=1e-12)


def test_home_and_margin_affect_predictions_stakes_and_explanations():
    rated = podium.rate([*match(4, 1, home="ben"), *match(1, 1, "2025-08-08", home="ana")], "elo", **FOOTBALL)
    home = 1 / (1 + 10 ** (-100 / 400))
    assert rated.history["delta"][0] == pytest.approx(20 * 1.75 * home, rel=1e-12)
    for event, player, delta in rated.history.select("event_id", "player", "delta").iter_rows():
        rows = rated.explain(event, player).rows
        assert rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)
        assert "home" in rows["cause"].to_list()
    sides: list[Any] = [[{"player": "ana", "side": "home"}], ["ben"]]
    lines = rated.stakes(sides=sides, player="ana").frame["delta"].to_list()
    won = podium.rate(match(1, 0, "2025-09-01", home="ana"), "elo", start=rated, **FOOTBALL).history["delta"][0]
    assert lines[0] == pytest.approx(won, abs=1e-9)
    three = rated.stakes(sides=sides, player="ana", margin=3.0).frame["delta"][0]
    assert three == pytest.approx(1.75 * won, rel=1e-9)


@pytest.mark.parametrize("margin", ["none", "goals", "root", "log"])
def test_elo_with_options_passes_check_system(margin):
    system = find("elo")(k=20, home=65, margin=margin, keep=0.5)
    assert podium.check_system(system, histories=2).kept


def test_options_by_position_and_by_name_give_the_same_system():
    assert find("elo")(20.0, 400.0, 1500.0, "mean", 40.0) == find("elo")(k=20, k_new=40)
    assert find("elo")(k=20, k_new=40) != find("elo")(k=20)


def test_a_season_begins_in_its_month_live_and_in_a_replay():
    games = [match(2, 0, day) for day in ("2025-06-29", "2025-07-01", "2025-12-31", "2026-01-01", "2026-08-01")]
    rated = podium.rate([row for game in games for row in game], NFL)
    live = podium.Live(NFL)
    assert [row for game in games for row in live.rate(game).rows()] == rated.history.rows()
    begun = ["season" in rated.explain(game[0]["event_id"], "ana").rows["cause"].to_list() for game in games]
    assert begun == [False, True, False, False, True]


def test_nfl_probabilities_of_fivethirtyeight(shared):
    """All 16,810 are within 2e-6. The season of the special ratings starts with them."""
    games = pl.read_parquet(shared("truth/data/nfl.parquet"))
    ratings = dict(pl.read_csv(shared("truth/data/nfl_starts.csv")).iter_rows())
    states, expected = pl.DataFrame([{"player": name, "rating": rating} for name, rating in ratings.items()]), []
    year = pl.col("started_at").str.slice(0, 4).cast(pl.Int64)
    season = year - (pl.col("started_at").str.slice(5, 2).cast(pl.Int64) < 7).cast(pl.Int64)
    years = [0, *sorted({year for _, year, _ in REVERTED}), 9999]
    for first, stop in pairwise(years):
        special = {name: 1505 + 1.5 * (rating - 1505) for name, year, rating in REVERTED if year == first}
        states = states.drop("peak", strict=False).with_columns(
            rating=pl.col("player").replace_strict(special, default=pl.col("rating"))
        )
        part = games.filter((season >= first) & (season < stop))
        rated = podium.rate(part.drop("published"), NFL, start=states)
        expected.append(rated.predictions())
        states = rated.states
    found = pl.concat(expected).join(games.select("event_id", "player", "published"), on=["event_id", "player"])
    assert found.height == 16_810
    assert (found["expected"] - found["published"]).abs().max() < 2e-6
