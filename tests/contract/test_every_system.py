"""What every rating system owes, found by itself in the registry."""

import os
import shutil
import subprocess
import sys
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))
from strategies import histories

import podium
from podium import entries, rules
from podium.compiled import HOME
from podium.events import encode
from podium.replay import Replayed, _replay, newcomers, replay, scratch_for
from podium.systems import find, names

every_system = pytest.mark.parametrize("name", names())
KEYS = ["pool", "event_id", "player"]


def rated_of(name, rows, **options):
    return podium.rate(rows, name, **options)


@every_system
@given(rows=histories(heats=2))
def test_live_equals_replay_to_the_bit(name, rows):
    live = podium.Live(name)
    parts = []
    for event in dict.fromkeys(row["event_id"] for row in rows):
        parts.append(live.rate([row for row in rows if row["event_id"] == event]))
    replayed = rated_of(name, rows)
    assert pl.concat(parts).rows() == replayed.history.rows()


def growing_idle(name):
    """The system with every growth over idle time that it has switched on."""
    switches = [each for each in fields(find(name)) if each.name in ("idle_growth", "drift")]
    return find(name)(**{each.name: True if isinstance(each.default, bool) else 7.5 for each in switches})


GROWING = [name for name in names() if growing_idle(name).idle_unit is not None]
ERAS = [datetime(year, month, 3, 5, tzinfo=UTC) for year, month in ((1950, 5), (1968, 1), (1969, 12), (2019, 1))]


@pytest.mark.parametrize("era", ERAS, ids=lambda era: f"{era:%Y-%m}")
@pytest.mark.parametrize("name", GROWING)
@settings(max_examples=10)
@given(rows=histories(heats=2), gaps=st.lists(st.integers(0, 40 * 24), min_size=8, max_size=8))
def test_live_equals_replay_where_deviations_grow_idle(name, era, rows, gaps):
    """Before 1970, across it and after, days apart."""
    hours = {f"e{number}": sum(gaps[: number + 1]) for number in range(8)}
    rows = [row | {"started_at": (era + timedelta(hours=hours[row["event_id"]])).isoformat()} for row in rows]
    live = podium.Live(growing_idle(name))
    events = list(dict.fromkeys(row["event_id"] for row in rows))
    parts = [live.rate([row for row in rows if row["event_id"] in some]) for some in (events[:2], *zip(events[2:]))]
    replayed = podium.rate(rows, growing_idle(name))
    assert pl.concat(parts).rows() == replayed.history.rows()


DAILY = [name for name in GROWING if growing_idle(name).idle_unit == "day" and find(name).takes_periods]


@pytest.mark.parametrize("name", DAILY)
def test_idle_days_count_from_the_last_event_of_the_last_period(name):
    """So the first of January's two events may be on any day of it, and in any row of the file."""
    duel = [{"player": "ana", "position": 1}, {"player": "ben", "position": 2}]

    def rated(*days):
        rows = [row | {"event_id": event, "started_at": f"2025-{day}T12:00:00Z"} for event, day in days for row in duel]
        return podium.rate(rows, growing_idle(name), period="1mo")

    late = rated(("a", "01-31"), ("b", "01-31"), ("c", "02-01"))
    spread = rated(("a", "01-01"), ("b", "01-31"), ("c", "02-01"))
    states = [each.ratings.drop("last_event", strict=False).rows() for each in (late, spread)]
    assert states[0] == states[1]
    mixed = rated(("b", "01-31"), ("a", "01-01"), ("c", "02-01"))
    assert mixed.ratings["deviation"].to_list() == late.ratings["deviation"].to_list()
    told = spread.explain("c", "ana")
    assert told.delta == spread.history.filter(event_id="c", player="ana")["delta"][0]
    assert told.rows["contribution"].sum() == pytest.approx(told.delta, abs=1e-9)


@every_system
@settings(max_examples=15)
@given(rows=histories(heats=2, most=4))
def test_compiled_equals_interpreted_to_the_bit(name, rows):
    system = find(name)()
    events = encode(podium.read_results(rows), system)
    compiled = replay(system, events)
    states = newcomers(system, events.player_names.len())
    plain = Replayed(states, np.empty_like(compiled.before), np.empty_like(compiled.after))
    arguments = (system.params(), system.like(), events.columns)
    rating = system.state_type._fields.index("rating")
    for pool in events.pools:
        scratch = scratch_for(system, events.columns, pool.first, pool.last)
        moved = plain.states, plain.before, plain.after
        _replay(*arguments, pool.first, pool.last, rating, scratch, *moved)
    assert compiled.after.tobytes() == plain.after.tobytes()
    assert compiled.before.tobytes() == plain.before.tobytes()


@every_system
@given(rows=histories(heats=2))
def test_explanations_add_up_to_the_change(name, rows):
    rated = rated_of(name, rows)
    for event, player, delta in rated.history.select("event_id", "player", "delta").iter_rows():
        told = rated.explain(event, player)
        assert told.delta == delta
        assert abs(told.rows["contribution"].sum() - delta) < 1e-9
        assert player in told.words


COUNTED_PAIRS = [name for name in names() if name not in ("elo-mmr", "stk-rd", "trials")]


@pytest.mark.parametrize("name", COUNTED_PAIRS)
@given(rows=histories(quits=False))
def test_a_weight_of_two_is_the_heat_held_twice(name, rows):
    """But for systems whose next heat knows of the last (disconnects, overall results), or that shrink with weight."""
    once = [row | {"weight": 2.0} for row in rows]
    twice = [row | {"weight": 1.0, "heat": heat} for row in rows for heat in ("1", "2")]
    kept = ["player", "rating"]
    weighed, held = (rated_of(name, each).ratings.sort("pool", "player").select(kept) for each in (once, twice))
    assert weighed["player"].to_list() == held["player"].to_list()
    assert np.allclose(weighed["rating"], held["rating"], rtol=1e-12)


@every_system
@given(rows=histories(heats=2), seed=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing_but_rounding(name, rows, seed):
    """But for the models that link neighbours in the ranking, where a tie has none of its own order."""
    if find(name).ties_in_file_order and encode(podium.read_results(rows), find(name)()).columns.rank.size:
        return
    by_event = {}
    for row in rows:
        by_event.setdefault(row["event_id"], []).append(row)
    for event in by_event.values():
        seed.shuffle(event)
    mixed = [row for event in by_event.values() for row in event]
    one = rated_of(name, rows).history.sort(KEYS)
    two = rated_of(name, mixed).history.sort(KEYS)
    np.testing.assert_allclose(two["rating"], one["rating"], rtol=1e-9, atol=1e-9)


@every_system
@given(rows=histories(heats=2))
def test_names_do_not_matter(name, rows):
    renamed = [row | {"player": row["player"][::-1] + "'"} for row in rows]
    assert rated_of(name, renamed).history["rating"].to_list() == rated_of(name, rows).history["rating"].to_list()


@every_system
@given(rows=histories(heats=2))
def test_pools_apart_equal_pools_together(name, rows):
    together = rated_of(name, rows).history.sort(KEYS)
    apart = [
        rated_of(name, [row for row in rows if row["pool"] == pool]).history for pool in {row["pool"] for row in rows}
    ]
    assert pl.concat(apart).sort(KEYS).rows() == together.rows()


@every_system
@given(rows=histories())
def test_threads_give_the_same_bits(name, rows):
    system = find(name)()
    events = encode(podium.read_results(rows), system)
    assert replay(system, events, workers=2).after.tobytes() == replay(system, events).after.tobytes()


@every_system
@given(rows=histories(quits=False))
def test_conserving_systems_conserve_the_sum(name, rows):
    if not find(name).conserves:
        return
    parameters = {"base_points_events": None} if name == "stk" else {}
    history = rated_of(name, rows, **parameters).history
    moved = history.group_by("event_id").agg(pl.col("delta").sum())
    assert moved["delta"].abs().max() < 1e-7


@every_system
def test_an_event_where_nobody_counts_changes_nothing(name):
    row = {"event_id": "a", "player": "ana", "time_s": 60, "score": 1, "played_s": 600, "duration_s": 600}
    rows = [row, row | {"player": "ben", "status": "did_not_start"}, row | {"player": "cleo", "ranked": False}]
    rated = rated_of(name, rows)
    assert rated.history.height == rated.ratings.height == 0


@every_system
def test_extreme_ratings_stay_finite(name):
    system = find(name)
    base = {"time_s": 60, "score": 1, "played_s": 600, "duration_s": 600}
    rows = [
        base | {"event_id": f"e{n}", "player": player, "time_s": 60 + (player == "ben"), "score": int(player == "ana")}
        for n in range(3000)
        for player in ("ana", "ben")
    ]
    start = min(1e6, next(setting for setting in fields(system) if setting.name == "initial").metadata["high"])
    rated = podium.rate(rows, system(initial=start, **({"floor": None} if name == "xonstat-2015" else {})))
    assert np.isfinite(rated.replayed.after).all()


@every_system
@given(gap=st.floats(-2000, 2000))
def test_expected_scores_of_both_sides_add_up_to_one(name, gap):
    system = find(name)()
    params = system.params()
    state = system.newcomer()
    moved = {field: getattr(state, field) + gap for field in ("rating", "raw_rating") if field in state._fields}
    entrant = entries.Entrant(1.0, 0.0, 0.0)
    a, b = (rules.enter(params, each, entrant) for each in (state._replace(**moved), state))
    mine = rules.expect(params, a, b)
    assert mine + rules.expect(params, b, a) == pytest.approx(1.0, abs=1e-12)
    if abs(gap) > 1e-6:
        assert (mine > 0.5) == (gap > 0)


@every_system
def test_a_system_survives_repr_and_text(name):
    system = find(name)()
    settings_of = {field: getattr(system, field) for field in (each.name for each in fields(system))}
    text = {field: "none" if value is None else str(value) for field, value in settings_of.items()}
    assert find(name).from_text(text) == system
    with pytest.raises(podium.ParameterError, match="did you mean initial"):
        find(name).from_text({"inital": "1"})


def test_an_edited_rule_is_compiled_anew(tmp_path):
    """Another process rates with a copy of the package, before and after an edit of a rule."""
    shutil.copytree(HOME, tmp_path / "podium")
    rows = [{"event_id": "a", "player": "x", "position": 1}, {"event_id": "a", "player": "y", "position": 2}]
    program = f"import podium; print(podium.rate({rows!r}, 'elo').ratings['rating'].to_list())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PODIUM_CACHE_DIR": str(tmp_path / "cache")}

    def rated():
        run = [sys.executable, "-c", program]
        return subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    assert rated() == "[1512.0, 1488.0]"
    rule = tmp_path / "podium" / "systems" / "elo.py"
    rule.write_text(rule.read_text().replace("me.rating + totals.points,", "me.rating + 2.0 * totals.points,"))
    assert rated() == "[1524.0, 1476.0]"
