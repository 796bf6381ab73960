"""Rate results larger than memory, part by part, and rate many pools at once."""

import json
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from podium.engine.system import System
from podium.engine.tables.selection import EVENT, check_period, numbers_at
from podium.errors import CANNOT_BE_READ, ExecutorError, Fault, OutputError, ParameterError, ResultsError
from podium.kernels.compiled import compiling_at_once
from podium.ledger import leaderboard as boards
from podium.ledger.saved import StartingRatings, read_start
from podium.rating import begin, rate_table
from podium.results.columns import started
from podium.results.consistency import SEQUENCE
from podium.results.hashing import as_indices
from podium.results.parquet_files import ParquetFiles, find_files, natural_key
from podium.support.part_files import lock, part_file, remove_unfinished
from podium.systems import make_system
from podium.systems._third_party import PortableSystem

PART_ROWS = 1 << 20
SAVED_PARTS = 4  # number of parts to rate between two saves of the progress
RATINGS, HISTORY = "ratings.parquet", "history"  # in an output folder
PROGRESS = "podium.parts"  # key in the metadata of the ratings
WARMING_ROWS = 1000
TRIES = 3  # number of attempts if workers die without finishing a pool


class Progress(NamedTuple):
    """Progress of a run. Row numbers start at 0 and continue through all files."""

    number: int = 0  # parts rated
    first: int = 0  # row where the last rated part begins
    next: int = 0  # first row after that part
    files: list[list[str | int]] = []  # noqa: RUF012  (name and rows of each file begun; never changed)


def rate_parts(
    files: Any,
    out: str | Path,
    system: str | System = "elo",
    *,
    period: str = EVENT,
    start: Any = None,
    rows: int = PART_ROWS,
    **settings: Any,
) -> pl.DataFrame:
    """Rate Parquet files that are larger than memory, with exactly the same ratings as from `rate`.

    The changes are written to `out/history/part-000001.parquet` and so on. The ratings are written to
    `out/ratings.parquet`, which `start=` accepts. Repeating the call continues an interrupted run, and rates any files
    that have been added.

    Args:
        files: a folder, a pattern such as `results/*.parquet`, a URL that Polars reads, or a list of these. Files from
            a folder or a pattern are read in natural order: `part-2` before `part-10`. Each pool must be sorted by
            time, and the rows of an event must be consecutive.
        out: the output folder, which is new or belongs to a run to continue.
        system: the name of a system, a name with parameters such as `elo:k=20`, or an instance.
        period: the rating period: `event`, or a span such as `1d`, `1w` or `1mo`. Each period must fit in memory.
        start: ratings to start from, as for `rate`. A continued run ignores them.
        rows: minimum number of rows in a part. A part always ends where an event and a rating period end.
        settings: the system's parameters, by name.

    Returns:
        Every player's rating after the last event: one row per pool and player, sorted by pool and rank, as in
        `Rated.ratings`.

    Raises:
        ResultsError: a part is invalid, is not later than the previous parts, or repeats an event ID from the previous
            part. Repeated IDs in more distant parts are not detected.
        ParameterError: the system or a parameter does not exist, the period is invalid, or `out` belongs to a run with
            other files or settings.
        OutputError: `out` cannot be written, contains other files, or is in use by another process.
    """
    chosen = make_system(system, settings)
    _refuse_inside(Path(out), files)
    return _rate_files(ParquetFiles(files), Path(out), chosen, period, start, rows)


def rate_pools(
    folder: str | Path,
    out: str | Path,
    system: str | System = "elo",
    *,
    period: str = EVENT,
    rows: int = PART_ROWS,
    executor: Executor | None = None,
    **settings: Any,
) -> pl.DataFrame:
    """Rate many pools at once, each in the same way as with `rate_parts`.

    The ratings do not depend on the number of workers. Workers read the files and write `out/NAME/` for each pool, so
    these paths must be valid for all workers. In a script, call this under `if __name__ == "__main__":`, because the
    worker processes import the script.

    Args:
        folder: a folder that contains one folder of Parquet files per pool, named `NAME` or `pool=NAME`.
        out: the output folder, which is new or belongs to a run to continue.
        system: the name of a system, a name with parameters such as `elo:k=20`, or an instance that workers can import.
        period: the rating period, as for `rate_parts`.
        rows: minimum number of rows in a part.
        executor: any `concurrent.futures.Executor`, such as Dask's `client.get_executor()`. Default: one process per
            core. If a worker dies, its pools are submitted again.
        settings: the system's parameters, by name.

    Returns:
        Every player's rating: one row per pool and player, sorted by pool and rank.

    Raises:
        ResultsError: a pool is invalid, or the folder has no pools.
        ParameterError: a setting is invalid, as in `rate_parts`, or workers cannot import the system.
        OutputError: `out` cannot be written, as in `rate_parts`.
        ExecutorError: workers died repeatedly. Repeat the call to continue where they stopped.
    """
    chosen = make_system(system, settings)
    _refuse_inside(Path(out), folder)
    pools = find_pools(folder)
    if not pools:
        raise ResultsError.whole(str(folder), "has no pools. Give a folder with one folder of Parquet files per pool.")
    pools.sort(key=lambda pool: -sum(Path(path).stat().st_size for path in find_files(pool)))
    if executor is None:  # compile the kernels once, before the workers start
        pickle.dumps(PortableSystem(chosen))  # raises if workers cannot import it
        with suppress(ResultsError):
            files = ParquetFiles(pools[-1])
            with compiling_at_once():
                rate_table(files.check(files.read(0, WARMING_ROWS))[0], chosen, check_period(period))
    tasks = [(pool, Path(out) / pool.name, PortableSystem(chosen), period, rows) for pool in pools]
    return pl.concat(_run(tasks, executor)).sort("pool", "rank", "player")


def find_pools(folder: str | Path) -> list[Path]:
    """Return the folders of the pools in a folder, in natural order."""
    try:
        folders = [path for path in Path(folder).iterdir() if path.is_dir() and not path.name.startswith(".")]
    except OSError as error:
        raise ResultsError.whole(
            str(folder), f"{CANNOT_BE_READ} ({error.strerror or error}). Check the path and its permissions."
        ) from None
    return sorted(folders, key=lambda path: natural_key(path.name))


def _run(tasks: list[Any], executor: Executor | None) -> list[pl.DataFrame]:
    """Run `_rate_pool` for each task, and return the frames. If workers die, submit their tasks again."""
    done: dict[int, pl.DataFrame] = {}
    tries = 0
    while tries < TRIES:
        before, futures = len(done), dict[int, Future[pl.DataFrame]]()
        with nullcontext(executor) if executor else ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
            try:
                for number in range(len(tasks)):
                    if number not in done:
                        futures[number] = workers.submit(_rate_pool, *tasks[number])
                for number, future in futures.items():
                    done[number] = future.result()
                return list(done.values())
            except BrokenExecutor:
                tries = 1 if len(done) > before else tries + 1
            finally:
                for future in futures.values():
                    future.cancel()
    raise ExecutorError(
        f"workers died {TRIES} times. Call rate_pools again with a new executor of fewer workers: it"
        " continues"
        " where it stopped."
    )


def _rate_pool(folder: Path, out: Path, system: PortableSystem, period: str, rows: int) -> pl.DataFrame:
    files = ParquetFiles(folder, pool=folder.name)
    return _rate_files(files, out, system.system, period, None, rows)


def _rate_files(files: ParquetFiles, out: Path, system: System, period: str, start: Any, rows: int) -> pl.DataFrame:
    check_period(period)
    if rows < 1:
        raise ParameterError(f"rows is {rows}. It must be 1 or more.")
    with _output_folder(out):
        done, standing = _progress(out, files, system, period)
        ids = files.check(files.read(done.first, done.next - done.first))[0].frame["event_id"]
        while standing is None or done.next < files.height:
            known = start if standing is None else standing
            done, standing, ids = _rate_part(files, out, system, period, known, rows, done, ids)
    return boards.ratings(system, standing.players, standing.states)


def _rate_part(
    files: ParquetFiles, out: Path, system: System, period: str, known: Any, rows: int, done: Progress, before: Any
) -> tuple[Progress, StartingRatings, pl.Series]:
    """Rate the next part and write its history. Save the ratings and the progress every few parts.

    If a run is killed and then continued, it rewrites the history since the last save, byte for byte.
    """
    first = done.next
    results, numbered = files.check(_next_part(files, first, rows, period), first)
    with files.located(first):
        ids = results.frame["event_id"].gather(as_indices(numbered.first))
        again = numbered.first[ids.is_in(before.implode()).to_numpy()]
        if again.size:
            remedy = (
                "is the ID of an event in the previous part. Give each event its own ID, and keep its rows together."
            )
            faults = (Fault(int(row) + 1, "event_id", results.frame["event_id"][int(row)], remedy) for row in again)
            raise ResultsError(results.source, faults)
        start = None if known is None else begin(known, system, period, results)
        rated = rate_table(results, system, period, start, numbered)
    last = first + results.frame.height
    done = Progress(done.number + 1, first, last, files.begun(last))
    with part_file(out / HISTORY / f"part-{done.number:06}.parquet", OutputError) as part:
        rated.history.write_parquet(part, compression="lz4")
    if done.number % SAVED_PARTS == 0 or last == files.height:
        with part_file(out / RATINGS, OutputError) as part:
            rated.states.write_parquet(part, metadata=rated.metadata | {PROGRESS: json.dumps(done._asdict())})
    return done, rated.final_state(), ids


def _next_part(files: ParquetFiles, first: int, rows: int, period: str) -> pl.DataFrame:
    """Return at least this many rows, up to the end of an event and of a rating period."""
    while True:
        frame = files.read(first, rows)
        if first + frame.height >= files.height or "event_id" not in frame.columns:
            return frame
        begins = frame["event_id"].ne_missing(frame["event_id"].shift(1))
        if "started_at" in frame.columns and (period != EVENT or SEQUENCE in frame.columns):
            instants, faults = started(frame["started_at"])
            if not faults:
                moments = instants.to_physical() if period == EVENT else pl.Series(numbers_at(instants, period))
                begins &= moments.ne_missing(moments.shift(1))
        cuts = begins.arg_true()
        if cuts.len() > 1:
            return frame[: cuts[-1]]
        rows *= 2


@contextmanager
def _output_folder(out: Path) -> Iterator[None]:
    """Create the output folder, and lock it while the context is active."""
    try:
        (out / HISTORY).mkdir(parents=True, exist_ok=True)
        locked = lock(out.resolve())
    except BlockingIOError:
        raise OutputError(f"{out}: another process is writing here. Wait for it, or choose another folder.") from None
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror or error}). Choose another folder.") from error
    try:
        for folder in (out, out / HISTORY):
            remove_unfinished(folder)
        yield
    finally:
        if locked is not None:
            os.close(locked)


def _progress(out: Path, files: ParquetFiles, system: System, period: str) -> tuple[Progress, StartingRatings | None]:
    """Return the progress of the run in an output folder, and its ratings so far."""
    path = out / RATINGS
    if not path.exists():
        others = {path.name for path in out.iterdir()} - {HISTORY}
        if others:
            raise OutputError(
                f"{out}: holds other files, such as {min(others)}. Choose a folder that does not exist yet."
            )
        return Progress(), None
    standing = read_start(path, system, period)
    text = pl.read_parquet_metadata(path).get(PROGRESS)
    if text is None:
        raise OutputError(f"{path}: was not created by rate_parts. Choose a folder that does not exist yet.")
    done = Progress(**json.loads(text))
    if done.files != files.begun(done.next):
        raise ParameterError(
            f"{out}: the files rated so far have changed. Restore them, or choose a folder that does not exist yet."
        )
    return done, standing


def _refuse_inside(out: Path, source: Any) -> None:
    if isinstance(source, str | Path) and Path(source).resolve() in [out.resolve(), *out.resolve().parents]:
        raise ParameterError(f"{out}: is in the folder of the results. Choose a folder elsewhere.")
