"""Submissions and corrections of any length: what would hold the database for long is planned beside its other work.

Where few ratings move, one short transaction writes them; else the new ledger is staged as the pool's next generation.
"""

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from podium.store.derive import generations
from podium.store.derive.generations import OvertakenError
from podium.store.derive.rating import LongWorkError
from podium.store.log.pools import Pool, WriteObserver, ignore_times, locked_pool
from podium.store.sql.database import UnavailableError
from podium.store.write.execution import Prepare, execute
from podium.store.write.few_moves import plan_moves, write_moves
from podium.store.write.planned import planning
from podium.store.write.staging import stage

T = TypeVar("T")
MAX_ATTEMPTS = 5  # at long work, where others overtake it
TURNS: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)  # by database and pool


def carry_out(
    engine: sa.Engine,
    pool_name: str,
    prepare: Prepare[T],
    admit: Callable[[Pool], None],
    observe: WriteObserver = ignore_times,
) -> T:
    """Do what is prepared: in one transaction, or planned first where that would take long.

    Args:
        engine: of the database.
        pool_name: of the pool.
        prepare: what is to be done.
        admit: refuses a pool that may not be changed so, as one that is closed.
        observe: gets how long each transaction waited for the pool, and had it.

    Raises:
        StoreError: the pool is refused.
        UnavailableError: the database cannot serve at the moment, or others go on overtaking it.
    """
    for _ in range(MAX_ATTEMPTS):
        with contextlib.suppress(LongWorkError), locked_pool(engine, pool_name, observe) as (connection, pool):
            admit(pool)
            return execute(connection, pool, prepare)
        with TURNS[str(engine.url), pool_name], contextlib.suppress(OvertakenError):
            return carry_out_long(engine, pool_name, prepare, admit, observe)
    raise UnavailableError(f"pool {pool_name!r} is busy with other corrections; send it again")


def carry_out_long(
    engine: sa.Engine, pool_name: str, prepare: Prepare[T], admit: Callable[[Pool], None], observe: WriteObserver
) -> T:
    """Write what moves where it is, if that is little; else stage the pool's next generation.

    Raises:
        OvertakenError: another took the place of this, or the pool is not what was planned for any more.
    """
    with contextlib.suppress(LongWorkError), planning(engine, pool_name, prepare, admit) as planned:
        return write_moves(engine, planned, plan_moves(engine, planned), observe)
    generations.clear_unread(engine)
    with planning(engine, pool_name, prepare, admit) as planned:
        return stage(engine, planned, observe)
