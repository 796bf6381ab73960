"""Read tables by their headings or with a map, and matches with both sides in one row."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import time
from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import Fault, ParameterError, ResultsError
from podium.importers.files import load
from podium.importers.grid import Grid, SourceRule, UndecidedError, shown
from podium.importers.options import Options
from podium.importers.sources import format_of, of_bytes, sources
from podium.importers.tables.applying import Mapped, apply_map
from podium.importers.tables.faults import find_faults
from podium.importers.tables.maps import Map, build_map
from podium.importers.tables.read_sheet import answer, read_format, read_with_map
from podium.results.columns import ALL, text
from podium.results.reading import STDIN, Results, header_faults, loaded, read_results, unknown_columns


def read_understood(path: str, name: str, content: bytes | None = None, answers: Iterable[str] = ()) -> Results:
    """Read a table in another layout, based on its headings, its cells and some answers."""
    form = format_of(path) if content is None else None
    if form or (content is None and len(sources(path)) > 1):
        imported = read_format(form or "csv", [path])
        frame, notes = read_results(imported.table, name=name).frame, imported.notes
        return Results(frame, name, None, notes + left_out(imported.dropped), imported.made, imported.details)
    note, mapped = mapped_rows(path, content, name, answers)
    return checked(mapped, name, (note,) if note else ())


def read_frame(source: Any, name: str, answers: Iterable[str] = ()) -> Results:
    """Read a frame, or rows, in another layout as if they came from a file.

    Raises:
        ResultsError: Cells of a results table are invalid, or a question about a table in another layout is open.
    """
    if hasattr(source, "reset_index") and any(name is not None for name in source.index.names):
        source = source.reset_index()
    frame, name = loaded(source, name)
    try:
        return read_understood(name, name, content_of(frame), answers)
    except ResultsError as error:
        if not header_faults(frame) and not answers:
            read_results(frame, name=name)
        raise ResultsError(name, [in_python(fault)._replace(file=name) for fault in error.faults]) from None


def in_python(fault: Fault) -> Fault:
    """Return an error that names the Python argument, instead of the command, that answers its question."""
    answers = ", or ".join(f"answers={[choice.answer]} ({choice.meaning})" for choice in shown(fault.choices))
    return fault._replace(command=f"Give podium.read_results {answers}" if answers else "")


def content_of(frame: pl.DataFrame) -> bytes:
    """Convert a frame to the content of a file from which it could come: CSV, or JSON if a cell has parts."""
    columns = [as_written(frame[name]) for name in frame.columns]
    written = pl.DataFrame(columns)
    if any(column.dtype.is_nested() for column in columns):
        return written.write_json().encode()
    heads = io.StringIO()
    csv.writer(heads).writerow("" if BLANK_HEAD.fullmatch(name) else name for name in frame.columns)
    return heads.getvalue().encode() + written.write_csv(include_header=False).encode()


# names that pandas and Polars give to columns without a heading
BLANK_HEAD = re.compile(r"Unnamed: \d+|_duplicated_\d+")


def as_written(column: pl.Series) -> pl.Series:
    """Return a column in people's usual form: time spans in seconds, dates without times, integers without a point."""
    kind = column.dtype
    if kind == pl.Duration:
        return column.dt.total_microseconds() / 1e6
    if kind == pl.Datetime and (column.dt.time() == time()).all():
        return column.dt.date()
    column = column.fill_nan(None) if kind.is_float() else column
    return (
        column.cast(pl.Int64)
        if kind.is_float() and column.null_count() and (column == column.round()).all()
        else column
    )


def left_out(dropped: Mapping[str, int]) -> tuple[str, ...]:
    counts = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items() if count)
    return (f"left out {counts}",) if counts else ()


def mapped_rows(
    path: str, content: bytes | None = None, name: str | None = None, answers: Iterable[str] = ()
) -> tuple[str, Mapped]:
    """Return the rows of a file's table as results, and a one-line description of the table."""
    source = of_bytes(content, "standard input") if content is not None else sources(path)[0]
    own_name = name or Path(path).name
    document: dict[str, Any] | None = None
    for key, _, value in (reply.partition("=") for reply in answers):
        document = answer(key, value, document)
    with called(own_name):
        grid, mapping, note = read_with_map(source, Options(map=document, guess=document is not None))
    return note, apply_map(replace(grid, name=own_name), mapping)


@contextmanager
def called(name: str) -> Iterator[None]:
    try:
        yield
    except UndecidedError as error:
        raise UndecidedError(name, [fault._replace(file="") for fault in error.faults], error.questions) from None
    except ResultsError as error:
        raise ResultsError(name, error.faults) from None


def checked(mapped: Mapped, name: str, notes: tuple[str, ...] = ()) -> Results:
    findings = find_faults(mapped)
    if findings.faults:
        raise ResultsError(name, [fault._replace(file=name) for fault in findings.faults])
    frame, sent = findings.checked
    notes = (*notes, *mapped.notes, *left_out(mapped.dropped))
    return Results(frame, name, sent, notes, mapped.rounds, mapped.details)


def with_original_cells(mapped: Mapped) -> pl.DataFrame:
    """Return the table, with bad cells in their original form so that they can be corrected."""

    def original(name: str, which: pl.Series, written: pl.Series) -> pl.Series:
        return written.zip_with(which, text(mapped.table[name])[0].cast(pl.String)).alias(name)

    return mapped.table.with_columns(original(name, *cells) for name, cells in mapped.bad.items())


REST = "rest"
Names = str | Sequence[str]


def read_mapped(source: Any, mapping: Map, name: str | None = None) -> Results:
    shown = name or (Path(source).name if isinstance(source, str | Path) else "results")
    return checked(apply_map(grid_of(source, name, mapping), mapping), shown)


def read_columns(source: Any, columns: Mapping[str, Any], ignore: Names, name: str | None = None) -> Results:
    """Read and check a table with known meanings for some columns.

    All other columns keep the meaning of their names.
    """
    grid = grid_of(source, name)
    document = {"columns": {**kept_columns(grid, dict(columns), ignore), **columns}}
    return checked(apply_map(grid, build_map(document, "columns")), grid.name)


def from_matches(
    matches: Any,
    *,
    winner: Names | None = None,
    loser: Names | None = None,
    home: Names | None = None,
    away: Names | None = None,
    scores: Sequence[str] = (),
    result: str | None = None,
    draw: str | None = None,
    event: Names | None = None,
    date: str | Mapping[str, Any] | None = None,
    name: str | None = None,
    **columns: Any,
) -> Results:
    """Read matches with both sides in one row, either as winner and loser, or as home and away.

    Args:
        matches: A table, as in `read_results`.
        winner: The column with the winner. For teams, one column per member.
        loser: The column, or columns, with the loser.
        home: The column, or columns, with the first side (home or White).
        away: The column, or columns, with the second side.
        scores: The columns with the scores of the first and the second side. Equal scores mean a draw.
        result: The column with the first side's result: `H`, `D` and `A`; `W` and `L`; `1-0`; or 1, 0.5 and 0.
        draw: The column that shows whether a match between `winner` and `loser` was a draw (true, yes, 1 or `D`).
        event: The columns that together identify the match. Default: its date, its sides and a count of repeats.
        date: The column with the day or time, or its rule: `{"from": "Day", "format": "%d.%m.%Y"}`.
        name: The table's name in error messages.
        columns: Other results columns, such as `pool` or `mode`, each with the table's column or a rule.

    Returns:
        The checked results: one row per player, with team names if a side has several players.

    Raises:
        ResultsError: A cell is invalid.
        ParameterError: A side is missing, or it is unclear how a match ended.
    """
    first, second = (winner, loser) if home is None else (home, away)
    if first is None or second is None or None not in (home, winner):
        raise ParameterError("from_matches: the sides are not clear. Name winner and loser, or home and away.")
    if len(scores) not in (0, 2) or ((scores or result) if home is None else draw or bool(scores) == bool(result)):
        way = "draw=COLUMN, or nothing" if home is None else "scores=(FIRST, SECOND) or result=COLUMN"
        raise ParameterError(f"from_matches: it is not clear how the matches ended. Give it {way}.")
    place = {"from": [draw], "map": dict.fromkeys(DRAWS, 1), "null": 2, "default": 2} if draw else {"value": 2}
    values = sides_of(scores, result) or [{"position": {"value": 1}}, {"position": place}]
    if home is not None:
        values = [value | {"side": {"value": side}} for value, side in zip(values, ("home", "away"), strict=True)]
    document = matches_map(first, second, values, event, date, columns)
    grid = grid_of(matches, name)
    return checked(apply_map(grid, build_map(document, "from_matches")), grid.name)


DRAWS = ("true", "True", "TRUE", "yes", "Yes", "1", "D", "d", "draw", "Draw", "X", "x")
RESULTS = {"H": "1-0", "W": "1-0", "D": "1/2-1/2", "A": "0-1", "L": "0-1"}


def sides_of(scores: Sequence[str], result: str | None) -> list[dict[str, Any]]:
    """Return the rules that compare two sides by scores or result, or no rules if there are neither."""
    if result:
        return [{"position": {"from": [result], "map": RESULTS, "as": "result", "side": side}} for side in (1, 2)]
    return [{"score": {"from": [score]}} for score in scores]


def matches_map(
    first: Names,
    second: Names,
    values: Sequence[Mapping[str, Any]],
    event: Names | None,
    date: str | Mapping[str, Any] | None,
    columns: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the map of a table with one match per row. `values` contains the rules for each side."""
    sides = []
    for members, side, rules in zip((first, second), ("winners", "losers"), values, strict=True):
        players, own = as_list(members), dict(rules)
        if len(players) > 1:
            own["team"] = {"value": side}
            own |= {"team_score": own.pop("score")} if "score" in own else {}
        sides += [{"player": {"from": [player]}, **own} for player in players]
    if date is not None:
        columns = {**columns, "started_at": {"from": [date]} if isinstance(date, str) else date}
    names = as_list(event) if event is not None else []
    written = "-".join(f"{{{name}}}" for name in names) if len(names) != 1 else {"from": names}
    rules = {"event_id": written or match_id(as_list(first), as_list(second), columns), **columns}
    return {"layout": {"kind": "wide", "sides": sides}, "columns": rules}


def match_id(first: Sequence[str], second: Sequence[str], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name of a match that has no event ID: its day, its sides, and a count if the sides meet again."""
    moment = columns.get("started_at", {})
    days = moment.get("from", []) if isinstance(moment, Mapping) else moment
    sides = (" / ".join(f"{{{name}}}" for name in names) for names in (first, second))
    return {"from": " ".join([*(f"{{{day}}}" for day in as_list(days)), " - ".join(sides)]), "count": True}


def as_list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def kept_columns(grid: Grid, columns: Mapping[str, Any], ignore: Names) -> dict[str, Any]:
    """Return the columns that already have the name of a results column, each as its own rule."""
    used = build_map({"columns": columns}, "columns", is_partial=True).names
    aside = set() if ignore == REST else set(as_list(ignore))
    own = [name for name in grid.frame.columns if name in ALL and name not in columns and name not in used | aside]
    unknown = [name for name in grid.frame.columns if name not in used | aside and name not in ALL]
    if unknown and ignore != REST:
        raise ResultsError(grid.name, unknown_columns(unknown))
    return {name: {"from": [name]} for name in own}


def grid_of(source: Any, name: str | None, mapping: Map | None = None) -> Grid:
    """Return the table without changes. Columns keep their types."""
    if isinstance(source, str | Path):
        name = name or ("standard input" if str(source) == STDIN else Path(source).name)
        files = sources(str(source))
        if len(files) != 1:
            remedy = f"has {len(files)} files. Name one, or read them all with a map by `podium import csv`."
            raise ResultsError.whole(str(source), remedy)
        with called(name):
            rule = (mapping.source, mapping.names) if mapping else (SourceRule(),)
            return replace(load(files[0], *rule), name=name)
    frame, own_name = loaded(source.frame if isinstance(source, Results) else source, name)
    categories = [column for column, kind in frame.schema.items() if isinstance(kind, pl.Categorical | pl.Enum)]
    texts = frame.with_columns(pl.col(categories).cast(pl.String))
    return Grid(own_name, texts, rule=mapping.source if mapping else SourceRule()).without_nulls()
