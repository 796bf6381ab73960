"""Sum the scores of predictions by event."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.analysis.predictions import HeatSelection, PairScores, Predictions, WinnerScores, predict
from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import replay
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode
from podium.errors import ParameterError
from podium.ledger.hypothetical_race import entries_of_pool
from podium.ledger.leaderboard import instant
from podium.ledger.pair_predictions import held_heats, pair_predictions, pairs_in
from podium.probability.draws import DRAW, learn_draws
from podium.results.hashing import runs
from podium.results.reading import Results
from podium.support.arrays import Floats, Mask
from podium.support.immutable import immutable
from podium.support.words import counted

TIMES = {"since", "until", "min_events"}  # fields of a Window
SUMS = (*PairScores._fields, *WinnerScores._fields, "tau", "heats")  # fields of sums over an event
OVER_PAIRS = ("log_loss", "brier", "correct", "clipped", "clipped_log_loss")  # fields of means over pairs
OVER_FIELDS = ("winner_log_loss", "winner_correct")  # fields of means over heats with a winner
Metric = Callable[[Floats, Floats], Any]  # a function of results and expected scores


@immutable
class Window:
    """The events to judge. All events are rated."""

    since: str | date | datetime | None = None  # a plain date means its start
    until: str | date | datetime | None = None  # a plain date includes the whole day
    min_events: int = 0
    by_player: bool = False  # True if a pair of sides counts once per pair of players


class Judged(NamedTuple):
    """The sums of the scores of a system's predictions."""

    events: int  # number of events with a pair to judge
    totals: dict[str, float]  # sums over all pairs and heats
    weighed: dict[str, float]  # sums of weighted means, and their divisors
    bins: Floats  # (BINS, 3), as in `Predictions`
    both: Floats  # (rows, 4): losses and pairs of an event or block, for this system and the first
    notice: str | None
    three_way_log_loss: float | None


def system_labels(labels: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """Return one label per system. Default: the names of the systems."""
    chosen = list(labels or names)
    if len(chosen) != len(names):
        labelled, systems = counted(len(chosen), "label"), counted(len(names), "system")
        raise ParameterError(f"{labelled} are given for {systems}. Give one label per system.")
    return chosen


def column_sums(table: pl.DataFrame) -> dict[str, float]:
    """Return the sum of each column, adding the rows in order."""
    return {name: float(table[name].to_numpy().sum()) for name in table.columns}


def own_scores(
    results: Results, system: System, window: Window, period: str, metrics: Mapping[str, Metric]
) -> dict[str, float]:
    """Return the values of user-defined metrics for the judged pairs."""
    events = encode(results, system, period)
    heats = judged_heats(events, window, system)
    pairs = pair_predictions(system, events, replay(system, events), heats=heats, min_events=window.min_events)
    result, expected = pairs["result"].to_numpy(), pairs["expected"].to_numpy()
    return {name: float(metric(result, expected)) for name, metric in metrics.items()}


def judge_events(events: Events, system: System, window: Window) -> tuple[pl.DataFrame, Predictions]:
    """Judge encoded events. Return the sums for each event with a pair to judge, and all predictions."""
    selection = HeatSelection(judged_heats(events, window, system), window.min_events, by_player=window.by_player)
    return judge_heats(events, system, selection)


def judge_heats(
    events: Events, system: System, selection: HeatSelection, pool_start: PoolNumbers | None = None
) -> tuple[pl.DataFrame, Predictions]:
    """Judge the selected heats of encoded events, like `judge_events`.

    `pool_start` has the same meaning as in `replay`.
    """
    predictions = predict(system, events, selection, replay(system, events, pool_start=pool_start))
    return event_sums(events, predictions), predictions


def event_sums(events: Events, predictions: Predictions) -> pl.DataFrame:
    """Return the sums and the `event_id` of each event that has a pair to judge, in rating order."""
    judged = predictions.pairs[:, PairScores._fields.index("pairs")] > 0
    ids = events.results.frame["event_id"][predictions.event_row[judged]]
    parts = predictions.pairs[judged], predictions.winners[judged], kendall(predictions.pairs[judged])[:, None]
    heats = np.concatenate([*parts, np.ones((ids.len(), 1))], axis=1)
    first = runs(ids)[1]  # the heats of an event are consecutive
    sums = np.add.reduceat(heats, first, axis=0) if first.size else heats
    return pl.DataFrame(sums, schema=list(SUMS), orient="row").with_columns(event_id=ids.gather(first))


def three_way_log_loss(events: Events, system: System, predictions: Predictions) -> float | None:
    """Return the mean log loss of win, draw and loss over the judged duels in pools with draws, or None without draws.

    The frequency of draws is learnt from the judged duels before each duel.
    """
    scores: Any = PairScores(*predictions.pairs.T)
    if not ((scores.tied_actual == scores.pairs) & (scores.pairs > 0)).any():
        return None
    duels = pairs_in(system, events, predictions.replayed, scores.pairs > 0)[0]
    losses = []
    for pool in events.pools:
        entries = entries_of_pool(events.columns, pool)
        own = slice(*np.searchsorted(duels.first, (entries.start, entries.stop)).tolist())
        if (duels.result[own] == DRAW).any():
            losses.append(-np.log(learn_draws(duels.expected[own], duels.result[own])[0]))
    return float(np.concatenate(losses).mean()) if losses else None


def judged_heats(events: Events, window: Window, system: System | None = None) -> Mask:
    """Return a mask of the heats in the window. Overall results count only for events without other heats.

    Raises:
        ParameterError: The system rates each player individually, but team members share a result.
    """
    if system is not None and not system.teams:
        refuse_shared_results(events.results.frame, system.name)
    selected = held_heats(events)
    if window.since is None and window.until is None:
        return selected
    if "started_at" not in events.results.frame.columns:
        raise ParameterError("a period to judge requires the started_at column in the results")
    columns = events.columns
    starts = (columns.entries if columns.entries.size else columns.entrants)[:-1]
    when = events.results.frame["started_at"][events.entry_row[starts]]
    if window.since is not None:
        selected &= (when >= instant(window.since, whole_day=False)).to_numpy()
    if window.until is not None:
        selected &= (when <= instant(window.until)).to_numpy()
    return selected


def refuse_shared_results(frame: pl.DataFrame, name: str) -> None:
    """Raise an error if a system for single players is judged on team heats. Team mates would count as drawn."""
    if "team" not in frame.columns:
        return
    heat = ["pool", "event_id", *(["heat"] if "heat" in frame.columns else [])]
    own = [pl.col(name) for name in ("position", "score", "time_s") if name in frame.columns]
    sides = frame.filter(pl.col("team").is_not_null(), status="finished").group_by(*heat, "team")
    sizes = sides.agg(size=pl.len(), results=pl.coalesce(*own, pl.lit(0.0)).n_unique()).group_by(heat)
    shared = sizes.agg(pl.col("size").max(), pl.col("results").max()).filter(pl.col("size") > 1, results=1)
    if shared.height:
        raise ParameterError(
            f"{name}: it rates each player individually, and in {min(shared['event_id'].to_list())} the members of"
            f" a team share a result. Leave {name} out, or judge systems that rate teams, for example elo and"
            " trueskill."
        )


def kendall(scores: Floats) -> Floats:
    """Return Kendall's tau-b between each heat's predicted and actual order, or 0 if everyone ties in either."""
    columns: Any = PairScores(*scores.T)  # one column for each field
    scale: Floats = np.sqrt((columns.pairs - columns.tied_predicted) * (columns.pairs - columns.tied_actual))
    surplus: Floats = columns.concordant - columns.discordant
    tau: Floats = np.divide(surplus, scale, out=np.zeros_like(scale), where=scale > 0)
    return tau


def weighed(table: pl.DataFrame, weight: str) -> pl.DataFrame:
    """Return each event's terms in the weighted means, and their divisors (the number of pairs, or 1)."""
    counts = dict.fromkeys(OVER_PAIRS, "pairs") | dict.fromkeys(OVER_FIELDS, "fields")
    if weight == "pair":
        return table.select(*counts, "pairs", "fields")
    means = [
        pl.when(pl.col(count) > 0).then(pl.col(name) / pl.col(count)).otherwise(0.0).alias(name)
        for name, count in counts.items()
    ]
    return table.select(*means, *((pl.col(count) > 0).cast(pl.Float64) for count in ("pairs", "fields")))


def losses_of_both(table: pl.DataFrame, first: pl.DataFrame, weight: str) -> pl.DataFrame:
    """Return two systems' losses and pairs (or mean loss and 1) by `event_id`, for events judged for both."""
    both = table.join(first, on="event_id", suffix="_first", maintain_order="left")
    columns = both.select("log_loss", "pairs", "log_loss_first", "pairs_first", "event_id")
    if weight == "pair":
        return columns
    return columns.with_columns(
        pl.col("log_loss") / pl.col("pairs"),
        pl.col("log_loss_first") / pl.col("pairs_first"),
        pairs=1.0,
        pairs_first=1.0,
    )
