"""Webhooks: everything that happens arrives in order, signed, at least once, and nowhere it should not."""

import base64
import hashlib
import hmac
import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address

import pytest
from races import calling, event, rows

import podium
from podium.service.delivery import posting, webhooks
from podium.service.delivery.posting import is_public
from podium.service.delivery.webhooks import Webhooks
from podium.service.metrics import Metrics
from podium.store.sql.turns import Turn
from podium.store.webhooks import create_webhook, delete_webhook, list_webhooks, resume_webhook, store_progress
from podium.systems import find


@pytest.fixture
def store(store):
    store.create_pool("main", find("elo")())
    return store


@contextmanager
def receiving(*statuses):
    """A receiver's URL, and what it was sent; it answers with these statuses, and then with 204."""
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


def deliver(store, **options):
    """One turn of every webhook; what is stored of the first afterwards."""
    delivery = Webhooks(store, Metrics(), Turn(store.engine), **({"allow_private": True} | options))
    for each in list_webhooks(store.engine):
        delivery.deliver(each)
    return list_webhooks(store.engine)[0], delivery


def test_what_happens_arrives_in_order_and_signed(store):
    store.submit("main", rows(1, "ab"))
    with receiving(204, 500) as (url, sent):
        created = create_webhook(store.engine, "main", url)
        for number in (2, 3):
            store.submit("main", rows(number, "ab"))
        store.void("main", "e2")
        first, delivery = deliver(store)
        assert (first.last_error, first.stopped) == ("the receiver answered 500", False)
        assert first.failing_since is not None
        assert not delivery.is_due(first)
        second, _ = deliver(store)  # as after a restart
        assert (second.last_error, second.failing_since, second.delivered_seq) == ("", None, store.version("main"))
        deliver(store)
    entries = [json.loads(body) for _, body in sent]
    assert [(each["kind"], each["event_id"]) for each in entries] == [
        ("submit", "e2"), ("submit", "e3"), ("submit", "e3"), ("void", "e2"),
    ]  # fmt: skip
    assert {each["pool"] for each in entries} == {"main"}
    assert [{"pool": "main"} | each for each in store.news("main", created.delivered_seq)][-1] == entries[-1]
    key = base64.b64decode(created.secret.removeprefix("whsec_"))
    ids = []
    for named, body in sent:
        headers = {name.lower(): value for name, value in named.items()}
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{signature}"
        assert abs(int(headers["webhook-timestamp"]) - datetime.now(UTC).timestamp()) < 60.0
        ids.append(headers["webhook-id"])
    assert (ids[1] == ids[2], len(set(ids))) == (True, 3)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_receiver_who_fails_for_days_or_is_gone_is_left_alone(store):
    with receiving(410, 301) as (url, sent):
        number = create_webhook(store.engine, "main", url).id
        store.submit("main", rows(1, "ab"))
        assert deliver(store)[0].stopped
        assert not Webhooks(store, Metrics(), Turn(store.engine), allow_private=True).is_due(
            list_webhooks(store.engine)[0]
        )
        resume_webhook(store.engine, number)
        long_ago = (datetime.now(UTC) - timedelta(days=5, minutes=1)).isoformat(timespec="seconds")
        store_progress(store.engine, number, 1, error="x", failing_since=long_ago)
        stopped, _ = deliver(store)  # redirections are not followed
        assert (stopped.stopped, stopped.last_error) == (True, "the receiver answered 301")
        assert len(sent) == 2
    delete_webhook(store.engine, number)
    assert list_webhooks(store.engine) == []
    with pytest.raises(podium.UnknownError):
        delete_webhook(store.engine, number)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_nothing_is_sent_to_private_addresses_unless_they_are_allowed(store):
    with receiving() as (url, sent):
        create_webhook(store.engine, "main", url)
        store.submit("main", rows(1, "ab"))
        refused, _ = deliver(store, allow_private=False)
        assert "127.0.0.1 is not a public address" in refused.last_error
        assert sent == []


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "::1", "fe80::1", "fd00::1",
     "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1"],
)  # fmt: skip
def test_private_addresses_are_known_in_every_form(address):
    assert not is_public(ip_address(address))
    assert is_public(ip_address("93.184.216.34"))
    assert is_public(ip_address("2606:4700::1111"))


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_webhook_is_of_a_pool_and_a_url(store):
    for url in ("ftp://a/b", "https://", "https://u:p@a/b", "https://a b/", "x", "http://[::1", "https://a:0/"):
        with pytest.raises(podium.ParameterError):
            create_webhook(store.engine, "main", url)
    with pytest.raises(podium.UnknownError):
        create_webhook(store.engine, "mian", "https://example.org")


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_the_service_sends_while_it_runs(store, monkeypatch):
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
def test_a_name_that_cannot_be_looked_up_is_a_failed_delivery(name):
    with pytest.raises(posting.DeliveryError):
        posting.post(f"http://{name}/x", b"{}", {}, allow_private=False)
