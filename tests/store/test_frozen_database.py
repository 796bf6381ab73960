"""A stored database of an earlier version: `podium db upgrade` brings it to the current schema."""

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from podium.store import Store

FROZEN = Path(__file__).with_name("before_adaptive.zip")


def read(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def frozen(tmp_path):
    with zipfile.ZipFile(FROZEN) as archive:
        return Path(archive.extract("before.db", tmp_path))


def test_an_upgrade_keeps_the_log_makes_a_copy_and_verifies(frozen, podium_command, tmp_path):
    log = read(frozen, "SELECT pool_id, seq, kind, body, hash FROM log ORDER BY pool_id, seq")
    (earlier,) = read(frozen, "SELECT version_num FROM alembic_version")
    status, _, errors = podium_command("db", "upgrade", "--db", frozen)
    assert status == 0, errors
    with closing(Store(f"sqlite:///{tmp_path / 'new.db'}")):
        newest = read(tmp_path / "new.db", "SELECT version_num FROM alembic_version")
    assert read(frozen, "SELECT version_num FROM alembic_version") == newest != [earlier]
    kept = read(frozen, "SELECT pool_id, seq, kind, body, hash FROM log ORDER BY pool_id, seq")
    assert [entry for entry in kept if entry[2] != "rerate"] == log  # deviations have changed since then
    (copy,) = tmp_path.glob("before-before-upgrade-*.db")
    assert read(copy, "SELECT version_num FROM alembic_version") == [earlier]
    assert podium_command("verify", "--db", frozen)[0] == 0
    status, shown, _ = podium_command("db", "upgrade", "--db", frozen)
    assert status == 0, shown
    assert len([*tmp_path.glob("*before-upgrade*")]) == 1  # the second upgrade has nothing to do


def test_upgrading_a_damaged_file_changes_nothing(frozen, podium_command):
    frozen.write_bytes(frozen.read_bytes()[:5000])
    before = frozen.read_bytes()
    status, _, errors = podium_command("db", "upgrade", "--db", frozen)
    assert status == 2
    assert "Traceback" not in errors
    assert frozen.read_bytes() == before
