"""What a newer version does to the pools of an earlier one: a list of steps, pool by pool, each step done or not begun.

Opening a database brings its schema up to date; that only marks what the steps are to do. They are taken by
`podium db upgrade`, and by `podium serve` as it starts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import sqlalchemy as sa

from podium.arithmetic import ARITHMETIC
from podium.errors import PodiumError
from podium.store.derive import snapshots
from podium.store.derive.generations import clear_unread
from podium.store.derive.proposal import Proposal
from podium.store.log.log import RERATE, json_entry
from podium.store.log.players import Numbering
from podium.store.log.pools import START, Pool, every_pool, get_pool, lock_pool
from podium.store.sql.database import (
    UnavailableError,
    is_busy,
    is_current,
    read_only_engine,
    read_transaction,
    write_transaction,
)
from podium.store.write import stored_names
from podium.store.write.execution import Done, Prepare, Prepared
from podium.store.write.staging import carry_out


class Step(NamedTuple):
    """One thing that is done to a pool: done whole, or not at all."""

    is_due: Callable[[sa.Connection, Pool], bool]
    run: Callable[[sa.Engine, str, str], str]  # takes the actor for the log; returns a sentence, or nothing to say


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
    """Take every step that is due, and report each pool once all of its steps are done.

    What was interrupted goes on at the next call. Of several processes one does a pool's steps, the others wait for it.
    A pool that cannot be upgraded stays as it was, and keeps no other from it.
    """
    clear_unread(engine)
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
    sentences = [run_in_turn(engine, name, step, actor) for step in STEPS]
    return tuple(each for each in sentences if each)


def run_in_turn(engine: sa.Engine, name: str, step: Step, actor: str) -> str:
    """Take a step if it is due, however long others have their turn."""
    while True:
        try:
            with read_transaction(engine) as connection:
                is_due = step.is_due(connection, get_pool(connection, name))
            return step.run(engine, name, actor) if is_due else ""
        except UnavailableError as error:
            if not is_busy(error.__cause__):
                raise  # else another process has a long turn


def normalise_names(engine: sa.Engine, name: str, actor: str) -> str:
    """Bring every name of a pool to its normal form."""
    with write_transaction(engine) as connection:
        pool = lock_pool(connection, name)
        return stored_names.normalise_names(connection, pool, actor) if stored_names.are_due(connection, pool) else ""


def rerate_pool(engine: sa.Engine, name: str, actor: str) -> str:
    """Rate a pool from its first event on with this version's arithmetic, and take spoiled daily ranks again."""
    sentence = carry_out(engine, name, rerating_all(actor), any_arithmetic=True)
    days = 0
    with read_transaction(engine) as connection:
        stale = snapshots.stale_days(connection, get_pool(connection, name))
    for day in stale if sentence else ():
        with write_transaction(engine) as connection:
            snapshots.take(connection, lock_pool(connection, name), day)
        days += 1
    return f"{sentence}, the ranks of {days} days taken again" if days else sentence


def rerating_all(actor: str) -> Prepare[str]:
    """Rate a pool from its first event on with this version's arithmetic; what moved, in words."""

    def prepare(_connection: sa.Connection, pool: Pool, _numbering: Numbering) -> Prepared[str]:
        if not pool.is_outdated:
            return Prepared(None, moves)
        proposal = Proposal(
            replace(pool, arithmetic=ARITHMETIC),
            RERATE,
            (json_entry("", {"arithmetic": ARITHMETIC}, actor),),
            (START,),
            columns={"arithmetic": ARITHMETIC},
            refuses_unrateable=False,
        )
        return Prepared(proposal, moves)

    return prepare


def moves(_connection: sa.Connection, done: Done) -> str:
    """What a new rating moved, in words; nothing where another process was quicker."""
    if done.rerated is None:
        return ""
    totals = done.rerated.totals
    sentence = f"{done.rerated.events} events rated again, {totals.changes} changes of ratings moved"
    return f"{sentence}, the largest by {totals.largest:.4g} points" if totals.changes else sentence


def rated_by_earlier_version(_connection: sa.Connection, pool: Pool) -> bool:
    """Whether an earlier version's arithmetic rated the pool."""
    return pool.is_outdated


STEPS = (
    Step(stored_names.are_due, normalise_names),
    Step(rated_by_earlier_version, rerate_pool),
)
