"""Players report and confirm results on the pages of their links: on a phone and a desk, with and without script."""

import pytest
from leagues import HOSTILE
from served import WAYS
from test_screens import assert_readable

from podium.store.keys import create_key
from podium.systems import find

ANA, BEN = "Ana", HOSTILE[10]  # a long name


@pytest.mark.parametrize(("width", "script"), WAYS)
def test_a_result_is_reported_and_confirmed(site, screens, width, script):
    pool = f"ladder {width} {script}"
    site.store.create_pool(pool, find("elo")(), title="Ladder <of> names", reports="50% 48h")
    links = {link.player: link.path for link in site.store.change_links(pool, "give", [ANA, BEN, HOSTILE[0]])}
    page = screens(width, script=script)
    page.goto(links[ANA])
    assert_readable(page, axe=script)
    if script:
        page.click(f".taps button:text-is('{ANA}')")
        page.fill("[data-name]", BEN)
        page.press("[data-name]", "Enter")
        page.locator("ol li").nth(1).wait_for()
        assert_readable(page)
    else:
        page.select_option("[name=place-0]", "1")
        page.fill("[name=name-1]", BEN)
        page.select_option("[name=place-1]", "2")
    page.click("button.go")
    page.get_by_text("Withdraw").wait_for()
    assert_readable(page, axe=script)
    page.goto(links[BEN])
    assert_readable(page, axe=script)
    page.click("button:text-is('Confirm')")
    page.locator(".tag:text-is('counted')").wait_for()
    assert_readable(page, axe=script)
    (event,) = site.store.event_list(pool).events
    assert event.winners == (ANA,)
    page.goto("/sign-in")
    page.fill("[name=key]", create_key(site.store.engine, "Ann", "admin", pool))
    page.click("button.main")
    page.goto(f"/admin/{pool}/reports")
    assert page.get_by_text(f"{site.address}{links[ANA]}").count() == 1
    assert_readable(page, axe=script)
