"""Write docs/data/coverage.csv, how often the 95 % interval of `adaptive` holds the true strength: `make coverage`.

`make docs` then writes the table in docs/comparison.md.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from compare import write_table
from public_histories import HISTORIES, NEWER, SELF_TUNING, History

import podium
from podium.analysis.evaluation import STANDARD_ERRORS

HEAD = ("measured", "case", "truth", "covered", "deviation", "error")
DUEL = 2
FIELDS = {2: 4000, 4: 2000, 8: 1000, 20: 400, 50: 160, 100: 80}  # entrants of a race, and races of a season
SEEDS = range(3)
PLAYERS, DAYS, SPREAD, NOISE, DRIFT = 400, 1000, 1.0, 0.3, 2e-4
POINTS = 173.7178  # rating points per unit of strength
STARTED = datetime(2020, 1, 1, tzinfo=UTC)
MIN_EVENTS = 4  # earlier events of a player, in simulated seasons
MIN_CAREER = 10  # the same in public histories, and later events for hindsight
Floats = npt.NDArray[np.float64]


def season(seed: int, field: int, races: int) -> tuple[pl.DataFrame, Floats]:
    """Return the results of a season, one row per entrant, and the true strength in points in each row."""
    rng = np.random.default_rng(seed)
    skill, last = rng.normal(0.0, np.sqrt(SPREAD), PLAYERS), np.zeros(PLAYERS)
    rows, truth = [], []
    for race in range(races):
        day = race * DAYS / races
        entrants = rng.choice(PLAYERS, field, replace=False)
        skill[entrants] += rng.normal(size=field) * np.sqrt(DRIFT * (day - last[entrants]))
        last[entrants] = day
        luck = rng.gumbel(size=field) if field > DUEL else rng.logistic(size=field) / np.sqrt(2.0)
        performance = skill[entrants] + rng.normal(size=field) * np.sqrt(NOISE) + luck
        places = np.argsort(np.argsort(-performance)) + 1
        started_at = STARTED + timedelta(days=int(day))
        rows += [(f"e{race}", started_at, f"p{who}", int(place)) for who, place in zip(entrants, places, strict=True)]
        truth += skill[entrants].tolist()
    schema = ["event_id", "started_at", "player", "position"]
    return pl.DataFrame(rows, schema=schema, orient="row"), POINTS * np.array(truth)


def covered(rating: Floats, deviation: Floats, truth: Floats) -> list[str]:
    """Return the share of intervals that hold the truth, the mean deviation and the root mean square error.

    A common shift of all ratings is removed, because results cannot determine it.
    """
    error, weight = rating - truth, deviation**-2.0
    error -= float((error * weight).sum() / weight.sum())
    inside = np.abs(error) < STANDARD_ERRORS * deviation
    return [f"{inside.mean():.3f}", f"{deviation.mean():.1f}", f"{np.sqrt((error**2).mean()):.1f}"]


def simulated(field: int, races: int) -> list[str]:
    """Measure the second half of three simulated seasons with fields of this size."""
    found = []
    for seed in SEEDS:
        table, truth = season(seed, field, races)
        history = podium.rate(podium.read_results(table), SELF_TUNING).history
        place = dict(zip(zip(table["event_id"], table["player"], strict=True), truth.tolist(), strict=True))
        true = np.array([place[key] for key in history.select("event_id", "player").iter_rows()])
        number = history.select(pl.int_range(pl.len()).over("player")).to_series().to_numpy()
        judged = (np.arange(true.size) > true.size // 2) & (number >= MIN_EVENTS)
        rating, deviation = (history[name].to_numpy()[judged] for name in ("rating", "deviation"))
        found.append([float(figure) for figure in covered(rating, deviation, true[judged])])
    share, mean, error = np.mean(found, axis=0)
    return ["simulated", f"fields of {field}", "true strength", f"{share:.3f}", f"{mean:.1f}", f"{error:.1f}"]


def observed(history: History, folder: Path) -> list[str]:
    """Measure a public history. Hindsight, which knows the later results, stands for the truth."""
    rated = podium.rate(history.read(folder), SELF_TUNING)
    keys = ["pool", "event_id", "player"]
    later = rated.hindsight().frame.select(*keys, "rating")
    number, length = pl.int_range(pl.len()).over("pool", "player"), pl.len().over("pool", "player")
    table = rated.history.select(*keys, "rating", "deviation", number=number, length=length)
    table = table.join(later, on=keys, suffix="_later").filter(
        pl.col("number") >= MIN_CAREER, pl.col("length") - pl.col("number") > MIN_CAREER
    )
    columns = (table[name].to_numpy() for name in ("rating", "deviation", "rating_later"))
    return ["public", history.title, "hindsight", *covered(*columns)]


def main(folder: Path) -> None:
    """Measure simulated seasons, and the public histories in a folder."""
    rows = [simulated(field, races) for field, races in FIELDS.items()]
    rows += [observed(history, folder) for history in (NEWER["climb_lead"], HISTORIES["f1"], HISTORIES["atp"])]
    write_table("coverage.csv", HEAD, rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
