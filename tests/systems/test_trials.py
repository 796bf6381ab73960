"""Trials compared with an independent implementation, including the number of compared pairs."""

import polars as pl
from golden import assert_history_is

import podium


def test_a_history_equals_the_independent_implementation(shared):
    assert_history_is(shared, "trials", "trials_7")


def test_as_many_pairs_are_compared_as_in_the_reference(shared):
    golden = pl.read_csv(shared("golden/trials_7.golden.csv"))
    rated = podium.rate(shared("golden/trials_7.results.parquet"), "trials")
    for event, player, results in golden.select("event_id", "player", "results").head(40).iter_rows():
        assert rated.explain(event, player).rows.height == results
