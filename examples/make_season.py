"""Make the example season with the simulator. A fixed seed makes it the same file each time.

    python examples/make_season.py [--seed N] [--out FILE]

Six pools of thirty players: races by time, matches of heats, races by place, duels, free-for-alls and team games.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from podium.analysis.simulation import Scenario, simulate

NAMES = [
    "Amélie", "Bjørn", "Chidi", "Dragana", "Esteban", "Fatima", "Gustav", "Hana", "Ivo", "Jun",
    "Kofi", "Ludmila", "Mateo", "Niamh", "Otto", "Priya", "Quentin", "Rosa", "Søren", "Tomás",
    "Uma", "Viktor", "Wanda", "Ximena", "Yusuf", "Zoë", "Old Tom", "雪", "Nadia", "Pavel",
]  # fmt: skip
COMMON = {"players": len(NAMES), "days": 350.0, "newcomers": 0.35, "jumps": 0.1, "jump": 350.0}
FAVOURITES = (1, 4, 9)  # players who drive with a handicap for one night
TIMES, SCORES, SHARES = ("position", "time_s"), ("score",), ("score", "played_s", "duration_s")
# A scenario for each pool, and the measures in its results.
POOLS = {
    "karts": (Scenario(events=120, entrants=7, quits=0.05, resolution_s=0.05, ideal_s=140.0, **COMMON), TIMES),
    "bikes": (Scenario(events=60, entrants=6, heats=4, quits=0.03, **COMMON), SCORES),
    "stunts": (Scenario(events=60, entrants=13, quits=0.0, ideal_s=75.0, **COMMON), TIMES),
    "duel": (Scenario(events=60, entrants=2, quits=0.04, ideal_s=600.0, **COMMON), SHARES),
    "dm": (Scenario(events=60, entrants=6, quits=0.06, ideal_s=600.0, **COMMON), SHARES),
    "ctf": (Scenario(events=60, entrants=6, teams=2, quits=0.04, ideal_s=900.0, **COMMON), SHARES),
}
COLUMNS = [
    "event_id", "started_at", "pool", "mode", "heat", "team", "player", "position", "time_s", "score", "team_score",
    "status", "played_s", "duration_s", "handicap",
]  # fmt: skip


def results_of(pool: str, seed: int) -> pl.DataFrame:
    """Return the results of one pool."""
    scenario, measures = POOLS[pool]
    settings = {name: getattr(scenario, name) for name in Scenario.__slots__} | {"seed": seed}
    results = simulate(Scenario(**settings)).results
    number = pl.col("number")
    results = results.with_columns(number=pl.col("event_id").str.slice(1).str.to_integer())
    mode = pl.when(number % 3 == 1).then(pl.lit("time-trial")).otherwise(pl.lit("normal"))
    shared = results.with_columns(
        event_id=pl.format(pool + "-{}", number.cast(pl.String).str.zfill(3)),
        pool=pl.lit(pool),
        mode=mode if pool == "karts" else pl.lit(pool) if pool in ("duel", "dm", "ctf") else pl.lit(None, pl.String),
        player=pl.col("player").replace_strict({f"p{k:02}": name for k, name in enumerate(NAMES, start=1)}),
        score=(pl.col("score") / 100).round().cast(pl.Int64),
        handicap=(number - 61).is_between(0, 5) & pl.col("player").is_in([f"p{k:02}" for k in FAVOURITES]),
    )
    if pool == "karts":
        broken_down = (pl.col("status") == "quit") & (number % 2 == 0)
        shared = shared.with_columns(status=pl.when(broken_down).then(pl.lit("dnf")).otherwise("status"))
    else:
        shared = shared.with_columns(handicap=pl.lit(value=False))
    if "team_score" in shared.columns:
        shared = shared.with_columns(team_score=(pl.col("team_score") / 1000).round().cast(pl.Int64))
    if pool == "stunts":
        shared = with_stewards(shared, seed)
    own = [name for name in ("heat", "team", "team_score", *measures) if name in shared.columns]
    columns = ["event_id", "started_at", "pool", "mode", "player", "status", "handicap", *own]
    return shared.select(columns)


def with_stewards(results: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Disqualify some players and mark some as non-starters, but never the first three."""
    drawn = pl.Series(np.random.default_rng(seed).random(results.height))
    behind = pl.col("position") > 3
    status = pl.when(behind & (drawn < 0.04)).then(pl.lit("disqualified"))
    status = status.when(behind & (drawn < 0.07)).then(pl.lit("did_not_start")).otherwise("status")
    finished = pl.col("status") == "finished"
    return results.with_columns(status=status).with_columns(
        pl.when(finished).then(pl.col(name)).alias(name) for name in ("position", "time_s")
    )


def make_season(seed: int = 2025) -> pl.DataFrame:
    """Return the example season as a results table."""
    pools = [results_of(pool, seed + number) for number, pool in enumerate(POOLS)]
    season = pl.concat(pools, how="diagonal").sort("started_at", maintain_order=True)
    instants = pl.col("started_at").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    return season.with_columns(instants).select(COLUMNS)


def main() -> None:
    """Write the season."""
    parser = argparse.ArgumentParser(description="Make the example season.")
    parser.add_argument("--seed", type=int, default=2025)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("season.csv"))
    options = parser.parse_args()
    make_season(options.seed).write_csv(options.out)


if __name__ == "__main__":
    main()
