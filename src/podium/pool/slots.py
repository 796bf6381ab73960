"""Slots: dense numbers of a pool's players and equipment, which index columns."""

import numpy as np

from podium.log.statements import FIRST_THING
from podium.pool.columns import Array


def slot_of(number: int) -> int:
    """Return the slot of a player or a piece of equipment; its number is that of the log."""
    return 2 * number if number < FIRST_THING else 2 * (number - FIRST_THING) + 1


def slots_of(numbers: Array) -> Array:
    """Return the slot of each number of the log."""
    return np.where(numbers < FIRST_THING, 2 * numbers, 2 * (numbers - FIRST_THING) + 1).astype(np.int32)


def numbers_of(slots: Array) -> Array:
    """Return the number in the log of each slot."""
    half = slots.astype(np.int64) >> 1
    return np.where(slots & 1, half + FIRST_THING, half)


def is_player(slots: Array) -> Array:
    """Return whether each slot is of a player."""
    found: Array = slots & 1 == 0
    return found
