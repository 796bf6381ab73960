"""Championship standings of a pool: on its pages, in the API, in the client and in a static site."""

from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from podium.errors import ParameterError, UnknownError
from podium.service import create_app
from podium.service.site.folder import ResultsSource
from podium.service.site.pages import Extent, public_files, read_pages
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

START = datetime(2026, 1, 1, tzinfo=UTC)
STANDINGS = "/api/v1/pools/karts/standings"


def a_round(number, *names, **more):
    start = {"event_id": f"r{number}", "started_at": START + timedelta(days=7 * number), "title": f"Round <{number}>"}
    teams = {"ana": "Red & Co", "ben": "Red & Co", "cleo": "Blue"}
    return [
        {**start, "player": name, "position": place, "team": teams[name]} | more for place, name in enumerate(names, 1)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store with three rounds of a season led by ben, one earlier round, two planned and one cancelled."""
    opened = Store(str(tmp_path_factory.mktemp("standings") / "podium.db"))
    opened.create_pool("karts", find("elo")(), public=True, points_scheme=" 10,6,3  drop=1 +pole=1 teams=2 ")
    opened.create_pool("other", find("elo")(), public=True)
    opened.submit("karts", a_round(0, "cleo", "ana", "ben"))
    opened.begin_season("karts", "spring", START + timedelta(days=3), keep=1.0)
    opened.submit("karts", [*a_round(1, "ben", "ana", "cleo", awards="pole"), *a_round(2, "ben", "cleo", "ana")])
    opened.submit("karts", a_round(3, "ben", "ana", weight=2.0))
    for name, weeks in (("next", 4), ("last", 5), ("off", 6)):
        opened.plan_fixture("karts", name, starts_at=START + timedelta(weeks=weeks))
    opened.cancel_fixture("karts", "off")
    opened.submit("karts", a_round(9, "cleo", "ana", "ben"))
    opened.void("karts", "r9")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def visitor(store):
    with TestClient(create_app(store), headers={"Accept": "text/html"}) as client:
        yield client


def test_the_api_returns_the_standings_of_each_season(visitor, store):
    table = visitor.get(STANDINGS, headers={"Accept": "application/json"}).json()
    assert (table["season"], table["scheme"], table["counting"]) == ("spring", "10,6,3 drop=1 +pole=1 teams=2", 4)
    assert (table["remaining"], table["points_left"]) == (2, 22)
    assert [(row["name"], row["points"], row["reachable"], row["uncatchable"]) for row in table["players"]] == [
        ("ben", 41, 53, False), ("ana", 22, 41, False), ("cleo", 10, 32, False),
    ]  # fmt: skip
    assert table["players"][0]["lead"]["rounds"][0] == {"event_id": "r3", "points": 8}
    assert [(row["name"], row["points"]) for row in table["teams"]] == [("Red & Co", 63), ("Blue", 10)]
    before = visitor.get(STANDINGS, params={"season": "spring", "before": True, "top": 1}).json()
    assert [(row["name"], row["points"]) for row in before["players"]] == [("cleo", 10)]
    assert before["remaining"] == 0
    assert visitor.get(STANDINGS, params={"season": "winter"}).status_code == 404
    assert visitor.get("/api/v1/pools/other/standings").status_code == 404
    with pytest.raises(UnknownError, match="podium pool set other --points-scheme f1"):
        store.standings("other")


def test_pages_explain_the_standings(visitor):
    page = visitor.get("/karts/standings").text
    assert "<bdi>ben</bdi> leads with 41 points" in page
    assert "The best 4 rounds of each player count" in page
    assert "2 rounds to come, worth up to 22 points" in page
    assert "Red &amp; Co" in page
    assert 'aria-label="Round 1: Round &lt;1&gt;"' in page
    assert "<bdi>ben</bdi> is 19 points ahead of <bdi>ana</bdi>" in page
    assert "won the championship with 10 points" in visitor.get("/karts/standings/spring/before").text
    assert 'href="/karts/standings"' in visitor.get("/karts").text
    assert "standings" not in visitor.get("/other").text
    assert visitor.get("/other/standings").status_code == 404


def test_dropped_rounds_are_crossed_out(visitor, store):
    store.describe_pool("karts", points_scheme="10,6,3 best=2")
    page = visitor.get("/karts/standings").text
    assert '<s class="soft">10</s><span class="vh"> does not count</span>' in page
    store.describe_pool("karts", points_scheme="10,6,3 rounds=7")
    assert "4 rounds to come" in visitor.get("/karts/standings").text
    assert "to come" not in visitor.get("/karts/standings/spring/before").text
    store.describe_pool("karts", points_scheme="10,6,3 drop=1 +pole=1 teams=2")
    assert "<s " not in visitor.get("/karts/standings").text


def test_a_static_site_has_the_standings(store):
    files = public_files(store, ["karts"], Extent())
    addresses = [each for each in files if "standings" in each]
    assert sorted(files[each].count("/") for each in addresses) == [1, 2, 3]
    assert all("<h1>" in text for _, text in read_pages(store, ["karts"], addresses))
    source = ResultsSource(store.results("karts"), find("elo")(), points_scheme="10,6,3")
    with source.opened({}) as (view, pools, _):
        assert view.standings(*pools).players[0].name == "ben"


def test_a_pool_stores_its_points_scheme(store, tmp_path):
    with TestClient(
        create_app(store), headers={"Authorization": f"Bearer {create_key(store.engine, 'a', 'admin')}"}
    ) as admin:
        described = admin.patch("/api/v1/pools/other", json={"points_scheme": "f1-1991 best=3"}).json()
        assert described["points_scheme"] == "f1-1991 best=3"
        assert admin.patch("/api/v1/pools/other", json={"points_scheme": "f7"}).status_code == 422
        assert admin.get("/api/v1/pools/other/standings").json()["players"] == []
        assert admin.patch("/api/v1/pools/other", json={"points_scheme": ""}).json()["points_scheme"] == ""
        created = admin.post("/api/v1/pools", json={"name": "new", "system": "elo", "points_scheme": "f1"})
        assert created.json()["points_scheme"] == "f1"
    with pytest.raises(ParameterError, match="'f7' is not a points scheme"):
        store.describe_pool("other", points_scheme="f7")
    copy = Store(str(tmp_path / "copy.db"))
    copy.import_pool(store.export_pool("karts"))
    assert copy.standings("karts") == store.standings("karts")
    assert copy.verify() == []
    copy.close()
