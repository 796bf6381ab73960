"""Folders that last as long as they are used; what a killed service left over of them is removed at the next start."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows, where nothing tells a folder that is used from another
    fcntl = None  # type: ignore[assignment]

PREFIX = "podium-service-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is locked while it is used, which tells it from what a killed service left over."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        lock = try_to_lock(Path(folder))
        try:
            yield Path(folder)
        finally:
            if lock is not None:
                os.close(lock)


def remove_left_over() -> None:
    """Remove the folders that no service uses any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # of another user, or removed by another service meanwhile
            lock = try_to_lock(folder)
            if lock is not None:
                shutil.rmtree(folder)
                os.close(lock)


def try_to_lock(folder: Path) -> int | None:
    """Lock a folder until what is returned is closed; None where it is locked, or the system has no such locks."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
