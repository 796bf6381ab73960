"""A part of results: whole events, checked."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from podium.errors import ResultsError
from podium.results.hashing import Numbered
from podium.results.places import Places
from podium.results.reading import Results


class Part(NamedTuple):
    """Whole events, checked."""

    results: Results
    numbered: Numbered  # the numbers of their events
    places: Places

    @contextmanager
    def in_tables(self) -> Iterator[None]:
        """Name the rows of an error by where they are in their tables."""
        try:
            yield
        except ResultsError as error:
            raise ResultsError(error.source, self.places.located(error.faults)) from None
