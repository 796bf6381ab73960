"""Drop-downs next to the first rows ask about unclear columns, and the pool stores the answers as a map."""

import pytest
from served import EVERY_WAY, MAIN_WAYS
from test_screens import SIDEWAYS
from test_sheets_sent_again import assert_readable, places, send, sign_in, store_it

from podium.store import waiting

SHEET = "Date,Rdr,Uitkm\n3/4/2026,Ana,2\n3/4/2026,Ben,1\n5/4/2026,Ben,2\n5/4/2026,Ana,1\n"
PLAYER, DAY, PLACE = "columns.player=Rdr", "columns.started_at.format=%d/%m/%Y", "columns.position=Uitkm"
DRIVERS = [("Lena Vos", "2329.1"), ("Tom Ek", "2331.6"), ("Ida Roth", "2381.8"), ("Max Lund", "")]
LOG = (  # like rFactor 2, but with an unknown word for drivers
    "<?xml version='1.0'?><SimLog version='1.0'><RaceResults><TrackEvent>Zolder</TrackEvent><Race>"
    "<Stream><Incident et='1'>x</Incident></Stream>"
    + "".join(
        f"<Driver><Wheelman>{name}</Wheelman><Position>{place}</Position><Laps>23</Laps><FinishTime>{time}</FinishTime>"
        f"<FinishStatus>{'Finished' if time else 'DNF'}</FinishStatus></Driver>"
        for place, (name, time) in enumerate(DRIVERS, start=1)
    )
    + "</Race></RaceResults></SimLog>"
)


def go_on(page, *answers):
    """Choose answers and send them."""
    for answer in answers:
        page.locator(f"select:has(option[value='{answer}'])").select_option(answer)
    page.click("main form button.main")


@pytest.mark.parametrize(("width", "script"), MAIN_WAYS)
def test_a_sheet_is_read_with_drop_downs(site, league, screens, width, script):
    page = screens(width, script=script)
    sign_in(page, league)
    version = site.store.version(league[0])
    send(page, league, SHEET)
    shown = page.inner_text("main")
    assert "Which column has the players" in shown
    assert [each for each in ("--set", "podium import", "format =") if each in shown] == []
    assert page.locator("main table tbody tr").count() == 4
    if script:
        assert_readable(page)
    go_on(page, PLAYER)
    assert "may start with the day or the month" in page.inner_text("main")
    assert page.locator(f"option[value='{DAY}']").inner_text() == "3 April 2026"
    go_on(page, DAY)
    go_on(page, PLACE)
    assert "Not saved yet" in page.inner_text("main")
    assert site.store.version(league[0]) == version  # nothing is stored yet
    store_it(page)
    assert {each.player: each.position for each in site.store.event(league[0], "3/4/2026").entries} == {
        "Ana": 2,
        "Ben": 1,
    }
    assert site.store.event(league[0], "3/4/2026").started_at.day == 3
    assert 'format = "%d/%m/%Y"' in site.store.sheets(league[0])[0].map
    send(page, league, SHEET + "6/4/2026,Ana,1\n6/4/2026,Ben,2\n")
    assert page.inner_text("main").count("already saved") == 2  # with the stored map


def test_answers_can_be_changed_now_and_for_a_known_file(site, league, screens):
    page = screens(390, script=False)
    sign_in(page, league)
    send(page, league, SHEET)
    go_on(page, "columns.player=Uitkm")
    go_on(page, PLAYER)  # chosen again before anything is stored
    go_on(page, DAY)
    go_on(page, PLACE)
    store_it(page)
    page.goto(f"/admin/{league[0]}/upload")
    page.set_input_files("[type=file]", {"name": "league.csv", "mimeType": "text/csv", "buffer": SHEET.encode()})
    page.click("form summary")
    page.check("[name=anew]")
    page.click("main form button.main")
    assert "Which column has the players" in page.inner_text("main")


def test_impossible_answers_are_rejected_and_can_be_changed(site, league, screens):
    page = screens(390, script=True)
    sign_in(page, league)
    send(page, league, "Who,Where,What\nAna,e1,1\nAna,e1,1\nBen,e1,2\n")
    go_on(page, "columns.player=Who")
    go_on(page, "columns.event_id=Where")
    go_on(page, "columns.position=What")
    assert "Nothing was saved" in page.inner_text("[role=alert]")
    assert "Ana" in page.inner_text("[role=alert]")
    assert page.locator("main select").count() == 3
    assert_readable(page)


@pytest.mark.parametrize("script", [False, True][: 2 if EVERY_WAY else 1])
def test_a_log_of_an_unknown_simulator_is_read_with_drop_downs(site, league, screens, script):
    page = screens(390, script=script)
    sign_in(page, league)
    send(page, league, LOG, name="race.xml")
    go_on(page, "source.records=SimLog.RaceResults.Race.Driver[]")
    if script:
        assert_readable(page)
    go_on(page, "columns.player=Wheelman")
    assert "The results have no dates" in page.inner_text("main")
    go_on(page, "order=dated")
    store_it(page)
    assert places(site, league, "race") == [name for name, _ in DRIVERS]
    assert "records" in site.store.sheets(league[0])[0].map


def test_files_of_other_sessions_and_expired_files_are_missing(
    site,
    league,
    screens,
    monkeypatch,
):
    page = screens(390, script=False)
    sign_in(page, league)
    send(page, league, SHEET)
    action, token = (page.locator("main form").first.get_attribute("action"), page.input_value("main [name=token]"))
    origin = {"Origin": site.address}
    forged = page.request.post(action, form={"answer": PLAYER, "token": "other"}, headers=origin)
    assert forged.status == 403
    foreign = page.request.post(
        action, form={"answer": PLAYER, "token": token}, headers={"Origin": "https://x.example"}
    )
    assert foreign.status == 403
    mine = page.request.post(action, form={"answer": PLAYER, "token": token}, headers=origin)
    assert (mine.status, "start with the day or the month" in mine.text()) == (200, True)
    sign_in(page, league)
    page.goto(f"/admin/{league[0]}/upload")
    other = page.request.post(
        action, form={"answer": PLAYER, "token": page.input_value("main [name=token]")}, headers=origin
    )
    assert other.status == 404
    assert waiting.GONE in other.text()
    send(page, league, SHEET)
    later = waiting.now() + waiting.WAITS_US + 1
    monkeypatch.setattr(waiting, "now", lambda: later)
    go_on(page, PLAYER)
    assert waiting.GONE in page.inner_text("[role=alert]")


def test_a_long_name_and_questions_fit_a_phone_with_large_text(site, league, large_browser):
    page = large_browser.new_page(base_url=site.address, viewport={"width": 320, "height": 700})
    site.store.describe_pool(league[0], title="The long league of all drivers who have ever driven here on Sundays")
    sign_in(page, league)
    send(page, league, SHEET)
    assert "Which column has the players" in page.inner_text("main")
    page.wait_for_load_state()
    assert page.evaluate(SIDEWAYS) <= 0
    page.goto(f"/{league[0]}")
    assert page.evaluate(SIDEWAYS) <= 0
