"""What each correction moved, for whoever reads the log."""

import math
from typing import NamedTuple

import sqlalchemy as sa

from podium.store.derive.rerating import Rerated
from podium.store.log.pools import Pool
from podium.store.sql.schema import correction

INSERT_CORRECTION = sa.insert(correction)


class Moved(NamedTuple):
    """How much of a ledger is other than before."""

    changes: int  # rows
    events: int  # and begins of seasons
    players: int
    largest: float  # points, of a rating that both ledgers have; 0 where there is none


def moved_by(rerated: Rerated) -> Moved:
    """What a new rating moved."""
    keys = [*rerated.written, *(rerated.old.keys() - rerated.new.keys())]
    events, players = {(started_at, seq) for started_at, seq, _ in keys}, {number for _, _, number in keys}
    moves = (abs(row.rating - rerated.old[key].rating) for key, row in rerated.written.items() if key in rerated.old)
    return Moved(
        len(keys), len(events), len(players), max((move for move in moves if math.isfinite(move)), default=0.0)
    )


def record(connection: sa.Connection, pool: Pool, seq: int, rerated: Rerated | None) -> None:
    """Store what a correction moved.

    Args:
        seq: of its log entry.
        rerated: what was rated; None where nothing had to be.
    """
    moved = Moved(0, 0, 0, 0.0) if rerated is None else moved_by(rerated)
    row = {"events": moved.events, "players": moved.players, "largest": moved.largest}
    connection.execute(INSERT_CORRECTION, {"pool_id": pool.id, "seq": seq} | row)
