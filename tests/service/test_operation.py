"""The service from the operator's view: its log, metrics, pages, files and shutdown."""

import asyncio
import csv
import io
import json
import logging
import os
import re
import threading
import time
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from races import calling, event, rows
from starlette.testclient import TestClient

from podium.service import create_app, metrics
from podium.service.api import status
from podium.service.api.dependencies import Queue
from podium.service.http import errors
from podium.service.http.errors import JsonFormatter
from podium.service.http.requests import RequestMiddleware
from podium.store.keys import create_key
from podium.systems import find

POOL = "/api/v1/pools/main"
LOGGER = logging.getLogger("podium.test")


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    return sqlite_store


def test_a_request_is_logged_as_one_json_line_without_player_names(store, monkeypatch):
    monkeypatch.setattr(errors, "WRITE_INTERVAL_S", 3600.0)
    monkeypatch.setattr(errors, "MAX_WAITING_LINES", 3)
    written = io.StringIO()
    store.create_pool('a/"b"', find("elo")())
    with calling(store, "read", request_log=written) as client:
        answer = client.get("/api/v1/pools/a%2F%22b%22/players/ana", headers={"X-Request-Id": "page-17"})
        assert (answer.json()["request_id"], answer.headers["x-request-id"]) == ("page-17", "page-17")
        for unfit in ("a b", "x" * 200, '{"a"}', ""):
            drawn = client.get(f"{POOL}/players/ana", headers={"X-Request-Id": unfit}).json()["request_id"]
            assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]+", drawn)
        assert written.getvalue().count("\n") == 3
        client.get("/healthz")
    first, *_, last = map(json.loads, written.getvalue().splitlines())
    moment = datetime.fromisoformat(first.pop("time"))
    assert timedelta() <= datetime.now(UTC) - moment < timedelta(minutes=1)
    assert first.pop("ms") >= 0.0
    assert first == {
        "level": "info", "logger": "podium.requests", "method": "GET", "status": 404,
        "route": "/api/v1/pools/{pool}/players/{player}", "client": "testclient", "key": 1, "pool": 'a/"b"',
        "request_id": "page-17",
    }  # fmt: skip
    assert (last["route"], "key" in last) == ("/healthz", False)


def test_an_error_has_its_request_id_in_the_response_and_the_log(store):
    records = []

    def fail(*_sent):
        LOGGER.error("it went wrong", exc_info=ValueError("secret"))
        raise ValueError("secret")

    class Handler(logging.Handler):
        def emit(self, record):
            records.append(JsonFormatter().format(record))

    store.player, handler = fail, Handler()
    LOGGER.addHandler(handler)
    with calling(store, "read") as client, TestClient(client.app, raise_server_exceptions=False) as answered:
        answer = answered.get(f"{POOL}/players/ana", headers=client.headers | {"X-Request-Id": "r-1"})
    LOGGER.removeHandler(handler)
    assert (answer.status_code, answer.json()["request_id"], answer.headers["x-request-id"]) == (500, "r-1", "r-1")
    assert "secret" not in answer.text
    (line,) = map(json.loads, records)  # written in the reading thread
    assert (line["level"], line["message"], line["request_id"]) == ("error", "it went wrong", "r-1")
    assert "secret" in line["traceback"]


def test_a_request_interrupted_by_shutdown_is_503():
    sent = []

    async def app(_scope, _receive, _send):
        await asyncio.sleep(60.0)

    async def begun(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200})
        await asyncio.sleep(60.0)

    async def send(message):
        sent.append(message)

    async def stop(app):
        observed = []
        middleware = RequestMiddleware(app, lambda *figures: observed.append(figures))
        scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"a.example")], "client": None}
        task = asyncio.create_task(middleware(scope, None, send))
        await asyncio.sleep(0)
        task.cancel()
        await task
        return observed

    ((_, _, observed_status, _),) = asyncio.run(stop(app))
    start, body = sent
    assert (start["status"], observed_status) == (503, 503)
    assert b"retry-after" in dict(start["headers"])
    assert json.loads(body["body"])["status"] == 503
    with pytest.raises(asyncio.CancelledError):  # a response that has begun is cut off
        asyncio.run(stop(begun))
    assert [each.get("status") for each in sent[2:]] == [200]


def test_probes_answer_while_all_other_threads_are_busy(store, monkeypatch):
    monkeypatch.setattr(status, "READY_TIMEOUT_S", 0.3)
    gate = threading.Event()
    with calling(store) as client:
        store.submit = lambda *_sent, **_options: gate.wait(30.0) and []
        store.run = lambda *_sent, **_options: gate.wait(30.0) and 0
        sent = [(f"{POOL}/merge", {"player": "a", "into": "b"})] * 12 + [(f"{POOL}/events?dry_run=true", event(1))] * 3
        waiting = [threading.Thread(target=client.post, args=(path,), kwargs={"json": body}) for path, body in sent]
        for each in waiting:
            each.start()
        try:
            end = time.monotonic() + 20.0
            threads = client.app.state.threads
            while threads.writing.available_tokens or threads.planning.available_tokens:
                assert time.monotonic() < end
                time.sleep(0.01)
            assert client.get("/readyz").json() == {"status": "ready"}
            assert client.get(f"{POOL}/leaderboard").status_code == 200
            monkeypatch.setattr(status, "query_pools", lambda _store: gate.wait(30.0))
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").json() == {"status": "ok"}
        finally:
            gate.set()
            for each in waiting:
                each.join()


def test_the_metrics_report_the_load(store):
    store.submit("main", rows(1, "ab"))
    with calling(store, daily=True) as client:
        client.post(f"{POOL}/events", json=event(2))
        client.app.state.intake._queues[Queue("main")] = []
        text = client.get("/metrics").text
    assert 'podium_waiting_events{pool="main"} 0.0' in text
    assert re.search(r'podium_held_bytes{pool="main"} [1-9]', text)
    assert re.search(r'podium_lock_wait_seconds_count\{pool="main"\} [1-9]', text)
    assert re.search(r'podium_write_seconds_sum\{pool="main"\} [\d.e-]+', text)


def test_maintenance_ends_expired_keys(store, caplog):
    create_key(store.engine, "short", "read", lifetime=timedelta(microseconds=1))
    caplog.set_level(logging.INFO, logger="podium")
    with calling(store, daily=True):
        wait_for(lambda: caplog.text, "1 key expired")


def test_a_killed_worker_leaves_no_gauge(tmp_path):
    killed, alive = (tmp_path / f"gauge_livesum_{number}.db" for number in (2**22 + 1, os.getpid()))
    for each in (killed, alive):
        each.touch()
    metrics.forget_dead_workers(tmp_path)
    assert (killed.exists(), alive.exists()) == (False, True)


def wait_for(read, part):
    """Read until the text contains a part, and return the text."""
    end = time.monotonic() + 20.0
    while part not in (text := read()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return text


def test_pages_load_nothing_from_other_sites(store):
    with TestClient(create_app(store)) as client:
        document = client.get("/api/openapi.json").json()
        for path in ("/", "/api/docs"):
            page = client.get(path)
            policy = page.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; ")
            assert "unsafe" not in policy
            assert not re.search(r"<script(?! src=\"/static/)|src=\"(?!/)|@import|url\(|href=\"(?!/|#)", page.text)
            assert client.head(path).status_code == 200
            assert client.head(path).content == b""
        icon = client.get("/favicon.ico")
        assert (icon.status_code, icon.headers["content-type"]) == (200, "image/svg+xml")
        manifest = re.search('<link rel="manifest" href="(.*?)">', client.get("/").text)[1]
        for each in client.get(manifest).json()["icons"]:
            touch = client.get(f"{manifest.rpartition('/')[0]}/{each['src']}")
            assert (touch.headers["content-type"], touch.content[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
        reference = client.get("/api/docs").text
        for route, methods in document["paths"].items():
            assert f"<code>{route}</code>" in reference
            for operation in methods.values():
                assert f'id="{operation["operationId"]}"' in reference
        assert "/api/v1/pools/karts/events/race-17 \\\n  -H" in unescape(
            reference
        )  # a sample request with the example parameters
        used = {tag for methods in document["paths"].values() for each in methods.values() for tag in each["tags"]}
        assert used == {tag["name"] for tag in document["tags"]}
        creating = reference.partition('id="create_pool"')[2].partition("</section>")[0]
        for field in document["components"]["schemas"]["NewPool"]["properties"]:
            assert f"<dt><code>{field}</code>" in creating
        links, anchors = (set(re.findall(rf'{name}="#?([^"/]+)"', reference)) for name in ("href", "id"))
        assert links <= anchors
        assert len(unescape(re.search(r'<pre id="start"[^>]*>(.*?)</pre>', reference, re.DOTALL)[1]).splitlines()) == 5
        assert client.head("/healthz").status_code == client.head("/readyz").status_code == 200


def test_exported_text_is_never_a_formula_and_numbers_stay(store):
    hostile = ["=HYPERLINK(0)", "@SUM(1+1)", "+x", "-x", "-5", "a=b", "'x", ";=1+1", "\uff1d1"]
    store.submit("main", rows(1, hostile))
    with calling(store, "read") as client:

        def players(table, **params):
            text = client.get(f"{POOL}/export/{table}.csv", params=params).text
            return [*csv.DictReader(io.StringIO(text))]

        for table in ("results", "history"):
            guarded = [row["player"] for row in players(table)]
            assert guarded == ["'=HYPERLINK(0)", "'@SUM(1+1)", "'+x", "'-x", "'-5", "a=b", "'x", "';=1+1", "'\uff1d1"]
            assert [row["player"] for row in players(table, guard=False)] == hostile
        assert min(float(row["delta"]) for row in players("history")) < 0.0
