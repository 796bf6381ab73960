"""One event that is rated from its rows alone comes to the bits that a table of it comes to."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.engine.heats import encode_small, entries_of
from podium.engine.tables.encoding import encode
from podium.log.content import read_contents
from podium.log.pools import FOREVER, Pool
from podium.pool.roster import Roster, as_table
from podium.results.reading import Results
from podium.store.writing.rating.ledger_rows import PoolState
from podium.store.writing.rating.plan import only_event, rate_one
from podium.store.writing.rating.rating import EventBatch, rate_segments, segments_of
from podium.store.writing.rating.standing_rows import Standing
from podium.systems import find

START = datetime(2025, 6, 1, 12, tzinfo=UTC)
SYSTEMS: dict[str, dict] = {"elo": {}, "stk-rd": {"idle_growth": True}, "glicko": {"idle_growth": 10.0}, "podium": {}}
NUMBERS = {name: k for k, name in enumerate("abcdefgh", start=1)}


def pool_of(name):
    return Pool(1, "main", find(name)(**SYSTEMS[name]), b"secret")


@st.composite
def events(draw):
    """The rows of an event that is fine, with whatever it may hold."""
    names = draw(st.permutations(list(NUMBERS)))[: draw(st.integers(1, 8))]
    shared = {"event_id": "e", "started_at": START}
    shared |= draw(
        st.sampled_from([{}, {}, {"mode": "time-trial"}, {"mode": "grass"}, {"weight": 2.5}, {"ranked": False}])
    )
    rows = []
    for place, name in enumerate(names, start=1):
        own = {"player": name, "position": max(1, place - draw(st.integers(0, 1))), "time_s": 60.0 + place}
        status = draw(st.sampled_from(["finished"] * 6 + ["quit", "dnf", "did_not_start", "disqualified"]))
        if status != "finished":
            own = {"player": name, "status": status, "played_s": 30.0}
        own |= draw(st.sampled_from([{}, {}, {"handicap": True}, {"score": 1.5 * place}, {"duration_s": 90.0}]))
        rows.append(shared | own)
    return rows


def chosen_of(rows, merged):
    (content,) = read_contents(rows, "main", lambda _column, _names: set()).values()
    row = SimpleNamespace(event_id="e", started_at=content.started_at, seq=7, body=content.body(NUMBERS))
    return EventBatch([row], [], merged, FOREVER)


def standing(pool, number, days):
    played_at = round((START - timedelta(days=days)).timestamp() * 1e6)
    state = np.array(pool.system.newcomer(), "<f8")
    state[pool.system.column("rating")] += number * 17.3
    return Standing(float(state[0]), played_at, number, played_at, state.tobytes())


@pytest.mark.parametrize("system", SYSTEMS)
@settings(max_examples=30, deadline=None)
@given(events(), st.dictionaries(st.integers(1, 8), st.integers(-3, 900)), st.booleans(), st.booleans())
def test_rows_alone_come_to_the_bits_of_a_table(system, rows, days, is_merged, is_new):
    pool = pool_of(system)
    chosen = chosen_of(rows, {1: 2} if is_merged else {})
    known = {number: standing(pool, number, each) for number, each in days.items()}
    newest = None
    if pool.system.pool_fields and not is_new:
        first = rate_segments(pool, Roster.resumed(pool.system, {}, None), segments_of(chosen_of(rows, {})))
        newest = PoolState(*first.pools.popitem()) if first.pools else None
    one = only_event(chosen)
    if one is None:
        assert is_merged
        return
    roster = Roster.resumed(pool.system, {each: known[each] for each in one.players & known.keys()}, newest)
    expected = rate_segments(pool, roster, segments_of(chosen))
    found = rate_one(pool, one, known, newest)
    if found is None:
        assert entries_of(one.rows, pool.system) is None or expected.not_finite
        return
    assert found.pools == expected.pools
    for mine, theirs in zip(found.ledger.columns, expected.ledger.columns, strict=True):
        assert (mine.dtype, mine.tobytes()) == (theirs.dtype, theirs.tobytes())


@pytest.mark.parametrize("system", SYSTEMS)
@settings(max_examples=20, deadline=None)
@given(events())
def test_the_columns_are_those_of_the_encoding(system, rows):
    pool, chosen = pool_of(system), chosen_of(rows, {})
    one = only_event(chosen)
    entries = entries_of(one.rows, pool.system)
    if entries is None:
        return
    (segment,) = segments_of(chosen)
    expected = encode(Results(as_table(pool, segment.table), "main"), pool.system).columns
    seen = np.full(len(entries), chosen.events[0].started_at)
    found = encode_small(one.rows, entries, pool.system, "main", chosen.events[0].started_at, seen)
    for name, mine, theirs in zip(found._fields, found, expected, strict=True):
        assert (mine.dtype, mine.flags.writeable) == (theirs.dtype, theirs.flags.writeable), name
        assert np.array_equal(mine, theirs, equal_nan=True), name


def test_a_race_is_rated_from_its_rows():
    rows = [
        {"event_id": "e", "started_at": START, "player": name, "position": place} for place, name in enumerate("abc", 1)
    ]
    pool = pool_of("elo")
    one = only_event(chosen_of(rows, {}))
    assert one is not None
    outcome = rate_one(pool, one, {}, None)
    assert outcome is not None
    assert outcome.ledger.player.tolist() == [1, 2, 3]
    for more in ({"heat": "1"}, {"team": "red"}, {"ranked": False}):
        one = only_event(chosen_of([row | more for row in rows], {}))
        assert one is not None
        assert rate_one(pool, one, {}, None) is None
