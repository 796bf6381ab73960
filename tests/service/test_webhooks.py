"""Webhooks deliver every log entry in order, signed, at least once, and only to allowed addresses."""

import asyncio
import json
import socket
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from races import calling, event, rows

import podium
from podium.client import SignatureError, verify_webhook
from podium.client.webhooks import sign
from podium.log.database import UnavailableError, UpkeepLock
from podium.service import webhooks
from podium.service.metrics import Metrics
from podium.service.webhooks import Webhooks, is_found
from podium.store.keys import (
    create_webhook,
    delete_webhook,
    list_webhooks,
    resume_webhook,
    store_progress,
    store_under_way,
)
from podium.systems import find


@pytest.fixture
def store(store):
    store.create_pool("main", find("elo")())
    return store


@contextmanager
def receiving(*statuses):
    """Yield a receiver's URL and the requests it got; it answers with these statuses, and then with 204."""
    sent, answers = [], [*statuses]

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            sent.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(answers.pop(0) if answers else 204)
            self.end_headers()

        def log_message(self, *_parts): ...

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/podium?x=1", sent
        finally:
            server.shutdown()
            thread.join()


def wait_until(is_so):
    """Wait up to ten seconds until a condition is true."""
    for _ in range(500):
        if is_so():
            return
        time.sleep(0.02)
    raise AssertionError


def deliver(store, **options):
    """Run one turn of every webhook, and return the first one and the sender."""
    delivery = Webhooks(store, Metrics(), UpkeepLock(store.engine), **({"allow_private": True} | options))
    for each in list_webhooks(store.engine):
        asyncio.run(delivery.deliver(each))
    return list_webhooks(store.engine)[0], delivery


def test_entries_arrive_in_order_and_signed(store):
    store.submit("main", rows(1, "ab"))
    with receiving(204, 500) as (url, sent):
        created = create_webhook(store.engine, "main", url)
        for number in (2, 3):
            store.submit("main", rows(number, "ab"))
        store.void("main", "e2")
        first, delivery = deliver(store)
        assert (first.last_error, first.stopped) == ("the receiver responded with 500", False)
        assert first.failing_since is not None
        assert not delivery.is_due(first)
        second, _ = deliver(store)  # like after a restart
        assert (second.last_error, second.failing_since, second.delivered_seq) == ("", None, store.version("main"))
        deliver(store)
    entries = [json.loads(body) for _, body in sent]
    assert [(each["kind"], each["event_id"]) for each in entries] == [
        ("submit", "e2"), ("submit", "e3"), ("submit", "e3"), ("void", "e2"),
    ]  # fmt: skip
    assert {each["pool"] for each in entries} == {"main"}
    assert [{"pool": "main"} | each for each in store.news("main", created.delivered_seq)][-1] == entries[-1]
    read = [verify_webhook(created.secret, headers, body) for headers, body in sent]
    ids = [headers["webhook-id"] for headers, _ in sent]
    assert (read, ids[1] == ids[2], len(set(ids))) == (entries, True, 3)


def test_forged_messages_are_recognised():
    secret, body = "whsec_" + "A" * 43 + "=", b'{"pool": "main"}'
    now = int(time.time())

    def headers(**other):
        sent = {"Id": "podium-1-2", "Timestamp": str(now), "Signature": f"v2,x {sign(secret, 'podium-1-2', now, body)}"}
        return {f"Webhook-{name}": value for name, value in (sent | other).items() if value}

    assert verify_webhook(secret, headers(), body) == {"pool": "main"}
    old = str(now - 400)
    for sent, content, what in (
        (headers(Id=""), body, "the webhook-id header is missing"),
        (headers(Id="podium-1-3"), body, "does not match this secret"),
        (headers(), body + b" ", "does not match this secret"),
        (headers(Timestamp="now"), body, "not seconds"),
        (
            headers(Timestamp=old, Signature=sign(secret, "podium-1-2", int(old), body)),
            body,
            "is more than 300 s old or in the future",
        ),
    ):
        with pytest.raises(SignatureError, match=what):
            verify_webhook(secret, sent, content)
    for wrong in ("whsec_A", "whsec_ä"):
        with pytest.raises(podium.ParameterError, match="podium webhook create"):
            verify_webhook(wrong, headers(), body)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_failing_or_deleted_receiver_is_stopped(store):
    with receiving(410, 301) as (url, sent):
        number = create_webhook(store.engine, "main", url).id
        store.submit("main", rows(1, "ab"))
        gone, delivery = deliver(store)
        assert gone.stopped
        assert not delivery.is_due(gone)
        resume_webhook(store.engine, number)
        assert delivery.is_due(list_webhooks(store.engine)[0])  # at once, although it has just failed
        long_ago = (datetime.now(UTC) - timedelta(days=5, minutes=1)).isoformat(timespec="seconds")
        store_progress(store.engine, gone, 1, error="x", failing_since=long_ago)
        stopped, _ = deliver(store)  # redirections are not followed
        assert (stopped.stopped, stopped.last_error) == (True, "the receiver responded with 301")
        assert len(sent) == 2
    delete_webhook(store.engine, number)
    assert list_webhooks(store.engine) == []
    another = create_webhook(store.engine, "main", url)
    assert (another.id, delivery.is_due(another)) == (number, True)  # failures of the previous webhook do not delay it
    store_progress(store.engine, gone, 1, error="late")  # from a delivery in progress
    assert list_webhooks(store.engine) == [another]
    delete_webhook(store.engine, number)
    with pytest.raises(podium.UnknownError):
        delete_webhook(store.engine, number)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_private_addresses_get_nothing_unless_allowed(store):
    with receiving() as (url, sent):
        create_webhook(store.engine, "main", url)
        store.submit("main", rows(1, "ab"))
        refused, _ = deliver(store, allow_private=False)
        assert "127.0.0.1 is not a public address" in refused.last_error
        assert sent == []


def test_creating_a_webhook_looks_up_its_host(monkeypatch):
    assert is_found("https://93.184.216.34/", allow_private=False)
    assert is_found("http://127.0.0.1/", allow_private=True)
    with pytest.raises(podium.ParameterError, match=r"127.0.0.1 is not a public address"):
        is_found("http://127.0.0.1/", allow_private=False)

    def find_nothing(_):
        raise OSError("no such name")

    monkeypatch.setattr(webhooks, "look_up", find_nothing)
    assert not is_found("https://example.org/", allow_private=False)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_webhooks_turn_ends_in_time_and_failures_are_logged(store, monkeypatch, caplog):
    monkeypatch.setattr(webhooks, "TURN_S", -1.0)
    with receiving() as (url, sent):
        create_webhook(store.engine, "main", url)
        for number in (1, 2):
            store.submit("main", rows(number, "ab"))
        hook, delivery = deliver(store)
        assert ([json.loads(body)["event_id"] for _, body in sent], hook.last_error) == (["e1"], "")

    async def fail(_):
        raise failures.pop()

    delivery.deliver, failures = fail, [ValueError("wrong"), UnavailableError("away")]
    while failures:
        delivery._under_way[hook.id] = None
        asyncio.run(delivery._deliver(hook))
        assert not delivery._under_way
    assert [each.levelname for each in caplog.records] == ["WARNING", "ERROR"]


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_webhook_needs_an_existing_pool_and_a_valid_url(store):
    for url in ("ftp://a/b", "https://", "https://u:p@a/b", "https://a b/", "x", "http://[::1", "https://a:0/",
                "http://example..org/", f"http://{'x' * 64}.org/"):  # fmt: skip
        with pytest.raises(podium.ParameterError):
            create_webhook(store.engine, "main", url)
    with pytest.raises(podium.UnknownError):
        create_webhook(store.engine, "mian", "https://example.org")


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_the_running_service_sends_webhooks(store, monkeypatch):
    monkeypatch.setattr(webhooks, "CHECK_INTERVAL_S", 0.01)
    monkeypatch.setattr(webhooks, "RETRY_S", (0.02,))
    arrived = threading.Event()
    with receiving(503) as (url, sent):
        create_webhook(store.engine, "main", url)
        with calling(store, daily=True, private_webhooks=True) as client:
            client.post("/api/v1/pools/main/events", json=event(1))
            for _ in range(500):
                if len(sent) > 1 or arrived.wait(0.02):
                    break
            assert [json.loads(body)["event_id"] for _, body in sent] == ["e1", "e1"]
            text = client.get("/metrics").text
    assert 'podium_webhook_deliveries_total{outcome="failed",pool="main"} 1.0' in text


@pytest.mark.parametrize("name", ["example..org", f"{'x' * 64}.org"])
def test_an_impossible_host_name_is_a_failed_delivery(name):
    with pytest.raises(webhooks.DeliveryError):
        asyncio.run(webhooks.post(f"http://{name}/x", b"{}", {}, allow_private=False))


def test_a_host_needs_one_public_address():
    addresses = ["10.0.0.1", "93.184.216.34"]
    assert webhooks.permitted(addresses, allow_private=False) == "93.184.216.34"
    assert webhooks.permitted(addresses, allow_private=True) == "10.0.0.1"


def test_a_stale_delivery_mark_is_removed(store, monkeypatch):
    """A killed process can leave a mark, and so can a delivery that ends while its mark is written."""
    monkeypatch.setattr(webhooks, "CHECK_INTERVAL_S", 0.02)
    with receiving() as (url, _):
        number = create_webhook(store.engine, "main", url, private=True).id
        store_under_way(store.engine, {number: "2026-01-01T00:00:00+00:00"})
        assert list_webhooks(store.engine)[-1].under_way_since is not None
        with calling(store, daily=True):
            wait_until(lambda: list_webhooks(store.engine)[-1].under_way_since is None)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_slow_receivers_delay_nobody_and_are_shown(store, monkeypatch):
    """Each one sends a byte of a header now and then, and never ends."""
    monkeypatch.setattr(webhooks, "EXCHANGE_S", 0.6)
    monkeypatch.setattr(webhooks, "LONG_S", 0.1)
    monkeypatch.setattr(webhooks, "CHECK_INTERVAL_S", 0.02)
    monkeypatch.setattr(webhooks, "RETRY_S", (600.0,))  # no second attempt starts during the test
    ends = threading.Event()

    def drip(listening):
        while not ends.is_set():
            with listening.accept()[0] as connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not ends.wait(0.05):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        break

    with receiving() as (url, sent), socket.create_server(("127.0.0.1", 0), backlog=99) as listening:
        threads = [threading.Thread(target=drip, args=(listening,), daemon=True) for _ in range(12)]
        for each in threads:
            each.start()
            create_webhook(store.engine, "main", f"http://127.0.0.1:{listening.getsockname()[1]}/", private=True)
        create_webhook(store.engine, "main", url, private=True)
        with calling(store, daily=True) as client:
            client.post("/api/v1/pools/main/events", json=event(1))
            wait_until(lambda: sent)
            assert not any(each.last_error for each in list_webhooks(store.engine))  # all in progress
            wait_until(lambda: all(each.under_way_since for each in list_webhooks(store.engine)[:-1]))
            wait_until(lambda: all(each.last_error for each in list_webhooks(store.engine)[:-1]))
            wait_until(lambda: not any(each.under_way_since for each in list_webhooks(store.engine)))
        ends.set()
    *slow, fast = list_webhooks(store.engine)
    assert {each.last_error for each in slow} == {"no response within 0.6 s"}
    assert not fast.last_error
