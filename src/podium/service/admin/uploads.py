"""Read uploads in a separate process, and within limits."""

import asyncio
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from podium.errors import ParameterError, PodiumError
from podium.service.admin.reading import Interview, Upload, read_file, safe_name
from podium.support.part_files import temporary_folder

if TYPE_CHECKING:
    from fastapi import Request  # large, and unnecessary in the reading process


@contextmanager
def stored(content: bytes, name: str) -> Iterator[Path]:
    """Yield a file in a temporary folder, which is deleted after the file has been read."""
    with temporary_folder() as folder:
        path = folder / safe_name(name)
        path.write_bytes(content)
        yield path


try:
    import resource
except ImportError:  # on Windows, only the checks before reading apply
    resource = None  # type: ignore[assignment]

MORE_MEMORY = 1_000_000_000  # bytes of address space in addition to the loaded process's
MAX_RESIDENT = 600_000_000  # bytes
MAX_KEPT = 120_000_000  # bytes; a process that uses more is replaced before the next file
READING_S = 60.0  # time limit for one file
IDLE_S = 60.0  # time after which an idle process ends
WATCH_S = 0.02
NICE = 5
Answer = tuple[Upload | Interview | None, PodiumError | None]
COMMAND = [sys.executable, "-c", f"from {__name__} import read_what_comes; read_what_comes()"]
ENVIRONMENT = {"POLARS_MAX_THREADS": "1"}  # uses one core and little memory
TOO_MUCH_MEMORY = "reading it takes more memory than an upload can use. Send it in parts"
TOO_LONG = f"reading it takes more than {READING_S:g} s. Send it in parts"
UNREADABLE = "it cannot be read. Check that it is complete and has the right file extension"
LEFT = "the sender has disconnected"
WAITING_S = 10.0  # time limit for waiting, and for reading while others wait
RETRY_AFTER_S = 10
OTHERS_WAIT = "Other files are being read. Send yours again in 10 seconds."
ONE_WAITS = "Another file sent with this key is waiting to be read. Send this one again in 10 seconds."
IN_THE_WAY = "Reading this file takes more than 10 seconds, and others are waiting. Send it in parts."


class Reader:
    """A process that reads one file after another until its input ends."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(  # noqa: S603  (Podium itself)
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | ENVIRONMENT
        )
        self.answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._collector = threading.Thread(target=self._collect, daemon=True)
        self._collector.start()

    def _collect(self) -> None:
        """Queue each answer for the thread that waits for it, and None when the process has ended."""
        output = cast("IO[bytes]", self.process.stdout)
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                self.answers.put(pickle.load(output))  # noqa: S301  (from our own process)
        self.answers.put(None)

    def ask(self, *sent: Any) -> None:
        """Send the arguments for reading a file. If the process has ended, this counts as its answer."""
        sending = cast("IO[bytes]", self.process.stdin)
        with suppress(OSError):
            pickle.dump(sent, sending)
            sending.flush()

    def kill(self) -> None:
        self.process.kill()
        self._collector.join()
        with suppress(OSError), self.process:  # closes the pipes; unsent data are lost
            pass


class Turns:
    """Decides which file is read next. Pools take turns, and each key can have only one waiting file."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by pool, with the next pool first
        self._keys: set[int] = set()
        self._is_taken = False

    @property
    def are_wanted(self) -> bool:
        return any(not upload.done() for queue in [*self._waiting.values()] for upload in [*queue])

    @asynccontextmanager
    async def take(self, pool: str, key: int) -> AsyncIterator[None]:
        """Wait until it is a file's turn.

        Raises:
            AccessError: Another file from the same key is already waiting, or the turn did not come in time.
        """
        from podium.service.http.errors import AccessError  # noqa: PLC0415  (large, and not needed in the process)

        if key in self._keys:
            raise AccessError(503, ONE_WAITS, RETRY_AFTER_S)
        if self._is_taken:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(pool, deque()).append(turn)
            self._keys.add(key)
            try:
                async with asyncio.timeout(WAITING_S):
                    await turn
            except BaseException as error:
                if turn.done() and not turn.cancelled():  # the turn came just when the sender left
                    self._pass_on()
                if isinstance(error, TimeoutError):
                    raise AccessError(503, OTHERS_WAIT, RETRY_AFTER_S) from None
                raise
            finally:
                self._keys.discard(key)
        self._is_taken = True
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Give the turn to the next waiting pool, and put this pool's other files behind all other pools' files."""
        while self._waiting:
            pool, queue = next(iter(self._waiting.items()))
            del self._waiting[pool]
            turn = queue.popleft()
            if queue:
                self._waiting[pool] = queue
            if not turn.done():
                turn.set_result(None)
                return
        self._is_taken = False


class UploadProcess:
    """Reads uploads in a process that starts with the first upload and ends when idle."""

    def __init__(self) -> None:
        self.turns = Turns()
        self._lock = threading.Lock()
        self._reader: Reader | None = None
        self._idle: threading.Timer | None = None

    def read(self, left: threading.Event, content: bytes, name: str, *sent: Any, **options: Any) -> Upload | Interview:
        """Read results as `read_file` does, but within limits."""
        from podium.service.http.requests import unwrap  # noqa: PLC0415  (large, and not needed in the process)

        with self._lock, stored(content, name) as path, self._busy() as reader:
            reader.ask((path, name, *sent), options)
            return cast("Upload | Interview", unwrap(*self._wait(reader, left)))

    def end(self) -> None:
        """End the process if it is idle."""
        if self._lock.acquire(blocking=False):
            try:
                self._discard()
            finally:
                self._lock.release()

    @contextmanager
    def _busy(self) -> Iterator[Reader]:
        """Yield the process, which is not ended as idle in the meantime."""
        if self._idle is not None:
            self._idle.cancel()
        # the process was killed while idle
        if self._reader is not None and self._reader.process.poll() is not None:
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
        """Return the process's answer.

        Kill the process if it uses too many resources, or if nobody waits for the answer.
        """
        began_at, refusal = time.monotonic(), ""
        while not refusal:
            with suppress(queue.Empty):
                answer = reader.answers.get(timeout=WATCH_S)
                if answer is not None:
                    return answer
                refusal = TOO_MUCH_MEMORY  # the reason why it ended
            if memory_of(reader.process.pid).resident > MAX_RESIDENT:
                refusal = TOO_MUCH_MEMORY
            elif time.monotonic() - began_at > READING_S:
                refusal = TOO_LONG
            elif time.monotonic() - began_at > WAITING_S and self.turns.are_wanted:
                refusal = IN_THE_WAY
            elif left.is_set():
                refusal = LEFT
        self._discard()
        return None, ParameterError(refusal)

    def _discard(self) -> None:
        if self._reader is not None:
            self._reader.kill()
            self._reader = None


async def note_leaving(request: "Request", left: threading.Event) -> None:
    """Set an event when the sender of a request leaves."""
    while not await request.is_disconnected():  # noqa: ASYNC110  (the server has no event for this)
        await asyncio.sleep(0.25)
    left.set()


class Memory(NamedTuple):
    """The memory that a process uses, in bytes."""

    addressed: int
    resident: int
    own: int  # resident memory without mapped files, because libraries' mapped files vary


def memory_of(process: int | str) -> Memory:
    """Return the memory that a process uses, or 0 if the operating system does not report it."""
    try:
        sizes = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
        addressed, resident, shared = (int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in sizes[:3])
    except (OSError, ValueError):
        return Memory(0, 0, 0)
    return Memory(addressed, resident, resident - shared)


def limit_memory() -> None:
    """Limit the memory of this process after its libraries have been loaded."""
    if resource is None:
        return
    os.nice(NICE)
    with suppress(ValueError, OSError):  # a lower limit may already apply
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        addressed = memory_of("self").addressed
        if addressed:
            resource.setrlimit(resource.RLIMIT_AS, (addressed + MORE_MEMORY,) * 2)


def read_what_comes() -> None:
    """Read the files that the parent process names, one after another."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal; this process ends with its parent
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries' output must not look like an answer
    limit_memory()
    with suppress(EOFError):
        while True:
            pickle.dump(read_within_limits(*pickle.load(sys.stdin.buffer)), output)  # noqa: S301  (from the parent)
            output.flush()


def read_within_limits(sent: tuple[Any, ...], options: dict[str, Any]) -> Answer:
    """Read an upload. Return its results, or the reason why it is rejected."""
    try:
        return read_file(*sent, **options), None
    except PodiumError as error:
        return None, error
    except MemoryError:
        return None, ParameterError(TOO_MUCH_MEMORY)
    except BaseException:  # noqa: BLE001  (Rust libraries panic with errors that are not Exceptions)
        sys.excepthook(*sys.exc_info())
        return None, ParameterError(UNREADABLE)
