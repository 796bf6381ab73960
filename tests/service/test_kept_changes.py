"""Changes between a dry run and its confirmation, which the service keeps for one session and pool."""

import shutil
from contextlib import ExitStack, closing

import pytest
import sqlalchemy as sa
from races import rows
from test_admin import CSV, Admin, form_of, words

from podium.log.schema import waiting
from podium.service import create_app
from podium.service.http.visitors import MAX_FORM_BYTES
from podium.store import Store
from podium.store.waiting import WAITS_US, now
from podium.systems import find

URLENCODED = {"Content-Type": "application/x-www-form-urlencoded"}
UPLOADED = CSV.replace("2025-01-02,", "2025-01-02T12:00:00Z,")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "podium.db"
    opened = Store(str(path))
    for pool in ("main", "other"):
        opened.create_pool(pool, find("elo")())
        opened.submit(pool, [row for number in range(1, 4) for row in rows(number, "abcd")])
    opened.close()
    return path


@pytest.fixture
def store(filled, tmp_path):
    opened = Store(str(shutil.copy(filled, tmp_path)))
    opened.app = create_app(opened)
    yield opened
    opened.close()


def upload(admin, content=UPLOADED, name="evening.csv"):
    action, fields = form_of(admin.get("/upload").text, "/upload")
    sent = {name: value for name, value in fields if name != "pasted"}
    return admin.client.post(action, data=sent, files={"file": (name, content.encode())})


def test_a_form_contains_a_number_instead_of_the_change(store):
    dry = upload(Admin(store))
    fields = dict(form_of(dry.text, "/apply")[1])
    assert fields.keys() == {"token", "number", "version"}
    assert max(map(len, fields.values())) < 100


def test_a_kept_change_applies_only_to_its_pool(store):
    admin = Admin(store)
    fields = dict(form_of(upload(admin).text, "/apply")[1])
    other = admin.client.post("/admin/other/apply", data=fields)
    assert (other.status_code, "Open its page again" in words(other.text)) == (404, True)
    assert admin.client.post("/admin/other/sheet", data=fields).status_code == 404
    assert store.log("other")[-1].subject == "e3"
    assert admin.client.post("/admin/main/apply", data=fields, follow_redirects=False).status_code == 303


def test_a_waiting_file_is_never_taken_for_a_change(store):
    """A file has a number too, and its sender chooses the content."""
    admin = Admin(store)
    forged = '{"rows":[{"event_id":"x","player":"ana","position":1}],"names":{"a":"HACKED"}}'
    question_page = upload(admin, "Name;Punkte;Zahl\na;3;4\nb;2;1\n" + forged, "submit")
    numbers = [each.id for each in kept(store)]
    token = form_of(admin.get("/upload").text, "/upload")[1][0][1]
    for number in numbers:
        sent = {"token": token, "number": number, "version": str(store.version("main"))}
        assert admin.client.post("/admin/main/apply", data=sent).status_code == 404
    assert (question_page.status_code, len(numbers)) == (200, 1), words(question_page.text)


def kept(store):
    with store.engine.connect() as connection:
        return connection.execute(sa.select(waiting)).all()


def test_only_a_sheet_can_be_checked_as_a_sheet(store):
    admin = Admin(store)
    fields = dict(form_of(admin.send(admin.get("/events/e3"), "/events/e3/void").text, "/apply")[1])
    refused = admin.client.post("/admin/main/sheet", data=fields)
    assert (refused.status_code, "not a sheet" in words(refused.text)) == (422, True)


def test_another_process_can_store_a_kept_change(store):
    admin = Admin(store)
    fields = dict(form_of(upload(admin).text, "/apply")[1])
    other = Store(str(store.engine.url.database))
    admin.client.app = admin.client._transport.app = create_app(other)
    done = admin.client.post("/admin/main/apply", data=fields, follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/main/events/new")
    other.close()
    assert store.event("main", "new").status == "rated"


@pytest.mark.parametrize(("kind", "workers"), [("sqlite", 2), ("postgresql", 3)])
def test_other_workers_accept_a_form_once(kind, workers, new_url):
    url = new_url(kind)
    with ExitStack() as open_stores:
        stores = [open_stores.enter_context(closing(Store(url))) for _ in range(workers)]
        apps = [create_app(each) for each in stores]
        stores[0].create_pool("main", find("elo")())
        stores[0].app = apps[0]
        admin = Admin(stores[0])

        def ask(worker):
            admin.client.app = admin.client._transport.app = apps[worker % workers]
            return admin.client

        action, fields = form_of(upload(admin, "Race;Name;Zahl;Wert\nr;ana;3;4\nr;ben;2;1\n").text, "")
        answered = dict(fields) | {"answer": "columns.score=Zahl", "started_at": "2026-01-01"}
        dry = ask(1).post(action, data=answered)
        action, fields = form_of(dry.text, "/apply")
        answers = [ask(worker).post(action, data=dict(fields), follow_redirects=False) for worker in (2, 1, 0)]
        assert [each.status_code for each in answers] == [303, 409, 409]
        assert all(each.results("main").frame["event_id"].unique().to_list() == ["r"] for each in stores)


def test_an_expired_change_is_rejected_with_a_message(store, monkeypatch):
    admin, version = Admin(store), store.version("main")
    fields, later = dict(form_of(upload(admin).text, "/apply")[1]), now() + WAITS_US
    monkeypatch.setattr("podium.store.waiting.now", lambda: later)
    late = admin.client.post("/admin/main/apply", data=fields)
    assert (late.status_code, "This has expired" in words(late.text)) == (404, True)
    assert (store.version("main"), kept(store)) == (version, [])


def test_undoing_a_change_is_kept_as_a_change(store):
    admin = Admin(store)
    dry = admin.send(admin.get("/events/e3"), "/events/e3", **{"player-0": "d", "player-3": "a"})
    done = admin.send(dry, "/apply", reason="a slip")
    page = admin.client.get(done.headers["location"])
    undo = admin.client.post("/admin/main/apply", data=dict(form_of(page.text, "/apply")[1]))
    assert admin.send(undo, "/apply", reason="it was right").status_code == 303
    assert [each.player for each in store.event("main", "e3").entries] == ["a", "b", "c", "d"]


def test_urlencoded_forms_are_limited_to_100_kb(store):
    admin = Admin(store)
    for path in ("upload", "apply", "sheet", "events/e3", "merge"):
        for size, status in ((MAX_FORM_BYTES, 403), (MAX_FORM_BYTES + 1, 413)):
            content = b"x=".ljust(size, b"%")
            assert admin.client.post(f"/admin/main/{path}", content=content, headers=URLENCODED).status_code == status


def test_a_form_without_a_key_is_limited_too(store):
    visitor, part = Admin(store).client, {"me": ("large", b"x" * MAX_FORM_BYTES)}
    assert (
        visitor.post("/p/main/players/a/me", content=b"x" * (MAX_FORM_BYTES + 1), headers=URLENCODED).status_code == 413
    )
    assert visitor.post("/p/main/players/a/me", files=part).status_code == 413
    assert visitor.post("/p/main/players/a/me", data={"me": "maybe"}).status_code == 422


def test_a_large_event_is_corrected_with_a_multipart_form(store):
    players = [f"player number {k} of a large field" for k in range(1_500)]
    store.submit("main", rows(9, players))
    admin = Admin(store)
    page = admin.get("/events/e9")
    assert page.text.count('enctype="multipart/form-data"') == 1
    sent = dict(form_of(page.text, "/events/e9")[1])
    assert len(sent["pasted"]) > MAX_FORM_BYTES // 2
    dry = admin.client.post("/admin/main/events/e9", data=sent, files={"file": ("", b"")})
    assert "There is nothing to do" in words(dry.text)


@pytest.mark.parametrize("field", ["number", "reason", "version", "token"])
@pytest.mark.parametrize("path", ["apply", "sheet", "merge", "upload"])
def test_half_a_surrogate_pair_is_rejected(store, path, field):
    admin = Admin(store)
    content = f"token=x&{field}=%ED%A0%80".encode()
    assert admin.client.post(f"/admin/main/{path}", content=content, headers=URLENCODED).status_code == 422
