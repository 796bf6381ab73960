"""The events that every contender rates: seeded, the same for all."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

PLAYERS = 10_000
SEED = 20250101


class Fields(NamedTuple):
    """Races of one size."""

    player: npt.NDArray[np.int64]  # (races, size): in order of finish, the winner first
    time_s: npt.NDArray[np.float64]  # (races, size): rising

    def first(self, races: int) -> "Fields":
        """The first so many races."""
        return Fields(self.player[:races], self.time_s[:races])

    def table(self) -> pl.DataFrame:
        """As a results table."""
        races, size = self.player.shape
        numbers = np.arange(races)
        names = pl.Series([f"player {number}" for number in range(PLAYERS)])
        return pl.DataFrame(
            {
                "event_id": pl.Series(np.repeat(numbers, size)).cast(pl.String),
                "started_at": pl.Series(np.repeat(numbers, size) * 60_000_000).cast(pl.Datetime("us", "UTC")),
                "player": names[self.player.ravel()],
                "position": np.tile(np.arange(1, size + 1), races),
                "time_s": self.time_s.ravel(),
            }
        )


def fields(races: int, size: int) -> Fields:
    """Races between random players, won at random."""
    rng = np.random.default_rng(SEED)
    first = rng.integers(0, PLAYERS // size, (races, size)) * size
    player = rng.permuted(first + np.arange(size), axis=1)
    return Fields(player, np.sort(rng.uniform(60.0, 120.0, (races, size)), axis=1))
