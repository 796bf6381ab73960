"""From the printed link to a deleted pool in a browser: on a phone and a desktop, with and without scripts."""

import os

import pytest
from served import WAYS
from test_screens import SIDEWAYS, assert_readable

from podium.service.admin.first_link import first_path
from podium.store.keys import list_keys

RESULTS = "event_id,started_at,player,position\n" + "".join(
    f"race {k},2025-01-0{k},{player},{place}\n"
    for k in range(1, 6)
    for place, player in enumerate(("Ana", "Ben", "Cleo") if k % 2 else ("Cleo", "Ana", "Ben"), start=1)
)
PICTURES = os.environ.get("PODIUM_ORGANISER_PICTURES")


def look(page, name):
    assert_readable(page, name)
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def done(page):
    return page.locator("main > .note[role=status]").inner_text()


def fill(page, section, **values):
    """Fill in and send the form under a heading."""
    form = page.locator("section", has=page.get_by_role("heading", name=section, exact=True)).locator("form").first
    for name, value in values.items():
        field = form.locator(f"[name='{name}']")
        field.select_option(value) if field.evaluate("each => each.tagName") == "SELECT" else field.fill(value)
    form.locator("button.main").click()


def begin(page, store, look_at):
    """Create a pool, add results and change its system."""
    page.goto(first_path(store.engine))
    assert page.locator("input[readonly]").input_value().startswith("podium_")
    look_at(page, "1-first-link")
    page.click("main a[href='/admin']")
    look_at(page, "2-admin")
    fill(page, "Create a pool", name="karts", title="Kart night", system="elo", contact="nowhere", public="yes")
    assert "neither an email address" in page.inner_text("[role=alert]")
    look_at(page, "3-refused")
    fill(page, "Create a pool", contact="stewards@example.org")  # everything else is still filled in
    assert "karts is created and rated with" in done(page)
    look_at(page, "4-overview")
    page.click("main >> text=Enter results")
    page.fill("[name=pasted]", RESULTS)
    page.click("main form button.main")
    page.click("main form button.main")
    assert done(page) == "Saved. 5 events received."
    page.goto("/admin/karts/system")
    look_at(page, "5-system")
    fill(page, "Choose a system", system="glicko2")
    page.locator("section").nth(1).locator("button.main").click()
    assert "3 of today\N{RIGHT SINGLE QUOTATION MARK}s 3 ratings" in page.inner_text("main")
    look_at(page, "6-dry-run")
    page.click("main form button.main")
    assert "starting with the first event" in done(page)
    assert store.pool("karts").system.name == "glicko2"


def run(page, store, look_at):
    """Rename players, and create keys and webhooks."""
    page.goto("/admin/karts/players")
    look_at(page, "7-players")
    fill(page, "Rename a player", player="Ana", name="Ana B.")
    assert done(page) == "Ana is now called Ana B.."
    page.goto("/admin/karts/players")
    fill(page, "Anonymize a player", player="Ben", again="Ben")
    assert "All names are removed" in done(page)
    page.goto("/admin/karts/keys")
    fill(page, "Create a key", name="race server", opens="all")
    look_at(page, "8-keys")
    assert [each.pool for each in list_keys(store.engine)] == [None, None]
    page.goto("/admin/karts/webhooks")
    fill(page, "Send changes to an address", url="http://127.0.0.1:9/podium")
    look_at(page, "9-webhooks")
    page.click("button:has-text('Send a test')")
    assert "did not receive the test" in done(page)


def end(page, store, look_at):
    """Describe, export, close and delete the pool."""
    page.goto("/admin/karts/settings")
    fill(page, "Description", player_word="racer")
    assert "Saved" in done(page)
    page.goto("/admin/karts/webhooks")
    look_at(page, "12-deliveries")
    assert "Changed the description of the pool" in page.locator("details").text_content()
    page.goto("/admin/karts/settings")
    with page.expect_download() as export:
        page.click("a[href$='/export']")
    assert export.value.suggested_filename == "karts.jsonl"
    look_at(page, "10-settings")
    fill(page, "Close")
    look_at(page, "11-closed")
    fill(page, "Delete permanently", name="kart")
    assert "is not the pool's name" in page.inner_text("[role=alert]")
    fill(page, "Delete permanently", name="karts")
    assert done(page) == "The pool karts and all its data are deleted."
    assert store.pools() == []
    page.reload()
    assert page.locator("main > .note").count() == 0  # the message appears once


@pytest.mark.parametrize(("width", "script"), WAYS)
def test_an_organiser_can_do_everything_from_link_to_deletion(browser, new_site, width, script):
    context = browser.new_context(
        java_script_enabled=script, base_url=new_site.address, viewport={"width": width, "height": 844}
    )
    page = context.new_page()
    look_at = look if script else lambda *_: None  # axe is a script
    begin(page, new_site.store, look_at)
    run(page, new_site.store, look_at)
    end(page, new_site.store, look_at)
    context.close()


def test_organisers_pages_never_scroll_sideways(browser, large_browser, new_site):
    """This holds on the narrowest phone and with all text twice as large."""
    narrow = browser.new_page(base_url=new_site.address, viewport={"width": 320, "height": 700})
    large = large_browser.new_page(base_url=new_site.address, viewport={"width": 390, "height": 844})
    narrow.goto(first_path(new_site.store.engine))
    secret = narrow.locator("input[readonly]").input_value()
    assert narrow.evaluate(SIDEWAYS) <= 0
    narrow.goto("/admin")
    fill(narrow, "Create a pool", name="karts", title="A pool of a name that is long " * 3, system="adaptive")
    large.goto("/sign-in")
    large.fill("[name=key]", secret)
    large.click("button.main")
    for path in (
        "",
        "/karts",
        *(f"/karts/{each}" for each in ("players", "seasons", "system", "keys", "webhooks", "settings")),
    ):
        for page in (narrow, large):
            page.goto(f"/admin{path}")
            assert page.evaluate(SIDEWAYS) <= 0, path
    narrow.close()
