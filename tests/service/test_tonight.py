"""The page for entering a result by tapping: stored results and rejected forms."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from races import rows
from test_admin import Admin, form_of, words

from podium.service import create_app
from podium.store import Store
from podium.support.words import shown_change, signed
from podium.systems import find


@pytest.fixture
def store(tmp_path):
    with closing(Store(str(tmp_path / "podium.db"))) as opened:
        opened.create_pool("main", find("elo")(), public=True)
        opened.submit("main", [row for number in range(1, 4) for row in rows(number, ["Jonas", "Mika", "Tobi"])])
        opened.submit("main", rows(4, ["Jonas", "Bo"]))
        opened.app = create_app(opened)
        yield opened


def fields_of(person, pool="main", **query):
    page = person.client.get(f"/{pool}/tonight", params=query)
    assert page.status_code == 200, words(page.text)
    return dict(form_of(page.text, "/tonight")[1])


def filled(fields, places, **others):
    """Return the fields with these places by name; names that are not offered go into the empty lines."""
    sent, line = dict(fields) | others, {fields.get(f"name-{k}"): k for k in range(int(fields["lines"]))}
    free = (k for k in range(int(fields["lines"])) if not fields.get(f"name-{k}"))
    for name, place in places.items():
        k = line[name] if name in line else next(free)
        sent |= {f"name-{k}": name, f"place-{k}": str(place)}
    return sent


def post(person, fields, pool="main"):
    return person.client.post(f"/{pool}/tonight", data=fields, follow_redirects=False)


def enter(person, places, pool="main", **others):
    return post(person, filled(fields_of(person, pool), places, **others), pool)


def newest(store, pool="main"):
    return store.event(pool, store.event_list(pool, top=1).events[0].event_id)


def test_the_most_frequent_names_are_offered_first(store):
    fields = fields_of(Admin(store, "write"))
    assert [fields[f"name-{k}"] for k in range(4)] == ["Jonas", "Mika", "Tobi", "Bo"]


def test_a_tapped_result_is_stored_and_can_be_undone_by_its_sender(store):
    person = Admin(store, "write")
    before = datetime.now(UTC) - timedelta(seconds=5)
    stored = enter(person, {"Tobi": 1, "Jonas": 2, "Mika": "dnf", "Bo": "did_not_start"}, title="Mario Kart")
    assert stored.status_code == 303, words(stored.text)
    entered = newest(store)
    assert (entered.title, entered.event_id) == ("Mario Kart", str(datetime.now(UTC).date()))
    assert before <= entered.started_at <= datetime.now(UTC)
    ends = {each.player: (each.position, each.status) for each in entered.entries}
    assert ends == {
        "Tobi": (1, "finished"),
        "Jonas": (2, "finished"),
        "Mika": (None, "dnf"),
        "Bo": (None, "did_not_start"),
    }
    page = person.client.get(stored.headers["location"])
    assert "Saved." in words(page.text)
    dry = person.send(page, "/apply")
    assert (dry.status_code, store.event("main", entered.event_id).status) == (200, "rated")
    assert person.send(dry, "/apply").status_code == 303
    assert store.event("main", entered.event_id).status == "voided"


def test_a_form_that_is_sent_twice_counts_once(store):
    person = Admin(store, "write")
    fields = filled(fields_of(person), {"Tobi": 1, "Jonas": 2})
    first, second = post(person, fields), post(person, fields)
    assert first.headers["location"] == second.headers["location"]
    assert store.event_count("main") == 5
    assert "already saved" in words(person.client.get(second.headers["location"]).text)


def test_a_sender_can_undo_only_a_new_result(store):
    writer, admin = Admin(store, "write"), Admin(store)
    fields = filled(fields_of(writer), {"Tobi": 1, "Jonas": 2})
    assert post(admin, fields | {"token": fields_of(admin)["token"]}).status_code == 303
    again = post(writer, fields)
    assert "Undo this" not in words(writer.client.get(again.headers["location"]).text)
    stored = enter(writer, {"Mika": 1, "Bo": 2})
    dry = writer.send(writer.client.get(stored.headers["location"]), "/apply")
    event_id = newest(store).event_id
    store.amend("main", [{"event_id": event_id, "player": name, "position": 1} for name in ("Mika", "Bo")])
    assert writer.send(dry, "/apply").status_code == 412  # its version has changed
    assert store.event("main", event_id).status == "rated"


def test_the_same_result_can_happen_twice_in_an_evening(store):
    person = Admin(store, "write")
    for number in (5, 6):
        assert enter(person, {"Tobi": 1, "Jonas": 2}).status_code == 303
        assert store.event_count("main") == number
    assert newest(store).event_id == f"{datetime.now(UTC).date()} #2"


def test_two_people_who_enter_results_at_once_lose_nothing(store):
    one, other = Admin(store, "write"), Admin(store, "write")
    mine, theirs = fields_of(one), fields_of(other)
    assert post(one, filled(mine, {"Tobi": 1, "Jonas": 2})).status_code == 303
    question = post(other, filled(theirs, {"Mika": 1, "Bo": 2}))
    assert question.status_code == 409
    assert "was saved in the meantime with another result" in words(question.text)
    again = dict(form_of(question.text, "/tonight")[1])
    assert again["event_id"].endswith(" #2")
    assert post(other, filled(again, {"Mika": 1, "Bo": 2})).status_code == 303
    assert store.event_count("main") == 6


def test_the_changes_are_shown_before_anything_is_stored(store):
    person = Admin(store, "write")
    places = {"Tobi": 1, "Jonas": 2, "Mika": 2}
    shown = enter(person, places, act="look")
    assert (shown.status_code, store.event_count("main")) == (200, 4)
    assert enter(person, places).status_code == 303
    for each in newest(store).changes:
        assert signed(shown_change(each.rating_before, each.rating, 1)) in words(shown.text)


def test_a_new_name_that_looks_like_a_known_one_is_asked_about_once(store):
    person = Admin(store, "write")
    question = enter(person, {"Jonass": 1, "Tobi": 2})
    assert "Did you mean Jonas ?" in words(question.text)
    assert store.event_count("main") == 4
    assert (
        post(person, filled(dict(form_of(question.text, "/tonight")[1]), {"Jonass": 1, "Tobi": 2})).status_code == 303
    )
    assert {each.player for each in newest(store).entries} == {"Jonass", "Tobi"}


@pytest.mark.parametrize(("teams", "ends"), [("teams", [1, 1, 2, 2]), ("draw", [1, 1, 1, 1])])
def test_players_with_the_same_number_are_a_team(store, teams, ends):
    assert enter(Admin(store, "write"), {"Tobi": 1, "Bo": 1, "Jonas": 2, "Mika": 2}, teams=teams).status_code == 303
    entries = {each.player: each for each in newest(store).entries}
    assert [entries[name].position for name in ("Tobi", "Bo", "Jonas", "Mika")] == ends
    assert entries["Tobi"].team == entries["Bo"].team != entries["Jonas"].team == entries["Mika"].team
    assert fields_of(Admin(store, "write"))["teams"] == "teams"  # as in the newest event


def test_times_are_entered_if_the_system_needs_them(store):
    store.create_pool("karts", find("stk")())
    person = Admin(store, "write")
    fields = filled(fields_of(person, "karts"), {"Ana": 1, "Ben": 2})
    names = {fields[f"name-{k}"]: k for k in range(3)}
    timed = fields | {f"value-{names['Ana']}": "1:23.5", f"value-{names['Ben']}": "soon"}
    refused = post(person, timed, "karts")
    assert refused.status_code == 422
    assert "Ben: 'soon' is not a time" in words(refused.text)
    assert post(person, timed | {f"value-{names['Ben']}": "84.25"}, "karts").status_code == 303
    assert [each.time_s for each in newest(store, "karts").entries] == [83.5, 84.25]


def test_the_page_names_measurements_it_cannot_take(store):
    store.create_pool("xon", find("xonstat-2015")())
    page = Admin(store, "write").client.get("/xon/tonight")
    assert "This pool needs more information about each player (played_s, duration_s)" in words(page.text)


def test_an_undated_pools_form_has_no_date(store):
    store.create_pool("counted", find("elo")(), order="sequence")
    person = Admin(store, "write")
    assert "date" not in fields_of(person, "counted")
    for number in (1, 2):
        assert enter(person, {"Ana": 1, "Ben": 2}, "counted").status_code == 303
        assert (newest(store, "counted").sequence, newest(store, "counted").event_id) == (number, f"#{number}")


def test_an_earlier_day_can_be_chosen(store):
    assert enter(Admin(store, "write"), {"Tobi": 1, "Jonas": 2}, date="2026-01-02").status_code == 303
    found = next(
        each for each in store.event_list("main").events if each.started_at.year == 2026 and each.started_at.day == 2
    )
    assert found.started_at == datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("places", "others", "says"),
    [
        ({"Tobi": 1}, {}, "A result needs at least two names"),
        ({}, {}, "A result needs at least two names"),
        ({"Tobi": 1, "Jonas": "last"}, {}, "Jonas: 'last' is not a place"),
        ({"Tobi": 1, "Jonas": "9" * 5_000}, {}, "is not a place"),
        ({"Tobi": 1, "Jonas": 2}, {"lines": "9" * 5_000}, "A result needs at least two names"),
        ({"Tobi": 0, "Jonas": 1}, {}, "Tobi: '0' is not a place"),
        ({"Tobi": 1, "Jonas": 2}, {"date": "tomorrow"}, "'tomorrow' is not a date"),
        ({"Tobi": 1, "a" * 201: 2}, {}, "has 201 characters"),
    ],
)
def test_invalid_values_are_rejected_and_stay_in_the_form(store, places, others, says):
    refused = enter(Admin(store, "write"), places, **others)
    assert refused.status_code == 422
    assert says in words(refused.text)
    assert store.event_count("main") == 4
    if places.get("Tobi") and "lines" not in others:
        assert "selected>1</option>" in refused.text


def test_only_an_admin_corrects_by_tapping_and_sees_a_preview(store):
    places = {"Tobi": 1, "Mika": 2, "Jonas": 3}
    writer, admin = Admin(store, "write"), Admin(store)
    assert post(writer, filled(fields_of(writer, event="e1"), places)).status_code == 403
    fields = fields_of(admin, event="e1")
    assert [fields[f"place-{k}"] for k in range(3)] == ["1", "2", "3"]
    seen = post(admin, filled(fields, places, act="look"))
    dry = post(admin, filled(fields, places))
    assert "Correct e1" in words(dry.text)
    assert admin.send(dry, "/apply", reason="two places were swapped").status_code == 303
    corrected = store.event("main", "e1")
    points = [signed(shown_change(each.rating_before, each.rating, 1)) for each in corrected.changes]
    assert all(f"data-change>{change}<" in seen.text for change in points)  # the points for the event itself
    assert [each.player for each in sorted(corrected.entries, key=lambda each: each.position)] == [
        "Tobi",
        "Mika",
        "Jonas",
    ]
    assert corrected.started_at < store.event("main", "e2").started_at


def test_an_event_with_more_than_places_is_corrected_in_its_table(store):
    timed = [{**row, "time_s": 60.0 + row["position"]} for row in rows(9, ["Ana", "Ben"])]
    store.submit("main", timed)
    table = Admin(store).client.get("/main/tonight", params={"event": "e9"}, follow_redirects=False)
    assert (table.status_code, table.headers["location"]) == (303, "/admin/main/events/e9")


def team_rows(**ends):
    event = {"event_id": "e9", "started_at": "2026-05-05T00:00:00Z"}
    return [{**event, "player": name, **end} for name, end in ends.items()]


@pytest.mark.parametrize("places", [{"Ana": 1, "Ben": 1, "Cleo": 2}, {"Ana": 2, "Ben": 1, "Cleo": 2}])
@pytest.mark.parametrize("teams", ["teams", "draw"])
def test_teams_stay_apart_when_their_event_is_corrected(store, places, teams):
    assert enter(Admin(store, "write"), places, teams=teams).status_code == 303
    entered, admin = newest(store), Admin(store)
    fields = fields_of(admin, event=entered.event_id)
    form = admin.client.get("/main/tonight", params={"event": entered.event_id}).text
    assert f'<option value="{teams}" selected>' in form
    dry = post(admin, filled(fields | {"teams": teams}, {}, title="Cup"))
    assert admin.send(dry, "/apply", reason="title").status_code == 303
    corrected = store.event("main", entered.event_id)
    assert (corrected.title, corrected.entries) == ("Cup", entered.entries)


@pytest.mark.parametrize(
    "ends",
    [
        {"Ana": {"position": 1, "team": "red"}, "Ben": {"position": 2, "team": "blue"}},
        {"Ana": {"position": 1, "team": "1"}, "Ben": {"status": "dnf", "team": "2"}},
        {"Ana": {"position": 1, "team": "1"}, "Ben": {"position": 1, "team": "2"}, "Cleo": {"position": 3}},
    ],
)
def test_an_event_whose_teams_are_not_places_is_corrected_in_its_table(store, ends):
    store.submit("main", team_rows(**ends))
    table = Admin(store).client.get("/main/tonight", params={"event": "e9"}, follow_redirects=False)
    assert (table.status_code, table.headers["location"]) == (303, "/admin/main/events/e9")


def test_readers_and_strangers_are_rejected(store):
    reader, writer = Admin(store, "read"), Admin(store, "write")
    assert reader.client.get("/main/tonight").status_code == 403
    assert "+ Result" not in words(reader.client.get("/main").text)
    assert "+ Result" in words(writer.client.get("/main").text)
    fields = filled(fields_of(writer), {"Tobi": 1, "Jonas": 2})
    assert post(writer, fields | {"token": "forged"}).status_code == 403
    writer.client.cookies.clear()
    assert writer.client.get("/main/tonight").status_code == 401
    assert post(writer, fields).status_code == 401
    assert store.event_count("main") == 4


def test_a_backdating_limit_applies_to_entered_results(store):
    person = Admin(store, "write", backdating_limit_s=86_400)
    assert enter(person, {"Tobi": 1, "Jonas": 2}, date="2026-01-02").status_code == 403
    assert enter(person, {"Tobi": 1, "Jonas": 2}).status_code == 303
