"""The curves of systems compared with their published texts."""

import math

import polars as pl
import pytest

import podium
from podium.reporting.histories import CURVES, curve
from podium.systems import find


def points(kind, series=None):
    _, rows = curve(kind)
    return rows if series is None else rows.filter(pl.col("series") == series)


def test_remoteness_is_half_at_seven_places():
    k = points("remoteness")["y"].to_list()
    assert k[0] == 18.0
    assert 22.0 / math.pi == pytest.approx(7.0, abs=0.01)
    assert k[7] == pytest.approx(9.0, rel=2e-3)


def test_a_newcomers_mean_factor_is_as_declared():
    new = points("provisional", "newcomer")["y"]
    assert new.head(12).mean() == pytest.approx(1.5 * 18.0, rel=1e-9)
    assert new.tail(3).to_list() == [18.0] * 3
    established = points("provisional", "established opponent")["y"]
    assert (new * established).to_list() == pytest.approx([18.0**2] * new.len())


def test_folyami_is_within_a_hundredth_of_elo():
    elo, folyami = (points("expected", name)["y"] for name in ("Elo", "Folyami, shape 3"))
    assert (elo - folyami).abs().max() < 0.01
    assert (elo - points("expected", "shape 3 without c")["y"]).abs().max() > 0.05


def test_densities_are_not_negative_and_sum_to_one():
    density = points("gamma", "1800").sort("x")
    x, y = density["x"].to_numpy(), density["y"].to_numpy()
    assert ((y[1:] + y[:-1]) / 2.0 * (x[1:] - x[:-1])).sum() == pytest.approx(1.0, abs=1e-3)


def test_win_expectancy_is_ten_to_one_at_400():
    at = dict(points("win-expectancy").select("x", "y").iter_rows())
    assert at[400.0] == pytest.approx(10.0 / 11.0)
    assert at[0.0] == 0.5


def test_a_lead_of_a_fortieth_is_a_full_win():
    """A lead of 2.5 % of the faster time is a full win."""
    faster = dict(points("result", "the faster").select("x", "y").iter_rows())
    assert faster[0.0] == 0.5
    assert faster[2.5] == 1.0
    assert max(faster.values()) == 1.0


def test_importance_stops_growing_at_500_seconds():
    at = dict(points("importance", "time trial").select("x", "y").iter_rows())
    assert at[120.0] == pytest.approx(120.0 * 0.125)
    assert at[700.0] == at[500.0]


def test_every_curve_uses_its_systems_functions():
    for kind, entry in CURVES.items():
        curve(kind, find(entry.system)())
        with pytest.raises(podium.ParameterError):
            curve(kind, find("elo")())
    with pytest.raises(podium.ParameterError, match="is not a curve"):
        curve("remotenes")
