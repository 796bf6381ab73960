"""The keeper of daily ranks, while the database is in trouble."""

import sqlite3
import time
from contextlib import closing

from races import calling, rows
from starlette.testclient import TestClient

from podium.log import database
from podium.service import app, create_app
from podium.service.http.keys import KeyGuard
from podium.service.http.requests import Threads
from podium.service.metrics import Metrics
from podium.store import Store
from podium.systems import find


def wait_until(condition):
    end = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_it_goes_on_after_the_database_was_busy(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=20"))
    monkeypatch.setattr(app, "CHECK_INTERVAL_S", 0.05)
    with closing(Store(str(tmp_path / "podium.db"))) as store:
        store.create_pool("main", find("elo")())
        store.submit("main", rows(1, "ab"))

        with closing(sqlite3.connect(tmp_path / "podium.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with TestClient(create_app(store, daily=True)):
                wait_until(lambda: "the database is busy" in caplog.text)
                assert store.snapshot_days("main") == []
                other.execute("ROLLBACK")
                wait_until(lambda: store.snapshot_days("main"))
        assert store.verify() == []


def test_the_ranks_it_took_have_an_age_though_a_late_result_spoils_them_at_once(tmp_path, monkeypatch):
    with closing(Store(str(tmp_path / "podium.db"))) as store:
        store.create_pool("main", find("elo")())
        store.submit("main", rows(1, "ab"))

        def snapshot(pool):
            ranked = Store.snapshot(store, pool)
            store.submit("main", rows(2, "ab"))
            return ranked

        monkeypatch.setattr(store, "snapshot", snapshot)
        with calling(store, daily=True) as client:
            wait_until(lambda: 'podium_newest_ranks_age_seconds{pool="main"}' in client.get("/metrics").text)
        assert store.snapshot_days("main") == []


def test_ranks_have_an_age_in_every_process_where_there_are_days_and_a_pool(tmp_path):
    with closing(Store(str(tmp_path / "podium.db"))) as store:
        undated = [{name: cell for name, cell in row.items() if name != "started_at"} for row in rows(1, "ab")]
        for name, result in (("main", rows(1, "ab")), ("counted", undated)):
            store.create_pool(name, find("elo")(), order="sequence" if name == "counted" else "dated")
            store.submit(name, result)
            store.snapshot(name)
        threads = Threads()
        keeper = app.Upkeep(store, threads, KeyGuard(store, threads), Metrics(), database.Turn(store.engine))
        keeper._read_newest_days()  # as where another process has the turn
        assert keeper.ages_s().keys() == {"main"}
        store.close_pool("main")
        store.delete_pool("main")
        keeper._read_newest_days()
        assert keeper.ages_s() == {}
