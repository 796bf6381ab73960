"""Systems judged on a dataset, pool by pool: sums over blocks of events, added in one order whoever sums them."""

import functools
import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.analysis.batched import can_share, sums_of_losses
from podium.analysis.predictions import BINS, HeatSelection, predict
from podium.analysis.scores import (
    OVER_FIELDS,
    OVER_PAIRS,
    SUMS,
    Floats,
    Judged,
    Window,
    event_sums,
    judge_events,
    judged_heats,
    losses_of_both,
    weighed,
)
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode
from podium.errors import NotFiniteError, ParameterError
from podium.large import Dataset, PoolFiles
from podium.large.files import read_file
from podium.large.rating import PoolTask, on_pools
from podium.large.streaming import RatedStream
from podium.results.reading import Results
from podium.systems._outside import PortableSystem

MOST_BLOCKS = 1 << 18  # in which a dataset's events are summed
WEIGHED = (*OVER_PAIRS, *OVER_FIELDS, "pairs", "fields")


@dataclass(frozen=True, slots=True)
class JudgeTask(PoolTask):
    """What is to be judged, and how."""

    systems: tuple[PortableSystem, ...]
    window: Window
    period: str
    weight: str
    block_events: int

    @property
    def rows(self) -> int:
        """How many rows it will read."""
        return self.pool.rows * len(self.systems)


@dataclass(slots=True)
class Sums:
    """The sums of one system's predictions in a pool, by blocks of its events."""

    events: int  # that have a pair to judge
    totals: Floats  # (blocks, SUMS)
    weighed: Floats  # (blocks, WEIGHED)
    both: Floats  # (blocks, 4)
    bins: Floats
    at_limit: int = 0  # players
    players: int = 0


def judge_dataset(
    dataset: Dataset, systems: Sequence[System], window: Window, period: str, weight: str, how: dict[str, Any]
) -> list[Judged]:
    block_events = max(1, math.ceil(dataset.events / MOST_BLOCKS))
    portable = tuple(map(PortableSystem, systems))

    def task(pool: PoolFiles) -> JudgeTask:
        return JudgeTask(pool, portable, window, period, weight, block_events)

    pools: list[list[Sums]] = on_pools(judge_pool, task, dataset, systems, **how)
    return [combined(system, [pool[k] for pool in pools]) for k, system in enumerate(systems)]


def judge_pool(task: JudgeTask) -> list[Sums]:
    """Judge systems on a pool of a dataset: the sums of each, by blocks of events."""
    blocks = math.ceil(task.pool.events / task.block_events)
    sums = [no_sums(blocks) for _ in task.systems]
    streams = [RatedStream(task.pool, each.system, task.period, None) for each in task.systems]
    seen = 0
    for parts in zip(*streams, strict=True):
        ids = parts[0].results.frame.select(pl.col("event_id").unique(maintain_order=True))
        block = ids.with_columns(block=(pl.int_range(pl.len()) + seen) // task.block_events)
        seen += ids.height
        first: pl.DataFrame | None = None
        for part, own in zip(parts, sums, strict=True):
            selection = HeatSelection(judged_heats(part.events, task.window, part.system), task.window.min_events)
            predictions = predict(part.system, part.events, selection, part.replayed)
            table = event_sums(part.events, predictions)
            own.bins += predictions.bins
            own.events += table.height
            first = table if first is None else first
            numbers = table.join(block, on="event_id", maintain_order="left")["block"].to_numpy()
            np.add.at(own.totals, numbers, table.select(SUMS).to_numpy())
            np.add.at(own.weighed, numbers, weighed(table, task.weight).select(WEIGHED).to_numpy())
            both = losses_of_both(table, first, task.weight)
            numbers = both.join(block, on="event_id", maintain_order="left")["block"].to_numpy()
            np.add.at(own.both, numbers, both.drop("event_id").to_numpy())
            states = part.standing().states
            own.at_limit, own.players = int(part.system.at_limit(states).sum()), len(states)
        del parts, part
    return sums


def no_sums(blocks: int) -> Sums:
    """The sums of nothing."""
    totals, means, both = (np.zeros((blocks, width)) for width in (len(SUMS), len(WEIGHED), 4))
    return Sums(0, totals, means, both, np.zeros((BINS, 3)))


def combined(system: System, pools: list[Sums]) -> Judged:
    """The sums of all pools, in the order of the dataset."""
    each = pools or [no_sums(0)]
    both = np.concatenate([sums.both for sums in each])
    bins: Floats = functools.reduce(np.add, [sums.bins for sums in each])
    return Judged(
        sum(sums.events for sums in each),
        named_sums(SUMS, [sums.totals for sums in each]),
        named_sums(WEIGHED, [sums.weighed for sums in each]),
        bins,
        both[both[:, 1] > 0.0],
        system.limit_text(sum(sums.at_limit for sums in each), sum(sums.players for sums in each)),
    )


def named_sums(names: Sequence[str], blocks: list[Floats]) -> dict[str, float]:
    """The sum of each column over all blocks, as that of a table is summed."""
    columns = np.ascontiguousarray(np.concatenate(blocks).T)
    return {name: float(column.sum()) for name, column in zip(names, columns, strict=True)}


HELD_ROWS = 2_000_000  # of pools that stay encoded in a process, from one block of candidates to the next
_held: OrderedDict[Any, "Encoded | None"] = OrderedDict()
LossesAndPairs = tuple[Floats, Floats]


class Encoded(NamedTuple):
    """The training events of a pool, and which heats are judged."""

    events: Events
    judged: npt.NDArray[np.bool_]
    rows: int


@dataclass(frozen=True, slots=True)
class BlockTask(PoolTask):
    """Candidates that read the events alike, a pool, and its training events."""

    candidates: tuple[PortableSystem, ...]
    key: Any  # of how they read the events
    fit_since: datetime
    train_until: datetime


def judge_block(task: BlockTask) -> LossesAndPairs:
    """What candidates lose on a pool, and over how many pairs: (candidates) each."""
    encoded = encoded_pool(task)
    systems = [each.system for each in task.candidates]
    if encoded is None:
        return np.zeros(len(systems)), np.zeros(len(systems))
    return judge_alike(systems, encoded, task.fit_since)


def judge_alike(candidates: list[System], encoded: Encoded, fit_since: datetime) -> LossesAndPairs:
    """What candidates lose on events that they read alike, and over how many pairs: (candidates) each."""
    if can_share(candidates[0], encoded.events):
        sums, pairs = sums_of_losses(candidates, encoded.events, encoded.judged)
        return sums, np.full(len(candidates), pairs)
    found = [judge_alone(each, encoded.events, fit_since) for each in candidates]
    return np.array([loss for loss, _ in found]), np.array([pairs for _, pairs in found])


def judge_alone(candidate: System, events: Events, fit_since: datetime) -> tuple[float, float]:
    """What one candidate loses, and over how many pairs; infinite where a rating is not finite."""
    try:
        table = judge_events(events, candidate, Window(since=fit_since))[0]
    except NotFiniteError:
        return math.inf, 1.0
    return float(table["log_loss"].to_numpy().sum()), float(table["pairs"].to_numpy().sum())


def encoded_pool(task: BlockTask) -> Encoded | None:
    """The training events of the task's pool as its candidates read them; None where it has none."""
    files = tuple(file.digest for file in task.pool.files)
    system = task.candidates[0].system
    key = task.pool.uri, task.pool.name, files, system.name, task.key, task.fit_since, task.train_until
    if key in _held:
        _held.move_to_end(key)
        return _held[key]
    frames = [read_file(task.pool, file) for file in task.pool.files]
    whole = pl.concat([frame.filter(pl.col("started_at") <= task.train_until) for frame in frames], how="diagonal")
    encoded = None
    if whole.height:
        events = encode(Results(whole, task.pool.name), system)
        encoded = Encoded(events, judged_heats(events, Window(since=task.fit_since), system), whole.height)
    _held[key] = encoded
    while len(_held) > 1 and sum(each.rows for each in _held.values() if each) > HELD_ROWS:
        _held.popitem(last=False)
    return encoded


def starts_of(frame: pl.DataFrame) -> pl.Series:
    """When each event started, in order."""
    return frame.group_by("event_id").agg(pl.col("started_at").first())["started_at"].sort()


def starts_of_dataset(dataset: Dataset) -> pl.Series:
    if "started_at" not in dataset.schema:
        raise ParameterError("tuning on a dataset needs started_at in its results")
    starts = [starts_of(read_file(pool, file)) for pool in dataset.pools for file in pool.files]
    return pl.concat(starts).sort() if starts else pl.Series("started_at", [], pl.Datetime("us", "UTC"))
