"""What the command line prints: tables for people, CSV and JSON for programs, and how far work has come."""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from podium.errors import ParameterError
from podium.support.words import as_text

if TYPE_CHECKING:
    import polars as pl

PROGRESS_AFTER_S = 1.0  # work longer than this shows a progress bar


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"


def show(
    frame: "pl.DataFrame", form: Format, title: str = "", *, max_rows: int | None = None, columns: str | None = None
) -> None:
    """Print a frame; as a table for people, at most so many rows of it, and how to see the rest."""
    chosen = frame if columns is None else chosen_columns(frame, columns)
    if form is Format.csv:
        sys.stdout.write(as_text(chosen).write_csv())
    elif form is Format.json:
        sys.stdout.write(as_text(chosen).write_json() + "\n")
    else:
        shown = chosen if max_rows is None else chosen.head(max_rows)
        show_table(chosen, shown, title, whole=columns is not None)
        if shown.height < frame.height:
            sys.stdout.write(f"… and {frame.height - shown.height:,} more; --format csv shows them all\n")
        if title:  # another table may follow
            sys.stdout.write("\n")


def chosen_columns(frame: "pl.DataFrame", names: str) -> "pl.DataFrame":
    if names.strip() == "all":
        return frame
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in frame.columns:
            hint = did_you_mean(name, frame.columns)
            raise ParameterError(f"--columns {name}: is no column{hint} (there are {', '.join(frame.columns)})")
    return frame.select(list(dict.fromkeys(wanted)) or frame.columns)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The known name that a misspelt one most likely means, to end a sentence; nothing where none is near."""
    near = get_close_matches(name.strip().lower(), known, 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def show_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def show_table(frame: "pl.DataFrame", shown: "pl.DataFrame", title: str, *, whole: bool) -> None:
    """Print rows of a frame as aligned text under a title; where `whole`, with every column, however wide."""
    from podium.cli.terminal import tables

    console = tables.console()
    if whole:
        layout = tables.Layout([tables.as_column(shown[name]) for name in shown.columns])
    else:
        layout = tables.lay_out(frame, shown, tables.room(console))
    if title:
        sys.stdout.write(f"{title}\n")
    sys.stdout.write(tables.table_text(layout, console))


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
        self.reach(self.completed + 1)

    def reach(self, completed: int) -> None:
        self.completed = completed
        with self._lock:
            if self._bar is not None:
                self._bar.update(0, completed=self.completed, description=self.name())

    def name(self) -> str:
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
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
