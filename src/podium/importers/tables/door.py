"""The lenient door: what the headings and cells of a table surely mean, with a line that says so."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers.sources import of_bytes, sources
from podium.importers.tables.applying import Mapped, apply_map
from podium.importers.tables.faults import find_faults
from podium.importers.tables.files.grid import Grid, load
from podium.importers.tables.guess import Guess, guess
from podium.importers.tables.maps import build_map
from podium.importers.tables.model import Map, SourceRule
from podium.results.columns import text
from podium.results.reading import Results


@dataclass(frozen=True)
class Understood:
    """A table that was understood: its map, and its rows as results."""

    guess: Guess
    mapping: Map
    mapped: Mapped


def read_understood(path: str, name: str, content: bytes | None = None) -> Results:
    """Read a table that is no results table as its headings and cells surely mean it.

    Args:
        path: of a file.
        name: what faults call the table.
        content: of standard input.

    Returns:
        The checked table; `notes` say what was understood and left aside.

    Raises:
        ResultsError: the table is refused: its faults are grouped, and name its own columns and rows.
    """
    understood = understand(load_one(path, content))
    return checked(understood.mapped, name, (understood.guess.note,))


def load_one(
    path: str, content: bytes | None = None, *, rule: SourceRule | None = None, name: str | None = None
) -> Grid:
    """The table of a file.

    Args:
        content: of standard input.
        rule: how it is written.
        name: what faults call it; the file's name where None.

    Raises:
        ResultsError: it cannot be read, or the path holds several.
    """
    files = [of_bytes(content, "standard input")] if content is not None else sources(path)
    if len(files) != 1:
        remedy = f"holds {len(files)} files; name one, or read them all by a map: podium import csv"
        raise ResultsError(path, [Fault(None, None, None, remedy)])
    own_name = "standard input" if content is not None else Path(path).name
    try:
        return replace(load(files[0], rule or SourceRule()), name=name or own_name)
    except ResultsError as error:
        raise ResultsError(name or own_name, error.faults) from None


def understand(grid: Grid, written: Mapping[str, Any] | None = None) -> Understood:
    """What a table says, and its rows as results.

    Raises:
        ResultsError: it leaves a choice, or lacks what every results table has.
    """
    understood = guess(grid, written)
    mapping = build_map(understood.document, grid.name)
    return Understood(understood, mapping, apply_map(grid, mapping))


def checked(mapped: Mapped, name: str, notes: tuple[str, ...] = ()) -> Results:
    """Mapped rows as checked results.

    Raises:
        ResultsError: they have faults.
    """
    findings = find_faults(mapped)
    if findings.faults:
        raise ResultsError(name, [fault._replace(file=name) for fault in findings.faults])
    frame, sent = findings.checked
    return Results(frame, name, sent, (*notes, *mapped.notes))


def as_they_were(mapped: Mapped) -> pl.DataFrame:
    """The table, bad cells as they were written, to be mended there."""

    def mended(name: str, which: pl.Series, written: pl.Series) -> pl.Series:
        column = mapped.table[name]
        cells = pl.DataFrame({"written": written, "bad": which, "read": text(column)[0].cast(pl.String)})
        return cells.select(pl.when("bad").then("written").otherwise("read").alias(name)).to_series()

    return mapped.table.with_columns(mended(name, *cells) for name, cells in mapped.bad.items())
