"""The page and the pictures, as their reader gets them."""

import re

import pytest

import podium
from podium.cli import drawing
from podium.cli.app import app
from podium.reporting.curves import CURVES
from podium.reporting.report import report

ROWS = [
    {
        "event_id": f"e{number}",
        "started_at": f"2025-{1 + number // 10:02}-{1 + number % 10:02}",
        "player": player,
        "position": 1 + (k + number) % 3,
    }
    for number in range(40)
    for k, player in enumerate(["<script>alert(1)</script>", "雪 & Söhne", "ana"])
]


def test_the_page_stands_alone_and_escapes_what_players_call_themselves():
    page = report(podium.rate(ROWS, "folyami"))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(src|href)=", page.replace("xlink:href", ""))
    for heading in ("Leaderboard", "Rating histories", "Distribution", "Prediction", "Points in circulation"):
        assert f"<h2>{heading}" in page
    assert page.count("<svg") == 4 + sum(each.system == "folyami" for each in CURVES.values())


def test_a_page_about_nothing_is_refused():
    with pytest.raises(podium.UnknownError):
        report(podium.rate([row | {"ranked": False} for row in ROWS], "elo"))


def test_the_commands_offer_what_there_is():
    assert tuple(CURVES) == drawing.CURVES


@pytest.mark.parametrize("kind", drawing.FROM_RESULTS + drawing.CURVES)
def test_every_kind_is_drawn(kind, tmp_path):
    table, out = tmp_path / "results.csv", tmp_path / "chart.svg"
    podium.read_results(ROWS).frame.write_csv(table)
    wanted = [str(table), "--system", "elo"] if kind in drawing.FROM_RESULTS else []
    app(["plot", kind, *wanted, "--out", str(out)], standalone_mode=False)
    assert out.read_text(encoding="utf-8").startswith("<svg")


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
def test_what_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(podium.PodiumError):
        app(["plot", *wrong], standalone_mode=False)
