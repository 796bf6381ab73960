"""Sheets as leagues, clubs and programs keep them are read without options."""

import json

import pytest

import podium

RACES = [
    {"race": "A", "results": [{"driver": {"name": "Ana"}, "pos": 1}, {"driver": {"name": "Ben"}, "pos": 2}]},
    {"race": "B", "results": [{"driver": {"name": "Ben"}, "pos": 1}, {"driver": {"name": "Ana"}, "pos": 2}]},
]
Rows = list[tuple[str, str, float | None]]
A_THEN_B: Rows = [("A", "Ana", 1.0), ("A", "Ben", 2.0), ("B", "Ben", 1.0), ("B", "Ana", 2.0)]
SHEETS: dict[str, tuple[str, Rows]] = {
    "blocks": (
        "Race A - 2025-05-01,\nPos,Name\n1,Ana\n2,Ben\n,\nRace B - 2025-05-08,\nPos,Name\n1,Ben\n2,Ana\n",
        [("Race A - 2025-05-01", "Ana", 1.0), ("Race A - 2025-05-01", "Ben", 2.0),
         ("Race B - 2025-05-08", "Ben", 1.0), ("Race B - 2025-05-08", "Ana", 2.0)],
    ),
    "blocks of short titles": (
        "A\nPos;Name;Zeit\n1;Ana;60,1\n2;Ben;61,2\n\nB\nPos;Name;Zeit\n1;Ben;59,9\n2;Ana;60,0\n", A_THEN_B,
    ),
    "a place a column": ("Race,1st,2nd,3rd\nA,Ana,Ben,\nB,Ben,Ana,Cy\n", [*A_THEN_B, ("B", "Cy", 3.0)]),
    "a place a column, in German": ("Rennen;1. Platz;2. Platz;3. Platz\nA;Ana;Ben;\nB;Ben;Ana;\n", A_THEN_B),
    "ordinals and words": (
        "Course;Classement;Pilote\nA;1er;Ana\nA;2ème;Ben\nA;Ab.;Cy\n",
        [("A", "Ana", 1.0), ("A", "Ben", 2.0), ("A", "Cy", None)],
    ),
    "a degree sign": ("Gara;Pos.;Pilota\nA;1°;Ana\nA;2°;Ben\nA;Rit.;Cy\n",
                      [("A", "Ana", 1.0), ("A", "Ben", 2.0), ("A", "Cy", None)]),
    "in Swedish": ("Tävling;Plac;Förare\nA;1;Ana\nA;2;Ben\nB;1;Ben\nB;2;Ana\n", A_THEN_B),
    "bars of Markdown": ("| Race | Pos | Name |\n|---|:-:|---|\n| A | 1 | Ana |\n| A | 2 | Ben |\n", A_THEN_B[:2]),
    "empty columns at the edge": ("Lauf;Pl.;Fahrer;;\nA;1;Ana;;\nA;2;Ben;;\n;;;;\n", A_THEN_B[:2]),
    "a result that is a place": (
        "Event,Driver,Result\nA,Ana,1\nA,Ben,2\nA,Cy,DNF\nB,Ben,1\nB,Ana,2\n", [*A_THEN_B, ("A", "Cy", None)],
    ),
    "runs of skiers": ("Race,Rank,Name\nA,1,Ana\nA,2,Ben\nA,DNF1,Cy\n", [*A_THEN_B[:2], ("A", "Cy", None)]),
    "stages of a rally": ("Stage,Pos,Driver\nA,1,Ana\nA,2,Ben\nB,1,Ben\nB,2,Ana\n", A_THEN_B),
    "medals over names": ("🏁 Race,🥇,🥈,🥉\nA,Ana,Ben,\nB,Ben,Ana,Cy\n", [*A_THEN_B, ("B", "Cy", 3.0)]),
    "a place of two": ("Course,Clt,Grimpeur\nA,1,Ana\nA,2ex,Ben\nA,2ex,Cy\n", [*A_THEN_B[:2], ("A", "Cy", 2.0)]),
    "heights under a result": ("Event,Place,Athlete,Result\nA,1,Ana,1.65\nA,2,Ben,1.60\nA,,Cy,NH\n",
                               [*A_THEN_B[:2], ("A", "Cy", None)]),
    "attempts and the best": (
        "A\nSija;Nimi;1.;2.;3.;Tulos\n1;Ana;6,15;6,32;x;6,32\n2;Ben;x;5,72;5,77;5,77\n", A_THEN_B[:2],
    ),
    "a runner without a name": ("Race,Position,parkrunner\nA,1,Ana\nA,2,Ben\nA,3,Unknown\n", A_THEN_B[:2]),
    "points of pole and fastest lap": ("Pos,Driver,A,B,Pts\n1,Ana,1P,2F,43\n2,Ben,2,1PF,43\n", A_THEN_B),
    "qualified by place and by time": ("Lauf;Platz;Name;Zeit\nA;1;Ana;11,37 Q\nA;2;Ben;11,41 q\n", A_THEN_B[:2]),
    "entries of a board, each with its day": (
        "A\n#,Player,Time,Date\n1st,Ana,1h 02m 33s,2025-05-01\n2nd,Ben,1h 02m 40s,2024-03-01\n", A_THEN_B[:2],
    ),
    "ordinals below the names of players": (
        "Corrida;Pista;Ana;Ben\nA;Braga;1º;2º\nB;Faro;2º;1º\n", A_THEN_B,
    ),
    "teams below the runners": (
        "A\nPlace,Name,Time\n1,Ana,60\n2,Ben,61\n\nTeams\nPlace,School,Points\n1,North,3\n2,South,4\n", A_THEN_B[:2],
    ),
    "lists within JSON": (json.dumps(RACES), A_THEN_B),
    "lists within lists": (json.dumps({"season": 2025, "races": RACES}), A_THEN_B),
}  # fmt: skip
MATCHES = {  # with the value of each in the match
    "a crosstable with nothing in its corner": (
        ",Ana,Ben,Cy\nAna,x,1,½\nBen,0,x,1\nCy,½,0,x\n", "Ana 1 Ben 0 Ana 0.5 Cy 0.5 Ben 1 Cy 0", "score",
    ),
    "a crosstable with a title in its corner": (
        "Winter,Ana,Ben,Cy\nAna,,1,½\nBen,0,,1\nCy,½,0,\n", "Ana 1 Ben 0 Ana 0.5 Cy 0.5 Ben 1 Cy 0", "score",
    ),
    "boxes, each with a head of its own": (
        "Box 1\nPlayer,Ana,Ben,Pts\nAna,,3-1,3\nBen,1-3,,1\n\nBox 2\nPlayer,Cy,Dee,Pts\nCy,,0-3,0\nDee,3-0,,3\n",
        "Ana 3 Ben 1 Cy 0 Dee 3", "score",
    ),
    "words of a chess server": (
        json.dumps([{"white": {"username": "Ana", "result": "win"},
                     "black": {"username": "Ben", "result": "resigned"}},
                    {"white": {"username": "Cy", "result": "agreed"},
                     "black": {"username": "Ana", "result": "agreed"}}]),
        "Ana 1 Ben 0 Cy 0.5 Ana 0.5", "score",
    ),
    "players beside their teams": (
        "Home Team,Home Player,Away Player,Away Team,Home Frames,Away Frames\nX,Ana,Ben,Y,5,2\nX,Cy,Dee,Y,3,5\n",
        "Ana 5 Ben 2 Cy 3 Dee 5", "score",
    ),
    "corners": ("Red Corner,Blue Corner,Winner\nAna,Ben,Red\nCy,Dee,Blue\n", "Ana 1 Ben 0 Cy 0 Dee 1", "score"),
    "answers of a form": (
        "Timestamp,Who won?,Who lost?\n5/17/2025 20:14:33,Ana,Ben\n5/18/2025 20:15:33,Ben,Ana\n",
        "Ana 1 Ben 2 Ben 1 Ana 2", "position",
    ),
    "both in one cell": (
        "Date,Match,Score\n2025-01-01,Ana vs Ben,3-1\n2025-01-02,Cy vs. Ana,0-2\n", "Ana 3 Ben 1 Cy 0 Ana 2", "score",
    ),
    "both in one cell, with a dash": ("Paarung;Ergebnis\nNord - Süd;3:1\nOst - Nord;0:2\n", "Nord 3 Süd 1 Ost 0 Nord 2",
                                      "score"),
    "two against two in one cell": (
        "Match,Score\nAna / Ben vs Cy / Dee,2-1\nEva / Flo vs Ana / Ben,3-0\n",
        "Ana 2 Ben 2 Cy 1 Dee 1 Eva 3 Flo 3 Ana 0 Ben 0", "team_score",
    ),
    "an opponent": (
        "Date,Player,Opponent,Result\n2025-01-01,Ana,Ben,W\n2025-01-02,Ana,Cy,L\n2025-01-03,Ben,Cy,D\n",
        "Ana 1 Ben 0 Ana 0 Cy 1 Ben 0.5 Cy 0.5", "score",
    ),
    "words for teams": (
        "Match,Team,Player,Kills,Result\n1,Red,Ana,9,Win\n1,Blue,Ben,15,Loss\n1,Red,Cy,3,Win\n", "Ana 1 Ben 0 Cy 1",
        "team_score",
    ),
    "scores by player": ("date,p1,p2,p1 score,p2 score\n2025-01-01,Ana,Ben,3,1\n", "Ana 3 Ben 1", "score"),
    "legs": ("Spieler 1;Spieler 2;Legs\nAna;Ben;3-2\nCy;Ana;1-3\n", "Ana 3 Ben 2 Cy 1 Ana 3", "score"),
    "full time": ("Date,Home,Away,FT\n2025-01-01,Ana,Ben,3-2\n", "Ana 3 Ben 2", "score"),
    "who won": ("game,player,won\n1,Ana,1\n1,Ben,0\n2,Ana,0\n2,Cy,1\n", "Ana 1 Ben 0 Ana 0 Cy 1", "score"),
    "true and false": ("game,player,winner\n1,Ana,true\n1,Ben,false\n", "Ana 1 Ben 0", "score"),
    "football's columns": (
        "Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR\n16/08/2024,Nord,Süd,1,0,H\n17/08/2024,Ost,West,0,2,A\n",
        "Nord 1 Süd 0 Ost 0 West 2", "score",
    ),
    "chess programs' dates": (
        "White,Black,Result,Date\nAna,Ben,1-0,2025.03.01\nCy,Dee,1/2-1/2,2025.03.02\n", "Ana 1 Ben 2 Cy 1 Dee 1",
        "position",
    ),
}  # fmt: skip


def read(tmp_path, text):
    path = tmp_path / ("sheet.json" if text[0] in "[{" else "sheet.csv")
    path.write_text(text, encoding="utf-8")
    return podium.read_results(path, lenient=True).frame


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_of_races_is_read_without_options(name, tmp_path):
    text, rows = SHEETS[name]
    assert sorted(read(tmp_path, text).select("event_id", "player", "position").rows(), key=str) == sorted(
        rows, key=str
    )


@pytest.mark.parametrize("name", MATCHES)
def test_a_sheet_of_matches_is_read_without_options(name, tmp_path):
    text, wanted, column = MATCHES[name]
    words = wanted.split()
    frame = read(tmp_path, text)
    assert frame.select("player", column).rows() == [*zip(words[::2], map(float, words[1::2]), strict=True)]
    assert podium.rate(frame, "elo").ratings.height == frame["player"].n_unique()


def test_dates_are_read_as_programs_write_them(tmp_path):
    for written, moment in {
        "45672": "2025-01-15 00:00",
        "2025.03.01": "2025-03-01 00:00",
        "2025/01/31 10:05:00": "2025-01-31 10:05",
        "6/14/2025 8:30 PM": "2025-06-14 20:30",
        "14.06.2025 20:30:00": "2025-06-14 20:30",
        "2025/06/14 8:30:00 PM GMT+2": "2025-06-14 18:30",
    }.items():
        frame = read(tmp_path, f"Date,Race,Place,Driver\n{written},A,1,Ana\n{written},A,2,Ben\n")
        assert f"{frame['started_at'][0]:%Y-%m-%d %H:%M}" == moment


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Date,Player,Opponent,Result\n2025-01-01,Ana,Ben,W\n2025-01-01,Ben,Ana,L\n2025-01-02,Ana,Ben,W\n",
            "2 rows (2, 3) list a match from",
        ),
        (
            "Date,Player,Opponent,Result\n2025-01-01,Ana,Ben,W\n2025-01-01,Ben,Ana,W\n",
            "2 rows (2, 3) contradict the rows from the other side",
        ),
        (
            "Player,Opponent,Result\nAna,Ben,W\nBen,Ana,L\n",  # on one day or on two
            "2 rows (2, 3) list a match from",
        ),
        (
            "Race,Pos,Name,,\nA,1,Ana,,x\nA,2,Ben,,\n",
            "row 2: 'x' is in a column without a heading. Type podium import",
        ),
        (
            "Race,Date,Pos,Name\nA,2024-03-02,1,x\nA,2024-03-02,2,y\nA,2024-03-23,3,z\nA,2024-03-23,4,w\n",
            "an event can have only one. Type podium import",
        ),
        ("White,Black,Result,Date\nAna,Ben,1-0,soon\n", "row 2, column Date: 'soon' is not a date"),
        ("Race A,\nPos,Name\n1,Ana\n,Ben\n2,Cy\nRace B,\nPos,Name\n1,Ana\n2,Ben\n", "row 4, column Pos: is empty"),
        ("Event,Player,Result\nA,Ana,2\nA,Ben,1\n", "no column says who beat whom"),  # points or places
        ("Event,Player,Wins\nA,Ana,2\nA,Ben,1\nA,Cy,3\n", "no column says who beat whom"),
        (
            "Scratch\nPos,Name,Time\n1,Ana,60\n2,Ben,61\n\nPoints race\nPos,Name,Points\n1,Ana,9\n2,Ben,6\n",
            "'Points race' must be a place",
        ),
        ("Pos,Name,Time\n1,Ana,1\n2,Ben,2\nPos,Name,Time\n1,Ben,1\n2,Ana,2\n", "'Pos' must be a place"),
    ],
)
def test_unclear_sheets_are_rejected(text, message, tmp_path):
    with pytest.raises(podium.ResultsError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
