"""Verification compares columns and names every altered one, stored or in memory."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import sqlalchemy as sa
from snapshots import hold, row_of, snapshot_of, with_cells

from podium.pool.snapshot import REASONS, ROW_TYPES, UNRATED
from podium.systems import find

PLAYERS = [f"player {number}" for number in range(1, 8)]
ALTERED_POOL = {
    "system": "system = 'glicko', parameters = '{}'",
    "closed": "closed = true",
    "title": "title = 'Other'",
    "is_public": "is_public = true",
}


def fill(store, system="glicko2"):
    """Store three events of seven players, and a season between the first two."""
    store.create_pool("main", find(system)())
    start = datetime(2025, 6, 1, tzinfo=UTC)
    for number in range(3):
        moment = start + timedelta(days=number)
        store.submit(
            "main",
            [
                {"event_id": f"e{number}", "started_at": moment, "player": name, "position": place}
                for place, name in enumerate(PLAYERS, start=1)
            ],
        )
    store.begin_season("main", "second", start + timedelta(hours=1), keep=0.5)
    assert store.verify() == []


def fill_learning(store):
    fill(store, "adaptive")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, filled_store):
    with closing(filled_store(request.param, fill)) as opened:
        yield opened


@pytest.fixture
def held(filled_store):
    """Return a store with a snapshot of its pool in memory."""
    with closing(filled_store("sqlite", fill)) as opened:
        snapshot_of(opened)
        yield opened


def alter(store, statement, **params):
    """Change one stored row."""
    with store.engine.begin() as connection:
        assert connection.execute(sa.text(statement), params).rowcount == 1


@pytest.mark.parametrize("name", ALTERED_POOL)
def test_an_altered_pool_setting_is_named(store, name):
    alter(store, f"UPDATE pool SET {ALTERED_POOL[name]}")  # noqa: S608
    found = store.verify()
    assert any(each.startswith(f"main: the pool's {name} is stored as ") for each in found), found
    assert "but the log says" in found[0]


@pytest.mark.parametrize("name", ["status", "reason", "started_at", "seq", "content_seq", "match", "present"])
def test_an_altered_event_in_memory_is_found(held, name):
    def change(true):
        uids = np.array([true.events.find("e1")])
        columns = true.events.columns.updated(uids, {name: true.events.columns.at(name, uids) + 1})
        return replace(true, events=replace(true.events, columns=columns))

    hold(held, change)
    assert "main: event 'e1' has a different " + name in held.verify()


@pytest.mark.parametrize("name", ["before", "rank", "place"])
def test_an_altered_ledger_cell_in_memory_is_named(held, name):
    row = row_of(snapshot_of(held), "e1", 3)
    hold(held, lambda true: with_cells(true, row, **{name: true.rows.value(name, row) + 1}))
    assert held.verify() == ["main: the change of 'player 3' in the event of log entry 3 differs"]


@pytest.mark.parametrize("event_id", ["e0", "e2", "\0second"])
def test_the_last_bit_of_each_state_number_is_compared(held, event_id):
    true = snapshot_of(held)
    row, width = row_of(true, event_id, 4), true.rows.value("state", 0).size
    for k in range(width):
        state = true.rows.value("state", row).copy()
        state[k] = np.nextafter(state[k], np.inf)
        hold(held, lambda _, state=state: with_cells(true, row, state=state))
        seq = true.events.key(true.events.find(event_id)).seq
        assert held.verify() == [f"main: the change of 'player 4' in the event of log entry {seq} differs"]
    hold(held, lambda _: true)
    assert held.verify() == []


def test_an_altered_field_size_is_found(held):
    def change(true):
        position = true.events.event_of(true.events.find("e1")).position
        order = true.events.order.updated(np.array([position]), {"field": np.array([6])})
        return replace(true, events=replace(true.events, order=order))

    hold(held, change)
    found = held.verify()
    assert {each.split("'")[1] for each in found} == {*PLAYERS}
    assert all(each.endswith("in the event of log entry 3 differs") for each in found)


@pytest.mark.parametrize("name", ["started_at", "seq"])
def test_an_altered_order_of_events_is_found(held, name):
    def change(true):
        uid = true.events.find("e2")
        columns = true.events.columns.updated(
            np.array([uid]), {name: np.array([true.events.columns.value(name, uid) + 50])}
        )
        return replace(true, events=replace(true.events, columns=columns))

    hold(held, change)
    found = held.verify()
    assert any("in the event of log entry 4 is missing" in each for each in found)
    assert any("should not be" in each for each in found)


def test_missing_and_extra_ledger_rows_are_named(held):
    true, row = snapshot_of(held), row_of(snapshot_of(held), "e2", 7)
    names = [*ROW_TYPES, "state"]

    def with_rows(rows):
        columns = {name: true.rows.part(name)[rows] for name in names}
        order, stops = true.events.order, true.events.order.part("stop").copy()
        stops[-1] = len(rows)
        events = replace(true.events, order=order.replaced_from(0, {
            "uid": order.part("uid"), "field": order.part("field"), "stop": stops,
        }))  # fmt: skip
        newest = true.newest.replaced_from(0, {"row": true.newest_rows(min(len(rows), row + 1))})
        return replace(true, events=events, rows=true.rows.replaced_from(0, columns), newest=newest)

    every = [*range(true.rows.size)]
    hold(held, lambda _: with_rows([each for each in every if each != row]))
    assert held.verify() == ["main: the change of 'player 7' in the event of log entry 4 is missing"]
    more = with_rows([*every, row])
    hold(held, lambda _: with_cells(more, len(every), slot=0))
    assert "main: the change of '?' in the event of log entry 4 should not be" in held.verify()


def test_an_event_unrated_only_in_memory_is_found(held):
    """Only the snapshot lacks the rows of the event."""

    def change(true):
        uid = true.events.find("e2")
        cells = {"status": np.array([UNRATED]), "reason": np.array([REASONS.index("unranked")])}
        columns = true.events.columns.updated(np.array([uid]), cells)
        first, _ = true.span(true.events.event_of(uid).position)
        order = true.events.order.replaced_from(
            true.events.order.size - 1,
            {"uid": np.array([uid]), "stop": np.array([first]), "field": np.array([0])},
        )
        rows = true.rows.replaced_from(first, {name: true.rows.part(name, 0, 0) for name in (*ROW_TYPES, "state")})
        newest = true.newest.replaced_from(0, {"row": true.newest_rows(first)})
        return replace(true, events=replace(true.events, columns=columns, order=order), rows=rows, newest=newest)

    hold(held, change)
    found = held.verify()
    assert found[:2] == ["main: event 'e2' has a different status", "main: event 'e2' has a different reason"]
    assert {each.split("'")[1] for each in found[2:]} == {*PLAYERS}
    assert all(each.endswith("is missing") for each in found[2:])


def test_an_altered_pool_state_is_found(filled_store):
    with closing(filled_store("sqlite", fill_learning)) as store:

        def change(true):
            position = true.events.event_of(true.events.find("e1")).position
            states = true.learnt.part(position)
            states[0] = np.nextafter(states[0], np.inf)
            return replace(true, learnt=true.learnt.replaced_from(position, [states]))

        hold(store, change)
        assert store.verify() == ["main: the values that the system has learnt from the pool differ"]
