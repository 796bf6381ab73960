"""Rows of several pools, and their histories side by side."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

START = datetime(2025, 1, 1, tzinfo=UTC)


def duels(count, pools=("east", "west")):
    """Rows of duels an hour apart, now in one pool and now in another."""
    rng = np.random.default_rng(count)
    pairs = [rng.permutation(6)[:2] for _ in range(count)]
    numbers = np.repeat(np.arange(count), 2).tolist()
    return pl.DataFrame(
        {
            "event_id": [f"e{number}" for number in numbers],
            "started_at": [START + timedelta(hours=number) for number in numbers],
            "pool": [pools[number % len(pools)] for number in numbers],
            "player": [f"player {number}" for pair in pairs for number in pair],
            "position": [1, 2] * count,
        }
    )


def by_pool(frame):
    """By pool, in the order of rating within each."""
    return frame.sort("pool", maintain_order=True)
