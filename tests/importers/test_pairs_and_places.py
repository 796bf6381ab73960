"""Pairs of players in several forms, a column for each place, and cells without a player."""

import pytest
from test_lenient_reading import run
from test_sheets_of_others import heats_in, read

import podium
from podium.errors import ResultsError

READ = {
    "two races of one date": (
        "Date,1st,2nd,3rd\n2026-10-02,Jo,Al,Bo\n2026-10-02,Al,Jo,Bo\n2026-10-09,Bo,Al,Jo\n",
        "Jo>Al>Bo Al>Jo>Bo Bo>Al>Jo",
    ),
    "the same race again": ("Date,1st,2nd,3rd\n2026-10-02,Jo,Al,Bo\n2026-10-02,Jo,Al,Bo\n", "Jo>Al>Bo Jo>Al>Bo"),
    "a track again": ("Race,1st,2nd,3rd\nSpa,Jo,Al,Bo\nSpa,Al,Jo,Bo\n", "Jo>Al>Bo Al>Jo>Bo"),
    "a race with fewer": ("Date,1st,2nd,3rd\n2026-10-02,Jo,Al,Bo\n2026-10-02,Al,Jo,\n", "Jo>Al>Bo Al>Jo"),
    "one race": ("Date,1st,2nd,3rd,4th\n2026-10-02,Jo,Al,Bo,Cy\n", "Jo>Al>Bo>Cy"),
    "one race in German": ("Datum;1.;2.;3.\n02.10.2026;Jo;Al;Bo\n", "Jo>Al>Bo"),
    "places and nothing else": ("1st,2nd,3rd\nJo,Al,Bo\nAl,Jo,\nJo,Al,Bo\n", "Jo>Al>Bo Al>Jo Jo>Al>Bo"),
    "places and nothing else in German": ("1. Platz;2. Platz;3. Platz\nJo;Al;Bo\nAl;Jo;Bo\n", "Jo>Al>Bo Al>Jo>Bo"),
    "one row of places": ("1st,2nd,3rd\nJo,Al,Bo\n", "Jo>Al>Bo"),
    "places in words": ("First,Second,Third,Fourth\nJo,Al,Bo,Cy\nAl,Cy,Jo,\n", "Jo>Al>Bo>Cy Al>Cy>Jo"),
    "names of a letter": ("Date,1st,2nd,3rd\n2026-10-02,李,B,Ö\n2026-10-02,Ö,李,B\n", "李>B>Ö Ö>李>B"),
    "pairs in four ways": (
        "Home,Away,Score\nCleo/Dev,Ana & Ben,2-1\nBen + Dev,Cleo and Ana,0-2\n",
        "Cleo/Dev>Ana/Ben Cleo/Ana>Ben/Dev",
    ),
    "pairs in another order": (
        "Winner,Loser\nCleo/Dev,Ana & Ben\nBen/Ana,Dev & Cleo\n",
        "Cleo/Dev>Ana/Ben Ben/Ana>Dev/Cleo",
    ),
    "pairs in German": ("Heim;Gast;Ergebnis\nCleo und Dev;Ana/Ben;2:1\n", "Cleo/Dev>Ana/Ben"),
    "pairs and places": ("Event,Name,Place\n1,Cleo/Dev,1\n1,Ana & Ben,2\n", "Cleo/Dev>Ana/Ben"),
    "pairs and a bye": ("Winner,Loser\nCleo/Dev,Ana & Ben\nAna & Cleo,BYE\n", "Cleo/Dev>Ana/Ben"),
    "clubs of two names": (
        "Home,Away,Score\nBrighton & Hove,Arsenal,2-1\nLuton,Brighton & Hove,2-0\nArsenal,Luton,3-0\n",
        "Brighton & Hove>Arsenal Luton>Brighton & Hove Arsenal>Luton",
    ),
    "a winner after a retirement": (
        (
            "Ronde,Speler 1,Speler 2,Score,Winnaar\n1,Ana,Ben,4-6 2-1 opgave,Ana\n2,Cleo,Ana,6-0 6-3,Cleo\n"
            "3,Ben,Cleo,w.o.,Ben\n"
        ),
        "Ana>Ben Cleo>Ana",
    ),
    "a relay": (
        "Platz;Staffel;Läufer\n1;Nord;Ana\n1;Nord;Ben\n2;West;Cleo\n2;West;Dev\n",
        "Ana/Ben>Cleo/Dev",
    ),
    "nobody yet": (
        "Home,Away,Score\nAna,Ben,2-1\nTBD,Ana,1-0\nBen,n/a,1-0\nBen,?,1-0\nà déterminer,Ben,1-0\nNoch offen,Ana,1-0\n",
        "Ana>Ben",
    ),
    "no partner yet": (
        "Winner,Loser\nAna / Bo,Cy / Di\nTBD,Ana / Bo\nTBD / TBD,Cy / Di\nCy / n/a,Ana / Bo\n",
        "Ana/Bo>Cy/Di",
    ),
    "nobody in a race": ("Race,Driver,Pos\n1,Ana,1\n1,Ben,2\n1,TBD,3\n1,t.b.a.,4\n", "Ana>Ben"),
    "names that look empty": ("Race,Driver,Pos\n1,NA,1\n1,null,2\n1,Tom,3\n", "NA>null>Tom"),
}


@pytest.mark.parametrize("name", READ)
def test_each_form_of_pairs_is_read(name, tmp_path):
    text, heats = READ[name]
    assert " ".join(heats_in(read(tmp_path, text).frame)) == heats


ASKED = {
    "singles": "Home,Away,Score\nCleo/Dev,Ana & Ben,2-1\nCleo,Ana,0-2\n",
    "singles in a list": "Event,Name,Place\n1,Cleo/Dev,1\n1,Ana & Ben,2\n2,Cleo,1\n2,Ben,2\n",
    "a shared place": "Date,1st,2nd,3rd\n2026-10-02,Jo,Al / Cy,Bo\n2026-10-02,Al,Jo,Bo\n",
}


@pytest.mark.parametrize("name", ASKED)
def test_pairs_next_to_single_names_are_asked_about(name, tmp_path):
    with pytest.raises(ResultsError, match=r"which may be a pair, and .* --set columns\.player\.split=/"):
        read(tmp_path, ASKED[name])


@pytest.mark.parametrize(
    ("answer", "players"),
    [("split=/", {"Ana", "Ben", "Cleo", "Dev"}), ("as=text", {"Ana", "Cleo", "Ana & Ben", "Cleo/Dev"})],
)
def test_the_answer_decides_who_the_players_are(answer, players, tmp_path, capsys):
    (tmp_path / "sheet.csv").write_text(ASKED["singles"], encoding="utf-8")
    out = tmp_path / "results.csv"
    run(capsys, "import", tmp_path / "sheet.csv", "--set", f"columns.player.{answer}", "-o", out)
    assert {*podium.read_results(out).frame["player"]} == players


@pytest.mark.parametrize("score", ["DNF", "ret.", "6-3 2-1 ret", "Aufgabe", "abandoned"])
def test_a_retirement_without_a_winner_is_asked_about(score, tmp_path, capsys):
    (tmp_path / "sheet.csv").write_text(f"Home,Away,Score\nAna,Ben,2-1\nBen,Cleo,{score}\n", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"does not say who won\. Add a Winner column") as caught:
        podium.read_results(tmp_path / "sheet.csv", lenient=True)
    assert repr(score) in str(caught.value)
    out = tmp_path / "results.csv"
    run(capsys, "import", tmp_path / "sheet.csv", "--set", f'source.null=["", "{score}"]', "-o", out)
    assert {*podium.read_results(out).frame["player"]} == {"Ana", "Ben"}
