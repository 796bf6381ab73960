"""Checkpoints: what a stream goes on from after it was killed, to the bits of one run.

A checkpoint is a folder. `state.json` says what the stream has done and names the files of the rest: where players
stand, and the rows that wait for more. These are written under new names before it, and it appears whole or not at all,
so at any moment the folder holds one state. The hashes of ids are in files that only grow; the state has their lengths.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from podium.engine.system import System
from podium.errors import OutputError, ParameterError, ResultsError
from podium.large import is_folder, is_parquet
from podium.large.long_periods import LongPeriod, read_rows, write_rows
from podium.large.parts import Read
from podium.large.slices import FILES, SLICE_ROWS, Position, SeenIds, parquet_files
from podium.ledger.saved import PARQUET, Start, parameters, refuse_other
from podium.results.reading import PARQUET_ERRORS
from podium.support.part_files import lock, part_file, remove_unfinished
from podium.version import ARITHMETIC, __version__

STATE, LOCK, IDS, PIECES = "state.json", "lock", "ids", "pieces"  # the second of earlier versions
PLAYER_COLUMNS = ("pool", "player", "last_event_id", "last_played_at")

TAIL = 8  # bytes after a Parquet file's footer: its length, and the mark


class SourceFile(NamedTuple):
    """A file, and what tells that it is another now."""

    name: str
    size: int  # bytes
    modified_ns: int  # since 1970
    footer: str  # digest of a Parquet file's footer: its rows, where they stand, least and greatest values


def source_files(source: Any) -> list[SourceFile] | None:
    """The Parquet files of a path in the order of reading; None of what is no path of a folder or a Parquet file."""
    if is_folder(source):
        return [fingerprint(name, path) for name, path in parquet_files(Path(source)).items()]
    return [fingerprint(Path(source).name, Path(source))] if is_parquet(source) else None


def fingerprint(name: str, path: Path) -> SourceFile:
    try:
        status = path.stat()
        with path.open("rb") as file:
            file.seek(max(status.st_size - TAIL, 0))
            tail = file.read()
            length = int.from_bytes(tail[:4], "little") if tail[4:] == PARQUET else 0
            file.seek(max(status.st_size - TAIL - length, 0))
            footer = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except OSError as error:
        raise ResultsError.whole(name, f"cannot be read ({error.strerror or error})") from None
    return SourceFile(name, status.st_size, status.st_mtime_ns, footer)


def difference(before: Sequence[SourceFile], now: Sequence[SourceFile]) -> str | None:
    """What is different of files, as a part of a sentence; None where nothing is."""
    known, present = ({each.name: each for each in files} for files in (before, now))
    for name in known.keys() - present.keys():
        return f"{name} is gone"
    for name in present.keys() - known.keys():
        return f"{name} is new"
    return next((f"{name} has changed" for name in known if known[name] != present[name]), None)


class Origin(NamedTuple):
    """What a checkpoint is of; another stream cannot go on from it."""

    system: System
    period: str
    files: list[SourceFile]
    start: SourceFile | None
    history: bool  # whether the stream writes its history


class Progress(NamedTuple):
    number: int = 0  # parts that are done
    began: Start | None = None  # the ratings that it started from
    standing: Start | None = None
    sizes: dict[str, int] = {}  # noqa: RUF012  (settlements of each pool; never changed)
    events: int = 0
    read: Read | None = None


class Checkpoint:
    def __init__(self, folder: Path, origin: Origin) -> None:
        self.folder = folder
        self._origin = origin
        self._state: dict[str, Any] | None = None
        self._lock: int | None = None

    def __enter__(self) -> Self:
        """Take the folder, which no other process may, and find the state that it holds, if any."""
        try:
            self.folder.mkdir(exist_ok=True)
            self._lock = lock(self.folder.resolve())
            self._find_state()
            remove_unfinished(self.folder)
        except BlockingIOError:
            raise OutputError(
                f"{self.folder}: another process rates with this checkpoint now; wait, or end it"
            ) from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def _find_state(self) -> None:
        path = self.folder / STATE
        if path.exists():
            try:
                self._state = json.loads(path.read_text(encoding="utf-8"))
                self._refuse_other(self._state)
            except (OSError, ValueError, KeyError, TypeError) as error:
                if isinstance(error, ParameterError):
                    raise
                raise OutputError(f"{self.folder}: is no checkpoint that can be read ({error}); {ANEW}") from error
        elif {each.name for each in self.folder.iterdir() if not each.name.startswith(".")} - {LOCK, IDS, PIECES}:
            raise OutputError(f"{self.folder}: is no checkpoint, and holds other files; name a new folder")

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def has_state(self) -> bool:
        return self._state is not None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (OSError, KeyError, TypeError, ValueError, *PARQUET_ERRORS) as error:
            raise OutputError(f"{self.folder}: the checkpoint is damaged ({error}); {ANEW}") from error

    def progress(self) -> Progress:
        """What the stream has done, nothing yet where the folder is new."""
        state = self._state
        if state is None:
            return Progress()
        with self._reading():
            read = None if state["read"] is None else self._waiting(state["read"])
            began, standing = self._start(state["began"]), self._start(state["standing"])
            return Progress(state["number"], began, standing, state["sizes"], state["events"], read)

    def seen_ids(self) -> SeenIds:
        with self._reading():
            return SeenIds(self.folder / IDS, (0,) * FILES if self._state is None else self._state["ids"])

    def save(self, progress: Progress, seen: SeenIds) -> None:
        number = 1 if self._state is None else self._state["saved"] + 1
        state = {
            "podium": __version__,
            "arithmetic": ARITHMETIC,
            "polars": pl.__version__,
            "rows": SLICE_ROWS,
            "system": self._origin.system.name,
            "parameters": parameters(self._origin.system),
            "period": self._origin.period,
            "files": self._origin.files,
            "start": self._origin.start,
            "history": self._origin.history,
            "saved": number,
            "number": progress.number,
            "finished": False,
            "events": progress.events,
            "sizes": progress.sizes,
            "ids": seen.lengths(),
            "began": self._write_start(f"began-{number}.parquet", progress.began),
            "standing": self._write_start(f"standing-{number}.parquet", progress.standing),
            "read": None if progress.read is None else self._write_waiting(f"waiting-{number}.parquet", progress.read),
        }
        self._write_state(state)
        for path in self.folder.glob("*-*.parquet"):
            if not path.stem.endswith(f"-{number}"):
                with suppress(OSError):
                    path.unlink()

    def finish(self) -> None:
        """Say that the stream came to its end: its ids are checked, and need not be known any longer."""
        if self._state is None:
            return
        self._write_state(self._state | {"finished": True, "ids": [0] * FILES})
        for path in (self.folder / IDS).iterdir():
            with suppress(OSError):
                path.unlink()

    def _write_state(self, state: dict[str, Any]) -> None:
        with part_file(self.folder / STATE, OutputError) as part:
            part.write_text(json.dumps(state), encoding="utf-8")
        self._state = state

    def _write_start(self, name: str, start: Start | None) -> dict[str, Any] | None:
        if start is None:
            return None
        fields = [pl.Series(f" {k}", column) for k, column in enumerate(start.states.T)]
        with part_file(self.folder / name, OutputError) as part:
            start.players.hstack(fields).write_parquet(part, statistics=False)
        return {"file": name, "pools": {pool: numbers.tolist() for pool, numbers in start.pools.items()}}

    def _start(self, saved: dict[str, Any] | None) -> Start | None:
        if saved is None:
            return None
        table = pl.read_parquet(self.folder / saved["file"])
        states = table.drop(PLAYER_COLUMNS).to_numpy(order="c").astype(np.float64, copy=False)
        pools = {pool: np.array(numbers, np.float64) for pool, numbers in saved["pools"].items()}
        return Start(table.select(PLAYER_COLUMNS), np.ascontiguousarray(states), pools)

    def _write_waiting(self, name: str, read: Read) -> dict[str, Any]:
        if read.held is not None:
            write_rows(self.folder / name, *read.held)
        return read._asdict() | {"held": None if read.held is None else name}

    def _waiting(self, saved: dict[str, Any]) -> Read:
        held = None if saved["held"] is None else read_rows(self.folder / saved["held"], saved["sources"])
        position = None if saved["position"] is None else Position(*saved["position"])
        long = [LongPeriod(pool, moment, files, tuple(newest)) for pool, moment, files, newest in saved["long"]]
        return Read(position, saved["sources"], saved["given_on"], saved["columns"], held, long)

    def _refuse_other(self, state: dict[str, Any]) -> None:
        name, origin = f"the checkpoint {self.folder}", self._origin
        refuse_other(name, state["system"], state["parameters"], state["period"], origin.system, origin.period)
        made_by = tuple(state[each] for each in ("podium", "arithmetic", "polars", "rows"))
        changed = difference([SourceFile(*each) for each in state["files"]], origin.files)
        start = None if state["start"] is None else SourceFile(*state["start"])
        ours = __version__, ARITHMETIC, pl.__version__, SLICE_ROWS
        if made_by != ours:
            versions = " ".join(map(str, made_by)), " ".join(map(str, ours))
            raise ParameterError(
                f"{name} comes from another version (podium, arithmetic, polars, rows of a part: {versions[0]}; now "
                f"{versions[1]}): go on with that version, or {ANEW}"
            )
        if changed is not None:
            raise ParameterError(f"{name} is of other results: {changed} since; put them back as they were, or {ANEW}")
        if start != origin.start:
            raise ParameterError(f"{name} started from other ratings: go on with the same start, or {ANEW}")
        if state["history"] != origin.history:
            kind, remedy = ("with", "name its folder") if state["history"] else ("without", "leave the folder out")
            raise ParameterError(f"{name} is of a stream {kind} history: {remedy}, or {ANEW}")


ANEW = "delete the checkpoint to rate from the beginning"
