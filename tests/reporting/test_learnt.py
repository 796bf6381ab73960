"""The parameters that a pool has learnt, as numbers and as a chart."""

import math

import polars as pl
import pytest

import podium
from podium.errors import ParameterError
from podium.reporting.histories import learnt_curves
from podium.reporting.plotting import as_page, as_svg, plot, specification
from podium.systems import find

RACES = [
    {"event_id": f"e{k:02}", "player": player, "position": place, "started_at": f"2024-{k % 12 + 1:02}-0{k // 12 + 1}"}
    for k in range(24)
    for place, player in enumerate(["Zoë", "Ben", "Cy", "Di"][k % 3 :] + ["Zoë", "Ben", "Cy", "Di"][: k % 3], 1)
]
UNDATED = [{key: value for key, value in row.items() if key != "started_at"} for row in RACES]


@pytest.fixture(scope="module")
def rated():
    return podium.rate(RACES, "adaptive")


def test_each_event_has_a_row_with_all_parameters_in_their_units(rated):
    learnt = rated.learnt()
    assert learnt.height == 24
    assert learnt["event_id"].to_list() == sorted(learnt["event_id"], key=lambda name: (int(name[1:]) % 12, name))
    fields = rated.system.pool_state_type._fields
    last = dict(zip(fields, rated.replayed.pools[0].tolist(), strict=True))
    assert learnt["spread"][-1] == pytest.approx(173.7178 * math.exp(0.5 * last["spread"]), rel=1e-12)
    assert learnt["idle_day"][-1] == pytest.approx(173.7178 * math.sqrt(math.exp(last["idle_day"]) * 365.25), rel=1e-12)
    assert learnt["unfinished"][-1] == pytest.approx(50.0)  # no breakdowns: the start value


def test_each_pool_learns_separately(rated):
    others = [row | {"pool": "b", "event_id": "x"} for row in RACES[:2]]
    both = podium.rate([row | {"pool": "a"} for row in RACES] + others, "adaptive")
    assert both.learnt().drop("event_id").equals(both.learnt(pool="a").drop("event_id"))
    assert both.learnt(pool="a").equals(rated.learnt())
    assert both.learnt(pool="b").height == 1


def test_a_system_that_learns_nothing_is_an_error():
    with pytest.raises(ParameterError, match="elo: this system learns no parameters"):
        podium.rate(RACES, "elo").learnt()


def test_every_parameter_has_a_panel_with_a_sentence(rated):
    svg = as_svg(learnt_curves(rated.learnt(), rated.system, "Races"))
    for each in rated.system.learnt_parameters:
        assert each.title in svg or each.title.replace("'", "&#39;") in svg
    assert "Two out of three newcomers turn out" in svg
    assert "2024" in svg


def test_undated_results_are_drawn_by_event():
    svg = as_svg(plot("parameters", UNDATED, "adaptive"))
    assert ">event</text>" in svg


def test_panels_are_below_each_other_on_a_phone(rated):
    chart = plot("parameters", rated)
    assert specification(chart, inline=True, narrow=False)["columns"] == 2
    assert specification(chart, inline=True, narrow=True)["columns"] == 1
    assert as_page(chart, "learnt").count("<svg") == 2


def test_modes_add_one_parameter():
    system = find("adaptive")(modes="clay/hard")  # as many modes as in other tests, which compile the same kernel
    rows = [row | {"mode": "clay" if row["event_id"] < "e12" else "hard"} for row in RACES]
    learnt = podium.rate(rows, system).learnt()
    assert learnt.columns[2:] == [each.name for each in system.learnt_parameters]
    assert learnt.columns[-1] == "mode"
    assert learnt.select(pl.col("mode").is_finite().all()).item()


@pytest.mark.parametrize(("points", "verb"), [(12.4, "gain 12"), (-12.4, "lose 12")])
def test_growth_is_described_with_its_sign(points, verb):
    growth = next(each for each in find("adaptive")().learnt_parameters if each.name == "growth")
    assert verb in growth.describe(points)
