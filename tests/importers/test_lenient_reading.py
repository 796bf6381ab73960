"""Lenient reading: tables that are understood, questions about ambiguous ones, and their messages."""

import json
import re

import polars as pl
import pytest
from workbooks import write_xlsx

import podium
from podium.cli.commands import build
from podium.errors import FormatError
from podium.importers import Options, read_format
from podium.results.headings import near_miss

RACES = "event_id,player,position\nr1,ana,1\nr1,ben,2\n"


def read(tmp_path, text, name="races.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return podium.read_results(path, lenient=True, **options)


def refusal(tmp_path, text, name="races.csv"):
    with pytest.raises(podium.ResultsError) as caught:
        read(tmp_path, text, name)
    return str(caught.value)


def run(capsys, *words):
    build()([str(word) for word in words], standalone_mode=False)
    return capsys.readouterr()


def test_a_results_table_is_read_without_notes(tmp_path):
    results = read(tmp_path, RACES)
    assert results.notes == ()
    assert results.frame.equals(podium.read_results(tmp_path / "races.csv").frame)


UNDERSTOOD = [
    ("Event ID, Player ,POSITION\nr1,ana,1\nr1,ben,2\n", ""),
    ("Race;Driver;Pos.\nr1;ana;1.\nr1;ben;2.\n", "semicolons"),
    ("Rennen\tName\t#\nr1\tana\t1st\nr1\tben\t=2\n", "tabs"),
    ("Gara,Pilota,Posizione,Points\nr1,ana,1,25\nr1,ben,2,18\n", "ignored Points"),
    ("event_id,player,position,time\nr1,ana,1,1:01.5\nr1,ben,2,94h 33' 14''\n", "clock times"),
    ("event_id,player,position,Datum\nr1,ana,1,24.3.2024\nr1,ben,2,24.3.2024\n", "dates as %d.%m.%Y"),
    ("event_id,player,position,date\nr1,ana,1,20240324\nr1,ben,2,20240324\n", "dates as 20240324"),
    ("event_id;player;position;time_s\nr1;ana;1;61,5\nr1;ben;2;62,25\n", "decimal commas"),
    (RACES.encode("utf-16"), "UTF-16"),
    ("event_id,player,Pos\nr1,ana,1\n,,\n\nr1,ben,2\n", ""),
    ("event_id,player,position,Status\nr1,ana,1,Finished\nr1,ben,2,ok\n", ""),
]


@pytest.mark.parametrize(("text", "note"), UNDERSTOOD)
def test_clear_tables_are_read_with_a_note(text, note, tmp_path):
    results = read(tmp_path, text)
    assert results.frame.select("event_id", "player", "position").rows() == [("r1", "ana", 1.0), ("r1", "ben", 2.0)]
    assert len(results.notes) == 1
    assert note in results.notes[0]


@pytest.mark.parametrize("column", ["position", "time", "status"])
def test_status_words_are_known_in_any_case_and_column(column, tmp_path):
    cells = {"position": "1", "time": "60", "status": "Finished"}
    words = ["DNF", "dns", "Dsq", "RET", "Nc"]
    lines = [f"r1,p{n},{cells[column] if n == 0 else words[n - 1]},{n + 1 if n == 0 else ''}" for n in range(6)]
    text = f"event_id,player,{column},{'score' if column == 'status' else 'team_score'}\n" + "\n".join(lines)
    frame = read(tmp_path, text).frame
    assert frame["status"].to_list() == ["finished", "dnf", "did_not_start", "disqualified", "dnf", "dnf"]


CHOICES = [
    ("event_id,player,position,wieght\nr,a,1,1\nr,b,2,1\n", "column wieght: is very similar to weight"),
    ("event_id,player,postion\nr,a,1\nr,b,2\n", "column postion: is very similar to position"),
    ("Race,Driver,Pos,Rank\nr,a,1,2\nr,b,2,1\n", "'Pos' and 'Rank' may each be position"),
    (
        "Race,Driver,Pos,Date\nr,a,1,3/11/2024\nr,b,2,3/11/2024\n",
        "format=%d/%m/%Y (3 November 2024), or --set columns.started_at.format=%m/%d/%Y (11 March 2024)",
    ),
    ("Race;Driver;Time\nr;a;1,5\nr;b;1.5\n", "has both 1.5 and 1,5. Which is the decimal mark? Type podium import"),
    ("Race,Driver,Total\nr,a,10\nr,b,20\n", "Is it Total (numbers, which may be seconds, places or points)?"),
    ("event_id,player,time_s\nr1,Max,91.7\nr1,Pia,+22.457\n", "row 3, column time_s: '+22.457' looks like a gap"),
    ("Race,Driver,Time\nr1,Max,91.7\nr1,Pia,+22.457\n", "--set columns.time_s.gap=leader (a gap to the winner)"),
    ("Race,Driver,Pos\nr,a,1\n,,\nr,b,Engine\n", "row 4, column Pos: 'Engine' must be a place"),
    ("Race,Driver\nr,a\nr,b\n", "no column says who beat whom"),
    ("Fahrzeug,Ort\na,b\n", "Other layouts, such as a match per row or a grid, need a map"),
    (
        "event_id,player,position\nr,\xe9,1\nr,b,2\n".encode("latin-1"),
        "is not UTF-8 text (byte 27). Save it as CSV UTF-8",
    ),
]


@pytest.mark.parametrize(("text", "message"), CHOICES)
def test_ambiguous_tables_are_rejected_with_the_choices(text, message, tmp_path):
    assert message in refusal(tmp_path, text)


def test_gaps_are_ignored_if_places_decide(tmp_path):
    results = read(tmp_path, "Race,Driver,Pos,Time\nr1,Max,1,91.7\nr1,Pia,2,+22.457\n")
    assert "time_s" not in results.frame.columns
    assert "ignored Time ('+22.457' is a gap" in results.notes[0]


def test_a_near_miss_is_a_misspelling_only():
    assert near_miss("Wieght", ["weight"]) == "weight"
    assert [near_miss(each, ["team", "score", "position"]) for each in ("steam", "score2", "scores", "points")] == [
        None
    ] * 4


MISLED = [  # the file, the misleading old message, the new message
    ("event_id,player,Rank\nr,a,1\nr,b,1\n", "did you mean ranked?", None),
    ("event_id,player,position,Year\nr,a,1,2024\nr,b,2,2024\n", "did you mean player?", None),
    ("event_id\tplayer\tposition\nr\ta\t1\nr\tb\t2\n", "column event_id\tplayer\tposition: is not a column", None),
    ("Race;Driver;Pos;T\nr;a;1;1,5\nr;b;2;1,6\n", "found more fields than defined in 'Schema'", None),
    ("event_id,player,position,started_at\nr,a,1,20230102\nr,b,2,20230102\n", "'20230102' is not a date", None),
    ("event_id,player,position\nr,a,1\nr,b,NC\n", "is not a status", None),
    ("event_id,player,position,status\nr,a,1,\nr,b,,Engine\n", "(finished, quit, dnf, disqualified, did_not_start)\n",
     "the cost of each is in: podium columns status"),
    ("event_id,player,position\nq,a,1\nq,b,2\nr,a,1\nr,b,\n", "give each a position, a score or a time_s\n",
     "races.csv row 5, column position: is empty, and no other column compares these finishers; give each a position"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "before", "now"), MISLED)
def test_misleading_old_messages_are_gone(text, before, now, tmp_path):
    try:
        answer = "\n".join(read(tmp_path, text).notes)
        assert now is None
    except podium.ResultsError as error:
        answer = str(error)
        assert now is not None, answer
        assert now in answer
    assert before not in answer


def test_strict_reading_suggests_the_intended_column(tmp_path):
    for heading, hint in (("Rank", "position"), ("Driver", "player"), ("Race", "event_id"), ("Date", "started_at")):
        with pytest.raises(podium.ResultsError, match=f"column {heading}: .* did you mean {hint}?"):
            podium.read_results([{"event_id": "e", "player": "a", heading: "1"}])
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results([{"event_id": "e", "player": "a", "Year": "1", "entries": 1}])
    assert "did you mean" not in str(caught.value)
    for text, message in (
        (b"event_id;player\n", "is a whole header: its cells are separated by a semicolon"),
        (b"PK\x03\x04", "is a workbook or an archive"),
    ):
        path = tmp_path / "x.csv"
        path.write_bytes(text)
        with pytest.raises(podium.ResultsError, match=message):
            podium.read_results(path)


def test_nested_rows_in_json_get_a_hint(tmp_path):
    text = json.dumps({"entries": [{"user": "a", "place": 1}]})
    assert 'column entries: holds the rows. Read them with a map that has [source] records = "entries[]"' in refusal(
        tmp_path, text, "x.json"
    )


def test_a_workbook_is_read(tmp_path):
    write_xlsx(tmp_path / "x.xlsx", Tabelle=[["Lauf", "Fahrer", "Platz"], [1, "Ana", 1], [1, "Ben", 2]])
    results = podium.read_results(tmp_path / "x.xlsx", lenient=True)
    assert results.frame.select("event_id", "player", "position").rows() == [("1", "Ana", 1.0), ("1", "Ben", 2.0)]
    assert "sheet Tabelle" in results.notes[0]


def test_errors_are_grouped_and_name_rows_as_a_spreadsheet_does(tmp_path):
    cells = [
        (f"r{n // 3}", f"p{n % 3}", "" if n % 3 == 2 else n % 3 + 1, "Engine" if n % 3 == 2 else "ok")
        for n in range(159)
    ]
    text = "event_id,player,position,status\n" + "\n".join(",".join(map(str, row)) for row in cells)
    lines = refusal(tmp_path, text).splitlines()
    assert lines[0].startswith("races.csv: column status, 53 rows (4, 7, 10, …): 'Engine' is not a status")
    assert len(lines) == 2


def test_check_reports_notes_and_needed_columns(tmp_path, capsys):
    good, single, empty = tmp_path / "good.csv", tmp_path / "single.csv", tmp_path / "empty.csv"
    good.write_text("Race,Driver,Pos,Laps\nr,a,1,9\nr,b,DNF,8\n")
    single.write_text("event_id,player,position\nr1,ana,1\n")
    empty.write_text("event_id,player,position\n")
    shown = run(capsys, "check", good)
    assert shown.err.startswith(
        "good.csv: read Race as event_id, Driver as player, Pos as position; understood DNF as dnf"
    )
    assert "good.csv: 2 rows, 1 event, 2 players: all good" in shown.out
    assert "stk, stk-rd would need, for every finisher: time_s\n" in shown.out
    for path, why in ((single, "the only event has a single entrant"), (empty, "it has a header but no rows")):
        out = run(capsys, "check", path).out
        assert f"nothing here can be rated: {why}" in out
        assert "all good" not in out
        with pytest.raises(podium.UnknownError, match=f"there is no rated event: {why}"):
            podium.rate(path).pool()


def test_check_fixes_clear_cells_and_leaves_the_others(tmp_path, capsys):
    path, mended = tmp_path / "races.csv", tmp_path / "mended.csv"
    path.write_text("Race;Driver;Pos;Zeit\nr;a;1;1:01,5\nr;b;2;1:02,5\nr;c;DNF;\nq;a;1;60\nq;b;x;61\n")
    with pytest.raises(podium.ResultsError, match=r"races\.csv row 6, column Pos: 'x' must be a place"):
        run(capsys, "check", path, "--fix", mended)
    text = mended.read_text()
    assert text.splitlines()[1:4] == ["r,a,1,61.5,finished", "r,b,2,62.5,finished", "r,c,,,dnf"]
    assert text.splitlines()[5] == "q,b,x,61,finished"
    mended.write_text(text.replace("q,b,x", "q,b,2"))
    assert podium.read_results(mended).frame.height == 5
    with pytest.raises(podium.PodiumError, match="is the input file"):
        run(capsys, "check", path, "--fix", path)
    assert run(capsys, "check", mended, "--fix", tmp_path / "again.parquet").err == ""
    assert pl.read_parquet(tmp_path / "again.parquet").height == 5


def test_strict_accepts_only_known_columns(tmp_path, capsys):
    path = tmp_path / "races.csv"
    path.write_text("event_id,player,position,Points\nr,a,1,1\nr,b,2,1\n")
    assert "ignored Points" in run(capsys, "check", path).err
    with pytest.raises(podium.ResultsError, match="column Points: is not a column of a results table"):
        run(capsys, "check", path, "--strict")


def test_a_guessed_map_is_shown_and_saved(tmp_path, capsys):
    path, saved = tmp_path / "races.csv", tmp_path / "map.toml"
    path.write_text("Race;Driver;Pos;Zeit\nr;a;1;1:01,5\nr;b;2;+2,5\n")
    shown = run(capsys, "import", "csv", path, "--guess", "--save", saved).out
    assert 'event_id = "Race"' in shown
    assert saved.read_text() in shown
    assert (
        run(capsys, "leaderboard", path, "--map", saved, "-s", "elo", "-f", "csv")
        .out.splitlines()[1]
        .startswith("default,1,a")
    )
    timed = run(capsys, "import", "csv", path, "--time", "Zeit", "--gap-to-winner", "--out", "-")
    assert timed.out.splitlines()[1:] == ["r,a,1,61.5", "r,b,2,64"]
    with pytest.raises(podium.ParameterError, match="needs no options that name columns"):
        run(capsys, "import", "pgn", path, "--event", "x", "--dry-run")


def test_unknown_names_are_answered_with_suggestions(tmp_path, capsys):
    path = tmp_path / "races.csv"
    path.write_text("event_id,player,position\nBahrain,Max Verstappen,1\nBahrain,Lando Norris,2\n")
    for words, hint in (
        (("plot", "history", path), "did you mean 'histories'?"),
        (("plot", "histories", path, "-s", "elo", "--player", "Verstappen"), "did you mean 'Max Verstappen'?"),
        (("explain", path, "-s", "elo", "-e", "bahrain", "-p", "Lando Norris"), "did you mean 'Bahrain'?"),
        (("explain", path, "-s", "elo", "-e", "Bahrain", "-p", "Norris"), "did you mean 'Lando Norris'?"),
    ):
        with pytest.raises(podium.PodiumError) as caught:
            run(capsys, *words)
        assert hint in str(caught.value)


def test_the_service_and_its_client_have_plain_messages():
    from podium.service.api.bodies import unknown_field

    assert unknown_field("rank") == "is not a field of this body; did you mean position?"
    assert unknown_field("postion") == "is not a field of this body; did you mean position?"
    assert unknown_field("colour") == "is not a field of this body"
    with pytest.raises(podium.ParameterError, match="start with http:// or https://"):
        podium.Client("127.0.0.1:8765", "key")


THOUSANDS = [
    ('event_id,player,score\nr1,Ana,"1,234"\nr1,Ben,999\nr1,Cleo,"12,500"\n', ",", "1234 or 1.234"),
    ("event_id;player;score\nr1;Ana;1.234.567\nr1;Ben;999\nr1;Cleo;12.500\n", ".", "1234567 or"),
]


@pytest.mark.parametrize(("text", "mark", "readings"), THOUSANDS)
def test_thousands_are_asked_about(text, mark, readings, tmp_path, capsys):
    path, out = tmp_path / "scores.csv", tmp_path / "results.csv"
    path.write_text(text)
    with pytest.raises(podium.ResultsError, match=f"may be {readings}.*source.thousands={re.escape(mark)}"):
        podium.read_results(path, lenient=True)
    run(capsys, "import", "csv", path, "-o", out, "--thousands", mark)
    assert podium.read_results(out).frame["score"].to_list() in ([1234.0, 999.0, 12500.0], [1234567.0, 999.0, 12500.0])


@pytest.mark.parametrize(
    "cells", [("1,5", "2,250"), ("1,234", "1000"), ("1,2345", "2,000"), ("1.234,5", "2.000,0"), ("999", "12")]
)
def test_other_scores_need_no_question(cells, tmp_path):
    text = "event_id;player;score\n" + "".join(f"r1;p{number};{cell}\n" for number, cell in enumerate(cells))
    if "1.234,5" in cells:
        assert "may be" not in refusal(tmp_path, text)
    else:
        assert read(tmp_path, text).frame.height == 2


@pytest.mark.parametrize("name", ['["a", "b"]', "true"])
def test_a_name_that_is_not_text_is_rejected_with_its_line(name, tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(f'{{"event_id": "e", "player": "x"}}\n{{"event_id": "e", "player": {name}}}\n')
    with pytest.raises(podium.ResultsError, match=r"line 2, column player: .* is not text"):
        podium.read_results(path, lenient=True)


def test_a_row_with_too_many_cells_is_skipped_alone_and_reported(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("event_id,player,position\ne,Doe, John,1\ne,x,2\ne,y,3\n\nf,x,1\nf,y,nowhere\n")
    imported = read_format("csv", [path], Options(skip_bad=True))
    assert imported.table.select("event_id", "player").rows() == [("e", "x"), ("e", "y")]
    assert [fault.place or f"row {fault.row}" for fault in imported.bad] == ["row 2", "row 7"]
    with pytest.raises(podium.ResultsError, match="row 2: has 4 cells"):
        read_format("csv", [path])


@pytest.mark.parametrize(
    ("form", "text"),
    [("startgg", '{"errors": [{"message": "x"}]}'), ("xonstat", "V 8\nC x\n"), ("csv", "event_id,player\ne\n")],
)
def test_an_empty_result_is_an_error_even_with_skip_bad(form, text, tmp_path):
    path = tmp_path / ("a.json" if form == "startgg" else "a.csv")
    path.write_text(text)
    with pytest.raises((podium.ResultsError, FormatError)):
        read_format(form, [path], Options(skip_bad=True))
