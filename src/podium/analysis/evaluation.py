"""Which system predicts best: progressive validation on the same results, every event predicted before it is learnt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.analysis.predictions import BINS, HeatSelection, PairScores, Predictions, WinnerScores, predict
from podium.engine.encoding import Events, encode
from podium.engine.periods import EVENT
from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import replay
from podium.engine.system import System
from podium.errors import ParameterError
from podium.ledger.leaderboard import instant
from podium.ledger.pair_predictions import held_heats, pair_predictions
from podium.results.reading import Results, read_results
from podium.systems import make_system

RESAMPLES = 1000
SEED = 1
INTERVAL = (0.025, 0.975)
WEIGHTS = ("pair", "event")
Floats = npt.NDArray[np.float64]
Metric = Callable[[Floats, Floats], Any]  # of the results and the expected scores


@dataclass(frozen=True, slots=True)
class Window:
    """Which events are judged; all are learnt."""

    since: str | date | datetime | None = None  # a plain date counts from its first moment
    until: str | date | datetime | None = None  # a plain date counts the whole day
    min_events: int = 0


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
        weight: `pair` weighs every pair alike, `event` every event.

    Returns:
        `scores`, a row a system: log loss, Brier score, accuracy and others over the judged pairs;
        `differences` in log loss from the first system, with bootstrap intervals over events; and `reliability`
        by tenths of the expected score.

    Raises:
        ResultsError: the table is refused.
        ParameterError: an unknown weight, a window over results without dates, or nothing to judge.
    """
    texts = [systems] if isinstance(systems, str | System) else list(systems)
    if not texts:
        raise ParameterError("there is no system to judge; name one, such as 'elo'")
    if weight not in WEIGHTS:
        raise ParameterError(f"weight {weight!r} is not one of {', '.join(WEIGHTS)}")
    checked = results if isinstance(results, Results) else read_results(results)
    chosen = window or Window()
    chosen_systems = [make_system(each) for each in texts]
    names = list(labels or [each if isinstance(each, str) else each.name for each in texts])
    judged = [judge(checked, system, chosen, period) for system in chosen_systems]
    for name, (table, _) in zip(names, judged, strict=True):
        if table.is_empty():
            raise ParameterError(f"{name}: there is no pair to judge; judge a longer time, or players of fewer events")
    own = [own_scores(checked, system, chosen, period, metrics or {}) for system in chosen_systems]
    scores = [
        {"system": name} | summary(table, each.bins, weight) | more
        for name, (table, each), more in zip(names, judged, own, strict=True)
    ]
    notices = [system.limit_notice(each.states) for system, (_, each) in zip(chosen_systems, judged, strict=True)]
    first = judged[0][0]
    differences = [
        {"system": name, "against": names[0]} | difference(table, first, weight)
        for name, (table, _) in zip(names[1:], judged[1:], strict=True)
    ]
    tables = [reliability(name, each.bins) for name, (_, each) in zip(names, judged, strict=True)]
    empty = {"system": pl.String, "against": pl.String, "log_loss": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    gaps = pl.DataFrame(differences, schema=None if differences else empty)
    return Evaluation(pl.DataFrame(scores), gaps, pl.concat(tables), tuple(filter(None, notices)))


def own_scores(
    results: Results, system: System, window: Window, period: str, metrics: Mapping[str, Metric]
) -> dict[str, float]:
    """What metrics of the caller's say of the judged pairs."""
    if not metrics:
        return {}
    events = encode(results, system, period)
    heats = judged_heats(events, window)
    pairs = pair_predictions(system, events, replay(system, events), heats=heats, min_events=window.min_events)
    result, expected = pairs["result"].to_numpy(), pairs["expected"].to_numpy()
    return {name: float(metric(result, expected)) for name, metric in metrics.items()}


def judge(results: Results, system: System, window: Window, period: str) -> tuple[pl.DataFrame, Predictions]:
    """The sums of each event that has a pair to judge, by `event_id`, and all that was predicted."""
    return judge_events(encode(results, system, period), system, window)


def judge_events(events: Events, system: System, window: Window) -> tuple[pl.DataFrame, Predictions]:
    """Judge events that are encoded: the sums of each that has a pair to judge, and all predictions."""
    return judge_heats(events, system, HeatSelection(judged_heats(events, window), window.min_events))


def judge_heats(
    events: Events, system: System, selection: HeatSelection, pool_start: PoolNumbers | None = None
) -> tuple[pl.DataFrame, Predictions]:
    """Judge the selected heats of events that are encoded; see `judge_events`, and `predict` for `pool_start`."""
    predictions = predict(system, events, selection, pool_start=pool_start)
    rows = events.results.frame["event_id"][predictions.event_row]
    pairs = pl.DataFrame(predictions.pairs, schema=list(PairScores._fields))
    winners = pl.DataFrame(predictions.winners, schema=list(WinnerScores._fields))
    table = pl.concat([pairs, winners], how="horizontal").with_columns(tau=kendall(predictions.pairs), event_id=rows)
    sums = [pl.col(name).sum() for name in (*PairScores._fields, *WinnerScores._fields)]
    with_pairs = table.filter(pl.col("pairs") > 0)
    return with_pairs.group_by("event_id").agg(*sums, pl.col("tau").sum(), pl.len().alias("heats")), predictions


def judged_heats(events: Events, window: Window) -> npt.NDArray[np.bool_]:
    """The heats that the window holds; an overall result only where it is all there is of an event."""
    selected = held_heats(events)
    if window.since is None and window.until is None:
        return selected
    if "started_at" not in events.results.frame.columns:
        raise ParameterError("a time to judge needs started_at in the results")
    columns = events.columns
    starts = (columns.entries if columns.entries.size else columns.entrants)[:-1]
    when = events.results.frame["started_at"][events.entry_row[starts]]
    if window.since is not None:
        selected &= (when >= instant(window.since, whole_day=False)).to_numpy()
    if window.until is not None:
        selected &= (when <= instant(window.until)).to_numpy()
    return selected


def kendall(scores: Floats) -> Floats:
    """Kendall's tau-b of predicted and actual order of each heat; 0 where either ties all."""
    columns: Any = PairScores(*scores.T)  # a column each
    scale: Floats = np.sqrt((columns.pairs - columns.tied_predicted) * (columns.pairs - columns.tied_actual))
    surplus: Floats = columns.concordant - columns.discordant
    tau: Floats = np.divide(surplus, scale, out=np.zeros_like(scale), where=scale > 0)
    return tau


def summary(table: pl.DataFrame, bins: Floats, weight: str) -> dict[str, Any]:
    """A system's scores. Each event's or each pair's mean, as `weight` says."""
    total = table.select(pl.exclude("event_id").sum()).row(0, named=True)
    new = {name: total[name] - total[f"settled_{name}"] for name in ("pairs", "log_loss", "brier", "correct")}
    return {
        "events": table.height,
        "pairs": int(total["pairs"]),
        "log_loss": mean(table, "log_loss", "pairs", weight),
        "brier": mean(table, "brier", "pairs", weight),
        "accuracy": mean(table, "correct", "pairs", weight),
        "clipped": mean(table, "clipped", "pairs", weight),
        "clipped_log_loss": mean(table, "clipped_log_loss", "pairs", weight),
        "calibration_error": calibration_error(bins),
        "kendall_tau": total["tau"] / total["heats"],
        "winner_log_loss": mean(table, "winner_log_loss", "fields", weight),
        "winner_accuracy": mean(table, "winner_correct", "fields", weight),
        "settled_pairs": int(total["settled_pairs"]),
        "settled_log_loss": ratio(total["settled_log_loss"], total["settled_pairs"]),
        "settled_accuracy": ratio(total["settled_correct"], total["settled_pairs"]),
        "newcomer_pairs": int(new["pairs"]),
        "newcomer_log_loss": ratio(new["log_loss"], new["pairs"]),
        "newcomer_accuracy": ratio(new["correct"], new["pairs"]),
    }


def mean(table: pl.DataFrame, sums: str, count: str, weight: str) -> float | None:
    """The mean over pairs, or over events of their own means."""
    with_any = table.filter(pl.col(count) > 0)
    if with_any.is_empty():
        return None
    if weight == "event":
        return float((with_any[sums] / with_any[count]).to_numpy().mean())
    return float(with_any[sums].to_numpy().sum() / with_any[count].to_numpy().sum())


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


def difference(table: pl.DataFrame, first: pl.DataFrame, weight: str) -> dict[str, Any]:
    """The log loss less the first system's over the events both judged, with a bootstrap interval over events."""
    both = table.join(first, on="event_id", suffix="_first").sort("event_id")
    if both.is_empty():
        return {"log_loss": None, "low": None, "high": None}
    losses, pairs = (both[name].to_numpy() for name in ("log_loss", "pairs"))
    losses_first, pairs_first = (both[f"{name}_first"].to_numpy() for name in ("log_loss", "pairs"))
    if weight == "event":
        losses, losses_first = losses / pairs, losses_first / pairs_first
        pairs = pairs_first = np.ones(losses.size)
    rng = np.random.default_rng(SEED)
    drawn = np.empty(RESAMPLES)
    for k in range(RESAMPLES):
        rows = rng.integers(0, losses.size, losses.size)
        drawn[k] = losses[rows].sum() / pairs[rows].sum() - losses_first[rows].sum() / pairs_first[rows].sum()
    low, high = np.quantile(drawn, INTERVAL)
    gap = losses.sum() / pairs.sum() - losses_first.sum() / pairs_first.sum()
    return {"log_loss": float(gap), "low": float(low), "high": float(high)}
