"""The pages' script: what it adds, pages without it, and rows that stay in place."""

import pytest
from races import event, rows
from test_screens import heard

from podium.store.keys import create_key
from podium.systems import find


@pytest.fixture(params=[True, False], ids=["script", "no-script"])
def with_script(request):
    return request.param


@pytest.fixture
def faults():
    """Return a list for the errors in a page's console."""
    return []


@pytest.fixture
def page(screens, with_script, faults):
    """Open a page, and check at the end that its console has no errors."""
    yield screens(1280, script=with_script, **heard(faults))
    assert faults == []


def test_a_player_is_found_from_the_home_page(page, with_script):
    page.goto("/")
    page.get_by_label("Find a player in any leaderboard").fill("zo")
    if with_script:
        page.locator("#listing").get_by_role("heading", name="4 players for").wait_for()
    else:
        page.get_by_role("button", name="Find").click()
    page.locator("#listing").get_by_role("row", name="Bikes").get_by_role("link", name="Zoë", exact=True).click()
    page.wait_for_url("**/bikes/players/Zo%C3%AB")


@pytest.mark.parametrize("with_script", [True], ids=["script"])
def test_the_leaderboard_returns_after_clearing_the_search(page):
    page.goto("/bikes")
    field = page.get_by_label("Find a rider in Bikes")
    field.fill("vikt")
    page.get_by_role("heading", name="1 rider for").wait_for()
    assert page.locator("#board").count() == 0
    field.fill("")
    page.locator("#board").wait_for()
    assert page.locator("#board tbody tr").count() == 30
    assert page.url.endswith("/bikes")


def test_the_next_rows_are_added_below(page, with_script):
    page.goto("/bikes/events")
    page.get_by_role("link", name="Next events").click()
    page.get_by_text("bikes-001").wait_for()
    assert page.locator("#board tbody tr").count() == (60 if with_script else 10)
    assert page.get_by_role("link", name="Next events").count() == 0


def test_another_players_reasons_have_an_address_and_a_way_back(page):
    page.goto("/bikes/events/bikes-058")
    page.locator("#why h2", has_text="Dragana, step by step").wait_for()
    page.get_by_role("link", name="Why did Chidi gain").first.click()
    page.wait_for_url("**/bikes/events/bikes-058/Chidi")
    page.locator("#why h2", has_text="Chidi").wait_for()
    assert page.locator("tr[aria-current]").inner_text().split()[1] == "Chidi"
    page.go_back()
    page.locator("#why h2", has_text="Dragana, step by step").wait_for()
    assert page.url.endswith("/bikes/events/bikes-058")


@pytest.mark.parametrize("with_script", [True], ids=["script"])
def test_a_new_result_is_announced_and_moves_no_row(page, faults, site):
    site.store.create_pool("live", find("elo")(), public=True)
    site.store.submit("live", rows(1, ["Ana", "Ben", "Cleo"]))
    while page.goto("/live").status != 200:  # the service caches public pools for a second
        faults.clear()
    board, news = page.locator("#board").inner_text(), page.locator("#news")
    assert news.is_hidden()
    key = {"Authorization": f"Bearer {create_key(site.store.engine, 'server', 'write')}"}
    for number, words in ((2, "1 new result. Show"), (3, "2 new results. Show")):
        sent = page.request.post("/api/v1/pools/live/events", headers=key, data=event(number, ["Cleo", "Ben", "Ana"]))
        assert sent.status == 201
        news.get_by_text(words).wait_for()
    assert page.locator("#board").inner_text() == board
    news.get_by_role("link", name="Show").click()
    page.locator("#board tbody tr").first.get_by_text("Cleo").wait_for()
    assert news.is_hidden()
