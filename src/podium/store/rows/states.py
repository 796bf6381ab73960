"""States of players as they are stored: exact doubles, little-endian, one after the other, a column of them."""

from collections.abc import Sequence
from operator import ne
from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Packed = npt.NDArray[np.void]  # all of one length; objects where they are not, as only damaged ones are


def packed_states(states: npt.NDArray[np.float64]) -> Packed:
    """Each row of states, (rows, fields), as exact doubles, little-endian."""
    return np.ascontiguousarray(states, "<f8").view(f"V{8 * states.shape[1]}")[:, 0]


def state_column(states: Sequence[bytes]) -> Packed:
    """States as they are stored, as a column."""
    if {*map(type, states)} == {bytes} and len(sizes := {*map(len, states)}) == 1 and 0 not in sizes:
        return np.frombuffer(b"".join(states), f"V{sizes.pop()}")
    column: Any = np.empty(len(states), object)
    column[:] = states
    return column  # type: ignore[no-any-return]


def joined_states(columns: Sequence[Packed]) -> Packed:
    """The states of several columns, one after the other."""
    if len({column.dtype for column in columns}) == 1:
        return np.concatenate(columns)
    return state_column([state for column in columns for state in column.tolist()])


def are_other(states: Packed, others: Packed) -> Mask:
    """Which states have other bits than those beside them."""
    if states.dtype != others.dtype or states.dtype == object:
        return np.fromiter(map(ne, states.tolist(), others.tolist()), np.bool_, states.size)
    bits, other_bits = (column.view(np.uint8).reshape(column.size, -1) for column in (states, others))
    differ: Mask = (bits != other_bits).any(axis=1)
    return differ
