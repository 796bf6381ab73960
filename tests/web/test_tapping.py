"""Entering a result by tapping names: on a phone and a desktop, with and without scripts."""

import pytest
from races import rows
from served import WAYS
from test_screens import assert_readable

from podium.store.keys import create_key
from podium.systems import find

NAMES = ["Tobi", "lord farquaad of the swamp", "Ayşe", "Jonas", "Mika", "Kim", "Bo", "Pipo", "דנה"]
NIGHT = ["Kim", "Bo", "Tobi", "Ayşe", "Jonas", "Mika", "Pipo", "lord farquaad of the swamp"]


@pytest.fixture(scope="module")
def key(site):
    """Return a key that can enter results, in a pool with nine names and in an empty one."""
    site.store.create_pool("night", find("glicko2")(), title="Thursday Game Night", public=True)
    site.store.submit("night", [row for number in range(1, 8) for row in rows(number, NAMES)])
    site.store.create_pool("doubles", find("elo")(), public=True)
    site.store.create_pool("first-night", find("elo")(), public=True)
    return create_key(site.store.engine, "organiser", "write")


def sign_in(page, key, pool):
    page.goto(f"/sign-in?next=/{pool}")
    page.fill("[name=key]", key)
    page.click("main button.main")
    page.wait_for_url(f"**/{pool}")


def newest(site, pool):
    stored = site.store.event(pool, site.store.event_list(pool, top=1).events[0].event_id)
    return {each.player: each.position for each in stored.entries}


@pytest.mark.parametrize("width", [390, 1280])
def test_fourteen_taps_enter_and_share_eight_names(site, key, screens, width):
    page, taps = screens(width), 0

    def tap(selector):
        nonlocal taps
        page.locator(selector).first.click()
        taps += 1

    sign_in(page, key, "night")
    page.goto("/")
    tap("main a[href='/night']")
    tap("a.add")
    for name in NIGHT:
        tap(f".taps button:text-is('{name}')")
    page.locator("ol li").last.locator("[data-change]:not(:empty)").wait_for()  # only the last response contains it
    assert_readable(page)
    shown = {
        row.locator("bdi").inner_text(): row.locator("[data-change]").inner_text()
        for row in page.locator("ol li").all()
    }
    tap("button.go")
    page.wait_for_url("**/night/events/**")
    assert newest(site, "night") == {name: place for place, name in enumerate(NIGHT, 1)}
    assert {name: page.locator(f"tr:has(th:has-text('{name}')) .last").first.inner_text() for name in NIGHT} == shown
    assert_readable(page)
    tap("[data-share]")
    assert taps <= 14


def test_ties_quits_moves_and_new_names_can_be_entered(site, key, screens):
    page = screens(390)
    sign_in(page, key, "night")
    page.goto("/night/tonight")
    for name in ("Kim", "Bo", "Tobi"):
        page.click(f".taps button:text-is('{name}')")
    page.click("[aria-label='Tie with the one above: Tobi']")
    page.fill("[data-name]", "Waldemar")
    page.click(".taps .new")
    page.click("[aria-label='Move Waldemar up']")
    page.click("label:has-text('quit')")
    page.click(".taps button:text-is('Mika')")
    page.click("[aria-label='Take Bo out']")
    page.click("button.go")
    page.wait_for_url("**/night/events/**")
    assert newest(site, "night") == {"Kim": 1, "Waldemar": 2, "Tobi": 2, "Mika": None}


def test_a_row_can_be_dragged_by_its_number(site, key, screens):
    page = screens(390)
    sign_in(page, key, "night")
    page.goto("/night/tonight")
    for name in ("Kim", "Bo", "Tobi"):
        page.click(f".taps button:text-is('{name}')")
    page.locator("ol").evaluate("list => list.scrollIntoView()")
    last, first = (page.locator("ol .grip").nth(k).bounding_box() for k in (2, 0))
    page.mouse.move(last["x"] + 5, last["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, first["y"] + 10, steps=8)
    page.mouse.up()
    assert page.locator("ol bdi").all_inner_texts() == ["Tobi", "Kim", "Bo"]


def test_entrants_of_a_race_can_be_tapped(site, key, screens):
    page = screens(390)
    sign_in(page, key, "night")
    page.goto("/admin/night/races")
    page.fill("[name=entrants]", "Wanda\nBo")
    for name in ("Kim", "Bo", "Tobi"):
        page.click(f"[data-names] :text-is('{name}')")
    assert page.input_value("[name=entrants]") == "Wanda\nKim\nTobi"
    assert page.locator("[data-names] [aria-pressed=true]").all_inner_texts() == ["Tobi", "Kim"]
    assert_readable(page)


def test_a_correction_marks_its_differences(site, key, screens):
    page = screens(390)
    sign_in(page, create_key(site.store.engine, "steward", "admin"), "night")
    site.store.submit("night", rows(70, NAMES))
    page.goto("/night/tonight?event=e70")
    assert page.locator(".taps").is_hidden()  # all players of the event are in the list
    for name, tool in ((NAMES[0], "Move Tobi down"), ("Mika", "Mika quit"), ("Bo", "Remove Bo")):
        page.click(f"ol .who:has-text('{name}')")
        page.click(f"ol [aria-label='{tool}']")
    assert page.locator("ol small:has-text('was')").all_inner_texts()[:2] == ["was 2", "was 1"]
    assert page.locator("ol li").last.inner_text().split() == ["Removed:", "Bo"]
    assert_readable(page)


def test_doubles_are_entered_in_pairs(site, key, screens):
    page = screens(390)
    sign_in(page, key, "doubles")
    page.goto("/doubles/tonight")
    page.select_option("[name=teams]", "teams")
    for name in ("Ana", "Ben", "Cleo", "Dan"):
        page.fill("[data-name]", name)
        page.press("[data-name]", "Enter")
    assert_readable(page)
    page.click("button.go")
    page.wait_for_url("**/doubles/events/**")
    assert newest(site, "doubles") == {"Ana": 1, "Ben": 1, "Cleo": 2, "Dan": 2}


@pytest.mark.parametrize(("width", "script"), WAYS)
def test_the_page_works_at_each_width_with_and_without_scripts(site, key, screens, width, script):
    page = screens(width, script=script)
    sign_in(page, key, "night")
    page.goto("/night/tonight")
    assert_readable(page, axe=script)
    if script:
        page.click(".taps button:text-is('Kim')")
        page.click(".taps button:text-is('Bo')")
    else:
        page.locator("li:has-text('Kim') select").select_option("1")
        page.locator("li:has-text('Bo') select").select_option("2")
        page.click("[data-look]")
        assert page.locator("li:has-text('Kim') [data-change]").inner_text()
    assert_readable(page, axe=script)
    page.click("button.go")
    page.wait_for_url("**/night/events/**")
    assert newest(site, "night") == {"Kim": 1, "Bo": 2}
    page.click("text=Undo this")
    page.click("main form button.main")
    assert "Undone" in page.inner_text("main .note")


def test_an_empty_pool_accepts_pasted_names(site, key, screens):
    page = screens(390)
    sign_in(page, key, "first-night")
    page.goto("/first-night/tonight")
    assert_readable(page)
    page.fill("[name=pasted]", "1. Jonas\n2. mika\n3. Pipo\n")
    page.click("details button.main")
    page.click("main form button.main:has-text('Save results')")
    page.wait_for_url("**/first-night/events**")
    page.goto("/first-night/tonight")
    assert sorted(page.locator(".taps button").all_inner_texts()) == ["Jonas", "Pipo", "mika"]
