"""Files that are written atomically, and temporary folders that exist only while they are in use.

A file is written next to its target and renamed at the end. If a service is killed, its folders are removed the next
time it starts.
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
    """Yield a path to write to. At the end, the file replaces the target. After an error, it is deleted.

    The content reaches the disk before the name does, and the name before the context ends. Links still point to the
    file.

    Args:
        private: True to create a file that only its owner can read. If the target exists, its mode is preserved.
    """
    file = target.resolve()
    if not file.parent.is_dir():
        raise error(f"{target}: cannot be written (there is no folder {target.parent})")
    if file.exists() and not file.is_file():  # for example a device, which renaming would replace
        raise error(f"{target}: cannot be written (it is not a file)")
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
        if os.name == "posix":  # folders can be synchronised only there
            synchronise(file.parent)
    except Exception as failure:
        if not isinstance(failure, OSError) and "(os error" not in str(failure):  # Polars' wording
            raise
        raise error(f"{target}: cannot be written ({getattr(failure, 'strerror', '') or failure})") from failure
    finally:
        for ending in ("", *side_files):
            with suppress(OSError):
                part.with_name(part.name + ending).unlink()


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can read. An existing file keeps its mode."""
    os.close(os.open(path, os.O_CREAT, 0o600))


def remove_unfinished(folder: Path) -> None:
    """Delete the files that killed writers left in a folder. Nobody may be writing there."""
    for path in folder.glob(".*.part"):
        with suppress(OSError):
            path.unlink()


def synchronise(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


try:
    import fcntl
except ImportError:  # on Windows, where a used folder cannot be recognised
    fcntl = None  # type: ignore[assignment]

PREFIX = "podium-service-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that is locked while in use. The lock distinguishes it from the folders of killed services."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder, in_use(Path(folder)):
        yield Path(folder)


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Mark a temporary folder as used by this process too, so that it stays if the process that made it is killed."""
    taken = lock(folder, shared=True)
    try:
        yield
    finally:
        if taken is not None:
            os.close(taken)


def remove_left_over() -> None:
    """Delete the folders that no service uses any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # locked, another user's, or already removed
            taken = lock(folder)
            if taken is not None:
                shutil.rmtree(folder)
                os.close(taken)


def lock(folder: Path, *, shared: bool = False) -> int | None:
    """Lock a folder until the returned descriptor is closed. Return None on systems without locks.

    Args:
        shared: True if other processes may lock the folder in the same way.

    Raises:
        BlockingIOError: The folder is locked.
    """
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor
