"""Heads of the log that are stored next to an SQLite database, and the modes of its files."""

import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from commands import run

from podium.log.chain import keep_heads, lost_heads
from podium.store import Store
from podium.systems import find

RACE = [{"event_id": "e1", "player": name, "position": place} for place, name in enumerate("AB", start=1)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "own.db"


def filled(path):
    store = Store(str(path))
    store.create_pool("karts", find("elo")(), order="sequence")
    store.submit("karts", RACE)
    return store


def race(number):
    return [each | {"event_id": f"e{number}"} for each in RACE]


def test_verify_names_removed_entries(path):
    with closing(filled(path)) as store:
        earlier = path.with_name("earlier.db")
        run("db", "backup", earlier, "--db", path)
        store.submit("karts", race(2))
        keep_heads(store.engine)
        assert lost_heads(store.engine) == []
    shutil.copy(earlier, path)
    message = run("verify", "--db", path, status=1)
    assert "removed: the log ends before the head" in message
    assert f"delete {path}-heads to accept it" in message
    with closing(Store(str(path))) as store, pytest.raises(Exception, match="log ends before"):
        keep_heads(store.engine)  # `podium serve` does not replace the evidence
    path.with_name("own.db-heads").unlink()
    run("verify", "--db", path)


def test_stored_heads_end_with_a_deleted_pool_or_a_new_database(path):
    with closing(filled(path)) as store:
        store.create_pool("other", find("elo")(), order="sequence")
        store.submit("other", RACE)
        keep_heads(store.engine)
        store.close_pool("karts")
        keep_heads(store.engine)
        store.delete_pool("karts")
        assert lost_heads(store.engine) == []
    run("verify", "--db", path)
    copy = path.with_name("copy.db")
    run("db", "backup", copy, "--db", path)
    path.unlink()
    run("db", "restore", copy, "--db", path)
    assert not path.with_name("own.db-heads").exists()
    path.unlink()
    path.with_name("own.db-heads").write_text('{"gone": "5:' + "ab" * 32 + '"}')
    filled(path).close()
    run("verify", "--db", path)


@pytest.mark.parametrize("text", ["", "[]", '{"karts": 3}', '{"karts": "x"}', "\0"])
def test_a_damaged_heads_file_is_reported(path, text):
    filled(path).close()
    path.with_name("own.db-heads").write_text(text)
    if text != "[]":
        assert "own.db-heads" in run("verify", "--db", path, status=1)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_only_the_owner_can_read_database_files(path):
    before = os.umask(0o022)
    try:
        with closing(filled(path)) as store:
            keep_heads(store.engine)
            export, copy = path.with_name("k.jsonl"), path.with_name("copy.db")
            run("pool", "export", "karts", "-o", export, "--db", path)
            run("db", "backup", copy, "--db", path)
            run("db", "restore", copy, "--db", path.with_name("again.db"))
            modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir() if each.is_file()}
    finally:
        os.umask(before)
    assert {"own.db", "own.db-wal", "own.db-heads", "k.jsonl", "copy.db", "again.db"} <= modes.keys()
    assert {*modes.values()} == {0o600}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_existing_files_keep_their_mode(path):
    filled(path).close()
    export = path.with_name("k.jsonl")
    export.touch()
    for each in (path, export):
        each.chmod(0o640)
    run("pool", "export", "karts", "-o", export, "--db", path)
    assert [each.stat().st_mode & 0o777 for each in (path, export)] == [0o640, 0o640]


def test_verify_names_altered_keys_and_lists_valid_ones(path):
    filled(path).close()
    run("key", "create", "steward", "--role", "write", "--pool", "karts", "--db", path)
    assert "keys in use: 1 steward (write, karts)" in run("verify", "--db", path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE api_key SET role = 'owner'")
    assert "podium key revoke 1" in run("verify", "--db", path, status=1)


def test_an_import_reports_how_many_ratings_changed(path):
    with closing(filled(path)) as store:
        lines = list(store.export_pool("karts"))
    with closing(Store(str(path.with_name("b.db")))) as other:
        imported = other.import_pool(iter(lines))
        assert (imported.moved, imported.notice) == (0, "")
        older = lines[0].replace('"arithmetic":', '"arithmetic":1').replace(":110", ":1"), *lines[1:]
        changed = [each.replace('"rating":15', '"rating":16') for each in older]
        imported = other.import_pool(iter(changed), name="older")
        assert imported.moved == sum('"rating":15' in each for each in lines) > 0
        assert "revision 1" in imported.notice
        assert "moved." in imported.notice
        altered = [each.replace('"rating":15', '"rating":16') for each in lines]
        assert "from its log" in other.import_pool(iter(altered), name="altered").notice
        unknown = [lines[0].replace('"arithmetic":', '"arithmetics":'), *lines[1:]]
        assert "may have moved" in other.import_pool(iter(unknown), name="unknown").notice
