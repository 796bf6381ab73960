"""A pool's time zone applies to the dates on its pages and to typed dates."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from starlette.testclient import TestClient

from podium.errors import ParameterError
from podium.log.pools import PoolDescription
from podium.service import create_app
from podium.service.web.messages import announce_race
from podium.service.web.rendering import pool_header
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

LATE = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)  # already February in Berlin


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store(str(tmp_path_factory.mktemp("zones") / "podium.db"))
    opened.create_pool("karts", find("elo")(), public=True, order="dated", time_zone="Europe/Berlin")
    for number, start in enumerate((datetime(2026, 1, 30, tzinfo=UTC), LATE)):
        event = {"event_id": f"race {number}", "started_at": start}
        opened.submit("karts", [{**event, "player": name, "position": place} for place, name in enumerate("ab", 1)])
    opened.plan_fixture("karts", "next", starts_at=LATE + timedelta(days=60_000), title="", entrants=["a", "b"])
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def admin(store):
    with TestClient(create_app(store), base_url="https://podium.test", headers={"Accept": "text/html"}) as client:
        client.post("/sign-in", data={"key": create_key(store.engine, "key", "admin")})
        yield client


def words(client, path):
    return unescape(client.get(path).text).replace("\N{NO-BREAK SPACE}", " ")


def test_pages_show_times_in_the_zone_and_dates_unchanged(admin):
    assert "1 Feb 2026, 00:30 CET" in words(admin, "/karts/events/race%201")
    board = words(admin, "/karts")
    assert "1 Feb 2026" in board
    assert "31 Jan 2026" not in board
    assert ">30 Jan 2026</span>" in words(admin, "/karts/events/race%200")
    assert 'datetime="2026-01-31T23:30:00Z"' in words(admin, "/karts/events/race%201")
    assert admin.get("/api/v1/pools/karts/events/race%201").json()["started_at"] == "2026-01-31T23:30:00Z"


def test_messages_use_the_zone(store):
    (line, _) = announce_race(pool_header(store.pool("karts")), store.fixture("karts", "next"), 0).lines
    assert line.replace("\N{NO-BREAK SPACE}", " ") == "It starts on 12 May 2190, 01:30 CEST."


def test_a_race_is_planned_in_the_zone(store, admin):
    page = admin.get("/admin/karts/races").text
    assert "Start, Europe/Berlin" in page
    token = page.split('name="token" value="')[1].split('"')[0]
    sent = {"token": token, "race_id": "summer", "name": "", "starts": "2199-07-01T20:00", "entrants": "a"}
    assert admin.post("/admin/karts/races", data=sent, follow_redirects=False).status_code == 303
    assert store.fixture("karts", "summer").starts_at == datetime(2199, 7, 1, 18, tzinfo=UTC)
    assert 'value="2199-07-01T20:00"' in admin.get("/admin/karts/races/summer").text


def test_the_calendar_shows_months_and_the_effect_of_winning(store, admin):
    assert "), who would get <" in words(admin, "/karts/calendar").partition("Favourite: ")[2]
    admin.cookies.set("me", "a:karts")
    page = words(admin, "/karts/calendar")
    store.plan_fixture("karts", "other", starts_at=LATE + timedelta(days=60_001), title="", entrants=["b", "c"])
    other = words(admin, "/karts/calendar").partition("you are not entered")[2]
    assert "If you entered, your chance to win would be " in other
    store.cancel_fixture("karts", "other")
    admin.cookies.delete("me")
    effects = '. You would get <span class="gain">+'
    assert page.index("May 2190</h2>") < page.index(effects) < page.index('</span> for a win and <span class="loss">')


def test_tonight_is_the_day_in_the_zone(store):
    header = pool_header(store.pool("karts"))
    assert header.today == datetime.now(header.zone).date().isoformat()


def test_descriptions_of_earlier_versions_are_in_utc():
    assert PoolDescription(title="", contact="", player_word="", public=True).zone is UTC


@pytest.mark.parametrize("name", ["Mars/Base", "../etc", "Europe", "\0"])
def test_unknown_zones_are_rejected(name):
    with closing(Store("sqlite://")) as opened, pytest.raises(ParameterError, match="Europe/Berlin or UTC"):
        opened.create_pool("karts", find("elo")(), time_zone=name)
