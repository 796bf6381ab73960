"""Names with markup appear unchanged in tables, pages and pictures."""

import pytest
from commands import run

NAMES = [
    "<b>x</b>",
    "<script>alert(1)</script>",
    "[bold]y[/bold]",
    "[/]",
    "javascript:alert(1)",
    "{{7*7}}",
    "Robert'); DROP TABLE players",
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("honest") / "r.csv"
    lines = [f'{event},"{name}",{place}' for event in range(6) for place, name in enumerate(NAMES, start=1)]
    path.write_text("event_id,player,position\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_tables_show_markup_as_text(file):
    shown = run("leaderboard", file, "--system", "elo", "--min-events", "0")
    assert all(name in shown for name in NAMES)
    assert NAMES[2] in run("explain", file, "--system", "elo", "--event", "0", "--player", NAMES[2])
    assert "<b>x</b>" in run("predict", file, "--system", "elo", "--entrants", "<b>x</b>,[/]")


def test_a_report_escapes_names(file, tmp_path):
    out = tmp_path / "report.html"
    run("report", file, "--system", "elo", "--out", out)
    page = out.read_text(encoding="utf-8")
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    for name in ("<b>x</b>", "<script>alert(1)"):
        assert name not in page
    assert "{{7*7}}" in page or "{{7*7}}".replace("*", "&#42;") in page
    assert 'href="javascript:' not in page


def test_a_chart_escapes_names(file, tmp_path):
    for kind in ("svg", "html"):
        out = tmp_path / f"chart.{kind}"
        run("plot", "histories", file, "--system", "elo", "--out", out)
        drawn = out.read_text(encoding="utf-8")
        assert "<b>x</b>" not in drawn
        assert "<script>alert(1)" not in drawn
