"""Files that commands write and read: tables by their suffix, texts; each appears whole or not at all."""

import json
import os
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from podium.errors import OutputError, ParameterError
from podium.reporting.players import as_text
from podium.support.part_files import part_file

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".csv", ".parquet", ".json", ".jsonl")


def check_output(path: Path) -> None:
    """Check that a table can be written to a path, before the work that leads to it.

    Raises:
        OutputError: its suffix names no format, or its folder does not exist.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    if not path.resolve().parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}")


def write_table(frame: "pl.DataFrame", path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a frame by the path's suffix.

    Floats are written as the shortest text that reads back to the same bits. Only Parquet keeps the metadata.

    Raises:
        OutputError: the file cannot be written.
    """
    with part_file(path, OutputError) as part:
        match path.suffix.lower():
            case ".parquet":
                frame.write_parquet(part, metadata=metadata)
            case ".csv":
                as_text(frame).write_csv(part)
            case ".json":
                as_text(frame).write_json(part)
            case _:
                as_text(frame).write_ndjson(part)


def write_text(text: str, path: Path) -> None:
    """Write a file.

    Raises:
        OutputError: it cannot be written.
    """
    with part_file(path, OutputError) as part:
        part.write_text(text, encoding="utf-8")


def unused_path(path: Path) -> Path:
    """The path, or where something is there the first of name-2, name-3, … where nothing is."""
    candidates = chain([path], (path.with_stem(f"{path.stem}-{number}") for number in count(2)))
    return next(each for each in candidates if not os.path.lexists(each))


def read_table(path: Path) -> "pl.DataFrame":
    """A table by the path's suffix.

    Raises:
        ParameterError: it cannot be read.
    """
    import polars as pl

    readers = {
        ".csv": lambda: pl.read_csv(path, schema_overrides=dict.fromkeys(("event_id", "player", "name"), pl.String)),
        ".parquet": lambda: pl.read_parquet(path),
        ".json": lambda: pl.DataFrame(json.loads(path.read_text(encoding="utf-8"))),
        ".jsonl": lambda: pl.read_ndjson(path),
    }
    if path.suffix not in readers:
        raise ParameterError(f"{path}: the suffix must be one of {', '.join(readers)}")
    try:
        return readers[path.suffix]()
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise ParameterError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from None
