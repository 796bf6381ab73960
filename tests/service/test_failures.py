"""One sender's failure affects only that sender. A temporary failure is a 503, and nothing is stored."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import pytest
import sqlalchemy as sa
from races import calling, event, rows
from starlette.testclient import TestClient

from podium.log import database
from podium.log.database import StoreError, UnavailableError
from podium.service import create_app, watchers
from podium.service.api import status
from podium.service.http.errors import MEDIA_TYPE
from podium.store import Store
from podium.store.keys import create_key
from podium.store.writing import submission
from podium.store.writing.execution import LongWorkError
from podium.systems import find

BASE = "/api/v1/pools"
SENDERS = 20


@pytest.fixture
def store(store):
    store.create_pool("main", find("elo")())
    return store


@pytest.fixture
def impatient(tmp_path, monkeypatch):
    """Return a store on SQLite that waits 50 ms for other writers."""
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=50"))
    with closing(Store(str(tmp_path / "podium.db"))) as opened:
        opened.create_pool("main", find("elo")())
        yield opened


def poison(monkeypatch, event_id, error):
    """Make an event fail whenever its content is read."""
    to_sent_events = submission.to_sent_events

    def failing(pool, contents, *sent):
        if event_id in contents:
            raise error
        return to_sent_events(pool, contents, *sent)

    monkeypatch.setattr(submission, "to_sent_events", failing)


def assert_unavailable(answer):
    assert (answer.status_code, answer.headers["content-type"]) == (503, MEDIA_TYPE)
    assert int(answer.headers["retry-after"]) >= 1
    assert (answer.json()["title"], answer.json()["status"]) == ("Service Unavailable", 503)


@pytest.mark.parametrize("error", [ValueError("secret"), OverflowError("secret"), StopIteration("secret")], ids=repr)
@pytest.mark.portable
def test_a_failing_submission_does_not_affect_others(store, monkeypatch, caplog, error):
    poison(monkeypatch, "e7", error)
    with calling(store, "write") as client, ThreadPoolExecutor(SENDERS) as threads:
        take, waiting = client.app.state.intake.submit, threading.Semaphore(0)

        async def count(*sent):
            waiting.release()
            return await take(*sent)

        client.app.state.intake.submit = count
        with store.writing("main"):
            sent = [threads.submit(client.post, f"{BASE}/main/events", json=event(number)) for number in range(SENDERS)]
            assert all(waiting.acquire(timeout=30.0) for _ in sent)
        answers = [each.result() for each in sent]
        assert client.post(f"{BASE}/main/events", json=event(50)).status_code == 201
    failed = answers.pop(7)
    assert [each.status_code for each in answers] == [201] * (SENDERS - 1)
    assert (failed.status_code, failed.headers["content-type"]) == (500, MEDIA_TYPE)
    assert failed.json()["title"] == "Internal Server Error"
    assert "secret" not in failed.text
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "e7" in record.getMessage()
    assert record.exc_info[1] is error
    assert store.results("main").frame["event_id"].n_unique() == SENDERS
    assert store.verify() == []


def test_separate_submissions_wait_once_for_an_outage(store):
    store.submit("main", rows(1, "ab"))
    attempts = []

    def unavailable(_pool, sent, **_more):
        attempts.append(sent)
        raise UnavailableError("away")

    store._submit = unavailable
    outcomes = store.submit_each("main", [(rows(1, "ba"), "", {}), (rows(2, "ab"), "", {}), (rows(3, "ab"), "", {})])
    assert [type(each) for each in outcomes] == [UnavailableError] * 3
    assert len(attempts) == 1


def test_a_batch_that_fails_to_start_does_not_stop_the_next(store):
    store_each = store.submit_each

    def failing(_pool, _sent, **_options):
        store.submit_each = store_each
        raise RuntimeError("can't start new thread")

    store.submit_each = failing
    with calling(store, "write") as client:
        assert client.post(f"{BASE}/main/events", json=event(1)).status_code == 500
        assert client.post(f"{BASE}/main/events", json=event(1)).status_code == 201


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_failing_queue_rejects_waiting_requests_and_restarts(store):
    with TestClient(create_app(store), raise_server_exceptions=False) as client:
        client.headers["Authorization"] = f"Bearer {create_key(store.engine, 'w', 'write')}"
        intake = client.app.state.intake
        outcomes = intake._outcomes

        async def fail(*_sent, **_options):
            raise RuntimeError("a fault of ours")

        async def fail_later(queue, *_sent):
            return await fail() if queue.is_long else [LongWorkError("takes long")]

        for intake._outcomes in (fail, fail_later):
            assert client.post(f"{BASE}/main/events", json=event(1)).status_code == 500
            assert intake.waiting_events() == {}
        intake._outcomes = outcomes
        assert client.post(f"{BASE}/main/events", json=event(1)).status_code == 201


def test_an_unexpected_error_hides_its_reason(store):
    def failing(*_more, **_options):
        raise ValueError("secret")

    store.player = failing
    key = create_key(store.engine, "r", "read")
    with TestClient(create_app(store), raise_server_exceptions=False) as client:
        answer = client.get(f"{BASE}/main/players/a", headers={"Authorization": f"Bearer {key}"})
    assert (answer.status_code, answer.headers["content-type"]) == (500, MEDIA_TYPE)
    assert "secret" not in answer.text


def test_a_locked_file_is_503_only_for_writers(impatient):
    with calling(impatient) as client:
        with closing(sqlite3.connect(impatient.engine.url.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert_unavailable(client.post(f"{BASE}/main/events", json=event(1)))
            dry_run = client.post(f"{BASE}/main/events", params={"dry_run": True}, json=event(1))
            assert (dry_run.status_code, len(dry_run.json()[0]["effects"])) == (200, 3)
            assert_unavailable(client.post(BASE, json={"name": "new", "system": "elo"}))
            assert client.get(f"{BASE}/main/leaderboard").json()["players"] == []
            assert client.get("/readyz").status_code == 200
            other.execute("ROLLBACK")
        assert [each["name"] for each in client.get(BASE).json()] == ["main"]
        assert client.post(f"{BASE}/main/events", json=event(1)).status_code == 201
    assert impatient.verify() == []


def test_health_checks_answer_while_writers_wait(store):
    with calling(store, "write") as client, ThreadPoolExecutor(1) as threads:
        with store.writing("main"):
            waiting = threads.submit(client.post, f"{BASE}/main/events", json=event(1))
            until = time.monotonic() + 30.0
            while not client.app.state.intake._tasks and time.monotonic() < until:
                time.sleep(0.01)
            assert client.get("/healthz").status_code == 200
            assert not waiting.done()
        assert waiting.result().status_code == 201


def test_a_full_disk_is_503_and_nothing_is_stored(impatient):
    pages = 0

    def limit(connection, _record):
        connection.execute(f"PRAGMA max_page_count={pages or 10**9}")

    with closing(sqlite3.connect(impatient.engine.url.database)) as other:
        (pages,) = other.execute("PRAGMA page_count").fetchone()
    sa.event.listen(impatient.engine, "connect", limit)
    events = [event(number, "abcdefgh") for number in range(300)]
    with calling(impatient) as client:
        pages += 1
        impatient.engine.dispose()
        assert_unavailable(client.post(f"{BASE}/main/events", json={"events": events}))
        assert client.get(f"{BASE}/main/leaderboard").json()["players"] == []
        pages = 0  # there is space again
        impatient.engine.dispose()
        assert client.post(f"{BASE}/main/events", json={"events": events}).status_code == 201
    assert impatient.verify() == []


@contextmanager
def administering(store):
    """Yield a connection to the store's server, in another database."""
    address = store.engine.url.set(database="postgres")
    engine = sa.create_engine(address, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        yield connection


def end_connections(connection, store):
    """End every connection to a store's database."""
    statement = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = :name"
    assert connection.execute(sa.text(statement), {"name": store.engine.url.database}).all()


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_a_database_restart_causes_no_errors(store):
    with calling(store) as client, administering(store) as connection:
        for number in (1, 2):
            assert client.post(f"{BASE}/main/events", json=event(number)).status_code == 201
            end_connections(connection, store)
            assert client.get(f"{BASE}/main/leaderboard").status_code == 200
            end_connections(connection, store)
    assert store.verify() == []


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_an_unreachable_database_is_503(store):
    name = store.engine.url.database
    with ExitStack() as stack:
        client = stack.enter_context(calling(store))
        connection = stack.enter_context(administering(store))
        assert client.post(f"{BASE}/main/events", json=event(1)).status_code == 201
        connection.execute(sa.text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
        end_connections(connection, store)
        for _ in range(2):  # with and without the key in the service's cache
            assert_unavailable(client.get(f"{BASE}/main/players/a"))
            assert_unavailable(client.post(f"{BASE}/main/events", json=event(2)))
            assert_unavailable(client.get("/readyz"))
            assert client.get("/healthz").status_code == 200
            client.app.state.key_guard._cache.clear()
        connection.execute(sa.text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"))
        assert client.post(f"{BASE}/main/events", json=event(2)).status_code == 201
    assert store.verify() == []


def test_concurrent_requests_create_a_pool_once(store):
    gate = threading.Barrier(8)
    with calling(store) as client, ThreadPoolExecutor(8) as threads:

        def create(name):
            gate.wait()
            return client.post(BASE, json={"name": name, "system": "elo"}).status_code

        for name in "stuvw":
            assert sorted(threads.map(create, [name] * 8)) == [201] + [409] * 7
    assert {each.name for each in store.pools()} == {"main", *"stuvw"}
    assert store.verify() == []


def test_a_pool_created_by_another_transaction_is_a_conflict(store):
    """The other transaction commits after this one begins. Only PostgreSQL lets both write."""
    with ThreadPoolExecutor(1) as threads:
        with store.writing("main") as pool:
            pool.connection.execute(
                sa.text("INSERT INTO pool (name, system, parameters) VALUES ('new', 'elo', '{}')")
            )  # another process has come this far
            waiting = threads.submit(store.create_pool, "new", find("elo")())
            time.sleep(0.3)
            assert not waiting.done()
        with pytest.raises(StoreError, match="there is already a pool 'new'"):
            waiting.result()


def test_a_stream_survives_an_outage(store, monkeypatch):
    for module in (watchers, status):
        monkeypatch.setattr(module, "RETRY_S", 0.01)
    monkeypatch.setattr(status, "COMMENT_INTERVAL_S", 0.05)
    news, failures = store.news, [UnavailableError("away"), UnavailableError("away")]

    def failing(*sent):
        if failures:
            raise failures.pop()
        return news(*sent)

    store.news = failing
    store.submit("main", rows(1, "ab"))
    with calling(store, "read") as client:
        text = client.get(f"{BASE}/main/stream", params={"seconds": 0.5}, headers={"Last-Event-ID": "0"}).text
    assert "event: submit" in text
    assert text.index("event: submit") < text.index(": no news") < text.index(": the time is over")
