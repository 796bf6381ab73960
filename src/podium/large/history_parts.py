"""The history of a stream as Parquet files, one for each part, each whole or absent.

A thread writes the history of a part, while the next one is rated where nobody looks at it before.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.long_periods import PeriodSums
from podium.engine.replay import NEVER, States, newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.errors import OutputError, ParameterError
from podium.large.long_periods import LongPart
from podium.ledger.saved import Start
from podium.rated.rated import Rated
from podium.results.reading import Results
from podium.support.part_files import part_file, remove_unfinished

if TYPE_CHECKING:
    from podium.ledger.reasons.explanation import Explanation
    from podium.ledger.reasons.what_if import WhatIf


PATTERN = "part-*.parquet"


class HistoryParts:
    """A folder of histories, numbered as the parts of a stream."""

    def __init__(self, folder: Path, number: int, *, again: bool, waits: bool = True) -> None:
        """Begin with a part, or go on: what an earlier run wrote of that part and later ones is removed.

        Raises:
            OutputError: the folder cannot be made, holds other histories, or lacks one of an earlier part.
        """
        self.folder = folder
        self._waits = waits
        self._thread = ThreadPoolExecutor(1)  # begins with the first history
        self._writing: Future[None] | None = None
        try:
            folder.mkdir(exist_ok=True)
            present = {path.name: path for path in folder.glob(PATTERN)}
            if not present or again:
                remove_unfinished(folder)
                for path in later_files(present, number):
                    path.unlink()
                return
        except OutputError:
            raise
        except OSError as error:
            raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from error
        raise OutputError(f"{folder}: holds a history already; name another folder, or delete its files")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the last history.

        Raises:
            OutputError: it cannot be written; this came before whatever else went wrong, but an interrupt goes on.
        """
        self._thread.shutdown()
        if kind is None or issubclass(kind, Exception | GeneratorExit):
            self.finish()

    def write(self, number: int, history: pl.DataFrame) -> None:
        """Write the history of a part, or begin to, once that of the part before is there.

        Raises:
            OutputError: it, or the one before, cannot be written.
        """
        self.finish()
        self._writing = self._thread.submit(self._write, number, history)
        if self._waits:
            self.finish()

    def finish(self) -> None:
        """Wait until every history that was begun is there.

        Raises:
            OutputError: the last one cannot be written.
        """
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _write(self, number: int, history: pl.DataFrame) -> None:
        with part_file(self.folder / name_of(number), OutputError) as part:
            history.write_parquet(part, compression="lz4")


def name_of(number: int) -> str:
    """What the file of a part is called."""
    return f"part-{number:06}.parquet"


def later_files(present: Mapping[str, Path], number: int) -> list[Path]:
    """The files of the part of that number and of later ones.

    Raises:
        OutputError: there is none of an earlier part.
    """
    earlier = [name_of(each) for each in range(number)]
    missing = next((name for name in earlier if name not in present), None)
    if missing is not None:
        raise OutputError(f"{missing} of the history is missing; delete the checkpoint to rate from the beginning")
    return [present[name] for name in present.keys() - set(earlier)]


IN_PIECES = "the rating period of event {!r} has more rows than are held at a time; rate it as one table to explain it"


@dataclass(frozen=True, repr=False)
class RatedPiece(Rated):
    """Some events of a rating period, whose changes come of all its events."""

    def explain(self, event_id: str, player: str) -> "Explanation":  # noqa: ARG002
        """Refuse: a change comes of events that are not here."""
        raise ParameterError(IN_PIECES.format(event_id))

    def what_if(self, event_id: str, player: str) -> "WhatIf":  # noqa: ARG002
        """Refuse: a change comes of events that are not here."""
        raise ParameterError(IN_PIECES.format(event_id))


def rate_long_period(
    part: LongPart, system: System, period: str, begin: Callable[[Results], Start | None]
) -> Iterator[Rated]:
    """Rate a period.

    Raises:
        NotFiniteError: a new state is not finite.
    """
    sums = PeriodSums(system, period)
    standing: Start | None = None
    for piece in part.pieces():
        with piece.in_tables():
            standing = begin(piece.results)
            sums.count(encode(piece.results, system, period, piece.numbered))
    sums.bring(*brought(part.pool, sums.names, system, standing))
    for number, piece in enumerate(part.pieces()):
        events = encode(piece.results, system, period, piece.numbered)
        sums.judge(events, first=number == 0, last=number == sums.pieces - 1)
    for number, piece in enumerate(part.pieces()):
        events = encode(piece.results, system, period, piece.numbered)
        columns, settles, replayed = sums.rated(events, number)
        events = replace(events, columns=columns, ledger=replace(events.ledger, settles=settles))
        rated = RatedPiece(system, period, events, replayed, standing)
        standing = rated.standing()
        del events, piece, replayed
        yield rated
        del rated


def brought(
    pool: str, names: list[str], system: System, standing: Start | None
) -> tuple[States, npt.NDArray[np.int64]]:
    """The states of a pool's players, and when each was seen last: (players, fields), (players)."""
    if standing is None:
        return newcomers(system, len(names)), np.full(len(names), NEVER)
    seats = pl.DataFrame(
        {"player": pl.Series(names, dtype=pl.String), "pool": pl.Series([pool]).new_from_index(0, len(names))}
    )
    rows = standing.rows_of(seats)
    return standing.states_of(system, rows), standing.seen_of(rows)
