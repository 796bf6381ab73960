"""`verify` checks the database file and compares its pools at the same time, and reports both."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from damaging import damage_root
from races import rows

from podium.errors import UnknownError
from podium.log.database import UnavailableError
from podium.log.files import integrity_faults
from podium.log.schema import witness
from podium.store import Store
from podium.store import verification as database_check
from podium.store.verification import compare_pools, verify_database
from podium.systems import find

PATIENCE_S = 60  # limit for the other thread, reached only on failure
DAMAGED, WRONG = (
    "the database is damaged: ",
    "main: a replay gives different changes from the stored ones, among rows 0 to 1,023",
)


def fill(store):
    """Store a pool with one event whose stored digests differ from a replay."""
    store.create_pool("main", find("elo")())
    store.submit("main", rows(1, ["ana", "ben"]))
    with store.engine.begin() as connection:
        connection.execute(sa.update(witness).values(digest=b"other"))


@pytest.fixture
def store(filled_store):
    with closing(filled_store("sqlite", fill)) as opened:
        yield opened


def damage(store, name):
    """Overwrite the first page of a table or an index."""
    store.close()
    damage_root(Path(store.engine.url.database), name)


@pytest.mark.parametrize("first", ["integrity_faults", "compare_pools"])
def test_errors_of_the_file_come_first_in_any_order_of_work(store, first, monkeypatch):
    """Each check waits for the other in turn, so they must run at once."""
    damage(store, "ix_player_pool_id_lookalike")
    is_over = threading.Event()

    def run(name, plain, *arguments):
        if name != first:
            assert is_over.wait(PATIENCE_S)
        found = plain(*arguments)
        if name == first:
            is_over.set()
        return found

    for plain in (integrity_faults, compare_pools):
        name = plain.__name__
        monkeypatch.setattr(
            database_check, name, lambda *arguments, name=name, plain=plain: run(name, plain, *arguments)
        )
    found = verify_database(store.engine, store.snapshots)
    assert (found.pools, found.events, found.changes) == (1, 1, 2)
    assert [each.startswith(DAMAGED) for each in found.findings] == [True] * (len(found.findings) - 1) + [False]
    assert len(found.findings) > 1
    assert found.findings[-1] == WRONG


def test_a_file_with_unreadable_pools_is_checked(store):
    damage(store, "pool")
    *of_file, pool_table = store.verify()
    assert of_file
    assert all(each.startswith(DAMAGED) for each in of_file)
    assert pool_table == "the pools cannot be read (database disk image is malformed)"


def test_a_failing_comparison_waits_for_the_file_check(store, monkeypatch):
    has_failed, threads, checked = threading.Event(), threading.active_count(), []

    def check(engine):
        assert has_failed.wait(PATIENCE_S)
        checked.append(integrity_faults(engine))

    def fail(*_arguments):
        has_failed.set()
        raise UnavailableError("the database is busy")

    monkeypatch.setattr(database_check, "integrity_faults", check)
    monkeypatch.setattr(database_check, "compare_pools", fail)
    with pytest.raises(UnavailableError, match="busy"):
        store.verification()
    assert checked == [[]]
    assert threading.active_count() == threads
    assert store.engine.pool.checkedout() == 0


def test_a_failing_file_check_is_reported_after_the_comparison(store, monkeypatch):
    compared = []

    def fail(_engine):
        raise sqlite3.OperationalError("disk I/O error")

    def compare(*arguments):
        compared.append(compare_pools(*arguments))
        return compared[0]

    monkeypatch.setattr(database_check, "integrity_faults", fail)
    monkeypatch.setattr(database_check, "compare_pools", compare)
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        store.verification()
    assert compared[0].findings == [WRONG]
    assert store.engine.pool.checkedout() == 0


def test_an_unknown_pool_is_an_error_and_releases_the_connection(store):
    with pytest.raises(UnknownError):
        store.verification("nobody's")
    assert store.engine.pool.checkedout() == 0


def test_a_check_restores_connection_settings(store):
    def settings():
        with closing(store.engine.raw_connection()) as one, closing(store.engine.raw_connection()) as other:
            return [
                connection.cursor().execute(f"PRAGMA {name}").fetchone()[0]
                for connection in (one, other)
                for name in ("mmap_size", "cache_size")
            ]

    before = settings()
    assert store.verify() == [WRONG]
    assert settings() == before
    assert before[1] < 0 < before[0]


def test_servers_and_databases_in_memory_are_verified(new_url):
    for url in (new_url("postgresql"), "sqlite://"):
        with closing(Store(url)) as store:
            fill(store)
            assert store.verify() == [WRONG]
