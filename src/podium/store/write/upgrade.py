"""What a newer version does to the pools of an earlier one: a list of steps, pool by pool, each pool done or not begun.

Opening a database brings its schema up to date; that only marks what the steps are to do. They are taken by
`podium db upgrade`, and by `podium serve` as it starts.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from podium.arithmetic import ARITHMETIC
from podium.errors import PodiumError
from podium.store.derive import snapshots
from podium.store.derive.rerating import Rerated, rerate
from podium.store.log.log import RERATE, append, json_entry
from podium.store.log.pools import START, Pool, every_pool, lock_pool
from podium.store.sql.database import is_busy, is_current, read_only_engine
from podium.store.sql.schema import pools as pool_table
from podium.store.write import stored_names


class Step(NamedTuple):
    """One thing that is done to a pool, in the pool's transaction."""

    is_due: Callable[[sa.Connection, Pool], bool]
    run: Callable[[sa.Connection, Pool, str], str]  # takes the actor for the log; returns a sentence, or nothing to say


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What became of a pool whose steps were due."""

    pool: str
    sentences: tuple[str, ...]  # one a step
    error: str = ""  # why the pool stayed as it was; empty where it did not

    def __str__(self) -> str:
        """A line for the admin."""
        if self.error:
            return f"pool {self.pool} stays as it was: {self.error}"
        return f"pool {self.pool}: {'; '.join(self.sentences)}"


def is_due(engine: sa.Engine) -> bool:
    """Whether the schema is an earlier version's, or a step waits for a pool; nothing is locked."""
    return not is_current(engine) or bool(due_pools(engine))


def due_pools(engine: sa.Engine) -> list[str]:
    """The pools that a step waits for, by name; nothing is locked."""
    with read_only_engine(engine).connect() as connection:
        return [pool.name for pool in every_pool(connection) if due_steps(connection, pool)]


def due_steps(connection: sa.Connection, pool: Pool) -> list[Step]:
    """The steps that wait for a pool, in their order."""
    return [step for step in STEPS if step.is_due(connection, pool)]


def upgrade_pools(engine: sa.Engine, actor: str) -> Iterator[Upgraded]:
    """Take every step that is due, one transaction a pool, and report each pool once it is committed.

    What was interrupted goes on at the next call. Of several processes one does a pool's steps, the others wait for it.
    A pool that cannot be upgraded stays as it was, and keeps no other from it.
    """
    for name in due_pools(engine):
        try:
            sentences = upgrade_pool(engine, name, actor)
        except PodiumError as error:
            yield Upgraded(name, (), str(error))
        else:
            if sentences:
                yield Upgraded(name, sentences)


def upgrade_pool(engine: sa.Engine, name: str, actor: str) -> tuple[str, ...]:
    """Take the steps that are due to one pool; a sentence each, none where another process was quicker."""
    while True:
        try:
            with engine.begin() as connection:
                pool = lock_pool(connection, name)
                sentences = [step.run(connection, pool, actor) for step in due_steps(connection, pool)]
                return tuple(each for each in sentences if each)
        except sa.exc.OperationalError as error:
            if not is_busy(error):
                raise  # else another process has a long turn: rating a pool again may take minutes


def rerate_pool(connection: sa.Connection, pool: Pool, actor: str) -> str:
    """Rate a pool from its first event on with this version's arithmetic, and take spoiled daily ranks again."""
    append(connection, pool, RERATE, [json_entry("", {"arithmetic": ARITHMETIC}, actor)])
    connection.execute(sa.update(pool_table).where(pool_table.c.id == pool.id).values(arithmetic=ARITHMETIC))
    rerated = rerate(connection, pool, START)
    days = snapshots.retake(connection, pool)
    moved = len(rerated.written) + len(rerated.old.keys() - rerated.new.keys())
    sentence = f"{len(rerated.statuses)} events rated again, {moved} changes of ratings moved"
    if moved:
        sentence += f", the largest by {largest_move(rerated):.4g} points"
    return f"{sentence}, the ranks of {days} days taken again" if days else sentence


def largest_move(rerated: Rerated) -> float:
    """The most that the rating after any one change is off what it was; 0 where no finite one is in both ledgers."""
    moves = (abs(row.rating - rerated.old[key].rating) for key, row in rerated.written.items() if key in rerated.old)
    return max((move for move in moves if math.isfinite(move)), default=0.0)


def rated_by_earlier_version(_connection: sa.Connection, pool: Pool) -> bool:
    """Whether an earlier version's arithmetic rated the pool."""
    return pool.is_outdated


STEPS = (
    Step(stored_names.are_due, stored_names.normalise_names),
    Step(rated_by_earlier_version, rerate_pool),
)
