"""What a newer version does to the pools of an earlier one: steps, pool by pool, each in transactions of its own.

Opening a database brings its schema up to date; that only marks what the steps are to do. They are taken by
`podium db upgrade`, and by `podium serve` as it starts. What was interrupted goes on at the next call.
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
from podium.store.rows.rank_counts import count_settled, lack_settled
from podium.store.sql.database import (
    UnavailableError,
    is_busy,
    is_current,
    read_only_engine,
    read_transaction,
    write_transaction,
)
from podium.store.upgrading import chaining, filling, stored_names
from podium.store.write.execution import Done, Prepare, Prepared
from podium.store.write.long_work import carry_out


class Step(NamedTuple):
    """One thing that is done to a pool: in one transaction, or in several."""

    is_due: Callable[[sa.Connection, Pool], bool]
    run: Callable[[sa.Engine, str, str], str]  # takes the actor for the log; returns a sentence, or nothing to say


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What became of a pool whose steps were due."""

    pool: str
    sentences: tuple[str, ...]  # one a step that was taken
    error: str = ""  # why the next step could not be taken; empty where all were

    def __str__(self) -> str:
        """A line for the admin."""
        taken = "; ".join(self.sentences)
        if not self.error:
            return f"pool {self.pool}: {taken}"
        return f"pool {self.pool}{f': {taken}; the rest waits' if taken else ' stays as it was'}: {self.error}"


def is_due(engine: sa.Engine) -> bool:
    """Whether the schema is an earlier version's, or a step waits for a pool; nothing is locked."""
    return not is_current(engine) or bool(due_pools(engine))


def due_pools(engine: sa.Engine) -> list[str]:
    """The pools that a step waits for, by name; nothing is locked."""
    with read_only_engine(engine).connect() as connection:
        return [pool.name for pool in every_pool(connection) if any(step.is_due(connection, pool) for step in STEPS)]


def upgrade_pools(engine: sa.Engine, actor: str) -> Iterator[Upgraded]:
    """Take every step that is due, and report each pool once all of its are committed.

    Of several processes one takes a step, the others wait for it. A step that fails leaves the pool as it was before
    it, and keeps no other pool from its own.
    """
    clear_unread(engine)
    for name in due_pools(engine):
        upgraded = upgrade_pool(engine, name, actor)
        if upgraded.sentences or upgraded.error:
            yield upgraded


def upgrade_pool(engine: sa.Engine, name: str, actor: str) -> Upgraded:
    """Take the steps that are due to one pool; no sentence where another process was quicker."""
    sentences: list[str] = []
    try:
        for step in STEPS:
            while (sentence := take_step(engine, name, step, actor)) is not None:
                sentences += [sentence] if sentence else []
    except PodiumError as error:
        return Upgraded(name, tuple(sentences), str(error))
    return Upgraded(name, tuple(sentences))


def take_step(engine: sa.Engine, name: str, step: Step, actor: str) -> str | None:
    """Take a step, or a part of it: what it says, None where it is not due."""
    while True:
        try:
            with read_transaction(engine) as connection:
                is_due = step.is_due(connection, get_pool(connection, name))
            return step.run(engine, name, actor) if is_due else None
        except UnavailableError as error:
            if not is_busy(error.__cause__):
                raise  # else another process has a long turn


def one_transaction(
    is_due: Callable[[sa.Connection, Pool], bool], run: Callable[[sa.Connection, Pool, str], str]
) -> Step:
    """A step that has the pool to itself for one transaction, or for one after another as long as it is due."""

    def take(engine: sa.Engine, name: str, actor: str) -> str:
        with write_transaction(engine) as connection:
            pool = lock_pool(connection, name)
            return run(connection, pool, actor) if is_due(connection, pool) else ""

    return Step(is_due, take)


def rerate_pool(engine: sa.Engine, name: str, actor: str) -> str:
    """Rate a pool from its first event on with this version's arithmetic, and take spoiled daily ranks again."""
    sentence = carry_out(engine, name, rerating_all(actor), lambda _pool: None)
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
    one_transaction(chaining.is_due, chaining.chain),
    one_transaction(stored_names.are_due, stored_names.normalise_names),
    one_transaction(filling.is_due, filling.fill),
    Step(rated_by_earlier_version, rerate_pool),
    one_transaction(lack_settled, count_settled),  # after the standings say who is settled
)
