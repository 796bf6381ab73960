"""A busy, full or unreachable database has its own error, and nothing is half stored."""

import sqlite3
import threading
from contextlib import ExitStack, closing

import pytest
import sqlalchemy as sa
from races import rows

from podium.errors import PodiumError
from podium.log import database
from podium.log.database import StoreError, UnavailableError
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find


@pytest.fixture
def open_store(new_url, monkeypatch):
    """Return a function that opens a store with a pool; in SQLite every connection has more pragmas."""
    with ExitStack() as stack:

        def make(kind="sqlite", *pragmas):
            monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=50", *pragmas))
            store = stack.enter_context(closing(Store(new_url(kind))))
            store.create_pool("main", find("elo")())
            store.submit("main", rows(1, "ab"))
            return store

        yield make


def test_another_writer_makes_the_database_unavailable(open_store):
    store = open_store()
    sent = [(rows(number, "ab"), "", {}) for number in (2, 3)]
    with closing(sqlite3.connect(store.engine.url.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for act in (
            lambda: store.submit("main", rows(2, "ab")),
            lambda: store.create_pool("other", find("elo")()),
            lambda: create_key(store.engine, "k", "read"),
        ):
            with pytest.raises(UnavailableError, match="busy"):
                act()
        assert [type(each) for each in store.submit_each("main", sent)] == [UnavailableError] * 2
        assert len(store.leaderboard("main").players) == 2  # reading still works
        other.execute("ROLLBACK")
    assert store.submit("main", rows(2, "ab"))[0].status == "rated"
    assert store.verify() == []


def test_a_full_disk_is_reported_and_nothing_is_stored(open_store):
    store = open_store()
    path = store.engine.url.database
    with closing(sqlite3.connect(path)) as other:
        other.execute("VACUUM")  # leave no free page
        pages = other.execute("PRAGMA page_count").fetchone()[0]
    full = open_full(path, pages)
    with closing(full):
        with pytest.raises(UnavailableError, match="disk"):
            full.submit("main", [row for number in range(9, 300) for row in rows(number, "abcdef")])
        assert len(full.leaderboard("main").players) == 2
    assert store.submit("main", rows(2, "ab"))[0].status == "rated"
    assert store.verify() == []


def open_full(path, pages):
    """Return a store whose database cannot grow. SQLite then fails as on a full disk."""
    store = Store(path)

    def limit(connection, _record):
        connection.execute(f"PRAGMA max_page_count={pages}")

    store.engine.dispose()
    sa.event.listen(store.engine, "connect", limit)
    return store


def test_a_restarted_server_is_reconnected(open_store):
    """Each idle connection is dead, but the first call works."""
    store = open_store("postgresql")
    assert len(store.leaderboard("main").players) == 2
    end_connections(store)
    assert len(store.leaderboard("main").players) == 2
    end_connections(store)
    assert store.submit("main", rows(2, "ab"))[0].status == "rated"
    assert store.verify() == []


def test_losing_the_server_makes_the_database_unavailable(open_store):
    store = open_store("postgresql")
    statements = []

    def end(_connection, _cursor, statement, *_more):
        statements.append(statement)
        if statement.startswith("INSERT INTO log"):
            sa.event.remove(store.engine, "before_cursor_execute", end)
            end_connections(store)

    sa.event.listen(store.engine, "before_cursor_execute", end)
    with pytest.raises(UnavailableError, match="does not respond"):
        store.submit("main", rows(2, "ab"))
    assert any(each.startswith("INSERT INTO log") for each in statements)
    assert store.submit("main", rows(2, "ab"))[0].duplicate is False
    assert store.verify() == []


def end_connections(store):
    """End every connection of a store to its server, as a restart would."""
    engine = sa.create_engine(store.engine.url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        ended = connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        ).all()
    assert ended


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_too_many_requests_at_once_are_rejected(open_store, kind):
    store = open_store(kind)
    store.engine.pool._timeout = 0.05
    with ExitStack() as stack:
        for _ in range(15):
            stack.enter_context(store.engine.connect())
        with pytest.raises(UnavailableError, match="Too many requests are waiting"):
            store.leaderboard("main")
    assert len(store.leaderboard("main").players) == 2


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_one_of_many_concurrent_calls_creates_a_pool(new_url, kind):
    with closing(Store(new_url(kind))) as store:
        for round_ in range(10):
            gate, outcomes = threading.Barrier(8), []

            def create(round_=round_, gate=gate, outcomes=outcomes):
                gate.wait()
                try:
                    store.create_pool(f"pool {round_}", find("elo")())
                except Exception as error:  # noqa: BLE001  (checked below)
                    outcomes.append(str(error))

            threads = [threading.Thread(target=create) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert outcomes == [f"there is already a pool 'pool {round_}'"] * 7
        assert len(store.pools()) == 10


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_permanent_errors_are_not_outages(open_store, kind):
    store = open_store(kind)
    with pytest.raises(sa.exc.DBAPIError), store.reading("main") as pool:
        pool.connection.execute(sa.text("SELECT nothing FROM nowhere"))
    with pytest.raises(sa.exc.IntegrityError), store.writing("main") as pool:
        pool.connection.execute(sa.text("INSERT INTO pool (name, system, parameters) VALUES ('main', 'elo', '{}')"))
    with pytest.raises(StoreError) as caught:
        store.create_pool("main", find("elo")())
    assert not isinstance(caught.value, UnavailableError)
    assert issubclass(UnavailableError, PodiumError)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_connection_in_use_is_closed_after_its_store(open_store, kind):
    store = open_store(kind)
    closed = []
    with store.engine.connect() as connection:
        sa.event.listen(store.engine, "close", lambda _connection, _record: closed.append(True))
        store.close()
        idle = len(closed)
        assert connection.execute(sa.text("SELECT count(*) FROM log WHERE kind = 'submit'")).scalar() == 1
    assert len(closed) == idle + 1
