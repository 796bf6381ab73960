"""What each correction moved, for whoever reads the log."""

import sqlalchemy as sa

from podium.store.derive.rerated import NOTHING, Rerated
from podium.store.log.pools import Pool
from podium.store.sql.schema import correction

INSERT_CORRECTION = sa.insert(correction)


def record(connection: sa.Connection, pool: Pool, seq: int, rerated: Rerated | None) -> None:
    """Store what a correction moved.

    Args:
        seq: of its log entry.
        rerated: what was rated; None where nothing had to be.
    """
    moved = NOTHING if rerated is None else rerated.totals
    row = {"events": moved.events, "players": moved.players, "largest": moved.largest}
    connection.execute(INSERT_CORRECTION, {"pool_id": pool.id, "seq": seq} | row)
