"""Verification compares columns: whatever was altered in any of them is named, in whichever part of a table it is."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from podium.log import players
from podium.store.writing.rating import ledger_rows, verification
from podium.systems import find

PLAYERS = [f"player {number}" for number in range(1, 8)]
ALTERED_CHANGE = [
    "started_at = started_at + 1",
    "seq = seq + 100",
    "place = place + 1",
    "rating_before = rating_before + 1e-9",
    "rating = rating + 1e-9",
    "rank = 7",
    "field = 9",
]
ALTERED_STATE = {"shorter": b"12345678", "empty": b"", "other": None}
ALTERED_STANDING = [
    "rating = rating + 1e-9",
    "events = events + 1",
    "started_at = started_at + 1",
    "seq = seq - 1",
    "played_at = played_at + 1",
    "deviation = deviation + 1e-9",
    "state = :state",
]
BY_CHUNKS = pytest.mark.parametrize(("number", "rows"), [(1, 3), (3, 3), (7, 7), (4, 1), (7, 100)])


def fill(store):
    """Three events of seven players, and a season between the first two."""
    store.create_pool("main", find("glicko2")())
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


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, filled_store):
    with closing(filled_store(request.param, fill)) as opened:
        yield opened


def alter(store, statement, **params):
    """Alter what is stored."""
    with store.engine.begin() as connection:
        assert connection.execute(sa.text(statement), params).rowcount == 1


def newest_state(store, number):
    """The stored state of a player."""
    with store.engine.begin() as connection:
        select = sa.text("SELECT state FROM standing WHERE player_id = :number")
        return bytes(connection.execute(select, {"number": number}).scalar_one())


@pytest.mark.parametrize("assignment", ALTERED_CHANGE)
def test_a_change_that_was_altered_is_named(store, assignment):
    alter(store, f"UPDATE change SET {assignment} WHERE player_id = 3 AND place > 0 AND seq = 4")  # noqa: S608
    found = store.verify()
    assert found
    assert all("the change of 'player 3' in the event of log entry" in each for each in found)


@pytest.mark.parametrize("what", ALTERED_STATE)
def test_a_state_that_was_altered_is_named_whatever_its_length(store, what):
    state = ALTERED_STATE[what] if what != "other" else newest_state(store, 3)[::-1]
    alter(store, "UPDATE change SET state = :state WHERE player_id = 3 AND seq = 4", state=state)
    assert store.verify() == ["main: the change of 'player 3' in the event of log entry 4 differs"]


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("what", ["shorter", "empty"])
def test_a_state_of_another_length_is_named_however_many_rows_are_read_at_once(store, what, rows, monkeypatch):
    monkeypatch.setattr(ledger_rows, "PART_ROWS", rows)
    assert store.verify() == []
    alter(store, "UPDATE change SET state = :state WHERE player_id = 3 AND seq = 4", state=ALTERED_STATE[what])
    assert store.verify() == ["main: the change of 'player 3' in the event of log entry 4 differs"]


@pytest.mark.parametrize("assignment", ALTERED_STANDING)
def test_a_standing_that_was_altered_is_named(store, assignment, monkeypatch):
    monkeypatch.setattr(verification, "CHUNK_ROWS", 3)
    params = {"state": newest_state(store, 4)[::-1]} if ":state" in assignment else {}
    alter(store, f"UPDATE standing SET {assignment} WHERE player_id = 4", **params)  # noqa: S608
    (found,) = store.verify()
    assert "player 4'" in found


@BY_CHUNKS
def test_a_standing_that_is_missing_is_named(store, number, rows, monkeypatch):
    monkeypatch.setattr(verification, "CHUNK_ROWS", rows)
    alter(store, f"DELETE FROM standing WHERE player_id = {number}")  # noqa: S608
    assert store.verify() == [f"main: the state of 'player {number}' is not the last of the ledger"]


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("number", [0, 8])
def test_a_standing_too_many_is_named(store, number, rows, monkeypatch):
    monkeypatch.setattr(verification, "CHUNK_ROWS", rows)
    columns = "rating, events, started_at, seq, played_at, state, provisional, deviation"
    alter(
        store,
        f"INSERT INTO standing (generation_id, player_id, {columns}) "  # noqa: S608
        f"SELECT generation_id, {number}, {columns} FROM standing WHERE player_id = 3",
    )
    assert store.verify() == ["main: the state of None is stored and should not be"]


def test_a_change_that_is_missing_is_named(store):
    alter(store, "DELETE FROM change WHERE player_id = 7 AND seq = 2")
    assert store.verify() == ["main: the change of 'player 7' in the event of log entry 2 is missing"]


def test_names_are_found_the_same_where_most_of_a_pool_is_asked_for(store, monkeypatch):
    with store.reading("main") as pool:
        names = [*PLAYERS, "nobody"]
        few = players.current_numbers(pool, names)
        monkeypatch.setattr(players, "FEW_NAMES", 0)
        assert players.current_numbers(pool, names) == few
        assert players.current_numbers(pool, names[:4]) == {name: few[name] for name in names[:4]}
