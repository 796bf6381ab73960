"""Difficult results for a rating system: young pools, rings of accounts, ties, reversals. Tests use small ones."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.results.reading import Results

START = datetime(2020, 1, 1, tzinfo=UTC)
POOL = "default"


class YoungPool(NamedTuple):
    """A pool in which all players are new at once, careers are short and fields are nearly even."""

    field: int = 12
    races: int = 1500
    races_a_day: int = 9
    players: int = 1700
    days: int = 660
    spread: float = 0.5  # variance of skills, in squared log-odds, as the next two
    noise: float = 0.3  # variance of a day's performance
    drift: float = 2e-4  # variance that a day adds to a skill


def young_season(seed: int, pool: YoungPool) -> pl.DataFrame:
    """Return a season drawn from the system's own model: drifting skills, normal days, and Gumbel luck in each race."""
    random = np.random.default_rng(seed)
    skill = random.normal(0.0, np.sqrt(pool.spread), pool.players)
    there_at_first = random.random(pool.players) < 0.5  # noqa: PLR2004  (half)
    arrival = np.where(there_at_first, 0.0, random.random(pool.players) * pool.days)
    departure = arrival + random.exponential(pool.days / 2, pool.players) + 60
    race_days = np.sort(random.choice(pool.days, pool.races // pool.races_a_day + 1, replace=False))
    last_day = np.full(pool.players, np.nan)
    races: list[tuple[int, npt.NDArray[np.int64]]] = []
    for day in race_days.tolist():
        about = random.permutation(np.flatnonzero((arrival <= day) & (departure >= day)))
        for k in range(min(pool.races_a_day, about.size // pool.field, pool.races - len(races))):
            field = about[k * pool.field : (k + 1) * pool.field]
            skill[field] += random.normal(size=pool.field) * np.sqrt(pool.drift * np.nan_to_num(day - last_day[field]))
            last_day[field] = day
            day_form = random.normal(size=pool.field) * np.sqrt(pool.noise)
            performance = skill[field] + day_form + random.gumbel(size=pool.field)
            races.append((day, field[np.argsort(-performance)]))
    return race_table(races)


def race_table(races: list[tuple[int, npt.NDArray[np.int64]]]) -> pl.DataFrame:
    """Return races as a results table. Each race is its day and its players in order."""
    sizes = [field.size for _, field in races]
    number = np.repeat(np.arange(len(races)), sizes)
    names = pl.Series([str(player) for _, field in races for player in field.tolist()], dtype=pl.String)
    return pl.DataFrame(
        {
            "event_id": [f"race-{k:05}" for k in number.tolist()],
            "started_at": [START + timedelta(days=races[k][0]) for k in number.tolist()],
            "player": "player " + names,
            "position": np.concatenate([np.arange(1, size + 1) for size in sizes]),
        }
    )


def ring_of_accounts(pool: str, first: datetime, accounts: int = 10, duels: int = 2000) -> pl.DataFrame:
    """Return duels among a few accounts within thirty days, in which the first player always wins."""
    random = np.random.default_rng(1)
    pairs = [sorted(random.choice(accounts, 2, replace=False).tolist()) for _ in range(duels)]
    moments = [first + timedelta(days=30.0 * k / duels) for k in range(duels)]
    return pl.DataFrame(
        {
            "event_id": [f"rigged-{k:05}" for k in range(duels) for _ in range(2)],
            "started_at": [moment for moment in moments for _ in range(2)],
            "pool": pool,
            "player": [f"account {name}" for pair in pairs for name in pair],
            "position": [1, 2] * duels,
        }
    )


def with_rows(results: Results, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the results with more rows, sorted by time."""
    frame = results.frame.select(column for column in results.frame.columns if column in (*rows.columns, "status"))
    moment = frame.schema["started_at"]
    more = rows.with_columns(pl.col("position").cast(frame.schema["position"]), pl.col("started_at").cast(moment))
    return pl.concat([frame, more], how="diagonal").with_columns(pl.col("status").fill_null("finished"))


def with_constant_guest(frame: pl.DataFrame, share: float = 0.5) -> pl.DataFrame:
    """Return the races with one more player in a share of them, at random places."""
    random = np.random.default_rng(1)
    rows = []
    for event in frame.partition_by("event_id", maintain_order=True):
        if random.random() >= share:
            rows.append(event.with_columns(pl.col("position").cast(pl.Int64)))
            continue
        place = int(random.integers(1, event.height + 2))
        moved = event.with_columns(
            position=pl.col("position").cast(pl.Int64) + (pl.col("position") >= place).cast(pl.Int64)
        )
        guest = event.head(1).with_columns(player=pl.lit("the guest"), position=pl.lit(place, pl.Int64))
        rows += [moved, guest.select(moved.columns)]
    return pl.concat(rows)


def reversed_places(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the races in reversed order of finish."""
    last = pl.col("position").max().over("event_id")
    return frame.with_columns(position=last + 1 - pl.col("position"))


def all_tied(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the races with everybody tied for first."""
    return frame.with_columns(position=pl.lit(1))


def crowd(entrants: int, events: int) -> pl.DataFrame:
    """Return events of a fixed crowd, whose order varies randomly around their strengths."""
    random = np.random.default_rng(1)
    strength = random.normal(0.0, 1.0, entrants)
    orders = [np.argsort(-(strength + random.gumbel(size=entrants))) for _ in range(events)]
    return race_table(list(enumerate(orders)))
