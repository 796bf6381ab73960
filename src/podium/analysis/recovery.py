"""Measure how fast and how well a system finds the known skills in a simulated season.

Ratings and skills have different scales. Therefore, each system's ratings are first converted to skills with the
best-fitting straight line over all events after each player's tenth event.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from podium.analysis.scores import system_labels
from podium.engine.system import System
from podium.errors import ParameterError
from podium.importers.tables import read_any
from podium.rating import rate
from podium.results.reading import Results
from podium.support.immutable import immutable

ESTABLISHED_EVENTS = 10
CLOSE_POINTS = 50.0  # points of skill
SEASON_PARTS = 10  # number of parts of a season
LEAP_POINTS = 100.0  # smallest change of skill between two events that is not drift
CAUGHT_UP_SHARE = 0.5  # share of such a change that a rating must follow
SCHEMA = {"event_id": pl.String, "player": pl.String, "skill": pl.Float64}


@immutable
class Recovery:
    """The results of each system."""

    summary: pl.DataFrame  # one row per system
    progress: pl.DataFrame  # one row per system and tenth of the season


def recover(
    results: Any, skills: pl.DataFrame, systems: Sequence[System], labels: Sequence[str] | None = None
) -> Recovery:
    """Rate a season with several systems, and compare the ratings with the truth.

    Args:
        results: Anything that `read_results` reads.
        skills: Table with `event_id, player, skill` for every entrant in every event.
        systems: System instances.
        labels: Labels of the systems. Default: their names.

    Returns:
        `summary` has one row per system: the errors in points of skill, the rank correlation, and the number of events
        until ratings are close. `progress` has one row per system and tenth of the season.

    Raises:
        ResultsError: The results are invalid.
        ParameterError: Skills are missing for an event, there are too few events to compare, or all ratings of a system
            are equal.
    """
    checked = read_any(results)[0]
    names = system_labels(labels, [system.name for system in systems])
    truth = check_skills(skills)
    summaries, tables = [], []
    for name, system in zip(names, systems, strict=True):
        followed = history_with_truth(checked, truth, system)
        line = fitted_line(followed, name)
        comparison = followed.with_columns(error=line[0] + line[1] * pl.col("rating_before") - pl.col("skill"))
        summaries.append({"system": name} | summary(comparison, line))
        tables.append(progress(comparison).select(pl.lit(name).alias("system"), pl.all()))
    return Recovery(pl.DataFrame(summaries), pl.concat(tables))


def check_skills(skills: pl.DataFrame) -> pl.DataFrame:
    """Check the table of skills, and return it."""
    missing = [name for name in SCHEMA if name not in skills.columns]
    if missing:
        raise ParameterError(f"the skills have no {missing[0]} column (required: {', '.join(SCHEMA)})")
    try:
        table = skills.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
    except pl.exceptions.PolarsError as error:
        raise ParameterError(f"the skills are not numbers ({str(error).splitlines()[0]})") from None
    if table.select("event_id", "player").is_duplicated().any():
        raise ParameterError("the skills list a player twice in one event")
    return table


def history_with_truth(results: Results, truth: pl.DataFrame, system: System) -> pl.DataFrame:
    """Join history and truth: the rating before each event, the skill at that time, and the player's event number."""
    history = rate(results, system).history
    followed = history.join(truth, on=["event_id", "player"], how="left", maintain_order="left")
    unknown = followed.filter(~pl.col("skill").is_finite().fill_null(value=False))
    if unknown.height:
        event, player = unknown.select("event_id", "player").row(0)
        raise ParameterError(f"the skills are missing for {player!r} in event {event!r}")
    who = ["pool", "player"]
    return followed.with_columns(
        number=pl.int_range(1, pl.len() + 1).over(who),
        part=(pl.int_range(pl.len()) * SEASON_PARTS // pl.len()) + 1,
        leap=(pl.col("skill") - pl.col("skill").shift().over(who)).fill_null(0.0),
    )


def fitted_line(followed: pl.DataFrame, name: str) -> tuple[float, float]:
    """Return the intercept and slope of skill as a linear function of rating."""
    established = followed.filter(pl.col("number") > ESTABLISHED_EVENTS)
    rating, skill = (established[name].to_numpy() for name in ("rating_before", "skill"))
    if established.height < ESTABLISHED_EVENTS:
        raise ParameterError(f"too few events to compare: players need more than {ESTABLISHED_EVENTS} each")
    if np.ptp(rating) == 0.0:
        raise ParameterError(f"{name}: all ratings are equal, so they show nothing about skills")
    spread = rating - rating.mean()
    slope = float((spread * (skill - skill.mean())).sum() / (spread * spread).sum())
    return float(skill.mean() - slope * rating.mean()), slope


def summary(comparison: pl.DataFrame, line: tuple[float, float]) -> dict[str, Any]:
    """Return one system's row of the summary."""
    established = comparison.filter(pl.col("number") > ESTABLISHED_EVENTS)
    events, share_close = events_until_close(comparison)
    lag, leaps = lag_after_leaps(comparison, line)
    return {
        "events_to_50": events,
        "found": share_close,
        "rmse": root_mean_square(established["error"]),
        "rank_correlation": rank_correlation(established),
        "rmse_first_10": root_mean_square(comparison.filter(pl.col("number") <= ESTABLISHED_EVENTS)["error"]),
        "lag": lag,
        "leaps": leaps,
        "inflation": inflation(established),
    }


def events_until_close(comparison: pl.DataFrame) -> tuple[float | None, float]:
    """Return the median number of events until a rating is within 50 points, and the share of players who reach it."""
    close = pl.col("number").filter(pl.col("error").abs() <= CLOSE_POINTS).min()
    first = comparison.group_by("pool", "player").agg(close)["number"]
    middle = (first - 1).cast(pl.Float64).fill_null(np.inf).median()
    share = 1.0 - first.null_count() / first.len()
    return (float(middle) if isinstance(middle, float) and np.isfinite(middle) else None), share


def root_mean_square(error: pl.Series) -> float | None:
    """Return the root mean square, or None for an empty column."""
    return float(np.sqrt(np.mean(error.to_numpy() ** 2))) if error.len() else None


def rank_correlation(comparison: pl.DataFrame) -> float | None:
    """Return Spearman's rank correlation between rating and skill."""
    if comparison.height < 2:  # noqa: PLR2004  (it takes two to compare)
        return None
    correlation = comparison.select(pl.corr("rating_before", "skill", method="spearman")).item()
    return None if correlation is None or np.isnan(correlation) else float(correlation)


def lag_after_leaps(comparison: pl.DataFrame, line: tuple[float, float]) -> tuple[float | None, int]:
    """Return the median number of events after which a rating has caught up with half of a sudden change in skill.

    Only sudden changes after a player's tenth event count. If a rating never catches up, the number counts as infinite.
    """
    lags: list[float] = []
    for (_, _), career in comparison.group_by("pool", "player", maintain_order=True):
        leap, number = career["leap"].to_numpy(), career["number"].to_numpy()
        for index in np.flatnonzero((np.abs(leap) >= LEAP_POINTS) & (number > ESTABLISHED_EVENTS)):
            after = career["rating_before"].to_numpy()[index:]
            moved = line[1] * (after - after[0]) / leap[index]
            caught = np.flatnonzero(moved >= CAUGHT_UP_SHARE)
            lags.append(float(caught[0]) if caught.size else np.inf)
    middle = float(np.median(lags)) if lags else np.inf
    return (middle if np.isfinite(middle) else None), len(lags)


def inflation(comparison: pl.DataFrame) -> float | None:
    """Return the rise in ratings over the season relative to skills, in points of skill."""
    if comparison.height < 2:  # noqa: PLR2004  (a line needs two points)
        return None
    part, error = comparison["part"].to_numpy().astype(np.float64), comparison["error"].to_numpy()
    spread = part - part.mean()
    if not spread.any():
        return None
    return float((spread * error).sum() / (spread * spread).sum() * (SEASON_PARTS - 1))


def progress(comparison: pl.DataFrame) -> pl.DataFrame:
    """Return the root mean square and the mean of the error, and the rank correlation, for each tenth of the season."""
    return comparison.group_by("part", maintain_order=True).agg(
        players=pl.struct("pool", "player").n_unique(),
        rmse=(pl.col("error") ** 2).mean().sqrt(),
        bias=pl.col("error").mean(),
        rank_correlation=pl.corr("rating_before", "skill", method="spearman"),
    )
