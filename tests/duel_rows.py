"""Tables of duels, an hour apart."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

START = datetime(2025, 1, 1, tzinfo=UTC)


def duels(count, *, pools=1, players=6, first=0):
    """Return rows of duels, an hour apart."""
    rng = np.random.default_rng(count + first)
    pairs = [rng.permutation(players)[:2] for _ in range(count)]
    numbers = np.repeat(np.arange(first, first + count), 2).tolist()
    return pl.DataFrame(
        {
            "event_id": [f"e{number}" for number in numbers],
            "started_at": [START + timedelta(hours=number) for number in numbers],
            "pool": [f"pool {number % pools}" for number in numbers],
            "player": [f"player {number}" for pair in pairs for number in pair],
            "position": [1, 2] * count,
        }
    )
