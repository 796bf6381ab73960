"""Announcements of PostgreSQL: whoever writes to a log says so, and each process that serves the database hears it.

They only wake: what was logged is read from the log. One that is lost, as through a pooler of connections that has no
sessions, costs whoever waits for it the time to the next look.
"""

from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from podium.store.log.pools import Pool
from podium.store.sql.database import write_transaction
from podium.store.sql.schema import log, pools

CHANNEL = "podium_log"
NOTIFY = sa.text(f"SELECT pg_notify('{CHANNEL}', :payload)")
SELECT_NEWEST = sa.select(
    pools.c.name,
    sa.select(sa.func.max(log.c.seq)).where(log.c.pool_id == pools.c.id).scalar_subquery().label("seq"),
)


class Announcement(NamedTuple):
    """What is announced of a pool: that its log goes up to an entry."""

    seq: int  # the number of its newest entry; 0 in a probe
    pool: str  # its name; the text of a probe


def announce(connection: sa.Connection, pool: Pool, seq: int) -> None:
    """Let every process know, once this transaction is committed, that a pool's log goes up to an entry."""
    if connection.dialect.name == "postgresql":
        connection.execute(NOTIFY, {"payload": f"{seq} {pool.name}"})


def announce_probe(engine: sa.Engine, text: str) -> None:
    """Say something through another session, so that whoever listens knows that it hears.

    Raises:
        UnavailableError: the database cannot serve at the moment.
    """
    with write_transaction(engine) as connection:
        connection.execute(NOTIFY, {"payload": f"0 {text}"})


def newest_entries(connection: sa.Connection) -> dict[str, int]:
    """The number of each pool's newest log entry, 0 before the first: a look into an index for each pool."""
    return {row.name: row.seq or 0 for row in connection.execute(SELECT_NEWEST)}


class Subscription:
    """A session of PostgreSQL's that hears announcements."""

    def __init__(self, engine: sa.Engine) -> None:
        """Open the session.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot serve at the moment.
        """
        pooled = engine.raw_connection()
        session: Any = pooled.driver_connection  # Psycopg's
        pooled.detach()  # it is the pool's no more, which has as many as before
        self._session = session
        try:
            session.autocommit = True
            session.execute(f"LISTEN {CHANNEL}")
        except BaseException:
            self.close()
            raise
        self.descriptor: int = self._session.fileno()  # can be read when something was announced

    @classmethod
    def open(cls, engine: sa.Engine) -> Self | None:
        """Open a session; None where there is no such thing as to hear, in SQLite and with other drivers.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot serve at the moment.
        """
        return cls(engine) if engine.dialect.name == "postgresql" and engine.driver == "psycopg" else None

    def receive(self) -> list[Announcement]:
        """What was announced since the last time; it does not wait.

        Raises:
            psycopg.Error: the session is over.
        """
        announcements = []
        for notify in self._session.notifies(timeout=0):
            seq, _, pool = notify.payload.partition(" ")
            if seq.isdecimal():
                announcements.append(Announcement(int(seq), pool))
        return announcements

    def close(self) -> None:
        """End the session."""
        self._session.close()
