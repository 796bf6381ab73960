"""What the command line prints: tables for people, CSV and JSON for programs, and how far work has come."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from podium.reporting.cells import as_text, cell

if TYPE_CHECKING:
    import polars as pl

PROGRESS_AFTER_S = 1.0  # work longer than this shows a progress bar


class Format(StrEnum):
    """What to print."""

    table = "table"
    csv = "csv"
    json = "json"


def show(frame: "pl.DataFrame", form: Format, title: str = "", *, max_rows: int | None = None) -> None:
    """Print a frame; as a table for people, at most so many rows of it, and how to see the rest."""
    if form is Format.csv:
        sys.stdout.write(as_text(frame).write_csv())
    elif form is Format.json:
        sys.stdout.write(as_text(frame).write_json() + "\n")
    else:
        show_table(frame if max_rows is None else frame.head(max_rows), title)
        if max_rows is not None and frame.height > max_rows:
            sys.stdout.write(f"… and {frame.height - max_rows} more; --format csv shows them all\n")


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
        table.add_row(*(Text(cell(value)) for value in row))
    console = Console(soft_wrap=False)
    if not console.is_terminal:
        console = Console(width=max(80, sum(max(16, len(name)) + 3 for name in frame.columns) + 40))
    console.print(table)


@contextmanager
def progress(*steps: str) -> Iterator["Steps"]:
    """A progress bar on stderr over named steps; it shows itself only when the work takes over a second."""
    bar = Steps(steps)
    timer = threading.Timer(PROGRESS_AFTER_S, bar.appear)
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
        self.steps, self.completed = steps, 0
        self._bar: Any = None
        self._lock = threading.Lock()

    def next(self) -> None:
        """Count a step as completed."""
        self.reach(self.completed + 1)

    def reach(self, completed: int) -> None:
        """Count so many steps as completed."""
        self.completed = completed
        with self._lock:
            if self._bar is not None:
                self._bar.update(0, completed=self.completed, description=self.name())

    def name(self) -> str:
        """The step under way."""
        return self.steps[min(self.completed, len(self.steps) - 1)]

    def appear(self) -> None:
        """Show the bar, to a person: a program reading stderr wants only what went wrong."""
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self.name(), total=len(self.steps), completed=self.completed)
            self._bar.start()

    def vanish(self) -> None:
        """Take the bar away."""
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
