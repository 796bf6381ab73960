"""Admin pages: the preview matches the stored change, and only authorized people can store it."""

import json
import re
import shutil
from dataclasses import asdict
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser

import pytest
from races import ratings, rows
from starlette.testclient import TestClient

import podium
from podium.service import create_app
from podium.service.admin import sending
from podium.service.admin.reading import Upload, read_file
from podium.service.admin.uploads import stored
from podium.service.http import keys as http_keys
from podium.service.http.requests import WROTE
from podium.store import Store, keys
from podium.store.keys import create_key
from podium.systems import FITS, find, names

PAGES = ("", "/upload", "/events/e3", "/players", "/seasons", "/log", "/system", "/keys", "/webhooks", "/settings")
DASH = "\N{EN DASH}"
CSV = "event_id,started_at,player,position\nnew,2025-01-02,a,1\nnew,2025-01-02,zoe,2\n"


class Forms(HTMLParser):
    """The forms of a page, each with its address and the fields that a browser would send."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.select, self.area = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.method = attributes.get("method")
        if tag == "form" and self.method == "post":
            self.forms.append((attributes["action"], []))
        elif tag == "input" and "name" in attributes and self.forms and attributes.get("type") != "file":
            is_unticked = attributes.get("type") == "checkbox" and "checked" not in attributes
            self.forms[-1][1].append([attributes["name"], "" if is_unticked else attributes.get("value", "")])
        elif tag == "select":
            self.select, self.options = attributes["name"], []
            self.is_sent = self.method == "post"
        elif tag == "option" and self.select is not None:  # not of a datalist
            self.options.append((attributes, ""))
        elif tag == "textarea":
            self.area = attributes["name"]
            self.forms[-1][1].append([self.area, ""])

    def handle_data(self, data):
        if self.area is not None:
            self.forms[-1][1][-1][1] += data
        elif self.select is not None and self.options:
            self.options[-1] = self.options[-1][0], data

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.area = None
        elif tag == "select":
            chosen = next((each for each in self.options if "selected" in each[0]), self.options[0])
            if self.is_sent:
                self.forms[-1][1].append([self.select, chosen[0].get("value", chosen[1])])
            self.select = None


def form_of(text, ending):
    """Return the address and the fields of the form whose address has this ending."""
    return next((action, fields) for action, fields in Forms(text).forms if action.endswith(ending))


def words(text):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


class Admin:
    """A browser in which somebody has signed in with a new key."""

    def __init__(self, store, role="admin", pool=None, **options):
        self.client = TestClient(store.app, base_url="https://podium.test", headers={"Accept": "text/html"})
        secret = create_key(store.engine, f"{role} key", role, pool, **options)
        assert self.client.post("/sign-in", data={"key": secret}, follow_redirects=False).status_code == 303
        self.key = keys.list_keys(store.engine)[-1].id

    def get(self, path):
        return self.client.get(f"/admin/main{path}")

    def send(self, page, ending, **changes):
        """Send a form of a page after changing some of its fields."""
        action, fields = form_of(page.text, ending)
        assert changes.keys() <= {name for name, _ in fields}
        sent = {}
        for name, value in fields:
            sent.setdefault(name, []).append(changes.get(name, value))
        return self.client.post(action, data=sent, follow_redirects=False)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a database, which every test copies."""
    path = tmp_path_factory.mktemp("admin") / "podium.db"
    opened = Store(str(path))
    opened.create_pool("main", find("elo")(), title="Main & more")
    opened.create_pool("other", find("elo")())
    events = [rows(number, "abcd" if number % 2 else "dbca") for number in range(1, 7)]
    opened.submit("main", [row for event in [*events, rows(9, ["x", "new"])] for row in event])
    opened.close()
    return path


@pytest.fixture
def store(filled, tmp_path):
    opened = Store(str(shutil.copy(filled, tmp_path)))
    opened.app = create_app(opened)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("page", "form", "changes", "lands"),
    [
        ("/events/e3", "/events/e3", {"player-0": "d", "player-3": "a"}, "/main/events/e3"),
        ("/events/e3", "/events/e3/void", {}, "/main/events/e3"),
        ("/players", "/merge", {"player": "new", "into": "a"}, "/main/players/a"),
        ("/players", "/start", {"player": "a", "rating": "1800"}, "/main"),
        ("/players", "/void", {"player": "a"}, "/main/events"),
        ("/seasons", "/seasons", {"name": "2025", "starts_at": "2025-01-01T00:03:30Z", "keep": "50"}, "/main"),
        ("/upload", "/upload", {"pasted": CSV}, "/main/events/new"),
        ("/seasons", "/seasons", {"name": "2025", "starts_at": "today", "keep": "50"}, "/main"),
        ("/seasons", "/seasons", {"name": "2025", "starts_at": "31.12.2025", "keep": "50"}, "/main"),
        ("/seasons", "/seasons", {"name": "2025", "starts_at": "13 March 2025", "keep": "50"}, "/main"),
        ("/system", "/system", {"set-k": "40"}, "/main/system"),
    ],
)
def test_the_preview_shows_exactly_the_stored_changes(store, page, form, changes, lands):
    admin, before = Admin(store), ratings(store)
    if "pasted" in changes:  # a browser sends an empty file if none is chosen
        action, fields = form_of(admin.get(page).text, form)
        dry = admin.client.post(action, data=dict(fields) | changes, files={"file": ("", b"")})
    else:
        dry = admin.send(admin.get(page), form, **changes)
    assert dry.status_code == 200, words(dry.text)
    assert ratings(store) == before
    assert ("The start of a season" in dry.text) == (page == "/seasons")
    moved = re.findall(r'class="name"><bdi>(.+?)</bdi>.*?</th><td[^>]*>(.+?)</td><td[^>]*>(.+?)</td>', dry.text)
    assert moved
    fields = {name for name, _ in form_of(dry.text, "/apply")[1]}
    reason = {"reason": "a reason"} if "reason" in fields else {}
    done = admin.send(dry, "/apply", **reason)
    assert (done.status_code, done.headers["location"]) == (303, lands)
    after = ratings(store)
    for player, was, now in moved:
        shown = [f"{each[player]:.1f}" if player in each else DASH for each in (before, after)]
        assert [was, now] == shown
    assert {each for each in before if abs(before[each] - after.get(each, 0.0)) > 0.1} <= {each for each, _, _ in moved}
    newest = store.newest_log("main", most=1)[0]
    assert (newest.actor, newest.reason or "") == ("admin key", reason.get("reason", ""))
    seen = admin.client.get(done.headers["location"])
    assert (seen.status_code, seen.text.count("Saved.")) == (200, 1)
    assert "Saved." not in admin.client.get(done.headers["location"]).text  # the message appears once
    assert newest.reason is None or "a reason" in words(admin.get("/log").text)
    assert store.verify() == []


def test_a_change_in_the_meantime_shows_the_preview_again(store):
    admin = Admin(store)
    dry = admin.send(admin.get("/events/e3"), "/events/e3/void")
    store.submit("main", rows(7, "dcba"))
    again = admin.send(dry, "/apply", reason="too <late>")
    assert again.status_code == 409
    assert "Something else has changed since you looked" in again.text
    assert store.event("main", "e3").status == "rated"
    _, fields = form_of(again.text, "/apply")
    assert ["reason", "too <late>"] in fields  # the typed reason is kept
    assert admin.send(again, "/apply").status_code == 303
    assert store.event("main", "e3").status == "voided"


def test_a_preview_names_events_by_their_titles(store):
    for number in (3, 4):
        titled = [row | {"title": f"Grand Prix {number}"} for row in rows(number, "abcd")]
        store.amend("main", titled, reason="titles")
    admin = Admin(store)
    dry = words(admin.send(admin.get("/events/e3"), "/events/e3", **{"player-0": "d", "player-3": "a"}).text)
    assert "Grand Prix 3 Correct Grand Prix 3" in dry
    assert re.search(r"Events that change Grand Prix 3 \d players Grand Prix 4 \d players e5 \d players", dry), dry[
        -900:
    ]


def test_a_correction_needs_a_reason(store):
    admin, version = Admin(store), store.version("main")
    dry = admin.send(admin.get("/events/e3"), "/events/e3/void")
    assert admin.send(dry, "/apply", reason="  ").status_code == 200
    assert admin.send(dry, "/apply", reason="x" * 501).status_code == 422
    assert store.version("main") == version


def test_a_correction_keeps_cars_and_sides(store):
    admin = Admin(store)
    given = [
        {"shared:car": "Ferrari", "shared:tyres": "soft", "side": "home"},
        {"side": "away"},
        {"shared:car": "Ford"},
    ]
    sent = [row | more | {"ranked": False, "weight": 0.5} for row, more in zip(rows(20, "abc"), given, strict=True)]
    store.submit("main", sent)
    dry = admin.send(admin.get("/events/e20"), "/events/e20", **{"position-0": "2", "position-1": "1"})
    done = admin.send(dry, "/apply", reason="a slip")
    assert done.status_code == 303
    assert f"{WROTE}=1" in done.headers["set-cookie"]  # so that the next pages show the change
    entries = {each.player: each for each in store.event("main", "e20").entries}
    assert [entries[name].shared for name in "abc"] == [{"car": "Ferrari", "tyres": "soft"}, None, {"car": "Ford"}]
    assert [entries[name].side for name in "abc"] == ["home", "away", None]
    assert [entries[name].position for name in "abc"] == [2, 1, 3]
    assert {(each.ranked, each.weight) for each in entries.values()} == {(False, 0.5)}


def test_an_event_is_listed_winner_first_and_loses_the_rows_marked_for_removal(store):
    store.submit("main", [row | {"title": "Spring cup"} for row in reversed(rows(20, "abc"))])
    admin = Admin(store)
    page = admin.get("/events/e20")
    assert "Correct Spring cup" in words(page.text)
    assert re.findall(r'name="player-\d" value="(\w)"', page.text) == ["a", "b", "c"]
    dry = admin.send(page, "/events/e20", **{"remove-0": "1"})  # c, whose row was sent first
    assert "Correct Spring cup" in words(dry.text)
    assert admin.send(dry, "/apply", reason="watched only").status_code == 303
    assert {each.player for each in store.event("main", "e20").entries} == {"a", "b"}


def test_a_file_with_errors_is_rejected_and_the_typed_text_is_kept(store):
    admin, version = Admin(store), store.version("main")
    action, fields = form_of(admin.get("/upload").text, "/upload")
    pasted = CSV + "new,2025-01-02,b,first\nnew,2025-01-02,<i>,-1\n"
    for files in ({"file": ("", b"")}, {"file": ("../../karts <1>.csv", pasted.encode())}):
        text = "" if files["file"][1] else pasted
        refused = admin.client.post(action, data=dict(fields) | {"pasted": text}, files=files)
        assert refused.status_code == 422
        name = "karts <1>.csv" if files["file"][1] else "pasted.csv"
        assert f"errors in {name} . Nothing was saved." in words(refused.text).replace("../../", "")
        assert "Row 4, column position: 'first' must be a place" in words(refused.text)
        assert ["pasted", text] in form_of(refused.text, "/upload")[1]
    other = admin.send(
        admin.get("/upload"), "/upload", pasted="hello, all\nworld, x\n"
    )  # the last line of this page describes a valid table
    assert "2 errors in pasted.csv . Nothing was saved." in words(other.text)
    assert "A results table has one row per entrant" in words(other.text)
    table = admin.send(admin.get("/events/e3"), "/events/e3", **{"position-1": "second", "player-0": "é"})
    assert table.status_code == 422
    assert "'second' must be a number" in words(table.text)
    assert ["player-0", "é"] in form_of(table.text, "/events/e3")[1]
    assert store.version("main") == version


def test_other_column_names_are_recognised_and_shown(store):
    admin = Admin(store)
    action, fields = form_of(admin.get("/upload").text, "/upload")
    pasted = "Race;Date;Driver;Place\nnew;2025-01-02;a;1\nnew;2025-01-02;b;2\n"
    dry = admin.client.post(action, data=dict(fields) | {"pasted": pasted}, files={"file": ("", b"")})
    assert "Podium read Race as event_id" in words(dry.text)
    assert admin.send(dry, "/apply").status_code == 303
    assert [each.player for each in store.event("main", "new").changes] == ["a", "b"]


def test_a_saved_column_map_reads_only_matching_files(tmp_path):
    """Podium ignores a map that does not fit the file, and one that joins a file on the server."""
    secret = tmp_path / "secret.csv"
    secret.write_text("key,value\nAna,hidden\n", encoding="utf-8")
    points = '[columns]\nevent_id = "Race"\nplayer = "Driver"\nscore = "Pos"\n'
    joins = f'[join.x]\nfile = "{secret}"\non = {{ here = "Driver", there = "key" }}\n\n{points}'
    unlike = points.replace('"Pos"', '"Points"')
    with stored(b"Race,Driver,Pos\nr,Ana,1\nr,Ben,2\n", "x.csv") as path:
        found = [read_file(path, "x.csv", "results", "main", kept=each) for each in (points, joins, unlike)]
    kept, *others = [each for each in found if isinstance(each, Upload)]
    assert kept.rows["score"].to_list() == [1, 2]
    assert (kept.map, kept.notes[0]) == (points, "read with the map that the pool saved for it")
    assert [each.rows["position"].to_list() for each in others] == [[1, 2]] * 2
    assert [each.map for each in others] == ["", ""]


def race(number, *names):
    """Return a racetime.gg race, whose entrants have ids and names."""
    entrants = [
        {
            "user": {"id": f"id{k}", "full_name": name},
            "status": {"value": "done"},
            "place": k,
            "finish_time": f"P0DT00H{k}0M00S",
        }
        for k, name in enumerate(names, start=1)
    ]
    return json.dumps(
        {
            "name": f"oot/clean-link-{number}",
            "started_at": f"2025-01-0{number}T18:00:00Z",
            "status": {"value": "finished"},
            "goal": {"name": "any"},
            "category": {"slug": "oot"},
            "entrants": entrants,
        }
    ).encode()


def send_race(admin, content):
    action, fields = form_of(admin.client.get("/admin/oot%2Fany/upload").text, "/upload")
    dry = admin.client.post(
        action, data=dict(fields) | {"format": "racetime"}, files={"file": (f"{hash(content)}.json", content)}
    )
    assert dry.status_code == 200, words(dry.text)
    return dry


def test_imported_formats_use_the_names_of_players(store):
    store.create_pool("oot/any", find("elo")())
    admin, content = Admin(store, "write", "oot/any"), race(3, "Ann", "Bea")
    assert admin.send(send_race(admin, content), "/apply").status_code == 303
    assert ratings(store, "oot/any").keys() == {"Ann", "Bea"}
    action, fields = form_of(admin.client.get("/admin/oot%2Fany/upload").text, "/upload")
    refused = admin.client.post(
        action.replace("oot%2Fany", "main"), data=dict(fields), files={"file": ("race.json", content)}
    )
    assert refused.status_code == 403


@pytest.mark.parametrize(("role", "called"), [("write", "Ann"), ("admin", "HACKED")])
def test_only_an_admin_renames_players_with_a_file(store, role, called):
    store.create_pool("oot/any", find("elo")())
    writer = Admin(store, "write", "oot/any")
    assert writer.send(send_race(writer, race(3, "Ann", "Bea")), "/apply").status_code == 303
    sender = Admin(store, role, "oot/any")
    assert sender.send(send_race(sender, race(4, "HACKED", "Bea", "Cleo")), "/apply").status_code == 303
    assert ratings(store, "oot/any").keys() == {called, "Bea", "Cleo"}  # a new player gets the name in the file


def test_an_upload_names_possible_typos(store):
    store.submit("main", rows(20, ["Dragana", "Otto"]))
    admin = Admin(store)
    action, fields = form_of(admin.get("/upload").text, "/upload")
    pasted = CSV.replace("zoe", "Draganna")
    dry = admin.client.post(action, data=dict(fields) | {"pasted": pasted}, files={"file": ("", b"")})
    assert re.search(
        " 1 a .* 2 Draganna new, or Dragana [?].* Did you mean Dragana [?] Draganna is Dragana Draganna is new Save",
        words(dry.text),
    )  # in the order sent
    answers = {"sure": "Draganna"}, {"meant": "Draganna\tDragana", "title": "Spring cup"}, {}
    for more, status in zip(answers, (200, 200, 303), strict=True):
        action, fields = form_of(dry.text, "/apply")
        dry = admin.client.post(action, data=dict(fields) | more, follow_redirects=False)
        assert (dry.status_code, "id you mean" in words(dry.text)) == (status, False)
    stored = store.event("main", "new")
    assert (stored.title, [each.player for each in stored.entries]) == ("Spring cup", ["a", "Dragana"])


def test_a_correction_asks_about_possible_typos(store):
    store.submit("main", [*rows(20, ["Dragana", "Otto"]), *rows(21, ["Dragana", "Otto"])])
    admin = Admin(store)
    dry = admin.send(admin.get("/events/e21"), "/events/e21", **{"player-0": "Draganna"})
    assert "Did you mean Dragana ? Draganna is Dragana" in words(dry.text)
    action, fields = form_of(dry.text, "/apply")
    dry = admin.client.post(action, data=dict(fields) | {"meant": "Draganna\tDragana", "reason": "a typo"})
    assert "There is nothing to do" in words(dry.text)


def test_the_size_of_an_upload_is_limited(store, monkeypatch):
    monkeypatch.setattr(sending, "MAX_UPLOAD_BYTES", 1_000)
    admin = Admin(store)
    action, fields = form_of(admin.get("/upload").text, "/upload")
    refused = admin.client.post(action, data=dict(fields), files={"file": ("a.csv", b"x" * 2_000)})
    assert refused.status_code == 413
    with (
        stored(b"PK" + b"x" * 1_000_000, "results.zip") as path,
        pytest.raises(podium.ParameterError, match="a compressed file can have up to 1 MB"),
    ):
        read_file(path, "results.zip", "results", "main")


def test_rejected_requests_to_admin_pages_are_limited(store, monkeypatch):
    monkeypatch.setattr(http_keys, "REFUSED_PER_S", 1e-3)  # the budget must not refill on a slow machine
    nobody = TestClient(store.app, base_url="https://podium.test", headers={"Accept": "text/html"})
    answers = [nobody.get("/admin/main").status_code for _ in range(40)]
    assert (answers[:30], answers[-1]) == ([401] * 30, 429)
    reader = Admin(store, "read", "main")
    answers = [reader.get("/keys") for _ in range(3)]
    assert [each.status_code for each in answers] == [429] * 3
    assert int(answers[0].headers["Retry-After"]) >= 1


ROLES = {"read": 1, "write": 3, "admin": len(PAGES)}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_only_its_own_pages_and_pool(store, role):
    admin = Admin(store, role, "main")
    allowed = {"read": {""}, "write": {"", "/upload", "/log"}, "admin": set(PAGES)}[role]
    statuses = {page: admin.get(page).status_code for page in PAGES}
    assert {page for page in PAGES if statuses[page] == 200} == allowed
    assert {*statuses.values()} - {200} <= {403}
    links = {page: re.findall(r'"Administer .*?</nav>', admin.get(page).text, re.DOTALL) for page in allowed}
    assert [page for page, found in links.items() if len(found) != (role != "read")] == []
    assert [page for page, found in links.items() if ("/settings" in str(found)) != (role == "admin")] == []
    elsewhere = [admin.client.get(f"/admin/{pool}{page}") for pool in ("other", "none") for page in PAGES]
    assert {each.status_code for each in elsewhere} == {403}
    listed = admin.client.get("/admin").text
    assert "Main &amp; more" in listed
    assert "other" not in words(listed)


def test_a_form_of_another_session_is_rejected(store):
    admin = Admin(store)
    dry = admin.send(admin.get("/events/e3"), "/events/e3/void")
    writer = Admin(store, "write", "main")
    token = form_of(writer.get("/upload").text, "/upload")[1][0][1]
    action, fields = form_of(dry.text, "/apply")
    sent = dict(fields) | {"token": token, "reason": "mine"}
    refused = writer.client.post(action, data=sent)
    assert (refused.status_code, "belongs to another session" in words(refused.text)) == (404, True)
    assert store.event("main", "e3").status == "rated"


@pytest.mark.parametrize(
    "change", [{"token": ""}, {"token": "x.y"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.test"}]
)
def test_forms_from_other_sites_are_rejected(store, change):
    admin, version = Admin(store), store.version("main")
    for page, form in (("/settings", "/settings"), ("/keys", "/keys"), ("/events/e3", "/void"), ("/upload", "/upload")):
        action, fields = form_of(admin.get(page).text, form)
        headers = {name: value for name, value in change.items() if name != "token"}
        sent = dict(fields) | {name: value for name, value in change.items() if name == "token"}
        assert admin.client.post(action, data=sent, headers=headers).status_code == 403
    another = Admin(store)
    action, fields = form_of(admin.get("/settings").text, "/settings")
    assert another.client.post(action, data=dict(fields)).status_code == 403  # the token of another session
    assert (store.version("main"), len(keys.list_keys(store.engine))) == (version, 2)


def test_a_key_is_shown_once_and_revoked_only_in_its_own_pool(store):
    stranger = create_key(store.engine, "all", "read")
    admin = Admin(store, pool="main")
    created = admin.send(admin.get("/keys"), "/keys", name="server <1>", role="write", days="3")
    (secret,) = re.findall(r'value="(podium_[^"]+)"', created.text)
    assert created.headers["cache-control"] == "no-store"
    assert secret not in admin.get("/keys").text
    key = keys.list_keys(store.engine)[-1]
    assert (key.name, key.role, key.pool) == ("server <1>", "write", "main")
    assert key.expires_at is not None
    assert admin.send(admin.get("/keys"), f"/keys/{key.id}/revoke").status_code == 303
    assert keys.list_keys(store.engine)[-1].revoked
    token = form_of(admin.get("/keys").text, "/keys")[1][0][1]
    number = next(each.id for each in keys.list_keys(store.engine) if each.name == "all")
    assert admin.client.post(f"/admin/main/keys/{number}/revoke", data={"token": token}).status_code == 404
    assert stranger
    limited = Admin(store, "admin", "main", backdating_limit_s=60.0)
    assert "cannot create others" in limited.get("/keys").text
    token = form_of(limited.get("/settings").text, "/settings")[1][0][1]
    sent = {"token": token, "name": "more", "role": "admin", "days": ""}
    assert limited.client.post("/admin/main/keys", data=sent).status_code == 403


def test_a_backdating_limit_applies_to_corrections(store):
    limited = Admin(store, "admin", "main", backdating_limit_s=60.0)
    for page, form, changes in (
        ("/events/e3", "/events/e3/void", {}), ("/events/e3", "/events/e3", {"player-0": "d", "player-3": "a"}),
        ("/players", "/merge", {"player": "a", "into": "b"}),
    ):  # fmt: skip
        refused = limited.send(limited.get(page), form, **changes)
        assert refused.status_code == 403, words(refused.text)
    recent = datetime.now(UTC).isoformat()
    action, fields = form_of(limited.get("/upload").text, "/upload")
    sent = dict(fields) | {"pasted": CSV.replace("2025-01-02", recent)}
    assert limited.client.post(action, data=sent, files={"file": ("", b"")}).status_code == 200


def test_settings_are_stored_and_logged(store):
    admin = Admin(store)
    stored = admin.send(
        admin.get("/settings"),
        "/settings",
        contact="stewards@example.org",
        public="yes",
        player_word="rider",
        time_zone="Europe/Rome",
        points_scheme="f1",
        points_drop="2",
        points_more="teams=2",
        factor="10",
        ids="yes",
        tiers="Iron: 0\r\nGold: 9\r\n",
        reports="yes",
        share="50",
        hours="2",
    )
    assert stored.status_code == 303
    assert asdict(store.pool("main").description) == {
        "title": "Main & more", "contact": "stewards@example.org", "player_word": "rider", "public": True,
        "time_zone": "Europe/Rome", "points_scheme": "f1 teams=2 drop=2",
        "display": "factor=10 ids=public tiers=Iron: 0,Gold: 9", "reports": "50% 2h",
    }  # fmt: skip
    stored_version = store.version("main")
    assert admin.send(admin.get("/settings"), "/settings").status_code == 303
    assert store.version("main") == stored_version  # the fields describe exactly what is stored
    assert store.newest_log("main", most=1)[0].kind == "describe"
    refused = admin.send(admin.get("/settings"), "/settings", contact="javascript:alert(1)")
    assert refused.status_code == 422
    assert "neither an email address nor the address of a page" in words(refused.text)


def test_an_invalid_form_is_shown_again_with_its_values(store):
    store.plan_fixture("main", "gp", starts_at=datetime.now(UTC), entrants=["a", "b"])
    admin, version = Admin(store), store.version("main")
    for page, form, changes, fault in (
        ("/keys", "/keys", {"name": " "}, "The key needs an owner"),
        ("/keys", "/keys", {"name": "x", "days": "soon"}, "The days until it expires must be a number, not 'soon'"),
        ("/keys", "/keys", {"name": "x", "rate": "5/s"}, "Requests per second must be a number, not '5/s'"),
        ("/keys", "/keys", {"name": "x", "days": "1e9"}, "A key can last up to 36,525 days"),
        ("/seasons", "/seasons", {"name": "x", "starts_at": "2025-01-01", "keep": "half"}, "a number from 0 to 100"),
        ("/seasons", "/seasons", {"name": "x", "starts_at": "soon", "keep": "50"}, "'soon'"),
        ("/seasons", "/seasons", {"name": "x", "starts_at": "03/04/2025", "keep": "50"}, "'03/04/2025' is not a date"),
        ("/players", "/unmerge", {"player": "a"}, "'a' was never merged"),
        ("/players", "/start", {"player": "a", "rating": "high"}, "'high'"),
        ("/upload", "/upload", {"started_at": "2025-01-01"}, "Choose a file, or paste its text"),
        ("/races", "/races", {"race_id": "new"}, "The start time of the race is missing"),
        ("/races", "/races", {"race_id": "gp", "name": "Prix"}, "There is already a race 'gp'"),
        ("/races/gp", "/races/gp", {"starts": "soon", "entrants": "a, b"}, "'soon'"),
    ):
        refused = admin.send(admin.get(page), form, **changes)
        assert 400 <= refused.status_code < 500
        assert fault in words(refused.text)
        assert changes.items() <= dict(form_of(refused.text, form)[1]).items()
    action, fields = form_of(admin.get("/events/e3").text, "/events/e3")
    other = admin.client.post(action, data={"token": dict(fields)["token"], "pasted": CSV})
    assert (other.status_code, "Every row must belong to event e3, not new" in words(other.text)) == (422, True)
    assert (store.version("main"), len(keys.list_keys(store.engine))) == (version, 1)


def test_a_reason_can_be_deleted(store):
    store.void("main", "e3", reason="Ann saw it")
    admin = Admin(store)
    action, fields = form_of(admin.get("/log").text, "/blank")
    assert admin.client.post(action, data=dict(fields), follow_redirects=False).status_code == 303
    assert "Ann saw it" not in admin.get("/log").text
    other = re.sub(r"/log/\d+/", "/log/999/", action)
    refused = admin.client.post(other, data=dict(fields))
    assert (refused.status_code, "Delete a reason" in words(refused.text)) == (404, True)


def test_tampered_forms_are_rejected(store):
    admin = Admin(store)
    dry = admin.send(admin.get("/events/e3"), "/events/e3/void")
    for number in ("x", "", "é" * 1000, "eJwDAAAAAAE="):
        assert admin.send(dry, "/apply", number=number, reason="r").status_code == 404
    assert admin.send(dry, "/apply", version="", reason="r").status_code == 409
    assert admin.client.post("/admin/main/apply", content=b"{}").status_code == 403
    parts = {"Content-Type": "multipart/form-data"}  # without the boundary
    assert admin.client.post("/admin/main/apply", content=b"x", headers=parts).status_code == 422


def test_the_system_chooser_says_what_each_system_fits(store):
    assert FITS.keys() == set(names())
    page = Admin(store).client.get("/admin").text
    assert all(sentence in page for sentence in FITS.values())
