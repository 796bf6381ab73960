"""Corrected sheets in a browser: a preview first, then one button."""

import pytest
from served import EVERY_WAY, WAYS
from test_screens import assert_readable

from podium.store.keys import create_key

HEAD = "event_id,started_at,player,position\n"


def sheet_of(*rounds, year=2026):
    """Return a sheet's text. Each round has its number and the players in finishing order."""
    lines = (
        f"Round {number},{year}-03-{number:02},{player},{place}\n"
        for number, players in rounds
        for place, player in enumerate(players, start=1)
    )
    return HEAD + "".join(lines)


SEASON = [(number, ["Ana", "Ben", "Cleo", "Dan"]) for number in range(1, 7)]
MENDED = [SEASON[0], (2, ["Ben", "Ana", "Cleo", "Dan"]), *SEASON[3:], (7, ["Dan", "Cleo", "Ben", "Ana"])]


def sign_in(page, league):
    page.goto("/sign-in")
    page.fill("[name=key]", league[1])
    page.click("button.main")


def send(page, league, text, name="league.csv"):
    """Send a file from the upload page."""
    page.goto(f"/admin/{league[0]}/upload")
    page.set_input_files("[type=file]", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})
    page.click("main form button.main")


def store_it(page):
    page.click("main form[action$='/apply'] button")
    assert "Saved." in page.inner_text("main")


def places(site, league, event_id):
    return [each.player for each in site.store.event(league[0], event_id).entries]


@pytest.mark.parametrize(("width", "script"), WAYS if EVERY_WAY else WAYS[:1])
def test_a_corrected_sheet_is_previewed_before_it_is_stored(site, league, screens, width, script):
    page = screens(width, script=script)
    sign_in(page, league)
    send(page, league, sheet_of(*SEASON))
    store_it(page)
    site.store.amend(
        league[0],
        [
            {"event_id": "Round 4", "started_at": "2026-03-04", "player": each, "position": place}
            for place, each in enumerate(["Dan", "Ana", "Ben", "Cleo"], start=1)
        ],
    )
    version = site.store.version(league[0])
    send(page, league, sheet_of(*MENDED))
    shown = page.inner_text("main")
    assert "1 new, 1 differs, 1 gone, 1 corrected by hand, 3 the same" in shown
    assert site.store.version(league[0]) == version  # nothing is stored yet
    if script:
        assert_readable(page)
    page.check("[name=overrule]")
    page.click("main form:has([name=overrule]) button")
    assert "1 new, 2 differ, 1 gone, 3 the same" in page.inner_text("main")
    page.uncheck("[name=overrule]")
    page.click("main form:has([name=overrule]) button")
    store_it(page)
    assert places(site, league, "Round 2") == ["Ben", "Ana", "Cleo", "Dan"]
    assert places(site, league, "Round 4") == ["Dan", "Ana", "Ben", "Cleo"]  # the manual correction
    assert site.store.event(league[0], "Round 3").status == "voided"
    assert site.store.verify(league[0]) == []
    send(page, league, sheet_of(*MENDED))
    assert "There is nothing to do" in page.inner_text("main")


def test_a_new_season_with_known_rounds_is_offered_new_ids(site, league, screens):
    page = screens(390, script=False)
    sign_in(page, league)
    send(page, league, sheet_of(*SEASON))
    store_it(page)
    other = sheet_of((1, ["Dan", "Eve", "Ana"]), (2, ["Eve", "Dan", "Ana"]), year=2027)
    send(page, league, other)
    assert "a different date and a different result" in page.inner_text("main")
    assert "--prefix" not in page.inner_text("main")  # the page does not mention commands
    assert page.input_value("[name=prefix]") == "2027/"
    page.click("main form:has([name=prefix]) button")
    store_it(page)
    assert places(site, league, "2027/Round 1") == ["Dan", "Eve", "Ana"]
    assert places(site, league, "Round 1") == ["Ana", "Ben", "Cleo", "Dan"]


PAIRS = "Date,Winner,Loser\n"
EVENING = PAIRS + "2026-10-02,Jonas,Henk\n"


@pytest.mark.parametrize(("width", "script"), WAYS if EVERY_WAY else WAYS[1:])
def test_possible_repeats_need_an_answer(site, league, screens, width, script):
    page = screens(width, script=script)
    sign_in(page, league)
    send(page, league, EVENING, name="w1.csv")
    store_it(page)
    send(page, league, EVENING, name="w2.csv")
    assert "This looks like a result you already sent. Add it again, or skip it?" in page.inner_text("main")
    if script:
        assert_readable(page)
    page.click("button[value=again]")
    store_it(page)
    send(page, league, EVENING, name="w3.csv")
    page.click("button[value=skip_known]")
    assert "There is nothing to do" in page.inner_text("main")
    send(page, league, EVENING + "2026-10-03,Bo,Henk\n", name="w2.csv")
    store_it(page)
    send(page, league, PAIRS + "2026-10-03,Henk,Bo\n", name="w2.csv")
    assert "Is it a corrected version of the old sheet, or a new sheet?" in page.inner_text("main")
    page.click("button[value=amend]")
    assert "0 new, 1 differs, 1 gone, 0 the same" in page.inner_text("main")
    page.go_back()
    page.click("button[value=again]")
    store_it(page)
    assert {each.event_id for each in site.store.event_list(league[0]).events} == {
        "2026-10-02 #1", "2026-10-02 #2", "2026-10-03 #1", "2026-10-03 #2"
    }  # fmt: skip
    assert site.store.verify(league[0]) == []


def test_a_pasted_repeat_needs_an_answer(site, league, screens):
    page = screens(390, script=False)
    sign_in(page, league)
    for again in (False, True):
        page.goto(f"/admin/{league[0]}/upload")
        page.fill("[name=pasted]", EVENING)
        page.click("main form button.main")
        if again:
            page.click("button[value=again]")
        store_it(page)
    assert len(site.store.event_list(league[0]).events) == 2


def test_a_writing_key_adds_events_and_cannot_correct_them(site, league, screens):
    page = screens(390, script=False)
    writer = league[0], create_key(site.store.engine, "race server", "write", league[0])
    sign_in(page, writer)
    send(page, writer, sheet_of(*SEASON[:5]))
    store_it(page)
    send(page, writer, sheet_of(*SEASON))
    store_it(page)
    assert site.store.event(league[0], "Round 6").status == "rated"
    send(page, writer, sheet_of(*MENDED))
    assert "is known with different content" in page.inner_text("main")
    assert not page.query_selector("form[action$='/apply']")
