"""Expired and revoked keys, and requests that no key allows."""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from fastapi import Request
from races import calling
from starlette.testclient import TestClient

import podium
from podium.service import create_app
from podium.service.http import keys as http_keys
from podium.service.http.keys import REFUSED_BURST, client_site
from podium.store import keys
from podium.store.keys import create_key, find_key, list_keys, revoke_expired, revoke_key, rotate_key
from podium.systems import find

BASE = "/api/v1/pools"


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    return sqlite_store


def is_valid(store, secret):
    with store.engine.connect() as connection:
        return find_key(connection, secret) is not None


def set_clock(monkeypatch, lead):
    monkeypatch.setattr(
        keys, "timestamp", lambda after=timedelta(): (datetime.now(UTC) + lead + after).isoformat(timespec="seconds")
    )


def test_moving_the_clock_never_revives_a_revoked_or_expired_key(store, monkeypatch):
    revoked, rotated = create_key(store.engine, "a", "admin"), create_key(store.engine, "b", "admin")
    expiring = create_key(store.engine, "c", "admin", lifetime=timedelta(hours=1))
    revoke_key(store.engine, 1)
    successor = rotate_key(store.engine, 2, timedelta(minutes=5))
    assert [is_valid(store, each) for each in (revoked, rotated, expiring, successor)] == [False, True, True, True]
    set_clock(monkeypatch, timedelta(hours=2))
    assert [is_valid(store, each) for each in (revoked, rotated, expiring, successor)] == [False, False, False, True]
    assert (revoke_expired(store.engine), revoke_expired(store.engine)) == (2, 0)
    set_clock(monkeypatch, timedelta(days=-400))
    assert [is_valid(store, each) for each in (revoked, rotated, expiring, successor)] == [False, False, False, True]
    with pytest.raises(podium.UnknownError):
        rotate_key(store.engine, 3)


def test_a_key_rejected_as_expired_stays_expired(store, monkeypatch):
    app = create_app(store)
    secret = create_key(store.engine, "c", "read", lifetime=timedelta(hours=1))
    watched = create_key(store.engine, "d", "read", lifetime=timedelta(hours=1))
    with TestClient(app, headers={"Authorization": f"Bearer {secret}"}) as client:
        set_clock(monkeypatch, timedelta(days=40))
        assert client.get(BASE).status_code == 401
        set_clock(monkeypatch, timedelta())
        assert client.get(BASE).status_code == 401
    assert not is_valid(store, secret)
    assert not is_valid(store, watched)


def test_a_key_whose_expiry_ended_a_stream_stays_expired(store, monkeypatch):
    secret = create_key(store.engine, "c", "read", lifetime=timedelta(hours=1))
    set_clock(monkeypatch, timedelta(days=40))
    assert keys.valid_keys(store.engine, [1]) == set()
    set_clock(monkeypatch, timedelta())
    assert not is_valid(store, secret)


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        ([], 400),
        (["a", "b"], 400),
        (["a", "a"], 400),
        (["a/b"], 400),
        ([""], 400),
        (["a:8000"], 200),
        (["[::1]:8"], 200),
    ],
)
def test_a_request_has_exactly_one_host(store, hosts, status):
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": "/healthz", "raw_path": b"/healthz", "query_string": b"", "root_path": "", "state": {},
        "headers": [(b"host", each.encode()) for each in hosts],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    asyncio.run(create_app(store)(scope, receive, send))
    assert sent[0]["status"] == status


def test_readyz_reports_a_damaged_database(store, monkeypatch):
    def fail(*_arguments, **_options):
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorname = "SQLITE_CORRUPT"
        raise sa.exc.DatabaseError("SELECT 1", {}, error) from error

    key = create_key(store.engine, "a", "admin")
    with TestClient(
        create_app(store), raise_server_exceptions=False, headers={"Authorization": f"Bearer {key}"}
    ) as client:
        assert client.get("/readyz").status_code == 200
        monkeypatch.setattr("podium.service.http.keys.find_key", fail)
        assert client.get(BASE).status_code == 500
        assert client.get("/readyz").status_code == 503


def test_a_key_needs_an_existing_pool(store):
    with pytest.raises(podium.UnknownError, match="there is no pool 'mian'; the pools are 'main'"):
        create_key(store.engine, "x", "read", "mian")
    for name, lifetime in (("a\x1b[31m", None), ("a", timedelta())):
        with pytest.raises(podium.ParameterError):
            create_key(store.engine, name, "read", lifetime=lifetime)
    assert list_keys(store.engine) == []


def test_the_last_use_of_a_key_is_stored(store):
    create_key(store.engine, "unused", "read")
    with calling(store, "read", daily=True) as client:
        assert client.get(BASE).status_code == 200
    unused, used = (each.last_used_at for each in list_keys(store.engine))
    assert unused is None
    assert abs(datetime.fromisoformat(used or "") - datetime.now(UTC)) < timedelta(minutes=1)


def test_rejected_requests_are_limited_per_address_and_valid_keys_are_not(store):
    key, reader = create_key(store.engine, "a", "admin"), create_key(store.engine, "b", "read")
    app = create_app(store)
    with TestClient(app) as client, TestClient(app, client=("192.0.2.7", 1)) as other:

        def status(sender, secret, method="GET"):
            return sender.request(method, BASE, headers={"Authorization": f"Bearer {secret}"}).status_code

        statuses = [status(client, "podium_wrong") for _ in range(int(REFUSED_BURST) + 5)]
        assert statuses[:10] == [401] * 10
        assert statuses[-1] == 429
        refused = client.post(BASE, headers={"Authorization": f"Bearer {reader}"})
        assert (refused.status_code, int(refused.headers["retry-after"]) >= 1) == (429, True)
        assert [status(client, each) for each in (key, reader)] == [200, 200]
        assert status(other, "podium_wrong") == 401
        assert status(other, reader, "POST") == 403


def test_the_least_recently_used_budget_is_dropped_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(http_keys, "MAX_BUDGETS", 2)
    budgets = http_keys.OwnBudgets()

    async def take():
        return [await budgets.take(owner, 0.01, 1.0) for owner in "abcba"]

    assert [seconds > 0 for seconds in asyncio.run(take())] == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("testclient", "testclient", True),
    ],
)
def test_ipv6_addresses_of_one_network_count_as_one_sender(one, other, is_same):
    sites = [client_site(Request({"type": "http", "client": (host, 1)})) for host in (one, other)]
    assert (sites[0] == sites[1]) is is_same
