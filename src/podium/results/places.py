"""Where the rows of parts come from."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.errors import Fault


class Places(NamedTuple):
    """Where rows come from."""

    sources: list[str]
    source: npt.NDArray[np.int32]  # (rows): the number of the table
    row: npt.NDArray[np.int64]  # (rows): of that table, from 0

    def of(self, rows: Any) -> "Places":
        """The places of those rows."""
        return self._replace(source=self.source[rows], row=self.row[rows])

    def located(self, faults: Iterable[Fault]) -> Iterator[Fault]:
        """Faults of these rows, where they are in their tables."""
        for fault in faults:
            if fault.row is None:
                yield fault
            else:
                source, row = self.source[fault.row - 1], self.row[fault.row - 1]
                yield fault._replace(row=int(row) + 1, file=self.sources[source])

    @property
    def name(self) -> str:
        """What to call these rows together."""
        first, last = (self.sources[number] for number in self.source[[0, -1]])
        return first if first == last else f"{first} to {last}"
