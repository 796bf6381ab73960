"""Compare `adaptive` on results without dates and on the same results dated over a year: `python bench/undated.py`.

The players of the duels have fixed skills of N(0, 1), and the chance to win is logistic in the gap. The script prints
the log loss of all duels.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

import podium

ROWS = ((100, 20_000), (1_000, 100_000), (5_000, 200_000))
BEGIN, YEAR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=365)


def draw_duels(players: int, duels: int, seed: int) -> pl.DataFrame:
    """Return the results, one row per player, in the order of the events."""
    rng = np.random.default_rng(seed)
    skills = rng.normal(size=players)
    pairs = np.array([rng.choice(players, 2, replace=False) for _ in range(duels)])
    first_wins = rng.random(duels) < 1.0 / (1.0 + np.exp(skills[pairs[:, 1]] - skills[pairs[:, 0]]))
    return pl.DataFrame(
        {
            "event_id": np.repeat([f"{k:06}" for k in range(duels)], 2),
            "player": [f"p{player}" for player in pairs.ravel()],
            "position": np.stack([2 - first_wins, 1 + first_wins], axis=1).ravel(),
        }
    )


def main() -> None:
    """Print a line for each size."""
    for players, duels in ROWS:
        results = draw_duels(players, duels, seed=1)
        dates = [BEGIN + YEAR * (k / duels) for k in range(duels) for _ in range(2)]
        dated = results.with_columns(started_at=pl.Series(dates))
        loss, of_dated = (podium.evaluate(each, "adaptive").scores["log_loss"].item() for each in (results, dated))
        print(f"{players:5,} players, {duels:7,} duels: {loss:.4f} undated, {of_dated:.4f} dated", flush=True)


if __name__ == "__main__":
    main()
