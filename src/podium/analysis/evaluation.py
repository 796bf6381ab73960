"""Which system predicts best: progressive validation on the same results, every event predicted before it is learnt."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from podium.analysis.predictions import BINS
from podium.analysis.scores import (
    TIMES,
    Floats,
    Judged,
    Metric,
    Window,
    column_sums,
    judge_events,
    losses_of_both,
    own_scores,
    system_labels,
    weighed,
)
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.engine.tables.selection import EVENT
from podium.errors import ParameterError
from podium.importers.tables import read_any
from podium.results.reading import Results
from podium.systems import make_system

RESAMPLES = 1000
SEED = 1
INTERVAL = (0.025, 0.975)
WEIGHTS = ("pair", "event", "player")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How well each system predicted, and by how much they differ."""

    scores: pl.DataFrame  # a row a system
    differences: pl.DataFrame  # a row for each system after the first: its log loss less the first's
    reliability: pl.DataFrame  # a row for each system and tenth of the expected scores
    notices: tuple[str, ...] = ()  # of systems that the results drive to a limit


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
    """Judge systems by their predictions.

    Args:
        systems: one or several, each a name, a text such as `elo:k=20`, or an instance; the first is what the others
            are compared with.
        metrics: your own, by the name of their column in `scores`: each is called as scikit-learn's are, with the
            results (1, 0 or 0.5) and the expected scores of the judged pairs, and returns a number.
        window: which events are judged; all where None. Events before it are learnt all the same.
        period: when ratings settle: `event`, or the end of every `1d`, `1w`, `1mo`.
        results: anything that `read_results` takes.
        labels: what to call the systems; their names where None.
        weight: `pair` weighs every pair of sides alike, `player` every pair of players, `event` every event.

    Returns:
        `scores`, a row a system: log loss, Brier score, accuracy and others over the judged pairs;
        `differences` in log loss from the first system, with bootstrap intervals over events; and `reliability`
        by tenths of the expected score.

    Raises:
        ResultsError: the table is refused.
        ParameterError: an unknown weight or argument, a window over results without dates, nothing to judge, or
            labels for other systems.
    """
    if others:
        time = "; window=podium.Window(since=..., until=..., min_events=...) says what is judged"
        raise ParameterError(f"evaluate takes no {', '.join(others)}{time if others.keys() & TIMES else ''}")
    texts = [systems] if isinstance(systems, str | System) else list(systems)
    if not texts:
        raise ParameterError("there is no system to judge; name one, such as 'elo'")
    if weight not in WEIGHTS:
        raise ParameterError(f"weight {weight!r} is not one of {', '.join(WEIGHTS)}")
    chosen = window or Window()
    if weight == "player":
        chosen, weight = replace(chosen, by_player=True), "pair"
    chosen_systems = [make_system(each) for each in texts]
    names = system_labels(labels, [each if isinstance(each, str) else each.name for each in texts])
    checked = read_any(results)[0]
    judged = judge_table(checked, chosen_systems, chosen, period, weight)
    for name, each in zip(names, judged, strict=True):
        if not each.events:
            raise ParameterError(f"{name}: there is no pair to judge; judge a longer time, or players of fewer events")
    own: list[dict[str, float]] = [{} for _ in names]
    if metrics:
        own = [own_scores(checked, system, chosen, period, metrics) for system in chosen_systems]
    scores = [{"system": name} | summary(each) | more for name, each, more in zip(names, judged, own, strict=True)]
    differences = [
        {"system": name, "against": names[0]} | interval(each.both)
        for name, each in zip(names[1:], judged[1:], strict=True)
    ]
    tables = [reliability(name, each.bins) for name, each in zip(names, judged, strict=True)]
    empty = {"system": pl.String, "against": pl.String, "log_loss": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    gaps = pl.DataFrame(differences, schema=None if differences else empty)
    return Evaluation(
        pl.DataFrame(scores), gaps, pl.concat(tables), tuple(each.notice for each in judged if each.notice)
    )


def judge_table(results: Results, systems: Sequence[System], window: Window, period: str, weight: str) -> list[Judged]:
    """Judge systems on a checked table."""
    judged = [judge_events(encode(results, system, period), system, window) for system in systems]
    first = judged[0][0]
    return [
        Judged(
            table.height,
            column_sums(table.drop("event_id")),
            column_sums(weighed(table, weight)),
            predictions.bins,
            losses_of_both(table, first, weight).sort("event_id").drop("event_id").to_numpy(),
            system.limit_notice(predictions.states),
        )
        for system, (table, predictions) in zip(systems, judged, strict=True)
    ]


def summary(judged: Judged) -> dict[str, Any]:
    """A system's scores."""
    total, mean = judged.totals, judged.weighed
    new = {name: total[name] - total[f"settled_{name}"] for name in ("pairs", "log_loss", "correct")}
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
        "settled_pairs": int(total["settled_pairs"]),
        "settled_log_loss": ratio(total["settled_log_loss"], total["settled_pairs"]),
        "settled_accuracy": ratio(total["settled_correct"], total["settled_pairs"]),
        "newcomer_pairs": int(new["pairs"]),
        "newcomer_log_loss": ratio(new["log_loss"], new["pairs"]),
        "newcomer_accuracy": ratio(new["correct"], new["pairs"]),
    }


def ratio(total: float, count: float) -> float | None:
    """A mean, None of nothing."""
    return total / count if count else None


def calibration_error(bins: Floats) -> float:
    """The mean distance of expected and actual scores over the tenths, weighted by their pairs."""
    count, expected, actual = bins.T
    return float(np.abs(expected - actual).sum() / count.sum())


def reliability(name: str, bins: Floats) -> pl.DataFrame:
    """Of the pairs expected between 0.1 and 0.2 and so on, seen from both sides, the mean result."""
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
    """The mean of the losses less the first system's, with a bootstrap interval over the rows; see `Judged.both`."""
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


STANDARD_ERRORS = 1.959963984540054  # on either side of a mean, for 95 of 100


def share_interval(share: float, count: float) -> tuple[float, float]:
    """The 95 % interval of a share among so many, as if each came about by itself.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
    """
    z = STANDARD_ERRORS**2 / count
    middle, reach = share + z / 2.0, math.sqrt(share * (1.0 - share) * z + z * z / 4.0)
    return (middle - reach) / (1.0 + z), (middle + reach) / (1.0 + z)
