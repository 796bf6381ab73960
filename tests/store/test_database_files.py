"""The files of an SQLite database: one file after a clean stop, and no removed names in any file."""

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
from podium.systems import find
from podium.views.races import records

NAME = "Wilhelmina Forgettable"
FORMER = "Mina Erstwhile"
DAY = day_of(date(2025, 1, 2))


def texts(path):
    """Return the content of a database file and every file next to it."""
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def files_with(path, *names):
    """Return the files that contain a name in upper or lower case, as lookalikes are stored."""
    return [file for file, text in texts(path).items() if any(each.encode() in text for each in spellings(names))]


def spellings(names):
    return [form for each in names for form in (each, each.casefold(), each.casefold().replace(" ", ""))]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "podium.db"


@pytest.fixture
def filled(path):
    """Return a store with a renamed player, and results before and after the change."""
    with closing(Store(str(path))) as store:
        store.create_pool("main", find("elo")())
        for number in range(20):
            store.submit("main", rows(number, [FORMER, "ben", f"x{number}"]))
        store.rename("main", FORMER, NAME)
        for number in range(20, 40):
            store.submit("main", rows(number, [NAME, "ben", f"x{number}"]))
        yield store


def test_after_a_clean_stop_one_file_has_everything(path, filled, tmp_path):
    assert path.with_name("podium.db-wal").stat().st_size
    filled.close()
    assert files_of(path) == [path]
    shutil.copyfile(path, tmp_path / "copied.db")
    with closing(Store(str(tmp_path / "copied.db"))) as copied:
        assert copied.results("main").frame["event_id"].n_unique() == 40
        assert copied.verify() == []


def test_closing_one_of_several_stores_leaves_everything_in_the_file(path, filled, tmp_path):
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM log WHERE kind = 'submit'").fetchone() == (40,)
        filled.close()
        assert path.with_name("podium.db-wal").stat().st_size == 0
        shutil.copyfile(path, tmp_path / "copied.db")
    with closing(Store(str(tmp_path / "copied.db"))) as copied:
        assert copied.results("main").frame["event_id"].n_unique() == 40


@pytest.mark.parametrize("patience_s", [0.0, 30.0])
def test_a_patient_close_waits_for_readers(path, filled, patience_s):
    """A process that ends during a read would leave files next to its database."""
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


def test_connections_closed_at_the_same_time_leave_no_files(path, filled):
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


def test_closing_twice_or_without_a_file_creates_no_file(path, filled):
    filled.close()
    path.unlink()
    filled.close()
    assert files_of(path) == []


def test_deleted_data_is_overwritten(filled):
    """This does not depend on SQLite's default."""
    with filled.engine.connect() as connection:
        assert connection.execute(sa.text("PRAGMA secure_delete")).scalar() == 1


def test_no_file_contains_an_anonymized_name(path, filled):
    """This includes titles and ids in the log, also while others have the database open."""
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
def test_a_reader_only_delays_the_removal(path, filled, monkeypatch, last):
    """The service's next check removes the name, or closing the store does."""
    monkeypatch.setattr(files.truncate_wal, "__defaults__", (50,))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM player WHERE name = ?", [NAME]).fetchone() == (1,)
        filled.anonymize("main", NAME)
        assert files_with(path, NAME)  # the reader still sees the old state
        assert not truncate_wal(filled.engine, 0)
        assert reader.execute("SELECT count(*) FROM player WHERE name = ?", [NAME]).fetchone() == (1,)
        reader.execute("COMMIT")
        if last == "look":
            assert truncate_wal(filled.engine, 0)
        else:
            filled.close()
        assert files_with(path, NAME, FORMER) == []


def test_truncating_a_large_wal_waits_for_readers(path, filled, monkeypatch):
    """With overlapping reads there is always a reader. Later readers do not need a `-wal` that was fully copied."""
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


def test_truncating_the_wal_keeps_the_busy_timeout(filled):
    def patience():
        with filled.engine.connect() as connection:
            return connection.execute(sa.text("PRAGMA busy_timeout")).scalar()

    before = patience()
    assert truncate_wal(filled.engine, 7)
    assert patience() == before > 1000


def test_servers_and_databases_in_memory_have_no_wal(new_url):
    for url in (new_url("postgresql"), "sqlite://"):
        with closing(Store(url)) as store:
            assert truncate_wal(store.engine)


def query_plan(connection, select, *values):
    """Return SQLite's plan for a statement with these parameters."""
    return connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {select.compile(connection)}", values).all()


@pytest.mark.parametrize(
    ("select", "column"), [(players.SELECT_NUMBERS, "name"), (players.SELECT_CONFUSABLES, "lookalike")]
)
def test_a_name_is_looked_up_with_an_index(new_url, select, column):
    with closing(Store(new_url("sqlite"))) as store, store.engine.connect() as connection:
        plan = query_plan(connection, select, 1, '["ana"]')
    assert any(f"(pool_id=? AND {column}=?)" in row.detail for row in plan), plan


@pytest.mark.parametrize(
    ("select", "values"),
    [
        (players.SELECT_NUMBERS, (1, '["ana"]')),
        (players.SELECT_ALL_NAMES, (1,)),
        (records.SELECT_RECORDS, ("merge", 1)),
    ],
)
def test_a_databases_first_connection_uses_the_same_query_plans(path, select, values):
    path.touch()  # so that migrations create it instead of a template
    with closing(Store(str(path))) as store:
        plans = []
        for _ in range(2):
            with store.engine.connect() as connection:
                plans.append(query_plan(connection, select, *values))
            store.engine.dispose()
    assert plans[0] == plans[1]
