"""Tables for reading: aligned text that fits the terminal, designed for 80 columns.

Columns that identify a row never shrink. Columns without values or interest are left out, and columns with a single
value are named below the table. Headings are plain words, and deviations are margins as on pages. Podium makes a table
that is still too wide narrower: it shortens dates to days, breaks headings, removes dates, wraps texts, and removes
columns on the right, in this order. Columns that are left out are named below the table.
"""

import json
import os
import re
import sys
import textwrap
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from podium.errors import ParameterError
from podium.support.words import as_text, column_texts, suggestion

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from podium.ledger.reasons import Explanation
    from podium.ledger.reasons.totals import ReasonTotals
    from podium.ledger.reasons.what_if import WhatIf


DESIGN_WIDTH = 80
GAP = 2  # blanks between columns
NARROWEST_WORDS = 24  # of a column of words
IDENTITY = frozenset(
    {"rank", "player", "rating", "system", "event_id", "name", "id", "opponent", "subject", "seq", "delta", "into"}
)
UNINTERESTING = ("last_event_id", "peak", "volatility")  # in a table only with --columns
HEADINGS = {
    "deviation": "±",
    "last_played_at": "last played",
    "started_at": "started",
    "event_id": "event",
    "mean_rank": "expected place",
}
WIDE_MARGIN = 20.0  # points; narrower margins have decimals
NUMBER = re.compile(r"\(?[\d.]+\)?|[<>]?\d+\s?%|·|")  # as text, such as points in brackets
WHOLE_DAY, MINUTE = "%Y-%m-%d", "%Y-%m-%d %H:%M"
TERMINAL_VARIABLES = {"COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}  # read by Rich
UNSAID = {"pool": "default"}  # values that are not mentioned


@dataclass
class Column:
    name: str
    texts: list[str]
    is_number: bool
    days: list[str] | None = None  # times as text, shortened to the day
    heading: str = ""
    widest: int | None = None  # of a column of words on several lines

    @property
    def natural(self) -> int:
        """The width that the texts and the heading need."""
        return max(cells_of(line) for text in (self.heading, *self.texts) for line in text.split("\n"))

    @property
    def width(self) -> int:
        return self.natural if self.widest is None else min(self.natural, self.widest)


@dataclass
class Layout:
    """The displayed columns of a frame, and the columns that are left out."""

    columns: list[Column]
    constant: Mapping[str, str] = field(default_factory=dict)  # value by column, for columns with one value
    left_out: list[str] = field(default_factory=list)  # columns left out for lack of space

    @property
    def width(self) -> int:
        return sum(column.width + GAP for column in self.columns) - GAP

    def leave_out(self, name: str) -> None:
        self.columns = [column for column in self.columns if column.name != name]
        self.left_out.append(name)


def lay_out(frame: "pl.DataFrame", shown: "pl.DataFrame", width: int | None) -> Layout:
    hidden = {name for name in frame.columns if frame.height and is_empty(frame[name])}
    left_out = [name for name in UNINTERESTING if name in frame.columns and name not in hidden]
    hidden |= set(left_out)
    constant = {  # columns with one value in several rows, unless they identify rows
        name: displayed_column(frame[name].head(1)).texts[0].removeprefix("±")
        for name in frame.columns
        if frame.height > 1 and name not in hidden | IDENTITY and frame[name].n_unique() == 1
    }
    hidden |= constant.keys()
    columns = [displayed_column(shown[name]) for name in frame.columns if name not in hidden]
    if not columns:
        return fit(Layout([displayed_column(shown[name]) for name in frame.columns]), width)
    named = {heading_of(name): text for name, text in constant.items() if UNSAID.get(name) != text}
    return fit(Layout(columns, named, left_out), width)


def heading_of(name: str) -> str:
    """Return the heading that a column has in tables."""
    return HEADINGS.get(name, name.replace("_", " "))


def displayed_column(series: "pl.Series") -> Column:
    """Return a column as tables show it: with a plain heading, and with deviations as margins."""
    from podium.pages.numbers import SIGMAS, deviation

    column = as_column(series)
    if series.name == "deviation":
        values = series.to_list()
        digits = 0 if any(SIGMAS * value >= WIDE_MARGIN for value in values if value is not None) else 2
        column.texts = ["" if value is None else deviation(value, digits) for value in values]
    column.heading = heading_of(series.name)
    return column


def as_column(series: "pl.Series") -> Column:
    """Return a column as strings. Times show the time of day only if it is not 00:00 everywhere."""
    days = None
    if str(series.dtype) == "UInt64":  # one bit per recent event; show the number of set bits
        series = series.bitwise_count_ones()
    texts = column_texts(series, MINUTE)
    if series.dtype.is_temporal():
        days = column_texts(series, WHOLE_DAY)
        if all(not text or text.endswith(" 00:00") for text in texts):
            texts = days
    is_number = series.dtype.is_numeric() or all(map(NUMBER.fullmatch, texts))
    return Column(series.name, texts, is_number, days, series.name)


def is_empty(series: "pl.Series") -> bool:
    """Return True if no row has a value. Empty strings and False count as no value."""
    return all(value is None or value is False or value == "" for value in series.unique().to_list())


def fit(layout: Layout, width: int | None) -> Layout:
    """Shrink the layout step by step until it fits."""
    for step in (with_days, with_folded_headings):
        if width is None or layout.width <= width:
            return layout
        layout.columns = [step(column) for column in layout.columns]
    while width is not None and layout.width > width:
        names = [column.name for column in layout.columns]
        words = [column for column in layout.columns if column.name not in IDENTITY and not column.is_number]
        wordy = [
            column for column in words if column.width > NARROWEST_WORDS and any(" " in text for text in column.texts)
        ]
        if "last_played_at" in names:
            layout.leave_out("last_played_at")
        elif wordy:
            widest = max(wordy, key=lambda column: column.width)
            widest.widest = max(NARROWEST_WORDS, widest.width - (layout.width - width))
        else:
            spare = [name for name in names if name not in IDENTITY]
            if not spare:
                break
            layout.leave_out(spare[-1])
    return layout


def with_days(column: Column) -> Column:
    """Return the column, with times shortened to the day."""
    return column if column.days is None else replace(column, texts=column.days)


def with_folded_headings(column: Column) -> Column:
    """Return the column, with the heading broken between words if it is wider than the texts."""
    below = replace(column, heading="").natural
    lines = textwrap.wrap(column.heading, max(below, *map(len, column.heading.split())))
    return replace(column, heading="\n".join(lines))


def cells_of(text: str) -> int:
    """Return the number of terminal cells in a line."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def console() -> "Console | None":
    """Return the terminal, or None if there is no terminal.

    Without a terminal, tables are plain and as wide as needed.
    """
    if not sys.stdout.isatty() and not TERMINAL_VARIABLES & os.environ.keys():
        return None
    from rich.console import Console

    return Console()


def table_text(layout: Layout, console: "Console | None") -> str:
    """Return the table and its notes, without spaces at the ends of lines."""
    lines = (plain_lines(layout) if console is None else None) or rich_lines(layout, console)
    if layout.constant:
        lines += wrap(f"in every row: {', '.join(f'{name} {text}' for name, text in layout.constant.items())}")
    if layout.left_out:
        lines += wrap(f"not shown: {', '.join(layout.left_out)}. See all with --format csv")
    return "\n".join(lines) + "\n"


def plain_lines(layout: Layout) -> list[str] | None:
    """Return the lines of a table exactly as Rich would write them, but without Rich.

    Return None if texts need several lines.
    """
    columns = []
    for column in layout.columns:
        texts, width = [column.heading, *column.texts], column.width
        if column.widest is not None or not all(map(str.isprintable, texts)):
            return None
        blanks = [" " * (width - cells_of(text)) for text in texts]
        pairs = zip(blanks, texts, strict=True) if column.is_number else zip(texts, blanks, strict=True)
        columns.append(["".join(pair) for pair in pairs])
    return [(" " * GAP).join(row).rstrip() for row in zip(*columns, strict=True)]


def rich_lines(layout: Layout, console: "Console | None") -> list[str]:
    """Return the lines of a table, with headings highlighted in a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = console or Console()
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column in layout.columns:
        table.add_column(Text(column.heading), justify="right" if column.is_number else "left", width=column.width)
    for row in zip(*(column.texts for column in layout.columns), strict=True):
        table.add_row(*map(Text, row))
    console.width = max(layout.width + GAP, 1)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


def wrap(text: str) -> list[str]:
    """Wrap a sentence to the design width."""
    return textwrap.wrap(text, DESIGN_WIDTH, subsequent_indent="  ")


def room(console: "Console | None") -> int | None:
    """Return the maximum width of a table, from the terminal or from COLUMNS, or None if there is no limit."""
    if console is None:
        return None
    return console.width if console.is_terminal or os.environ.get("COLUMNS", "").isdigit() else None


def fill(text: str) -> str:
    """Wrap the lines of a text to the width of the terminal."""
    width = room(console())
    if width is None:
        return text
    return "\n".join(textwrap.fill(line, width, break_on_hyphens=False) for line in text.split("\n"))


def explanation_text(explanation: "Explanation") -> str:
    """Return the text for a change: its parts, which add up as displayed, and the sentences about it."""
    sentences = (
        explanation.duels.headline,
        explanation.duels.meaning,
        explanation.duels.not_compared,
        explanation.ranked_by,
        explanation.method,
    )
    lines = [explanation.verdict, *filter(None, (explanation.cause,))]
    if explanation.groups:
        lines += ["", *columns(list(waterfall(explanation)))]
    if any(sentences):
        lines += ["", *filter(None, sentences)]
    return fill("\n".join(lines))


def waterfall(explanation: "Explanation") -> Iterator[tuple[str, str]]:
    """Yield the lines for a change, each with a label and points."""
    from podium.ledger.reasons.wording import line_of
    from podium.pages.why import steps_of
    from podium.support.words import signed

    yield "Before", str(explanation.shown_before)
    for group, steps in zip(explanation.groups, steps_of(explanation), strict=True):
        yield line_of(group), signed(group.shown)
        for step in steps:
            yield f"    {', '.join(filter(None, (step.title, step.words)))}", signed(step.points)
    yield "After", f"{explanation.shown_after}  ({signed(explanation.shown_change)})"


def reason_lines(totals: "ReasonTotals") -> Iterator[tuple[str, str]]:
    """Yield the lines of a sum of reasons, each with a label, points and events, and the total."""
    from podium.ledger.reasons.totals import NAMED_EVENTS
    from podium.pages.numbers import change
    from podium.support.words import counted

    for label, reason in totals.labelled:
        more = len(reason.events) - NAMED_EVENTS
        events = ", ".join(reason.events[:NAMED_EVENTS]) + (f" and {more} more" if more > 0 else "")
        yield label, f"{change(reason.shown)}  {events if len(reason.events) < totals.events else ''}"
    yield counted(totals.events, "event"), change(totals.shown)


def what_if_text(imagined: "WhatIf") -> str:
    """Return the changes for other results, one per line."""
    from podium.support.words import signed

    if not imagined.alternatives:
        return f"{imagined.player} won everything there was to win."
    lines = [("As it was", signed(imagined.shown))]
    for alternative in imagined.alternatives:
        difference = (
            f"{abs(alternative.better)} {'better' if alternative.better >= 0 else 'worse'}"
            if alternative.better
            else "no different"
        )
        lines.append((alternative.words, f"{signed(alternative.shown)}  ({difference})"))
    return "\n".join([f"What if {imagined.player} had …", "", *columns(lines)])


def columns(lines: list[tuple[str, str]]) -> list[str]:
    """Align words on the left, and numbers on the right by their last digit."""
    width = max(cells_of(words) for words, _ in lines)
    whole = max(len(numbers.split("  ")[0]) for _, numbers in lines)
    aligned = []
    for words, numbers in lines:
        number, _, more = numbers.partition("  ")
        aligned.append(f"  {words}{' ' * (width - cells_of(words))}  {number.rjust(whole)}  {more}".rstrip())
    return aligned


PROGRESS_AFTER_S = 1.0  # work longer than this shows a progress bar


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"


def show(
    frame: "pl.DataFrame", form: Format, title: str = "", *, max_rows: int | None = None, columns: str | None = None
) -> None:
    """Print a frame. A table has at most `max_rows` rows, and a line that says how to see the rest."""
    chosen = frame if columns is None else chosen_columns(frame, columns)
    if form is Format.csv:
        sys.stdout.write(as_text(chosen).write_csv())
    elif form is Format.json:
        sys.stdout.write(as_text(chosen).write_json() + "\n")
    else:
        shown = chosen if max_rows is None else chosen.head(max_rows)
        terminal = console()
        if columns is None:
            layout = lay_out(chosen, shown, room(terminal))
        else:  # all chosen columns, regardless of their width
            layout = Layout([as_column(shown[name]) for name in shown.columns])
        sys.stdout.write((f"{title}\n" if title else "") + table_text(layout, terminal))
        if shown.height < frame.height:
            sys.stdout.write(f"… and {frame.height - shown.height:,} more; --format csv shows them all\n")
        if title:  # another table may follow
            sys.stdout.write("\n")


def show_records(
    records: Iterable[Any], kinds: Mapping[str, Any], form: Format, *, max_rows: int | None = None
) -> None:
    """Print these fields of objects or mappings. If the kind of a field is None, the values determine it."""
    import polars as pl

    rows = [
        record if isinstance(record, Mapping) else {name: getattr(record, name) for name in kinds} for record in records
    ]
    frame = pl.DataFrame([{name: row.get(name) for name in kinds} for row in rows], schema=kinds)
    show(frame, form, max_rows=max_rows)


def chosen_columns(frame: "pl.DataFrame", names: str) -> "pl.DataFrame":
    if names.strip() == "all":
        return frame
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in frame.columns:
            hint = suggestion(name, frame.columns)
            raise ParameterError(f"--columns {name}: is not a column{hint} (columns: {', '.join(frame.columns)})")
    return frame.select(list(dict.fromkeys(wanted)) or frame.columns)


def note(text: str) -> None:
    """Print a note on stderr."""
    import typer

    typer.echo(f"podium: {text}", err=True)


def show_tables(tables: Mapping[str, "pl.DataFrame"]) -> None:
    """Print several tables as JSON, by name."""
    show_json({name: table.to_dicts() for name, table in tables.items()})


def show_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


@contextmanager
def progress(*steps: str) -> Iterator["Steps"]:
    """Show a progress bar with named steps on stderr if the work takes more than a second."""
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
        """Show the bar only in a terminal. Programs that read stderr expect only errors."""
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
