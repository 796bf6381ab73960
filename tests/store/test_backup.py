"""Backups and restored databases are complete or absent, and never mixed with another database's files."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from damaging import damage_all_after
from killed import restore_half, status_of
from newer import set_schema
from races import rows

from podium.log.database import StoreError
from podium.log.files import files_of
from podium.log.schema import witness
from podium.store import Store
from podium.store.backup import back_up, restore
from podium.systems import find


def fill(path, events):
    """Fill a database with this many duels, and keep its store open."""
    store = Store(str(path))
    store.create_pool("main", find("elo")())
    for number in range(events):
        store.submit("main", rows(number, "ab"))
    return store


@pytest.fixture
def copy(tmp_path):
    """Return a copy of a database with two events."""
    path = tmp_path / "copy.db"
    with closing(fill(tmp_path / "first.db", 2)) as store:
        back_up(store.engine.url.database, path)
    return path


def contents(folder):
    """Return the content of every file in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def events_of(path):
    with closing(Store(str(path), must_exist=True)) as store:
        assert store.verify() == []
        return store.results("main").frame["event_id"].n_unique()


def crashed(path, events):
    """Copy the files of a database as a killed process leaves them, with the newest events only in the `-wal`."""
    live = path.with_name("live.db")
    with closing(fill(live, events)):
        for each in files_of(live):
            shutil.copyfile(each, path.with_name(path.name + each.name.removeprefix("live.db")))
    for each in files_of(live):
        each.unlink()
    assert path.with_name(path.name + "-wal").stat().st_size


def test_a_restore_stops_at_files_of_another_database(tmp_path, copy):
    """SQLite would apply the old `-wal` to the copy and mix the two."""
    target = tmp_path / "podium.db"
    crashed(target, 4)
    target.rename(tmp_path / "broken.db")
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=r"podium\.db-wal is left over from an earlier podium\.db"):
        restore(copy, str(target))
    assert contents(tmp_path) == before
    for end in ("-wal", "-shm"):
        target.with_name(target.name + end).rename(tmp_path / f"broken.db{end}")
    assert str(restore(copy, str(target))) == "1 pool, 2 events, 4 changes"
    assert events_of(target) == 2
    assert events_of(tmp_path / "broken.db") == 4  # every acknowledged event is still there


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
def test_a_restore_needs_a_target_without_files(tmp_path, copy, end):
    target = tmp_path / "podium.db"
    target.with_name(target.name + end).write_bytes(b"")
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=f"podium.db{end} "):
        restore(copy, str(target))
    with pytest.raises(StoreError, match=f"podium.db{end} "):
        back_up(str(copy), target)
    assert contents(tmp_path) == before


def test_a_restore_includes_the_copys_wal(tmp_path):
    """A copy made by hand has two files."""
    source = tmp_path / "byhand.db"
    crashed(source, 3)
    restore(source, str(tmp_path / "podium.db"))
    assert events_of(tmp_path / "podium.db") == 3
    assert events_of(source) == 3


def newer(path):
    with closing(fill(path, 1)) as store, store.engine.begin() as connection:
        set_schema(connection, "9999", "9999")


def foreign(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (x)")


def damaged(path):
    fill(path, 40).close()
    damage_all_after(path, 12)


SOURCES = [
    (lambda _: None, "there is no such file"),
    (lambda path: path.mkdir(), "is not a file"),
    (lambda path: path.touch(), "the file is empty"),
    (lambda path: path.write_text("event_id,player\n" * 500), "cannot be copied .file is not a database."),
    (foreign, "it has no Podium tables"),
    (newer, "its schema is 9999.*update Podium"),
    (damaged, "the database is damaged"),
]


@pytest.mark.parametrize(("make", "reason"), SOURCES, ids=[reason[:20] for _, reason in SOURCES])
def test_an_unusable_copy_is_rejected_and_leaves_no_files(tmp_path, make, reason):
    source = tmp_path / "copy.db"
    make(source)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match=reason) as caught:
        restore(source, str(tmp_path / "podium.db"))
    assert str(caught.value).startswith(str(source))
    assert sorted(tmp_path.iterdir()) == before


def test_an_inconsistent_copy_is_restored_only_on_request(tmp_path, copy):
    with closing(Store(str(copy))) as store, store.engine.begin() as connection:
        connection.execute(sa.update(witness).values(digest=b"other"))
    target = tmp_path / "podium.db"
    with pytest.raises(StoreError, match="a replay gives different changes from the stored ones"):
        restore(copy, str(target))
    assert files_of(target) == []
    assert restore(copy, str(target), unverified=True).differences
    assert files_of(target) == [target]


def test_a_restore_never_overwrites_a_new_database(tmp_path, copy, monkeypatch):
    target = tmp_path / "podium.db"
    plain = Store.verification

    def verification(store):
        fill(target, 1).close()
        return plain(store)

    monkeypatch.setattr(Store, "verification", verification)
    with pytest.raises(StoreError, match="already exists"):
        restore(copy, str(target))
    monkeypatch.undo()
    assert events_of(target) == 1


def test_a_backup_works_while_others_write(tmp_path):
    with closing(fill(tmp_path / "podium.db", 2)) as store:
        with store.writing("main"):
            back_up(f"sqlite:///{tmp_path}/podium.db", tmp_path / "copy.db")
        store.submit("main", rows(9, "ab"))
    assert files_of(tmp_path / "copy.db") == [tmp_path / "copy.db"]
    assert events_of(tmp_path / "copy.db") == 2


WITHOUT_RIGHTS = ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override"] if os.getuid() == 0 else []
LOOK = """
import sys; from pathlib import Path; from contextlib import closing; from podium.store import Store, backup
from podium.errors import PodiumError; from podium.log.database import UnavailableError
with closing(Store(sys.argv[1], must_exist=True)) as store:
    assert store.verify() == []
    print(store.results("main").frame.height)
backup.back_up(sys.argv[1], Path(sys.argv[2]))
try: Store(sys.argv[1]).void("main", "e1")
except UnavailableError as error: print(error)
from podium.cli.commands import build
try: build("serve")(["serve", "--db", sys.argv[1]], standalone_mode=False)
except PodiumError as error: print(error)
"""


def test_a_database_in_a_read_only_folder_can_be_read(tmp_path, copy):
    """By itself, SQLite would create files next to the database."""
    (tmp_path / "sealed").mkdir()
    database = shutil.move(copy, tmp_path / "sealed" / "podium.db")
    database.parent.chmod(0o555)
    command = [*WITHOUT_RIGHTS, sys.executable, "-c", LOOK, database, tmp_path / "copy.db"]
    shown = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    seen, refusal, unserved = shown.splitlines()
    assert "this folder is read-only, but the service must write" in unserved
    assert (seen, refusal.partition(". ")[0]) == (
        "4",
        "the database cannot be written to: its file or folder is read-only",
    )
    assert [path.name for path in database.parent.iterdir()] == ["podium.db"]
    assert events_of(tmp_path / "copy.db") == 2


@pytest.mark.parametrize("url", ["none.db", "empty.db", "postgresql://localhost/x", "sqlite://", "://"])
def test_a_backup_needs_a_database(tmp_path, url, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError, match=r"no such database|is empty|restores only SQLite files|cannot be opened"):
        back_up(url, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir()] == ["empty.db"]


@pytest.mark.parametrize("point", [("refuse_damaged", 1), ("synchronise", 1), ("synchronise", 2)])
def test_a_killed_restore_leaves_no_partial_database(tmp_path, copy, point):
    """It is killed after copying, after verifying and after renaming."""
    target = tmp_path / "podium.db"
    assert status_of(restore_half, *point, copy, str(target)) == -signal.SIGKILL
    assert files_of(target) == ([target] if point == ("synchronise", 2) else [])
    if not target.exists():
        restore(copy, str(target))
    assert events_of(target) == 2


def test_the_file_and_its_name_are_synced_before_the_report(tmp_path, copy, monkeypatch):
    synchronised = []
    plain = os.fsync

    def fsync(handle):
        synchronised.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        plain(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    restore(copy, str(tmp_path / "podium.db"))
    assert [name.endswith(".part") for name in synchronised] == [True, False]
    assert synchronised[1] == str(tmp_path)
