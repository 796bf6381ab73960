"""What stands in an SQLite database's files: everything in one after a clean stop, and forgotten names in none."""

import shutil
import sqlite3
import threading
from contextlib import closing
from datetime import date

import pytest
import sqlalchemy as sa
from extent import times
from races import rows

from podium.log import files, players
from podium.log.database import close_engine, open_database, read_transaction
from podium.log.files import files_of, truncate_wal
from podium.log.pools import day_of
from podium.store import Store
from podium.store.reading import log
from podium.systems import find

NAME = "Wilhelmina Forgettable"
FORMER = "Mina Erstwhile"
DAY = day_of(date(2025, 1, 2))


def texts(path):
    """The bytes of every file beside a database, itself included."""
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def files_with(path, *names):
    """The files in which a name stands, in either case as look-alikes have it."""
    return [file for file, text in texts(path).items() if any(each.encode() in text for each in spellings(names))]


def spellings(names):
    return [form for each in names for form in (each, each.casefold(), each.casefold().replace(" ", ""))]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "podium.db"


@pytest.fixture
def filled(path):
    """A store with a player of two names, results before and after the change."""
    with closing(Store(str(path))) as store:
        store.create_pool("main", find("elo")())
        for number in range(20):
            store.submit("main", rows(number, [FORMER, "ben", f"x{number}"]))
        store.rename("main", FORMER, NAME)
        for number in range(20, 40):
            store.submit("main", rows(number, [NAME, "ben", f"x{number}"]))
        yield store


def test_after_a_clean_stop_everything_is_in_the_one_file(path, filled, tmp_path):
    assert path.with_name("podium.db-wal").stat().st_size
    filled.close()
    assert files_of(path) == [path]
    shutil.copyfile(path, tmp_path / "copied.db")
    with closing(Store(str(tmp_path / "copied.db"))) as copied:
        assert copied.results("main").frame["event_id"].n_unique() == 40
        assert copied.verify() == []


def test_a_store_that_is_closed_while_others_are_open_leaves_everything_in_the_file(path, filled, tmp_path):
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM log WHERE kind = 'submit'").fetchone() == (40,)
        filled.close()
        assert path.with_name("podium.db-wal").stat().st_size == 0
        shutil.copyfile(path, tmp_path / "copied.db")
    with closing(Store(str(tmp_path / "copied.db"))) as copied:
        assert copied.results("main").frame["event_id"].n_unique() == 40


@pytest.mark.parametrize("patience_s", [0.0, 30.0])
def test_closing_waits_for_who_still_reads_where_it_has_patience(path, filled, patience_s):
    """A process that ends in the midst of a reading would leave files beside its database."""
    reading, over = threading.Event(), threading.Event()

    def read():
        with read_transaction(filled.engine) as connection:
            connection.exec_driver_sql("SELECT count(*) FROM log WHERE kind = 'submit'").scalar()
            reading.set()
            over.wait(0.3 if patience_s else 30.0)

    reader = threading.Thread(target=read)
    reader.start()
    assert reading.wait(30.0)
    filled.close(patience_s)
    assert (files_of(path) == [path]) == (patience_s > 0.0)
    over.set()
    reader.join()
    assert files_of(path) == [path]


def test_connections_that_close_at_the_same_time_leave_no_files(path, filled):
    """SQLite removes the -wal only if the last connection closes alone."""
    filled.close()
    for _ in range(times(60, 600)):
        engine, everyone_reads = open_database(str(path)), threading.Barrier(9)

        def read(engine=engine, everyone_reads=everyone_reads):
            with read_transaction(engine) as connection:
                connection.exec_driver_sql("SELECT count(*) FROM log").scalar()
                everyone_reads.wait()

        readers = [threading.Thread(target=read) for _ in range(8)]
        for reader in readers:
            reader.start()
        everyone_reads.wait()
        close_engine(engine, 30.0)
        for reader in readers:
            reader.join()
        assert files_of(path) == [path]


def test_closing_twice_or_after_the_file_is_gone_makes_no_file(path, filled):
    filled.close()
    path.unlink()
    filled.close()
    assert files_of(path) == []


def test_what_is_deleted_is_overwritten(filled):
    """Whatever SQLite's own default is."""
    with filled.engine.connect() as connection:
        assert connection.execute(sa.text("PRAGMA secure_delete")).scalar() == 1


def test_an_anonymized_name_stands_in_no_file(path, filled):
    """Also while others have the database open; titles and ids in the log included."""
    ids = {"event_id": f"{NAME} 1", "title": f"{FORMER} v Ben"}
    filled.submit("main", [each | ids for each in rows(39, ["ben", "x1"])])
    assert files_with(path, NAME)
    assert files_with(path, FORMER)
    with closing(sqlite3.connect(path)) as idle, closing(Store(str(path))) as other:
        idle.execute("SELECT count(*) FROM player").fetchone()
        assert len(other.leaderboard("main").players) == 42
        filled.anonymize("main", NAME)
        assert files_with(path, NAME, FORMER) == []
        assert other.verify() == []
    filled.submit("main", rows(90, ["ben", "new"]))
    filled.close()
    assert files_with(path, NAME, FORMER) == []
    assert files_of(path) == [path]


@pytest.mark.parametrize("last", ["look", "close"])
def test_a_reader_in_the_midst_only_puts_it_off(path, filled, monkeypatch, last):
    """Until the next look of the service, or until the store is closed."""
    monkeypatch.setattr(files.truncate_wal, "__defaults__", (50,))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM player WHERE name = ?", [NAME]).fetchone() == (1,)
        filled.anonymize("main", NAME)
        assert files_with(path, NAME)  # the reader's moment is that before
        assert not truncate_wal(filled.engine, 0)
        assert reader.execute("SELECT count(*) FROM player WHERE name = ?", [NAME]).fetchone() == (1,)
        reader.execute("COMMIT")
        if last == "look":
            assert truncate_wal(filled.engine, 0)
        else:
            filled.close()
        assert files_with(path, NAME, FORMER) == []


def test_a_large_wal_is_worth_waiting_for_readers(path, filled, monkeypatch):
    """Where reads overlap there is always one; those that begin later need no `-wal` of which all pages are moved."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM log WHERE kind = 'submit'").fetchone() == (40,)
        filled.submit("main", rows(90, ["ben", "new"]))
        assert not truncate_wal(filled.engine, 0)
        monkeypatch.setattr(files, "LARGE_WAL_BYTES", 1)
        monkeypatch.setattr(files, "TRUNCATE_WAIT_MS", 60_000)
        ends = threading.Timer(0.1, reader.execute, ["COMMIT"])
        ends.start()
        assert truncate_wal(filled.engine, 0)
        ends.join()
    assert path.with_name("podium.db-wal").stat().st_size == 0


def test_emptying_the_wal_changes_no_connections_patience(filled):
    def patience():
        with filled.engine.connect() as connection:
            return connection.execute(sa.text("PRAGMA busy_timeout")).scalar()

    before = patience()
    assert truncate_wal(filled.engine, 7)
    assert patience() == before > 1000


def test_a_server_and_a_database_in_memory_have_no_such_files(new_url):
    for url in (new_url("postgresql"), "sqlite://"):
        with closing(Store(url)) as store:
            assert truncate_wal(store.engine)


def query_plan(connection, select, *values):
    """How SQLite goes about a statement with these parameters, step by step."""
    return connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {select.compile(connection)}", values).all()


@pytest.mark.parametrize(
    ("select", "column"), [(players.SELECT_NUMBERS, "name"), (players.SELECT_CONFUSABLES, "lookalike")]
)
def test_a_name_is_looked_up_by_its_index_not_among_all_players(new_url, select, column):
    with closing(Store(new_url("sqlite"))) as store, store.engine.connect() as connection:
        plan = query_plan(connection, select, 1, '["ana"]')
    assert any(f"(pool_id=? AND {column}=?)" in row.detail for row in plan), plan


@pytest.mark.parametrize(
    ("select", "values"),
    [
        (players.SELECT_NUMBERS, (1, '["ana"]')),
        (players.SELECT_ALL_NAMES, (1,)),
        (log.SELECT_RECORDS, ("merge", 1)),
    ],
)
def test_the_connection_that_made_a_database_plans_as_later_ones_do(path, select, values):
    path.touch()  # so that the migrations make it, and not a copy
    with closing(Store(str(path))) as store:
        plans = []
        for _ in range(2):
            with store.engine.connect() as connection:
                plans.append(query_plan(connection, select, *values))
            store.engine.dispose()
    assert plans[0] == plans[1]
