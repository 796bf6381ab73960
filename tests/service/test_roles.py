"""Roles and routes: whoever has not the role that a route needs, in its pool and in time, is refused."""

import re
from datetime import timedelta

import pytest
from races import event, rows
from starlette.testclient import TestClient

from podium.service import create_app
from podium.service.http import keys as http_keys
from podium.store import keys
from podium.store.keys import create_key
from podium.systems import find

# The least role of each route, method and address. "owner" is an admin of all pools, "nobody" needs no key.
# Routes below /p/{pool} are those below /{pool} again.
NEEDED = {
    "nobody": """
        GET /
        GET /api/docs
        GET /api/openapi.json
        GET /favicon.ico
        GET /find
        GET /healthz
        GET /readyz
        GET /sign-in
        GET /sign-in/{link}
        GET /sign-out
        GET /static/{digest}/{name}
        POST /sign-in
        POST /sign-out
        POST /submit/xonstat
        POST /submit/xonstat/{secret}
    """,
    "read": """
        GET /admin
        GET /admin/{pool}
        GET /api/v1/pools
        GET /api/v1/pools/{pool}
        GET /api/v1/pools/{pool}/board
        GET /api/v1/pools/{pool}/board/newest
        GET /api/v1/pools/{pool}/compare
        GET /api/v1/pools/{pool}/distribution
        GET /api/v1/pools/{pool}/events
        GET /api/v1/pools/{pool}/events/{event_id}
        GET /api/v1/pools/{pool}/events/{event_id}/adjacent
        GET /api/v1/pools/{pool}/events/{event_id}/field
        GET /api/v1/pools/{pool}/events/{event_id}/players/{player}
        GET /api/v1/pools/{pool}/events/{event_id}/players/{player}/fairness
        GET /api/v1/pools/{pool}/events/{event_id}/players/{player}/what-if
        GET /api/v1/pools/{pool}/events/{event_id}/record
        GET /api/v1/pools/{pool}/export/{table}.{kind}
        GET /api/v1/pools/{pool}/facts
        GET /api/v1/pools/{pool}/fixtures
        GET /api/v1/pools/{pool}/fixtures/{fixture_id}
        GET /api/v1/pools/{pool}/fixtures/{fixture_id}/places
        GET /api/v1/pools/{pool}/fixtures/{fixture_id}/stakes
        GET /api/v1/pools/{pool}/hindsight
        GET /api/v1/pools/{pool}/leaderboard
        GET /api/v1/pools/{pool}/matches
        GET /api/v1/pools/{pool}/matches/{match_id}
        GET /api/v1/pools/{pool}/movers
        GET /api/v1/pools/{pool}/players/{player}
        GET /api/v1/pools/{pool}/players/{player}/card
        GET /api/v1/pools/{pool}/players/{player}/changes
        GET /api/v1/pools/{pool}/players/{player}/curve
        GET /api/v1/pools/{pool}/players/{player}/hindsight
        GET /api/v1/pools/{pool}/players/{player}/neighbours
        GET /api/v1/pools/{pool}/players/{player}/page
        GET /api/v1/pools/{pool}/players/{player}/ranks
        GET /api/v1/pools/{pool}/players/{player}/rivals
        GET /api/v1/pools/{pool}/search
        GET /api/v1/pools/{pool}/seasons
        GET /api/v1/pools/{pool}/seasons/{season}/leaderboard
        GET /api/v1/pools/{pool}/snapshots
        GET /api/v1/pools/{pool}/snapshots/{day}
        GET /api/v1/pools/{pool}/stakes
        GET /api/v1/pools/{pool}/stream
        GET /api/v1/pools/{pool}/things
        GET /metrics
        GET /{pool}
        GET /{pool}/best
        GET /{pool}/calendar
        GET /{pool}/calendar.ics
        GET /{pool}/compare
        GET /{pool}/distribution
        GET /{pool}/embed
        GET /{pool}/events
        GET /{pool}/events/{event_id}
        GET /{pool}/events/{event_id}/{player}
        GET /{pool}/events/{event_id}/{player}/picture.png
        GET /{pool}/feed.xml
        GET /{pool}/find
        GET /{pool}/matches/{match_id}
        GET /{pool}/players/{player}
        GET /{pool}/players/{player}/badge.json
        GET /{pool}/players/{player}/badge.svg
        GET /{pool}/players/{player}/changes
        GET /{pool}/players/{player}/feed.xml
        GET /{pool}/players/{player}/news
        GET /{pool}/players/{player}/rivals
        GET /{pool}/predict
        GET /{pool}/system
        GET /{pool}/things
        POST /api/v1/pools/{pool}/matchmaking
        POST /api/v1/pools/{pool}/predict
        POST /{pool}/players/{player}/me
    """,
    "write": """
        GET /admin/{pool}/log
        GET /admin/{pool}/races
        GET /admin/{pool}/races/{fixture_id}
        GET /admin/{pool}/races/{fixture_id}/places
        GET /admin/{pool}/upload
        POST /admin/{pool}/apply
        POST /admin/{pool}/races
        POST /admin/{pool}/races/{fixture_id}
        POST /admin/{pool}/races/{fixture_id}/cancel
        POST /admin/{pool}/races/{fixture_id}/places
        POST /admin/{pool}/races/{fixture_id}/result
        POST /admin/{pool}/sheet
        POST /admin/{pool}/upload
        POST /admin/{pool}/upload/{number}
        POST /api/v1/pools/{pool}/events
        POST /api/v1/pools/{pool}/fixtures
        POST /api/v1/pools/{pool}/fixtures/{fixture_id}/cancel
        POST /api/v1/pools/{pool}/matches
        PUT /api/v1/pools/{pool}/fixtures/{fixture_id}
        PUT /api/v1/pools/{pool}/fixtures/{fixture_id}/places
    """,
    "admin": """
        GET /admin/{pool}/events/{event_id}
        GET /admin/{pool}/export
        GET /admin/{pool}/keys
        GET /admin/{pool}/players
        GET /admin/{pool}/seasons
        GET /admin/{pool}/settings
        GET /admin/{pool}/system
        GET /admin/{pool}/webhooks
        GET /api/v1/pools/{pool}/log
        PATCH /api/v1/pools/{pool}
        POST /admin/{pool}/close
        POST /admin/{pool}/events/{event_id}
        POST /admin/{pool}/events/{event_id}/{act}
        POST /admin/{pool}/forget
        POST /admin/{pool}/keys
        POST /admin/{pool}/keys/{number:int}/replace
        POST /admin/{pool}/keys/{number:int}/revoke
        POST /admin/{pool}/log/{seq}/blank
        POST /admin/{pool}/merge
        POST /admin/{pool}/rename
        POST /admin/{pool}/reopen
        POST /admin/{pool}/seasons
        POST /admin/{pool}/settings
        POST /admin/{pool}/system
        POST /admin/{pool}/order
        POST /admin/{pool}/unmerge
        POST /admin/{pool}/webhooks
        POST /admin/{pool}/webhooks/{number:int}/delete
        POST /admin/{pool}/webhooks/{number:int}/resume
        POST /admin/{pool}/webhooks/{number:int}/test
        POST /api/v1/pools/{pool}/events/{event_id}/restore
        POST /api/v1/pools/{pool}/events/{event_id}/void
        POST /api/v1/pools/{pool}/merge
        POST /api/v1/pools/{pool}/players/{player}/pseudonymise
        POST /api/v1/pools/{pool}/players/{player}/rename
        POST /api/v1/pools/{pool}/players/{player}/unmerge
        POST /api/v1/pools/{pool}/seasons
        POST /api/v1/pools/{pool}/snapshots
        PUT /api/v1/pools/{pool}/events/{event_id}
        PUT /api/v1/pools/{pool}/system
        PUT /api/v1/pools/{pool}/order
    """,
    "owner": """
        POST /admin
        POST /admin/{pool}/delete
        POST /api/v1/pools
    """,
}

RANKS = ("nobody", "read", "write", "admin", "owner")
ROUTES = [(role, *line.split()) for role, lines in NEEDED.items() for line in lines.splitlines() if line.strip()]
VALUES = {"event_id": "e1", "act": "void", "table": "changes", "kind": "csv", "day": "2025-01-01"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def store(sqlite_store, monkeypatch):
    monkeypatch.setattr(http_keys, "REFUSED_BURST", 1e9)  # of one address
    monkeypatch.setattr(http_keys, "KEY_CACHE_S", 0.0)
    for pool in ("main", "other"):
        sqlite_store.create_pool(pool, find("elo")())
        sqlite_store.submit(pool, rows(1, "abc"))
    return sqlite_store


def address_of(path):
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: VALUES.get(found[1], "main" if found[1] == "pool" else "1"), path)


def clients(store, secret):
    """Whoever sends the key with each request, and whoever has signed in with it."""
    app = create_app(store)
    bearer = TestClient(app, follow_redirects=False, raise_server_exceptions=False)
    session = TestClient(app, follow_redirects=False, raise_server_exceptions=False, base_url="https://podium.test")
    if secret:
        bearer.headers["Authorization"] = f"Bearer {secret}"
        session.post("/sign-in", data={"key": secret})
    return bearer, session


def test_each_route_has_its_least_role(store):
    served = {
        (method, re.sub("^/p/", "/", route.path))
        for route in create_app(store).router.routes
        for method in route.methods - {"HEAD"}
    }
    assert served == {(method, path) for _, method, path in ROUTES}


@pytest.mark.parametrize(
    ("role", "pool", "is_expired"),
    [
        ("nobody", None, False),
        ("read", "main", False),
        ("write", "main", False),
        ("admin", "main", False),
        ("admin", "other", False),
        ("admin", None, True),
    ],
)
def test_every_forbidden_request_is_refused(store, monkeypatch, role, pool, is_expired):
    secret = "" if role == "nobody" else create_key(store.engine, role, role, pool, lifetime=timedelta(days=1))
    senders = clients(store, secret)
    if is_expired:
        late = keys.timestamp
        monkeypatch.setattr(keys, "timestamp", lambda after=timedelta(): late(timedelta(days=2) + after))
    version, known = [store.version(each) for each in ("main", "other")], len(keys.list_keys(store.engine))
    for needed, method, path in ROUTES:
        is_elsewhere = is_expired or (pool == "other" and "{pool}" in path)
        if RANKS.index(needed) > (0 if is_elsewhere else RANKS.index(role)):
            for sender in senders:
                answer = sender.request(method, address_of(path), headers=FORM if method != "GET" else {})
                assert answer.status_code in (401, 403), (role, pool, method, path, answer.status_code)
    assert [store.version(each) for each in ("main", "other")] == version
    assert len(keys.list_keys(store.engine)) == known


LIMITED = (  # of a pool, with a body that reaches back further than a key may
    ("POST", "events", event(5)),
    ("POST", "events", {"events": [event(5), event(6)]}),
    ("PUT", "events/e1", event(1, "cba")),
    ("POST", "events/e1/void", None),
    ("POST", "events/e1/restore", None),
    ("POST", "merge", {"player": "a", "into": "b"}),
    ("POST", "players/a/unmerge", None),
    ("PUT", "system", {"system": "glicko2"}),
    ("POST", "seasons", {"name": "s", "starts_at": "2025-01-01T00:00:00Z", "keep": 0.5}),
)


def test_no_route_takes_what_reaches_back_further_than_its_key(store):
    secret = create_key(store.engine, "limited", "admin", "main", reach_s=3600.0)
    sender, version = clients(store, secret)[0], store.version("main")
    statuses = {
        f"{method} {path}": sender.request(method, f"/api/v1/pools/main/{path}", json=body).status_code
        for method, path, body in LIMITED
    }
    assert {*statuses.values()} == {403}, statuses
    assert store.version("main") == version
