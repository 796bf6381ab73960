"""Results larger than memory: rated part by part, each from where the one before left its players."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import polars as pl

from podium.engine.system import System
from podium.engine.tables.selection import EVENT, check_period
from podium.errors import OutputError, ParameterError
from podium.large import PoolFiles
from podium.large.checkpoint import ANEW, PIECES, Checkpoint, Origin, Progress, fingerprint, source_files
from podium.large.files import pool_parts
from podium.large.long_periods import LongPart, LongPeriods, Part, rate_long_period, takes_pieces
from podium.large.parts import PartReader
from podium.large.slices import SeenIds
from podium.ledger.saved import Start, refuse_earlier
from podium.rated import Rated, begin, empty_results, rate_table
from podium.results.reading import Results
from podium.support.part_files import part_file, remove_unfinished
from podium.systems import make_system

EVERY = 8  # parts from one checkpoint to the next


def rate_stream(
    parts: Any,
    system: str | System = "elo",
    *,
    period: str = "event",
    start: Any = None,
    history_to: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: int = EVERY,
    **settings: Any,
) -> "RatedStream":
    """Rate results that are larger than memory, part by part, to the bits of `rate` of the whole.

    Within each pool, parts follow each other in time. What the next part may go on with waits for it: the last moment
    of each pool, or its last rating period; of results without dates the last event. Files are read ahead, in slices
    of half a million rows.

    Args:
        parts: the path of a Parquet file, or of a folder of them (read in the order of their names; the name of a
            folder within it, such as `pool=east`, is a column); a Polars LazyFrame; any other table; or an iterable of
            these, each a part.
        system: as `rate` takes it, and so are the others.
        history_to: a folder for the history of each part, `part-000000.parquet` and so on, each there as a whole before
            its part is given.
        checkpoint: a folder for what the stream goes on from after it was killed, to the same bits; `parts`, and
            `start` where there is one, are then paths, whose files must not change. Whoever begins the same stream
            again gets the parts that follow the last state saved, the last part again where it had finished.
        every: how many parts from one saved state to the next.

    Returns:
        The rated parts, each a `Rated`: its `history` is that part's, its `ratings`, `states` and forecasts are of all
        players so far. A part is let go before the next is rated, unless
        the caller has it still.

    Raises:
        ResultsError: a part is refused, or is not later than those before it; or, after the last part, two parts share
            the id of an event. Rows are numbered as in their files.
        ParameterError: as `rate` raises it; or the checkpoint is of other results, or of another system or version.
        OutputError: a history or the checkpoint cannot be written or read.
    """
    return RatedStream(
        parts, make_system(system, settings), period, start, history_to=history_to, checkpoint=checkpoint, every=every
    )


class RatedStream(Iterator[Rated]):
    """The parts of a stream, rated one after the other.

    `number` is the number of the part at hand, from 0 at the beginning of the results: a stream that goes on from a
    checkpoint gives each part the number that it has in one run.
    """

    def __init__(
        self,
        parts: Any,
        system: System,
        period: str,
        start: Any,
        *,
        history_to: str | Path | None = None,
        checkpoint: str | Path | None = None,
        every: int = EVERY,
        waits: bool = True,
    ) -> None:
        """Begin a stream, as `rate_stream`.

        Args:
            waits: give a part once its history is there; else that is written while the next part is rated.
        """
        self.system = system
        self.period = check_period(period)
        self._source = parts
        self._start = start
        self._history_to = None if history_to is None else Path(history_to)
        self._folder = None if checkpoint is None else Path(checkpoint)
        if every < 1:
            raise ParameterError(f"every is {every}; it must be at least 1, in parts")
        self._every = every
        self._waits = waits
        self._progress = Progress()
        self._rated = self._rate()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Rated:
        return next(self._rated)

    def close(self) -> None:
        """Let go of files and of the part at hand, whose history is there then; what was saved stays.

        Raises:
            OutputError: that history cannot be written.
        """
        self._rated.close()

    @property
    def number(self) -> int:
        """The number of the part at hand, from 0; of the part that comes next before the first."""
        return self._progress.number

    @property
    def progress(self) -> Progress:
        """What was rated before the part at hand; all of it after the last."""
        return self._progress

    def _rate(self) -> Generator[Rated]:
        if isinstance(self._source, PoolFiles):  # whose rows were checked
            for checked in pool_parts(self._source, self.period):
                yield from self._rate_part(checked)
                del checked
            return
        with ExitStack() as held:
            checkpoint, histories, reader = self._open(held)
            saved, saved_at_end = self.number, False
            for part in reader.parts():
                if reader.at_end and not saved_at_end:  # a state that stays: who begins again gets the last part again
                    self._save(checkpoint, histories, reader)
                    saved_at_end = True
                for rated in self._rate_part(part):
                    if histories is not None:
                        histories.write(self.number, rated.history)
                    yield rated
                    del rated  # before the next is read
                del part
                due = checkpoint is None or self.number - saved >= self._every
                if due and reader.between_groups and not reader.at_end:
                    self._save(checkpoint, histories, reader)
                    reader.remove_done()
                    saved = self.number
            if histories is not None:
                histories.finish()
            if checkpoint is not None:
                checkpoint.finish()

    def _open(self, held: ExitStack) -> tuple[Checkpoint | None, "HistoryParts | None", PartReader]:
        """Go on from a checkpoint, if there is one; else begin, and save that before the first history."""
        checkpoint = histories = long = None
        if self._folder is not None:
            checkpoint = held.enter_context(Checkpoint(self._folder, self._origin()))
            self._progress = checkpoint.progress()
        goes_on = checkpoint is not None and checkpoint.has_state
        if self._history_to is not None:
            histories = held.enter_context(
                HistoryParts(self._history_to, self.number, again=goes_on, waits=self._waits)
            )
        seen = held.enter_context(SeenIds() if checkpoint is None else checkpoint.seen_ids())
        if self.period != EVENT and takes_pieces(self.system):  # rows of long rating periods wait in files
            room = self._folder or Path(held.enter_context(TemporaryDirectory(prefix="podium-")))
            long = LongPeriods(room / PIECES, seen)
        reader = PartReader(self._source, self.period, seen, self._progress.read, long=long)
        if not goes_on:
            self._save(checkpoint, histories, reader)
        return checkpoint, histories, reader

    def _save(self, checkpoint: Checkpoint | None, histories: "HistoryParts | None", reader: PartReader) -> None:
        """Save the state, where there is a checkpoint, once the histories of its parts are there."""
        if checkpoint is not None:
            if histories is not None:
                histories.finish()
            checkpoint.save(self._progress._replace(read=reader.read()), reader.seen)

    def _rate_part(self, part: Part | LongPart) -> Iterator[Rated]:
        if isinstance(part, LongPart):
            for rated in rate_long_period(part, self.system, self.period, self._begin):
                yield rated
                self._advance(rated)
                del rated  # before the next piece
            return
        with part.in_tables():
            standing = self._begin(part.results)
            rated = rate_table(part.results, self.system, self.period, standing, part.numbered)
        del part
        yield rated
        self._advance(rated)

    def _begin(self, results: Results) -> Start | None:
        """Where players stand before results, which may follow."""
        before = self._progress
        if before.began is not None:
            refuse_earlier(before.began, results, self.period)
        elif self._start is not None:
            began = begin(self._start, self.system, self.period, results)
            self._progress = before = before._replace(began=began, standing=began)
        return before.standing

    def _advance(self, rated: Rated) -> None:
        done = self._progress
        sizes = Counter(done.sizes)
        sizes.update({pool.name: pool.last - pool.first for pool in rated.events.pools})
        self._progress = done._replace(
            number=done.number + 1, standing=rated.standing(), sizes=sizes, events=done.events + rated.event_count
        )

    def _origin(self) -> Origin:
        files = source_files(self._source)
        if files is None:
            raise ParameterError("a checkpoint needs the path of a Parquet file, or of a folder of them, to read again")
        if self._start is not None and not isinstance(self._start, str | Path):
            raise ParameterError("a checkpoint needs the path of the ratings to start from; save them first")
        start = None if self._start is None else fingerprint(Path(self._start).name, Path(self._start))
        return Origin(self.system, self.period, files, start, self._history_to is not None)


def rate_all(stream: RatedStream, start: Any, use: Callable[[Rated], None] = lambda _: None) -> Progress:
    """Rate all parts of a stream that begins from `start`, each used when it is rated: what the stream has done."""
    for rated in stream:
        use(rated)
        del rated  # before the next is rated
    done = stream.progress
    if done.standing is not None:
        return done
    nothing, system, period = empty_results(), stream.system, stream.period
    began = None if start is None else begin(start, system, period, nothing)
    return done._replace(began=began, standing=rate_table(nothing, system, period, began).standing())


PART = "part-{:06}.parquet"  # of a history, by the number of its part


class HistoryParts:
    """A folder of histories, numbered as the parts of a stream."""

    def __init__(self, folder: Path, number: int, *, again: bool, waits: bool) -> None:
        """Begin with a part, or go on: what an earlier run wrote of that part and later ones is removed."""
        self.folder = folder
        self._waits = waits
        self._thread = ThreadPoolExecutor(1)  # begins with the first history
        self._writing: Future[None] | None = None
        try:
            folder.mkdir(exist_ok=True)
            present = {path.name: path for path in folder.glob("part-*.parquet")}
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._thread.shutdown(wait=kind is not GeneratorExit)  # it may be the collector's: `finish` joins no thread
        if kind is None or issubclass(kind, Exception | GeneratorExit):
            self.finish()

    def write(self, number: int, history: pl.DataFrame) -> None:
        """Write the history of a part, or begin to, once that of the part before is there."""
        self.finish()
        self._writing = self._thread.submit(self._write, number, history)
        if self._waits:
            self.finish()

    def finish(self) -> None:
        """Wait until every history that was begun is there."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _write(self, number: int, history: pl.DataFrame) -> None:
        with part_file(self.folder / PART.format(number), OutputError) as part:
            history.write_parquet(part, compression="lz4")


def later_files(present: Mapping[str, Path], number: int) -> list[Path]:
    earlier = [PART.format(each) for each in range(number)]
    missing = next((name for name in earlier if name not in present), None)
    if missing is not None:
        raise OutputError(f"{missing} of the history is missing; {ANEW}")
    return [present[name] for name in present.keys() - set(earlier)]
