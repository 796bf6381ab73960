"""Candidates judged on a dataset: a task is a pool and a block of candidates, and losses are added pool by pool."""

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
from podium.analysis.scores import Window, judge_events, judged_heats
from podium.dataset import Dataset
from podium.dataset.files import read_file
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode
from podium.errors import NotFiniteError, ParameterError
from podium.executors import Executor
from podium.kernels.records import LANES
from podium.rated.pools import PoolTask
from podium.results.reading import Results
from podium.systems._outside import PortableSystem

HELD_ROWS = 2_000_000  # of pools that stay encoded in a process, from one block of candidates to the next
_held: OrderedDict[Any, "Encoded | None"] = OrderedDict()


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


def losses_on_pools(
    run: Executor, dataset: Dataset, blocks: Sequence[tuple[Any, list[System]]], fit_since: datetime, until: datetime
) -> list[list[float]]:
    """The log loss of each candidate of each block; infinite or NaN where it is not a number.

    Raises:
        ResultsError: a file is not what was written, or lacks what the system needs.
        ExecutorError: workers were lost.
    """
    tasks = [
        BlockTask(pool, tuple(map(PortableSystem, block[first : first + LANES])), key, fit_since, until)
        for key, block in blocks
        for first in range(0, len(block), LANES)
        for pool in dataset.pools
    ]
    found = iter(run.map(judge_block, tasks))
    losses = []
    for _, block in blocks:
        own: list[float] = []
        for first in range(0, len(block), LANES):
            sums = np.zeros(min(LANES, len(block) - first))
            pairs = np.zeros(sums.size)
            for _ in dataset.pools:  # in their order, whoever was done first
                pool_sums, pool_pairs = next(found)
                sums += pool_sums
                pairs += pool_pairs
            own += [each / count if count else math.nan for each, count in zip(sums, pairs, strict=True)]
        losses.append(own)
    return losses


def judge_block(task: BlockTask) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What candidates lose on a pool, and over how many pairs: (candidates) each.

    Raises:
        ResultsError: a file is not what was written, or lacks what the system needs.
    """
    encoded = encoded_pool(task)
    systems = [each.system for each in task.candidates]
    if encoded is None:
        return np.zeros(len(systems)), np.zeros(len(systems))
    if can_share(systems[0], encoded.events):
        sums, pairs = sums_of_losses(systems, encoded.events, encoded.judged)
        return sums, np.full(len(systems), pairs)
    found = [judge_alone(each, encoded.events, task.fit_since) for each in systems]
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
        encoded = Encoded(events, judged_heats(events, Window(since=task.fit_since)), whole.height)
    _held[key] = encoded
    while len(_held) > 1 and sum(each.rows for each in _held.values() if each) > HELD_ROWS:
        _held.popitem(last=False)
    return encoded


def starts_of_dataset(dataset: Dataset) -> pl.Series:
    """When each event started, in order.

    Raises:
        ParameterError: the dataset has no dates.
    """
    if "started_at" not in dataset.schema:
        raise ParameterError("tuning on a dataset needs started_at in its results")
    starts = [
        read_file(pool, file).group_by("event_id").agg(pl.col("started_at").first())["started_at"]
        for pool in dataset.pools
        for file in pool.files
    ]
    return pl.concat(starts).sort() if starts else pl.Series("started_at", [], pl.Datetime("us", "UTC"))
