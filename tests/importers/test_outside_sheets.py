"""Sheets by authors who did not know how Podium reads: what it once read wrongly, or refused for no reason."""

import pytest

import podium
from podium.errors import ResultsError
from podium.importers.trees import SPANNED_CHARACTERS, text_of_page

GAMES_OF_SEVERAL = {
    "a score beside each": (
        ("Date,Game,Player 1,Score 1,Player 2,Score 2,Player 3,Score 3\n2025-01-04,Azul,Lena,71,Mats,64,Ivy,58\n"
        "2025-01-11,Catan,Mats,10,Ivy,8,Lena,8\n2025-01-18,Azul,Ivy,80,Lena,77,,\n"),
        [{"Lena": 71, "Mats": 64, "Ivy": 58}, {"Mats": 10, "Ivy": 8, "Lena": 8}, {"Ivy": 80, "Lena": 77}],
    ),
    "four, with a score each": (
        "Player 1,Player 2,Player 3,Player 4,Score 1,Score 2,Score 3,Score 4\nAna,Ben,Cy,Di,4,3,2,1\n",
        [{"Ana": 4, "Ben": 3, "Cy": 2, "Di": 1}],
    ),
    "letters for numbers": (
        "Spieler A;Punkte A;Spieler B;Punkte B;Spieler C;Punkte C\nAna;4;Ben;5;Cy;6\nBen;7;Cy;3;Ana;1\n",
        [{"Ana": 4, "Ben": 5, "Cy": 6}, {"Ben": 7, "Cy": 3, "Ana": 1}],
    ),
    "four, and who won": (
        "Player 1,Player 2,Player 3,Player 4,Winner\nAna,Ben,Cy,Di,Ben\nAna,Cy,Ben,Di,Di\n",
        [{"Ana": 2, "Ben": 1, "Cy": 2, "Di": 2}, {"Ana": 2, "Cy": 2, "Ben": 2, "Di": 1}],
    ),
}  # fmt: skip


def read(tmp_path, text, name="sheet.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    return podium.read_results(path, lenient=True)


@pytest.mark.parametrize("name", GAMES_OF_SEVERAL)
def test_games_of_three_and_more_players_keep_all_of_them(name, tmp_path):
    text, games = GAMES_OF_SEVERAL[name]
    frame = read(tmp_path, text).frame
    assert "team" not in frame.columns
    column = "score" if "score" in frame.columns else "position"
    found = [
        dict(event.select("player", column).rows()) for _, event in frame.group_by("event_id", maintain_order=True)
    ]
    assert found == games


def test_further_players_without_results_are_asked_about(tmp_path):
    with pytest.raises(ResultsError, match="column Player 3: has further players, but no column has their results"):
        read(tmp_path, "Player 1,Player 2,Player 3,Score\nAna,Ben,Cy,2-1\nBen,Cy,Ana,0-2\n")


@pytest.mark.parametrize(
    ("text", "members"),
    [
        (  # a relay, with its runners in one cell
            "Rang;Staffel;Läufer;Zeit\n1;LG Süd;Meier, Huber, Lang;3:21,45\n2;TSV Ost;Braun, Wolf, Koch;3:24,02\n",
            [["Meier", "Huber", "Lang"], ["Braun", "Wolf", "Koch"]],
        ),
        (
            'Pos,Names,Time\n1,"Ana, Ben, Cy, Di",61.5\n2,"Eva, Flo, Gus, Hal",62.5\n',
            [["Ana", "Ben", "Cy", "Di"], ["Eva", "Flo", "Gus", "Hal"]],
        ),
        ("Plac.;Par;Poäng\n1;Anna Berg - Nils Ek;31\n2;Eva Lind - Bo Sjö;28\n",
         [["Anna Berg", "Nils Ek"], ["Eva Lind", "Bo Sjö"]]),
        ("coppia 1;coppia 2;gol 1;gol 2\nRossi-Bianchi;Conti-Greco;10;8\n", [["Rossi", "Bianchi"], ["Conti", "Greco"]]),
        ("Ganda 1,Ganda 2,Skor\nBudi/Agus,Rizky/Dimas,21-15 21-19\n", [["Budi", "Agus"], ["Rizky", "Dimas"]]),
    ],
)  # fmt: skip
def test_members_in_one_cell_are_divided(text, members, tmp_path):
    frame = read(tmp_path, text).frame
    assert [own["player"].to_list() for _, own in frame.group_by("team", maintain_order=True)] == members


def test_commas_between_members_who_change_partners_are_asked_about(tmp_path):
    pairs = 'Winners,Losers\n"Ana, Ben","Cy, Di"\n"Ana, Cy","Ben, Di"\n'
    with pytest.raises(ResultsError, match=r"'Ana, Ben', which may be a pair\. Write / between the members"):
        read(tmp_path, pairs)
    answered = podium.read_results(tmp_path / "sheet.csv", lenient=True, answers=["columns.player.as=text"])
    assert answered.frame["player"].to_list() == ["Ana, Ben", "Cy, Di", "Ana, Cy", "Ben, Di"]
    names = read(tmp_path, 'Winner,Loser\n"Berg, Ana","Dahl, Ben"\n"Ek, Ana","Berg, Ana"\n').frame["player"]
    assert names.to_list() == ["Berg, Ana", "Dahl, Ben", "Ek, Ana", "Berg, Ana"]


def test_numbers_below_the_word_for_pairs_are_no_players(tmp_path):
    assert read(tmp_path, "Par;Namn;Plac\n1;Ana;1\n2;Ben;2\n").frame["player"].to_list() == ["Ana", "Ben"]


def test_a_status_among_gaps_counts_for_entrants_with_a_place(tmp_path):
    text = "Pos,Driver,Laps,Gap\n1,Ana,22,\n2,Ben,22,+1.402\n3,Cy,21,+1 Lap\n4,Di,9,DNF\n"
    assert read(tmp_path, text).frame["status"].to_list() == ["finished", "finished", "finished", "dnf"]
    qualifying = "Pos,Driver,Qualifying\n1,Ana,DNS\n2,Ben,61.2\n3,Cy,60.9\n"
    assert read(tmp_path, qualifying).frame["status"].to_list() == ["finished"] * 3


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("Sija;Nimi;Aika;Ero\n1;Ana;42.18;\n2;Ben;43.05;+0.47\n3;Cy;45.50;+3.32\n", [2538, 2585, 2750]),
        ("Sija;Nimi;Aika\n1;Ana;58.31\n2;Ben;1.00.02\n", [3511, 3602]),
        ("Sija;Nimi;Aika;Ero\n1;Ana;11.02;\n2;Ben;11.15;+0.13\n3;Cy;11.40;+0.38\n", [11.02, 11.15, 11.4]),
        ("Sija;Nimi;Aika;Ero\n1;Ana;42.18;\n2;Ben;43.05;+0.87\n", [42.18, 43.05]),
    ],
)
def test_gaps_and_longer_times_show_what_a_point_means(text, times, tmp_path):
    assert read(tmp_path, text).frame["time_s"].to_list() == times


def test_scores_that_are_no_numbers_are_ignored_beside_places(tmp_path):
    table = read(tmp_path, "Rank,Name,Score\n1,Ana,4T4z 6 5\n2,Ben,3T4z 4 7\n")
    assert "Score (no numbers; the places decide)" in table.notes[0]
    assert table.frame["position"].to_list() == [1, 2]
    with pytest.raises(ResultsError, match="'x9' must be a number"):
        read(tmp_path, "Rank,Name,Score\n1,Ana,41\n2,Ben,x9\n")


@pytest.mark.parametrize(
    ("text", "encoding", "players"),
    [
        ("日期,选手A,选手B,比分\n2025-03-02,王建国,李晓明,3:1\n", "gb18030", ["王建国", "李晓明"]),
        ("日付,先手,後手,勝者\n2025/4/6,佐藤健一,鈴木太郎,佐藤健一\n", "shift_jis", ["佐藤健一", "鈴木太郎"]),
        ("순위,선수\n1,이영호\n2,김택용\n", "euc_kr", ["이영호", "김택용"]),
        ("Место;Имя\n1;Иванов Сергей\n2;Петров Олег\n", "cp1251", ["Иванов Сергей", "Петров Олег"]),
        ("Θέση;Όνομα\n1;Γιώργος\n2;Νίκος\n", "cp1253", ["Γιώργος", "Νίκος"]),
    ],
)
def test_headings_reveal_the_encoding(text, encoding, players, tmp_path):
    table = read(tmp_path, text, encoding=encoding)
    assert table.frame["player"].to_list() == players
    assert encoding in table.notes[0]


def test_finishes_are_places_if_they_count_from_1_on_each_date(tmp_path):
    text = "Date,Finish,Player\n2025-01-15,1,Ana\n2025-01-15,2,Ben\n2025-01-29,2,Ana\n2025-01-29,1,Ben\n"
    assert read(tmp_path, text).frame["position"].to_list() == [1, 2, 2, 1]


def test_boards_of_a_team_match_have_the_teams_as_headings(tmp_path):
    text = (
        "Brett;SK Lauf;DWZ;SC Roth;DWZ;Ergebnis\n1;Ebert;2011;Maurer;1988;1:0\n2;Lenz;1850;Pohl;1902;½:½\n;;;;;1½:½\n"
    )
    frame = read(tmp_path, text).frame
    assert frame.select("player", "score").rows() == [("Ebert", 1), ("Maurer", 0), ("Lenz", 0.5), ("Pohl", 0.5)]


@pytest.mark.parametrize(
    "text",
    [
        "Koht;Sõitja;Aeg\n1;Ana;60,5\n2;Ben;61,5\n",
        "Mjesto;Ime i prezime;Bodovi\n1;Ana;571\n2;Ben;566\n",
        "Date,Golfer,Stableford Pts\n2025-09-06,Ana,38\n2025-09-06,Ben,35\n",
    ],
)
def test_more_headings_are_known(text, tmp_path):
    frame = read(tmp_path, text).frame
    assert frame["player"].to_list() == ["Ana", "Ben"]
    assert {"position", "score"} & {*frame.columns}


def test_matches_without_a_winner_are_not_draws_of_zero(tmp_path):
    """An empty winner and 0:0 mean that a match was not played, unless other draws have no winner either."""
    head = "match,player1,player2,winner,score1,score2\na,Ana,Ben,Ana,6,2\n"
    found = read(tmp_path, head + "b,Cy,Di,,0,0\nc,TBD,TBD,,0,0\n")
    assert found.frame["player"].to_list() == ["Ana", "Ben"]
    assert "left out 2 no result" in found.notes
    assert read(tmp_path, head + "b,Cy,Di,,0,0\nc,Ana,Cy,,1,1\n").frame.height == 6
    in_one = "match,player1,player2,winner,result\na,Ana,Ben,Ana,6:2\nb,Cy,Di,,0:0\n"
    assert read(tmp_path, in_one).frame["player"].to_list() == ["Ana", "Ben"]


@pytest.mark.parametrize(
    "text",
    [
        "player1,player2,player1Wins,player2Wins,draws\nAna,Ben,2,1,0\nCy,Di,1,1,1\n",
        "PLAYER A; PLAYER B; GAME\nAna;Ben;2-1\nCy;Di;1-1\n",
    ],
)
def test_wins_and_results_without_a_usual_heading_are_scores(text, tmp_path):
    assert read(tmp_path, text).frame.select("player", "score").rows() == [("Ana", 2), ("Ben", 1), ("Cy", 1), ("Di", 1)]


def test_a_race_and_its_number_are_one_event(tmp_path):
    head = "race_id,round,driver,position\n"
    frame = read(tmp_path, head + "monaco,1,Ana,1\nmonaco,1,Ben,2\nimola,2,Ben,1\nimola,2,Ana,DNF\n").frame
    assert frame["event_id"].to_list() == ["monaco", "monaco", "imola", "imola"]
    with pytest.raises(ResultsError, match="'race_id' and 'round' may each be event_id"):
        read(tmp_path, head + "monaco,1,Ana,1\nmonaco,1,Ben,2\nmonaco,2,Ben,1\nmonaco,2,Ana,2\n")


def test_names_below_an_empty_corner_are_players(tmp_path):
    frame = read(tmp_path, ",Monza,Spa,Total\nAna,25,18,43\nBen,18,25,43\n").frame
    assert frame.rows_by_key("event_id", named=False).keys() == {"Monza", "Spa"}
    assert frame["player"].to_list() == ["Ana", "Ben"] * 2
    with pytest.raises(ResultsError, match=r"what are the cells of Race 1, Race 2"):
        read(tmp_path, ",Race 1,Race 2\nAna,25,18\nBen,18,25\n")


@pytest.mark.parametrize(
    ("word", "status"),
    [("MSP 9:54", "dnf"), ("DNF (puncture)", "dnf"), ("Disket (feil løype)", "disqualified"), ("gevallen", "dnf")],
)
def test_a_word_beside_a_comment_or_time_is_a_status(word, status, tmp_path):
    frame = read(tmp_path, f"Pos.,Name,Time\n1,Ana,10:58\n2,Ben,13:04\n,Cy,{word}\n").frame
    assert frame["status"].to_list() == ["finished", "finished", status]


def test_a_walkover_in_a_remark_is_no_match(tmp_path):
    text = (
        "Tag;Datum;Heim;Gast;Ergebnis;Bemerkung\nFr;13.09.2024;A;B;9:4;\nSa;14.09.2024;C;D;9:0;Gast nicht angetreten\n"
    )
    found = read(tmp_path, text)
    assert found.frame["player"].to_list() == ["A", "B"]
    assert str(found.frame["started_at"][0])[:10] == "2024-09-13"
    assert "left out 1 forfeit" in found.notes


def test_marks_before_results_of_a_crosstable_are_no_contradiction(tmp_path):
    frame = read(tmp_path, "チーム,A,B,C\nA,\uff3c,○3-1,△2-2\nB,●1-3,\uff3c,●0-1\nC,△2-2,○1-0,\uff3c\n").frame
    assert frame.select("player", "score").rows() == [("A", 3), ("B", 1), ("A", 2), ("C", 2), ("B", 0), ("C", 1)]


def test_several_dates_above_columns_are_not_the_date_of_all_races(tmp_path):
    text = (
        "Cup,,,,\n,14/01/2024,11/02/2024,17/03/2024,\nPilota,Gara 1,Gara 2,Gara 3,Totale\n"
        "Verdi,20,25,20,65\nRossi,25,20,16,61\nBianchi,16,16,25,57\n"
    )
    assert "started_at" not in read(tmp_path, text).frame.columns


PAGES = {
    "a date over the rows of its matches": (
        ("<table><tr><th>Date<th>Home<th>Score<th>Away</tr><tr><td rowspan='2'>2025-09-06<td>A<td>3-1<td>B</tr>"
        "<tr><td>C<td>2-2<td>D</tr><tr><td ROWSPAN=2>2025-09-13<td>B<td>0-1<td>C</tr>"
        "<tr><td>D<td>4-0<td>A</tr></table>"),
        [("A", 3), ("B", 1), ("C", 2), ("D", 2), ("B", 0), ("C", 1), ("D", 4), ("A", 0)],
    ),
    "heads of two lines": (
        ("<table><tr><th rowspan=2>Driver<th colspan=2>Heat 1<th colspan=2>Heat 2</tr>"
        "<tr><th>Pos<th>Time<th>Pos<th>Time</tr><tr><td>A<td>1<td>60.1<td>2<td>60.2</tr>"
        "<tr><td>B<td>2<td>60.3<td>1<td>60.0</tr></table>"),
        [("A", 1), ("B", 2), ("A", 2), ("B", 1)],
    ),
    "a race at the edge, beyond the end of its table": (
        ("<h2>Round 1</h2><table><tr><th>Pos<th>Name<th>Race</tr><tr><td>1<td>A<td rowspan=9>X</tr><tr><td>2<td>B</tr>"
        "</table><h2>Round 2</h2><table><tr><th>Pos<th>Name<th>Race</tr>"
        "<tr><td>1<td>B<td rowspan=9>Y</tr><tr><td>2<td>A</tr></table>"),
        [("A", 1), ("B", 2), ("B", 1), ("A", 2)],
    ),
    "a status over several columns": (
        ("<table><tr><th>Pos<th>Name<th>Time<th>Gap</tr><tr><td>1<td>A<td>60.1<td></tr>"
        "<tr><td><td>B<td colspan=2>DNF</tr></table>"),
        [("A", 1), ("B", None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_cells_of_web_pages_span_rows_and_columns(name, tmp_path):
    text, results = PAGES[name]
    frame = read(tmp_path, text, "sheet.html").frame
    assert frame.select("player", "score" if "score" in frame.columns else "position").rows() == results


def test_spanned_cells_use_bounded_memory():
    wide = f"<td rowspan=99 colspan=99>{'x' * 200}" * 10
    page = f"<table><tr>{wide}</tr>{'<tr></tr>' * 98}</table>" * 40
    assert len(text_of_page(page, "page")) < 5 * SPANNED_CHARACTERS
