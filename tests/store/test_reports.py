"""Results that players report with personal links: who may report and confirm them, and when they count."""

from datetime import UTC, datetime, timedelta

import pytest

import podium
from podium.errors import ParameterError, UnknownError
from podium.log.database import StoreError
from podium.log.pools import read_report_rules
from podium.log.statements import upsert
from podium.store import Store
from podium.store.writing import reports as made
from podium.systems import find

PLAYERS = ["ana", "ben", "cleo", "dan"]
RULES = "50% 48h"


@pytest.fixture
def ladder(store):
    store.create_pool("main", find("elo")(), reports=RULES)
    store.change_links("main", "give", PLAYERS)
    return store


def number(store, name):
    (link,) = (link for link in store.links("main") if link.player == name)
    return store.player_with("main", link.path.rpartition("/")[2])


def result(*names, **more):
    start = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    return [
        {"event_id": "e", "started_at": start, "player": name, "position": place} | more
        for place, name in enumerate(names, 1)
    ]


def report(store, *names, by="ana", form="1", rows=None):
    return store.add_report("main", number(store, by), rows or result(*names), form=form)[0]


def answer(store, found, name, *, agrees=True):
    return store.answer_report("main", found.report_id, number(store, name), agrees=agrees)[0]


def events(store):
    store.count_reports("main")
    return [each.event_id for each in store.event_list("main").events]


def later(monkeypatch, **span):
    moment = made.now() + timedelta(**span) // timedelta(microseconds=1)
    monkeypatch.setattr(made, "now", lambda: moment)


def test_a_report_does_not_show_whose_id_it_names(ladder):
    report(ladder, "ana", "ben")
    ladder.set_details("main", [{"player": "ben", "discord": "123"}])
    with pytest.raises(ParameterError, match="nobody here has this name"):
        report(ladder, "ana", "discord:123", form="2")


def test_a_report_counts_when_the_opponent_confirms_it_and_then_counts_once(ladder):
    found = report(ladder, "ana", "ben")
    assert report(ladder, "ana", "ben", rows=[*map(dict, result("ana", "ben"))]).report_id == found.report_id
    answer(ladder, found, "ana")
    assert events(ladder) == []
    with pytest.raises(UnknownError):
        answer(ladder, found, "cleo")
    assert [answer(ladder, found, "ben").status, answer(ladder, found, "ben").status] == ["counted", "counted"]
    assert events(ladder) == events(ladder) == [found.report_id]
    assert answer(ladder, found, "ben", agrees=False).status == "counted"
    (entry,) = [entry for entry in ladder.log("main") if entry.kind == "submit"]
    assert (entry.actor, ladder.verify()) == (made.CONFIRMED, [])
    ladder.void("main", found.report_id)
    assert events(ladder) == [found.report_id]
    assert report(ladder, "ana", "ben").status == "counted"


def test_a_report_counts_after_a_time_without_objection(ladder, monkeypatch):
    found, other = report(ladder, "ana", "ben", "cleo"), report(ladder, "dan", "cleo", by="dan", form="2")
    answer(ladder, other, "cleo", agrees=False)
    assert found.counts_at - found.reported_at == timedelta(hours=48)
    later(monkeypatch, hours=47)
    assert events(ladder) == []
    later(monkeypatch, hours=2)
    assert events(ladder) == [found.report_id]
    assert [each.report_id for each in ladder.list_reports("main")] == [other.report_id]
    assert ladder.answer_report("main", found.report_id, agrees=False)[0].status == "counted"
    _, receipts = ladder.answer_report("main", other.report_id, agrees=True, actor="referee")
    assert [receipt.event_id for receipt in receipts] == [other.report_id]
    assert len(events(ladder)) == 2
    assert ladder.log("main")[-1].actor == "referee"


def test_an_objection_waits_for_the_organiser_and_can_be_taken_back(ladder, monkeypatch):
    found = report(ladder, "ana", "ben", "cleo", "dan")
    answer(ladder, found, "ben")
    assert answer(ladder, found, "dan", agrees=False).status == "disputed"
    assert answer(ladder, found, "cleo").status == "disputed"
    later(monkeypatch, hours=72)
    assert events(ladder) == []
    assert answer(ladder, found, "dan").status == "counted"
    mine = report(ladder, "ana", "ben", by="ben", form="2")
    assert answer(ladder, mine, "ben", agrees=False).status == "refused"
    assert answer(ladder, mine, "ana").status == "refused"
    assert events(ladder) == [found.report_id]


def test_a_teammate_alone_is_no_consent(ladder):
    rows = [row | {"team": "2" if row["player"] == "dan" else "1"} for row in result(*PLAYERS)]
    found = report(ladder, rows=rows)
    for name in ("ben", "cleo"):
        assert answer(ladder, found, name).status == "open"
    assert answer(ladder, found, "dan").status == "counted"


def test_the_same_result_reported_by_both_counts_once(ladder):
    first = report(ladder, "ana", "ben")
    second = report(ladder, by="ben", form="9", rows=[dict(row) for row in reversed(result("ana", "ben"))])
    assert (second.report_id, second.status) == (first.report_id, "counted")
    again = report(ladder, "ana", "ben", by="ben", form="10")
    assert (again.status, events(ladder)) == ("open", [first.report_id])


def test_reports_that_cannot_be_right_are_refused(ladder):
    ladder.submit("main", result("ana", "ben"))
    ladder.rename("main", "ben", "Benjamin")
    old = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    for rows in (
        result("ana", "Nobody"),
        result("ben", "cleo"),
        result("ana", "ben", "Benjamin"),
        result("ana", "ben", started_at=old),
        result("ana", "ben", started_at=soon),
        result("ana", "ben", status="unheard of"),
    ):
        with pytest.raises((ParameterError, podium.ResultsError)):
            report(ladder, rows=rows)
    found = report(ladder, "ana", "ben")
    for form in range(2, 21):
        report(ladder, "ana", "ben", form=str(form))
    with pytest.raises(StoreError, match="within a day"):
        report(ladder, "ana", "ben", form="21")
    assert report(ladder, "ana", "ben", by="cleo", rows=result("cleo", "ana")).player == "cleo"
    assert found.result == "1. ana, 2. Benjamin"


def test_links_end_when_they_are_renewed_or_revoked_and_with_the_season(ladder, monkeypatch):
    def opens(link):
        return ladder.player_with("main", link.path.rpartition("/")[2])

    first = ladder.links("main")
    assert ladder.change_links("main", "give") == first
    until = datetime.now(UTC) + timedelta(days=1)
    renewed = ladder.change_links("main", "renew", ["ana"], until=until)
    assert [new.path == old.path for old, new in zip(first, renewed, strict=True)] == [False, True, True, True]
    ladder.change_links("main", "revoke", ["ben"])
    ladder.create_pool("other", find("elo")(), reports=RULES)
    ladder.change_links("other", "give", PLAYERS)
    others = ladder.links("other")
    for ended in (
        *first[:2],
        others[2],
        type(first[0])("", f"{first[2].path}x", None),
        type(first[0])("", "é.é", None),
    ):
        with pytest.raises(UnknownError):
            opens(ended)
    assert opens(renewed[0]) != opens(renewed[2])
    later = made.now() + 2 * 86_400_000_000
    monkeypatch.setattr(made, "now", lambda: later)
    with pytest.raises(UnknownError):
        opens(renewed[0])
    monkeypatch.undo()
    ladder.describe_pool("main", reports="")
    with pytest.raises(UnknownError):
        opens(renewed[2])
    with pytest.raises(StoreError):
        ladder.change_links("main", "give")
    ladder.describe_pool("main", reports="100%")
    ladder.begin_season("main", "2", datetime(2020, 1, 1, tzinfo=UTC), keep=0.5)
    assert ladder.links("main") == ()
    with pytest.raises(UnknownError):
        opens(renewed[2])


def test_merged_players_answer_once_and_anonymized_players_lose_their_links(ladder):
    for event_id, names in {"e": ("ana", "ben"), "f": ("cleo", "dan")}.items():
        ladder.submit("main", [{**row, "event_id": event_id} for row in result(*names)])
    found = report(ladder, "ana", "ben", "cleo")
    answer(ladder, found, "ben", agrees=False)
    ladder.merge("main", "dan", "ben")
    assert len({number(ladder, "ana")} | {link.player for link in ladder.links("main")}) == 4
    (shown,) = ladder.list_reports("main", number(ladder, "cleo"))
    assert shown.objected == ("ben",)
    player = ladder.anonymize("main", "ben")
    (shown,) = ladder.list_reports("main")
    assert shown.objected == (player,)
    assert {link.player for link in ladder.links("main")} == {"ana", "cleo"}
    assert not any("ben" in line for line in ladder.export_pool("main"))
    ladder.answer_report("main", found.report_id, agrees=True)
    assert found.report_id in events(ladder)


def test_a_report_that_cannot_count_is_left_to_the_organiser_and_stops_no_other(ladder, caplog, monkeypatch):
    ladder.submit("main", result("ana", "cleo"))
    ladder.submit("main", [{**row, "event_id": "f"} for row in result("ben", "cleo")])
    found, good = report(ladder, "ana", "ben", "cleo"), report(ladder, "dan", "cleo", by="dan", form="2")
    ladder.merge("main", "ben", "ana")
    with pytest.raises(podium.ResultsError, match="ana"):
        answer(ladder, found, "cleo")
    later(monkeypatch, hours=48)
    assert events(ladder) == [good.report_id, "f", "e"]
    (shown,) = ladder.list_reports("main")
    assert (shown.status, "'ana'" in shown.problem) == ("disputed", True)
    assert f"{found.report_id} does not count: {shown.problem}" in caplog.text
    with pytest.raises(podium.ResultsError, match="ana"):
        ladder.answer_report("main", found.report_id, agrees=True)


def test_a_player_cannot_confirm_a_result_with_a_merged_account(ladder):
    for event_id, name in {"e": "ana", "f": "ben"}.items():
        ladder.submit("main", [{**row, "event_id": event_id} for row in result(name, "cleo")])
    found, ben = report(ladder, "ana", "ben"), number(ladder, "ben")
    ladder.merge("main", "ana", "ben")
    statuses = [ladder.answer_report("main", found.report_id, ben, agrees=agrees)[0].status for agrees in (True, False)]
    assert statuses == ["open", "refused"]


def test_a_planned_race_has_one_result_with_its_teams(ladder):
    start = datetime.now(UTC) - timedelta(hours=2)
    entrants = [{"player": name, "team": team} for name, team in zip(PLAYERS, "xyxy", strict=True)]
    ladder.plan_fixture("main", "cup", starts_at=start, entrants=entrants)
    rows = [row | {"started_at": start.isoformat()} for row in result("ana", "cleo", "ben", "dan")]
    first, other = (
        ladder.add_report("main", number(ladder, "ana"), rows[:count], form="1", race="cup")[0] for count in (4, 3)
    )
    assert [answer(ladder, first, name).status for name in ("cleo", "ben", "dan")] == ["open", "counted", "counted"]
    assert events(ladder) == ["cup"]
    assert {entry.player: entry.team for entry in ladder.event("main", "cup").entries} == {
        each["player"]: each["team"] for each in entrants
    }
    with pytest.raises(StoreError, match="different content"):
        ladder.answer_report("main", other.report_id, agrees=True)
    (shown,) = ladder.list_reports("main")
    assert (shown.event_id, "different content" in shown.problem) == ("cup", True)


@pytest.mark.parametrize("is_counting", [False, True])
def test_a_report_counts_once_although_the_service_is_killed(ladder, monkeypatch, is_counting):
    def killed(*_sent):
        raise KeyboardInterrupt

    found = report(ladder, "ana", "ben")
    monkeypatch.setattr(made, "upsert", killed)  # the event is logged and rated in the same transaction
    if is_counting:
        later(monkeypatch, hours=48)
    with pytest.raises(KeyboardInterrupt):
        ladder.count_reports("main") if is_counting else answer(ladder, found, "ben")
    monkeypatch.setattr(made, "upsert", upsert)
    assert [entry for entry in ladder.log("main") if entry.kind == "submit"] == []
    assert answer(ladder, found, "ben").status == "counted"
    ladder.amend("main", [{**row, "event_id": found.report_id} for row in result("ben", "ana")])
    assert events(ladder) == events(ladder) == [found.report_id]


def test_exports_and_backups_keep_reports_and_their_time_begins_again(sqlite_store, tmp_path, monkeypatch):
    sqlite_store.create_pool("main", find("elo")(), reports=RULES)
    sqlite_store.change_links("main", "give", PLAYERS)
    found, done = report(sqlite_store, "ana", "ben"), report(sqlite_store, "cleo", "dan", by="dan", form="2")
    answer(sqlite_store, done, "cleo")
    assert events(sqlite_store) == [done.report_id]
    later(monkeypatch, hours=47)
    sqlite_store.import_pool([*sqlite_store.export_pool("main")], name="copy")
    assert sqlite_store.links("copy") == ()
    assert sqlite_store.pool("copy").description.reports == RULES
    (kept,) = sqlite_store.list_reports("copy")
    assert kept.result == found.result
    assert kept.counts_at - found.counts_at >= timedelta(hours=47)
    from podium.store.backup import back_up, restore

    back_up(str(tmp_path / "podium.db"), tmp_path / "copy.db")
    restore(tmp_path / "copy.db", str(tmp_path / "restored.db"))
    restored = Store(str(tmp_path / "restored.db"))
    later(monkeypatch, hours=2)
    assert restored.count_reports("main") == []
    assert restored.links("main") == sqlite_store.links("main")
    assert len(sqlite_store.count_reports("main")) == 1
    later(monkeypatch, hours=47)
    assert len(restored.count_reports("main")) == 1
    restored.close()


def test_old_reports_are_deleted(ladder, monkeypatch):
    report(ladder, "ana", "ben")
    ladder.describe_pool("main", reports="50%")
    later(monkeypatch, days=46)
    assert events(ladder) == []
    assert ladder.list_reports("main") == ()


def test_rules_are_read():
    assert read_report_rules("50%") == (0.5, None)
    assert read_report_rules("100% 12h") == (1.0, 12)
    assert read_report_rules("").share > 1.0
    for text in ("0%", "101%", "50", "50% 0h", "50% 1000h", "50% h", "48h", "50% 48h 2"):
        with pytest.raises(ParameterError):
            read_report_rules(text)
