"""Evaluate systems by progressive validation: predict each event before the system learns its result."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from podium.analysis.predictions import BINS
from podium.analysis.scores import (
    TIMES,
    Judged,
    Metric,
    Window,
    column_sums,
    judge_events,
    losses_of_both,
    own_scores,
    system_labels,
    three_way_log_loss,
    weighed,
)
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.engine.tables.selection import EVENT
from podium.errors import ParameterError
from podium.importers.tables import read_any
from podium.results.reading import Results
from podium.support.arrays import Floats
from podium.support.immutable import immutable
from podium.systems import make_system

RESAMPLES = 1000
SEED = 1
INTERVAL = (0.025, 0.975)
WEIGHTS = ("pair", "event", "player")


@immutable
class Evaluation:
    """The evaluations of several systems, and the differences between them."""

    scores: pl.DataFrame  # one row per system
    differences: pl.DataFrame  # one row per other system: its log loss minus the first system's
    reliability: pl.DataFrame  # one row per system and tenth of the expected score
    notices: tuple[str, ...] = ()  # warnings about systems whose ratings reach a limit


def evaluate(
    results: Any,
    systems: str | System | Sequence[str | System],
    *,
    labels: Sequence[str] | None = None,
    window: Window | None = None,
    weight: str = "pair",
    period: str = EVENT,
    metrics: Mapping[str, Metric] | None = None,
    **others: Any,
) -> Evaluation:
    """Evaluate systems by how well they predict.

    Args:
        results: Anything that `read_results` reads.
        systems: One or several systems, each a name, a string such as `elo:k=20`, or an instance. The other systems are
            compared with the first.
        labels: Labels of the systems. Default: their names.
        window: The events to judge. Default: all. Earlier events are rated but not judged.
        weight: Give the same weight to each pair of sides (`pair`), each pair of players (`player`) or each event
            (`event`).
        period: Rating period: `event`, or a time span such as `1d`, `1w` or `1mo`.
        metrics: Your own metrics, by the name of their column in `scores`. Each metric is called like one from
            scikit-learn: with the results (1, 0 or 0.5) and the expected scores of the judged pairs. It returns a
            number.

    Returns:
        `scores` has one row per system, with the log loss, Brier score, accuracy and other scores of the judged pairs.
        `three_way_log_loss` scores win, draw and loss of duels in pools with draws, and is null if no duel was drawn.
        `differences` has the differences in log loss from the first system, with bootstrap intervals over events.
        `reliability` has the calibration for each tenth of the expected score.

    Raises:
        ResultsError: The results are invalid.
        ParameterError: The weight or a system does not exist, the window needs dates that the results do not have,
            there is nothing to judge, or the labels do not match the systems.
    """
    if others:
        time = "; window=podium.Window(since=..., until=..., min_events=...) selects the events to judge"
        raise ParameterError(f"evaluate takes no {', '.join(others)}{time if others.keys() & TIMES else ''}")
    texts = [systems] if isinstance(systems, str | System) else list(systems)
    if not texts:
        raise ParameterError("there is no system to judge. Name one, for example 'elo'.")
    if weight not in WEIGHTS:
        raise ParameterError(f"weight {weight!r} is not one of {', '.join(WEIGHTS)}")
    chosen = window or Window()
    if weight == "player":
        chosen, weight = replace(chosen, by_player=True), "pair"
    chosen_systems = [make_system(text) for text in texts]
    names = system_labels(labels, [text if isinstance(text, str) else text.name for text in texts])
    checked = read_any(results)[0]
    judged = judge_table(checked, chosen_systems, chosen, period, weight)
    for name, verdict in zip(names, judged, strict=True):
        if not verdict.events:
            raise ParameterError(f"{name}: there is no pair to judge. Choose a longer period, or a lower min_events.")
    own: list[dict[str, float]] = [{} for _ in names]
    if metrics:
        own = [own_scores(checked, system, chosen, period, metrics) for system in chosen_systems]
    scores = [
        {"system": name} | summary(verdict) | more for name, verdict, more in zip(names, judged, own, strict=True)
    ]
    differences = [
        {"system": name, "against": names[0]} | interval(verdict.both)
        for name, verdict in zip(names[1:], judged[1:], strict=True)
    ]
    tables = [reliability(name, verdict.bins) for name, verdict in zip(names, judged, strict=True)]
    empty = {"system": pl.String, "against": pl.String, "log_loss": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    gaps = pl.DataFrame(differences, schema=None if differences else empty)
    return Evaluation(
        pl.DataFrame(scores), gaps, pl.concat(tables), tuple(system.notice for system in judged if system.notice)
    )


def judge_table(results: Results, systems: Sequence[System], window: Window, period: str, weight: str) -> list[Judged]:
    """Evaluate systems on a checked table."""
    encoded = [encode(results, system, period) for system in systems]
    judged = [judge_events(events, system, window) for events, system in zip(encoded, systems, strict=True)]
    first = judged[0][0]
    return [
        Judged(
            table.height,
            column_sums(table.drop("event_id")),
            column_sums(weighed(table, weight)),
            predictions.bins,
            losses_of_both(table, first, weight).sort("event_id").drop("event_id").to_numpy(),
            system.limit_notice(predictions.replayed.states),
            three_way_log_loss(events, system, predictions),
        )
        for events, system, (table, predictions) in zip(encoded, systems, judged, strict=True)
    ]


def summary(judged: Judged) -> dict[str, Any]:
    """Return the row of a system's scores."""
    total, mean = judged.totals, judged.weighed
    new = {name: total[name] - total[f"established_{name}"] for name in ("pairs", "log_loss", "correct")}
    return {
        "events": judged.events,
        "pairs": int(total["pairs"]),
        "log_loss": ratio(mean["log_loss"], mean["pairs"]),
        "brier": ratio(mean["brier"], mean["pairs"]),
        "accuracy": ratio(mean["correct"], mean["pairs"]),
        "clipped": ratio(mean["clipped"], mean["pairs"]),
        "clipped_log_loss": ratio(mean["clipped_log_loss"], mean["pairs"]),
        "calibration_error": calibration_error(judged.bins),
        "kendall_tau": total["tau"] / total["heats"],
        "winner_log_loss": ratio(mean["winner_log_loss"], mean["fields"]),
        "winner_accuracy": ratio(mean["winner_correct"], mean["fields"]),
        "established_pairs": int(total["established_pairs"]),
        "established_log_loss": ratio(total["established_log_loss"], total["established_pairs"]),
        "established_accuracy": ratio(total["established_correct"], total["established_pairs"]),
        "newcomer_pairs": int(new["pairs"]),
        "newcomer_log_loss": ratio(new["log_loss"], new["pairs"]),
        "newcomer_accuracy": ratio(new["correct"], new["pairs"]),
        "three_way_log_loss": judged.three_way_log_loss,
    }


def ratio(total: float, count: float) -> float | None:
    """Return the mean, or None if the count is 0."""
    return total / count if count else None


def calibration_error(bins: Floats) -> float:
    """Return the mean distance between expected and actual scores over the tenths, weighted by the number of pairs."""
    count, expected, actual = bins.T
    return float(np.abs(expected - actual).sum() / count.sum())


def reliability(name: str, bins: Floats) -> pl.DataFrame:
    """Return the mean result of pairs for each tenth of the expected score (0.1 to 0.2 and so on), from both sides."""
    used = bins[:, 0] > 0
    count, expected, actual = bins[used].T
    low = np.arange(BINS)[used] / BINS
    return pl.DataFrame(
        {
            "system": [name] * int(used.sum()),
            "from": low,
            "to": low + 1.0 / BINS,
            "pairs": count.astype(np.int64),
            "expected": expected / count,
            "actual": actual / count,
        }
    )


def interval(both: Floats) -> dict[str, Any]:
    """Return the mean difference in losses, with a bootstrap interval over the rows of `Judged.both`."""
    if not len(both):
        return {"log_loss": None, "low": None, "high": None}
    losses, pairs, losses_first, pairs_first = np.ascontiguousarray(both.T)
    rng = np.random.default_rng(SEED)
    drawn = np.empty(RESAMPLES)
    for k in range(RESAMPLES):
        rows = rng.integers(0, losses.size, losses.size)
        drawn[k] = losses[rows].sum() / pairs[rows].sum() - losses_first[rows].sum() / pairs_first[rows].sum()
    low, high = np.quantile(drawn, INTERVAL)
    gap = losses.sum() / pairs.sum() - losses_first.sum() / pairs_first.sum()
    return {"log_loss": float(gap), "low": float(low), "high": float(high)}


STANDARD_ERRORS = 1.959963984540054  # standard errors on each side of a mean, for a 95 % interval


def share_interval(share: float, count: float) -> tuple[float, float]:
    """Return the 95 % interval for a share observed in `count` independent cases.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
    """
    z = STANDARD_ERRORS**2 / count
    middle, reach = share + z / 2.0, math.sqrt(share * (1.0 - share) * z + z * z / 4.0)
    return (middle - reach) / (1.0 + z), (middle + reach) / (1.0 + z)
