"""The files that results are read from, and whether they are as they were."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import Fault, ResultsError
from podium.results.slices import is_folder, is_parquet, parquet_files

PARQUET = b"PAR1"
TAIL = 8  # bytes after a Parquet file's footer: its length, and the mark


class SourceFile(NamedTuple):
    """A file, and what tells that it is another now."""

    name: str
    size: int  # bytes
    modified_ns: int  # since 1970
    footer: str  # digest of a Parquet file's footer: its rows, where they stand, least and greatest values


def source_files(source: Any) -> list[SourceFile] | None:
    """The Parquet files of a path in the order of reading; None of what is no path of a folder or a Parquet file.

    Raises:
        ResultsError: a file cannot be read, or there is none.
    """
    if is_folder(source):
        return [fingerprint(name, path) for name, path in parquet_files(Path(source)).items()]
    return [fingerprint(Path(source).name, Path(source))] if is_parquet(source) else None


def fingerprint(name: str, path: Path) -> SourceFile:
    """What tells that a file is another.

    Raises:
        ResultsError: it cannot be read.
    """
    try:
        status = path.stat()
        with path.open("rb") as file:
            file.seek(max(status.st_size - TAIL, 0))
            tail = file.read()
            length = int.from_bytes(tail[:4], "little") if tail[4:] == PARQUET else 0
            file.seek(max(status.st_size - TAIL - length, 0))
            footer = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except OSError as error:
        raise ResultsError(name, [Fault(None, None, None, f"cannot be read ({error.strerror or error})")]) from None
    return SourceFile(name, status.st_size, status.st_mtime_ns, footer)


def difference(before: Sequence[SourceFile], now: Sequence[SourceFile]) -> str | None:
    """What is different of files, as a part of a sentence; None where nothing is."""
    known, present = ({each.name: each for each in files} for files in (before, now))
    for name in known.keys() - present.keys():
        return f"{name} is gone"
    for name in present.keys() - known.keys():
        return f"{name} is new"
    return next((f"{name} has changed" for name in known if known[name] != present[name]), None)
