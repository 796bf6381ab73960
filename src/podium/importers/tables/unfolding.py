"""From the rows of a table to the rows of entrants: side tables joined, rows dropped, sides and grids unfolded."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from podium.errors import Fault, ParameterError, ResultsError
from podium.importers.files import load
from podium.importers.grid import ROW_NUMBER, Grid, SourceRule
from podium.importers.sources import refuse_file, sources
from podium.importers.tables.cells import as_texts
from podium.importers.tables.crosstables import crosstable_games, swiss_games
from podium.importers.tables.model import BESIDE, CELL, COLUMN, FILE, PAIR, ROW, ROW_NAME, Condition, Join, Map
from podium.support.words import suggestion

SHOWN_NAMES = 20
OF_CELLS = ROW_NAME, COLUMN, CELL
PARTS = {"matrix": OF_CELLS, "crosstable": OF_CELLS, "swiss": (*OF_CELLS, PAIR)}


def check_names(mapping: Map, columns: Iterable[str], table_name: str) -> None:
    known = list(columns)
    columns = {*PARTS.get(mapping.layout.kind, ()), *known}
    used = [(f"where.{way}", each.column) for way in ("drop", "keep") for each in getattr(mapping, way)]
    used += [("layout.rows", mapping.layout.rows)] if mapping.layout.rows is not None else []
    used += [("layout.except", name) for name in mapping.layout.excluded]
    for key, rule in (each for rules in mapping.rules() for each in rules.items()):
        in_template = {part.text for part in rule.template if part.is_column} & {ROW, FILE, *BESIDE}
        used += [(f"columns.{key}", name) for name in rule.names if name not in in_template]
    for place, name in used:
        if name not in columns:
            refuse_name(mapping.name, place, name, known, table_name)


def check_needs(mapping: Map, grid: Grid) -> None:
    for name in mapping.needs if mapping.source.format == "csv" else ():
        if name not in grid.headings:
            refuse_file(grid.name, f"has no column {name} ({', '.join(grid.headings[:SHOWN_NAMES])})")


def refuse_name(map_name: str, place: str, name: str, known: list[str], table_name: str) -> None:
    hint = suggestion(name.strip(), known)
    shown = ", ".join(known[:SHOWN_NAMES]) + (", …" if len(known) > SHOWN_NAMES else "")
    raise ParameterError(f"{map_name}: {place}: {table_name} has no column {name!r}{hint} ({shown})")


def join_tables(grid: Grid, mapping: Map) -> pl.DataFrame:
    """Return the rows of a table, numbered, with the columns of its side tables."""
    frame = grid.frame.with_columns(pl.Series(ROW_NUMBER, range(grid.frame.height), pl.UInt32))
    for name, join in mapping.joins.items():
        frame = join_table(frame, name, join, grid, mapping)
    return frame


def join_table(frame: pl.DataFrame, name: str, join: Join, grid: Grid, mapping: Map) -> pl.DataFrame:
    """Return rows with the columns of a side table; refuse those that have no partner in it, or two."""
    side = load_side(join.file, grid, mapping)
    ends = ("here", join.here, frame.columns, grid), ("there", join.there, side.frame.columns, side)
    for end, key, known, where in ends:
        if key not in known:
            refuse_name(mapping.name, f"join.{name}.on.{end}", key, list(known), where.name)
    keys, own = as_texts(side.frame[join.there]), as_texts(frame[join.here])
    twice = (keys.is_duplicated() & keys.is_not_null()).arg_true()
    if twice.len():
        row = int(twice[1])
        fault = Fault(None, join.there, keys[row], "stands twice; each row has one partner", side.place(row))
        raise ResultsError(side.name, [fault])
    columns = side.frame.rename({column: f"{name}.{column}" for column in side.frame.columns})
    columns = columns.with_columns(keys.alias("\0key"), pl.lit(value=True).alias("\0found"))
    frame = frame.with_columns(own.alias("\0key")).join(columns, on="\0key", how="left", maintain_order="left")
    alone = frame.filter(pl.col("\0found").is_null())
    if alone.height:
        remedy = f"has no row in {side.name}"
        rows = alone.select("\0key", ROW_NUMBER).iter_rows()
        raise ResultsError(grid.name, [Fault(None, join.here, key, remedy, grid.place(row)) for key, row in rows])
    return frame.drop("\0key", "\0found")


def load_side(file: str, grid: Grid, mapping: Map) -> Grid:
    """Read a side table as its table is written."""
    rule = mapping.source
    plain = SourceRule(encoding=rule.encoding, null=rule.null, decimal=rule.decimal, thousands=rule.thousands)
    side = load(sources(str(grid.folder / file))[0], plain)
    return replace(side, frame=side.frame.with_columns(pl.col(pl.String).replace(dict.fromkeys(rule.null))))


def filter_rows(frame: pl.DataFrame, mapping: Map) -> tuple[pl.DataFrame, Counter[str]]:
    """Return the rows that count, and how many others there are by reason; conditions on cells wait for these.

    Of rows that tell of two who met from both sides, those count that tell it as the first one does.
    """
    dropped: Counter[str] = Counter()
    for condition, keeps in [*((each, False) for each in mapping.drop), *((each, True) for each in mapping.keep)]:
        if condition.column in frame.columns:
            texts = as_texts(frame[condition.column]).replace(dict.fromkeys(mapping.source.null))
            stays = meets(texts, condition) == keeps
            dropped[condition.reason] += int((~stays).sum())
            frame = frame.filter(stays)
    if mapping.once:
        one, other, *when = mapping.once
        first = pl.col(one).first().over(pl.min_horizontal(one, other), pl.max_horizontal(one, other), *when)
        kept = frame.filter(pl.col(one).eq_missing(first))
        dropped["from the other side"] += frame.height - kept.height
        frame = kept
    return frame, +dropped


def meets(texts: pl.Series, condition: Condition) -> pl.Series:
    """Return which cells meet a condition; one without a value meets only `null`."""
    if condition.null is not None:
        return texts.is_null() if condition.null else texts.is_not_null()
    found = texts.is_in(condition.among) if condition.matches is None else texts.str.contains(condition.matches)
    return found.fill_null(value=False)


def unfold(frame: pl.DataFrame, mapping: Map, grid: Grid) -> tuple[list[pl.DataFrame], Counter[str]]:
    """Return the rows of entrants, one table for each side, and how many cells tell of none."""
    layout, dropped = mapping.layout, Counter[str]()
    if layout.kind in ("long", "wide"):
        return [frame] * max(len(layout.sides), 1), dropped
    rows, aside = layout.rows or "", (layout.rows, layout.number, *layout.excluded)
    names = [name for name in frame.columns if name not in aside and not name.startswith("\0")]
    nulls = dict.fromkeys(mapping.source.null)
    cells = frame.with_columns(as_texts(frame[name]).replace(nulls) for name in (*names, rows))
    cells = cells.with_columns(pl.col(rows).alias(ROW_NAME))
    if layout.kind == "matrix":
        parts = [cells.with_columns(pl.lit(name).alias(COLUMN), pl.col(name).alias(CELL)) for name in names]
        table = pl.concat(parts) if parts else cells.clear()
    elif layout.kind == "swiss":
        table, dropped = swiss_games(cells, names, layout, grid)
    else:
        table = crosstable_games(cells, names, mapping, grid)
    if layout.empty == "drop":
        empty = table[CELL].null_count()
        dropped += Counter({"empty cell": empty if layout.kind == "matrix" else 0})
        table = table.filter(pl.col(CELL).is_not_null())
    return [table], dropped
