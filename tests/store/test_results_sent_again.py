"""Repeated results: no second result disappears, and none counts twice without a question."""

import json
from contextlib import closing
from pathlib import Path

import pytest
import typer
from commands import run, streams

import podium
from podium.store import Store
from podium.store.writing.proposals import Sheet
from podium.store.writing.sheets import KnownResultsError, MissingResultsError
from podium.systems import find

HEAD = "Winner,Loser\n"
DATED = "Date,Winner,Loser\n"
EVENING = "2026-10-02,Jonas,Henk\n"
COUNTED = "--order", "sequence"


@pytest.fixture
def club(tmp_path, monkeypatch):
    """Return a folder with a pool."""
    monkeypatch.chdir(tmp_path)
    with closing(Store("podium.db")) as store:
        store.create_pool("club", find("elo")())
    return tmp_path


def send(text, *words, name="results.csv", status=0):
    Path(name).write_text(text, encoding="utf-8")
    return run("ingest", name, "--pool", "club", *words, *(() if status else ("--format", "json")), status=status)


def new_ids(*sent, **options):
    return [each["event_id"] for each in json.loads(send(*sent, **options)) if not each["duplicate"]]


def listed():
    with closing(Store("podium.db")) as store:
        assert store.verify() == []
        return sorted(each.event_id for each in store.event_list("club").events if each.status != "voided")


def test_a_reason_changes_no_question_about_a_correction(club):
    made = {"2026-10-02 Jonas - Henk": "", "2026-10-03 Jonas - Henk": ""}
    rows = [
        {"event_id": event_id, "started_at": f"{event_id[:10]}T20:15Z", "player": player, "position": place}
        for event_id in made
        for place, player in enumerate(["Jonas", "Henk"], 1)
    ]
    with closing(Store("podium.db")) as store:
        store.submit("club", rows[:2], sheet=Sheet("one.csv", made=made))
        for reason in ("", "typo"):
            assert store.amend_sheet("club", rows, Sheet("two.csv", made=made), reason=reason, dry_run=True).same == 1


def test_a_pairing_repeated_for_three_weeks_needs_an_answer(club):
    assert new_ids(HEAD + "Jonas,Henk\nHenk,Bo\n", *COUNTED, name="w1.csv") == ["#1", "#2"]
    refused = send(HEAD + "Jonas,Henk\n", name="w2.csv", status=2)
    assert "w2.csv" in refused
    assert "--again" in refused
    assert "--skip-known" in refused
    assert len(listed()) == 2  # the rejected file stored nothing
    assert new_ids(HEAD + "Jonas,Henk\n", "--again", name="w2.csv") == ["#3"]
    assert new_ids(HEAD + "Jonas,Henk\n", "--again", name="w3.csv") == ["#4"]
    assert new_ids(HEAD + "Jonas,Henk\n", name="w3.csv") == []  # the same file
    assert new_ids(HEAD + "Bo,Jonas\nJonas,Henk\nHenk,Bo\n", "--skip-known", name="w4.csv") == ["#5"]
    assert len(listed()) == 5


def test_a_rematch_on_the_same_day_in_another_file_needs_an_answer(club):
    assert new_ids(DATED + EVENING, name="x1.csv") == ["2026-10-02 #1"]
    assert "--skip-known" in send(DATED + EVENING, name="x2.csv", status=2)
    assert new_ids(DATED + EVENING + EVENING, "--skip-known", name="x2.csv") == ["2026-10-02 #2"]
    assert new_ids(DATED + EVENING + EVENING, name="x2.csv") == []
    assert new_ids(DATED + "2026-10-02,Henk,Jonas\n", name="x3.csv") == ["2026-10-02 #3"]  # another result
    assert new_ids(DATED + "2026-10-03,Jonas,Henk\n", name="x4.csv") == ["2026-10-03 #1"]  # another day


def test_a_growing_sheet_adds_only_its_new_rows_in_any_order(club):
    first = [EVENING, "2026-10-02,Henk,Bo\n", EVENING]
    assert len(new_ids(DATED + "".join(first))) == 3
    assert new_ids(DATED + "".join(first)) == []
    more = [EVENING, "2026-10-09,Bo,Jonas\n", EVENING, "2026-10-02,Henk,Bo\n", EVENING]
    assert new_ids(DATED + "".join(more)) == ["2026-10-09 #1", "2026-10-02 #4"]
    assert new_ids(DATED + "".join(reversed(more))) == []


def test_a_sheet_without_earlier_results_needs_an_answer(club):
    send(DATED + EVENING + "2026-10-02,Henk,Bo\n")
    week = DATED + "2026-10-02,Henk,Bo\n2026-10-09,Bo,Jonas\n"
    refused = send(week, status=2)
    assert "--amend" in refused
    assert "--again" in refused
    assert "void" not in refused
    assert new_ids(week, "--again") == ["2026-10-02 #3", "2026-10-09 #1"]
    assert new_ids(week) == []  # the name now belongs to the new sheet
    assert new_ids(week + "2026-10-10,Bo,Henk\n") == ["2026-10-10 #1"]
    changes, rows = streams("ingest", "results.csv", "--pool", "club", "--amend", "--format", "json")
    assert "0 new, 0 differ, 0 gone, 3 the same" in changes
    assert json.loads(rows) == []


def test_a_correction_in_a_sheet_changes_only_that_result(club):
    head = "Date,Home,Away,Score\n"
    rows = ["2026-10-02,Jonas,Henk,3-1\n", "2026-10-02,Jonas,Henk,2-3\n", "2026-10-02,Henk,Bo,3-0\n"]
    send(head + "".join(rows))
    rows[1] = "2026-10-02,Jonas,Henk,3-2\n"
    assert "--amend" in send(head + "".join(rows), status=2)
    changes, _ = streams("ingest", "results.csv", "--pool", "club", "--amend", "--format", "json")
    assert "0 new, 1 differs, 0 gone, 2 the same" in changes
    assert listed() == ["2026-10-02 #1", "2026-10-02 #2", "2026-10-02 #3"]
    with closing(Store("podium.db")) as store:
        entries = {each.player: each.score for each in store.event("club", "2026-10-02 #2").entries}
    assert entries == {"Jonas": 3.0, "Henk": 2.0}


def test_a_renamed_file_needs_an_answer_and_can_be_skipped(club):
    text = DATED + EVENING + "2026-10-02,Henk,Bo\n"
    send(text)
    assert "These 2" in send(text, name="results (1).csv", status=2)
    assert new_ids(text, "--skip-known", name="results (1).csv") == []
    assert new_ids(text + "2026-10-03,Bo,Henk\n", name="results (1).csv") == ["2026-10-03 #1"]


@pytest.mark.parametrize(
    ("text", "words", "ids"),
    [
        ("Date,Winner,Loser\n2026-10-02 19:30,Jonas,Henk\n", (), ["2026-10-02 19:30 #1"]),
        ("Date,Round,Winner,Loser\n2026-10-02,R1,Jonas,Henk\n", (), ["2026-10-02 R1 #1"]),
        ("Round,Winner,Loser\n3,Jonas,Henk\n", COUNTED, ["Round 3 #1"]),
        ("Event,Player,Position\nfinal,Jonas,1\nfinal,Henk,2\n", COUNTED, ["final"]),
    ],
)
def test_times_rounds_and_own_ids_identify_a_repeat(club, text, words, ids):
    assert new_ids(text, *words, name="one.csv") == ids
    assert new_ids(text, name="other.csv") == []
    assert listed() == ids


@pytest.mark.parametrize("when", ["2026-10-02 19:30,", "2026-10-02,R1"])
def test_another_score_at_a_known_time_or_round_is_a_conflict(club, when):
    head = "Date,Round,Home,Away,Score\n"
    send(f"{head}{when},Jonas,Henk,3-1\n", name="one.csv")
    assert "different content" in send(f"{head}{when},Jonas,Henk,3-2\n", name="other.csv", status=2)
    assert len(new_ids(f"{head}{when},Jonas,Henk,3-2\n", "--again", name="other.csv")) == 1


def test_made_up_dates_do_not_identify_a_repeat(club):
    made = "--started-at", "2026-10-02T19:30", "--every", "1d"
    assert new_ids(HEAD + "Jonas,Henk\n", *made, name="w1.csv") == ["2026-10-02 #1"]
    assert "--again" in send(HEAD + "Jonas,Henk\n", *made, name="w2.csv", status=2)


def test_contradictory_answers_are_rejected_and_stdin_needs_an_answer(club):
    assert "contradict each other" in send(HEAD + "Jonas,Henk\n", "--again", "--skip-known", status=2)
    words = "ingest", "-", "--pool", "club"
    run(*words, *COUNTED, stdin=HEAD + "Jonas,Henk\n")
    assert "--again" in run(*words, stdin=HEAD + "Jonas,Henk\n", status=2)
    run(*words, "--again", stdin=HEAD + "Jonas,Henk\n")
    assert listed() == ["#1", "#2"]


def test_corrected_and_voided_results_are_still_recognised(club):
    send(DATED + EVENING + "2026-10-02,Henk,Bo\n")
    with closing(Store("podium.db")) as store:
        rows = [{"event_id": "2026-10-02 #1", "started_at": "2026-10-02", "player": name, "position": place}
                for place, name in enumerate(["Henk", "Jonas"], start=1)]  # fmt: skip
        store.amend("club", rows)
        store.void("club", "2026-10-02 #2")
    assert new_ids(DATED + EVENING + "2026-10-02,Henk,Bo\n") == []
    assert new_ids(DATED + "2026-10-02,Henk,Jonas\n") == []  # this matches the corrected result; the other one is void


def test_a_terminal_asks_and_uses_the_answer(club, monkeypatch):
    from podium.cli.service import storing

    questions = []

    def answer(question, _default=None, *, value_proc, **_options):
        questions.append(question)
        refusal = "'maybe' is not a date" if question.startswith("Date of") else "'maybe' is not an answer"
        with pytest.raises(typer.BadParameter, match=refusal):
            value_proc("maybe")
        return value_proc(answers.pop())

    monkeypatch.setattr(storing, "is_terminal", lambda: True)
    monkeypatch.setattr(storing.typer, "prompt", answer)
    answers = ["none"]
    send(HEAD + "Jonas,Henk\n", name="w1.csv")
    assert questions == ["Date of the first event, or none to number them"]
    questions.clear()
    answers = ["again"]
    assert new_ids(HEAD + "Jonas,Henk\n", name="w2.csv") == ["#2"]
    answers = ["skip"]
    assert new_ids(HEAD + "Jonas,Henk\n", name="w3.csv") == []
    answers = ["new"]
    assert new_ids(HEAD + "Henk,Bo\n", name="w3.csv") == ["#3"]
    answers = ["corrected"]
    send(HEAD + "Bo,Henk\n", name="w3.csv")
    assert listed() == ["#1", "#2", "#3"]
    assert [each.rpartition("? ")[2] for each in questions] == ["(again, skip)"] * 2 + ["(corrected, new)"] * 2
    assert questions[0].startswith("This looks like a result you already sent. Add it again, or skip it?")


def test_two_concurrent_writers_store_a_sheet_once(club, tmp_path):
    (tmp_path / "w.csv").write_text(DATED + EVENING, encoding="utf-8")
    read = podium.read_results(tmp_path / "w.csv", lenient=True)
    sheet = Sheet("w.csv", made=read.made)
    with closing(Store("podium.db")) as one, closing(Store("podium.db")) as other:
        first, second = (each.submit("club", read, sheet=sheet) for each in (one, other))
        assert [first[0].duplicate, second[0].duplicate] == [False, True]
        with pytest.raises(KnownResultsError):
            other.submit("club", read, sheet=sheet._replace(name="v.csv"))
        others = [{**row, "player": row["player"] * 2} for row in read.frame.to_dicts()]
        with pytest.raises(MissingResultsError):
            other.submit("club", others, sheet=sheet)


def test_generated_ids_contain_no_names(club):
    tags = ("Event", "Club"), ("Date", "2026.10.02"), ("Round", "{}"), ("White", "Jonas"), ("Black", "Henk")
    game = "\n".join([*(f'[{name} "{text}"]' for name, text in tags), '[Result "1-0"]', "", "1. e4 1-0", "", ""])
    words = "ingest", "games.pgn", "--as", "club", "--pool", "chess", "--format", "pgn"
    for rounds in ("12", "123"):
        (club / "games.pgn").write_text("".join(map(game.format, rounds)), encoding="utf-8")
        run(*words)
    assert listed() == [f"2026-10-02 round {number} #1" for number in "123"]


def test_a_correction_in_the_pool_survives_the_amended_sheet(club):
    rows = [EVENING, "2026-10-02,Henk,Bo\n"]
    send(DATED + "".join(rows))
    with closing(Store("podium.db")) as store:
        other = [{"event_id": "2026-10-02 #1", "started_at": "2026-10-02", "player": name, "position": place}
                 for place, name in enumerate(["Pipo", "Henk"], start=1)]  # fmt: skip
        store.amend("club", other)
    send(DATED + "".join([*rows, "2026-10-09,Bo,Pipo\n"]))
    words, _ = streams("ingest", "results.csv", "--pool", "club", "--amend")
    assert "0 new, 0 differ, 0 gone, 1 corrected by hand, 2 the same" in words
    assert listed() == ["2026-10-02 #1", "2026-10-02 #2", "2026-10-09 #1"]


@pytest.mark.parametrize("name", ["Jo\u0301nas", " Jonas  Berg ", "O'Hara", "Ana / Ben", "#1", "2026"])
def test_unusual_names_are_recognised_and_not_part_of_ids(club, name):
    text = DATED + f"2026-10-02,{name},Henk\n"
    assert new_ids(text) == ["2026-10-02 #1"]
    assert new_ids(text) == []
    assert "--again" in send(text, name="other.csv", status=2)


def test_an_empty_round_is_ignored(club):
    head = "Date,Round,Winner,Loser\n"
    assert new_ids(head + "2026-10-02,,Jonas,Henk\n2026-10-02,R1,Jonas,Henk\n", name="one.csv") == [
        "2026-10-02 #1",
        "2026-10-02 #2",
    ]
    assert "--again" in send(head + "2026-10-02,,Jonas,Henk\n2026-10-02,R1,Bo,Henk\n", name="other.csv", status=2)


def test_a_repeated_sheet_keeps_removed_names_removed(club):
    rows = [EVENING, "2026-10-02,Henk,Bo\n", "2026-10-09,Bo,Jonas\n"]
    send(DATED + "".join(rows))
    with closing(Store("podium.db")) as store:
        player = store.anonymize("club", "Jonas")
    assert new_ids(DATED + "".join(rows)) == []
    rows[2] = "2026-10-09,Jonas,Bo\n"
    words, _ = streams("ingest", "results.csv", "--pool", "club", "--amend")
    assert "0 new, 0 differ, 0 gone, 3 the same" in words
    Path("results.csv").write_text(DATED + "".join(rows), encoding="utf-8")
    words, shown = streams("ingest", "results.csv", "--pool", "club", "--amend")
    assert "0 new, 1 differs, 0 gone, 2 the same" in words
    assert "Jonas" not in shown
    assert new_ids(DATED + "".join([*rows, "2026-10-16,Jonas,Henk\n"])) == ["2026-10-16 #1"]
    assert "--again" in send(DATED + EVENING, name="other.csv", status=2)
    with closing(Store("podium.db")) as store:
        assert {each.player for each in store.leaderboard("club").players} <= {player, "Henk", "Bo"}
        assert [each.player for each in store.event("club", "2026-10-16 #1").entries] == [player, "Henk"]
    assert b"Jonas" not in Path("podium.db").read_bytes()


def test_races_named_by_their_day_keep_their_ids(club):
    head = "Date,1st,2nd,3rd\n"
    first, second = "2026-10-02,Ana,Ben,Clo\n", "2026-10-09,Ben,Ana,Clo\n"
    assert new_ids(head + first + second) == ["2026-10-02", "2026-10-09"]
    words, _ = streams("ingest", "results.csv", "--pool", "club", "--amend")
    assert "2 the same" in words
    send(head + first.replace("Clo", "Cleo") + second, status=2)
    assert "0 new, 1 differs, 0 gone, 1 the same" in streams("ingest", "results.csv", "--pool", "club", "--amend")[0]
    other = head + "2026-10-02,Ben,Cleo,Ana\n2026-10-16,Ana,Ben,Dan\n"
    assert new_ids(other, name="other.csv") == ["2026-10-02 #2", "2026-10-16"]
    assert "--again" in send(other, name="renamed.csv", status=2)
    assert listed() == ["2026-10-02", "2026-10-02 #2", "2026-10-09", "2026-10-16"]
