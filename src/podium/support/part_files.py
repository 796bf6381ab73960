"""Files that appear whole, or not at all; and folders that last as long as they are used.

A file is written beside where it is to be, and renamed in the end. What a killed service left over of its folders is
removed at the next start.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from podium.errors import PodiumError


@contextmanager
def part_file(
    target: Path,
    error: Callable[[str], PodiumError],
    *,
    accept: Callable[[Path], None] | None = None,
    side_files: tuple[str, ...] = (),
    private: bool = False,
) -> Iterator[Path]:
    """A path beside another to write to; at the end it takes the other's place, and after an error it is gone.

    It is on the disk before its name is, and its name before the context ends. A link goes on to lead to the file.

    Args:
        private: create it for its owner alone; a file that is replaced passes its mode on either way.
    """
    file = target.resolve()
    if not file.parent.is_dir():
        raise error(f"{target}: cannot be written (there is no folder {target.parent})")
    if file.exists() and not file.is_file():  # such as a device, which renaming would replace
        raise error(f"{target}: cannot be written (it is no file)")
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        if private:
            create_private(part)
        yield part
        if file.exists():
            shutil.copymode(file, part)
        synchronise(part)
        if accept is not None:
            accept(target)
        part.replace(file)
        if os.name == "posix":  # where folders can be synchronised
            synchronise(file.parent)
    except Exception as failure:
        if not isinstance(failure, OSError) and "(os error" not in str(failure):  # as Polars says it
            raise
        raise error(f"{target}: cannot be written ({getattr(failure, 'strerror', '') or failure})") from failure
    finally:
        for ending in ("", *side_files):
            with suppress(OSError):
                part.with_name(part.name + ending).unlink()


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read and write; a file that exists keeps its mode."""
    os.close(os.open(path, os.O_CREAT, 0o600))


def remove_unfinished(folder: Path) -> None:
    """Remove what writers left in a folder that were killed; nobody else may be writing there."""
    for path in folder.glob(".*.part"):
        with suppress(OSError):
            path.unlink()


def synchronise(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


try:
    import fcntl
except ImportError:  # on Windows, where nothing tells a folder that is used from another
    fcntl = None  # type: ignore[assignment]

PREFIX = "podium-service-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is locked while it is used, which tells it from what a killed service left over."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        taken = lock(Path(folder))
        try:
            yield Path(folder)
        finally:
            if taken is not None:
                os.close(taken)


def remove_left_over() -> None:
    """Remove the folders that no service uses any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # locked, of another user, or removed by another service meanwhile
            taken = lock(folder)
            if taken is not None:
                shutil.rmtree(folder)
                os.close(taken)


def lock(folder: Path) -> int | None:
    """Lock a folder until what is returned is closed; None where no system lock exists, an error where it is locked."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor
