"""Sheets that clubs keep by hand are read without options."""

import re
from contextlib import suppress

import pytest
from workbooks import write_xlsx

import podium
from podium.errors import ResultsError


def read(tmp_path, text, name="season.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return podium.read_results(path, lenient=True).frame


def test_one_row_per_event_with_players_as_headings(tmp_path):
    frame = read(tmp_path, "Week,Ana,Nick,White\n1,1,2,3\n2,2,1,3\n3,3,1,2\n")  # one player has the name of a heading
    assert frame.filter(position=1)["player"].to_list() == ["Ana", "Nick", "Nick"]
    assert frame["player"].n_unique() == 3
    assert frame["event_id"].n_unique() == 3


def test_points_under_players_as_headings_are_asked_about(tmp_path):
    with pytest.raises(ResultsError, match="what are the cells of Ana, Ben"):
        read(tmp_path, "Week,Ana,Ben,Cy\n1,10,8,6\n2,8,10,4\n")


@pytest.mark.parametrize(
    ("heads", "encoding", "name"),
    [("Lopp;Namn;Plac", "cp1252", "Åsa Ekström"), ("Bieg;Zawodnik;Miejsce", "cp1250", "Łucja Żak")],
)
def test_text_in_other_encodings_uses_the_language_of_its_headings(heads, encoding, name, tmp_path):
    (tmp_path / "season.csv").write_bytes(f"{heads}\n1;{name};1\n1;Bo;2\n".encode(encoding))
    assert podium.read_results(tmp_path / "season.csv", lenient=True).frame["player"].to_list() == [name, "Bo"]


def test_given_and_family_names_are_one_name(tmp_path):
    frame = read(
        tmp_path, "Race,First name,Last name,Pos\nr1,Ana,Abel,1\nr1,Ben,Berg,2\nr2,Ben,Berg,1\nr2,Ana,Abel,2\n"
    )
    assert frame["player"].to_list() == ["Ana Abel", "Ben Berg", "Ben Berg", "Ana Abel"]


@pytest.mark.parametrize("foot", ["Fastest lap: Ana,,\n", "Total,,3\n", "Note: wet,,\nFastest lap: Ben,,\n"])
def test_rows_below_the_table_are_ignored(foot, tmp_path):
    frame = read(tmp_path, f"Race,Driver,Pos\nr1,Ana,1\nr1,Ben,2\nr1,Cy,3\n{foot}")
    assert frame["player"].to_list() == ["Ana", "Ben", "Cy"]


@pytest.mark.parametrize("name", ["Durchschnitt", "Course record (2019)", "Keskiarvo", "Total"])
def test_a_row_with_a_record_or_mean_time_is_not_a_player(name, tmp_path):
    assert read(tmp_path, f"Name,Time\nAna,40:00\nBen,41:00\n{name},35:02\n")["player"].to_list() == ["Ana", "Ben"]


def test_a_player_called_record_with_a_place_is_a_player(tmp_path):
    assert read(tmp_path, "Pos,Name,Time\n1,Ana,40:00\n2,Record,41:00\n")["player"].to_list() == ["Ana", "Record"]


@pytest.mark.parametrize("at", [0, 2])
def test_a_sheet_with_sums_of_the_other_sheets_is_not_a_race(at, tmp_path):
    races = {"1": {"Ana": 25, "Ben": 18}, "2": {"Ana": 15, "Ben": 25}}
    sheets = [*races.items()]
    sheets.insert(at, ("Cup", {"Ben": 43, "Ana": 40}))
    heads = ["Pos", "Name", "Points"]
    rows = {
        name: [heads, *([place, *own] for place, own in enumerate(points.items(), start=1))] for name, points in sheets
    }
    write_xlsx(tmp_path / "cup.xlsx", **rows)
    frame = podium.read_results(tmp_path / "cup.xlsx", lenient=True).frame
    assert frame["event_id"].unique(maintain_order=True).to_list() == ["1", "2"]


@pytest.mark.parametrize(
    "beside", [{"Notes": [["Wet"], ["Cold"]]}, {"Standings": [["Pos", "Name"], [1, "Ben"], [2, "Ana"]]}]
)
def test_one_sheet_of_results_next_to_another_is_read(beside, tmp_path):
    write_xlsx(tmp_path / "cup.xlsx", Spa=[["Pos", "Name"], [1, "Ana"], [2, "Ben"]], **beside)
    assert podium.read_results(tmp_path / "cup.xlsx", lenient=True).frame["player"].to_list() == ["Ana", "Ben"]


def test_a_race_with_the_bonus_points_of_an_earlier_one_is_a_race(tmp_path):
    heads = ["Pos", "Name", "Points", "Bonus", "Penalty"]
    rows = {
        race: [heads, [1, first, 25, bonus, 0], [2, other, 18, 0, 0], [3, "Cy", 15, 0, 0]]
        for race, first, other, bonus in (("1", "Ana", "Ben", 1), ("2", "Ben", "Ana", 0), ("3", "Ana", "Ben", 1))
    }
    write_xlsx(tmp_path / "cup.xlsx", **rows)
    assert podium.read_results(tmp_path / "cup.xlsx", lenient=True).frame["event_id"].n_unique() == 3


def test_clubs_are_not_sides_if_two_members_share_a_place(tmp_path):
    heads = ["Pos", "Name", "Club"]
    first = [[1, "Ana", "Red"], [1, "Ben", "Red"], [3, "Cy", "Blue"]]
    later = [[1, "Cy", "Blue"], [2, "Ana", "Red"], [3, "Ben", "Red"]]
    write_xlsx(tmp_path / "cup.xlsx", Spa=[heads, *first], Monza=[heads, *later])
    assert "team" not in podium.read_results(tmp_path / "cup.xlsx", lenient=True).frame.columns


def test_crews_with_only_times_are_sides(tmp_path):
    frame = read(tmp_path, "Crew,Time\nAna / Ben,3:20\nCy / Dee,3:18\nEve / Fay,DNF\n")
    assert frame.sort("player")["position"].to_list() == [200.0, 200.0, 198.0, 198.0, None, None]


def test_a_race_called_total_is_kept(tmp_path):
    frame = read(tmp_path, "Race,Driver,Pos\nr1,Ana,1\nr1,Ben,2\nTotal,Ben,1\nTotal,Ana,2\n")
    assert frame["event_id"].unique(maintain_order=True).to_list() == ["r1", "Total"]


def test_a_missing_place_in_a_race_called_total_is_reported(tmp_path):
    with pytest.raises(ResultsError, match="row 5, column Pos: is empty"):
        read(tmp_path, "Race,Driver,Pos\nr1,Ana,1\nr1,Ben,2\nTotal,Ben,1\nTotal,Ana,\n")


def test_a_file_name_can_contain_the_date_of_its_only_event(tmp_path):
    frame = read(tmp_path, "Pos,Driver\n1,Ana\n2,Ben\n", "Cup 2025-03-08.csv")
    assert frame["started_at"].dt.strftime("%Y-%m-%d").unique().to_list() == ["2025-03-08"]


def test_places_from_zero_are_places(tmp_path):
    frame = read(tmp_path, "Race,Driver,Pos\nr1,Ana,0\nr1,Ben,1\nr1,Cy,2\n")
    assert frame["position"].to_list() == [1, 2, 3]


@pytest.mark.parametrize(
    ("rounds", "compared"),
    [("Ana,25,18,43\nBen,18,25,43\nCy,15,15,30\n", "score"), ("Ana,1,2,3\nBen,2,1,3\nCy,3,3,6\n", "position")],
)
def test_a_total_shows_if_cells_are_points_or_places(rounds, compared, tmp_path):
    frame = read(tmp_path, f"Name,R1,R2,Total\n{rounds}")
    assert frame[compared].null_count() == 0
    assert frame.filter(player="Cy")[compared].to_list() == ([15, 15] if compared == "score" else [3, 3])


TWO_READINGS = {
    "two teams, in Portuguese": ("Data;Equipa 1;Equipa 2;Resultado\n02.02.2025;Ana;Rui;6:4\n", "Ana"),
    "after extra time": ("Home,Away,FT,AET,Pens\nAna,Ben,1-0,,\nCy,Dee,1-1,1-2,\nEve,Fay,0-0,1-1,4-3\n", "Ana Dee Eve"),
    "a winner of a draw": ("Home,Away,Score,Winner\nAna,Ben,1-0,Ana\nCy,Dee,1-1,Dee\n", "Ana Dee"),
    "with a handicap": ("Event,Bowler,Score,Hcp,Total\n1,Ana,150,60,210\n1,Ben,190,10,200\n", "Ana"),
    "with a handicap, called otherwise": (
        "Event,Archer,Score,Handicap,Adj.\n1,Ana,512,300,812\n1,Ben,430,402,832\n",
        "Ben",
    ),
    "placement beside kills": ("Match,Placement,Player,Kills\n1,2,Ana,9\n1,1,Ben,2\n1,3,Cy,0\n", "Ben"),
    "placed by heads of ranks": (
        "Name,W1 Rank,W1 Score,W2 Rank,W2 Score\nAna,2,9:00,1,90\nBen,1,8:10,2,80\n",
        "Ben Ana",
    ),
    "winnings": ("Datum;Ana;Ben;Cy;Kasse\n1.3.2025;12;-4;-8;2 €\n8.3.2025;-9;15;-6;3 €\n", "Ana Ben"),
    "points of each line": (",Ana,Ben,Cy\nAna,,16,9\nBen,5,,16\nCy,16,7,\n", "Ana Ben Cy"),
    "with penalties": (
        "Road,Name,Time,Penalty,Time in all\n1,Ana,25:01.5,+5s,25:06.5\n2,Ben,25:02.5,,25:02.5\n",
        "Ben",
    ),
    "after penalties": ("On the road,Final,Name,Time,Penalty,Corrected\n1,2,Ana,61,5,66\n2,1,Ben,62,0,62\n", "Ben"),
    "a finish that is a place": ("Lane,Crew,Finish,Time\n1,Ana,2nd,3:26\n2,Ben,1st,3:20\n", "Ben"),
    "places at start and end": (
        "Name,Start position,Finish position\nAna,1,2\nBen,2,1\nCy,3,3\n",
        "Ben",
    ),
    "places at start and end, in German": (
        "Startplatz;Name;Punkte;Zielplatz\n1;Ana;18;2\n2;Ben;25;1\n3;Cy;15;3\n",
        "Ben",
    ),
    "who gave up, in a note": ("No,Naam,Ronden,Tijd,Gat\n4,Ana,8,58:12,\n9,Ben,3,,opgegeven\n2,Cy,7,58:20,\n", "Ana"),
    "a round that was dropped": ("Pos,Name,Spa,Monza,Dropped,Net\n1,Ana,25,10,10,25\n2,Ben,12,25,12,25\n", "Ana Ben"),
    "a run beside a swim": (
        "Place,Name,Natação,Corrida,Tempo final\n1,Ana,10:00,20:00,30:00\n2,Ben,9:00,,DNF\n",
        "Ana",
    ),
    "since the start": ("Name,Start,Finish,Net\nAna,10:00:00,10:45:00,45:00\nBen,10:01:00,10:44:00,43:00\n", "Ben"),
    "seasons below titles": (
        "2023,,\nRound,Name,Place\n1,Ana,1\n1,Ben,2\n2024,,\nRound,Name,Place\n1,Ben,1\n1,Ana,2\n",
        "Ana Ben",
    ),
    "who retired": ("Day,Winner,Second,Third,Retired\n2025-03-01,Ana,Ben,Cy,Dee\n2025-03-08,Ben,Cy,Ana,\n", "Ana Ben"),
}


@pytest.mark.parametrize("name", TWO_READINGS)
def test_the_decisive_one_of_two_readings_is_chosen(name, tmp_path):
    text, winners = TWO_READINGS[name]
    frame = read(tmp_path, text)
    heat = [each for each in ("event_id", "heat") if each in frame.columns]
    column = next(each for each in ("position", "score", "time_s") if each in frame.columns)
    order = frame.sort(column, descending=column == "score", nulls_last=True, maintain_order=True)
    firsts = order.unique(heat, keep="first", maintain_order=True)
    assert sorted(firsts["player"].to_list()) == sorted(winners.split())


OPEN = {
    "counted lines": ("#,Player,Score\n1,Ana,33\n2,Ben,41\n3,Cy,12\n", "# counts the lines"),
    "distances": ("Runner,Km,Time\nAna,88.1,11:50:00\nBen,101,11:58:00\n", "Does Time decide, or Km"),
    "points beside times": (
        "Team,Points,Time\nAna,350,59:40\nBen,380,59:50\n",
        "Does Time decide, or Points",
    ),
    "faults beside times": ("Rider,Faults,Time\nAna,8,56.2\nBen,0,60.2\n", "Does Time decide, or Faults"),
    "penalties beside times": (
        "Driver,Time,Penalty (s)\nAna,1:48:20,600\nBen,1:49:00,0\n",
        "Does Time decide alone",
    ),
    "yardsticks beside times": ("Helm,PY,Elapsed\nAna,1100,50:50\nBen,1043,51:40\n", "or PY"),
    "net and gross times": (
        "Nombre;Tiempo oficial;Tiempo real\nAna;40:39;40:29\nBen;40:40;40:20\n",
        "may each be time_s",
    ),
    "legs without a whole": (
        "Name,Swim,Bike,Run\nAna,10:00,40:00,21:40\nBen,9:00,41:00,21:00\n",
        "are legs of one event",
    ),
    "hours of the day": (
        "Name,Start,Finish\nAna,10:00:00,10:45:00\nBen,10:01:00,10:44:00\n",
        "Is Finish a time of",
    ),
    "goals and points": (
        "Home,Score,Away,Score\nAna,2-11,Ben,1-15\nCy,0-14,Dee,1-10\n",
        "'2-11' is two numbers for one",
    ),
    "another winner": (
        "Player 1,Player 2,Score 1,Score 2,Winner\nAna,Ben,1,3,Ana\n",
        "names Ana, but Score 1 and Score 2",
    ),
    "games and sets": (
        "Player 1,Player 2,Games,Games,Sets\nAna,Ben,12,13,2-1\nCy,Dee,12,3,2-0\n",
        "says 2-1, but Games 1 and Games 2 favour the other",
    ),
    "rounds of one day": (
        "Cup 15.8.2026\nPlace;Name;Round 1;Round 2;Total\n1;Ana;280;281;561\n2;Ben;279;280;559\n",
        "parts of one event",
    ),
    "a ranking": ("Rank,Player,Rating,Won,Lost\n1,Ana,1844,12,3\n2,Ben,1790,9,5\n", "may be a table of standings"),
    "several in a cell": (
        'Day,1st,2nd,3rd,DNF\n1.3.2025,Ana,Ben,Cy,"Dee, Eve"\n2.3.2025,Ben,Cy,Ana,\n',
        "ignore DNF",
    ),
    "a decathlon": (
        "Name,100m,Long Jump,1500m,Points\nAna,11.4,6.61,4:51.2,3011\nBen,11.1,6.4,4:58,2890\n",
        "which column has",
    ),
    "holes of teams": (
        "Place,Team,Runner,Total\n1,Red,Ana,31:00\n,,Ben,\n2,Blue,Cy,32:00\n,,Dee,\n",
        'fill=["Place", "Team"]',
    ),
    "gross and net": (
        "Event,Name,Score,Hcp,Net\n1,Ana,90,20,70\n1,Ben,80,8,72\n",
        "is Score minus Hcp. Is a higher value better",
    ),
    "zeros": (
        "Player,Round 1,Round 2,Total\nAna,11,0,11\nBen,2,8,10\nCy,6,6,12\n",
        "what are the cells of Round 1, Round 2",
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_an_ambiguous_sheet_is_asked_about(name, tmp_path):
    text, question = OPEN[name]
    with pytest.raises(ResultsError, match=re.escape(question)):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "100 m,16/05/2026\n",
        "Pareja 1 - Jugador A,Pareja 1 - Jugador B,Pareja 2 - Jugador A,Pareja 2 - Jugador B,Set 1,Set 2\n",
        "Datum,Uit,Uitslag,Winnaar\n",
        "Winner,Loser\n",
        ",,,\n,,,\n",
    ],
)
def test_headings_without_rows_give_no_events_or_a_clear_error(text, tmp_path):
    write_xlsx(tmp_path / "cup.xlsx", Cup=[line.split(",") for line in text.splitlines()])
    (tmp_path / "cup.csv").write_text(text, encoding="utf-8")
    for name in ("cup.csv", "cup.xlsx"):
        with suppress(ResultsError):
            assert podium.read_results(tmp_path / name, lenient=True).frame.is_empty()


def test_a_workbook_of_other_bytes_is_rejected(tmp_path):
    (tmp_path / "season.xlsx").write_bytes(bytes(range(1, 250)))
    with pytest.raises(ResultsError, match=r"season\.xlsx: is not a workbook, although its name says so"):
        podium.read_results(tmp_path / "season.xlsx", lenient=True)
