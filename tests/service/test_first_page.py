"""The home page: its content, and how rarely it is rendered again."""

import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from page_words import lines, main_of, people, words
from races import rows

from podium.log.schema import kept
from podium.log.statements import DAY_US, instant, now
from podium.service.http import visitors
from podium.service.web import home
from podium.store import Store
from podium.store.backup import back_up
from podium.systems import find
from podium.views.races import fixtures


def test_the_home_page_shows_the_biggest_upset_of_the_week(sqlite_store):
    """Ben beats Ana for the first time, and later wins less unexpectedly. A week later, there is no upset."""
    for name in ("main", "old"):
        sqlite_store.create_pool(name, find("elo")(k=60), public=True)

    def play(number, order, days, pool="main"):
        start = datetime.now(UTC) - timedelta(days=days, minutes=60 - number)
        event = {"event_id": f"e{number}", "started_at": start}
        sqlite_store.submit(pool, [event | {"player": name, "position": k} for k, name in enumerate(order, 1)])

    for number in range(20):
        play(number, ("Ana", "Ben"), 2)
    assert home.find_headline(sqlite_store, "main").upset is None
    play(30, ("Ben", "Ana"), 1)
    play(40, ("Ben", "Ana"), 0.5)
    play(1, ("Cleo", "Dev"), 100, "old")
    headline = home.find_headline(sqlite_store, "main")
    found: Any = headline.upset
    assert (found.event.player, found.event.event_id) == ("Ben", "e30")
    assert found.excess > 0.8
    assert home.is_fresh(headline)
    old = replace(found, event=replace(found.event, started_at=found.event.started_at - timedelta(days=7)))
    assert not home.is_fresh(replace(headline, upset=old))
    with people(sqlite_store) as client:
        html = client.get("/").text
    page = words(html)
    assert "The least expected result of the last seven days" in page
    assert f"Ben won and gained {found.event.shown:.1f} points. The ratings gave Ben " in page
    assert [line[0] for line in lines(html, "quiet-pools")] == ["old 2 players · Elo"]


def test_an_upset_is_a_place_and_an_expected_number_of_opponents(sqlite_store):
    sqlite_store.create_pool("main", find("elo")(k=60), public=True)
    for number in range(20):
        sqlite_store.submit("main", rows(number, ["Ana", "Ben", "Cleo", "Dev"]))
    sqlite_store.submit("main", rows(30, ["Ana", "Dev", "Ben", "Cleo"]))
    result = sqlite_store.largest_gains("main", sqlite_store.event("main", "e30").started_at, 1)[0]
    found = home.upset(result, sqlite_store.explain("main", "e30", "Dev"))
    assert words(found.verdict).startswith("Dev came 2nd of 4 and gained ")
    assert re.fullmatch(r"The ratings expected Dev to beat 0\.\d of 3 opponents\.", words(found.expected))


def test_the_home_page_shows_each_pool(season, visitor):
    answer = visitor.get("/")
    html = main_of(answer)
    assert "least expected" not in html  # the season ended long ago
    assert "Bikes 30 riders · 60 events · Trials Fusion Zoë won. Chidi gained most, +67.3." in words(html)
    assert "quiet-pools" not in html
    top = [row.player for row in season.leaderboard("bikes", top=3).players]
    assert re.findall(r'class="name"><a [^>]*><bdi>(.*?)</bdi>', html)[:3] == top
    assert visitor.get("/", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    head = visitor.head("/")
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", answer.headers["etag"])
    program = visitor.get("/", headers={"Accept": "application/json"})
    assert program.json()["reference"] == "/api/docs"


def test_the_home_page_is_cached_until_something_is_logged(sqlite_store, monkeypatch):
    monkeypatch.setattr(home, "MIN_VALID_S", 0.0)
    monkeypatch.setattr(home, "VALID_FACTOR", 0.0)
    sqlite_store.create_pool("main", find("elo")(), public=True)
    sqlite_store.submit("main", rows(1, ["Ana", "Ben"]))
    sqlite_store.create_pool("gone", find("elo")(), public=True)
    monkeypatch.setattr(visitors, "KEY_CACHE_S", 3600.0)
    written = []
    page_text = home.page_text

    def write(*sent):
        written.append(sent)
        return page_text(*sent)

    monkeypatch.setattr(home, "page_text", write)
    with people(sqlite_store) as client:
        first = client.get("/", headers={"Cookie": "podium_done=Bought"})
        assert "Bought" not in first.text  # the page is the same for everybody
        assert client.get("/").text == first.text
        assert len(written) == 1
        assert "/gone" in first.text
        sqlite_store.close_pool("gone")
        sqlite_store.delete_pool("gone")
        assert "/gone" not in client.get("/").text  # the cache still lists the pool as public
        sqlite_store.submit("main", rows(2, ["Ben", "Ana"]))
        second = client.get("/")
        assert "2 events" in words(second.text)
        assert second.headers["etag"] != first.headers["etag"]
        sqlite_store.plan_fixture("main", "gp", starts_at=instant(now()))
        assert "Next: gp" in words(client.get("/").text)
        later = now() + 3 * DAY_US
        for module in (fixtures, home):
            monkeypatch.setattr(module, "now", lambda: later)
        assert "Next: gp" not in words(client.get("/").text)  # although nothing was logged
        monkeypatch.setattr(home, "MIN_VALID_S", 3600.0)
        monkeypatch.setattr(home, "MAX_VALID_S", 3600.0)
        sqlite_store.submit("main", rows(3, ["Ben", "Ana"]))
        assert "3 events" in words(client.get("/").text)
        sqlite_store.submit("main", rows(4, ["Ben", "Ana"]))
        assert "3 events" in words(client.get("/").text)
        assert len(written) == 6


def test_a_restart_shows_the_home_page_without_loading_pools(season, tmp_path):
    """Headlines are stored and read back unchanged. Only a pool with a newer entry is loaded."""
    back_up(str(season.engine.url.database), tmp_path / "copy.db")
    with closing(Store(str(tmp_path / "copy.db"))) as store:
        store.plan_fixture("bikes", "gp", starts_at=instant(now()), entrants=["Dragana", "Zoë"])
        names = [each.name for each in store.pools()]
        for name in names:
            known = home.find_headline(store, name)
            assert home.from_json(home.Headline, home.as_json(known)) == known
        with people(store) as client:
            before = client.get("/").text
            client.app.state.front_pages.keep()
    with closing(Store(str(tmp_path / "copy.db"))) as again:
        with people(again) as client:
            assert client.get("/").text == before
        assert not any(map(again.snapshots.holds, names))
        again.describe_pool("bikes", title="Cycles")
        with people(again) as client:
            assert "Cycles" in client.get("/").text
            client.app.state.front_pages.keep()
        assert [name for name in names if again.snapshots.holds(name)] == ["bikes"]
        again.anonymize("bikes", "Dragana")
        assert again.cache("bikes", "headline") is None
        with again.engine.connect() as connection:
            bodies = connection.execute(sa.select(kept.c.body).where(kept.c.name == "headline")).scalars().all()
        assert len(bodies) == len(names) - 1
        assert not any(b"Dragana" in body for body in bodies)


def test_an_outdated_headline_is_not_stored(sqlite_store):
    sqlite_store.create_pool("main", find("elo")(), public=True)
    edition = sqlite_store.edition("main")
    sqlite_store.submit("main", rows(1, ["Ana", "Ben"]))
    sqlite_store.keep_headline("main", edition, b"{}")
    assert sqlite_store.cache("main", "headline") is None
    sqlite_store.keep_headline("main", sqlite_store.edition("main"), b"{}")
    assert sqlite_store.cache("main", "headline").body == b"{}"
