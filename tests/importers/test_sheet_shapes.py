"""Shapes of sheets: the table of each, the equivalent map, and the questions."""

import pytest
from workbooks import write_xlsx

import podium
from podium.importers import Options
from podium.importers.tables.cells import parse_result
from podium.importers.tables.crosstables import parse_game
from podium.importers.tables.maps import build_map, tomllib, write_map
from podium.importers.tables.read_sheet import answer, answer_questions, map_of_files, questions

SHEETS = {
    "winners": "Datum;Sieger;Verlierer;Ergebnis\n12.01.2025;Ana;Ben;6:4 6:3\n26.01.2025;Cy;Ana;w.o.\n"
    "26.01.2025;Ana;Ben;6:0\n",
    "games": "Date,White,Black,Result\n05/03/2025,Ana,Ben,1-0\n19/03/2025,Cy,Ben,½:½\n19/03/2025,Ana,Cy,+--\n"
    "19/03/2025,Ben,Bye,1-0\n",
    "numbers": "Nr;Name;1;2;3\n1;Ana;x;1;½\n2;Ben;0;x;1\n3;Cy;½;0;x\n",
    "half": "Name;1;2;3\nAna;x;1;½\nBen;;x;1\nCy;;;x\n",
    "names": "Player,Ana,Ben,Cy\nAna,,3:1,2:2\nBen,1:3,,0:1\nCy,2:2,1:0,\n",
    "swiss": "Open,,,,\n12.01.2025,,,,\nRk.,SNo,Name,1.Rd,2.Rd\n1,1,Ana,3w1,2b½\n2,3,Cy,1b0,-1\n3,2,Ben,+,1w½\n",
    "two lines": "Runde;Paarung;;Ergebnis;\n;Heim;Gast;Heim;Gast\n1;Ana;Ben;3;1\n1;Cy;Dee;2;2\n",
    "rounds": "Name,R1,R2\nAna,1,2\nBen,2,1\nCy,DNF,3\n",
    "points": "Name;R1;R2;Punkte\nAna;25;12,5;37,5\nBen;18;25;43\n",
    "doubles": "Heim,Gast,Sätze\nAna / Ben,Cy / Dee,2:1\nEva / Flo,Ana / Ben,0:2\n",
}
EVENTS = {  # number of events and of rows
    "winners": (2, 4), "games": (2, 4), "numbers": (1, 6), "half": (1, 6), "names": (1, 6), "swiss": (2, 4),
    "two lines": (2, 4), "rounds": (2, 6), "points": (2, 4), "doubles": (2, 8),
}  # fmt: skip


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_and_its_map_give_the_same_table(name, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(SHEETS[name], encoding="utf-8")
    frame = podium.read_results(path, lenient=True).frame
    assert (frame["event_id"].n_unique(), frame.height) == EVENTS[name]
    document = tomllib.loads(write_map(map_of_files([str(path)], Options()).document))
    assert podium.read_results(path, map=document).frame.equals(frame)


def read(tmp_path, text, name="sheet.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return podium.read_results(path, lenient=True)


def test_matches_are_named_by_date_players_and_a_count(tmp_path):
    games = "Date,Winner,Loser\n2025-01-12,Ana,Ben\n2025-01-12,Ana,Ben\n2025-01-19,Ben,Ana\n"
    ids = read(tmp_path, games).frame["event_id"].unique(maintain_order=True).to_list()
    assert ids == ["2025-01-12 Ana - Ben", "2025-01-12 Ana - Ben #2", "2025-01-19 Ben - Ana"]
    above = games.replace("2025-01-12,Ana,Ben\n", "2025-01-05,Cy,Ben\n2025-01-12,Ana,Ben\n", 1)
    assert read(tmp_path, above).frame["event_id"].unique(maintain_order=True).to_list()[1:] == ids


def test_forfeits_and_byes_are_counted(tmp_path):
    notes = read(tmp_path, SHEETS["games"]).notes
    assert notes[-1] == "left out 1 forfeit, 1 bye"


def test_bye_is_an_ordinary_player_in_a_race(tmp_path):
    frame = read(tmp_path, "Race,Driver,Pos\nr,Bye,1\nr,Ana,2\n").frame
    assert frame["player"].to_list() == ["Bye", "Ana"]


def test_a_game_with_two_winners_is_rejected(tmp_path):
    for text in ("Name;1;2;3\nA;x;1;1\nB;1;x;1\nC;0;0;x\n", "No,Name,R1,R2\n1,A,2w1,2b0\n2,B,1b1,1w1\n"):
        with pytest.raises(podium.ResultsError, match=r"column B: '1' does not fit its mirror|opponent's cell"):
            read(tmp_path, text)


def test_all_sheets_are_read_except_standings(tmp_path):
    rounds = {
        f"Runde {n}": [[f"Runde {n}, {day}.01.2025"], ["Spieler 1", "Spieler 2", "Ergebnis"], ["Ana", "Ben", "6:4"]]
        for n, day in ((1, 12), (2, 26))
    }
    write_xlsx(tmp_path / "x.xlsx", **rounds, Gesamt=[["Platz", "Spieler", "Punkte"], [1, "Ana", 2], [2, "Ben", 0]])
    results = podium.read_results(tmp_path / "x.xlsx", lenient=True)
    assert results.frame["started_at"].dt.strftime("%d.%m.").to_list() == ["12.01.", "12.01.", "26.01.", "26.01."]
    assert "sheets Runde 1, Runde 2" in results.notes[0]


OPEN = [  # a sheet, the key that decides it, and the number of rows
    ("Turnier;Platz;Name\nA;1;Ana\n;2;Ben\nB;1;Ben\n;2;Ana\n", "source.fill", 4),
    ("Date,Home,Away,Result\n3/4/2025,Ana,Ben,3:1\n5/4/2025,Ana,Cy,2:2\n", "columns.started_at.format", 4),
    ("Name,R1,R2\nAna,25,18\nBen,18,25\n", "columns.score", 4),
]


@pytest.mark.parametrize(("text", "key", "height"), OPEN)
def test_an_open_question_is_asked_once_and_answered(text, key, height, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results(path, lenient=True)
    (question,) = questions([str(path)])
    choice = question.choices[0]
    assert choice.key == key
    assert "podium import sheet.csv --set " in str(caught.value)
    options = Options(map=answer(choice.key, choice.value), guess=True)
    assert questions([str(path)], options) == []
    mapping = map_of_files([str(path)], options)
    assert podium.read_results(path, map=tomllib.loads(write_map(mapping.document))).frame.height == height
    assert build_map(mapping.document).rules()


UNKNOWN = [  # a table with unknown headings, the answers in the order of the questions, and the column that is read
    ("When;Whö;Res\na;Ana;12,5\na;Ben;11,25\nb;Ana;9\nb;Ben;8\n",
     ["columns.player=Whö", "columns.event_id=When", "columns.score=Res"], "score", [12.5, 11.25, 9, 8]),
    ("Whö;Res\nAna;1:02.5\nBen;DNF\nCy;58.5\n",
     ["columns.player=Whö", "columns.event_id={file}", "columns.time_s=Res"], "time_s", [62.5, None, 58.5]),
    ("Whö,R1,R2\nAna,25,18\nBen,18,25\n", ["columns.player=Whö", "columns.score=cell"], "score", [25, 18, 18, 25]),
    ("Race,Driver,Rank,Pos\nr,Ana,2,1\nr,Ben,1,2\n", ["columns.position=Pos"], "position", [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answers", "column", "values"), UNKNOWN)
def test_questions_about_unknown_headings_come_one_after_the_other(text, answers, column, values, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(text, encoding="utf-8")
    for count in range(len(answers)):
        open_ones, _ = answer_questions(str(path), answers[:count])
        assert [choice and choice.answer for _, choice in open_ones] == [*answers[:count], None]
        assert answers[count] in {each.answer for each in open_ones[-1][0].choices}
    chosen, document = answer_questions(str(path), [*answers, "join.x.file=/etc/passwd", "columns.player=R1"])
    assert [choice.answer for _, choice in chosen] == answers
    whole = map_of_files([str(path)], Options(map=document, guess=True)).document
    frame = podium.read_results(path, map=tomllib.loads(write_map(whole))).frame.sort("event_id", maintain_order=True)
    assert frame[column].to_list() == values


RESULTS = {
    "1-0": (1, 0), "½-½": (0.5, 0.5), "½:½": (0.5, 0.5), "1/2-1/2": (0.5, 0.5), "0,5-0,5": (0.5, 0.5), "6:4": (6, 4),
    "6:4 7:5": (2, 0), "6-4, 3-6, [10-8]": (2, 1), "7-6(3) 6-4": (2, 0), "1": (1, 0), "½": (0.5, 0.5), "3": (3, None),
    "w.o.": None, "": None, "6:4 7": None, "0\u20131": (0, 1),
}  # fmt: skip


@pytest.mark.parametrize("text", RESULTS)
def test_results_in_many_forms(text):
    assert parse_result(text) == RESULTS[text]


@pytest.mark.parametrize(
    ("text", "game"),
    [("4w1", ("4", 1.0)), ("12b½", ("12", 0.5)), ("7w0", ("7", 0.0)), ("3b+", ("3", None)), ("5w=", ("5", 0.5))],
)
def test_games_of_a_swiss_list(text, game):
    assert parse_game(text) == game


def test_byes_and_other_words_of_a_swiss_list_are_not_games():
    assert [parse_game(each) for each in ("-1", "-½", "+", "bye", "0000-U")] == [None] * 5
    for text in ("12", "5w", "4w7", "1:0"):
        with pytest.raises(ValueError, match=text):
            parse_game(text)


@pytest.mark.parametrize("place", [False, True])
def test_laps_count_before_times(place, tmp_path):
    rows = [("Ana", 23, "38:49.1"), ("Ben", 23, "38:51.2"), ("Cy", 21, "36:21.8")]
    head = "Race,Driver,Laps,Time" + (",Pos" if place else "")
    lines = [f"r,{name},{laps},{time}{f',{n}' if place else ''}" for n, (name, laps, time) in enumerate(rows, start=1)]
    frame = read(tmp_path, "\n".join([head, *lines])).frame
    assert frame.sort("position")["player"].to_list() == ["Ana", "Ben", "Cy"]
    assert frame.filter(player="Cy")["time_s"].to_list() == [None]
