"""Players' states, as arrays and as the system's NamedTuples."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from podium.engine.system import System
from podium.kernels.records import read
from podium.store.log.players import known_numbers, merges
from podium.store.log.pools import Pool
from podium.store.rows.pool_states import system_today
from podium.store.rows.standings import stored_standings


def states_of(pool: Pool, packed: Sequence[bytes]) -> npt.NDArray[np.float64]:
    """States, (rows, fields), from their bytes in the database."""
    width = len(pool.system.state_type._fields)
    return np.frombuffer(b"".join(packed), "<f8").astype(np.float64).reshape(len(packed), width)


def system_and_states(connection: sa.Connection, pool: Pool, names: Sequence[str]) -> tuple[System, list[Any]]:
    """A pool's system as it expects now, and players' states as NamedTuples; a newcomer's for whoever has none."""
    merged = merges(connection, pool)
    numbers = {name: merged.get(number, number) for name, number in known_numbers(connection, pool, names).items()}
    packed = {number: each.state for number, each in stored_standings(connection, pool, set(numbers.values())).items()}
    newcomer = pool.system.newcomer()
    found = [
        read(np.frombuffer(packed[numbers[name]], "<f8")[None], 0, newcomer)
        if numbers.get(name) in packed
        else newcomer
        for name in names
    ]
    return system_today(connection, pool), found
