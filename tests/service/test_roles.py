"""Every route rejects keys that lack its role, its pool or its backdating limit."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from races import event, rows
from starlette.testclient import TestClient

from podium.log.players import known_numbers
from podium.log.statements import now
from podium.service import create_app
from podium.service.admin import dry_run
from podium.service.http import keys as http_keys
from podium.store import keys
from podium.store.keys import create_key
from podium.store.writing.reports import StoredReport, keep
from podium.systems import find

# The lowest role for each route and method. "owner" is an admin of all pools; "nobody" needs no key.
# The routes below /p/{pool} repeat those below /{pool}.
NEEDED = {
    "nobody": """
        GET /
        GET /api/docs
        GET /api/openapi.json
        GET /favicon.ico
        GET /{pool}/report/{link}
        POST /{pool}/report/{link}
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
        GET /api/v1/pools/{pool}/fixtures/{fixture_id}/seeds
        GET /api/v1/pools/{pool}/fixtures/{fixture_id}/stakes
        GET /api/v1/pools/{pool}/groups/{by}
        GET /api/v1/pools/{pool}/hindsight
        GET /api/v1/pools/{pool}/leaderboard
        GET /api/v1/pools/{pool}/leaderboard/newest
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
        GET /api/v1/pools/{pool}/players/{player}/reasons
        GET /api/v1/pools/{pool}/players/{player}/rivals
        GET /api/v1/pools/{pool}/search
        GET /api/v1/pools/{pool}/details
        GET /api/v1/pools/{pool}/starting-ratings
        GET /api/v1/pools/{pool}/seasons
        GET /api/v1/pools/{pool}/seasons/{season}/leaderboard
        GET /api/v1/pools/{pool}/snapshots
        GET /api/v1/pools/{pool}/snapshots/{day}
        GET /api/v1/pools/{pool}/stakes
        GET /api/v1/pools/{pool}/standings
        GET /api/v1/pools/{pool}/stream
        GET /api/v1/pools/{pool}/equipment
        GET /metrics
        GET /{pool}
        GET /{pool}/best
        GET /{pool}/calendar
        GET /{pool}/card.png
        GET /{pool}/calendar.ics
        GET /{pool}/cards/{event_id}.png
        GET /{pool}/compare
        GET /{pool}/distribution
        GET /{pool}/embed
        GET /{pool}/events
        GET /{pool}/events/{event_id}
        GET /{pool}/events/{event_id}/{player}
        GET /{pool}/events/{event_id}/{player}/picture.png
        GET /{pool}/feed.xml
        GET /{pool}/find
        GET /{pool}/groups/{by}
        GET /{pool}/matches/{match_id}
        GET /{pool}/matches/{match_id}/seeds
        GET /{pool}/matches/{match_id}/seeds.{kind}
        GET /{pool}/players/{player}
        GET /{pool}/players/{player}/badge.json
        GET /{pool}/players/{player}/badge.svg
        GET /{pool}/players/{player}/changes
        GET /{pool}/players/{player}/feed.xml
        GET /{pool}/players/{player}/news
        GET /{pool}/players/{player}/reasons
        GET /{pool}/players/{player}/rivals
        GET /{pool}/predict
        GET /{pool}/seasons
        GET /{pool}/seasons/{season}
        GET /{pool}/seasons/{season}/before
        GET /{pool}/standings
        GET /{pool}/standings/{season}
        GET /{pool}/standings/{season}/before
        GET /{pool}/system
        GET /{pool}/equipment
        POST /api/v1/pools/{pool}/matchmaking
        POST /api/v1/pools/{pool}/predict
        POST /{pool}/players/{player}/me
    """,
    "write": """
        GET /{pool}/tonight
        GET /admin/{pool}/log
        GET /admin/{pool}/races
        GET /admin/{pool}/races/{fixture_id}
        GET /admin/{pool}/upload
        POST /{pool}/tonight
        POST /admin/{pool}/apply
        POST /admin/{pool}/races
        POST /admin/{pool}/races/{fixture_id}
        POST /admin/{pool}/races/{fixture_id}/cancel
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
        GET /admin/{pool}/reports
        GET /admin/{pool}/seasons
        GET /admin/{pool}/settings
        GET /admin/{pool}/system
        GET /admin/{pool}/webhooks
        DELETE /api/v1/pools/{pool}/keys/{number}
        DELETE /api/v1/pools/{pool}/webhooks/{number}
        GET /api/v1/pools/{pool}/keys
        GET /api/v1/pools/{pool}/links
        GET /api/v1/pools/{pool}/reports
        GET /api/v1/pools/{pool}/log
        GET /api/v1/pools/{pool}/webhooks
        PATCH /api/v1/pools/{pool}
        POST /admin/{pool}/close
        POST /admin/{pool}/events/{event_id}
        POST /admin/{pool}/events/{event_id}/{act}
        POST /admin/{pool}/forget
        POST /admin/{pool}/keys
        POST /admin/{pool}/keys/{number}/replace
        POST /admin/{pool}/keys/{number}/revoke
        POST /admin/{pool}/log/{seq}/blank
        POST /admin/{pool}/merge
        POST /admin/{pool}/rename
        POST /admin/{pool}/reopen
        POST /admin/{pool}/reports
        POST /admin/{pool}/reports/{report_id}/{answer}
        POST /admin/{pool}/seasons
        POST /admin/{pool}/settings
        POST /admin/{pool}/system
        POST /admin/{pool}/order
        GET /api/v1/pools/{pool}/ids
        POST /admin/{pool}/details
        POST /admin/{pool}/start
        POST /admin/{pool}/unmerge
        POST /admin/{pool}/void
        POST /admin/{pool}/webhooks
        POST /admin/{pool}/webhooks/{number}/delete
        POST /admin/{pool}/webhooks/{number}/resume
        POST /admin/{pool}/webhooks/{number}/test
        POST /api/v1/pools/{pool}/events/{event_id}/unvoid
        POST /api/v1/pools/{pool}/events/{event_id}/void
        POST /api/v1/pools/{pool}/keys
        POST /api/v1/pools/{pool}/links
        POST /api/v1/pools/{pool}/reports/{report_id}/{answer}
        POST /api/v1/pools/{pool}/merge
        POST /api/v1/pools/{pool}/players/{player}/anonymize
        POST /api/v1/pools/{pool}/players/{player}/rename
        POST /api/v1/pools/{pool}/players/{player}/unmerge
        POST /api/v1/pools/{pool}/players/{player}/void
        POST /api/v1/pools/{pool}/seasons
        POST /api/v1/pools/{pool}/webhooks
        PUT /api/v1/pools/{pool}/events/{event_id}
        PUT /api/v1/pools/{pool}/system
        PUT /api/v1/pools/{pool}/order
        PUT /api/v1/pools/{pool}/details
        PUT /api/v1/pools/{pool}/starting-ratings
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
    monkeypatch.setattr(http_keys, "REFUSED_BURST", 1e9)  # all requests have one address
    monkeypatch.setattr(http_keys, "KEY_CACHE_S", 0.0)
    for pool in ("main", "other"):
        sqlite_store.create_pool(pool, find("elo")())
        sqlite_store.submit(pool, rows(1, "abc"))
    return sqlite_store


def address_of(path):
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: VALUES.get(found[1], "main" if found[1] == "pool" else "1"), path)


def clients(store, secret):
    """Return a client that sends the key, and a client that has signed in with it."""
    app = create_app(store)
    bearer = TestClient(app, follow_redirects=False, raise_server_exceptions=False)
    session = TestClient(app, follow_redirects=False, raise_server_exceptions=False, base_url="https://podium.test")
    if secret:
        bearer.headers["Authorization"] = f"Bearer {secret}"
        session.post("/sign-in", data={"key": secret})
    return bearer, session


def test_each_route_has_a_lowest_role(store):
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
def test_every_forbidden_request_is_rejected(store, monkeypatch, role, pool, is_expired):
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


OLD, RECENT = "2025-01-01T00:05:00Z", (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
CSV = "event_id,started_at,player,position\nnew,{0},a,1\nnew,{0},b,2\n"
API = "/api/v1/pools/{pool}"
REPORTS = "report-1", "report-2"
BACKDATES = (  # requests that change old ratings; in this order, each succeeds with a sufficient key
    (f"POST {API}/events", {}, event(5)),
    (f"POST {API}/events", {}, {"events": [event(6), event(7)]}),
    (f"POST {API}/events", {}, event(8, started_at=RECENT, match_id="m1")),  # m1 then has no result
    (f"POST {API}/events/{{event_id}}/void", {"event_id": "e8"}, None),  # then it has one
    (f"PUT {API}/events/{{event_id}}", {}, event(1, "cba")),
    (f"PUT {API}/events/{{event_id}}", {}, event(1, "cab", started_at=RECENT)),
    (f"POST {API}/events/{{event_id}}/void", {}, None),
    (f"POST {API}/events/{{event_id}}/unvoid", {}, None),
    (f"POST {API}/merge", {}, {"player": "late", "into": "a"}),
    (f"POST {API}/players/{{player}}/unmerge", {"player": "late"}, None),
    (f"PUT {API}/starting-ratings", {}, {"players": [{"player": "a", "rating": 1800}]}),
    (f"PUT {API}/system", {}, {"system": "glicko2"}),
    (f"PUT {API}/order", {}, {"order": "sequence"}),
    (f"PUT {API}/order", {}, {"order": "dated"}),
    (f"POST {API}/seasons", {}, {"name": "s", "starts_at": OLD, "keep": 0.5}),
    (f"POST {API}/reports/{{report_id}}/{{answer}}", {"report_id": REPORTS[0], "answer": "accept"}, None),
    (f"POST {API}/players/{{player}}/void", {"player": "late"}, None),
)
TONIGHT = {"event_id": "e9", "date": OLD, "lines": "2", "name-0": "a", "place-0": "1", "name-1": "b", "place-1": "2"}
FORMS_BACKDATE = (
    ("POST /admin/{pool}/upload", {}, {"pasted": CSV.format(OLD)}),
    ("POST /admin/{pool}/upload", {}, {"file": CSV.format(OLD)}),
    ("POST /{pool}/tonight", {}, TONIGHT),
    ("POST /{pool}/tonight", {}, TONIGHT | {"race": "past", "event_id": "past"}),
    ("POST /admin/{pool}/events/{event_id}", {}, {"pasted": CSV.format(RECENT).replace("new", "e1")}),
    ("POST /admin/{pool}/events/{event_id}/{act}", {}, {}),
    ("POST /admin/{pool}/events/{event_id}/{act}", {"event_id": "e2", "act": "unvoid"}, {}),
    ("POST /admin/{pool}/events/{event_id}/{act}", {"event_id": "e8"}, {}),  # afterwards an old result counts again
    ("POST /admin/{pool}/merge", {}, {"player": "late", "into": "a"}),
    ("POST /admin/{pool}/unmerge", {}, {"player": "gone"}),
    ("POST /admin/{pool}/void", {}, {"player": "a"}),
    ("POST /admin/{pool}/start", {}, {"player": "a", "rating": "1800"}),
    ("POST /admin/{pool}/system", {}, {"system": "glicko2"}),
    ("POST /admin/{pool}/order", {}, {"order": "sequence"}),
    ("POST /admin/{pool}/reports/{report_id}/{answer}", {"report_id": REPORTS[1], "answer": "accept"}, {}),
    ("POST /admin/{pool}/seasons", {}, {"name": "s", "starts_at": OLD, "keep": "50"}),
)
BY_NUMBER = (  # forms that name a waiting change by its number
    "POST /admin/{pool}/apply", "POST /admin/{pool}/sheet", "POST /admin/{pool}/upload/{number}",
)  # fmt: skip
MOVES_NO_RATING = {
    f"POST {API}/fixtures": {"fixture_id": "older", "starts_at": OLD},
    f"PUT {API}/fixtures/{{fixture_id}}": {"starts_at": OLD},
    f"PUT {API}/fixtures/{{fixture_id}}/places": {"places": ["b", "a"]},
    f"POST {API}/fixtures/{{fixture_id}}/cancel": None,
    f"POST {API}/matches": {"match_id": "m2", "entrants": [{"player": "a"}]},
    f"POST {API}/links": {"act": "give"},
    "POST /admin/{pool}/reports": {"act": "revoke"},
    f"PATCH {API}": {"title": "Cup"},
    f"PUT {API}/details": {"players": [{"player": "a", "club": "Kart Club"}]},
    f"POST {API}/players/{{player}}/rename": {"name": "anna"},
    f"POST {API}/players/{{player}}/anonymize": None,
    "POST /admin/{pool}/races": {"race_id": "oldest", "starts": OLD, "anybody": "yes"},
    "POST /admin/{pool}/races/{fixture_id}": {"starts": OLD, "anybody": "yes"},
    "POST /admin/{pool}/races/{fixture_id}/cancel": {},
    "POST /admin/{pool}/details": {"player": "b", "club": "Kart Club"},
    "POST /admin/{pool}/rename": {"player": "b", "name": "ben"},
    "POST /admin/{pool}/forget": {"player": "c", "again": "c"},
    "POST /admin/{pool}/log/{seq}/blank": {},
    "POST /admin/{pool}/settings": {"title": "Cup"},
    "POST /admin/{pool}/close": {},
    "POST /admin/{pool}/reopen": {},
}
OF_CONNECTIONS = re.compile(  # these write no results; only the role decides
    "POST (?:/admin|/admin/{pool}/(?:keys|webhooks|delete).*|/api/v1/pools|/submit/.*|/sign-(?:in|out)"
    "|.*/(?:predict|matchmaking|me|report/{link}))|(?:POST|DELETE) /api/v1/pools/{pool}/(?:keys|webhooks).*"
)


@pytest.fixture
def past(store):
    """Return a store with old events of each kind, and a race and a match without results."""
    store.submit("main", [*rows(2, "abc"), *rows(3, ["gone", "late"])])
    store.void("main", "e2")
    store.merge("main", "gone", "c")
    store.register("main", "m1", ["a", "b", "c"])
    store.submit("main", rows(4, "ab"), match_ids={"e4": "m1"})
    store.plan_fixture("main", "past", starts_at=datetime(2025, 1, 3, tzinfo=UTC), entrants=["a", "b"])
    store.post_places("main", "past", ["a", "b"])
    store.describe_pool("main", reports="50%")
    for report_id in REPORTS:
        with store.writing("main") as pool:
            numbers = known_numbers(pool, ["a", "b"]).values()
            results = [{"player": number, "position": place} for place, number in enumerate(numbers, 1)]
            keep(pool, StoredReport(report_id, now(), "open", 1, RECENT, results, {}), "")
    return store


def path_of(route, values):
    return re.sub(
        r"\{(\w+)(:\w+)?\}", lambda found: {**VALUES, "pool": "main", **values}.get(found[1], "1"), route.split()[1]
    )


def is_form(route):
    return "/admin/" in route or route.endswith("/tonight")


def ask(sender, token, request):
    """Send a request of the API, or a form with its token."""
    route, values, content = request
    path, method = path_of(route, values), route.split()[0]
    if not is_form(route):
        return sender.request(method, path, json=content)
    data = {"token": token, "format": "results"} | {name: text for name, text in content.items() if name != "file"}
    file = {"file": ("new.csv", content["file"].encode())} if "file" in content else {"file": ("", b"")}
    return sender.request(method, path, data=data, files=file if path.endswith("/upload") else None)


def senders_of(store, **limits):
    secret = create_key(store.engine, "key", "admin", "main", **limits)
    bearer, session = clients(store, secret)
    page = session.get("/admin/main/upload", headers={"Accept": "text/html"}).text
    return bearer, session, re.search(r'name="token" value="([^"]+)"', page)[1]


def test_every_writing_route_is_tested_with_a_limited_key():
    tried = {route for route, *_ in (*BACKDATES, *FORMS_BACKDATE)} | {*BY_NUMBER} | MOVES_NO_RATING.keys()
    writing = {f"{method} {path}" for _, method, path in ROUTES if method != "GET"}
    assert {each for each in writing if not OF_CONNECTIONS.fullmatch(each)} == tried


def test_no_route_accepts_changes_beyond_the_backdating_limit(past):
    bearer, session, token = senders_of(past, backdating_limit_s=3600.0)
    past.submit("main", rows(8, "abc", started_at=RECENT), match_ids={"e8": "m1"})
    version = past.version("main")
    for request in (*BACKDATES, *FORMS_BACKDATE):
        sender = session if is_form(request[0]) else bearer
        answer = ask(sender, token, request)
        assert answer.status_code == 403, (request, answer.status_code, answer.text[-500:])
    assert past.version("main") == version


@pytest.mark.parametrize("requests", [BACKDATES, FORMS_BACKDATE], ids=["api", "forms"])
def test_an_unlimited_key_can_send_all_these_requests(past, requests):
    bearer, session, token = senders_of(past)
    if requests is FORMS_BACKDATE:
        past.submit("main", rows(8, "abc", started_at=RECENT), match_ids={"e8": "m1"})
    for request in requests:
        answer = ask(bearer if requests is BACKDATES else session, token, request)
        assert answer.status_code in (200, 201, 303), (request, answer.status_code, answer.text[-500:])


def test_other_routes_never_change_ratings(past):
    bearer, session, token = senders_of(past, backdating_limit_s=3600.0)
    before = [row.rating for row in past.leaderboard("main").players]
    for route, content in MOVES_NO_RATING.items():
        values = {"player": "a", "fixture_id": "past"}
        answer = ask(session if is_form(route) else bearer, token, (route, values, content))
        assert answer.status_code != 500, (route, answer.text)
    assert [row.rating for row in past.leaderboard("main").players] == before


def kept_number(session, token, monkeypatch):
    """Return the number of a waiting change to old events, previewed without the key's limit."""
    with monkeypatch.context() as unlimited:
        unlimited.setattr(dry_run, "refuse_beyond_key", lambda *_: None)
        page = ask(session, token, ("POST /admin/{pool}/upload", {}, {"file": CSV.format(OLD)})).text
    return re.search(r'name="number" value="([^"]+)"', page)[1]


def test_form_numbers_work_only_within_their_session_pool_and_limit(past, monkeypatch):
    _, session, token = senders_of(past, backdating_limit_s=3600.0)
    _, other, other_token = senders_of(past)
    own, foreign, version = kept_number(session, token, monkeypatch), kept_number(other, other_token, monkeypatch), {}
    version = {"version": str(past.version("main"))}
    for route in BY_NUMBER:
        for number, form_token, status in (
            (own, token, {404} if "upload" in route else {403}),
            (foreign, token, {404}),
            (foreign, other_token, {403}),
            ("1", token, {404}),
            ("", token, {404}),
        ):
            if number or "upload" not in route:
                answer = ask(session, form_token, (route, {"number": number}, {"number": number} | version))
                assert {answer.status_code} == status, (route, number, answer.status_code, answer.text[-300:])
    elsewhere = other.post("/admin/other/apply", data={"token": other_token, "number": foreign} | version)
    assert elsewhere.status_code == 403
    assert past.version("main") == int(version["version"])
    assert ask(other, other_token, (BY_NUMBER[0], {}, {"number": foreign} | version)).status_code == 303
