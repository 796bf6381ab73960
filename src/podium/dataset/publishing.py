"""Folders that appear whole, or not at all: built beside where they are to be, and renamed in the end."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podium.dataset.storage import Storage, is_url
from podium.errors import OutputError
from podium.support.part_files import synchronise


@contextmanager
def new_folder(target: Storage, mark: str, *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write to; at the end it takes the place of another, and after an error it is gone.

    Of an address it is a folder of this machine, whose files are sent in the end, the one called `mark` last.

    Args:
        target: where the folder is to be; nothing may be there, or an empty folder.
        mark: a file that every such folder has; only a folder that has it is ever replaced.
        overwrite: whether to replace one that is there.

    Raises:
        OutputError: something else is there, or it cannot be written.
    """
    refuse_existing(target, mark, overwrite=overwrite)
    if is_url(target.uri):
        with tempfile.TemporaryDirectory(prefix="podium-") as room:
            yield Path(room)
            send(Storage(room), target, mark)
        return
    final = Path(target.uri)
    building = final.with_name(f".{final.name}.{os.getpid()}.part")
    former = final.with_name(f".{final.name}.{os.getpid()}.former")
    try:
        building.mkdir()
        yield building
        if overwrite and final.exists():
            final.rename(former)
        building.rename(final)
        if os.name == "posix":
            synchronise(final.parent)
    except OSError as failure:
        if isinstance(failure, OutputError):
            raise
        raise OutputError(f"{final}: cannot be written ({failure.strerror or failure})") from failure
    finally:
        shutil.rmtree(building, ignore_errors=True)
        if former.exists() and not final.exists():
            former.rename(final)
        shutil.rmtree(former, ignore_errors=True)


def refuse_existing(target: Storage, mark: str, *, overwrite: bool) -> None:
    """Refuse to write where something is.

    Raises:
        OutputError: it is a file, or a folder that is not empty and may not be replaced.
    """
    if not is_url(target.uri):
        final = Path(target.uri)
        if final.exists() and not final.is_dir():
            raise OutputError(f"{final}: is a file; name a new folder")
        if not final.parent.is_dir():
            raise OutputError(f"{final}: cannot be written (there is no folder {final.parent})")
    first = next(target.files(), None)
    if first is None:
        return
    if not overwrite:
        raise OutputError(f"{target.uri}: is not empty (it holds {first}); name a new folder, or say --overwrite")
    if mark not in target.files():
        raise OutputError(f"{target.uri}: is not empty and has no {mark}, so that nothing there is replaced; remove it")


def send(source: Storage, target: Storage, mark: str) -> None:
    """Copy a folder of this machine to an address, in whose stead it is from when its last file is there.

    Raises:
        OutputError: it cannot be written.
    """
    target.remove()
    for path in sorted(source.files(), key=lambda each: (each == mark, each)):
        target.write(path, source.read(path))
