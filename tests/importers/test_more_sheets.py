"""Sheets that clubs keep by hand: what of each is read bare."""

import pytest

import podium
from podium.errors import ResultsError


def read(tmp_path, text, name="season.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return podium.read_results(path, lenient=True).frame


def test_an_event_a_row_under_the_names_of_players(tmp_path):
    frame = read(tmp_path, "Week,Ana,Nick,White\n1,1,2,3\n2,2,1,3\n3,3,1,2\n")  # one of whom is called as a heading
    assert frame.filter(position=1)["player"].to_list() == ["Ana", "Nick", "Nick"]
    assert frame["player"].n_unique() == 3
    assert frame["event_id"].n_unique() == 3


def test_numbers_under_the_names_of_players_that_are_no_places_are_a_question(tmp_path):
    with pytest.raises(ResultsError, match="what the cells of Ana, Ben … are"):
        read(tmp_path, "Week,Ana,Ben,Cy\n1,10,8,6\n2,8,10,4\n")


def test_given_and_family_names_are_one_name(tmp_path):
    frame = read(
        tmp_path, "Race,First name,Last name,Pos\nr1,Ana,Abel,1\nr1,Ben,Berg,2\nr2,Ben,Berg,1\nr2,Ana,Abel,2\n"
    )
    assert frame["player"].to_list() == ["Ana Abel", "Ben Berg", "Ben Berg", "Ana Abel"]


@pytest.mark.parametrize("foot", ["Fastest lap: Ana,,\n", "Total,,3\n", "Note: wet,,\nFastest lap: Ben,,\n"])
def test_rows_below_the_table_are_none_of_it(foot, tmp_path):
    frame = read(tmp_path, f"Race,Driver,Pos\nr1,Ana,1\nr1,Ben,2\nr1,Cy,3\n{foot}")
    assert frame["player"].to_list() == ["Ana", "Ben", "Cy"]


def test_a_race_that_is_called_total_stays(tmp_path):
    frame = read(tmp_path, "Race,Driver,Pos\nr1,Ana,1\nr1,Ben,2\nTotal,Ben,1\nTotal,Ana,2\n")
    assert frame["event_id"].unique(maintain_order=True).to_list() == ["r1", "Total"]


def test_who_has_no_place_in_a_race_that_is_called_total_is_not_dropped(tmp_path):
    with pytest.raises(ResultsError, match="row 5, column Pos: is empty"):
        read(tmp_path, "Race,Driver,Pos\nr1,Ana,1\nr1,Ben,2\nTotal,Ben,1\nTotal,Ana,\n")


def test_the_date_of_a_file_of_one_event_may_stand_in_its_name(tmp_path):
    frame = read(tmp_path, "Pos,Driver\n1,Ana\n2,Ben\n", "Cup 2025-03-08.csv")
    assert frame["started_at"].dt.strftime("%Y-%m-%d").unique().to_list() == ["2025-03-08"]


def test_places_from_zero_are_places(tmp_path):
    frame = read(tmp_path, "Race,Driver,Pos\nr1,Ana,0\nr1,Ben,1\nr1,Cy,2\n")
    assert frame["position"].to_list() == [1, 2, 3]


@pytest.mark.parametrize(
    ("rounds", "compared"),
    [("Ana,25,18,43\nBen,18,25,43\nCy,15,15,30\n", "score"), ("Ana,1,2,3\nBen,2,1,3\nCy,3,3,6\n", "position")],
)
def test_a_total_tells_points_from_places_by_who_stands_first(rounds, compared, tmp_path):
    frame = read(tmp_path, f"Name,R1,R2,Total\n{rounds}")
    assert frame[compared].null_count() == 0
    assert frame.filter(player="Cy")[compared].to_list() == ([15, 15] if compared == "score" else [3, 3])
