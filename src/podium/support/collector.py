"""Memory: Python's garbage collector, the memory available to a process, and the size of values.

The collector should not repeatedly scan objects that will stay in memory or are about to be freed.
"""

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

YOUNG = 1  # the youngest generations, which are scanned between consecutive pauses
SERVICE_OBJECTS = 50_000  # number of new objects that starts a scan in a service; the answer to a large batch has fewer
LEFT_OBJECTS = 500_000  # number of surviving new objects that starts a scan between consecutive pauses
M_MMAP_THRESHOLD, LARGE_BYTES = -3, 1 << 20  # the option's number in malloc.h, and more than the answer to a batch


def keep_loaded() -> None:
    """Exclude all objects that a service has loaded from future collections, and run collections less often.

    Also return the memory of large arrays to the system as soon as they are freed. By default, glibc raises its limit
    for this with each freed array, and keeps them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(SERVICE_OBJECTS)
    with suppress(AttributeError, OSError, TypeError):  # other systems have no such function
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)


class Pauses:
    """Pauses of the collector, by any thread. It resumes after the last pause if it was on before the first one."""

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
        """End a pause. If other pauses continue, scan the remaining objects when there are many."""
        with self._lock:
            self._count -= 1
            is_last = not self._count
            if is_last and self._was_on:
                gc.enable()
        if not is_last and gc.get_count()[0] > LEFT_OBJECTS:  # counting continues while the collector is off
            gc.collect(YOUNG)


PAUSES = Pauses()


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the collector for short work that leaves hardly any cycles."""
    PAUSES.begin()
    try:
        yield
    finally:
        PAUSES.end()


SAMPLE = 8  # number of elements to measure in a long list
UNKNOWN_MEMORY = 2 << 30  # assumed memory if the machine does not report it
GROUPS = Path("/proc/self/cgroup")
GROUP_FILES = {"": "/sys/fs/cgroup{}/memory.max", "memory": "/sys/fs/cgroup/memory{}/memory.limit_in_bytes"}


def allowed_memory() -> int:
    """Return how many bytes of memory this process can use: all of the machine's, or fewer if a container limits it."""
    found = UNKNOWN_MEMORY
    with suppress(AttributeError, ValueError, OSError):
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError):
        for line in GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in {*controllers.split(",")} & {*GROUP_FILES}:
                for group in {"", *(str(parent).rstrip("/") for parent in (Path(path), *Path(path).parents))}:
                    with suppress(OSError, ValueError):  # "max" if there is no limit
                        found = min(found, int(Path(GROUP_FILES[controller].format(group)).read_text()))
    return found


PLAIN = str, bytes, int, float, type(None)


def size_of(value: Any) -> int:
    """Return the approximate size of a value in bytes. A long list is extrapolated from its first elements."""
    own = sys.getsizeof(value, 0)
    if isinstance(value, PLAIN):
        return own
    if hasattr(value, "estimated_size"):  # a table
        return int(value.estimated_size())
    if hasattr(value, "nbytes"):  # an array, perhaps a view
        return max(own, int(value.nbytes))
    if isinstance(value, Mapping):
        parts = [item for pair in [*value.items()][:SAMPLE] for item in pair]
        return own + scaled(parts, 2 * len(value))
    if isinstance(value, list | tuple | set | frozenset):
        return own + scaled([*value][:SAMPLE], len(value))
    if is_dataclass(value) and not isinstance(value, type):
        return own + sum(size_of(getattr(value, attribute.name)) for attribute in fields(value))
    return own


def scaled(parts: list[Any], count: int) -> int:
    """Return the approximate size of `count` values, extrapolated from some of them."""
    return sum(map(size_of, parts)) * count // max(len(parts), 1)
