"""Memory: Python's collector of cycles, how much a process may use, and how much a value takes.

The collector is kept from what stays or is about to go: it would look through it again and again.
"""

import gc
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

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


SAMPLE = 32  # elements of a long list that are measured
UNKNOWN_MEMORY = 2 << 30  # of a machine that does not say how much it has
GROUPS = Path("/proc/self/cgroup")
GROUP_FILES = {"": "/sys/fs/cgroup{}/memory.max", "memory": "/sys/fs/cgroup/memory{}/memory.limit_in_bytes"}


def allowed_memory() -> int:
    """Return how many bytes of memory this process may use: the machine's, or fewer if its container has a limit."""
    found = UNKNOWN_MEMORY
    with suppress(AttributeError, ValueError, OSError):
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError):
        for line in GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in {*controllers.split(",")} & {*GROUP_FILES}:
                for group in {"", *(str(each).rstrip("/") for each in (Path(path), *Path(path).parents))}:
                    with suppress(OSError, ValueError):  # "max" if there is no limit
                        found = min(found, int(Path(GROUP_FILES[controller].format(group)).read_text()))
    return found


def size_of(value: Any) -> int:
    """Return about how many bytes a value takes; of a long list, as much as its first elements let expect."""
    if hasattr(value, "estimated_size"):  # a table
        return int(value.estimated_size())
    own = sys.getsizeof(value, 0)
    if isinstance(value, str | bytes | int | float | None):
        return own
    if hasattr(value, "nbytes"):  # an array, perhaps a view
        return max(own, int(value.nbytes))
    if isinstance(value, Mapping):
        parts = [each for pair in [*value.items()][:SAMPLE] for each in pair]
        return own + scaled(parts, 2 * len(value))
    if isinstance(value, list | tuple | set | frozenset):
        return own + scaled([*value][:SAMPLE], len(value))
    if is_dataclass(value) and not isinstance(value, type):
        return own + sum(size_of(getattr(value, each.name)) for each in fields(value))
    return own


def scaled(parts: list[Any], count: int) -> int:
    """Return about how many bytes so many values take if these are some of them."""
    return sum(map(size_of, parts)) * count // max(len(parts), 1)
