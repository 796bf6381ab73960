"""Charts from the `plot` command."""

import re

import pytest

import podium
from podium.cli import publishing
from podium.cli.commands import build
from podium.pages.share_picture import standings_card
from podium.reporting.histories import CURVES
from podium.reporting.plotting import FROM_RESULTS

ROWS = [
    {"event_id": f"e{number}", "player": player, "position": 1 + (k + number) % 3, "ranked": False}
    for number in range(4)
    for k, player in enumerate(["ben", "雪 & Söhne", "ana"])
]


def test_the_command_offers_every_chart():
    assert tuple(CURVES) == publishing.CURVES
    assert publishing.FROM_RESULTS == FROM_RESULTS


@pytest.mark.parametrize("kind", FROM_RESULTS + publishing.CURVES)
def test_every_kind_is_drawn(kind, tmp_path):
    table, out = tmp_path / "results.csv", tmp_path / "chart.svg"
    podium.read_results([row | {"ranked": True} for row in ROWS]).frame.write_csv(table)
    system = "adaptive" if kind == "parameters" else "elo"
    wanted = [str(table), "--system", system] if kind in FROM_RESULTS else []
    build()(["plot", kind, *wanted, "--out", str(out)], standalone_mode=False)
    assert out.read_text(encoding="utf-8").startswith("<svg")


def test_a_result_card_has_the_newest_event_with_its_winner_first():
    card = podium.plot("result-card", [row | {"ranked": True} for row in ROWS])
    assert card.index("ben won and gained") < card.index("1st") < card.index("2nd") < card.index("ana")
    assert "Elo · e3" in card
    assert "<polyline" not in card
    assert podium.plot("card", [row | {"ranked": True} for row in ROWS]).count("<polyline") == 3


def test_the_second_line_of_a_card_names_the_player_who_gained_most():
    orders = ["abcd"] * 30 + ["adbc"]
    rows = [
        {"event_id": f"e{number}", "player": player, "position": place}
        for number, order in enumerate(orders)
        for place, player in enumerate(order, start=1)
    ]
    card = podium.plot("result-card", rows)
    assert re.search(r">a won\. d gained most, \+[\d.]+\.<", card)
    assert re.search(r"brought d [\d.]+\.<|>d was ahead in [^<]* were expected\.<", card)


def test_an_empty_leaderboard_has_a_card():
    assert "Nobody has a rating yet." in standings_card("Karts", [])


@pytest.mark.parametrize(
    "wrong",
    [
        ["pie"],
        ["histories"],
        ["gamma", "--out", "x.bmp"],
        ["gamma", "--system", "elo"],
        ["gamma", "--set", "k=3"],
        ["gamma", "--out", "no/such/folder.svg"],
    ],
)
def test_impossible_charts_are_rejected(wrong):
    with pytest.raises(podium.PodiumError):
        build()(["plot", *wrong], standalone_mode=False)
