"""Python's collector of cycles, kept from what stays or is about to go: it would look through it again and again."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 1  # generations of objects that are looked through where pauses follow upon each other
SERVICE_OBJECTS = 50_000  # that are new before a service looks through them; the answer to a large batch has fewer
LEFT_OBJECTS = 500_000  # that are new and still there before pauses that follow upon each other are looked through


def keep_loaded() -> None:
    """Let a service keep all that is loaded by now: no collection looks at it again, nor at every answer it makes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(SERVICE_OBJECTS)


class Pauses:
    """Pauses of the collector, of any threads; it goes on once the last has ended, if it was on before the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count, self._was_on = 0, False

    def begin(self) -> None:
        with self._lock:
            if not self._count:
                self._was_on = gc.isenabled()
                gc.disable()
            self._count += 1

    def end(self) -> None:
        """End one; where others go on, what all have left is looked through once it is much: most of it is in use."""
        with self._lock:
            self._count -= 1
            is_last = not self._count
            if is_last and self._was_on:
                gc.enable()
        if not is_last and gc.get_count()[0] > LEFT_OBJECTS:  # which counts on while the collector is off
            gc.collect(YOUNG)


PAUSES = Pauses()


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the collector; for work that ends soon, and leaves hardly a cycle."""
    PAUSES.begin()
    try:
        yield
    finally:
        PAUSES.end()
