"""Histories rated by independent implementations, none of them Podium. Their README tells who made them."""

import json
import math

import numpy as np
import polars as pl
import pytest

import podium
from podium.entries import Entrant
from podium.performance import incomplete_beta, matched_slope
from podium.rules import enter, evidence, settle
from podium.systems import find
from podium.systems.glicko2 import Comparison

GOLDEN = [
    ("stk", "stk_1"),
    ("stk-rd", "stk_rd_3"),
    ("trials", "trials_7"),
    ("xonstat", "xonstat_5"),
    ("xonstat-2015", "xonstat_2015_9"),
]
KEYS = ("event_id", "player", "pool")


@pytest.mark.parametrize(("system", "name"), GOLDEN)
def test_golden_history_is_reproduced(shared, system, name):
    golden = pl.read_csv(shared(f"golden/{name}.golden.csv"), schema_overrides={"disconnects": pl.UInt64})
    history = podium.rate(shared(f"golden/{name}.results.parquet"), system).history
    assert history["event_id"].to_list() == golden["event_id"].to_list()
    both = golden.join(history, on=["event_id", "player"], how="left", suffix="_ours", maintain_order="left")
    compared = [column for column in golden.columns if column in history.columns and column not in KEYS]
    assert "rating" in compared
    for column in compared:
        assert both[f"{column}_ours"].null_count() == 0
        ours, theirs = both[f"{column}_ours"].to_numpy().astype(float), both[column].to_numpy().astype(float)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 if column == "delta" else 0.0, err_msg=column)


def test_stk_exchange_without_base_points(shared):
    golden = pl.read_csv(shared("golden/stk_1.golden.csv"))
    rated = podium.rate(shared("golden/stk_1.results.parquet"), "stk", base_points_events=0)
    first = golden.filter(pl.col("event_id") == "r0000")
    ours = rated.history.filter(pl.col("event_id") == "r0000")
    np.testing.assert_allclose(sorted(ours["delta"]), sorted(first["delta_exchange"]), rtol=1e-9)


def test_trials_compares_as_many_pairs_as_the_reference(shared):
    golden = pl.read_csv(shared("golden/trials_7.golden.csv"))
    rated = podium.rate(shared("golden/trials_7.results.parquet"), "trials")
    for event, player, results in golden.select("event_id", "player", "results").head(40).iter_rows():
        assert rated.explain(event, player).rows.height == results


def test_folyami_agrees_with_the_original_program(shared):
    golden = pl.read_csv(shared("golden/folyami_zakstunts.final.csv"))
    rated = podium.rate(shared("data/zakstunts.parquet"), "folyami")
    both = golden.join(rated.ratings, on="player", how="full", suffix="_ours")
    assert both.null_count()["rating"].item() == both.null_count()["rating_ours"].item() == 0
    np.testing.assert_allclose(both["rating_ours"], both["rating"], rtol=1e-6)
    assert both["events"].to_list() == both["entries"].to_list()


def test_folyami_expected_scores(shared):
    for shape, gap, expected in pl.read_csv(shared("golden/folyami_expected.csv")).iter_rows():
        w = 1.0 / (1.0 + math.exp(-matched_slope(int(shape)) * gap))
        assert incomplete_beta(w, float(shape)) == pytest.approx(expected, rel=1e-6)


def test_glicko2_periods(shared):
    """251 single rating periods in 40-digit arithmetic."""
    for case in json.loads(shared("golden/glicko2_periods.json").read_text()):
        params = find("glicko2").from_text({"tau": case["tau"]}).params()
        system = find("glicko2")
        entrant = Entrant(1.0, 0.0, 0.0)
        me = enter(params, system.state_type(case["rating"], case["deviation"], case["volatility"], 0.0), entrant)
        totals = np.zeros(2)
        for rating, deviation, score in case["results"]:
            them = enter(params, system.state_type(rating, deviation, 0.06, 0.0), entrant)
            expected = 1.0 / (1.0 + math.exp(-them.g * (me.mu - them.mu)))
            totals += evidence(params, Comparison(score, expected, them.g, 1.0 - expected))
        after = settle(params, me, system.evidence_type(*totals.tolist()), entrant)
        np.testing.assert_allclose(after[:3], case["after"], rtol=1e-9, err_msg=case["name"])
