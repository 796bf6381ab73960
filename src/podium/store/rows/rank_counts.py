"""Counts of players by rating: a rank is a sum of them. Only those that change are written."""

import math
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from podium.store.log.pools import Pool
from podium.store.rows.ledger import GENERATION
from podium.store.sql.prepared import execute_prepared_many
from podium.store.sql.schema import rank_count
from podium.store.sql.upsert import upsert

FINE_PER_POINT = 256  # counts per point: in a large pool many share a whole rating
COUNTS_PER_POINT = (1, FINE_PER_POINT)
TOTALS = ("players", "settled")  # what is added
DELETE_COUNTS = sa.delete(rank_count).where(rank_count.c.generation_id == GENERATION)
DELETE_EMPTY_COUNTS = sa.delete(rank_count).where(rank_count.c.generation_id == GENERATION, rank_count.c.players == 0)

DELETE_EMPTY_COUNT = DELETE_EMPTY_COUNTS.where(
    rank_count.c.per_point == sa.bindparam("fine"), rank_count.c.bucket == sa.bindparam("number")
)
FEW_PLAYERS = 64  # who are counted one by one
FEW_COUNTS = 512  # that are looked up one by one: for one event, all counts of a large pool are many more


class RankCount(NamedTuple):
    """How many players belong to a count, and how many of them are settled; or how many more than before."""

    per_point: int
    bucket: int  # the whole part of rating * per_point
    players: int
    settled: int


def bucket(rating: float, per_point: int = 1) -> int:
    """The count that a rating belongs to; the product is exact."""
    return math.floor(rating * per_point)


def rank_counts(
    ratings: npt.NDArray[np.float64], settled: npt.NDArray[np.bool_], sign: npt.NDArray[np.int64]
) -> list[RankCount]:
    """The sums over players in every count, but for those that are 0.

    Args:
        ratings: of each player.
        settled: whether each is settled.
        sign: 1 for each who belongs to a count, -1 for each who did.
    """
    if ratings.size <= FEW_PLAYERS:
        return few_rank_counts(ratings.tolist(), settled.tolist(), sign.tolist())
    counts: list[RankCount] = []
    for per_point in COUNTS_PER_POINT:
        buckets, index = np.unique(np.floor(ratings * per_point), return_inverse=True)
        players, settled_players = (
            np.bincount(index, weights, buckets.size).astype(np.int64) for weights in (sign, sign * settled)
        )
        other = (players != 0) | (settled_players != 0)
        columns = (column[other].tolist() for column in (buckets.astype(np.int64), players, settled_players))
        counts += map(RankCount._make, zip(repeat(per_point, int(other.sum())), *columns, strict=True))
    return counts


def few_rank_counts(ratings: Sequence[float], settled: Sequence[bool], sign: Sequence[int]) -> list[RankCount]:
    """As `rank_counts`, one by one: arrays take ten times as long for one event."""
    totals: dict[tuple[int, int], tuple[int, int]] = {}
    for per_point in COUNTS_PER_POINT:
        for rating, is_settled, one in zip(ratings, settled, sign, strict=True):
            key = per_point, bucket(rating, per_point)
            players, settled_players = totals.get(key, (0, 0))
            totals[key] = players + one, settled_players + one * is_settled
    return [RankCount(*key, *total) for key, total in sorted(totals.items()) if any(total)]


def add_counts(connection: sa.Connection, pool: Pool, counts: list[RankCount]) -> None:
    """Add to the counts of players, and delete those that become 0."""
    upsert(connection, rank_count, ((pool.generation, *each) for each in counts), added=TOTALS)
    lessened = [each for each in counts if each.players < 0]
    if len(lessened) > FEW_COUNTS:
        connection.execute(DELETE_EMPTY_COUNTS, {"generation": pool.generation})
    elif lessened:
        keys = [{"generation": pool.generation, "fine": each.per_point, "number": each.bucket} for each in lessened]
        execute_prepared_many(connection, DELETE_EMPTY_COUNT, keys)


def delete_counts(connection: sa.Connection, pool: Pool) -> None:
    """Delete every count of a pool."""
    connection.execute(DELETE_COUNTS, {"generation": pool.generation})
