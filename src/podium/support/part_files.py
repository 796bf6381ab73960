"""Files that appear whole, or not at all: written beside where they are to be, and renamed in the end."""

import os
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
) -> Iterator[Path]:
    """A path beside another to write to; at the end it takes the other's place, and after an error it is gone.

    It is on the disk before its name is, and its name before the context ends.
    """
    if not target.resolve().parent.is_dir():
        raise error(f"{target}: cannot be written (there is no folder {target.parent})")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        synchronise(part)
        if accept is not None:
            accept(target)
        part.replace(target)
        if os.name == "posix":  # where folders can be synchronised
            synchronise(target.resolve().parent)
    except OSError as failure:
        raise error(f"{target}: cannot be written ({failure.strerror or failure})") from failure
    finally:
        for ending in ("", *side_files):
            with suppress(OSError):
                part.with_name(part.name + ending).unlink()


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
