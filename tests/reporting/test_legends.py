"""Legends of charts: long names do not overlap in wider fonts, and many names do not widen the chart."""

import re

import polars as pl
import pytest

from podium.reporting.plotting import as_svg, calibration

# A legend entry of Vega: its position, and the width of symbol and name in the available font.
ENTRY = re.compile(r'<g transform="translate\(([\d.]+),([\d.]+)\)"><path class="background"[^>]* d="M0,0h([\d.]+)v12')
SYMBOL = 16.0  # pixels of an entry before its name
WIDER = 0.2  # additional width of names in DejaVu Sans


def drawing(names, *, narrow):
    """Return the calibration chart of these systems, as SVG."""
    points = pl.DataFrame({"system": names, "expected": 0.5, "actual": 0.5, "pairs": 10})
    return as_svg(calibration(points, "calibration"), narrow=narrow)


def test_names_in_a_wider_font_do_not_overlap():
    entries = ENTRY.findall(drawing(["elo " * 10, "glicko"], narrow=False))
    (x, width), (following, _) = [(float(x), float(width)) for x, _, width in entries]
    name = width - SYMBOL
    assert name > 150.0  # names are cut at 160 pixels
    assert x + SYMBOL + (1.0 + WIDER) * name < following


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", ["system {}", "openskill-{}-part of the way to a long name"])
@pytest.mark.parametrize("count", [3, 17])
def test_a_legend_is_no_wider_than_the_plot(count, name, narrow):
    one, several = (drawing([name.format(k) for k in range(each)], narrow=narrow) for each in (1, count))
    assert re.findall(r'^<svg[^>]* width="\d+"', several) == re.findall(r'^<svg[^>]* width="\d+"', one)


def test_short_names_are_in_one_row():
    entries = [ENTRY.findall(drawing([f"system {k}" for k in range(count)], narrow=False)) for count in (7, 8)]
    assert [len({y for _, y, _ in each}) for each in entries] == [1, 2]
