"""How results leave the command line: tables for people, CSV and JSON for programs, files by their suffix."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import PodiumError

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".csv", ".parquet", ".json", ".jsonl")
PATIENCE_S = 1.0  # work longer than this shows a progress bar


class Format(StrEnum):
    """What to print."""

    table = "table"
    csv = "csv"
    json = "json"


class OutputError(PodiumError, OSError):
    """A file could not be written."""


def checked_output(path: Path | None) -> Path | None:
    """The path, if its suffix names a format that can be written.

    Raises:
        OutputError: it does not, or its folder does not exist.
    """
    if path is None:
        return None
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    if not path.resolve().parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}")
    return path


def as_text(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame with instants as ISO 8601 texts, for formats that have none."""
    import polars as pl

    instants = [name for name, kind in frame.schema.items() if kind == pl.Datetime]
    return frame.with_columns(pl.col(instants).dt.strftime("%Y-%m-%dT%H:%M:%S%.fZ")) if instants else frame


def write(frame: "pl.DataFrame", path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a frame by the path's suffix; the file appears whole or not at all.

    Floats are written as the shortest text that reads back to the same bits. Only Parquet keeps the metadata.

    Raises:
        OutputError: the file cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    writers = {
        ".parquet": lambda: frame.write_parquet(part, metadata=metadata),
        ".csv": lambda: as_text(frame).write_csv(part),
        ".json": lambda: as_text(frame).write_json(part),
        ".jsonl": lambda: as_text(frame).write_ndjson(part),
    }
    try:
        writers[path.suffix.lower()]()
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_text(text: str, path: Path) -> None:
    """Write a file, whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error


def unused_path(path: Path) -> Path:
    """The path, or where something is there the first of name-2, name-3, … where nothing is."""
    candidates = chain([path], (path.with_stem(f"{path.stem}-{number}") for number in count(2)))
    return next(each for each in candidates if not os.path.lexists(each))


def show(frame: "pl.DataFrame", form: Format, title: str = "", *, most: int | None = None) -> None:
    """Print a frame; as a table for people, at most so many rows of it, and how to see the rest."""
    if form is Format.csv:
        sys.stdout.write(as_text(frame).write_csv())
    elif form is Format.json:
        sys.stdout.write(as_text(frame).write_json() + "\n")
    else:
        show_table(frame if most is None else frame.head(most), title)
        if most is not None and frame.height > most:
            sys.stdout.write(f"… and {frame.height - most} more; --format csv shows them all\n")


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def show_table(frame: "pl.DataFrame", title: str = "") -> None:
    """Print a frame as a table, floats to two places, wide enough never to lose a column to a pipe."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold")
    for name, kind in frame.schema.items():
        table.add_column(name, justify="right" if kind.is_numeric() else "left", no_wrap=kind.is_numeric())
    for row in frame.iter_rows():
        table.add_row(*(Text(in_cell(value)) for value in row))
    console = Console(soft_wrap=False)
    if not console.is_terminal:
        console = Console(width=max(80, sum(max(16, len(name)) + 3 for name in frame.columns) + 40))
    console.print(table)


def in_cell(value: object) -> str:
    """A value as people read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1.0 else f"{value:,.2f}"
    if hasattr(value, "strftime"):
        return str(value.strftime("%Y-%m-%d %H:%M"))
    return str(value)


@contextmanager
def progress(*steps: str) -> Iterator["Steps"]:
    """A progress bar on stderr over named steps; it shows itself only when the work takes over a second."""
    bar = Steps(steps)
    timer = threading.Timer(PATIENCE_S, bar.appear)
    timer.daemon = True
    timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        bar.vanish()


class Steps:
    """The progress of work in named steps."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        self.steps, self.done = steps, 0
        self._bar: Any = None
        self._lock = threading.Lock()

    def next(self) -> None:
        """A step is done."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """So many steps are done."""
        self.done = done
        with self._lock:
            if self._bar is not None:
                self._bar.update(0, completed=self.done, description=self.name())

    def name(self) -> str:
        """What is being done."""
        return self.steps[min(self.done, len(self.steps) - 1)]

    def appear(self) -> None:
        """Show the bar, to a person: a program reading stderr wants only what went wrong."""
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self.name(), total=len(self.steps), completed=self.done)
            self._bar.start()

    def vanish(self) -> None:
        """Take the bar away."""
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
