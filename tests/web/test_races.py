"""Race pages: before the result each place's stakes, then the event with the expected change."""

from datetime import UTC, datetime, timedelta
from unittest import mock
from urllib.parse import quote

import pytest
from html_tree import tree
from leagues import HOSTILE
from races import rows
from served import EVERY_WAY, WAYS
from test_first_evening import look as look_at

from podium.pages.numbers import percent
from podium.service.http import visitors
from podium.store.keys import create_key
from podium.support.words import shown_change, signed
from podium.systems import find, make_system

SOON = datetime.now(UTC) + timedelta(hours=3)
FIELD = ["Ana", "Béla", "Cleo", "Dov", "Eve", "Fay", "Gus"]


@pytest.fixture(scope="module")
def pool(site):
    """Return a pool for the races in this file."""
    site.store.create_pool("untimed", find("stk")(), public=True)
    site.store.create_pool("races", find("glicko2")(), public=True)
    for number in range(8):
        site.store.submit("races", rows(number, FIELD[number % 3 :] + FIELD[: number % 3]))
    show_new_pools(site, "/races")
    return site.store


def show_new_pools(site, path):
    """Wait until the service, which caches public pools for a second, knows a new pool."""
    with mock.patch.object(visitors, "KEY_CACHE_S", 0.0):
        assert site.get(path)[0] == 200


def text_of(site, path, status=200):
    found, _, text = site.get(path)
    assert found == status, text[-500:]
    return " ".join(tree(text).first("main").text.split())


def test_a_race_page_from_the_plan_to_the_explanation(site, pool):
    pool.plan_fixture("races", "e50", starts_at=SOON, title="Grand Prix", entrants=FIELD[:4])
    assert "Grand Prix" in text_of(site, "/races")
    assert "Grand Prix" in text_of(site, "/races/calendar")
    found = pool.stakes("races", fixture="e50", player="Cleo")
    before = text_of(site, "/races/matches/e50?player=Cleo")
    headline = found.headline()
    assert f"Cleo: {headline[0].lower()}{headline[1:]}" in before
    assert found.outlook(whom="Cleo") in before
    assert "Entrants missing from the result count as not having started." in before
    pool.plan_fixture("races", "e50", entrants=FIELD[:5], starts_at=SOON + timedelta(hours=1))  # a late entrant
    assert "5 players" in text_of(site, "/races/matches/e50")
    joined = text_of(site, "/races/matches/e50?player=Gus")
    assert "Gus is not entered yet. The table shows what would happen if they took part." in joined
    pool.cancel_fixture("races", "e50")
    assert "cancelled" in text_of(site, "/races/matches/e50")
    pool.plan_fixture("races", "e50")
    pool.submit("races", rows(50, [FIELD[k] for k in (3, 2, 0, 1)]))  # Eve did not start
    _, _, text = site.get("/races/matches/e50?player=Cleo")
    assert 'id="why"' in text  # the event's page, after a redirect
    assert "Expected for" in text_of(site, "/races/events/e50/Cleo")
    assert "Eve" not in {change.player for change in pool.event("races", "e50").changes}
    assert pool.verify("races") == []


def test_the_expected_change_is_that_of_the_place_before_the_race(site, pool):
    pool.submit("races", rows(60, FIELD))
    before = pool.event_story("races", "e60", "Béla").stakes_before
    line = next(each for each in before.lines() if each["place"] == 2.0)
    expected = shown_change(line["rating"] - line["delta"], line["rating"], before.digits)
    change = next(each for each in pool.event("races", "e60").changes if each.player == "Béla")
    came = shown_change(change.rating_before, change.rating, before.digits)
    words = f"Expected for 2nd place, a chance of {percent(line['chance'])}: {signed(expected)}."
    words += f" It turned out to be {signed(came)}"
    assert " ".join(words.split()) in text_of(site, "/races/events/e60/B%C3%A9la")


def test_a_match_page_says_that_missing_players_have_quit(site, pool):
    pool.register("races", "lobby", FIELD[:3])
    assert "Players missing from the result count as having quit." in text_of(site, "/races/matches/lobby")
    pool.submit("races", rows(70, FIELD[:2]), match_ids={"e70": "lobby"})
    _, _, text = site.get("/races/matches/lobby")
    assert "e70" in text


def test_a_race_page_explains_missing_stakes(site, pool):
    site.store.plan_fixture("untimed", "gp", starts_at=SOON, entrants=["a", "b", "c"])
    assert "has no earlier race" in text_of(site, "/untimed/matches/gp")
    site.store.plan_fixture("untimed", "alone", starts_at=SOON, entrants=["a"])
    text_of(site, "/untimed/matches/alone")
    text_of(site, "/untimed/matches/alone?player=a", 422)
    text_of(site, "/races/matches/nothing", 404)


def test_the_calendar_can_be_imported(site, pool):
    pool.plan_fixture("races", "long", starts_at=SOON, title="Größter Preis, " * 10 + "Ende; ja")
    status, headers, text = site.get("/races/calendar.ics")
    assert (status, headers["Content-Type"]) == (200, "text/calendar; charset=utf-8")
    lines = text.encode().split(b"\r\n")
    assert max(map(len, lines)) <= 75
    assert lines[0] == b"BEGIN:VCALENDAR"
    assert text.count("BEGIN:VEVENT") == len(pool.fixtures("races"))
    unfolded = text.replace("\r\n ", "")
    assert "SUMMARY:" + "Größter Preis\\, " * 10 + "Ende\\; ja" in unfolded


def test_hostile_names_are_escaped_on_race_pages(site):
    _, _, text = site.get("/names/matches/tonight")
    for name in HOSTILE[:3]:
        assert f"<script>{name}" not in text


def test_the_slider_matches_the_tables_line(site, browser):
    page = browser.new_page(base_url=site.address, viewport={"width": 390, "height": 844})
    page.goto("/bikes/matches/tonight")
    slider = page.locator("input[type=range]")
    slider.focus()
    page.keyboard.press("Home")
    first = page.locator("tr[data-place='0']")
    assert slider.get_attribute("aria-valuetext") == first.get_attribute("data-words")
    assert page.locator("[data-stakes] .big").inner_text() == first.locator("td").nth(1).inner_text()
    assert page.locator("[data-stakes] [role=status]").inner_text() == first.get_attribute("data-words")
    assert "me" in (first.get_attribute("class") or "")
    page.close()


def test_without_scripts_the_table_replaces_the_slider(site, browser):
    context = browser.new_context(base_url=site.address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/bikes/matches/tonight")
    assert page.locator("tr[data-place]").count() == 7
    assert not page.locator("input[type=range]").is_visible()
    page.get_by_label("Choose your name").fill("Nobody yet")
    page.get_by_role("button", name="What would it do to my rating?").click()
    assert "Nobody yet is not entered yet" in page.locator("main").inner_text()
    context.close()


@pytest.mark.parametrize("width", [320, 390][: 2 if EVERY_WAY else 1])
def test_race_pages_show_cars_and_sides(site, browser, width):
    name, rallye = f"cars {width}", [f"{player} Longname-Doublebarrel" for player in FIELD[:3]]
    site.store.create_pool(name, make_system("adaptive", {"shared": "car,tyres"}), public=True)
    for number in range(8):
        results = rows(number, rallye[number % 3 :] + rallye[: number % 3])
        site.store.submit(name, [row | {"shared:car": "Ferrari", "shared:tyres": "soft"} for row in results])
    entrants = [
        {"player": rallye[0], "shared": {"car": "Ferrari", "tyres": "soft"}, "side": "home"},
        {"player": rallye[1], "shared": {"car": "<b>Größtmöglicherennwagenhersteller</b>"}},
        rallye[2],
    ]
    site.store.plan_fixture(name, "gp", starts_at=datetime.now(UTC), entrants=entrants)
    key = create_key(site.store.engine, "reader", "read", name)
    page = browser.new_page(base_url=site.address, viewport={"width": width, "height": 844})
    page.goto(f"/sign-in?next=/{name}/matches/gp")
    page.fill("[name=key]", key)
    page.click("button.main")
    given = ["Ferrari, soft, home", "<b>Größtmöglicherennwagenhersteller</b>"]
    assert sorted(page.locator("section[aria-labelledby=field] .name small").all_inner_texts()) == sorted(given)
    look_at(page, f"before {width}")
    site.store.post_places(name, "gp", rallye[:2])
    page.goto(f"/{name}/matches/gp")
    assert page.locator("section[aria-labelledby=now] .name small").all_inner_texts() == given
    look_at(page, f"during {width}")
    site.store.submit(name, rows(8, ["Newcomer Longname-Doublebarrel", rallye[0]]))
    page.goto(f"/{name}?all=true&active=any")
    row = page.locator(".name", has_text="Newcomer")
    assert row.locator(".tag").bounding_box()["y"] > row.locator("bdi").bounding_box()["y"] + 10  # it is below
    page.close()


@pytest.fixture(scope="module")
def tonight(site, pool):
    """Plan a race that starts now, and return a key that can write."""
    pool.plan_fixture("races", "tonight", starts_at=datetime.now(UTC), title="Tonight", entrants=FIELD[:3])
    return create_key(site.store.engine, "organiser", "write", "races")


def plan_and_change(page, key, race_id, look):
    """Plan a race, add an entrant, cancel it, and plan it again."""
    page.goto("/sign-in?next=/admin/races/races")
    page.fill("[name=key]", key)
    page.click("button.main")
    look()
    if not page.get_by_label("Event ID").is_visible():
        page.get_by_text("More", exact=True).click()
    page.get_by_label("Event ID").fill(race_id)
    page.get_by_label("Title").fill("Sprint")
    page.get_by_label("Start, UTC").fill(f"{datetime.now(UTC):%Y-%m-%dT%H:%M}")
    page.get_by_label("Entrants, one name per line").fill("\n".join(FIELD[:4]))
    page.get_by_role("button", name="Plan").click()
    assert "What each place would be worth" in page.inner_text("main")
    look()
    page.get_by_role("link", name="Change this race").click()
    page.get_by_label("Entrants, one name per line").fill("\n".join(FIELD[:5]))  # a late entrant
    page.get_by_role("button", name="Save").click()
    assert "5 players" in page.inner_text("main")
    page.get_by_role("link", name="Change this race").click()
    page.get_by_role("button", name="Cancel this race").click()
    assert "cancelled" in page.inner_text("main")
    page.get_by_role("link", name="Change this race").click()
    page.get_by_role("button", name="Save").click()  # the race is planned again


@pytest.mark.parametrize(("width", "script"), WAYS)
def test_an_organiser_runs_a_race_in_the_browser(site, pool, tonight, browser, width, script):
    """From the plan to the explanation, on a phone and a desktop, with and without scripts."""
    race_id = f"run-{width}-{script}"
    context = browser.new_context(
        base_url=site.address, viewport={"width": width, "height": 844}, java_script_enabled=script
    )
    page = context.new_page()

    def look():
        if script:
            look_at(page, page.url)

    plan_and_change(page, tonight, race_id, look)
    assert page.url == f"{site.address}/races/matches/{race_id}"
    page.get_by_role("link", name="Enter places").click()
    look()
    logged = pool.version("races")
    if script:
        for name in ("Cleo", "Ana", "Dov"):
            page.click(f".taps button:text-is('{name}')")
        page.click("[aria-label='Take Ana out']")
        page.click(".taps button:text-is('Ana')")
        page.click(".pick label:text-is('quit')")
        page.click(".taps button:text-is('Béla')")
        page.locator("ol li", has_text="Béla").locator("[data-change]:not(:empty)").wait_for()  # the last response
    else:
        for name, place in (("Cleo", "1"), ("Dov", "2"), ("Ana", "3"), ("Béla", "dnf")):
            page.locator(f"li:has-text('{name}') select").select_option(place)
        page.click("[data-look]")
    assert pool.places("races", race_id).out == ("Béla",)
    assert pool.places("races", race_id).places == ("Cleo", "Dov", "Ana")
    assert pool.version("races") == logged  # places are not logged
    look()
    page.goto(f"/races/matches/{race_id}?player=Dov")
    seen = page.inner_text("main")
    assert "If it ended now" in seen
    assert "Ratings change only when the result is in." in seen
    assert page.locator("section[aria-labelledby=now] tbody tr").first.inner_text().split()[:2] == ["1", "Cleo"]
    look()
    page.goto(f"/races/tonight?race={race_id}")
    page.click("button.go")
    page.wait_for_url(f"**/events/{race_id}*")
    page.goto(f"/races/matches/{race_id}?player=Dov")
    assert page.url.startswith(f"{site.address}/races/events/{race_id}")
    page.goto(f"/races/events/{race_id}/Dov")
    assert "Expected for 2nd place" in page.inner_text("#why")
    look()
    assert pool.verify("races") == []
    context.close()


def test_current_places_appear_without_a_reload(site, pool, tonight, browser):
    page = browser.new_page(base_url=site.address)
    page.clock.install()
    page.goto("/races/matches/tonight?player=Ana")
    assert page.locator("#now").count() == 0
    pool.post_places("races", "tonight", ["Béla", "Ana"])
    page.clock.run_for(2_000)
    page.wait_for_selector("#now")
    assert "Béla" in page.locator("section[aria-labelledby=now] tbody tr").first.inner_text()
    assert page.locator("tr[data-place]", has_text="now").locator("th").inner_text() == "2nd"
    live = page.query_selector("[data-live]")
    with page.expect_response("**/tonight?*"):
        page.clock.run_for(2_000)
    assert live.evaluate("node => node.isConnected")  # without changes the page keeps the selection
    ends = pool.running_race("races", "tonight").likely
    assert {*ends.values()} <= {3, 4}  # after the two players with places
    for player, place in ends.items():
        page.goto(f"/races/matches/tonight?player={player}")
        assert page.locator("tr[data-place]", has_text="likely end").get_attribute("data-place") == str(place - 1)
    page.close()


def test_team_mates_share_current_places_and_results(site, browser):
    """A duel is won or lost, and the result has the planned teams and sides."""
    store, now = site.store, datetime.now(UTC)
    store.create_pool("sides", find("openskill-pl")(), public=True)
    store.submit("sides", rows(0, FIELD[:4]))
    show_new_pools(site, "/sides")
    planned = zip(FIELD[:4], "xyxy", 2 * ["home", "away"], strict=True)
    teams = [{"player": name, "team": team, "side": side} for name, team, side in planned]
    store.plan_fixture("sides", "four", starts_at=now, entrants=teams)
    store.plan_fixture("sides", "two", starts_at=now, entrants=FIELD[:2])
    ana, bela, cleo, dov = FIELD[:4]
    store.post_places("sides", "four", [bela, dov, ana])
    store.post_places("sides", "two", [bela, ana])
    for race_id in ("four", "two"):
        root = tree(site.get(f"/sides/matches/{race_id}?player={quote(ana)}")[2])
        lines = [row for row in root.every("tr") if "data-place" in row.attributes]
        assert [row.nodes[0].text for row in lines if row.text.endswith("now")] == ["loss"]
        assert lines[-1].nodes[0].text == "loss"
    places = next(
        each
        for each in tree(site.get("/sides/matches/four")[2]).every("section")
        if each.attributes.get("aria-labelledby") == "now"
    )
    assert [row.text[0] for row in places.first("tbody").every("tr")] == ["1", "1", "2", "2"]
    assert [row.first("small").text for row in places.first("tbody").every("tr")] == 2 * ["y, away"] + 2 * ["x, home"]
    store.plan_fixture("sides", "open", starts_at=now)
    assert "missing" not in tree(site.get("/sides/matches/open")[2]).text
    page = browser.new_page(base_url=site.address)
    page.goto("/sign-in?next=/sides/tonight%3Frace%3Dfour")
    page.fill("[name=key]", create_key(store.engine, "organiser", "write", "sides"))
    page.click("button.main")
    page.get_by_label(f"Remove {ana}, {cleo}").click()
    page.get_by_role("button", name=f"{ana}, {cleo}", exact=True).first.click()
    page.click("button.go")
    page.wait_for_url("**/events/four*")
    entries = store.event("sides", "four").entries
    assert {(each.player, each.position, each.team, each.side) for each in entries} == {
        (bela, 1, "y", "away"), (dov, 1, "y", "away"), (ana, 2, "x", "home"), (cleo, 2, "x", "home"),
    }  # fmt: skip
    page.close()
