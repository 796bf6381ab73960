"""The events that every contender rates: seeded, the same for all."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

PLAYERS = 10_000
SEED = 20250101
TENNIS = Path(__file__).resolve().parents[2] / "shared" / "data" / "atp.parquet"  # duels in the order of real life


class Fields(NamedTuple):
    """Races of one size."""

    player: npt.NDArray[np.int64]  # (races, size): in the order of the file
    time_s: npt.NDArray[np.float64]  # (races, size): longer for a worse place
    place: npt.NDArray[np.int64]  # (races, size): 1 is best, ties share it
    players: int = PLAYERS

    def first(self, races: int) -> "Fields":
        """The first so many races."""
        return Fields(self.player[:races], self.time_s[:races], self.place[:races], self.players)

    def table(self) -> pl.DataFrame:
        """As a results table."""
        races, size = self.player.shape
        numbers = np.arange(races)
        names = pl.Series([f"player {number}" for number in range(self.players)])
        return pl.DataFrame(
            {
                "event_id": pl.Series(np.repeat(numbers, size)).cast(pl.String),
                "started_at": pl.Series(np.repeat(numbers, size) * 60_000_000).cast(pl.Datetime("us", "UTC")),
                "player": names[self.player.ravel()],
                "position": self.place.ravel(),
                "time_s": self.time_s.ravel(),
            }
        )


def fields(races: int, size: int, players: int = PLAYERS) -> Fields:
    """Races between random players, won at random, the winner first in the file.

    A sorted draw with repetitions, spread by 0, 1, 2, ... has none: neighbours meet half as often as others do.
    """
    rng = np.random.default_rng(SEED)
    drawn = np.sort(rng.integers(0, players - size + 1, (races, size)), axis=1) + np.arange(size)
    place = np.broadcast_to(np.arange(1, size + 1), (races, size))
    return Fields(rng.permuted(drawn, axis=1), np.sort(rng.uniform(60.0, 120.0, (races, size)), axis=1), place, players)


def duels_with_draws(races: int, drawn: float = 0.2) -> Fields:
    """Duels that either side wins, and that share are drawn."""
    duels = fields(races, 2)
    rng = np.random.default_rng(SEED + 1)
    place = rng.permuted(duels.place, axis=1)
    place[rng.random(races) < drawn] = 1
    return duels._replace(place=place, time_s=60.0 + place)


def tennis() -> Fields:
    """Men's tennis in the order it was played; the winner stands first."""
    rows = pl.read_parquet(TENNIS, columns=["event_id", "started_at", "player", "position"])
    rows = rows.with_row_index("row").sort("started_at", "row")
    codes = rows["player"].rank("dense").cast(pl.Int64).to_numpy() - 1
    duels = rows.height // 2
    times = np.broadcast_to(np.array([60.0, 61.0]), (duels, 2))
    return Fields(codes.reshape(-1, 2), times, rows["position"].to_numpy().reshape(-1, 2), int(codes.max()) + 1)
