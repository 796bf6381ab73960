"""Tables as their headings, or a map, say what they mean; and matches with winners and losers in one row."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import ResultsError
from podium.importers.files import load
from podium.importers.grid import Grid, SourceRule, UndecidedError
from podium.importers.registry import Options, read_format
from podium.importers.sources import format_of, of_bytes, sources
from podium.importers.tables.applying import Mapped, apply_map
from podium.importers.tables.csv import find_faults, understood
from podium.importers.tables.maps import build_map
from podium.importers.tables.model import Map
from podium.results.columns import ALL, text
from podium.results.reading import STDIN, Results, loaded, read_results, unknown_columns


def read_understood(path: str, name: str, content: bytes | None = None) -> Results:
    """Read a table that is no results table as its headings and cells surely mean it."""
    form = format_of(path) if content is None else None
    if form or (content is None and len(sources(path)) > 1):
        imported = read_format(form or "csv", [path])
        frame, notes = read_results(imported.table, name=name).frame, imported.notes
        return Results(frame, name, None, notes + left_out(imported.dropped), imported.made)
    note, mapped = understand(path, content, name)
    return checked(mapped, name, (note,) if note else ())


def left_out(dropped: Mapping[str, int]) -> tuple[str, ...]:
    counts = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items() if count)
    return (f"left out {counts}",) if counts else ()


def understand(path: str, content: bytes | None = None, name: str | None = None) -> tuple[str, Mapped]:
    """What a file's table says, in a line, and its rows as results."""
    source = of_bytes(content, "standard input") if content is not None else sources(path)[0]
    own_name = name or Path(path).name
    with called(own_name):
        grid, mapping, note = understood(source, Options())
    return note, apply_map(replace(grid, name=own_name), mapping)


@contextmanager
def called(name: str) -> Iterator[None]:
    try:
        yield
    except UndecidedError as error:
        raise UndecidedError(name, [each._replace(file="") for each in error.faults], error.questions) from None
    except ResultsError as error:
        raise ResultsError(name, error.faults) from None


def checked(mapped: Mapped, name: str, notes: tuple[str, ...] = ()) -> Results:
    findings = find_faults(mapped)
    if findings.faults:
        raise ResultsError(name, [fault._replace(file=name) for fault in findings.faults])
    frame, sent = findings.checked
    return Results(frame, name, sent, (*notes, *mapped.notes, *left_out(mapped.dropped)), mapped.rounds)


def as_they_were(mapped: Mapped) -> pl.DataFrame:
    """The table, bad cells as they were written, to be mended there."""

    def mended(name: str, which: pl.Series, written: pl.Series) -> pl.Series:
        return written.zip_with(which, text(mapped.table[name])[0].cast(pl.String)).alias(name)

    return mapped.table.with_columns(mended(name, *cells) for name, cells in mapped.bad.items())


REST = "rest"
Names = str | Sequence[str]


def read_mapped(source: Any, mapping: Map, name: str | None = None) -> Results:
    shown = name or (Path(source).name if isinstance(source, str | Path) else "results")
    return checked(apply_map(grid_of(source, name, mapping), mapping), shown)


def read_columns(source: Any, columns: Mapping[str, Any], ignore: Names, name: str | None = None) -> Results:
    """Read and check a table some of whose columns are named; the others keep the meaning of their names."""
    grid = grid_of(source, name)
    document = {"columns": {**kept_columns(grid, dict(columns), ignore), **columns}}
    return checked(apply_map(grid, build_map(document, "columns")), grid.name)


def from_matches(
    matches: Any,
    *,
    winner: Names,
    loser: Names,
    event: Names | None = None,
    date: str | Mapping[str, Any] | None = None,
    name: str | None = None,
    **columns: Any,
) -> Results:
    """Read matches that have the winner and the loser in one row.

    Args:
        matches: a table, as `read_results` takes it.
        winner: the column with who won; several where a team did, a column for each of its members.
        loser: as `winner`.
        event: the columns that together name the match; its date and players where None, and a count of repeats.
        date: the column with the day or moment, or its rule: `{"from": "Day", "format": "%d.%m.%Y"}`.
        name: what faults call the table.
        columns: other results columns of the match, such as `pool` or `mode`, by their column or rule.

    Returns:
        The checked results: a row for each player, positions 1 and 2, and teams where there are several a side.
    """
    document = matches_map(winner, loser, event, date, columns)
    grid = grid_of(matches, name)
    return checked(apply_map(grid, build_map(document, "from_matches")), grid.name)


def matches_map(
    winner: Names, loser: Names, event: Names | None, date: str | Mapping[str, Any] | None, columns: Mapping[str, Any]
) -> dict[str, Any]:
    sides = []
    for position, (side, members) in enumerate((("winners", winner), ("losers", loser)), start=1):
        players = as_list(members)
        team = {"team": {"value": side}} if len(players) > 1 else {}
        sides += [{"player": {"from": [player]}, "position": {"value": position}, **team} for player in players]
    if date is not None:
        columns = {**columns, "started_at": {"from": [date]} if isinstance(date, str) else date}
    names = as_list(event) if event is not None else []
    written = "-".join(f"{{{each}}}" for each in names) if len(names) != 1 else {"from": names}
    rules = {"event_id": written or match_id(as_list(winner), as_list(loser), columns), **columns}
    return {"layout": {"kind": "wide", "sides": sides}, "columns": rules}


def match_id(first: Sequence[str], second: Sequence[str], columns: Mapping[str, Any]) -> dict[str, Any]:
    """What names a match that has no event: its day, who met, and a count where they meet again."""
    moment = columns.get("started_at", {})
    days = moment.get("from", []) if isinstance(moment, Mapping) else moment
    sides = (" / ".join(f"{{{name}}}" for name in names) for names in (first, second))
    return {"from": " ".join([*(f"{{{day}}}" for day in as_list(days)), " - ".join(sides)]), "count": True}


def as_list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def kept_columns(grid: Grid, columns: Mapping[str, Any], ignore: Names) -> dict[str, Any]:
    """The columns that have a results column's name already, each as itself."""
    mapping: Map | None = build_map({"columns": columns}, "columns") if columns else None
    used = {name for rule in mapping.columns.values() for name in rule.names} if mapping else set()
    aside = set() if ignore == REST else set(as_list(ignore))
    own = [name for name in grid.frame.columns if name in ALL and name not in columns and name not in used | aside]
    unknown = [name for name in grid.frame.columns if name not in used | aside and name not in ALL]
    if unknown and ignore != REST:
        raise ResultsError(grid.name, unknown_columns(unknown))
    return {name: {"from": [name]} for name in own}


def grid_of(source: Any, name: str | None, mapping: Map | None = None) -> Grid:
    """The table as it is, in its own types where it has any."""
    if isinstance(source, str | Path):
        name = name or ("standard input" if str(source) == STDIN else Path(source).name)
        files = sources(str(source))
        if len(files) != 1:
            remedy = f"holds {len(files)} files; name one, or read them all by a map: podium import csv"
            raise ResultsError.whole(str(source), remedy)
        with called(name):
            rule = (mapping.source, mapping.names) if mapping else (SourceRule(),)
            return replace(load(files[0], *rule), name=name)
    frame, own_name = loaded(source.frame if isinstance(source, Results) else source, name)
    categories = [column for column, kind in frame.schema.items() if isinstance(kind, pl.Categorical | pl.Enum)]
    texts = frame.with_columns(pl.col(categories).cast(pl.String))
    return Grid(own_name, texts, rule=mapping.source if mapping else SourceRule())
