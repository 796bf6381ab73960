"""Sheets that people paste or export: chats, lists, Markdown, web pages, other scripts, and marks of programs."""

# ruff: noqa: RUF001  (letters and digits of other scripts)
import pytest
from test_sheets_of_others import heats_in, read
from workbooks import write_xlsx

import podium
from podium.errors import ResultsError

CHAT = """[14.03.25, 21:15:03] Uli: Rosa - Tim 11:6
[14.03.25, 21:20:40] Tim: well played!
[21.03.25, 20:05:11] Uli: Vera - Rosa 8:11
Tim - Vera 11:4
"""
LISTS = """3/14/25, 8:15 PM - Messages are encrypted.
3/14/25, 9:15 PM - Uli: Race 1
1. Rosa
2. Tim
3/14/25, 9:40 PM - Uli: 1. Tim, 2. Vera, 3. Rosa
"""
MARKDOWN = """## Club night, 14 March 2025

| Player | VP | Towns |
|:-------|---:|:-----:|
| Rosa   | 12 | 1     |
| Tim    | 9  | 4     |
| Vera   | 9  | 2     |
| Uli    | 3  | 3     |
"""
PAGE = """<div><h2>Cup, 14 March 2025</h2><table><tr><th>Pos<th>Name</tr><tr><td>1<td>Rosa</tr>
<tr><td>2<td>Tim</tr><tfoot><tr><td colspan=2>Judge: Vera</tr></tfoot></table></div>"""
SWISS = "Rg.;;Name;1.Rd;2.Rd;Pkt\n1;WFM;Ana;2w1;3b1;2\n2;;Ben;1b0;4w1;1\n3;CM;Cy;4w1;1w0;1\n4;;Di;3b0;2b0;0\n"
TRIATHLON = (
    "Name;Schwimmen;Rad;Laufen;Gesamt\nAna;0:20:10;1:01:00;0:40:00;2:01:10\nBen;0:19:00;1:02:00;0:39:00;2:00:00\n"
)


@pytest.mark.parametrize(
    ("name", "text", "heats", "days"),
    [
        ("chat.txt", CHAT, ["Rosa>Tim", "Rosa>Vera", "Tim>Vera"], [14, 21]),
        ("lists.txt", LISTS, ["Rosa>Tim", "Tim>Vera>Rosa"], [14]),
        ("night.md", MARKDOWN, ["Rosa>Tim=Vera>Uli"], [14]),
        ("bare.md", "Place | Name\n--- | ---\n1 | Rosa\n2 | Tim\n", ["Rosa>Tim"], []),
        ("page.txt", PAGE, ["Rosa>Tim"], [14]),
        ("points.txt", "Quiz 14 March 2025\n1. Rosa 31 pts\n2. Tim & Co 30 pts\n", ["Rosa>Tim & Co"], [14]),
        ("brackets.txt", "1) Rosa (31)\n2) Tim (30)\n", ["Rosa>Tim"], []),
        ("sep.csv", "sep=;\r\nPlatz;Name;Zeit\r\n1;Rosa;9:10\r\n2;Tim;9:12\r\n", ["Rosa>Tim"], []),
        ("swiss.csv", SWISS, ["Ana>Ben", "Cy>Di", "Ana>Cy", "Ben>Di"], []),
        ("triathlon.csv", TRIATHLON, ["Ben>Ana"], []),
        ("arabic.csv", "التاريخ,الفائز,الخاسر\n٢٠٢٥/٠٣/١٤,منى,ريم\n", ["منى>ريم"], [14]),
        ("places.csv", "الترتيب,الاسم,الزمن\n١,منى,١٠:٠١\n٢,ريم,١٠:٠٥\n", ["منى>ريم"], []),
        ("shogi.csv", "対局日,先手,後手,勝者\n2025年3月14日,森,林,林\n", ["林>森"], [14]),
        ("baduk.csv", "흑,백,결과\n가나,다라,흑 불계승\n다라,마바,백 2.5집승\n", ["가나>다라", "마바>다라"], []),
        ("go.csv", "White,Black,Result\nAna,Ben,Black wins on time\nBen,Cy,Draw\n", ["Ben>Ana", "Ben=Cy"], []),
        ("forfeit.csv", "Domácí;Hosté;Sety\nAna;Ben;3:2\nCy;Ben;kontumace 3:0\n", ["Ana>Ben"], []),
        ("members.csv", "Team1 Player1,Team1 Player2,Team2 Player1,Team2 Player2,Goals1,Goals2\nA,B,C,D,4,6\n",
            ["C/D>A/B"], []),
    ],
)  # fmt: skip
def test_a_pasted_sheet_is_read_without_options(name, text, heats, days, tmp_path):
    frame = read(tmp_path, text, name).frame
    assert sorted(heats_in(frame)) == sorted(heats)
    dates = frame["started_at"].unique(maintain_order=True) if "started_at" in frame.columns else []
    assert [date.strftime("%Y-%m-%d") for date in dates] == [f"2025-03-{day}" for day in days]


def test_a_message_that_may_be_a_result_is_not_left_out(tmp_path):
    with pytest.raises(ResultsError):
        read(tmp_path, CHAT + "[21.03.25, 20:30:00] Uli: Vera Tim 7:11\n", "chat.txt")


def test_points_without_a_date_or_an_order_are_asked_about(tmp_path):
    for text in (MARKDOWN.replace(", 14 March 2025", ""), MARKDOWN.replace("12", "1")):
        with pytest.raises(ResultsError, match=r"columns\.score=VP"):
            read(tmp_path, text, "night.md")


def test_digits_of_other_scripts_are_read_in_a_workbook(tmp_path):
    write_xlsx(tmp_path / "w.xlsx", Tab=[["Place", "Name"], ["२", "Rosa"], ["१", "Tim"]])
    assert heats_in(podium.read_results(tmp_path / "w.xlsx", lenient=True).frame) == ["Tim>Rosa"]
