"""Unusual requests: dates at the ends of the calendar, huge numbers, line breaks in names, and caches between."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from page_words import words
from races import rows
from starlette.testclient import TestClient
from test_admin import Admin, form_of
from test_tonight import enter

from podium.service import create_app
from podium.store import Store
from podium.systems import find

BASE = "/api/v1/pools"
HUGE = "9" * 5_000  # more digits than Python converts


@pytest.fixture
def store(tmp_path):
    with closing(Store(str(tmp_path / "podium.db"))) as opened:
        opened.create_pool("main", find("elo")(), public=True, time_zone="Asia/Tokyo")
        opened.create_pool("private", find("elo")())
        for pool in ("main", "private"):
            opened.submit(pool, rows(1, "abc"))
        opened.app = create_app(opened)
        yield opened


@pytest.fixture
def stranger(store):
    return TestClient(store.app, follow_redirects=False)


def send(person, path, **fields):
    """Send a form to a page about the pool."""
    token = dict(form_of(person.client.get("/sign-out").text, "/sign-out")[1])["token"]
    return person.client.post(f"/admin/main{path}", data={"token": token} | fields, follow_redirects=False)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{BASE}/main/leaderboard?at=0001-01-01T00:00%2B10:00", 422),
        (f"{BASE}/main/players/a/curve?since=9999-12-31T23:59-10:00", 422),
        (f"/admin/main/keys/{HUGE}/revoke", 405),
        (f"{BASE}/main/stakes?entrants=a&with=b%0Dc", 200),
        ("/main/predict?side=a%0Db,c&side=b", 200),
        ("/main/predict?side=a%0Ab,c&side=b", 200),
    ],
)
def test_a_stranger_gets_an_answer_to_an_unusual_address(stranger, path, status):
    assert stranger.get(path).status_code == status


@pytest.mark.parametrize("path", ["/keys/{}/revoke", "/webhooks/{}/delete", "/webhooks/{}/test"])
@pytest.mark.parametrize("number", [HUGE, "²", "one"])
def test_an_unknown_number_of_a_key_or_webhook_is_not_found(store, path, number):
    assert send(Admin(store), path.format(number)).status_code == 404


def test_a_form_with_a_huge_number_of_lines_is_rejected(store):
    answer = send(Admin(store), "/events/e1", column="player", lines=HUGE)
    assert (answer.status_code, "Nothing was saved" in words(answer.text)) == (422, True)


@pytest.mark.parametrize(
    ("date", "says"),
    [
        ("2099-01-01", "is more than a day in the future"),
        ("9999-12-31T23:59", "is not between the years 1900 and 2200"),
        ("0026-11-28", "is not between the years 1900 and 2200"),
    ],
)
def test_a_mistyped_year_of_a_result_is_rejected(store, date, says):
    answer = enter(Admin(store, "write"), {"a": 1, "b": 2}, date=date)
    assert (answer.status_code, store.event_count("main")) == (422, 1)
    assert f"{date} {says}" in words(answer.text)


def test_a_race_is_planned_for_years_ahead_but_not_for_thousands(store):
    organiser, later = Admin(store, "write"), datetime.now(UTC) + timedelta(days=800)
    assert send(organiser, "/races", name="A", starts=f"{later:%Y-%m-%dT%H:%M}").status_code == 303
    refused = send(organiser, "/races", name="B", starts="9999-12-31T23:59Z")
    assert (refused.status_code, "is not between the years" in words(refused.text)) == (422, True)


@pytest.mark.parametrize(
    "path", [BASE + "/{}", BASE + "/{}/export/results.csv", "/{}/calendar.ics", "/admin/{}/export"]
)
def test_proxies_do_not_share_an_answer_unless_it_says_so(store, path):
    answer = Admin(store).client.get(path.format("private"))
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "private, no-cache")


def test_a_proxy_may_weaken_the_tag_of_a_leaderboard(stranger):
    path = f"{BASE}/main/leaderboard"
    tag = stranger.get(path).headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", W/{tag}'):
        assert stranger.get(path, headers={"If-None-Match": known}).status_code == 304
    assert stranger.get(path, headers={"If-None-Match": f'W/"1{tag[1:]}'}).status_code == 200


def test_a_key_with_the_same_name_gets_its_own_pages(store):
    reader, admin = (Admin(store, role) for role in ("read", "admin"))
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE api_key SET name = 'ana'")
    known = {"If-None-Match": reader.client.get("/main/events/e1").headers["etag"]}
    assert reader.client.get("/main/events/e1", headers=known).status_code == 304
    assert "Correct this event" in words(admin.client.get("/main/events/e1", headers=known).text)


def test_a_link_does_not_tell_whether_a_private_pool_exists(stranger):
    answers = [stranger.get(f"/{pool}/report/x") for pool in ("private", "missing")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert len({answer.json()["detail"] for answer in answers}) == 1


def test_a_suggested_name_replaces_only_the_whole_name(store, stranger):
    store.submit("main", rows(2, ["Ana", "Ben"]))
    page = unescape(stranger.get("/main/predict", params={"side": ["An, Anders", '"d, e", Ben']}).text)
    assert "predict?side=Ana%2CAnders&side=%22d%2C+e%22%2CBen" in page


@pytest.mark.parametrize(("entrants", "status"), [(250, 200), (260, 422)])
def test_a_race_with_many_entrants_is_entered_from_a_file(store, entrants, status):
    names = [f"n{number}" for number in range(entrants)]
    store.plan_fixture("main", "next", starts_at=datetime.now(UTC) + timedelta(days=1), entrants=names)
    answer = Admin(store, "write").client.get("/main/tonight?race=next")
    assert answer.status_code == status
    assert ("Enter its result from a file" in words(answer.text)) is (status == 422)


def test_a_changed_race_keeps_its_teams_and_names_with_commas(store):
    start, admin = datetime(2026, 3, 1, 18, tzinfo=UTC), Admin(store)
    shown = [{"player": "Doe, Jane", "team": "x", "shared": {"car": "Lotus"}}, {"player": "Ben", "team": "y"}]
    planned = store.plan_fixture("main", "next", starts_at=start, entrants=shown)
    page = admin.get("/races/next")
    assert admin.send(page, "/races/next", starts="2026-03-03T03:00").status_code == 303
    assert store.fixture("main", "next") == replace(planned, starts_at=start + timedelta(days=1))
    lines = "Doe, Jane\nAnn, Zoe"
    assert admin.send(page, "/races/next", entrants=lines).status_code == 303
    assert [each.team for each in store.fixture("main", "next").entrants] == ["x", None, None]


def test_a_large_event_is_corrected_in_its_table(store, in_python):
    for number, size in enumerate((250, 260), start=2):
        store.submit("main", rows(number, [f"n{k}" for k in range(size)]))
    places = [Admin(store).client.get(f"/main/tonight?event=e{number}", follow_redirects=False) for number in (2, 3)]
    assert [answer.status_code for answer in places] == [200, 303]


def test_an_event_that_is_not_rated_has_no_card(store, stranger):
    store.submit("main", rows(2, "a"))
    store.submit("main", rows(3, "ab"))
    store.void("main", "e3")
    assert [stranger.get(f"/main/cards/e{number}.png").status_code for number in (1, 2, 3)] == [200, 404, 404]


def test_an_expired_form_says_that_nothing_was_saved(store):
    expired = send(Admin(store), "/apply", number="x")
    assert expired.status_code == 404
    assert "Nothing was saved. This has expired" in words(expired.text)
    assert "spelling" not in words(expired.text)
