"""What an admin can do to a pool, as a value that is previewed first and carried out then."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.engine.system import System
from podium.store.derive.events import StaleError
from podium.store.log.log import newest_seq
from podium.store.log.players import Numbering
from podium.store.log.pools import Pool
from podium.store.log.reasons import admit_reason
from podium.store.write import accounts, administration, submission
from podium.store.write.execution import Prepare, Prepared

Act = Callable[[str, str], Prepare[Any]]  # by whom, and why: what is then executed


def submit(rows: Any) -> Act:
    """Take new events; each once. Why they come is not logged."""
    return lambda actor, _reason: submission.submission(rows, actor, {})


def amend(rows: Any) -> Act:
    """Let an event have other content."""
    return lambda actor, reason: submission.amendment(rows, actor, admit_reason(reason))


def void(event_id: str) -> Act:
    """Let an event count for nothing."""
    return lambda actor, reason: submission.voiding(event_id, actor, voided=True, reason=admit_reason(reason))


def restore(event_id: str) -> Act:
    """Let a voided event count again."""
    return lambda actor, reason: submission.voiding(event_id, actor, voided=False, reason=admit_reason(reason))


def merge(name: str, into: str) -> Act:
    """Let one player's results be another's."""
    return lambda actor, reason: accounts.merging(name, into, actor, admit_reason(reason))


def unmerge(name: str) -> Act:
    """Let a merged account be a player of its own again."""
    return lambda actor, reason: accounts.unmerging(name, actor, admit_reason(reason))


def begin_season(name: str, starts: datetime, keep: float) -> Act:
    """Shrink every lead over a newcomer to a share of itself. Why is not logged.

    Raises:
        ParameterError: as `podium.store.write.administration.new_season`.
    """
    return lambda actor, _reason: administration.new_season(name, starts, keep, actor)


def configure(system: System) -> Act:
    """Rate the pool with another system from its first event on. Why is not logged."""
    return lambda actor, _reason: administration.reconfiguration(system, actor)


def at_version(prepare: Prepare[Any], version: int) -> Prepare[Any]:
    """Refuse to do what is prepared once the log has another newest entry.

    It raises:
        StaleError: it has.
    """

    def prepare_at(connection: sa.Connection, pool: Pool, numbering: Numbering) -> Prepared[Any]:
        if newest_seq(connection, pool) != version:
            raise StaleError(f"something else was done to pool {pool.name!r} since; look at the new effect first")
        return prepare(connection, pool, numbering)

    return prepare_at
