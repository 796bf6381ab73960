"""FIDE's tournament reports: codes for rounds without a rated game, and blanks."""

import pytest
from test_lenient_reading import refusal
from test_sheets_of_others import heats_in, read

import podium
from podium.importers import Options, read_format

REPORT = """012 Open of the Harbour
042 2025/01/12
001    1 m    Berg, Ana                         1800 AUT     1234567 1990/01/01  2.5    1     4 w {first}     2 b =
001    2 m    Carl, Ben                         1750 AUT     1234568 1990/01/01  2.5    2     3 b 1     1 w =
001    3 f    Dahl, Cy                          1700 AUT     1234569 1990/01/01  0.0    4     2 w 0  {absent}
001    4 m    Ek, Dee                           1600 AUT     1234570 1990/01/01  1.0    3     1 b {second}
"""
DRAWN = "Berg, Ana=Carl, Ben"


def report(first="1", second="0", absent="0000 - -"):
    return REPORT.format(first=first, second=second, absent=absent)


@pytest.mark.parametrize(("codes", "points"), [("WL", 1.0), ("LW", 0.0), ("DD", 0.5), ("wl", 1.0)])
def test_a_game_of_less_than_one_move_is_not_rated(codes, points, tmp_path):
    frame = read(tmp_path, report(*codes), "open.trf").frame
    ranked = frame.select("heat", "ranked").unique().rows()
    assert sorted(ranked) == [
        ("Berg, Ana - Carl, Ben", True), ("Berg, Ana - Ek, Dee", False), ("Carl, Ben - Dahl, Cy", True),
    ]  # fmt: skip
    assert frame.filter(~frame["ranked"], player="Berg, Ana")["score"].to_list() == [points]


@pytest.mark.parametrize(
    "absent",
    [
        "0000    ",
        "0000 -  ",
        "0000 - A",
        "0000 - Z",
        "0000 - H",
        "0000 - F",
        "0000 - U",
        "  62 b Z",
        "   4 b Z",
        "   4 b  ",
    ],
)
def test_a_player_without_a_game_does_not_affect_the_others(absent, tmp_path):
    heats = heats_in(read(tmp_path, report(absent=absent), "open.trf").frame)
    assert heats == ["Berg, Ana>Ek, Dee", "Carl, Ben>Dahl, Cy", DRAWN]


def test_a_result_from_only_one_side_is_left_out(tmp_path):
    results = read(tmp_path, report(second="Z"), "open.trf")
    assert heats_in(results.frame) == ["Carl, Ben>Dahl, Cy", DRAWN]
    assert "1 forfeit" in str(results.notes)


def test_a_game_with_two_winners_is_rejected_with_its_line(tmp_path):
    assert "line 3, column 1: '4w1' contradicts the opponent's cell" in refusal(tmp_path, report("1", "1"), "open.trf")


def test_rounds_with_a_wrong_cell_can_be_left_out(tmp_path):
    path = tmp_path / "open.trf"
    path.write_text(report("1", "1"), encoding="utf-8")
    imported = read_format("trf", [str(path)], Options(skip_bad=True))
    assert imported.table["event_id"].unique().to_list() == ["Open of the Harbour, round 2"]
    assert (imported.skipped, len(imported.bad)) == (1, 2)
    assert "contradicts the opponent's cell" in str(imported.bad[0])
    path.write_text(report("1", "1").replace("2 b =", "2 b 1").replace("1 w =", "1 w 1"), encoding="utf-8")
    with pytest.raises(podium.PodiumError, match="contradicts the opponent's cell"):
        read_format("trf", [str(path)], Options(skip_bad=True))


def test_lines_may_end_with_only_a_carriage_return(tmp_path):
    results = read(tmp_path, report().replace("\n", "\r"), "open.trf")
    assert heats_in(results.frame) == heats_in(read(tmp_path, report(), "other.trf").frame)
