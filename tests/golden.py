"""Histories rated by independent implementations. Their README names the authors."""

import numpy as np
import polars as pl

import podium

KEYS = ("event_id", "player", "pool")


def assert_history_is(shared, system, name):
    """Check that a system's history of a golden file's results equals the file."""
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
