"""Trials: a history rated by an independent implementation, and the pairs that it compared."""

import polars as pl
from golden import assert_history_is

import podium


def test_the_golden_history_is_reproduced(shared):
    assert_history_is(shared, "trials", "trials_7")


def test_compares_as_many_pairs_as_the_reference(shared):
    golden = pl.read_csv(shared("golden/trials_7.golden.csv"))
    rated = podium.rate(shared("golden/trials_7.results.parquet"), "trials")
    for event, player, results in golden.select("event_id", "player", "results").head(40).iter_rows():
        assert rated.explain(event, player).rows.height == results
