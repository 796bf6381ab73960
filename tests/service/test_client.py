"""The clients against the service, and against a service that fails at first."""

import asyncio
import itertools
import sqlite3
import ssl
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from typing import assert_type

import httpx2
import pytest
from races import event
from starlette.testclient import TestClient

import podium
from podium.client import ClientError, answers, calls, clients
from podium.client.calls import encode
from podium.errors import ParameterError
from podium.log import database
from podium.service import create_app
from podium.store.keys import create_key
from podium.systems import find


class Bridge(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """A transport that hands requests to the service in this process, after some failures."""

    def __init__(self, app, failures=()):
        self.client, self.failures, self.sent = TestClient(app), list(failures), 0

    def handle_request(self, request):
        self.sent += 1
        failure = self.failures.pop(0) if self.failures else None
        content, headers = request.read(), dict(request.headers)
        if failure != "lost":
            answer = self.client.request(request.method, str(request.url), content=content, headers=headers)
        if failure in ("lost", "answer lost"):
            raise httpx2.ConnectError(failure)
        if failure == "reset":
            raise httpx2.ReadError(failure)
        if isinstance(failure, int):
            return httpx2.Response(failure, text="busy")
        headers = {name: answer.headers[name] for name in ("content-type", "retry-after") if name in answer.headers}
        return httpx2.Response(answer.status_code, content=answer.content, headers=headers)

    async def handle_async_request(self, request):
        await request.aread()
        return self.handle_request(request)


class Awaiting:
    """An asynchronous client that awaits each response in a new event loop."""

    def __init__(self, *args, **options):
        self.client = podium.AsyncClient(*args, **options)

    def __getattr__(self, name):
        return lambda *args, **options: asyncio.run(getattr(self.client, name)(*args, **options))

    def __enter__(self):
        return asyncio.run(self.client.__aenter__()) and self

    def __exit__(self, *error):
        asyncio.run(self.client.__aexit__(*error))


@pytest.fixture
def bridge(sqlite_store, monkeypatch):
    monkeypatch.setattr(calls, "FIRST_PAUSE_S", 0.001)
    sqlite_store.create_pool("main", find("elo")())
    key = create_key(sqlite_store.engine, "admin", "admin")

    def make(*failures, kind=podium.Client):
        transport = Bridge(create_app(sqlite_store), failures)
        return kind("http://testserver", key, transport=transport), transport, sqlite_store

    return make


def test_a_key_may_have_the_line_break_of_its_file():
    with podium.Client("http://podium.example", "podium_key\n") as client:
        assert client._http.headers["Authorization"] == "Bearer podium_key"


@pytest.mark.parametrize("key", ["", "\n"])
def test_a_client_without_a_key_predicts_in_a_public_pool(sqlite_store, key):
    sqlite_store.create_pool("open", find("elo")(), public=True)
    with podium.Client("http://testserver", key, transport=Bridge(create_app(sqlite_store))) as client:
        assert len(client.predict("open", ["a", "b"])["entrants"]) == 2


def test_responses_are_typed():
    """Mypy checks this function: both clients have the types of the OpenAPI document."""

    async def read(client: podium.Client, other: podium.AsyncClient) -> None:
        assert_type(client.player("main", "a"), answers.PlayerDetails)
        assert_type(client.player("main", "a")["history"][0]["started_at"], datetime | None)
        assert_type(client.merge("main", "a", "b"), int)
        assert_type(client.rename("main", "a", "b"), None)
        assert_type(client.submit("main", [])[0]["changes"], list[answers.Change])
        assert_type(await other.submit("main", [], dry_run=True), list[answers.Receipt])

    assert callable(read)


def test_times_are_datetimes_in_requests_and_responses(bridge):
    start = datetime(2025, 3, 1, 12, 30, 0, 250, tzinfo=timezone(timedelta(hours=2)))
    with bridge()[0] as client:
        for number, moment in enumerate((start, start.replace(tzinfo=None), start.isoformat())):
            client.submit("main", event(number, "ab") | {"started_at": moment})
        assert client.event("main", "e0")["started_at"] == start
        assert client.event("main", "e1")["started_at"] == start.replace(tzinfo=UTC)  # the service uses UTC
        assert client.event("main", "e2")["started_at"] == start
        career = client.player("main", "a")["history"]
        assert [each["started_at"] for each in career] == [start.replace(tzinfo=UTC), start, start]
        assert client.leaderboard("main", at=start)["players"][0]["last_played_at"] == start
        assert client.leaderboard("main", at=date(2025, 2, 28))["players"] == []
        assert client.begin_season("main", "s", start + timedelta(days=1), keep=0.5) == 2
        (season,) = client.seasons("main")
        assert (season["starts_at"], season["keep"]) == (start + timedelta(days=1), 0.5)
        assert client.snapshot_days("main")[0] == date(2025, 3, 2)
        assert client.ranks_of("main", "a")[0]["day"] == date(2025, 3, 2)
        assert [each["player"] for each in client.ranks_on("main", date(2025, 3, 2))] == ["a", "b"]
        assert client.log("main")[0]["received_at"].utcoffset() == timedelta(0)
        assert sum(each["players"] for each in client.distribution("main")) == 2
        boards = (
            client.season_leaderboard("main", "s"),
            *(
                client.leaderboard("main", **how)["players"]
                for how in ({}, {"min_events": 0}, {"at": date(2025, 3, 9)})
            ),
        )
        for board in boards:
            assert [(row["provisional"], row["deviation"]) for row in board] == [(True, None)] * 2
    with pytest.raises(TypeError, match="a set cannot be sent as JSON"):
        encode({"entries": {1}})


def test_a_foreign_response_is_an_error(bridge):
    """For example, a proxy can return its own page for every address."""
    client, transport, _ = bridge()
    for content in (b"<html>", b"[1]", b"null", b'{"seasons": []}'):
        page = httpx2.Response(200, content=content)
        transport.handle_request = lambda _request, page=page: page
        with pytest.raises(ClientError, match="does not respond like a Podium service") as error:
            client.seasons("main")
        assert error.value.status == 200


def test_certificates_are_loaded_only_for_https():
    """Plain HTTP needs no certificates. If the connection uses TLS nevertheless, the client trusts no server."""
    context = clients.connection("HTTP://127.0.0.1:8000", "key", 1.0, None)["verify"]
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.get_ca_certs() == []
    assert clients.connection("https://podium.example", "key", 1.0, None)["verify"] is True


@pytest.mark.parametrize("kind", [podium.Client, Awaiting])
def test_the_client_can_do_everything_the_service_offers(kind, bridge):
    with bridge(kind=kind)[0] as client:
        assert client.create_pool("karts/é", "folyami", k=20)["system"] == "folyami"
        assert {each["name"] for each in client.pools()} == {"main", "karts/é"}
        (receipt,) = client.submit("karts/é", event(1, ["a b", "c/d"]))
        assert receipt["status"] == "rated"
        assert client.player("karts/é", "c/d")["rank"] == 2
        assert len(client.submit("main", [event(number, "abc") for number in range(4)])) == 4
        assert client.amend("main", event(1, "cba"))["rerated"] > 0
        assert client.void("main", "e2")["status"] == "voided"
        assert client.unvoid("main", "e2")["status"] == "rated"
        client.submit("main", event(9, "xa"))
        assert client.merge("main", "x", "b") > 0
        assert client.unmerge("main", "x") > 0
        assert client.unmerge("main", "x") == 0
        assert client.set_starting_ratings("main", [{"player": "x", "rating": 1800.0}]) > 0
        assert [start["player"] for start in client.starting_ratings("main")] == ["x"]
        assert client.set_starting_ratings("main", [{"player": "x", "rating": 1500.0}]) > 0
        assert client.merge("main", "x", "b") > 0
        moved = client.void_player("main", "c", dry_run=True)
        assert client.void_player("main", "c", reason="banned") == moved > 0
        assert client.void_player("main", "c") == 0
        assert [client.unvoid("main", f"e{number}")["status"] for number in range(4)] == ["rated"] * 4
        page = client.leaderboard("main", top=2)
        assert len(client.leaderboard("main", top=2, cursor=page["next"])["players"]) == 1
        assert "words" in client.explain("main", "e1", "a")
        assert client.what_if("main", "e1", "a")["alternatives"][0]["words"] == "won instead of finishing third"


@pytest.mark.parametrize("kind", [podium.Client, Awaiting])
def test_a_repeated_request_counts_once(kind, bridge):
    client, transport, store = bridge("lost", "answer lost", "reset", 503, kind=kind)
    (receipt,) = client.submit("main", event(1, "ab"))
    assert transport.sent == 5
    assert receipt["duplicate"]
    assert store.results("main").frame["event_id"].n_unique() == 1
    assert store.verify() == []


def test_the_client_has_dry_runs_matches_and_single_events(bridge):
    with bridge()[0] as client:
        client.submit("main", [event(number, "ab" if number % 2 else "ba") for number in range(1, 7)])
        assert client.submit("main", event(30, "xy"), dry_run=True)[0]["effects"]
        assert client.void("main", "e2", dry_run=True)["effects"]
        assert client.amend("main", event(1, "ba"), dry_run=True)["effects"]
        assert client.event("main", "e1")["entries"][0]["player"] == "a"
        assert client.register("main", "m", ["a", {"player": "b"}])["status"] == "open"
        client.submit("main", event(9, "a") | {"match_id": "m"})
        assert client.match("main", "m")["results"] == ["e9"]
        assert client.leaderboard("main", min_events=7)["players"][0]["rank"] == 1
        assert len(client.neighbours("main", "a", each=1)) == 2
        assert len(client.compare("main", "a", "b")["meetings"]) == 7
        assert len(client.predict("main", ["a", "b"])["pairs"]) == 2
        assert client.predict("main", sides=[["a", "b"], ["c"]])["pairs"][0]["opponent"] in ("a, b", "c")
        with pytest.raises(ParameterError, match="'ab' are a string"):
            client.predict("main", "ab")
        (match,) = client.matchmaking("main", [{"player": name, "waited_s": 99.0} for name in "ab"], size=2)
        assert sorted(match["players"]) == ["a", "b"]
        planned = client.plan_fixture("main", "gp", "2035-02-01T00:00:00Z", entrants=["a", {"player": "b"}])
        assert planned["status"] == "planned"
        assert client.change_fixture("main", "gp", title="Grand Prix")["title"] == "Grand Prix"
        assert client.fixtures("main", ahead=True, since="2035-01-01T00:00:00Z") == [client.fixture("main", "gp")]
        assert client.fixture_stakes("main", "gp", "b")["stakes"][0]["player"] == "b"
        assert len(client.stakes("main", ["a", "b", "c"], "b", heats=2)["entrants"]) == 3
        assert client.create_pool("cars", "adaptive", shared="car")["system"] == "adaptive"
        in_cars = [{"player": "a", "shared": {"car": 'Red "Bull", 1'}, "side": "home"}, "b"]
        client.submit(
            "cars", event(1, "ab") | {"entries": [in_cars[0] | {"position": 1}, {"player": "b", "position": 2}]}
        )
        assert client.predict("cars", in_cars)["pairs"] != client.predict("cars", ["a", "b"])["pairs"]
        planned = client.plan_fixture("cars", "gp", "2035-02-01T00:00:00Z", entrants=in_cars)
        assert planned["entrants"][0] == in_cars[0] | {"team": None}
        assert client.stakes("cars", in_cars)["entrants"] == client.fixture_stakes("cars", "gp")["entrants"]
        assert client.post_places("main", "gp", ["b"], out=["a"])["places"] == ["b"]
        assert client.places("main", "gp")["changes"]["b"] > 0.0
        assert client.cancel_fixture("main", "gp")["status"] == "cancelled"
        assert client.begin_season("main", "s", "2025-02-01T00:00:00Z", keep=0.5) == 2
        assert client.configure("main", "glicko2") > 0
        client.rename("main", "a", "anna")
        planned = client.anonymize("main", "anna", dry_run=True)
        assert (planned["player"], planned["ids"]) == ("anna", {})
        assert client.player("main", "anna")["player"] == "anna"
        assert client.anonymize("main", "anna") == planned["name"]
        assert client.export("main").startswith(b"PAR1")


def test_a_rejected_request_is_not_repeated(bridge):
    client, transport, _ = bridge()
    with pytest.raises(ClientError) as error:
        client.submit("main", event(1, "ab") | {"colour": "red"})
    assert (error.value.status, error.value.field, transport.sent) == (422, "colour", 1)
    with pytest.raises(ClientError) as error:
        client.player("main", "nobody")
    assert error.value.status == 404


def let_time_pass(monkeypatch, seconds):
    """Advance the clock by this many seconds at each reading."""
    monkeypatch.setattr(calls, "monotonic", itertools.count(0.0, seconds).__next__)


def test_the_client_gives_up_on_an_unreachable_service(bridge, monkeypatch):
    client, transport, _ = bridge(*["lost"] * 99)
    let_time_pass(monkeypatch, 2.9)
    with pytest.raises(ClientError, match="cannot be reached"):
        client.pools()
    assert transport.sent == 11  # the last attempt is after 29 of 30 seconds, without another pause


def test_pauses_between_attempts_grow_and_are_random():
    def pauses_of(patience_s):
        attempt, pauses = calls.Attempts(patience_s), []
        for _ in range(40):
            attempt.note_no_answer("", OSError())
            if attempt.is_over:
                break
            pauses.append(attempt.pause_s)
        return pauses

    first, second = pauses_of(1000.0), pauses_of(1000.0)
    assert first != second
    for pauses in (first, second):
        limits = [min(0.2 * 2**k, 4.0) for k in range(40)]
        assert all(0.5 * limit <= pause <= limit for pause, limit in zip(pauses, limits, strict=True))
    assert pauses_of(0.0) == []


def test_the_client_waits_for_a_busy_database(bridge, monkeypatch):
    """The service answers 503 with a retry time. The other writer has finished by then."""
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=50"))
    client, transport, store = bridge()
    store.engine.dispose()
    with closing(sqlite3.connect(store.engine.url.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        pauses = []

        def end_other(seconds):
            pauses.append(seconds)
            if len(pauses) == 2:
                other.execute("ROLLBACK")

        monkeypatch.setattr(clients.time, "sleep", end_other)
        (receipt,) = client.submit("main", event(1, "ab"))
    assert (transport.sent, pauses) == (3, [1.0, 1.0])
    assert not receipt["duplicate"]
    assert store.verify() == []


def test_the_client_gives_up_on_a_database_that_stays_busy(bridge, monkeypatch):
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=50"))
    monkeypatch.setattr(clients.time, "sleep", lambda _seconds: None)
    client, transport, store = bridge()
    store.engine.dispose()
    let_time_pass(monkeypatch, 9.0)
    with closing(sqlite3.connect(store.engine.url.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ClientError, match="busy") as error:
            client.submit("main", event(1, "ab"))
    assert (error.value.status, transport.sent) == (503, 4)
    assert store.results("main").frame.is_empty()


@pytest.mark.parametrize("kind", [podium.Client, Awaiting])
def test_a_correction_applies_to_the_version_that_was_read(kind, bridge):
    with bridge(kind=kind)[0] as client:
        client.submit("main", event(1, "abc"))
        version = client.event("main", "e1")["version"]
        assert client.amend("main", event(1, "cba"), version=version, dry_run=True)["effects"]
        client.amend("main", event(1, "cba"), version=version, reason="counted wrongly")
        for correct in (
            lambda: client.amend("main", event(1, "bac"), version=version),
            lambda: client.void("main", "e1", version=version),
        ):
            with pytest.raises(ClientError, match="has changed since") as caught:
                correct()
            assert caught.value.status == 412
        client.void("main", "e1", version=client.event("main", "e1")["version"])
        client.unvoid("main", "e1", version=client.event("main", "e1")["version"])
        assert client.describe_pool("main", title="Bikes", public=True) == client.pool("main")
        assert client.pool("main")["title"] == "Bikes"


@pytest.mark.parametrize("kind", [podium.Client, Awaiting])
def test_an_admin_creates_lists_and_revokes_keys(bridge, sqlite_store, kind):
    """A secret is shown once, and a key never grants more than the key that created it."""
    sqlite_store.create_pool("other", find("elo")())
    owner = create_key(sqlite_store.engine, "owner", "admin")
    with kind("http://podium", owner, transport=bridge()[1]) as client:
        first = client.create_key("main", "league", "admin")
        assert (first["pool"], first["role"], first["expires_at"]) == ("main", "admin", None)
        assert client.create_key("main", "site", "read", all_pools=True)["pool"] is None
        with pytest.raises(ClientError, match="there is no pool 'mian'"):
            client.create_key("mian", "x")
        assert [(each["name"], "secret" in each) for each in client.keys("main")] == [
            ("admin", False), ("owner", False), ("league", False), ("site", False)
        ]  # fmt: skip
        limited = client.create_key("main", "server", "admin", expires_in_days=1.0, backdating_limit_s=3600.0)
        assert limited["backdating_limit_s"] == 3600.0
        assert limited["expires_at"] - limited["created_at"] == timedelta(days=1)
    with kind("http://podium", first["secret"], transport=bridge()[1]) as client:
        assert [each["name"] for each in client.keys("main")] == ["league", "server"]
        for options in ({"all_pools": True}, {}):
            with pytest.raises(ClientError) as refused:
                client.create_key("main" if options else "other", "thief", **options)
            assert refused.value.status == 403
        with pytest.raises(ClientError, match="pool 'main' has no key 1"):
            client.revoke_key("main", 1)
        client.revoke_key("main", limited["id"])
        assert client.keys("main")[1]["revoked_at"] is not None
    with kind("http://podium", limited["secret"], transport=bridge()[1]) as client, pytest.raises(ClientError):
        client.pool("main")


def test_a_key_with_a_backdating_limit_cannot_create_keys(bridge, sqlite_store):
    limited = create_key(sqlite_store.engine, "limited", "admin", per_second=100.0)
    with (
        podium.Client("http://podium", limited, transport=bridge()[1]) as client,
        pytest.raises(ClientError, match="cannot create others") as refused,
    ):
        client.create_key("main", "x")
    assert refused.value.status == 403


@pytest.mark.parametrize("kind", [podium.Client, Awaiting])
def test_an_admin_creates_lists_and_deletes_webhooks(bridge, sqlite_store, kind):
    admin = create_key(sqlite_store.engine, "league", "admin", "main")
    chat = "https://discord.com/api/webhooks/12/secret-abcd"
    with kind("http://podium", admin, transport=bridge()[1]) as client:
        created = client.create_webhook("main", "https://example.org/podium")
        assert created["secret"].startswith("whsec_")
        shown = client.create_webhook("main", chat)
        assert (shown["format"], shown["url"], "secret" in shown) == ("discord", "discord.com/…abcd", False)
        listed = client.webhooks("main")
        assert [each["url"] for each in listed] == ["https://example.org/podium", "discord.com/…abcd"]
        assert not any("secret" in each or "secret-" in str(each) for each in listed)
        with pytest.raises(ClientError, match="is not an HTTP URL"):
            client.create_webhook("main", "ftp://example.org")
        client.delete_webhook("main", created["id"])
        assert [each["id"] for each in client.webhooks("main")] == [shown["id"]]
        with pytest.raises(ClientError, match="has no webhook") as refused:
            client.delete_webhook("main", created["id"])
        assert refused.value.status == 404
