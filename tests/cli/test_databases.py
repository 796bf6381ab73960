"""Commands that open a database: which ones create it, and their errors for an unusable one."""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
import sqlalchemy as sa
from commands import run
from damaging import damage_root
from newer import set_schema
from races import rows

from podium.log.files import files_of
from podium.store import Store
from podium.systems import find


def fill(url, *names):
    store = Store(url)
    for name in names:
        store.create_pool(name, find("elo")())
        store.submit(name, [*rows(1, "ab"), *rows(2, "abc")])
    return store


@pytest.mark.parametrize(
    "words",
    [
        ("verify",),
        ("pool", "list"),
        ("season", "list", "--pool", "main"),
        ("void", "--event", "e", "--pool", "main"),
        ("key", "list"),
        ("key", "create", "x"),
        ("db", "upgrade"),
        ("db", "backup", "copy.db"),
    ],
    ids=" ".join,
)
def test_a_wrong_name_creates_no_database(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "typo.db: there is no such database" in run(*words, "--db", "typo.db", status=2)
    assert list(tmp_path.iterdir()) == []


def test_foreign_files_are_rejected(tmp_path):
    """The commands do not change the files."""
    empty, text, foreign, newer, older = (
        tmp_path / f"{name}.db" for name in ("empty", "text", "foreign", "newer", "older")
    )
    empty.touch()
    text.write_text("event_id,player\n" * 500, encoding="utf-8")
    with closing(sqlite3.connect(foreign)) as database:
        database.execute("CREATE TABLE t (x)")
    for path, revision in ((newer, "9999"), (older, "0012")):
        with closing(fill(str(path), "main")) as store, store.engine.begin() as connection:
            set_schema(connection, revision, revision)
    for path, reason in (
        (empty, "the file is empty"),
        (text, "file is not a database"),
        (foreign, "it has no Podium tables"),
        (newer, "the database belongs to a newer version: its schema is 9999"),
        (older, "run podium pool export with the version that wrote it, and podium pool import with this one"),
    ):
        before = path.read_bytes()
        message = run("verify", "--db", path, status=2)
        assert reason in message
        assert len(message.splitlines()) == 1
        assert path.read_bytes() == before
    for words in (("pool", "list"), ("db", "init"), ("db", "upgrade"), ("db", "backup", tmp_path / "copy.db")):
        for path, remedy in ((newer, "update Podium"), (older, "podium pool export")):
            before = path.read_bytes()
            assert remedy in run(*words, "--db", path, status=2)
            assert path.read_bytes() == before
    assert not (tmp_path / "copy.db").exists()
    assert "podium pool export" in run("db", "restore", older, "--db", tmp_path / "copy.db", status=2)


def test_a_server_without_podium_tables_is_rejected(empty_url):
    url = empty_url("postgresql")
    assert "it has no Podium tables" in run("verify", "--db", url, status=2)
    run("db", "init", "--db", url)
    assert "there are no pools to compare" in run("verify", "--db", url, status=1)
    with closing(fill(url, "main")) as store:
        assert "(1 pool, 2 events, 5 changes)" in run("verify", "--db", url)
        with store.engine.begin() as connection:
            set_schema(connection, "9999", "9999")
    assert "its schema is 9999" in run("verify", "--db", url, status=2)
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        set_schema(connection, "0003", "0003")
    for words in (("verify",), ("db", "init"), ("db", "upgrade")):
        assert "its schema is 0003" in run(*words, "--db", url, status=2)


def test_verify_and_restore_show_how_much_they_compared(tmp_path):
    path, copy = tmp_path / "podium.db", tmp_path / "copy.db"
    fill(str(path), "one", "two").close()
    verified, *heads = run("verify", "--db", path).splitlines()
    assert verified == f"{path}: everything stored matches the log (2 pools, 4 events, 10 changes)"
    assert [each.split(" ")[:2] for each in heads] == [["one:", "head"], ["two:", "head"]]
    run("db", "backup", copy, "--db", path)
    assert "already exists" in run("db", "restore", copy, "--db", path, status=2)
    restored = tmp_path / "restored.db"
    assert "2 pools, 4 events, 10 changes" in run("db", "restore", copy, "--db", restored)
    assert files_of(restored) == [restored]  # the command closed the database, so it has one file
    assert "no such file" in run("db", "restore", tmp_path / "none.db", "--db", tmp_path / "x.db", status=2)
    run("db", "init", "--db", tmp_path / "new.db")
    assert "there are no pools to compare" in run("verify", "--db", tmp_path / "new.db", status=1)


def test_keys_and_webhooks_are_created_listed_and_removed(tmp_path):
    path = tmp_path / "podium.db"
    fill(str(path), "main").close()
    words = ("--db", path)
    run("key", "create", "server", "--pool", "main", *words)
    assert run("key", "revoke", 1, *words) == "key 1 is revoked\n"
    assert json.loads(run("key", "list", *words, "-f", "json"))[0]["revoked_at"]
    address = "http://127.0.0.1:9/hook"
    assert "private" in run("webhook", "create", address, "--pool", "main", *words, status=2)
    created = run("webhook", "create", address, "--pool", "main", "--private", *words)
    assert created.startswith(f"webhook 1 sends to {address}. The signing secret is ")
    (listed,) = json.loads(run("webhook", "list", *words, "-f", "json"))
    assert (listed["url"], listed["stopped"], listed["under_way_since"]) == (address, False, None)
    assert run("webhook", "resume", 1, *words) == "webhook 1 is resumed\n"
    assert run("webhook", "delete", 1, *words) == "webhook 1 is deleted\n"
    assert json.loads(run("webhook", "list", *words, "-f", "json")) == []


def players_in(path):
    with closing(Store(str(path))) as store:
        return store.leaderboard("main").players


def test_an_account_is_merged_and_separated_again(tmp_path):
    path = tmp_path / "podium.db"
    with closing(fill(str(path), "main")) as store:
        store.submit("main", rows(3, "bd"))
    words = ("--pool", "main", "--db", path)
    before = players_in(path)
    assert re.fullmatch(
        r"a is merged into d; \d+ ratings? changed\n", run("merge", "--player", "a", "--into", "d", *words)
    )
    assert players_in(path) != before
    back = run("unmerge", "--player", "a", *words)
    assert re.fullmatch(r"a is separate again; \d+ ratings? changed\n", back)
    assert players_in(path) == before
    moved = run("void-player", "--player", "a", *words, "--dry-run").splitlines()[1:]
    assert sorted(line[0] for line in moved) == ["a", "b", "c", "d"]
    done = run("void-player", "--player", "a", *words)
    assert re.fullmatch(r"the events of a do not count; \d+ ratings? changed\n", done)
    assert {each.player for each in players_in(path)} == {"b", "d"}


def test_a_process_closes_its_database_at_the_end(tmp_path):
    """Other tests run the commands in their own process."""
    path = tmp_path / "podium.db"
    fill(str(path), "main").close()
    words = ("void", "--event", "e1", "--pool", "main", "--db", str(path))
    command = [sys.executable, "-c", "from podium.cli import main; main()", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert files_of(path) == [path]


def test_verify_continues_after_errors_and_names_all(tmp_path):
    """A pool with an unreadable log does not stop the comparison of others."""
    path = tmp_path / "podium.db"
    with closing(fill(str(path), "one", "three", "two")) as store, store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE log SET body = 'x' WHERE kind = 'submit' AND pool_id = 1"))
        connection.execute(sa.text("UPDATE witness SET digest = x'00' WHERE pool_id = 3"))
    message = run("verify", "--db", path, status=1)
    assert "podium: one: cannot be verified further (" in message
    assert "podium: two: a replay gives different changes from the stored ones" in message
    assert "podium: one: log entry 2 (number 2, submit of 'e1') was altered" in message
    assert [line[:20] for line in message.splitlines() if "three:" in line] == ["podium: three: head "]
    assert "compared: 3 pools, 4 events, 10 changes" in message


def test_a_damaged_database_is_named_without_a_traceback(tmp_path):
    path = tmp_path / "podium.db"
    fill(str(path), "one", "two").close()
    damage_root(path, "witness")
    message = run("verify", "--db", path, status=1)
    assert "podium: the database is damaged: " in message
    assert "podium: one: cannot be verified further (DatabaseError: " in message
    assert "podium: two: cannot be verified further (DatabaseError: " in message
