"""Limits on the cost of one request: many keys, long lists and comparisons."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from pydantic import ValidationError
from races import calling, event, rows
from starlette.testclient import TestClient

from podium.log.log import MAX_CHARACTERS
from podium.service.api.bodies import (
    MAX_ENTRIES,
    MAX_EVENTS,
    MAX_PREDICTED,
    MAX_TICKETS,
    Batch,
    Event,
    PredictRequest,
    validate,
)
from podium.service.http.errors import BusyError
from podium.service.http.json import (
    MAX_DEPTH,
    MAX_KEYS,
    MAX_SENT_CHARACTERS,
    RefusedError,
    loads,
    reject_duplicate_keys,
)
from podium.service.http.requests import OpenFile
from podium.service.http.visitors import MAX_FORM_BYTES
from podium.service.web.ahead import calendar
from podium.service.web.ahead.calendar import MAX_KEYLESS, MAX_WAITING, KeptStakes
from podium.service.web.chances import MAX_ENTRANTS
from podium.systems import find
from podium.views import rivals

POOL = "/api/v1/pools/main"


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    return sqlite_store


class CountingText(str):
    """Text that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other):
        CountingText.comparisons += 1
        return str.__eq__(self, other)

    def __hash__(self):
        return str.__hash__(self)


@pytest.mark.parametrize("keys", [100, 800])
def test_finding_a_repeated_key_takes_linear_time(keys):
    """Comparing each key with all others would take quadratic time."""
    pairs = [(CountingText(f"k{k}"), 1) for k in range(keys)]
    CountingText.comparisons = 0
    with pytest.raises(RefusedError, match=rf"k{keys - 1}: appears twice"):
        reject_duplicate_keys([*pairs, (CountingText(f"k{keys - 1}"), 2)])
    assert CountingText.comparisons <= 4 * keys


def test_a_body_with_too_many_keys_gets_one_error():
    members = ",".join(f'"k{k}":1' for k in range(MAX_KEYS + 1))
    with pytest.raises(RefusedError, match="more than 1,000 keys"):
        validate(loads(f"{{{members}}}".encode()), PredictRequest)


def test_only_the_first_invalid_event_of_a_batch_is_reported():
    """A body of 4 MB has room for hundreds of thousands of unknown keys."""
    wrong = event() | {f"k{k}": 1 for k in range(50)}
    for model, value, faults in (
        (Batch, {"events": [wrong] * 20}, 50),
        (Event, event() | {"entries": [{"k": 1}] * 20}, 2),
    ):
        with pytest.raises(ValidationError) as caught:
            model.model_validate(value)
        assert caught.value.error_count() == faults


def test_predictions_and_matchmaking_have_limits(store):
    """The OpenAPI document states the limits, and an error names the field."""
    too_many = [f"p{k}" for k in range(max(MAX_PREDICTED, MAX_TICKETS) + 1)]
    tickets = [{"player": name, "waited_s": 1.0} for name in too_many]
    with calling(store, "read") as client:
        schemas = client.get("/api/openapi.json").json()["components"]["schemas"]
        limits = [
            ("predict", "PredictRequest", "entrants", too_many, MAX_PREDICTED),
            ("matchmaking", "Tickets", "tickets", tickets, MAX_TICKETS),
        ]
        for path, schema, field, items, limit in limits:
            assert schemas[schema]["properties"][field]["maxItems"] == limit
            assert client.post(f"{POOL}/{path}", json={field: items[:limit]}).status_code == 200
            refused = client.post(f"{POOL}/{path}", json={field: items[: limit + 1]})
            assert (refused.status_code, refused.json()["field"]) == (422, field)
        half = [too_many[: MAX_PREDICTED // 2], too_many[MAX_PREDICTED // 2 : MAX_PREDICTED]]
        allowed = client.post(f"{POOL}/predict", json={"sides": half})
        assert [each["player"] for each in allowed.json()["entrants"]] == [", ".join(side) for side in half]
        assert sorted(allowed.json()["newcomers"]) == sorted(too_many[:MAX_PREDICTED])
        refused = client.post(f"{POOL}/predict", json={"sides": half, "entrants": ["one more"]})
        assert (refused.status_code, refused.json()["detail"]) == (
            422,
            "there are 101 players. A request may have up to 100.",
        )


def test_a_comparison_reads_a_limited_number_of_new_meetings(store, monkeypatch):
    for number in range(5):
        store.submit("main", rows(number, "ab"))
    monkeypatch.setattr(rivals, "MAX_ENTRANTS", 7)  # room for three events with two entrants each
    whole = store.compare("main", "a", "b")
    assert [each.event_id for each in whole.meetings] == ["e4", "e3", "e2"]
    assert (whole.wins, whole.draws, whole.losses) == (5, 0, 0)
    monkeypatch.setattr(rivals, "MAX_MEETINGS", 2)
    rivalry = store.rivalry("main", "a", "b", newest=1)
    assert (rivalry.meetings, rivalry.ahead, rivalry.behind, len(rivalry.newest)) == (5, 5, 0, 1)
    assert len(store.compare("main", "a", "b").meetings) == 2


def entrants(count):
    return [{"player": f"p{k}", "position": k + 1} for k in range(count)]


def test_requests_are_accepted_up_to_each_limit(store):
    """The limits are in the table of docs/service/limits.md."""
    when = {"started_at": "2025-01-01T00:00:00Z"}
    one = {"events": [event(number, "ab") for number in range(MAX_EVENTS)]}
    assert Batch.model_validate(one)
    assert Event.model_validate({"event_id": "x", "entries": entrants(MAX_ENTRIES)} | when)
    with calling(store, "admin") as client:
        for depth, reason in ((MAX_DEPTH, "entrants[0]"), (MAX_DEPTH + 1, "nested too deep")):
            sent = f'{{"entrants":{"[" * (depth - 1)}1{"]" * (depth - 1)}}}'
            assert reason in client.post(f"{POOL}/predict", content=sent).json()["detail"]
        for body, status in (
            (one, 201),
            ({"events": [*one["events"], event(1001)]}, 422),
            ({"event_id": "y", "entries": entrants(MAX_ENTRIES + 1)} | when, 422),
            (event(2000, ["a" * MAX_SENT_CHARACTERS, "b"]), 422),  # far longer than a normalized name
        ):
            assert client.post(f"{POOL}/events", json=body).status_code == status
        for length, status in ((MAX_CHARACTERS, 200), (MAX_CHARACTERS + 1, 422)):
            params = {"reason": "x" * length}
            assert client.post(f"{POOL}/events/e1/void", params=params).status_code == status
        for size, status in ((MAX_FORM_BYTES, 401), (MAX_FORM_BYTES + 1, 413)):
            form = "key=".ljust(size, "x")
            answer = client.post(
                "/sign-in", content=form, headers={"content-type": "application/x-www-form-urlencoded"}
            )
            assert answer.status_code == status, size
        names = [f"p{k}" for k in range(MAX_ENTRANTS + 1)]
        page = client.get("/main/predict", params={"entrants": names})
        assert all(f"{name}<" in page.text for name in names[:-1])
        assert f"{names[-1]}<" not in page.text


def test_few_requests_can_wait_for_stakes(store):
    store.submit("main", rows(1, "abc"))
    kept, ends, begun = KeptStakes(), threading.Event(), threading.Semaphore(0)

    def find():
        begun.release()
        ends.wait(60.0)
        return store.stakes("main", ["a", "b", "c"])

    with ThreadPoolExecutor(MAX_WAITING) as threads:
        tables = [threads.submit(kept.find, store, "main", (number,), find) for number in range(MAX_WAITING)]
        begun.acquire(timeout=60.0)
        while kept._places._value:
            assert not any(each.done() for each in tables)
        with pytest.raises(BusyError, match="Too many people are waiting for forecasts"):
            kept.find(store, "main", ("one more",), find)
        ends.set()
        assert all(each.result().stakes.sides == 3 for each in tables)
    assert kept.find(store, "main", ("one more",), find).age_s == 0.0


def test_a_long_wait_for_stakes_ends_with_a_retry_message(store, monkeypatch):
    """The tables of all pools take turns, because each needs a core."""
    monkeypatch.setattr(calendar, "WAITING_S", 0.01)
    store.create_pool("other", find("elo")())
    kept, ends, begun = KeptStakes(), threading.Event(), threading.Event()
    table: Any = "a table"

    def find_slowly():
        begun.set()
        ends.wait(60.0)
        return table

    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(kept.find, store, "main", ("slow",), find_slowly)
        assert begun.wait(60.0)
        with pytest.raises(BusyError, match="Look again in a few seconds"):
            kept.find(store, "other", ("another",), find_slowly)
        ends.set()
        assert slow.result().stakes == table
    assert kept.find(store, "other", ("another",), find_slowly).age_s == 0.0


def test_stakes_of_large_races_need_a_key(store):
    store.describe_pool("main", public=True)
    names = [f"p{k}" for k in range(MAX_KEYLESS + 1)]
    starts_at = datetime.now(UTC) + timedelta(days=1)
    store.submit("main", rows(1, "ab"))
    store.plan_fixture("main", "gp", starts_at=starts_at, entrants=names)
    store.plan_fixture("main", "small", starts_at=starts_at, entrants=names[1:])
    with calling(store, "read") as client:
        keyless = TestClient(client.app)
        for path, params in (("stakes", {"entrants": names}), ("fixtures/gp/stakes", {})):
            refused = keyless.get(f"{POOL}/{path}", params=params)
            assert (refused.status_code, "more than 64 players needs a key" in refused.json()["detail"]) == (422, True)
            wrong = client.get(f"{POOL}/{path}", params=params, headers={"Authorization": "Bearer podium_wrong"})
            assert wrong.status_code == 422
        assert keyless.get(f"{POOL}/fixtures/small/stakes").status_code == 200
        assert client.get(f"{POOL}/fixtures/gp/stakes").status_code == 200
        page = keyless.get("/main/matches/gp")
        assert (page.status_code, "more than 64 players needs a key" in page.text) == (200, True)
        assert keyless.get("/main/matches/gp", params={"player": "p1"}).status_code == 422


def test_a_proxy_may_serve_the_app_below_a_path(store):
    with calling(store, "read") as client:
        below = TestClient(client.app, root_path="/ratings", headers=client.headers)
        assert below.get(f"/ratings{POOL}/leaderboard").json() == client.get(f"{POOL}/leaderboard").json()


def test_a_disconnected_sender_is_not_a_service_error(store, caplog):
    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    with calling(store) as client:
        for path in ("/sign-in", "/admin/main/apply", "/admin/main/upload", f"{POOL}/events", f"{POOL}/predict"):
            sent = []
            headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"content-length", b"100")]
            headers += [(b"authorization", client.headers["authorization"].encode())] if POOL in path else []
            scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode()}
            scope |= {
                "query_string": b"",
                "headers": headers,
                "scheme": "http",
                "server": ("t", 80),
                "client": ("t", 1),
                "state": {},
            }
            asyncio.run(client.app({**scope, "root_path": "", "http_version": "1.1"}, receive, send))
            assert sent[0]["status"] < 500, path
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []


def test_a_page_is_503_while_too_many_requests_wait_for_stakes(store):
    starts_at = datetime.now(UTC) + timedelta(days=1)
    store.plan_fixture("main", "gp", starts_at=starts_at, entrants=["a", "b"])
    with calling(store) as client:
        client.app.state.stakes._places = threading.Semaphore(0)
        full = client.get("/main/matches/gp", params={"player": "b"})
        assert (full.status_code, "retry-after" in full.headers) == (503, True)
        assert client.get("/main/matches/gp").status_code == 200  # without a chosen player


def test_a_file_is_closed_when_its_reader_disconnects():
    async def receive():
        await asyncio.sleep(0.0)
        return {"type": "http.disconnect"}

    async def send(message):
        await asyncio.sleep(0.0 if message["type"] == "http.response.start" else 3600.0)  # the reader stops reading

    async def leave():
        file = BytesIO(bytes(200_000))
        await OpenFile(file, "text/csv", {})({"type": "http"}, receive, send)
        return file.closed

    assert asyncio.run(leave())
