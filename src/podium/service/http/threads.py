"""What routes work with: threads by what they are for, and the store as it is at one moment."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Annotated, Any, Final, ParamSpec, TypeVar, cast

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request, Response

from podium.store import Store

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """How many threads each kind of work has: writers may wait long for the database, and nobody else behind them.

    Reading has those of the framework, of which few run at a time.
    """

    def __init__(self) -> None:
        self.writing = CapacityLimiter(8)  # fewer than the connections to the database, so that readers have theirs
        self.rerating = CapacityLimiter(2)  # late results that move many ratings
        self.planning = CapacityLimiter(2)  # dry runs: long ones take a core
        self.uploading = CapacityLimiter(1)  # waits for the process that reads files
        self.verifying = CapacityLimiter(2)  # processes that verify signatures, which anyone may send
        self.keys = CapacityLimiter(4)
        self.watching = CapacityLimiter(2)  # the log, for streams
        self.keeping = CapacityLimiter(2)  # what is done once a minute, or as the service ends
        self.probing = CapacityLimiter(2)  # readiness and metrics


async def run_in(threads: CapacityLimiter, function: Callable[P, T], *sent: P.args, **options: P.kwargs) -> T:
    """Run a function in one of these threads, and return what it returns or raise what it raises.

    A thread that raised would keep its error, and the error what was sent, until the collector comes.
    """

    def settle() -> tuple[T | None, Exception | None]:
        try:
            return function(*sent, **options), None
        except Exception as error:  # noqa: BLE001  (raised below)
            return None, error

    return cast("T", unwrap(*await to_thread.run_sync(settle, limiter=threads)))


def unwrap(answer: T, error: Exception | None) -> T:
    """Return an answer, or raise the error that there is instead; this frame and the error do not keep each other."""
    try:
        if error is not None:
            raise error
        return answer
    finally:
        del error


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do some work while the context lasts, and no longer."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


VERSION_HEADER: Final = "Pool-Version"  # the number of the newest log entry that an answer knows of
ANSWER: Final = "_answer"  # the parameter of a route that takes its headers


def from_state(name: str) -> Any:
    """Return a dependency: a part of the service, by its name in the app's state."""

    async def part(request: Request) -> Any:  # a coroutine, so that no thread is needed for it
        return getattr(request.app.state, name)

    return Depends(part)


CurrentStore = Annotated[Store, from_state("store")]
CurrentThreads = Annotated[Threads, from_state("threads")]


def read_one_moment(route: Callable[..., Any]) -> Callable[..., Any]:
    """Let a route read its store at one moment, and say in a header which version of its pool it saw."""
    taken = signature(route)
    own = next((name for name, each in taken.parameters.items() if each.annotation is Response), None)
    if "store" not in taken.parameters or iscoroutinefunction(route):
        return route

    @wraps(route)
    def answer(**arguments: Any) -> Any:
        headers = arguments.get(own) if own else arguments.pop(ANSWER, None)  # None where the caller is no route
        with arguments["store"].at_one_moment() as view:
            found = route(**arguments | {"store": view})
            pool = arguments["visit"].pool if "visit" in arguments else arguments.get("pool")
            if pool is not None:
                answered = found if isinstance(found, Response) else headers
                if answered is not None:
                    answered.headers[VERSION_HEADER] = str(view.version(pool))
        return found

    if own is None:
        more = Parameter(ANSWER, Parameter.KEYWORD_ONLY, annotation=Response)
        answer.__signature__ = taken.replace(parameters=[*taken.parameters.values(), more])  # type: ignore[attr-defined]
    return answer


class ReadRouter(APIRouter):
    """Routes each of which reads one moment."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().add_api_route(path, read_one_moment(endpoint), **options)
