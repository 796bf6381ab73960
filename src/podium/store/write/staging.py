"""Corrections of any length."""

from typing import TypeVar

import sqlalchemy as sa

from podium.store.log.pools import lock_pool
from podium.store.sql.database import write_transaction
from podium.store.write.execution import Prepare, execute

T = TypeVar("T")


def carry_out(engine: sa.Engine, pool_name: str, prepare: Prepare[T]) -> T:
    """Do what is prepared."""
    with write_transaction(engine) as connection:
        return execute(connection, lock_pool(connection, pool_name), prepare, refuse_long=False)
