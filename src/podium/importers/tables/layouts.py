"""From the rows of a table to the rows of entrants: side tables joined, rows dropped, sides and grids unfolded."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import polars as pl

from podium.errors import Fault, ParameterError, ResultsError
from podium.importers.grid import Grid
from podium.importers.sources import refuse_file
from podium.importers.tables.cells import WHOLE, Game, mirrored, parse_game
from podium.importers.tables.model import BESIDE, CELL, COLUMN, FILE, PAIR, ROW, ROW_NAME, Condition, Layout, Map
from podium.results.columns import text

NUMBER = "\0row"  # the row of the source, from 0: beside the table's columns, none of which is called so
SHOWN_NAMES = 20
BY_ORDER = "#"  # what numbers lines where no column does
PARTS = {
    "matrix": (ROW_NAME, COLUMN, CELL),
    "crosstable": (ROW_NAME, COLUMN, CELL),
    "swiss": (ROW_NAME, COLUMN, CELL, PAIR),
}


def check_names(mapping: Map, columns: Iterable[str], table_name: str) -> None:
    known = list(columns)
    parts = PARTS.get(mapping.layout.kind, ())
    for rules in mapping.rules():
        for key, rule in rules.items():
            for name in rule.names:
                of_template = any(part.is_column and part.text == name for part in rule.template)
                if name not in known and name not in parts and not (of_template and name in (ROW, FILE, *BESIDE)):
                    refuse_name(mapping.name, f"columns.{key}", name, known, table_name)
    conditions = [(f"where.{way}", each.column) for way in ("drop", "keep") for each in getattr(mapping, way)]
    layout = [("layout.rows", mapping.layout.rows)] if mapping.layout.rows is not None else []
    layout += [("layout.except", name) for name in mapping.layout.excluded]
    for place, name in [*conditions, *layout]:
        if name not in known and name not in parts:
            refuse_name(mapping.name, place, name, known, table_name)


def check_needs(mapping: Map, columns: Iterable[str], table_name: str) -> None:
    """Refuse a table of columns that lacks what a preset is known by."""
    known = list(columns)
    for name in mapping.needs if mapping.source.format == "csv" else ():
        if name not in known:
            refuse_file(table_name, f"has no column {name} ({', '.join(known[:SHOWN_NAMES])})")


def refuse_name(map_name: str, place: str, name: str, known: list[str], table_name: str) -> None:
    near = get_close_matches(name, known, 1, 0.6)
    folded = [each for each in known if each.strip().lower() == name.strip().lower()]
    hint = f"; did you mean {(folded or near)[0]!r}?" if folded or near else ""
    shown = ", ".join(known[:SHOWN_NAMES]) + (", …" if len(known) > SHOWN_NAMES else "")
    raise ParameterError(f"{map_name}: {place}: {table_name} has no column {name!r}{hint} ({shown})")


def join_tables(grid: Grid, mapping: Map, load_side: Callable[[str], Grid]) -> pl.DataFrame:
    frame = grid.frame.with_columns(pl.Series(NUMBER, range(grid.frame.height), pl.UInt32))
    for name, join in mapping.joins.items():
        side = load_side(join.file)
        for place, key, known in (("here", join.here, frame.columns), ("there", join.there, side.frame.columns)):
            if key not in known:
                where = grid.name if place == "here" else side.name
                refuse_name(mapping.name, f"join.{name}.on.{place}", key, list(known), where)
        keys = as_texts(side.frame[join.there])
        twice = (keys.is_duplicated() & keys.is_not_null()).arg_true()
        if twice.len():
            row = int(twice[1])
            fault = Fault(None, join.there, keys[row], "stands twice; each row has one partner", side.place(row))
            raise ResultsError(side.name, [fault])
        columns = side.frame.rename({column: f"{name}.{column}" for column in side.frame.columns})
        own = as_texts(frame[join.here])
        frame = frame.with_columns(own.alias("\0key")).join(
            columns.with_columns(keys.alias("\0key"), pl.lit(value=True).alias("\0found")),
            on="\0key", how="left", maintain_order="left",
        )  # fmt: skip
        alone = frame["\0found"].is_null().arg_true()
        if alone.len():
            rows = frame[NUMBER].gather(alone)
            raise ResultsError(grid.name, [
                Fault(None, join.here, own[int(row)], f"has no row in {side.name}", grid.place(int(number)))
                for row, number in zip(alone, rows, strict=True)
            ])  # fmt: skip
        frame = frame.drop("\0key", "\0found")
    return frame


def as_texts(column: pl.Series) -> pl.Series:
    return column if column.dtype == pl.String else text(column)[0].cast(pl.String)


def filter_rows(frame: pl.DataFrame, mapping: Map, dropped: Counter[str]) -> pl.DataFrame:
    """The rows that count; others are counted by their reason. Conditions on cells wait until there are some."""
    for condition, keeps in [*((each, False) for each in mapping.drop), *((each, True) for each in mapping.keep)]:
        if condition.column not in frame.columns:
            continue
        met = meets(as_texts(frame[condition.column]).replace(dict.fromkeys(mapping.source.null)), condition)
        stays = met if keeps else ~met
        count = int((~stays).sum())
        if count:
            dropped[condition.reason] += count
            frame = frame.filter(stays)
    return frame


def meets(texts: pl.Series, condition: Condition) -> pl.Series:
    """Which cells meet a condition; one without a value meets only `null`."""
    if condition.null is not None:
        return texts.is_null() if condition.null else texts.is_not_null()
    if condition.matches is not None:
        found = texts.str.contains(condition.matches)
    else:
        words = [condition.equals] if condition.equals is not None else list(condition.among or ())
        found = texts.is_in(words)
    return found.fill_null(value=False)


def unfold(frame: pl.DataFrame, mapping: Map, grid: Grid, dropped: Counter[str]) -> list[pl.DataFrame]:
    """The rows of entrants, one table a side; event by event, once the sides are laid together."""
    layout = mapping.layout
    if layout.kind == "wide":
        return [frame] * len(layout.sides)
    if layout.kind == "long":
        return [frame]
    null = mapping.source.null
    aside = (layout.rows, layout.number, *layout.excluded)
    names = [each for each in frame.columns if each not in aside and not each.startswith("\0")]
    frame = frame.with_columns(
        as_texts(frame[name]).replace(dict.fromkeys(null)) for name in (*names, layout.rows or "")
    )
    cells = frame.with_columns(frame[layout.rows or ""].alias(ROW_NAME))
    if layout.kind == "matrix":
        parts = [cells.with_columns(pl.lit(name).alias(COLUMN), cells[name].alias(CELL)) for name in names]
        table = pl.concat(parts) if parts else cells.clear()
    elif layout.kind == "swiss":
        table = games(cells, names, layout, grid, dropped)
    else:
        table = pairs(cells, names, mapping, grid)
    if layout.empty == "drop":
        empty = int(table[CELL].null_count())
        if empty and layout.kind == "matrix":
            dropped["empty cell"] += empty
        table = table.filter(pl.col(CELL).is_not_null())
    return [table]


def line_numbers(cells: pl.DataFrame, number: str | None) -> list[str]:
    """What heads or cells call each line by: its number, in a column or in their order."""
    in_order = [str(line) for line in range(1, cells.height + 1)]
    return in_order if number in (None, BY_ORDER) else [str(each) for each in as_texts(cells[number])]


def pairs(cells: pl.DataFrame, names: list[str], mapping: Map, grid: Grid) -> pl.DataFrame:
    """Each pair of a crosstable once: the row above the diagonal, then its mirror; one half may say the other."""
    players = cells[ROW_NAME].to_list()
    number = mapping.layout.number
    lines = line_numbers(cells, number) if number else players
    below = [cells[name][line] for column, name in enumerate(names) for line in range(column + 1, cells.height)]
    is_half = not any(below) and any(rule.kind == "result" for rule in mapping.columns.values())
    of_player = dict(zip(players, lines, strict=True))
    faults = [
        Fault(None, None, name, "is in the lines and not in the columns, or appears twice", grid.place(row))
        for row, name in enumerate(players)
        if of_player[name] not in names or players.count(name) > 1
    ]
    faults += [Fault(None, name, None, "is in the columns and not in the lines") for name in names if name not in lines]
    if faults:
        raise ResultsError(grid.name, faults)
    rows: list[tuple[int, str, str, str | None, str]] = []
    for one, player in enumerate(players):
        for other in range(one + 1, len(players)):
            opponent = players[other]
            both = cells[of_player[opponent]][one], cells[of_player[player]][other]
            if is_half and both[0] is not None:
                both = both[0], mirrored(both[0])
            if (both[0] is None) != (both[1] is None):
                lacking, column = (one, opponent) if both[0] is None else (other, player)
                faults.append(Fault(None, column, None, "is empty, and its mirror is not", grid.place(lacking)))
            rows += [(one, player, opponent, both[0], player), (other, player, opponent, both[1], opponent)]
    if faults:
        raise ResultsError(grid.name, faults)
    return with_cells(cells, rows, (ROW_NAME, COLUMN, CELL, "\0player"))


def with_cells(cells: pl.DataFrame, rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pl.DataFrame:
    """Lines of a grid, each with its number before the cells of more columns."""
    table = cells[[row[0] for row in rows]] if rows else cells.clear()
    return table.with_columns(
        pl.Series(name, [row[place] for row in rows], pl.String) for place, name in enumerate(names, start=1)
    )


def games(cells: pl.DataFrame, names: list[str], layout: Layout, grid: Grid, dropped: Counter[str]) -> pl.DataFrame:
    """The games of a Swiss list, round by round: both sides of each, whose cells must agree."""
    players = cells[ROW_NAME].to_list()
    line_of = {number.lstrip("0"): line for line, number in enumerate(line_numbers(cells, layout.number))}
    rows: list[tuple[int, str, str, str]] = []
    faults: list[Fault] = []
    for name in names:
        read: list[Game | None] = []
        for line, cell in enumerate(cells[name]):
            try:
                read.append(None if cell is None else parse_game(cell))
            except ValueError:
                read.append(None)
                remedy = "must be the opponent's number, a colour and the points, as 4w1 or 12b½"
                faults.append(Fault(None, name, cell, remedy, grid.place(line)))
            dropped["bye"] += cell is not None and read[-1] is None
        for line, game in enumerate(read):
            other = None if game is None else line_of.get(game.opponent)
            mirror = None if other is None else read[other]
            if game is None:
                continue
            if other is None or mirror is None or line_of.get(mirror.opponent) != line or not agree(game, mirror):
                faults.append(
                    Fault(None, name, cells[name][line], "does not fit its opponent's cell", grid.place(line))
                )
            elif game.points is None:
                dropped["forfeit"] += line < other
            elif line < other:
                pair = f"{players[line]} - {players[other]}"
                rows += [(line, name, str(game.points), pair), (other, name, str(mirror.points), pair)]
    if faults:
        raise ResultsError(grid.name, faults)
    dropped += Counter()  # without zeros
    return with_cells(cells, rows, (COLUMN, CELL, PAIR))


def agree(game: Game, mirror: Game) -> bool:
    """Whether two cells tell of one game: both share its point, or it was a forfeit in both."""
    if game.points is None or mirror.points is None:
        return game.points is mirror.points
    return game.points + mirror.points == WHOLE[-1]
