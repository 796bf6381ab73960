"""Pools of a system that learns from them: its states are stored, and every rating starts from them, to the bit."""

import random
import re
from datetime import timedelta
from itertools import combinations
from unittest import mock

import pytest
import sqlalchemy as sa
from extent import in_turn
from races import START, rows

import podium
from podium.ledger.reasons import what_if
from podium.log.schema import metadata, pool_state
from podium.store import Store
from podium.store.writing import planned
from podium.store.writing.rating import generations, rerating
from podium.store.writing.rating.ledger_rows import newest_pool_state
from podium.systems import find

NAMES = "abcdefgh"
SYSTEM = "podium"
both_kinds = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])


def season(events=9, seed=5):
    """Events of three and four, a day apart."""
    rng = random.Random(seed)  # noqa: S311
    return [rows(number, rng.sample(NAMES, rng.randint(3, 4)), 1440 * number) for number in range(events)]


def filled(url, events, system=SYSTEM):
    store = Store(url)
    store.create_pool("main", find(system)())
    for each in events:
        store.submit("main", each)
    return store


def states(store):
    """Every state that is stored of the pool, in the order of rating."""
    with store.reading("main") as pool:
        select = sa.select(pool_state.c.state).where(pool_state.c.generation_id == pool.generation)
        return pool.connection.execute(select.order_by(pool_state.c.started_at, pool_state.c.seq)).scalars().all()


def history(store):
    return store.history("main").drop("pool").rows()


def live_states(events):
    """The states after each event, by live rating."""
    live, found = podium.Live(SYSTEM), []
    for each in events:
        live.rate(each)
        found.append(live._ratings.pool_states["default"].astype("<f8").tobytes())
    return found


@both_kinds
def test_each_event_leaves_the_state_that_live_rating_has(kind, new_url):
    events = season()
    store = filled(new_url(kind), [*events[:4], [row for each in events[4:] for row in each]])
    assert states(store) == live_states(events)
    assert store.verify() == []
    store.close()


@both_kinds
def test_a_late_result_moves_every_later_state_and_says_so(kind, new_url):
    events = season()
    late, others = events[3], [*events[:3], *events[4:]]
    store = filled(new_url(kind), others)
    before = states(store)
    (dry,) = store.submit("main", late, dry_run=True)
    assert states(store) == before
    (receipt,) = store.submit("main", late)
    assert receipt.notice == dry.notice
    assert "all 5 later events are rated anew" in receipt.notice
    after = states(store)
    assert after == live_states(events)
    assert after[:3] == before[:3]
    assert not set(after[4:]) & set(before[3:])
    (again,) = store.submit("main", late)
    assert (again.duplicate, again.notice) == (True, "")
    (newest,) = store.submit("main", rows(20, "ab", 1440 * 20))
    assert newest.notice == ""
    assert store.verify() == []
    store.close()


@both_kinds
def test_corrections_seasons_and_merges_leave_what_a_rating_from_the_first_event_on_gives(kind, new_url):
    events = season()
    store = filled(new_url(kind), events)
    store.void("main", "e2")
    store.amend("main", rows(4, "abcd", 1440 * 4))
    store.begin_season("main", "two", START + timedelta(days=5, minutes=1), keep=0.5)
    store.merge("main", *strangers(events))
    assert len(states(store)) == len(events) - 1
    found = states(store), history(store)
    assert store.verify() == []
    store.configure("main", find("elo")())
    assert states(store) == []
    assert store.verify() == []
    store.configure("main", find(SYSTEM)())
    assert (states(store), history(store)) == found
    assert store.verify() == []
    store.close()


def strangers(events):
    """Two who never met."""
    fields = [{row["player"] for row in each} for each in events]
    return next(pair for pair in combinations(NAMES, 2) if not any(field.issuperset(pair) for field in fields))


@pytest.mark.parametrize(("kind", "few"), in_turn(["sqlite", "postgresql"], [-1, 10**6]))  # all staged, or in place
def test_planned_states_are_those_of_one_transaction(kind, few, new_url):
    events = season(14)
    late, others = events[3], [*events[:3], *events[4:]]
    plain, parted = filled(new_url(kind), others), filled(new_url(kind), others)
    plain.submit("main", late)
    with (
        mock.patch.multiple(rerating, SHORT_EVENTS=2, SPAN_EVENTS=3),
        mock.patch.object(planned, "SMALL_CORRECTION_ROWS", few),
        mock.patch.multiple(generations, PART_ROWS=4, MIN_REST_S=0.0, REST=0.0),
    ):
        (receipt,) = parted.submit("main", late)
        assert "all 10 later events" in receipt.notice
        assert states(parted) == states(plain) == live_states(events)
        parted.configure("main", find("elo")())
        parted.configure("main", find(SYSTEM)())
        parted.submit("main", rows("late", "abcnew", 1440 * 2 + 5))
    plain.submit("main", rows("late", "abcnew", 1440 * 2 + 5))
    assert (states(parted), history(parted)) == (states(plain), history(plain))
    parted.clear_unread()
    with parted.engine.connect() as connection:
        generations_found = connection.execute(sa.select(pool_state.c.generation_id).distinct()).scalars().all()
    assert generations_found == [parted.pools()[0].generation]
    assert parted.verify() == plain.verify() == []
    for store in (plain, parted):
        store.close()


@both_kinds
def test_verify_finds_a_state_that_is_other_missing_or_too_many(kind, new_url):
    store = filled(new_url(kind), season(5))
    rows_of = pool_state.c
    with store.engine.begin() as connection:
        every = connection.execute(sa.select(rows_of.started_at, rows_of.state).order_by(rows_of.started_at)).all()
        change_at = sa.update(pool_state).where(rows_of.started_at == every[1].started_at)
        connection.execute(change_at.values(state=every[0].state))
        connection.execute(sa.delete(pool_state).where(rows_of.started_at == every[3].started_at))
        first = connection.execute(sa.select(pool_state).limit(1)).one()
        connection.execute(sa.insert(pool_state), first._asdict() | {"started_at": every[0].started_at + 1})
    found = " ".join(store.verify())
    for what in ("differs", "is missing", "should not be"):
        assert f"the state of the pool after the event of log entry {what}" in re.sub(r"entry \d+", "entry", found)
    store.close()


@both_kinds
def test_what_is_expected_and_explained_reads_the_state_of_its_moment(kind, new_url):
    events = season()
    store, live = filled(new_url(kind), events), podium.Live(SYSTEM)
    for each in events[:-1]:
        live.rate(each)
    who = events[-1][0]["player"]
    named = [row | {"pool": "default"} for row in events[-1]]
    expected, explained = live.explain(named, "e8", who), store.explain("main", "e8", who)
    assert (explained.rating_before, explained.delta) == (expected.rating_before, expected.delta)
    assert explained.rows.drop("opponent").equals(expected.rows.drop("opponent"))
    assert store.what_if("main", "e8", who).delta == live.what_if(named, "e8", who).delta
    with mock.patch.object(what_if, "MOST_IMAGINED", len(events[-1])):
        imagined = store.event_story("main", "e8", who).imagined
        assert imagined is not None
        assert imagined.delta == explained.delta
    with mock.patch.object(what_if, "MOST_IMAGINED", len(events[-1]) - 1):
        assert store.event_story("main", "e8", who).imagined is None
        with pytest.raises(podium.ParameterError, match="entrants; what would have been is worked out here for"):
            store.what_if("main", "e8", who)
    live.rate(events[-1])
    chances, forecast = live.predict(["a", "b", "nobody"]), store.predict("main", ["a", "b", "nobody"])
    assert chances.pairs.equals(forecast.pairs)
    system, _ = store.system_and_states("main", ["a", "b"])
    assert system.standing[0].tobytes() == states(store)[-1]
    beside = store.compare("main", "a", "b").players
    assert (beside[0].expected, beside[1].expected) == (live.expected("a", "b"), live.expected("b", "a"))
    store.close()


def test_a_deleted_or_imported_pool_has_the_states_of_its_log(new_url):
    store = filled(new_url("sqlite"), season())
    found, lines = states(store), [*store.export_pool("main")]
    store.close_pool("main")
    store.delete_pool("main")
    with store.engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(pool_state)).scalar() == 0
    store.import_pool(lines)
    assert states(store) == found
    store.close()


def statements(store, act):
    """The statements that an act takes."""
    seen = []
    sa.event.listen(store.engine, "before_cursor_execute", lambda *args: seen.append(args[2]))
    act()
    return seen


def test_a_system_without_states_asks_nothing_of_their_table(new_url):
    store = filled(new_url("sqlite"), season(3), "elo")
    late, newest = rows("late", "abc", 5), rows("new", "abc", 1440 * 9)
    seen = statements(store, lambda: (store.submit("main", late), store.submit("main", newest)))
    assert seen
    assert not [each for each in seen if "pool_state" in each]
    with store.reading("main") as pool:
        assert newest_pool_state(pool) is None
        assert pool.connection.execute(sa.select(sa.func.count()).select_from(pool_state)).scalar() == 0
    assert "pool_state" in metadata.tables
    store.close()


@both_kinds
def test_a_pool_may_name_modes(kind, new_url):
    system, store = find(SYSTEM)(modes="clay/grass"), Store(new_url(kind))
    store.create_pool("main", system)
    events = [
        [row | {"mode": ["clay", "grass", "hard"][number % 3]} for row in each] for number, each in enumerate(season())
    ]
    for each in [*events[:3], *events[4:], events[3]]:
        store.submit("main", each)
    whole = podium.rate([row for each in events for row in each], system)
    assert store.history("main")["rating"].to_list() == whole.history["rating"].to_list()
    assert store.pool("main").system == system
    assert store.verify() == []
    store.close()
