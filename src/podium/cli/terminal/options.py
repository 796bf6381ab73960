"""Options that several commands share."""

import json
import os
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.terminal.settings import from_settings
from podium.cli.terminal.show import Format
from podium.errors import OutputError, ParameterError
from podium.importers.registry import FORMATS
from podium.results.column_guide import COLUMNS
from podium.support.cells import as_text
from podium.support.part_files import part_file

if TYPE_CHECKING:
    import polars as pl


def complete_system(incomplete: str) -> list[str]:
    """Podium's own systems."""
    from podium.systems import names

    return [name for name in names() if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """The formats of files."""
    return [name for name in FORMATS if name.startswith(incomplete)]


def complete_shape_or_format(incomplete: str) -> list[str]:
    """What a command can print, and the formats of files."""
    return [name for name in (*Format, *FORMATS) if name.startswith(incomplete)]


def complete_column(incomplete: str) -> list[str]:
    """The columns of a results table."""
    return [column.name for column in COLUMNS if column.name.startswith(incomplete)]


SystemName = Annotated[
    str | None,
    typer.Option(
        "--system",
        "-s",
        metavar="NAME",
        help="The rating system: a name (`podium systems` lists them), elo:k=20, or my.py:Class; if not given, what "
        "PODIUM_SYSTEM or podium.toml says, else elo.",
        autocompletion=complete_system,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter; none switches off what can be. May repeat."),
]
SystemFile = Annotated[
    Path | None, typer.Option("--system-file", metavar="TOML", help="Load the system's name and parameters.")
]
Period = Annotated[
    str,
    typer.Option(
        "--period",
        metavar="SPAN",
        help="When ratings settle: event, 1d, 1w, 1mo, or a multiple.",
        callback=from_settings("period"),
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="RATINGS",
        help="Continue from these ratings: what --ratings wrote (.parquet keeps every state whole), or a table with "
        "pool, player, rating and what else is known.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAME,...",
        help="Show these columns, or all; if not given, those that fit and say something.",
    ),
]
Shape = Annotated[Format, typer.Option("--format", "-f", help="What to print.")]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Who does the pools of a dataset: local, processes or dask. If not given, processes for many rows.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="The scheduler of Dask, such as tcp://10.0.0.5:8786. Without one, --engine dask starts two workers here.",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="Processes, or workers of Dask here, for a dataset.")
]


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
    """A table by the path's suffix."""
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
