"""Season pages: the champions, and the leaderboard at the end of each season."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from podium.ledger.leaderboard import Eligibility
from podium.service import create_app
from podium.service.site.pages import Extent, public_files, read_pages
from podium.store import Store
from podium.systems import find

START = datetime(2024, 1, 1, tzinfo=UTC)
NAME = 'autumn/"24"'


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store where Ana won before the first season, Ben won in it, and Cleo won later."""
    opened = Store(str(tmp_path_factory.mktemp("seasons") / "podium.db"))
    opened.create_pool("karts", find("elo")(k=60), public=True, order="dated")
    opened.create_pool("new", find("elo")(), public=True)
    for number in range(18):
        first = ("ana", "ben", "cleo")[number // 6]
        order = [first, *(name for name in ("ana", "ben", "cleo") if name != first)]
        start = {"event_id": f"race-{number}", "started_at": START + timedelta(days=number)}
        opened.submit("karts", [{**start, "player": name, "position": place} for place, name in enumerate(order, 1)])
    opened.begin_season("karts", NAME, START + timedelta(days=5.5), keep=0.0)
    opened.begin_season("karts", "winter", START + timedelta(days=11.5), keep=0.0)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def visitor(store):
    with TestClient(create_app(store)) as client:
        yield client


def test_a_seasons_final_leaderboard_precedes_the_next_season(store):
    before = store.board("karts", Eligibility(), START + timedelta(days=5))
    board = store.final_leaderboard("karts", NAME, before=True)
    assert [(row.rank, row.player, row.rating) for row in board.rows] == before.select(
        "rank", "player", "rating"
    ).rows()
    first, second, third = store.final_leaderboards("karts")
    assert [(each.season, each.is_before, each.rows[0].player) for each in (first, second, third)] == [
        ("winter", False, "cleo"), (NAME, False, "ben"), (NAME, True, "ana"),
    ]  # fmt: skip
    assert (first.until, second.until, third.since) == (None, START + timedelta(days=11.5), None)
    assert store.final_leaderboards("new") == ()


def test_pages_name_the_champions(visitor):
    _, *rows = visitor.get("/karts/seasons").text.partition("<tbody>")[2].split("<tr>")
    places = [re.findall("players/(ana|ben|cleo)", row) for row in rows]
    assert [names[0] for names in places] == ["cleo", "ben", "ana"]
    assert all(sorted(names) == ["ana", "ben", "cleo"] for names in places)
    assert "<bdi>ana</bdi> finished first with" in visitor.get("/karts/seasons/autumn%2F%2224%22/before").text
    page = visitor.get("/karts/seasons/autumn%2F%2224%22").text
    assert "<bdi>ben</bdi> finished first with" in page
    assert "<bdi>cleo</bdi> leads with" in visitor.get("/karts/seasons/winter").text
    assert "Season <bdi>winter</bdi>" in visitor.get("/karts").text
    assert "No season has begun" in visitor.get("/new/seasons").text
    assert "seasons" not in visitor.get("/new").text
    for unknown in ("/karts/seasons/spring", "/karts/seasons/winter/before"):
        assert visitor.get(unknown, headers={"Accept": "text/html"}).status_code == 404


def test_a_site_has_season_pages(store):
    files = public_files(store, ["karts"], Extent())
    addresses = [each for each in files if "seasons" in each]
    assert sorted(files[each].count("/") for each in addresses) == [1, 2, 2, 3]
    assert all("<h1>" in text for _, text in read_pages(store, ["karts"], addresses))
