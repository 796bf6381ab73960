"""Signing in and correcting results in a browser, with and without scripts."""

import pytest
from races import rows
from served import EVERY_WAY
from test_screens import assert_readable

from podium.service.http import keys
from podium.store.keys import create_key, list_keys, revoke_key
from podium.systems import find

POOL = "stewards' cup"  # a private pool whose name needs quoting
ADDRESS = "/stewards'%20cup"
ADMIN_PAGES = (
    "",
    "/upload",
    "/events/e3",
    "/players",
    "/seasons",
    "/log",
    "/system",
    "/keys",
    "/webhooks",
    "/settings",
    "/reports",
)


@pytest.fixture(scope="module")
def cup(site):
    """Create a small private pool, and return an admin key for it."""
    site.store.create_pool(POOL, find("elo")(), title="Cup of stewards", player_word="rider")
    events = [rows(number, "abcd" if number % 2 else "dbca") for number in range(1, 8)]
    site.store.submit(POOL, [row for event in events for row in event], actor="race server")
    return create_key(site.store.engine, "Ann Steward", "admin", POOL)


def sign_in(page, key):
    page.fill("[name=key]", key)
    page.click("button.main")


def figures(page, player):
    """Return a player's rating on the leaderboard, and the change in the third event."""
    page.goto(ADDRESS)
    rating = page.locator(f"tr:has(a[href$='/players/{player}']) td").nth(1).inner_text().split()[0]
    page.goto(f"{ADDRESS}/events/e3")
    return rating, page.locator(f"a[href$='/events/e3/{player}']").first.inner_text()


def test_every_figure_follows_a_correction(site, cup, screens):
    """Without scripts, the test goes from signing in on a private page to the corrected figures."""
    page = screens(1280, script=False)
    assert page.goto(f"{ADDRESS}/events/e3").status == 401
    sign_in(page, cup)
    assert page.url == f"{site.address}{ADDRESS}/events/e3"
    before = figures(page, "a")
    page.click("text=Correct this event")
    page.select_option("[name=place-0]", "4")  # two places are swapped
    page.select_option("[name=place-3]", "1")
    page.click("button.go")
    assert "Not saved yet" in page.inner_text("main")
    row = page.locator("section[aria-labelledby=moves] tr", has=page.locator("bdi", has_text="a")).first.inner_text()
    announced = row.split()
    page.click("main form button.main")
    assert "Not saved yet" in page.inner_text("main")  # a reason is required
    page.fill("[name=reason]", "Photo finish: <d> was first")
    page.click("main form button.main")
    assert "Saved." in page.inner_text("main")
    after = figures(page, "a")
    stored = {each.player: each.rating for each in site.store.leaderboard(POOL).players}
    assert before[0] != after[0] == f"{stored['a']:.0f}"
    assert f"{stored['a']:.1f}" in announced
    assert before[1] != after[1]
    assert "Photo finish: <d> was first" in page.inner_text("main")  # in the event's record
    assert site.store.verify(POOL) == []


def store_it(page, reason):
    page.fill("[name=reason]", reason)
    page.click("main form button.main")
    assert "Saved." in page.inner_text("main > [role=status]")


def undo(page):
    """Undo the change on this page, after its preview."""
    page.click("text=Undo this")
    assert "Not saved yet" in page.inner_text("main")
    store_it(page, "it was right before")


@pytest.mark.parametrize("width", [390, 1280][: 2 if EVERY_WAY else 1])
def test_a_change_can_be_undone_on_the_next_page(site, cup, screens, width):
    page = screens(width, script=False)
    page.goto("/sign-in")
    sign_in(page, cup)
    store, before, newer = site.store, site.store.event(POOL, "e2"), f"newer{width}"
    page.goto(f"/admin/{POOL}/events/e2")
    page.fill("[name=position-0]", "4")
    page.fill("[name=position-3]", "1")
    page.click("text=Check the result")
    store_it(page, "a slip of the pen")
    assert store.event(POOL, "e2").entries != before.entries
    undo(page)
    assert store.event(POOL, "e2").entries == before.entries
    assert store.event(POOL, "e2").changes == before.changes
    page.goto(f"/admin/{POOL}/events/e2")
    page.click("details:has(form[action$='/void']) summary")
    page.click("form[action$='/void'] button")
    store_it(page, "wrong track")
    assert store.event(POOL, "e2").status == "voided"
    undo(page)
    assert store.event(POOL, "e2").status == "rated"
    undo(page)  # this can also be undone
    assert store.event(POOL, "e2").status == "voided"
    undo(page)
    store.submit(POOL, rows(90 + width % 7, [newer, "a"]))
    page.goto(f"/admin/{POOL}/players")
    page.fill("form[action$='/merge'] [name=player]", newer)
    page.fill("form[action$='/merge'] [name=into]", "c")
    page.click("form[action$='/merge'] button")
    store_it(page, "one and the same")
    undo(page)
    assert newer in {each.player for each in store.leaderboard(POOL).players}
    assert page.locator("text=Undo this").count() == 0  # the previous merge target is unknown
    page.goto(f"{ADDRESS}/players/{newer}")
    page.click("text=Rename")
    assert page.input_value("form[action$='/rename'] [name=player]") == newer
    assert page.input_value("form[action$='/forget'] [name=player]") == ""
    page.fill("form[action$='/rename'] [name=name]", f"called {width}")
    page.click("form[action$='/rename'] button")
    assert page.inner_text("h1") == f"called {width}"
    assert store.verify(POOL) == []


def test_other_sites_cannot_act_for_a_signed_in_user(site, cup, screens):
    page = screens(1280)
    page.goto("/sign-in")
    sign_in(page, cup)
    version = site.store.version(POOL)
    form = (
        f'<form method="post" action="{site.address}/admin/{POOL}/settings">'
        '<input name="token" value="guessed"><input name="public" value="yes"></form>'
        "<script>document.forms[0].submit()</script>"
    )
    page.route("http://evil.test/", lambda route: route.fulfill(body=form, content_type="text/html"))
    with page.expect_response(lambda answer: answer.url.endswith("/settings")) as answer:
        page.goto("http://evil.test/")
    page.unroute_all()
    assert answer.value.status in (401, 403)  # the browser does not even send the cookie
    assert site.store.version(POOL) == version
    assert not site.store.pool(POOL).description.public


def test_a_revoked_keys_cookie_is_useless(site, cup, screens, monkeypatch):
    key = create_key(site.store.engine, "for a while", "admin", POOL)
    page = screens(1280)
    page.goto(f"/sign-in?next={ADDRESS}")
    sign_in(page, key)
    assert page.goto(ADDRESS).status == 200
    revoke_key(site.store.engine, list_keys(site.store.engine)[-1].id)
    monkeypatch.setattr(keys, "KEY_CACHE_S", 0.0)  # the cache would keep the key for this time
    assert page.goto(ADDRESS).status == 401
    assert page.goto("/admin").status == 401
    assert cup


WIDTHS = (320, 390, 1280) if EVERY_WAY else (320,)


@pytest.mark.parametrize("width", WIDTHS)
def test_admin_pages_are_readable_and_accessible(site, cup, screens, width):
    page = screens(width)
    page.goto("/sign-in")
    sign_in(page, cup)
    for path in ADMIN_PAGES if EVERY_WAY else ADMIN_PAGES[2::4]:
        answer = page.goto(f"/admin/{POOL}{path}")
        assert answer.status == 200
        assert "style=" not in answer.text()
        assert_readable(page, path)
        if path == "/events/e3":
            page.focus("[name=player-0]")
            assert page.locator("[name=player-0]").bounding_box()["width"] >= 150  # to type a name into
