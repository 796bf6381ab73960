"""Results as they are uploaded or pasted: a file of any format that the importers know, as rows."""

import asyncio
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import polars as pl

import podium
from podium.errors import ParameterError, PodiumError, ResultsError
from podium.importers.collecting import shortened
from podium.importers.registry import FORMATS, Options, read_format
from podium.ledger.leaderboard import instant
from podium.results.columns import DEFAULTS
from podium.results.made_dates import made_up, with_made_dates
from podium.support.part_files import temporary_folder

if TYPE_CHECKING:
    from fastapi import Request  # large, and no use to the process


MAX_UPLOAD_BYTES = 8_000_000
MAX_COMPRESSED_BYTES = 1_000_000  # which may become a hundred times as large
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK")  # gzip, Zstandard, zip and workbooks
PARQUET = b"PAR1"
MAX_ROWS = 100_000
RESULTS = "results"  # a table, whose headings say what its columns mean
TABLES = "csv"  # the importer's name for the same, by a map
SAFE_MARKS = "._-"
PASTED = "pasted.csv"


@dataclass(frozen=True, slots=True)
class Upload:
    """What a file has of a pool's results."""

    rows: list[dict[str, Any]]
    names: Mapping[str, str]  # what players are called, by the ids that the results have
    notes: tuple[str, ...]  # what was understood or left aside, a line each
    made_up: str = ""  # for the log, where dates were
    map: str = ""  # what its columns mean, as TOML has it; empty where its headings say all


def formats() -> dict[str, str]:
    """What a file may be: title by name."""
    known = {name: each.title for name, each in FORMATS.items() if name != TABLES}
    return {RESULTS: "a table of results, as CSV, a workbook, Parquet or JSON", **known}


@contextmanager
def stored(content: bytes, name: str) -> Iterator[Path]:
    """A file in a folder of its own, as long as it is read."""
    with temporary_folder() as folder:
        path = folder / safe_name(name)
        path.write_bytes(content)
        yield path


def read_file(
    path: Path,
    name: str,
    form: str,
    pool: str,
    *,
    by_name: bool = False,
    strict: bool = False,
    start: str = "",
    every: str = "",
) -> Upload:
    """Read a file; its events get dates from a first one on where that is given."""
    if form not in formats():
        raise ParameterError(f"{form!r} is not a format; it is one of {', '.join(formats())}")
    refuse_large(path)
    try:
        if form == RESULTS:
            results = podium.read_results(str(path), lenient=not strict)
            frame, names, notes = results.frame, {}, results.notes
        else:
            imported = read_format(form, [str(path)], Options(player="name" if by_name else "id"))
            frame, note = of_pool(podium.read_results(imported.table, name=name).frame, pool, name)
            dropped = tuple(f"left out: {count:,} {reason}" for reason, count in imported.dropped.items())
            names = {player: called for player, (called, _) in imported.names.items()}
            notes = (*imported.notes, *dropped, *note)
    except ResultsError as error:
        raise called(error, f"{path.parent}/", str(path), name) from None
    if not start and not every:
        return Upload(rows_of(frame), names, notes)
    first = instant(start, whole_day=False)
    made = made_up(first, every)
    return Upload(rows_of(with_made_dates(frame, first, every)), names, (*notes, made), made)


def refuse_large(path: Path) -> None:
    """Refuse a compressed file that may become too large, and a Parquet file of too many rows."""
    with path.open("rb") as file:
        head = file.read(len(PARQUET))
    if head.startswith(COMPRESSED) and path.stat().st_size > MAX_COMPRESSED_BYTES:
        raise ParameterError(f"a compressed file may have {MAX_COMPRESSED_BYTES // 1_000_000} MB; send it unpacked")
    if head == PARQUET:
        with suppress(pl.exceptions.PolarsError):  # which its reader refuses by name
            refuse_many(pl.scan_parquet(path).select(pl.len()).collect().item())


def refuse_many(rows: int) -> None:
    """Refuse more rows than an upload may have."""
    if rows > MAX_ROWS:
        raise ParameterError(
            f"the file has {rows:,} rows; an upload may have {MAX_ROWS:,}: send it in parts, or by podium ingest"
        )


def called(error: ResultsError, folder: str, path: str, name: str) -> ResultsError:
    """A refusal that calls the file what its sender does."""

    def of_sender(text: str) -> str:
        return name if text in (path, Path(path).name) else text.removeprefix(folder)

    faults = [fault._replace(file=of_sender(fault.file), value=shortened(fault.value)) for fault in error.faults]
    return type(error)(of_sender(error.source), faults)


def safe_name(name: str) -> str:
    """A file's name without what a folder could make of it; its ending stays, which says what it is."""
    letters = "".join(each if each.isalnum() or each in SAFE_MARKS else "_" for each in Path(name).name)
    return letters.lstrip(".")[-100:] or PASTED


def sheet_name(name: str) -> str:
    """What a pool calls a file whose events it has."""
    return "".join(each for each in Path(name).name if each.isprintable())[-200:] or PASTED


def of_pool(frame: pl.DataFrame, pool: str, name: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Those rows of a table that are a pool's, and a note on the others; all where the table has no pools."""
    if (frame["pool"] == DEFAULTS["pool"]).all():
        return frame, ()
    own = frame.filter(pl.col("pool") == pool)
    others = frame.filter(pl.col("pool") != pool)["pool"].unique(maintain_order=True).to_list()
    if own.is_empty():
        raise ParameterError(f"{name}: has no event of pool {pool}, but of {', '.join(others)}")
    return own, (f"left aside: the events of {', '.join(others)}",) if others else ()


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of a checked table as JSON has them, without what is empty."""
    refuse_many(frame.height)
    return [
        {name: json_value(value) for name, value in row.items() if value is not None}
        for row in frame.drop("pool").to_dicts()
    ]


def json_value(value: Any) -> Any:
    """A cell as JSON has it."""
    return value.isoformat() if isinstance(value, datetime) else value


try:
    import resource
except ImportError:  # on Windows, where the checks before a file is read stand alone
    resource = None  # type: ignore[assignment]

MORE_MEMORY = 1_000_000_000  # bytes of address space, beyond what the process has once everything is loaded
MAX_RESIDENT = 600_000_000  # bytes
MAX_KEPT = 120_000_000  # bytes of its own, with which a process waits for the next file; beyond, that has a new one
READING_S = 60.0  # for one file
IDLE_S = 60.0  # after which the process ends
WATCH_S = 0.02
NICE = 5
Answer = tuple[Upload | None, PodiumError | None]
COMMAND = [sys.executable, "-c", f"from {__name__} import read_what_comes; read_what_comes()"]
ENVIRONMENT = {"POLARS_MAX_THREADS": "1"}  # and so one core, and little memory
TOO_MUCH_MEMORY = "reading it takes more memory than an upload may have; look at it with podium check, or send a part"
TOO_LONG = f"reading it takes more than {READING_S:g} s; send it in parts, or by podium ingest"
UNREADABLE = "it cannot be read; is it whole, and what its name says?"
LEFT = "its sender left"


class Reader:
    """A process that reads one file after another, until its input ends."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(  # noqa: S603  (Podium itself)
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | ENVIRONMENT
        )
        self.answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._collector = threading.Thread(target=self._collect, daemon=True)
        self._collector.start()

    def _collect(self) -> None:
        """Put each answer where it is waited for; None once the process has ended."""
        output = cast("IO[bytes]", self.process.stdout)
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                self.answers.put(pickle.load(output))  # noqa: S301  (of a process of our own)
        self.answers.put(None)

    def ask(self, *sent: Any) -> None:
        """Send what a file is read with; a process that has ended answers by its end."""
        sending = cast("IO[bytes]", self.process.stdin)
        with suppress(OSError):
            pickle.dump(sent, sending)
            sending.flush()

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self._collector.join()
        with suppress(OSError), self.process:  # which closes the pipes; what was not sent is lost
            pass


class UploadProcess:
    """Reads uploads in a process that is started for the first, and ended when none has come for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reader: Reader | None = None
        self._idle: threading.Timer | None = None

    def read(self, left: threading.Event, content: bytes, name: str, *sent: Any, **options: Any) -> Upload:
        """Read results as `read_file` does, within limits."""
        from podium.service.http.threads import unwrap  # noqa: PLC0415  (large, and no use to the process)

        with self._lock, stored(content, name) as path, self._busy() as reader:
            reader.ask((path, name, *sent), options)
            return cast("Upload", unwrap(*self._wait(reader, left)))

    def end(self) -> None:
        """End the process, if there is one and it reads nothing."""
        if self._lock.acquire(blocking=False):
            try:
                self._discard()
            finally:
                self._lock.release()

    @contextmanager
    def _busy(self) -> Iterator[Reader]:
        """The process, which does not end meanwhile."""
        if self._idle is not None:
            self._idle.cancel()
        if self._reader is not None and self._reader.process.poll() is not None:  # killed, while it waited
            self._discard()
        if self._reader is None:
            self._reader = Reader()
        try:
            yield self._reader
        finally:
            if self._reader is not None and memory_of(self._reader.process.pid).own > MAX_KEPT:
                self._discard()
            self._idle = threading.Timer(IDLE_S, self.end)
            self._idle.daemon = True
            self._idle.start()

    def _wait(self, reader: Reader, left: threading.Event) -> Answer:
        """Return what the process answers; kill one that takes too much, or whose answer nobody waits for."""
        ends_at, refusal = time.monotonic() + READING_S, ""
        while not refusal:
            with suppress(queue.Empty):
                answer = reader.answers.get(timeout=WATCH_S)
                if answer is not None:
                    return answer
                refusal = TOO_MUCH_MEMORY  # which ended it
            if memory_of(reader.process.pid).resident > MAX_RESIDENT:
                refusal = TOO_MUCH_MEMORY
            elif time.monotonic() > ends_at:
                refusal = TOO_LONG
            elif left.is_set():
                refusal = LEFT
        self._discard()
        return None, ParameterError(refusal)

    def _discard(self) -> None:
        if self._reader is not None:
            self._reader.kill()
            self._reader = None


async def note_leaving(request: "Request", left: threading.Event) -> None:
    """Set an event when the sender of a request has gone."""
    while not await request.is_disconnected():  # noqa: ASYNC110  (the server has no event for it)
        await asyncio.sleep(0.25)
    left.set()


class Memory(NamedTuple):
    """What a process has, in bytes."""

    addressed: int
    resident: int
    own: int  # resident, without the files that are mapped: how much of a library is there depends on the machine


def memory_of(process: int | str) -> Memory:
    """How much memory a process has; none where the system does not say."""
    try:
        sizes = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
        addressed, resident, shared = (int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in sizes[:3])
    except (OSError, ValueError):
        return Memory(0, 0, 0)
    return Memory(addressed, resident, resident - shared)


def limit_memory() -> None:
    """Limit what this process may ask for, now that it has loaded what reads files."""
    if resource is None:
        return
    os.nice(NICE)
    with suppress(ValueError, OSError):  # of lower limits that there are
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        addressed = memory_of("self").addressed
        if addressed:
            resource.setrlimit(resource.RLIMIT_AS, (addressed + MORE_MEMORY,) * 2)


def read_what_comes() -> None:
    """Read the files that the parent names, as the process that it started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; it ends with its parent
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    limit_memory()
    with suppress(EOFError):
        while True:
            pickle.dump(read_within_limits(*pickle.load(sys.stdin.buffer)), output)  # noqa: S301  (of the parent)
            output.flush()


def read_within_limits(sent: tuple[Any, ...], options: dict[str, Any]) -> Answer:
    """Read an upload, and return it or why it is refused."""
    try:
        return read_file(*sent, **options), None
    except PodiumError as error:
        return None, error
    except MemoryError:
        return None, ParameterError(TOO_MUCH_MEMORY)
    except BaseException:  # noqa: BLE001  (of a library: in Rust, it panics with what is no Exception)
        sys.excepthook(*sys.exc_info())
        return None, ParameterError(UNREADABLE)
