"""Which row of another table each row is of: those of all rows in order, which most tables have, take no memory."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from podium.results.hashing import Integers, index_type


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Positions in another table, as an array of whole numbers has them."""

    size: int
    listed: Integers | None  # None: 0, 1, 2, ...

    @classmethod
    def of(cls, positions: Integers) -> Self:
        """The positions that an array has."""
        in_order = (positions == np.arange(positions.size, dtype=positions.dtype)).all()
        return cls(positions.size, None if in_order else positions)

    @property
    def array(self) -> Integers:
        """All of them, written out."""
        return np.arange(self.size, dtype=index_type(self.size)) if self.listed is None else self.listed

    def __getitem__(self, chosen: slice | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Those that a slice, a mask, or numbers not below 0 choose."""
        if self.listed is not None:
            return self.listed[chosen]
        if isinstance(chosen, slice):
            return np.arange(*chosen.indices(self.size), dtype=index_type(self.size))
        return np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen

    def at(self, number: int) -> int:
        """One of them."""
        return number if self.listed is None else int(self.listed[number])

    def are_all(self, count: int) -> bool:
        """Whether they are those of all so many rows, in order."""
        return self.listed is None and self.size == count

    def take(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values at them; the array itself where they are all of its rows, in order."""
        return values if self.are_all(len(values)) else values[self.array]
