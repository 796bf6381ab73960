"""Pools that an earlier version's arithmetic rated: each is rated again, in transactions of its own.

They are by `podium db upgrade`, and by `podium serve` as it starts. What was interrupted goes on at the next call.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import sqlalchemy as sa

from podium.errors import PodiumError
from podium.store.log.log import RERATE, json_entry
from podium.store.log.players import Numbering
from podium.store.log.pools import START, Pool, every_pool, get_pool, lock_pool
from podium.store.rating import facts
from podium.store.rating.events import Proposal
from podium.store.rating.generations import clear_unread
from podium.store.rating.rerating import Rerated
from podium.store.sql.database import (
    UnavailableError,
    is_busy,
    is_current,
    read_only_engine,
    read_transaction,
    write_transaction,
)
from podium.store.writing.staging import run
from podium.version import ARITHMETIC


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What became of a pool that waited to be rated again."""

    pool: str
    sentence: str  # what was done; empty where nothing could be
    error: str = ""  # why nothing could be

    def __str__(self) -> str:
        return f"pool {self.pool} stays as it was: {self.error}" if self.error else f"pool {self.pool}: {self.sentence}"


def is_due(engine: sa.Engine) -> bool:
    """Whether the schema is an earlier version's, or a pool waits; nothing is locked."""
    return not is_current(engine) or bool(due_pools(engine))


def due_pools(engine: sa.Engine) -> list[str]:
    with read_only_engine(engine).connect() as connection:
        return [pool.name for pool in every_pool(connection) if pool.is_outdated]


def upgrade_pools(engine: sa.Engine, actor: str) -> Iterator[Upgraded]:
    """Rate every pool again that waits, and report each once it is committed.

    Of several processes one rates a pool, the others wait for it. A pool that cannot be rated stays as it was, and
    keeps no other from it.
    """
    clear_unread(engine)
    for name in due_pools(engine):
        try:
            sentence = rate_in_turn(engine, name, actor)
        except PodiumError as error:
            yield Upgraded(name, "", str(error))
        else:
            if sentence:
                yield Upgraded(name, sentence)


def rate_in_turn(engine: sa.Engine, name: str, actor: str) -> str:
    """As `rerate_pool`, after any other process that has a long turn."""
    while True:
        try:
            return rerate_pool(engine, name, actor)
        except UnavailableError as error:
            if not is_busy(error.__cause__):
                raise


def rerate_pool(engine: sa.Engine, name: str, actor: str) -> str:
    """Rate a pool from its first event on with this version's arithmetic, and take spoiled daily ranks again.

    Returns:
        A sentence for the admin; empty where another process was quicker.
    """
    sentence = moves(run(engine, name, partial(rerate_all, actor=actor), lambda _pool: None).rerated)
    days = 0
    with read_transaction(engine) as connection:
        stale = facts.stale_days(connection, get_pool(connection, name))
    for day in stale if sentence else ():
        with write_transaction(engine) as connection:
            facts.take(connection, lock_pool(connection, name), day)
        days += 1
    return f"{sentence}, the ranks of {days} days taken again" if days else sentence


def rerate_all(_connection: sa.Connection, pool: Pool, _numbering: Numbering, *, actor: str) -> Proposal:
    if not pool.is_outdated:
        return Proposal(pool, RERATE)
    entry = json_entry("", {"arithmetic": ARITHMETIC}, actor)
    rated = replace(pool, arithmetic=ARITHMETIC)
    columns = {"arithmetic": ARITHMETIC}
    return Proposal(rated, RERATE, (entry,), (START,), columns=columns, refuses_unrateable=False)


def moves(rerated: Rerated | None) -> str:
    if rerated is None:
        return ""
    totals = rerated.totals
    sentence = f"{rerated.events} events rated again, {totals.changes} changes of ratings moved"
    return f"{sentence}, the largest by {totals.largest:.4g} points" if totals.changes else sentence
