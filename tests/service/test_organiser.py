"""The whole life of a pool as an organiser sees it in a browser, and actions that need a special role."""

import json
import re
import shutil
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest
from races import ratings, rows
from test_admin import Admin, form_of, words
from test_webhooks import receiving

from podium.client import verify_webhook
from podium.errors import ParameterError, PodiumError
from podium.service import create_app
from podium.service.site.folder import StoreSource, write_site
from podium.store import Store
from podium.store.keys import list_keys, list_webhooks, store_progress
from podium.systems import find


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("organiser") / "podium.db"
    opened = Store(str(path))
    opened.create_pool("main", find("elo")())
    opened.submit("main", [row for number in range(1, 6) for row in rows(number, "abcd" if number % 2 else "dbca")])
    opened.close()
    return path


@pytest.fixture
def store(filled, tmp_path):
    opened = Store(str(shutil.copy(filled, tmp_path)))
    opened.app = create_app(opened)
    yield opened
    opened.close()


def follow(admin, answer):
    """Return the page that a form redirects to."""
    assert answer.status_code == 303, words(answer.text)
    return admin.client.get(answer.headers["location"])


def test_a_pool_is_created_and_typed_values_survive_an_error(store):
    admin = Admin(store)
    start = admin.client.get("/admin")
    for change, fault in (
        ({"name": "karts", "contact": "nowhere"}, "neither an email address"),
        ({"name": "admin"}, "is the address of a page"),
        ({"name": "main"}, "There is already a pool 'main'"),
        ({"name": " "}, "name"),
    ):
        refused = admin.send(start, "/admin", title="<Karts>", system="glicko2", **change)
        assert 400 <= refused.status_code < 500
        assert fault in words(refused.text)
        _, fields = form_of(refused.text, "/admin")
        sent = {"title": "<Karts>", "system": "glicko2"} | change
        assert sent.items() <= dict(fields).items()
    assert [each.name for each in store.pools()] == ["main"]
    opened = follow(
        admin, admin.send(start, "/admin", name="karts ü/1", title="<Karts>", system="glicko2", public="yes")
    )
    assert opened.status_code == 200
    assert "is created and rated with" in words(opened.text)
    pool = store.pool("karts ü/1")
    assert (pool.system.name, pool.description.title, pool.description.public) == ("glicko2", "<Karts>", True)
    assert store.log("karts ü/1")[0].actor == "admin key"


def test_a_change_of_system_is_previewed_first(store):
    admin, before = Admin(store), ratings(store)
    page = admin.get("/system?system=glicko2")
    assert "set-tau" in page.text
    dry = admin.send(page, "/system", **{"set-deviation": "200"})
    assert (dry.status_code, ratings(store)) == (200, before)
    assert re.search(r"4 of today\Ws 4 ratings", words(dry.text))
    done = follow(admin, admin.send(dry, "/apply"))
    assert "from the first event on" in words(done.text)
    assert (store.pool("main").system.name, store.pool("main").system.deviation) == ("glicko2", 200.0)
    assert ratings(store) != before
    assert store.verify() == []
    refused = admin.send(admin.get("/system"), "/system", **{"set-tau": "many"})
    assert refused.status_code == 422
    assert ["set-tau", "many"] in form_of(refused.text, "/system")[1]
    assert Admin(store, backdating_limit_s=60.0).send(admin.get("/system"), "/system").status_code == 403


def test_ids_with_a_players_name_are_listed_before_its_removal(store, tmp_path):
    store.rename("main", "a", "Zebedee Quux")
    event = [each | {"event_id": "zebedee-quux 1", "title": "ZEBEDEE QUUX!"} for each in rows(20, "bc")]
    store.submit("main", event)
    store.plan_fixture("main", "next", starts_at=datetime(2100, 1, 1, tzinfo=UTC), title="Quux, Zebedee v b")
    store.describe_pool("main", public=True)
    admin = Admin(store)
    question_page = admin.send(admin.get("/players"), "/forget", player="Zebedee Quux", again="Zebedee Quux")
    assert "zebedee-quux 1" in words(question_page.text)
    assert "Copies made earlier keep the name" in words(question_page.text)
    assert "Zebedee Quux" in ratings(store)
    assert "All names are removed" in follow(admin, admin.send(question_page, "/forget")).text
    addresses = "", "/events", "/events/event 8", "/calendar", "/calendar.ics", "/feed.xml", "/search?q=zebedee"
    pages = [admin.client.get(f"/main{each}") for each in addresses] + [admin.get("/log")]
    write_site(tmp_path / "site", StoreSource(str(tmp_path / "podium.db")))
    written = [each.read_text("utf-8") for each in (tmp_path / "site").rglob("*.*") if each.suffix in (".html", ".xml")]
    assert written
    found = [each for each in [*(page.text for page in pages), *written] if "zebedee" in each.casefold()]
    assert len(found) <= 1  # the search text itself
    assert store.verify() == []


def test_a_player_is_renamed_and_anonymized(store):
    admin, before = Admin(store), ratings(store)
    for changes, status in (({"player": "nobody", "name": "Ann"}, 404), ({"player": "a", "name": "b"}, 409)):
        refused = admin.send(admin.get("/players"), "/rename", **changes)
        assert refused.status_code == status
        assert changes.items() <= dict(form_of(refused.text, "/rename")[1]).items()
        assert "Nothing was saved" in refused.text
    renamed = follow(admin, admin.send(admin.get("/players"), "/rename", player="a", name="Ann <1>"))
    assert (renamed.status_code, "a is now called Ann <1>." in words(renamed.text)) == (200, True)
    assert admin.send(admin.get("/players"), "/forget", player="Ann <1>", again="Ann").status_code == 422
    assert "Ann <1>" in ratings(store)
    gone = follow(admin, admin.send(admin.get("/players"), "/forget", player="Ann <1>", again="Ann <1>"))
    assert (gone.status_code, "All names are removed" in gone.text) == (200, True)
    assert "Ann" not in gone.text
    assert sorted(ratings(store).values()) == sorted(before.values())
    assert ratings(store).keys() & {"a", "Ann <1>"} == set()


def test_a_key_never_opens_more_pools_than_its_creators_key(store):
    admin, of_pool = Admin(store), Admin(store, pool="main")
    sent = {"name": "server", "role": "write", "opens": "all", "backdating_limit": "30d", "rate": "5"}
    assert admin.send(admin.get("/keys"), "/keys", **sent | {"backdating_limit": "long"}).status_code == 422
    created = admin.send(admin.get("/keys"), "/keys", **sent)
    assert "podium_" in created.text
    key = list_keys(store.engine)[-1]
    assert (key.pool, key.role, key.backdating_limit_s, key.per_second) == (None, "write", 30 * 86_400.0, 5.0)
    assert f"number {key.id}" not in of_pool.get("/keys").text
    token = form_of(of_pool.get("/keys").text, "/keys")[1][0][1]
    for path, fields in (("", {"name": "x", "role": "read", "opens": "all"}), (f"/{key.id}/replace", {})):
        answer = of_pool.client.post(f"/admin/main/keys{path}", data={"token": token} | fields)
        assert answer.status_code in (403, 404)
    replaced = admin.send(admin.get("/keys"), f"/{key.id}/replace")
    assert re.search(r'value="podium_', replaced.text)
    old, new = (each for each in list_keys(store.engine) if each.name == "server")
    assert (old.revoked, new.revoked, new.backdating_limit_s, new.pool) == (True, False, old.backdating_limit_s, None)


def test_webhook_pages_show_deliveries_and_send_tests(store):
    admin = Admin(store)
    refused = admin.send(admin.get("/webhooks"), "/webhooks", url="ftp://example.org")
    assert refused.status_code == 422
    assert ["url", "ftp://example.org"] in form_of(refused.text, "/webhooks")[1]
    created = admin.send(admin.get("/webhooks"), "/webhooks", url="https://example.org/podium")
    (hook,) = list_webhooks(store.engine)
    assert hook.secret in created.text
    assert hook.secret not in admin.get("/webhooks").text
    store.submit("main", rows(8, "ab"))
    store.submit("main", rows(9, "ab"))
    first, second = (each.seq for each in store.log("main", most=100)[-2:])
    store_progress(
        store.engine, hook, first, error="answered 503", failing_since="2026-01-01T10:00:00+00:00", stopped=True
    )
    seen = words(admin.get("/webhooks").text)
    assert f"Entry {first}: Received the result e8 taken" in seen
    assert f"Entry {second}: Received the result e9 failed: answered 503" in seen
    assert "is resumed" in words(follow(admin, admin.send(admin.get("/webhooks"), f"/{hook.id}/resume")).text)
    assert not list_webhooks(store.engine)[0].stopped
    store.create_pool("other", find("elo")())
    stranger = Admin(store, pool="other")
    token = form_of(stranger.client.get("/admin/other/keys").text, "/keys")[1][0][1]
    assert stranger.client.post(f"/admin/other/webhooks/{hook.id}/delete", data={"token": token}).status_code == 404
    follow(admin, admin.send(admin.get("/webhooks"), f"/{hook.id}/delete"))
    assert list_webhooks(store.engine) == []


def test_a_test_message_is_signed_and_marked(store):
    admin = Admin(store)
    with receiving(204, 500) as (url, sent):
        (secret,) = re.findall(r'value="(whsec_[^"]+)"', admin.send(admin.get("/webhooks"), "/webhooks", url=url).text)
        (hook,) = list_webhooks(store.engine)
        private = follow(admin, admin.send(admin.get("/webhooks"), f"/{hook.id}/test"))
        assert ("is not a public address" in private.text, sent) == (True, [])
        store.app.state.private_webhooks = True  # as with `serve --private-webhooks`
        for answer in ("received the test", "did not receive the test: the receiver responded with 500"):
            tested = follow(admin, admin.send(admin.get("/webhooks"), f"/{hook.id}/test"))
            assert answer in words(tested.text)
    assert [verify_webhook(secret, headers, body) for headers, body in sent] == [
        {"pool": "main", "seq": hook.delivered_seq, "kind": "test"}
    ] * 2
    assert len({headers["webhook-id"] for headers, _ in sent}) == 2
    assert list_webhooks(store.engine) == [hook]  # a test does not count as a delivery


def tonight(admin, race, act="look", **places):
    """Send the form for a race with some places filled in."""
    fields = dict(form_of(admin.client.get("/main/tonight", params={"race": race}).text, "/tonight")[1])
    lines = {fields.get(f"name-{k}"): k for k in range(int(fields["lines"]))}
    empty = int(fields["lines"]) - 1
    sent = fields | {"act": act}
    for name, place in places.items():
        k = lines.get(name, empty)
        sent |= {f"name-{k}": name, f"place-{k}": place}
    return admin.client.post("/main/tonight", data=sent, follow_redirects=False)


def test_a_races_places_are_previewed_before_its_result_is_stored(store):
    admin = Admin(store)
    store.plan_fixture("main", "gp", starts_at=datetime.now(UTC), entrants=["a", "b"], title="Grand Prix")
    store.plan_fixture("main", "open", starts_at=datetime.now(UTC))
    assert (store.places("main", "gp"), tonight(admin, "gp").status_code) == (None, 422)
    assert store.places("main", "gp") is None  # nobody has finished yet
    assert "at least two names" in words(tonight(admin, "gp", a="1").text)
    assert store.places("main", "gp").places == ("a",)
    stranger = tonight(admin, "gp", zoe="2")
    assert "'zoe' is not entered in race 'gp'" in words(stranger.text)
    assert tonight(admin, "gp", a="2", b="1").status_code == 200
    assert store.places("main", "gp").places == ("b", "a")
    assert store.event_count("main") == 5  # nothing is rated yet
    assert tonight(admin, "gp", act="", b="dnf").status_code == 303
    stored = store.event("main", "gp")
    ends = {entry.player: (entry.position, entry.status) for entry in stored.entries}
    assert ends == {"a": (2.0, "finished"), "b": (None, "dnf")}
    assert (stored.title, stored.started_at) == ("Grand Prix", store.fixture("main", "gp").starts_at)
    again = admin.client.get("/main/tonight", params={"race": "gp"})
    assert (again.status_code, "already has a result" in words(again.text)) == (422, True)
    tonight(admin, "open", act="", b="1", d="2")
    assert [(each.player, each.position) for each in store.event("main", "open").entries] == [("b", 1), ("d", 2)]


def test_an_open_race_rejects_names_and_keeps_them_in_the_form(store):
    admin = Admin(store)
    store.plan_fixture("main", "open", starts_at=datetime.now(UTC))
    sent = {"entrants": "a\nb\nzoe", "anybody": "yes", "starts": "2030-01-01T10:00"}
    for path, more in (("/races", {"race_id": "gp"}), ("/races/open", {})):
        page = admin.get(path)
        token = form_of(page.text, path)[1][0][1]
        refused = admin.client.post(f"/admin/main{path}", data={"token": token, **sent, **more})
        assert (refused.status_code, "and 3 names contradict each other" in words(refused.text)) == (422, True)
        assert ["entrants", "a\nb\nzoe"] in form_of(refused.text, path)[1]
        assert admin.client.post(f"/admin/main{path}", data={"token": token, **sent, **more, "anybody": ""}).is_success
    for race in ("gp", "open"):
        assert [each.player for each in store.fixture("main", race).entrants] == ["a", "b", "zoe"]
        with pytest.raises(ParameterError, match="1 name contradict"):
            store.plan_fixture("main", race, entrants=["a"], anybody=True)
        assert store.plan_fixture("main", race, entrants=[], anybody=True).entrants is None


def test_a_correction_rejects_a_new_line_without_a_name(store):
    admin = Admin(store)
    page = admin.get("/events/e3")
    refused = admin.send(page, "/events/e3", **{"position-4": "5"})
    assert (refused.status_code, "player" in words(refused.text)) == (422, True)
    assert ["position-4", "5"] in form_of(refused.text, "/events/e3")[1]
    assert admin.send(refused, "/events/e3").status_code == 422  # the second time also
    named = admin.send(refused, "/events/e3", **{"player-4": "zoe"})
    follow(admin, admin.send(named, "/apply", reason="zoe was there"))
    assert [each.player for each in store.event("main", "e3").entries] == ["a", "b", "c", "d", "zoe"]
    page = admin.get("/events/e3")
    follow(admin, admin.send(admin.send(page, "/events/e3", **{"player-4": ""}), "/apply", reason="no"))
    assert len(store.event("main", "e3").entries) == 4


def test_an_export_matches_the_command(store):
    admin = Admin(store)
    file = admin.get("/export")
    assert file.text == "".join(store.export_pool("main"))
    assert unquote(file.headers["content-disposition"]).endswith("main.jsonl")
    assert json.loads(file.text.splitlines()[0])["pool"] == "main"
    assert Admin(store, "write", "main").get("/export").status_code == 403


def test_a_pool_is_closed_reopened_and_deleted(store):
    admin, of_pool = Admin(store), Admin(store, pool="main")
    with pytest.raises(StopIteration):
        form_of(admin.get("/settings").text, "/delete")  # only once it is closed
    assert "The pool is closed" in follow(of_pool, of_pool.send(of_pool.get("/settings"), "/close")).text
    with pytest.raises(PodiumError, match="is closed"):
        store.submit("main", rows(9, "ab"))
    assert "open again" in follow(admin, admin.send(admin.get("/settings"), "/reopen")).text
    follow(admin, admin.send(admin.get("/settings"), "/close"))
    refused = admin.send(admin.get("/settings"), "/delete", name="Main")
    assert refused.status_code == 422
    assert ["name", "Main"] in form_of(refused.text, "/delete")[1]
    token = form_of(of_pool.get("/settings").text, "/settings")[1][0][1]
    assert of_pool.client.post("/admin/main/delete", data={"token": token, "name": "main"}).status_code == 403
    assert [each.name for each in store.pools()] == ["main"]
    done = follow(admin, admin.send(admin.get("/settings"), "/delete", name="main"))
    assert "The pool main and all its data are deleted" in done.text
    assert store.pools() == []
