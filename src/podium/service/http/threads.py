"""Threads by what they are for: writers may wait long for the database, and nobody else waits behind them."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from anyio import CapacityLimiter, to_thread

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """How many threads each kind of work has; reading has those of the framework, of which few run at a time."""

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
