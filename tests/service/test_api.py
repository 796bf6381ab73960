"""The HTTP API: access rights, accepted and rejected requests, and no trace of rejected ones."""

import json
import logging
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from races import calling, rows
from races import event as race
from starlette.testclient import TestClient

from podium.log.players import known_numbers
from podium.log.statements import now
from podium.service import create_app
from podium.store import Store
from podium.store.keys import create_key, create_webhook
from podium.store.writing import fixtures
from podium.store.writing.reports import StoredReport, keep
from podium.systems import find

BASE = "/api/v1/pools"


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    sqlite_store.create_pool("other", find("elo")())
    return sqlite_store


@pytest.fixture
def client(store):
    with calling(store) as opened:
        yield opened


def test_a_submitted_event_can_be_read(client):
    answer = client.post(f"{BASE}/main/events", json=race())
    assert answer.status_code == 201
    (receipt,) = answer.json()
    assert (receipt["status"], receipt["duplicate"]) == ("rated", False)
    assert [each["player"] for each in receipt["changes"]] == ["a", "b", "c"]
    again = client.post(f"{BASE}/main/events", json=race())
    assert (again.status_code, again.json()[0]["duplicate"], again.json()[0]["changes"]) == (
        200,
        True,
        receipt["changes"],
    )
    other = client.post(f"{BASE}/main/events", json=race(order="cba"))
    assert other.status_code == 409
    assert other.headers["content-type"] == "application/problem+json"
    batch = client.post(f"{BASE}/main/events", json={"events": [race(number) for number in range(2, 9)]})
    assert [each["event_id"] for each in batch.json()] == [f"e{number}" for number in range(2, 9)]
    board = client.get(f"{BASE}/main/leaderboard", params={"top": 2}).json()
    rest = client.get(f"{BASE}/main/leaderboard", params={"top": 2, "cursor": board["next"]}).json()
    assert [each["player"] for each in board["players"] + rest["players"]] == ["a", "b", "c"]
    assert rest["next"] is None
    player = client.get(f"{BASE}/main/players/a").json()
    assert (player["rank"], player["players"], len(player["history"])) == (1, 3, 8)
    why = client.get(f"{BASE}/main/events/e5/players/c").json()
    assert sum(each["contribution"] for each in why["reasons"]) == pytest.approx(why["delta"], abs=1e-9)
    assert sum(each["shown"] for each in why["groups"]) == pytest.approx(why["shown"]["change"], abs=1e-9)
    assert why["verdict"].startswith("c came last and lost ")
    imagined = client.get(f"{BASE}/main/events/e5/players/c/what-if").json()
    assert imagined["delta"] == why["delta"]
    assert [each["words"] for each in imagined["alternatives"]] == ["won instead of finishing third"]
    assert client.get(f"{BASE}/main/events/e5/players/nobody/what-if").status_code == 404
    assert client.get(f"{BASE}/main/players/nobody").status_code == 404


def test_unknown_parameters_are_rejected(client, store):
    refused = client.get(f"{BASE}/main/leaderboard", params={"min_event": 5})
    assert (refused.status_code, refused.json()["field"]) == (422, "min_event")
    assert refused.json()["detail"].startswith(
        "min_event: is not a parameter here; did you mean 'min_events'? (parameters:"
    )
    assert client.post(f"{BASE}/main/events", params={"dryrun": True}, json=race()).status_code == 422
    assert store.version("main") == client.get(f"{BASE}/main").json()["version"]
    assert [client.get(f"{each}?typo=1").status_code for each in ("/healthz", "/main")] == [200, 200]


def test_events_can_be_corrected_over_http(client, store):
    client.post(f"{BASE}/main/events", json={"events": [race(number) for number in range(5)]})
    receipt = client.put(f"{BASE}/main/events/e1", json=race(1, "cab")).json()
    assert receipt["rerated"] == 9
    assert client.post(f"{BASE}/main/events/e2/void").json()["status"] == "voided"
    assert client.post(f"{BASE}/main/events/e2/unvoid").json()["status"] == "rated"
    client.post(f"{BASE}/main/events", json=race(20, "xa"))
    assert client.post(f"{BASE}/main/merge", json={"player": "x", "into": "c"}).json()["rerated"] > 0
    assert client.put(f"{BASE}/main/events/e1", json=race(2)).json()["field"] == "event_id"
    assert client.put(f"{BASE}/main/events/e99", json=race(59) | {"event_id": "e99"}).status_code == 404
    met = client.post(f"{BASE}/main/merge", json={"player": "a", "into": "b"})
    assert (met.status_code, met.json()["detail"]) == (
        422, "merge: 'b' took part in e0 as both; if the two accounts are one player, correct that event first"
    )  # fmt: skip
    assert store.verify() == []


def test_an_error_names_the_parameter_and_the_expected_json(client):
    assert client.get(f"{BASE}/main/leaderboard?top=0").json()["detail"].startswith("top: Input should be")
    assert client.get(f"{BASE}/main/compare?player=a").json()["detail"] == "other: Field required"
    for body, detail in (
        ([race(0)], "the body must be a JSON object"),
        (race(0) | {"entries": ["a", "b"]}, "entries[0]: must be a JSON object"),
        (race(0) | {"entries": []}, "entries: List should have at least 1 item, not 0"),
    ):
        assert client.post(f"{BASE}/main/events", json=body).json()["detail"] == detail


def test_a_pool_is_created_with_a_system(client):
    body = {"name": "karts", "system": "stk", "parameters": {"base_points_events": None, "scale": 1500}}
    described = {
        "title": "Karts", "contact": "", "player_word": "driver", "public": True,
        "time_zone": "Europe/Rome", "points_scheme": "f1 drop=2", "display": "floor=0 tiers=A:1", "reports": "25%",
    }  # fmt: skip
    created = client.post(BASE, json=body | described).json()
    assert created == client.get(f"{BASE}/karts").json()
    assert created == body | described | {name: created[name] for name in ("notice", "order", "parameters", "version")}
    assert created["order"] is None
    assert created["notice"] is None
    pools = {each["name"]: each for each in client.get(BASE).json()}
    assert pools["karts"]["parameters"]["scale"] == 1500.0
    assert pools["karts"]["parameters"]["base_points_events"] == "none"
    assert client.post(BASE, json=body).status_code == 409
    assert client.post(BASE, json=body | {"name": "x", "system": "elos"}).status_code == 422
    assert client.post(BASE, json=body | {"name": "x", "parameters": {"scale": -1}}).status_code == 422
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


READ, WRITE, ADMIN = "read", "write", "admin"
POOL, EVENT, PLAYER = f"{BASE}/{{pool}}", f"{BASE}/{{pool}}/events/{{event_id}}", f"{BASE}/{{pool}}/players/{{player}}"
TICKETS = {"tickets": [{"player": "a", "waited_s": 50}, {"player": "b", "waited_s": 9}], "size": 2}
FIXTURE, IN_AN_HOUR = f"{POOL}/fixtures/{{fixture_id}}", datetime.now(UTC) + timedelta(hours=1)
ROUTES = [
    ("GET", BASE, None, READ),
    ("POST", BASE, {"name": "new", "system": "elo"}, ADMIN),
    ("GET", POOL, None, READ),
    ("PATCH", POOL, {"title": "Main"}, ADMIN),
    ("PUT", f"{POOL}/system", {"system": "glicko2"}, ADMIN),
    ("PUT", f"{POOL}/order", {"order": "dated"}, ADMIN),
    ("POST", f"{POOL}/events", race(50), WRITE),
    ("GET", f"{POOL}/stakes?entrants=a&entrants=b", None, READ),
    ("GET", f"{POOL}/fixtures", None, READ),
    ("POST", f"{POOL}/fixtures", {"fixture_id": "new", "starts_at": IN_AN_HOUR.isoformat()}, WRITE),
    ("GET", FIXTURE, None, READ),
    ("PUT", FIXTURE, {"title": "Grand Prix"}, WRITE),
    ("POST", f"{FIXTURE}/cancel", None, WRITE),
    ("GET", f"{FIXTURE}/stakes", None, READ),
    ("GET", f"{FIXTURE}/seeds", None, READ),
    ("GET", f"{FIXTURE}/places", None, READ),
    ("PUT", f"{FIXTURE}/places", {"places": ["b", "a"]}, WRITE),
    ("GET", EVENT, None, READ),
    ("PUT", EVENT, race(1), ADMIN),
    ("POST", f"{EVENT}/void", None, ADMIN),
    ("POST", f"{EVENT}/unvoid", None, ADMIN),
    ("GET", f"{EVENT}/players/{{player}}", None, READ),
    ("GET", f"{EVENT}/players/{{player}}/what-if", None, READ),
    ("POST", f"{POOL}/matches", {"match_id": "m2", "entrants": [{"player": "a"}]}, WRITE),
    ("GET", f"{PLAYER}/reasons", None, READ),
    ("GET", f"{POOL}/matches", None, READ),
    ("GET", f"{POOL}/matches/{{match_id}}", None, READ),
    ("POST", f"{POOL}/keys", {"name": "server"}, ADMIN),
    ("GET", f"{POOL}/links", None, ADMIN),
    ("POST", f"{POOL}/links", {"act": "revoke"}, ADMIN),
    ("GET", f"{POOL}/reports", None, ADMIN),
    ("POST", f"{POOL}/reports/{{report_id}}/{{answer}}", None, ADMIN),
    ("GET", f"{POOL}/keys", None, ADMIN),
    ("DELETE", f"{POOL}/keys/{{number}}", None, ADMIN),
    ("POST", f"{POOL}/webhooks", {"url": "https://example.org/podium"}, ADMIN),
    ("GET", f"{POOL}/webhooks", None, ADMIN),
    ("DELETE", f"{POOL}/webhooks/{{number}}", None, ADMIN),
    ("POST", f"{POOL}/merge", {"player": "c", "into": "d"}, ADMIN),
    ("GET", f"{POOL}/equipment", None, READ),
    ("GET", f"{POOL}/hindsight", None, READ),
    ("GET", f"{PLAYER}/hindsight", None, READ),
    ("GET", f"{POOL}/leaderboard", None, READ),
    ("GET", f"{POOL}/leaderboard/newest", None, READ),
    ("GET", f"{POOL}/search?text=a", None, READ),
    ("GET", f"{POOL}/movers", None, READ),
    ("GET", f"{POOL}/events", None, READ),
    ("GET", f"{EVENT}/adjacent", None, READ),
    ("GET", f"{PLAYER}/page", None, READ),
    ("GET", f"{EVENT}/field", None, READ),
    ("GET", f"{EVENT}/players/{{player}}/fairness", None, READ),
    ("GET", f"{EVENT}/record", None, READ),
    ("GET", f"{POOL}/facts", None, READ),
    ("GET", f"{PLAYER}/card", None, READ),
    ("GET", f"{PLAYER}/changes", None, READ),
    ("GET", f"{PLAYER}/curve", None, READ),
    ("GET", f"{PLAYER}/rivals", None, READ),
    ("GET", f"{POOL}/distribution", None, READ),
    ("GET", f"{POOL}/groups/{{by}}", None, READ),
    ("GET", PLAYER, None, READ),
    ("GET", f"{PLAYER}/neighbours", None, READ),
    ("GET", f"{PLAYER}/ranks", None, READ),
    ("POST", f"{PLAYER}/rename", {"name": "a"}, ADMIN),
    ("POST", f"{PLAYER}/anonymize", None, ADMIN),
    ("POST", f"{PLAYER}/unmerge", None, ADMIN),
    ("POST", f"{PLAYER}/void", None, ADMIN),
    ("GET", f"{POOL}/details", None, READ),
    ("GET", f"{POOL}/ids", None, ADMIN),
    ("PUT", f"{POOL}/details", {"players": [{"player": "a", "club": "x"}]}, ADMIN),
    ("GET", f"{POOL}/starting-ratings", None, READ),
    ("PUT", f"{POOL}/starting-ratings", {"players": [{"player": "a", "rating": 1.0}]}, ADMIN),
    ("GET", f"{POOL}/compare?player=a&other=b", None, READ),
    ("POST", f"{POOL}/predict", {"entrants": ["a", "b"]}, READ),
    ("POST", f"{POOL}/matchmaking", TICKETS, READ),
    ("GET", f"{POOL}/seasons", None, READ),
    ("POST", f"{POOL}/seasons", {"name": "s2", "starts_at": "2025-02-01T00:00:00Z", "keep": 0.5}, ADMIN),
    ("GET", f"{POOL}/seasons/{{season}}/leaderboard", None, READ),
    ("GET", f"{POOL}/standings", None, READ),
    ("GET", f"{POOL}/snapshots", None, READ),
    ("GET", f"{POOL}/snapshots/{{day}}", None, READ),
    ("GET", f"{POOL}/log", None, ADMIN),
    ("GET", f"{POOL}/export/{{table}}.{{kind}}", None, READ),
    ("GET", f"{POOL}/stream?seconds=0", None, READ),
    ("GET", "/metrics", None, READ),
]
OPEN = ("/healthz", "/readyz")  # public
KEY_IN_ADDRESS = ("/submit/xonstat", "/submit/xonstat/{secret}")  # or signed requests; see test_submit
PARTS = {
    "report_id": "report-1", "answer": "accept",
    "pool": "main", "event_id": "e1", "player": "a", "match_id": "m1", "fixture_id": "f1",
    "season": "s1", "day": "2025-01-03", "by": "club",
    "table": "history", "kind": "csv", "number": 1,
}  # fmt: skip


def test_every_route_is_in_the_table(store):
    paths = create_app(store).openapi()["paths"]
    known = {
        (method.upper(), path)
        for path, methods in paths.items()
        for method in methods
        if path not in OPEN + KEY_IN_ADDRESS
    }
    assert known == {(method, path.split("?")[0]) for method, path, _, _ in ROUTES}


def test_the_openapi_document_contains_every_schema_it_names(store):
    """One list names the models of bodies that routes read themselves. It must be complete."""
    document = create_app(store).openapi()
    named = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert named == set(document["components"]["schemas"])


def fill(store):
    """Store the data that the routes need."""
    store.create_pool("main", find("adaptive")(), points_scheme="f1")
    store.create_pool("other", find("elo")())
    store.submit("main", rows(1, "abc"))
    store.submit("main", rows(0, "ad", minute=0.5))
    store.register("main", "m1", ["a", "b"])
    store.plan_fixture("main", "f1", starts_at=IN_AN_HOUR, entrants=[{"player": "a"}, {"player": "b"}])
    store.begin_season("main", "s1", datetime(2025, 1, 1, tzinfo=UTC), keep=1.0)
    store.keep_hindsight("main")
    return store


@pytest.fixture(scope="module")
def read_only(tmp_path_factory):
    """Return a store that all reading routes share."""
    with closing(fill(Store(str(tmp_path_factory.mktemp("reading") / "podium.db")))) as opened:
        yield opened
        assert opened.verify() == []


@pytest.fixture
def its_store(request, method, filled_store):
    """Return the store for the tested route."""
    if method == "GET":
        yield request.getfixturevalue("read_only")
        return
    with closing(filled_store("sqlite", fill)) as opened:
        yield opened
        assert opened.verify() == []


@pytest.mark.parametrize(
    ("method", "path", "body", "needed"), ROUTES, ids=[f"{route[0]} {route[1]}" for route in ROUTES]
)
def test_each_route_accepts_its_roles(method, path, body, needed, its_store, monkeypatch):
    """`test_roles` tests the keys that each route rejects."""
    monkeypatch.setattr(fixtures, "LEAST_US", 0)  # otherwise places are accepted once a second
    if path.endswith("/unmerge"):
        its_store.submit("main", rows(7, "xy"))
        its_store.merge("main", "a", "x")
    if path.endswith("/{answer}"):
        its_store.describe_pool("main", reports="50%")
        with its_store.writing("main") as pool:
            numbers = known_numbers(pool, ["a", "b"]).values()
            entries = [{"player": number, "position": place} for place, number in enumerate(numbers, 1)]
            started_at = datetime.now(UTC).isoformat()
            keep(pool, StoredReport("report-1", now(), "open", 1, started_at, entries, {}), "")
    create_key(its_store.engine, "spare", READ, "main")
    create_webhook(its_store.engine, "main", "https://example.org")
    address = path.format(**PARTS)
    roles = (READ, WRITE, ADMIN)
    with TestClient(create_app(its_store)) as client:

        def status(key):
            headers = {} if key is None else {"Authorization": f"Bearer {key}"}
            return client.request(method, address, json=body, headers=headers).status_code

        assert status(None) == 401
        for role in roles[roles.index(needed) :]:
            assert status(create_key(its_store.engine, "all", role)) < 300
            if "{pool}" in path:
                code = status(create_key(its_store.engine, "main only", role, "main"))
                assert code < 300 or code in (404, 409)


def test_keys_are_never_stored_in_plain_text(store, client, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    key = create_key(store.engine, "server", "write", "main")
    client.post(f"{BASE}/main/events", json=race(), headers={"Authorization": f"Bearer {key}"})
    answer = client.get(f"{BASE}/main/leaderboard", headers={"Authorization": f"Bearer {key}x"})
    assert key not in answer.text + caplog.text
    store.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.encode() not in stored


def test_unusual_names_are_stored_unchanged(client):
    names = ["O'Brien", "<3", "a & b; c", "雪", "..%2f", "%00", "a/b", "select", "👩\u200d🚀"]
    answer = client.post(f"{BASE}/main/events", json=race(order=names))
    assert [each["player"] for each in answer.json()[0]["changes"]] == names
    board = client.get(f"{BASE}/main/leaderboard").json()["players"]
    assert {each["player"] for each in board} == set(names)
    assert client.get(f"{BASE}/main/players/a%2Fb").json()["player"] == "a/b"


BAD_ADDRESSES = [
    *("/players/%00", "/players/%ed%a0%80", "/events/%00/void", "/nothing", "/leaderboard?top=0", "/leaderboard?top=x"),
    *(f"/leaderboard?cursor={cursor}" for cursor in ("1", "nan,1", "1,99999999999999999999", "x,1", "1e400,1")),
]


@pytest.mark.parametrize("path", BAD_ADDRESSES)
def test_invalid_addresses_are_rejected(path, client):
    method = "POST" if path.endswith("void") else "GET"
    answer = client.request(method, f"{BASE}/main{path}")
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
