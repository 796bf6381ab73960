"""Daily maintenance while the database is busy."""

import sqlite3
import time
from contextlib import closing

import sqlalchemy as sa
from races import rows
from starlette.testclient import TestClient

from podium.log import database
from podium.log.schema import kept
from podium.service import app, create_app
from podium.store import Store
from podium.systems import find


def wait_until(condition):
    end = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def names_of_caches(store):
    with store.engine.connect() as connection:
        return connection.execute(sa.select(kept.c.name)).scalars().all()


def test_daily_work_continues_after_the_database_was_busy(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=20"))
    monkeypatch.setattr(app, "CHECK_INTERVAL_S", 0.05)
    monkeypatch.setattr(app, "NIGHTLY_ENTRIES", 0)
    with closing(Store(str(tmp_path / "podium.db"))) as store:
        store.create_pool("main", find("elo")())
        store.submit("main", rows(1, "ab"))

        with closing(sqlite3.connect(tmp_path / "podium.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with TestClient(create_app(store, daily=True)):
                wait_until(lambda: "the database is busy" in caplog.text)
                other.execute("ROLLBACK")
                wait_until(lambda: {*names_of_caches(store)} == {"facts", "hindsight", "snapshot"})
        assert store.verify() == []
