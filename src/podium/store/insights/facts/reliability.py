"""Whether a pool's promises come true: what was expected before each duel, and what came."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import sqlalchemy as sa

from podium.analysis.evaluation import share_interval
from podium.analysis.predictions import BINS, HeatSelection, predict
from podium.analysis.scores import Window, judged_heats
from podium.results.reading import Results
from podium.store.derive.proposal import RATED
from podium.store.derive.rating import as_table, events_from
from podium.store.derive.roster import Roster
from podium.store.insights.fact_models import ReliabilityBin
from podium.store.log.pools import START, OrderKey, Pool
from podium.store.rows.pool_states import newest_pool_state
from podium.store.rows.standings import newest_standings
from podium.store.sql.schema import event

SIDES = 2  # from which each duel is counted
SELECT_FIRST_OF_NEWEST = (
    sa.select(event.c.started_at, event.c.seq)
    .where(event.c.pool_id == sa.bindparam("pool"), event.c.status == RATED)
    .order_by(event.c.started_at.desc(), event.c.seq.desc())
    .limit(1)
    .offset(sa.bindparam("more"))
)


class PromiseOutcomes(NamedTuple):
    """What became of the promises in a pool's newest events."""

    events: int
    players: int
    duels: int
    reliability: tuple[ReliabilityBin, ...]


def promise_outcomes(connection: sa.Connection, pool: Pool, most: int) -> PromiseOutcomes:
    """What came of the promises in so many of the newest rated events."""
    newest = connection.execute(SELECT_FIRST_OF_NEWEST, {"pool": pool.id, "more": most - 1}).first()
    first = START if newest is None else OrderKey(newest.started_at, newest.seq)
    segments, _ = events_from(connection, pool, first)
    tables = [rated_rows(segment.table, segment.events) for segment in segments]
    numbers = {int(number) for table in tables for number in table["player"].unique().to_list()}
    learnt = newest_pool_state(connection, pool, first)
    roster = Roster.resumed(pool.system, newest_standings(connection, pool, numbers, first), learnt)
    bins = np.zeros((BINS, 3))
    for segment, table in zip(segments, tables, strict=True):
        if table.height:
            events, replayed = roster.advance(Results(as_table(pool, table), pool.name))
            selection = HeatSelection(judged_heats(events, Window()))
            bins += predict(pool.system, events, selection, replayed.start, replayed.pool_start).bins
        if segment.reset is not None:
            roster.reset(segment.reset.keep)
    count = sum(table["event_id"].n_unique() for table in tables)
    return PromiseOutcomes(count, len(numbers), round(bins[:, 0].sum()) // SIDES, reliability(bins))


def rated_rows(table: pl.DataFrame, events: Sequence[Any]) -> pl.DataFrame:
    """The rows of the events that are rated."""
    rated = [row.event_id for row in events if row.status == RATED]
    return table.filter(pl.col("event_id").is_in(rated))


def reliability(bins: npt.NDArray[np.float64]) -> tuple[ReliabilityBin, ...]:
    """The bins that have any duel."""
    return tuple(
        ReliabilityBin(expected / count, result / count, *share_interval(result / count, count), round(count))
        for count, expected, result in bins.tolist()
        if count
    )
