"""Fields in the system `adaptive`: the pool learns how far winning depends on skill, compared with its pairs."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.engine.pool_state import sharpness
from podium.systems import find

POOL = find("adaptive").pool_state_type._fields
SHARPNESS = POOL.index("sharpness")


def races(seed, luck_of_first, count=400, field=10):
    """Return races of players with ten grades of skill. The winner's luck has another scale than the others'."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(count):
        skill = rng.permutation(np.linspace(-1.5, 1.5, field))
        first = int(np.argmax(skill + luck_of_first * rng.gumbel(size=field)))
        shown = skill + rng.gumbel(size=field)
        shown[first] = np.inf
        for place, who in enumerate(np.argsort(-shown), 1):
            grade = round((skill[who] + 1.5) * 3)
            rows.append({"event_id": f"e{k:03}", "player": f"p{grade}", "position": place})
    return pl.DataFrame(rows)


def learnt(results):
    """Return the sharpness that a pool has learnt from its fields, and check that the shown table agrees."""
    rated = podium.rate(results, "adaptive")
    sharp = math.exp(rated.replayed.pools[0, SHARPNESS])
    assert rated.learnt()["sharpness"][-1] == pytest.approx(100.0 / sharp)
    return sharp


def test_a_pool_learns_how_far_winning_depends_on_skill():
    assert learnt(races(1, 0.3)) > 1.3
    assert learnt(races(1, 1.0)) == pytest.approx(1.0, abs=0.15)
    assert learnt(races(1, 5.0)) < 0.7


def test_duels_and_ties_for_first_teach_nothing():
    duels = pl.DataFrame(
        [{"event_id": f"e{k}", "player": f"p{k % 3 + i}", "position": 1 + i} for k in range(9) for i in (0, 1)]
    )
    assert learnt(duels) == 1.0
    tied = races(2, 1.0, count=20).with_columns(position=pl.col("position").clip(2) - 1)
    assert learnt(tied) == 1.0


def test_learnt_sharpness_changes_predicted_ranks_but_not_pairs():
    rated = podium.rate(races(3, 0.3), "adaptive")
    pools = rated.replayed.pools.copy()
    pools[0, SHARPNESS] = 0.0
    plain = replace(rated, replayed=replace(rated.replayed, pools=pools))
    for sides in ([["p0"], ["p3"], ["p6"], ["p9"]], [["p0", "p1"], ["p3", "p4"], ["p8", "p9"]]):
        sharp, flat = rated.predict(sides=sides), plain.predict(sides=sides)
        assert sharp.entrants["win"].sum() == pytest.approx(1.0, abs=1e-9)
        assert sharp.entrants["win"][0] > flat.entrants["win"][0] + 0.01
        assert sharp.entrants["mean_rank"][0] < flat.entrants["mean_rank"][0]
        assert sharp.pairs.rows() == flat.pairs.rows()
    assert rated.predict(["p9", "p0"]).entrants.rows() == plain.predict(["p9", "p0"]).entrants.rows()


def test_evaluation_uses_sharpness_for_winners_but_not_for_pairs():
    results = races(4, 0.3)
    scores = podium.evaluate(results, "adaptive").scores.row(0, named=True)
    pairs = podium.rate(results, "adaptive").predictions()
    odds = pairs.with_columns(odds=(pl.col("expected") / (1.0 - pl.col("expected"))).log())
    back = odds.select("event_id", player="opponent", odds=-pl.col("odds"))
    lean = (
        pl.concat([odds.select("event_id", "player", "odds"), back])
        .group_by("event_id", "player")
        .agg(pl.col("odds").sum() / 10)
    )
    lean = lean.join(results, on=["event_id", "player"])
    share = pl.col("odds").exp() / pl.col("odds").exp().sum().over("event_id")
    plain = -lean.with_columns(share.log().alias("log")).filter(pl.col("position") == 1)["log"].mean()
    assert scores["winner_log_loss"] < plain - 0.01
    assert scores["log_loss"] == pytest.approx(
        -(pairs["result"] * pairs["expected"].log() + (1.0 - pairs["result"]) * (1.0 - pairs["expected"]).log()).mean(),
        abs=1e-9,
    )


def test_other_systems_have_no_sharpness():
    assert sharpness(find("elo")().params()) == 1.0


def standing(order, out, teams, event="race", day=40):
    """Return an event in which sides of this size finish in this order and the others quit."""
    shared: dict[str, Any] = {"event_id": event, "started_at": f"2025-{1 + day // 28:02}-{1 + day % 28:02}"}
    placed: list[tuple[Any, dict[str, Any]]] = [(side, {"position": place}) for place, side in enumerate(order, 1)]
    placed += [(side, {"status": "quit"}) for side in out]
    return [
        shared | how | {"player": player} | ({"team": side} if teams > 1 else {})
        for side, how in placed
        for player in [f"{side}{k}" for k in range(teams)]
    ]


@settings(max_examples=30, deadline=None)
@given(data=st.data(), sides=st.integers(2, 6), teams=st.integers(1, 3), events=st.integers(0, 6), dnf=st.booleans())
def test_quitting_never_costs_less_than_finishing_last(data, sides, teams, events, dnf):
    """This holds for all other quits and for all that the pool has learnt from unfinished races."""
    names = "abcdef"[:sides]
    rows = []
    for number in range(events):
        order = data.draw(st.permutations(names))
        cut = data.draw(st.integers(1, sides)) if dnf else sides
        rows += standing(order[:cut], order[cut:], teams, f"e{number}", number)
    start = podium.rate(rows, "adaptive") if rows else None
    order = data.draw(st.permutations(names))
    cut = data.draw(st.integers(2, sides))
    finished, out, mine = order[:cut], order[cut:], f"{order[cut - 1]}0"
    last = podium.rate(standing(finished, out, teams), "adaptive", start=start)
    quit_ = podium.rate(standing(finished[:-1], [finished[-1], *out], teams), "adaptive", start=start)
    changes = [each.history.filter(player=mine, event_id="race")["delta"].item() for each in (last, quit_)]
    assert changes[1] <= changes[0] + 1e-9


@pytest.mark.parametrize("dnf", [False, True])
def test_stakes_never_show_a_quit_that_costs_less_than_the_last_place(dnf):
    rows = [row for k, order in enumerate(("abcd", "bacd", "cabd")) for row in standing(order, "", 1, f"e{k}", k)]
    if dnf:
        rows += standing("dab", "c", 1, "e9", 9)
    rated = podium.rate(rows, "adaptive")
    for player in ("a0", "b0", "c0", "d0"):
        lines = rated.stakes(["a0", "b0", "c0", "d0"], player).frame["delta"].to_list()
        assert lines[4] <= lines[3] + 1e-9


@pytest.mark.parametrize("teams", [1, 2])
def test_explanations_place_all_quits_directly_behind_the_last_finisher(teams):
    rated = podium.rate(standing("ab", "cde", teams), "adaptive")
    reasons = dict(rated.explain("race", "c0").rows.select("opponent", "contribution").iter_rows())
    reach, one_place_further = 3.0, 1.0 / 5
    nearness = 1.0 / (1.0 + (math.pi * one_place_further / reach) ** 2)
    assert reasons["a0"] / reasons["b0"] == pytest.approx(nearness, rel=1e-12)


def test_contributions_add_up_if_a_win_and_a_quit_nearly_cancel_out():
    order = [("1", "e", "abcd"), ("2", "eda", "bc")]
    heats = [row | {"heat": heat} for heat, finished, out in order for row in standing(finished, out, 1)]
    rated = podium.rate(pl.DataFrame(heats, infer_schema_length=None), "adaptive")
    for player in ("a0", "b0", "c0", "d0", "e0"):
        explanation = rated.explain("race", player)
        assert explanation.rows["contribution"].sum() == pytest.approx(explanation.delta, abs=1e-9)
    assert rated.explain("race", "d0").delta < -1.0


def test_deviations_are_wider_in_fields_but_ratings_are_not():
    """Fields of n add 0.11 (1 - 2 / n)^2 to the variance, averaged over ten events. Each heat is a field."""
    races = [row for k in range(12) for row in standing("abcd", "", 1, f"e{k:02}", k)]
    duels = [row for k in range(2) for row in standing("ab", "", 1, f"x{k}", 12 + k)]
    heats = [row | {"heat": side} for side in ("ab", "cd") for row in standing(side, "", 1, "y", 20)]
    rated = podium.rate(pl.concat([pl.DataFrame(races + duels), pl.DataFrame(heats)], how="diagonal"), "adaptive")
    states = rated.states.sort("player")
    added = (states["deviation"] ** 2 - states["filtered"] ** 2) / 173.7178**2
    fours = 0.11 * 0.5**2
    assert added.to_list() == pytest.approx([fours * 0.9**3] * 2 + [fours * 0.9] * 2)
    assert rated.ratings["deviation"].to_list() == rated.states["deviation"].to_list()
    cautious = podium.rate(rated.results, "adaptive:conservative=2").ratings
    score = cautious["rating"] - 2.0 * cautious["deviation"]
    assert score.is_sorted(descending=True)


def test_states_without_shown_deviations_give_the_same_ratings():
    first = podium.rate(standing("abcd", "", 1), "adaptive")
    then = standing("dbca", "", 1, "next", 50)
    ahead = podium.rate(then, "adaptive", start=first.states)
    older = first.states.with_columns(deviation="filtered").drop("filtered")
    again = podium.rate(then, "adaptive", start=older)
    columns = ["player", "rating", "filtered"]
    assert again.states.select(columns).equals(ahead.states.select(columns))
    assert (again.states["deviation"] < ahead.states["deviation"]).all()


def test_a_closed_league_keeps_its_level():
    """Ten teams play sixty seasons without newcomers. If all grow alike, results cannot show it and ratings stay."""
    rng, teams, seasons, rounds = np.random.default_rng(6), 10, 60, 20
    skill, rows = rng.normal(0.0, 0.35, teams), []
    for season in range(seasons):
        skill = 0.8 * skill + rng.normal(0.0, 0.21, teams)
        for number in range(rounds):
            for home, away in rng.permutation(teams).reshape(-1, 2).tolist():
                won = rng.uniform() < 1.0 / (1.0 + math.exp(skill[away] - skill[home] - 0.2))
                event = {
                    "event_id": f"e{len(rows):05}",
                    "started_at": datetime(1960 + season, 1, 1 + number, tzinfo=UTC),
                }
                rows += [
                    event | {"player": f"t{home}", "position": 2 - won, "side": "home"},
                    event | {"player": f"t{away}", "position": 1 + won, "side": "away"},
                ]
    history = podium.rate(pl.DataFrame(rows), "adaptive").history
    level = history.group_by(pl.col("started_at").dt.year()).agg(pl.col("rating").mean()).sort("started_at")["rating"]
    assert (level - level.shift(10)).abs().max() < 20.0
