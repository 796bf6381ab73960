"""The learnt state of a pool's system after each event, in compressed form."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import zstandard

from podium.pool.columns import PART_BYTES, Part, frozen
from podium.support.arrays import Array

BLOCK_EVENTS = 32  # number of events that are compressed together
ZSTD_LEVEL = 1


class States:
    """Rows of float64, indexed by position in the order of rating, in compressed blocks that never change.

    A method that changes rows returns a new object. The new object shares every unchanged block with the old one, so
    readers of the old object need no lock.
    """

    __slots__ = ("_blocks", "_open", "fields")

    def __init__(self, fields: int, blocks: tuple[bytes, ...] = (), rest: Array | None = None) -> None:
        self.fields, self._blocks = fields, blocks
        self._open = np.empty((0, fields)) if rest is None else frozen(rest)  # fewer than `BLOCK_EVENTS`

    @property
    def size(self) -> int:
        """Return the number of states."""
        return len(self._blocks) * BLOCK_EVENTS + len(self._open)

    def memory(self) -> dict[int, int]:
        """Return the size of each block in bytes. Blocks are identified by `id`, because snapshots share them."""
        return {id(block): len(block) for block in self._blocks} | {id(self._open): self._open.nbytes}

    def at(self, positions: Array) -> Array:
        """Return the states after the events at these positions, as an array of shape (positions, fields)."""
        found = np.empty((positions.size, self.fields))
        number = positions // BLOCK_EVENTS
        order = np.argsort(number, kind="stable")
        bounds = [0, *(np.flatnonzero(np.diff(number[order])) + 1).tolist(), positions.size]
        for start, stop in pairwise(bounds if positions.size else []):
            chosen = order[start:stop]
            found[chosen] = self._block(int(number[chosen[0]]))[positions[chosen] % BLOCK_EVENTS]
        return found

    def part(self, first: int = 0, last: int | None = None) -> Array:
        """Return the states from position `first` to `last` (exclusive), as an array of shape (positions, fields)."""
        return self.at(np.arange(first, self.size if last is None else last))

    def replaced_from(self, position: int, states: Sequence[Array]) -> "States":
        """Replace all states from a position on with those in `states`, a list of arrays of shape (events, fields)."""
        kept = position // BLOCK_EVENTS
        after = np.concatenate([self.part(kept * BLOCK_EVENTS, position), *states])
        full = len(after) // BLOCK_EVENTS * BLOCK_EVENTS
        blocks = [
            zstandard.compress(after[first : first + BLOCK_EVENTS].tobytes(), ZSTD_LEVEL)
            for first in range(0, full, BLOCK_EVENTS)
        ]
        return States(self.fields, (*self._blocks[:kept], *blocks), after[full:])

    def parts(self) -> Iterator[Part]:
        """Yield the states in parts of a few MB each."""
        rows = max(PART_BYTES // max(8 * self.fields, 1), 1)
        for first in range(0, self.size, rows):
            yield {"state": self.part(first, min(first + rows, self.size))}

    def of_parts(self, parts: Iterable[Part]) -> "States":
        """Return new states with the same number of fields, made from the rows of `parts`.

        Raises:
            ValueError: the parts have different types or sizes.
        """
        states = [part["state"] for part in parts]
        if any(state.dtype != np.float64 or state.shape[1:] != (self.fields,) for state in states):
            raise ValueError("the stored states do not match this version")
        return self.replaced_from(0, states) if states else self

    def _block(self, number: int) -> Array:
        if number == len(self._blocks):
            return self._open
        return np.frombuffer(zstandard.decompress(self._blocks[number])).reshape(BLOCK_EVENTS, self.fields)
