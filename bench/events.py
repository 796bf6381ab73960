"""The events that every contender rates, from a fixed seed."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

PLAYERS = 10_000
SEED = 20250101
TENNIS = Path(__file__).resolve().parents[2] / "shared" / "data" / "atp.parquet"  # duels in their real order


class Fields(NamedTuple):
    """Races of one size."""

    player: npt.NDArray[np.int64]  # (races, size): in the order of the file
    time_s: npt.NDArray[np.float64]  # (races, size): longer for a worse place
    place: npt.NDArray[np.int64]  # (races, size): 1 is best, equal if tied
    players: int = PLAYERS

    def first(self, races: int) -> "Fields":
        """Return the first races."""
        return Fields(self.player[:races], self.time_s[:races], self.place[:races], self.players)

    def table(self) -> pl.DataFrame:
        """Return the races as a results table."""
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
    """Return races between random players with random winners, the winner first in the file.

    The players of a race are drawn as sorted random numbers plus 0, 1, 2, ..., so that nobody is drawn twice.
    Neighbours then meet half as often as others.
    """
    rng = np.random.default_rng(SEED)
    drawn = np.sort(rng.integers(0, players - size + 1, (races, size)), axis=1) + np.arange(size)
    place = np.broadcast_to(np.arange(1, size + 1), (races, size))
    return Fields(rng.permuted(drawn, axis=1), np.sort(rng.uniform(60.0, 120.0, (races, size)), axis=1), place, players)


def duels_with_draws(races: int, drawn: float = 0.2) -> Fields:
    """Return duels that either side wins, with a share of draws."""
    duels = fields(races, 2)
    rng = np.random.default_rng(SEED + 1)
    place = rng.permuted(duels.place, axis=1)
    place[rng.random(races) < drawn] = 1
    return duels._replace(place=place, time_s=60.0 + place)


def tennis() -> Fields:
    """Return men's tennis in the order it was played, the winner first."""
    rows = pl.read_parquet(TENNIS, columns=["event_id", "started_at", "player", "position"])
    rows = rows.with_row_index("row").sort("started_at", "row")
    codes = rows["player"].rank("dense").cast(pl.Int64).to_numpy() - 1
    duels = rows.height // 2
    times = np.broadcast_to(np.array([60.0, 61.0]), (duels, 2))
    return Fields(codes.reshape(-1, 2), times, rows["position"].to_numpy().reshape(-1, 2), int(codes.max()) + 1)
