"""Dependencies of routes: the queues for results, and the roles of keys."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from podium.errors import PodiumError
from podium.log.statements import now
from podium.results.plain_rows import PlainRows
from podium.service.api.bodies import validate
from podium.service.http.errors import BusyError, UnexpectedError
from podium.service.http.json import loads
from podium.service.http.keys import require_role
from podium.service.http.requests import Threads, from_state, made_of, run_in, store_for
from podium.service.http.visitors import Visitor, check_reader, read_bytes
from podium.service.metrics import Metrics
from podium.service.watchers import Watchers
from podium.store import Store
from podium.store.writing.execution import LongWorkError
from podium.store.writing.receipts import Receipt
from podium.store.writing.submission import Submission
from podium.support.immutable import immutable

T = TypeVar("T")
MAX_BODY_BYTES = 4_000_000
OFFLOAD_BYTES = 20_000  # larger bodies are parsed in a thread, so that other requests need not wait
LOGGER = logging.getLogger(__name__)
MAX_WAITING_EVENTS = 5_000  # per pool
MAX_BATCH_EVENTS = 1_000  # per transaction
MAX_LOGGED_IDS = 10  # number of attempts per failed submission


class Waiting(NamedTuple):
    """A submission waiting to be stored, with the IDs of its events and the future for its receipts."""

    submission: Submission
    event_ids: frozenset[str]
    answer: asyncio.Future[list[Receipt]]


class Queue(NamedTuple):
    """A queue of submissions to a pool, either of slow ones, which are stored one at a time, or of all others."""

    pool: str
    is_long: bool = False


class Intake:
    """Two queues per pool.

    Each submission gets a response after its own commit. A rejected or failed submission does not affect others in its
    batch. A slow submission, such as a late result, runs in parallel with later ones.
    """

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store, self._threads = store, threads
        self._queues: defaultdict[Queue, list[Waiting]] = defaultdict(list)
        self._tasks: dict[Queue, asyncio.Task[None]] = {}

    async def submit(self, pool: str, rows: Any, actor: str, match_ids: dict[str, str]) -> list[Receipt]:
        every = rows.columns["event_id"] if isinstance(rows, PlainRows) else (row["event_id"] for row in rows)
        event_ids = frozenset(every)
        if self._waiting_events_of(pool) + len(event_ids) > MAX_WAITING_EVENTS:
            raise BusyError("too many results are waiting to be stored. Send this again in a second.")
        answer: asyncio.Future[list[Receipt]] = asyncio.get_running_loop().create_future()
        self._add(Queue(pool), Waiting(Submission(rows, actor, match_ids, now()), event_ids, answer))
        return await answer

    def waiting_events(self) -> dict[str, int]:
        """Count the events that wait to be stored, by pool."""
        return {queue.pool: self._waiting_events_of(queue.pool) for queue in [*self._queues]}

    def _waiting_events_of(self, pool: str) -> int:
        queues = (self._queues.get(Queue(pool, is_long), ()) for is_long in (False, True))
        return sum(len(request.event_ids) for queue in queues for request in queue)

    def _add(self, queue: Queue, request: Waiting) -> None:
        self._queues[queue].append(request)
        if queue not in self._tasks:
            self._tasks[queue] = asyncio.create_task(self._store_all(queue))

    async def _store_all(self, queue: Queue) -> None:
        """Store a queue in batches until it is empty."""
        batch: list[Waiting] = []
        try:
            while self._queues[queue]:
                batch = self._next_batch(queue)
                for request, outcome in zip(batch, await self._outcomes(queue, batch), strict=True):
                    if isinstance(outcome, LongWorkError):  # the pool's other results go first
                        self._add(Queue(queue.pool, is_long=True), request)
                    else:
                        resolve(request, outcome)
                if queue.is_long:
                    del self._queues[queue][0]
        except BaseException as error:
            refuse_all([*batch, *self._queues[queue]], error)
            raise
        finally:
            del self._tasks[queue], self._queues[queue]

    async def _outcomes(self, queue: Queue, batch: list[Waiting]) -> Sequence[list[Receipt] | Exception]:
        """Store a batch, and return the outcome of each submission."""
        try:
            submissions = [request.submission for request in batch]
            threads = self._threads.rerating if queue.is_long else self._threads.writing
            return await run_in(threads, self._store.submit_each, queue.pool, submissions, leave_long=not queue.is_long)
        except Exception as error:  # noqa: BLE001  (only this batch fails, for example if no thread can start)
            return [error] * len(batch)

    def _next_batch(self, queue: Queue) -> list[Waiting]:
        """Take the submissions to store together, in order. A slow one stays in its queue until it is stored.

        No event appears twice, and the number of events is limited.
        """
        waiting, count, event_ids = self._queues[queue], 0, set[str]()
        if queue.is_long:
            return waiting[:1]
        for request in waiting:
            if count and (event_ids & request.event_ids or len(event_ids) + len(request.event_ids) > MAX_BATCH_EVENTS):
                break
            count += 1
            event_ids |= request.event_ids
        self._queues[queue] = waiting[count:]
        return waiting[:count]


def refuse_all(waiting: Iterable[Waiting], error: BaseException) -> None:
    for request in waiting:
        if not request.answer.done():
            request.answer.set_exception(error)


def resolve(waiting: Waiting, outcome: list[Receipt] | Exception) -> None:
    """Send the receipts or the error of a submission to its sender. Unexpected errors are logged."""
    if isinstance(outcome, Exception) and not isinstance(outcome, PodiumError):
        LOGGER.error("events %s could not be stored", sorted(waiting.event_ids)[:MAX_LOGGED_IDS], exc_info=outcome)
        outcome = UnexpectedError("the service failed to save this. Nothing is saved, and the reason is in the log.")
    if waiting.answer.done():  # the sender may have left
        return
    if isinstance(outcome, Exception):
        waiting.answer.set_exception(outcome)
    else:
        waiting.answer.set_result(outcome)


async def read_parsed(request: Request, parse: Callable[[bytes], T]) -> T:
    """Return a function's result for a request's body."""
    body = await read_bytes(request, MAX_BODY_BYTES)
    return await run_in_threadpool(parse, body) if len(body) > OFFLOAD_BYTES else parse(body)


if TYPE_CHECKING:
    Sent = Annotated[T, None]
else:

    class Sent:
        """`Sent[Model]` is the body of a request, which must fit the model."""

        def __class_getitem__(cls, model: type[BaseModel]) -> Any:
            return Annotated[model, parsed(lambda body: validate(loads(body), model), model)]


def parsed(parse: Callable[[bytes], Any], *models: type[BaseModel]) -> Any:
    """Return a dependency that parses the body of a request, which the OpenAPI document describes by these models."""

    async def read(request: Request) -> Any:
        return await read_parsed(request, parse)

    read.__dict__["models"] = models
    return Depends(read)


CurrentMetrics = Annotated[Metrics, from_state("metrics")]
CurrentWatchers = Annotated[Watchers, from_state("watchers")]
ReadAccess = Annotated[Visitor, Depends(check_reader)]  # anybody, for a public pool
KeyedReader = Annotated[str, Depends(require_role("read"))]  # name of the request's key
Writer = Annotated[str, Depends(require_role("write"))]
Admin = Annotated[str, Depends(require_role("admin"))]


@immutable
class WriterAct:
    """A write request for a pool, without the action itself."""

    request: Request
    key: Writer

    @property
    def store(self) -> Store:
        """The store."""
        return store_for(self.request)

    @property
    def threads(self) -> Threads:
        """The threads of the service."""
        threads: Threads = self.request.app.state.threads
        return threads

    async def run(self, act: Callable[..., T], *given: Any, **options: Any) -> T:
        """Run the action in a writer thread, in the name of the key."""
        return await run_in(self.threads.writing, act, *given, actor=self.key, **options)


@immutable
class AdminAct(WriterAct):
    key: Admin


RequestedWrite = Annotated[WriterAct, made_of(WriterAct)]
RequestedAct = Annotated[AdminAct, made_of(AdminAct)]
