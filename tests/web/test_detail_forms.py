"""Details and starting ratings of players: their forms, the filter of the leaderboard, and the table of clubs."""

import pytest
from races import rows
from served import EVERY_WAY
from test_screens import assert_readable

from podium.store.keys import create_key
from podium.systems import find

CLUB = "Kart & <b>Club</b>"


@pytest.mark.parametrize("width", [390, 1280][: 2 if EVERY_WAY else 1])
def test_a_clubs_players_are_entered_filtered_and_ranked(site, screens, width):
    pool = f"clubs {width}"
    site.store.create_pool(pool, find("elo")(), public=True)
    for number in range(1, 4):
        site.store.submit(pool, rows(number, ("ana", "ben", "cleo", "dee")))
    site.store.set_details(pool, [{"player": player, "club": CLUB} for player in ("ben", "cleo")])
    page = screens(width)
    page.goto(f"/sign-in?next=/admin/{pool}/players")
    page.fill("[name=key]", create_key(site.store.engine, "Ann", "admin", pool))
    page.click("button.main")
    assert_readable(page)
    details = page.locator("form[action$='/details']")
    details.locator("[name=player]").fill("ana")
    details.locator("[name=club]").fill(CLUB)
    details.locator("button").click()
    page.get_by_text("The details of ana are stored").wait_for()
    start = page.locator("form[action$='/start']")
    start.locator("[name=player]").fill("eve")
    start.locator("[name=rating]").fill("1800")
    start.locator("button").first.click()
    page.get_by_role("main").get_by_text("eve").first.wait_for()
    assert_readable(page)
    page.goto(f"/{pool}")
    page.get_by_text("Filter").click()
    assert_readable(page)
    page.select_option("[name=club]", CLUB)
    page.click("form button:text-is('Show')")
    assert page.locator("#board tbody th a").all_inner_texts() == ["ana", "ben", "cleo"]
    assert_readable(page)
    page.click("a:text-is('Clubs')")
    assert_readable(page)
    assert page.locator("tbody th").inner_text() == CLUB
    page.get_by_text(CLUB).click()
    assert page.locator("[name=club]").input_value() == CLUB
