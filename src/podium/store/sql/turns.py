"""What one process does for all that serve a database: whose turn it is."""

import threading
from typing import Any

import sqlalchemy as sa

from podium.store.sql.database import explain_outage

UPKEEP = 7063  # beside those of migrations (7061) and of writers to a pool (7062)
TRY_LOCK = "SELECT pg_try_advisory_lock(%s)"
ALIVE = "SELECT 1"


class Turn:
    """The turn to look after a database, which one process has until it ends: then another gets it.

    In PostgreSQL it is an advisory lock of a session, which the database releases as soon as the process is no more.
    In SQLite, which one process serves, it is always one's own turn.
    """

    def __init__(self, engine: sa.Engine, number: int = UPKEEP) -> None:
        self._engine, self._number = engine, number
        self._session: Any = None  # the driver's, which has the lock
        self._lock = threading.Lock()
        self._is_over = False

    def take(self) -> bool:
        """Take the turn where nobody has it; whether it is this process's.

        Raises:
            UnavailableError: the database cannot serve at the moment.
        """
        if self._engine.dialect.name != "postgresql":
            return True
        with self._lock, explain_outage():
            if self._is_over:  # a thread of a service that has stopped
                return False
            if self._session is None:
                self._try()
            elif not self._is_alive():
                self._end_session()  # by now another process may have the turn
            return self._session is not None

    def _try(self) -> None:
        """Get the lock, if nobody has it, in a session of its own."""
        pooled = self._engine.raw_connection()
        try:
            cursor = pooled.cursor()
            cursor.execute(TRY_LOCK, (self._number,))
            (has_it,) = cursor.fetchone() or (False,)
            if has_it:
                session: Any = pooled.driver_connection
                session.commit()  # the lock is the session's, not the transaction's
                session.autocommit = True
                pooled.detach()  # it stays open, and is not the pool's any more
                self._session = session
        finally:
            if self._session is None:
                pooled.close()

    def _is_alive(self) -> bool:
        """Whether the session that got the lock is still there."""
        try:
            self._session.cursor().execute(ALIVE)
        except self._engine.dialect.loaded_dbapi.Error:
            return False
        return True

    def _end_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def release(self) -> None:
        """Leave the turn to another process, for good."""
        with self._lock:
            self._is_over = True
            self._end_session()
