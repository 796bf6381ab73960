"""Files and changes between two forms: limited to one session, key and pool, an hour, and a share of the space."""

import pytest
import sqlalchemy as sa

from podium.errors import UnknownError
from podium.log.database import UnavailableError
from podium.log.schema import waiting as table
from podium.store import waiting
from podium.store.waiting import Owner, WaitingFile, forget_waiting, keep_waiting, waiting_file

FILE = WaitingFile("league.csv", b"\x00Name\xff;Punkte")
MINE = Owner(1, "mine", "main", "file")


def count(store):
    with store.engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


def test_only_its_owner_can_read_a_file(store):
    number = keep_waiting(store.engine, MINE, FILE)
    assert waiting_file(store.engine, MINE, number) == FILE
    others = (Owner(2, "mine", "main", "file"), MINE._replace(session="yours"), MINE._replace(pool="other"))
    for owner in (*others, MINE._replace(use="change"), MINE._replace(session="", pool="mine\0main")):
        with pytest.raises(UnknownError, match="Open its page again"):
            waiting_file(store.engine, owner, number)
    for other in (f"{number}x", number[:-1], "", "%"):
        with pytest.raises(UnknownError):
            waiting_file(store.engine, MINE, other)
    assert waiting_file(store.engine, MINE, number) == FILE
    with store.engine.connect() as connection:
        assert b"mine" not in connection.execute(sa.select(table.c.session)).scalar_one()


def test_a_file_waits_for_an_hour(store, monkeypatch):
    number, hour = keep_waiting(store.engine, MINE, FILE), 3_600_000_000
    later = waiting.now()
    monkeypatch.setattr(waiting, "now", lambda: later + hour - 60_000_000)
    forget_waiting(store.engine)
    assert waiting_file(store.engine, MINE, number) == FILE
    monkeypatch.setattr(waiting, "now", lambda: later + hour)
    with pytest.raises(UnknownError, match="This has expired"):
        waiting_file(store.engine, MINE, number)
    assert count(store) == 0  # reading deletes an expired file
    keep_waiting(store.engine, MINE, FILE)
    monkeypatch.setattr(waiting, "now", lambda: later + 2 * hour)
    forget_waiting(store.engine)
    assert count(store) == 0


@pytest.fixture
def clock(monkeypatch):
    """Set a clock that advances by a second at each reading."""
    moments = iter(range(10**9, 10**10, 10**6))
    monkeypatch.setattr(waiting, "now", lambda: next(moments))


def is_kept(store, owner, number):
    try:
        return waiting_file(store.engine, owner, number) == FILE
    except UnknownError:
        return False


@pytest.mark.usefixtures("clock")
def test_only_a_keys_own_oldest_files_are_removed(store, monkeypatch):
    monkeypatch.setattr(waiting, "MAX_BYTES", 25 * waiting.LEAST_BYTES)
    monkeypatch.setattr(waiting, "LEAST_SHARES", 8)  # a key has room for 3 files
    yours = Owner(2, "yours", "main", "file")
    first = keep_waiting(store.engine, yours, FILE)
    owners = [MINE._replace(session=f"session {k}") for k in range(5)]
    numbers = [keep_waiting(store.engine, owner, FILE) for owner in owners]
    kept = [is_kept(store, owner, number) for owner, number in zip(owners, numbers, strict=True)]
    assert kept == [False, False, True, True, True]
    assert is_kept(store, yours, first)


@pytest.mark.usefixtures("clock")
def test_the_total_size_of_waiting_files_is_limited(store, monkeypatch):
    monkeypatch.setattr(waiting, "MAX_BYTES", 4 * waiting.LEAST_BYTES)
    monkeypatch.setattr(waiting, "LEAST_SHARES", 2)
    for key in range(1, 5):
        for _ in range(3):
            keep_waiting(store.engine, MINE._replace(key=key), FILE)
        assert count(store) <= 4
    with pytest.raises(UnavailableError, match="in a few minutes"):  # the fifth key's share is too small for a file
        keep_waiting(store.engine, MINE._replace(key=5), FILE)
    assert count(store) == 4
