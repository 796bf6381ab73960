"""Files that wait until it is answered what they mean: of one session, for an hour, up to a size."""

import pytest
import sqlalchemy as sa

from podium.errors import UnknownError
from podium.store.log.schema import waiting as table
from podium.store.writing import sheets
from podium.store.writing.sheets import WaitingFile, forget_waiting, keep_waiting, waiting_file

FILE = WaitingFile("league.csv", b"\x00Name\xff;Punkte")


def count(store):
    with store.engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


def test_a_file_is_read_by_its_session_alone(store):
    number = keep_waiting(store.engine, "mine", FILE)
    assert waiting_file(store.engine, "mine", number) == FILE
    for session, other in (("yours", number), ("mine", f"{number}x"), ("", "")):
        with pytest.raises(UnknownError, match="send it again"):
            waiting_file(store.engine, session, other)
    assert waiting_file(store.engine, "mine", number) == FILE
    with store.engine.connect() as connection:
        assert b"mine" not in connection.execute(sa.select(table.c.session)).scalar_one()


def test_a_file_waits_for_an_hour(store, monkeypatch):
    number, hour = keep_waiting(store.engine, "mine", FILE), 3_600_000_000
    later = sheets.now()
    monkeypatch.setattr(sheets, "now", lambda: later + hour - 60_000_000)
    forget_waiting(store.engine)
    assert waiting_file(store.engine, "mine", number) == FILE
    monkeypatch.setattr(sheets, "now", lambda: later + hour)
    with pytest.raises(UnknownError, match="does not wait here any more; send it again"):
        waiting_file(store.engine, "mine", number)
    assert count(store) == 0  # reading looks after it
    keep_waiting(store.engine, "mine", FILE)
    monkeypatch.setattr(sheets, "now", lambda: later + 2 * hour)
    forget_waiting(store.engine)
    assert count(store) == 0


def test_the_oldest_files_of_a_session_go_where_they_are_too_large(store, monkeypatch):
    moments = iter(range(10**9, 10**10, 10**6))
    monkeypatch.setattr(sheets, "now", lambda: next(moments))
    monkeypatch.setattr(sheets, "MOST_BYTES", 250)
    large = WaitingFile("large.csv", bytes(100))
    other = keep_waiting(store.engine, "yours", large)
    numbers = [keep_waiting(store.engine, "mine", large) for _ in range(3)]
    with pytest.raises(UnknownError):
        waiting_file(store.engine, "mine", numbers[0])
    kept = [waiting_file(store.engine, "mine", each) for each in numbers[1:]]
    assert [*kept, waiting_file(store.engine, "yours", other)] == [large] * 3
