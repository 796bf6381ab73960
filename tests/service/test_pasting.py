"""Pasted and uploaded results without dates: the form has a date and a title, and asks for missing facts."""

from contextlib import closing
from datetime import UTC, datetime
from urllib.parse import quote, unquote

import pytest
from races import calling
from test_admin import Admin, form_of, words

from podium.importers.blocks import number_names
from podium.service import create_app
from podium.store import Store
from podium.systems import find

PLACES = "1. Jonas\n2. mika\n3. Pipo\n"


@pytest.fixture
def store(tmp_path):
    with closing(Store(str(tmp_path / "podium.db"))) as opened:
        opened.create_pool("main", find("elo")(), public=True)
        opened.app = create_app(opened)
        yield opened


def send(admin, text="", name="", **changes):
    """Return the page after sending pasted text, or a file of that name."""
    action, fields = form_of(admin.get("/upload").text, "/upload")
    data = dict(fields) | {"pasted": "" if name else text} | changes
    return admin.client.post(action, data=data, files={"file": (name, text.encode() if name else b"")})


def answer(admin, page, choice):
    """Return the page after an answer."""
    action, fields = next((each for each in [form_of(page.text, "")] if "/upload/" in each[0]), form_of(page.text, ""))
    return admin.client.post(action, data=[*map(tuple, fields)] and dict(fields) | {"answer": choice})


def apply(admin, dry):
    assert dry.status_code == 200, words(dry.text)
    stored = admin.send(dry, "/apply")
    assert stored.status_code == 303, words(stored.text)
    return stored


def events(store):
    ids = store.results("main").frame["event_id"].unique(maintain_order=True)
    return [store.event("main", each) for each in ids]


def test_only_the_first_paste_asks_for_the_order_of_events(store):
    admin = Admin(store)
    question_page = send(admin, PLACES, title="Mario Kart")
    assert "How are all events of this pool ordered?" in words(question_page.text)
    assert store.order("main") is None
    apply(admin, answer(admin, question_page, "order=dated"))
    day = dict(form_of(question_page.text, "")[1])["started_at"]  # the same date in both forms, even around midnight
    stored = apply(admin, send(admin, "1. Tobi\n2. Jonas\n", title="Mario Kart", started_at=day))
    first, second = events(store)
    assert [str(each.started_at.date()) for each in (first, second)] == [day, day]
    assert stored.headers["location"].endswith(f"/events/{quote(second.event_id)}")
    assert [each.title for each in (first, second)] == ["Mario Kart"] * 2
    assert [each.event_id for each in (first, second)] == [day, f"{day} #2"]
    dry = admin.send(admin.get(f"/events/{day}"), f"/events/{day}/void")
    assert "Void Mario Kart" in words(dry.text)
    apply(admin, send(admin, "race;date;player;place\ns1;2026-10-02;Jonas;1\ns1;2026-10-02;Tobi;2\n", "season.csv"))
    assert len(events(store)) == 3
    assert not store.verification().findings


def test_an_empty_date_does_not_choose_an_order(store):
    question_page = send(Admin(store), PLACES, started_at="")
    assert "How are all events of this pool ordered?" in words(question_page.text)
    assert store.order("main") is None


def test_an_undated_pool_has_no_date_field(store):
    admin = Admin(store)
    apply(admin, answer(admin, send(admin, PLACES, "w1.csv"), "order=sequence"))
    assert (store.order("main"), events(store)[0].sequence) == ("sequence", 1)
    assert "started_at" not in dict(form_of(admin.get("/upload").text, "/upload")[1])
    apply(admin, send(admin, "1. Tobi\n2. Jonas\n"))
    assert [(each.event_id, each.sequence) for each in events(store)] == [("w1", 1), ("Result", 2)]


@pytest.mark.parametrize("text", [PLACES, "Jonas beat Henk 11-7", "1. Jonas 2. Henk"])
def test_the_same_lines_on_two_dates_are_two_results(store, text):
    store.set_order("main", "dated")
    admin = Admin(store)
    for day in ("2026-10-02", "2026-10-09"):
        apply(admin, send(admin, text, started_at=day))
    assert [str(event.started_at.date()) for event in events(store)] == ["2026-10-02", "2026-10-09"]


@pytest.mark.parametrize("text", ["Jonas beat Henk 11-7", "1. Jonas 2. Henk"])
def test_a_single_line_is_a_result(store, text):
    store.set_order("main", "dated")
    apply(admin := Admin(store), send(admin, text, started_at="2026-10-09"))
    (event,) = events(store)
    assert (str(event.started_at.date()), sorted(each.player for each in event.entries)) == (
        "2026-10-09", ["Henk", "Jonas"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["Jonas\nplayer7\n雪", "Jonas, player7, 雪", "Jonas > player7 > 雪", "🥇 Jonas\n🥈 player7\n🥉 雪"]
)
def test_pasted_names_without_places_are_a_result_in_that_order(store, text):
    store.set_order("main", "dated")
    apply(admin := Admin(store), send(admin, text, started_at="2026-10-09"))
    (event,) = events(store)
    assert [(each.player, each.position) for each in event.entries] == [("Jonas", 1), ("player7", 2), ("雪", 3)]


@pytest.mark.parametrize(
    ("line", "status"), [("Dan dnf", "dnf"), ("Dan: QUIT", "quit"), ("Dan (DNS)", "did_not_start")]
)
def test_a_line_without_a_place_after_places_has_a_status(store, line, status):
    store.set_order("main", "dated")
    apply(admin := Admin(store), send(admin, f"Mario Kart\n{PLACES}{line}\n", started_at="2026-10-09"))
    (event,) = events(store)
    assert [(each.player, each.status) for each in event.entries][-1] == ("Dan", status)


@pytest.mark.parametrize(
    "text",
    [
        "Jonas", "Jonas\nJonas", "Jonas\n\nHenk", "Name\nJonas\nHenk", "Jonas 12\nHenk 10", "Jonas - Henk\nmika - Pipo",
        "Jonas vs Henk\nmika vs Pipo", "Winner: Jonas\nLoser: Henk", "Jonas\nHenk DNF", "Race,Driver,Position",
    ],
)  # fmt: skip
def test_other_pasted_texts_are_not_taken_for_lists_of_names(text):
    assert number_names(text) == text


def test_a_date_in_the_title_is_used_and_other_fields_are_checked(store):
    admin = Admin(store)
    apply(admin, send(admin, "Mario Kart 9 Oct\n" + PLACES))
    (event,) = events(store)
    assert (event.started_at.month, event.started_at.day, event.started_at <= datetime.now(UTC)) == (10, 9, True)
    dry = send(admin, "race;date;player;place\ns1;2026-10-02;Jonas;1\ns1;2026-10-02;Tobi;2\n", started_at="2026-10-05")
    assert "the date that you entered is not used" in words(dry.text)
    both = send(admin, PLACES, "w1.csv", pasted=PLACES)
    assert (both.status_code, "you chose a file and also pasted text" in words(both.text).replace("You", "you")) == (
        422,
        True,
    )
    span = send(admin, PLACES, every="monthly")
    assert (span.status_code, "for example 1w" in words(span.text)) == (422, True)
    assert ["every", "monthly"] in form_of(span.text, "/upload")[1]


TABLE = """event_id,started_at,player,position,club,link,steam_id
e1,2026-01-01,Jonas,1,Wolves,https://example.org/jonas,1
e1,2026-01-01,mika,2,Bears,nowhere,1
"""


@pytest.mark.parametrize("name", ["", "results.csv"])
def test_columns_of_a_pasted_or_uploaded_table_become_details(store, name):
    admin, refused = Admin(store), ("nowhere", "'steam:1' is already another player")
    dry = send(admin, TABLE, name)
    assert "Details of 2 players would change" in words(dry.text)
    assert store.player_details("main") == ()
    shown = words(dry.text), unquote(apply(admin, dry).headers["set-cookie"])
    assert [text for text in shown if not all(word in text for word in refused)] == []
    assert [(row.player, row.club) for row in store.player_details("main")] == [
        ("Jonas", "Wolves"),
        ("mika", "Bears"),
    ]
    again = send(admin, TABLE.replace("nowhere", "").replace("2,Bears,,1", "2,Bears,,"), name)
    assert "There is nothing to do" in words(again.text)


def test_a_table_pasted_as_a_correction_may_have_details(store):
    admin, row = Admin(store), {"event_id": "e1", "started_at": "2026-01-01"}
    store.submit("main", [row | {"player": name, "position": place} for place, name in enumerate(("Jonas", "mika"), 1)])
    action, fields = form_of(admin.get("/events/e1").text, "/events/e1")
    for club in ("Wolves", "Owls"):  # the second time, the event stays the same
        dry = admin.client.post(action, data=dict(fields) | {"pasted": TABLE.replace("Wolves", club)})
        assert "Details of" in words(dry.text)
        assert admin.send(dry, "/apply", reason="the club").status_code == 303
        assert [row.club for row in store.player_details("main")] == [club, "Bears"]


def test_the_order_is_set_with_forms_and_over_http(store):
    admin = Admin(store)
    entries = [{"player": each, "position": place} for place, each in enumerate("ab", 1)]
    with calling(store) as client:
        base = "/api/v1/pools"
        new = {"name": "own", "system": "elo", "order": "sequence"}
        assert client.post(base, json=new).json()["order"] == "sequence"
        assert client.post(base, json=new | {"name": "other", "order": "counted"}).status_code == 422
        began = datetime.now(UTC)
        for pool in ("own", "main"):
            assert client.post(f"{base}/{pool}/events", json={"event_id": "g1", "entries": entries}).status_code == 201
        own, dated = (client.get(f"{base}/{pool}/events/g1").json()["started_at"] for pool in ("own", "main"))
        assert own is None
        assert began <= datetime.fromisoformat(dated) <= datetime.now(UTC)
        seen = client.put(f"{base}/main/order?dry_run=true", json={"order": "sequence"})
        assert (seen.status_code, seen.json()["rerated"] > 0, store.order("main")) == (200, True, "dated")
        assert client.put(f"{base}/main/order", json={"order": "sequence"}).status_code == 200
        assert client.get(f"{base}/main").json()["order"] == "sequence"
        made = {"order": "dated", "started_at": "2026-01-31T00:00:00Z", "every": "1w"}
        assert client.put(f"{base}/own/order", json=made).status_code == 200
        assert client.get(f"{base}/own/events/g1").json()["started_at"] == "2026-01-31T00:00:00Z"
    with calling(store, "write") as writer:
        assert writer.put(f"{base}/main/order", json={"order": "dated"}).status_code == 403
    refused = admin.send(admin.get("/settings"), "/order", order="dated", every="1w")
    assert (refused.status_code, "needs the date of the first event" in words(refused.text)) == (422, True)
    dry = admin.send(admin.get("/settings"), "/order", order="dated", started_at="2026-02-01")
    assert admin.send(dry, "/apply").status_code == 303
    assert str(events(store)[0].started_at.date()) == "2026-02-01"
    created = admin.send(admin.client.get("/admin"), "/admin", name="karts", order="sequence")
    assert (created.status_code, store.order("karts")) == (303, "sequence")
    assert admin.client.get("/karts").status_code == 200
