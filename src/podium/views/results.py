"""The current results of a pool, with the names of players."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import polars as pl

from podium.engine.tables.equipment import kind_and_name
from podium.log.content import holds_player_numbers
from podium.log.log import titles_in
from podium.pool.batches import NOT_FINITE, PLAYER_TWICE
from podium.pool.roster import as_results
from podium.pool.snapshot import Event, are_counting
from podium.rated import Rated
from podium.rating import rate
from podium.results.columns import FOR_PAGES
from podium.results.reading import Results
from podium.support.answers import answer
from podium.support.arrays import Array
from podium.views.names import present_names
from podium.views.reader import PoolAt


def rate_results(pool: PoolAt) -> Rated:
    """Rate the results of a pool with the library, as `podium.rate` does.

    Returns:
        The library's result. Seasons are not included.
    """
    start = [asdict(row) for row in starting_ratings(pool)]
    return rate(counting_results(pool), pool.system, start=start or None)


@answer
class PlayerStart:
    """The rating with which a player enters the first event.

    Attributes:
        player: The player's name.
        rating: Starting rating, in points.
        deviation: Starting deviation. Null if the system has no deviation.
    """

    player: str
    rating: float
    deviation: float | None


def starting_ratings(pool: PoolAt) -> tuple[PlayerStart, ...]:
    """List the starting ratings that count.

    Returns:
        The players with their starting ratings.
    """
    starts = pool.snapshot.starts
    names = present_names(pool, starts)
    return tuple(
        PlayerStart(names[number], start["rating"], start.get("deviation")) for number, start in starts.items()
    )


SMALL_ROWS = 1_000


def counting_results(pool: PoolAt, positions: slice = slice(None)) -> Results:
    """Return the results that currently count.

    Args:
        pool: the pool.
        positions: only the events at these positions in the order of rating. Default: all.

    Returns:
        A table. If you rate it with the library, the ratings are exactly the same as in the pool, except for seasons.
    """
    snapshot = pool.snapshot
    columns, uids = snapshot.events.columns, snapshot.events.order.part("uid")[positions]
    uids = uids[
        are_counting(columns.at("status", uids)) & ~np.isin(columns.at("reason", uids), (NOT_FINITE, PLAYER_TWICE))
    ]
    ids, seqs = map(snapshot.events.ids.__getitem__, uids.tolist()), columns.at("content_seq", uids).tolist()
    titles, names = titles_in(pool), ("event_id", *FOR_PAGES)
    texts = [{"event_id": event_id, **titles.get(seq, {})} for event_id, seq in zip(ids, seqs, strict=True)]
    of_events = pl.DataFrame(texts, dict.fromkeys(names, pl.String))
    given = [column for column in of_events if column.name == "event_id" or column.null_count() < len(column)]
    table = results_of(pool, uids)
    if table.is_empty():
        return as_results(pool, table)
    return as_results(pool, table.join(pl.DataFrame(given), on="event_id", how="left", maintain_order="left"))


def results_of(pool: PoolAt, uids: Array) -> pl.DataFrame:
    """Return the results of events, with the current names of players and equipment."""
    return with_names(pool, numbered_results(pool, uids))


def numbered_results(pool: PoolAt, uids: Array) -> pl.DataFrame:
    """Return the results of events, with the numbers of players and equipment instead of their names."""
    events = pool.snapshot.events
    ids, starts = [events.ids[uid] for uid in uids.tolist()], events.columns.at("started_at", uids)
    return pool.snapshot.contents.table(events.columns.at("content", uids), event_id=ids, started_at=starts)


def event_results(pool: PoolAt, events: Sequence[Event]) -> Results:
    """Return the results of events as checked results, with the current names of players and equipment."""
    uids = pool.snapshot.events.order.at("uid", np.array([event.position for event in events], np.int64))
    return as_results(pool, results_of(pool, uids))


def with_names(pool: PoolAt, table: pl.DataFrame) -> pl.DataFrame:
    """Replace the numbers of players and equipment in a table by their current names."""
    if table.is_empty():
        return table
    is_small, columns = table.height <= SMALL_ROWS, [*filter(holds_player_numbers, table.columns)]
    named = [{*table[name].to_list()} if is_small else table[name].unique() for name in columns]
    numbers = {int(number) for some in named for number in some if number is not None}
    name_of = {str(number): kind_and_name(name)[1] for number, name in present_names(pool, numbers).items()}
    if is_small:  # an expression takes ten times as long for one event
        renamed = {name: pl.Series(name, map(name_of.get, table[name].to_list()), pl.String) for name in columns}
        return pl.DataFrame([renamed.get(column.name, column) for column in table])
    return table.with_columns(pl.col(columns).replace_strict(name_of, return_dtype=pl.String))
