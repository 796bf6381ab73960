"""From the rows of a table to the rows of entrants: side tables joined, rows dropped, sides and grids unfolded."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from operator import itemgetter
from typing import Any, NamedTuple

import polars as pl

from podium.errors import Fault, ParameterError, ResultsError
from podium.importers.grid import ROW_NUMBER, SHEET, Grid
from podium.importers.sources import refuse_file
from podium.importers.tables.cells import POINTS, RESULTS, WHOLE, Result, as_texts, mirrored, parse_result, plain
from podium.importers.tables.model import BESIDE, CELL, COLUMN, FILE, PAIR, ROW, ROW_NAME, Condition, Layout, Map
from podium.results.headings import fold, is_statistic, is_total, meanings
from podium.support.words import suggestion

GAME, RESULT_FIRST, ALONE = (re.compile(RESULTS[name]) for name in ["game", "result_first", "alone"])
ABSENT = re.compile(r"(?i)0+[a-z-]*")  # no opponent
BYES = "hfuza"  # letters that FIDE has for rounds without a game
UNRATED, UNRATED_MARK = re.compile(r"(?i)\d+[wb][wdl]"), "*"  # a game of less than one move, and what its points get
SHOWN_NAMES = 20
MOST_FOOT, TWO = 5, 2  # rows below a table that are none of it
BY_ORDER = "#"  # what numbers lines where no column does
OF_CELLS = ROW_NAME, COLUMN, CELL
PARTS = {"matrix": OF_CELLS, "crosstable": OF_CELLS, "swiss": (*OF_CELLS, PAIR)}


def drop_footer_rows(grid: Grid) -> tuple[list[dict[str, Any]], pl.Series]:
    """The conditions that drop the last rows of each sheet: sums, and notes as `Fastest lap: …`; and the other rows."""
    rows = grid.frame.with_row_index(ROW_NUMBER)
    sheets = rows.partition_by(SHEET, maintain_order=True) if SHEET in rows.columns else [rows]
    numbers = [each[ROW_NUMBER] for each in sheets]
    notes = {row: cell for own in numbers for row, cell in notes_below(grid.only(own), own).items()}
    left = rows.filter(~pl.col(ROW_NUMBER).is_in([*notes]))
    again = {each for each in notes.values() if (left[each[0]].cast(pl.String) == each[1]).any()}
    found = dict.fromkeys(each for each in notes.values() if each not in again)
    gone = [row for row, each in notes.items() if each in found]
    drops = [{"column": name, "equals": cell, "reason": "row below the table"} for name, cell in found]
    return drops, rows[ROW_NUMBER].filter(~rows[ROW_NUMBER].is_in(gone))


def notes_below(grid: Grid, numbers: pl.Series) -> dict[int, tuple[str, str]]:
    """The first cells of the last rows of a sheet, which lack what all above have, by the numbers of the rows."""
    names, height = grid.headings, grid.frame.height
    texts = pl.col(names).cast(pl.String).replace("", None)
    last = grid.frame.slice(max(height - MOST_FOOT, TWO)).select(texts).rows(named=True)
    cells_of = [{name: cell for name, cell in row.items() if cell is not None} for row in reversed(last)]
    alone = len([*takewhile(lambda cells: len(cells) == 1, cells_of)])
    edge = [grid.place(row) for row in (height - alone - 1, height - alone) if 0 <= row < height]
    lines = [int(end[1]) for place in edge if (end := re.search(r" (\d+)$", place))]
    is_apart = len(lines) == TWO and lines[1] - lines[0] > 1  # below an empty line
    notes = cells_of[:alone] if is_apart else [*takewhile(is_note, cells_of)]
    rows = grid.frame.head(height - len(notes)).select(texts) if notes else grid.frame
    found = dict[int, tuple[str, str]]()
    for number, cells in zip(reversed(numbers), notes, strict=False):
        first = next(iter(cells.items()))
        has_place = any(meanings().get(fold(name)) == "position" for name in cells)
        is_none = is_apart or (is_statistic(first[1]) and not has_place)
        lacks = is_none or any(rows[name].null_count() == 0 for name in names if name not in cells)
        if not lacks or first in found.values():
            break
        found[number] = first
    return found


def is_note(cells: Mapping[str, str]) -> bool:
    """Whether the first cell of a row is the head of a sum, or ends a word with a colon."""
    first = next(iter(cells.values()), "")
    return is_total(first) or is_statistic(first) or re.match(r"[^\W\d][^:\d]*:(\s|$)", first) is not None


def check_names(mapping: Map, columns: Iterable[str], table_name: str) -> None:
    known = list(columns)
    beside = {*PARTS.get(mapping.layout.kind, ()), *known}
    used = [(f"where.{way}", each.column) for way in ("drop", "keep") for each in getattr(mapping, way)]
    used += [("layout.rows", mapping.layout.rows)] if mapping.layout.rows is not None else []
    used += [("layout.except", name) for name in mapping.layout.excluded]
    for key, rule in (each for rules in mapping.rules() for each in rules.items()):
        in_template = {part.text for part in rule.template if part.is_column} & {ROW, FILE, *BESIDE}
        used += [(f"columns.{key}", name) for name in rule.names if name not in in_template]
    for place, name in used:
        if name not in beside:
            refuse_name(mapping.name, place, name, known, table_name)


def check_needs(mapping: Map, grid: Grid) -> None:
    for name in mapping.needs if mapping.source.format == "csv" else ():
        if name not in grid.headings:
            refuse_file(grid.name, f"has no column {name} ({', '.join(grid.headings[:SHOWN_NAMES])})")


def refuse_name(map_name: str, place: str, name: str, known: list[str], table_name: str) -> None:
    hint = suggestion(name.strip(), known)
    shown = ", ".join(known[:SHOWN_NAMES]) + (", …" if len(known) > SHOWN_NAMES else "")
    raise ParameterError(f"{map_name}: {place}: {table_name} has no column {name!r}{hint} ({shown})")


def join_tables(grid: Grid, mapping: Map, load_side: Callable[[str], Grid]) -> pl.DataFrame:
    frame = grid.frame.with_columns(pl.Series(ROW_NUMBER, range(grid.frame.height), pl.UInt32))
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
            rows = frame[ROW_NUMBER].gather(alone)
            raise ResultsError(grid.name, [
                Fault(None, join.here, own[int(row)], f"has no row in {side.name}", grid.place(int(number)))
                for row, number in zip(alone, rows, strict=True)
            ])  # fmt: skip
        frame = frame.drop("\0key", "\0found")
    return frame


def filter_rows(frame: pl.DataFrame, mapping: Map, dropped: Counter[str]) -> pl.DataFrame:
    """The rows that count; others are counted by their reason. Conditions on cells wait until there are some."""
    for condition, keeps in [*((each, False) for each in mapping.drop), *((each, True) for each in mapping.keep)]:
        if condition.column not in frame.columns:
            continue
        texts = as_texts(frame[condition.column]).replace(dict.fromkeys(mapping.source.null))
        stays = meets(texts, condition) == keeps
        count = int((~stays).sum())
        if count:
            dropped[condition.reason] += count
            frame = frame.filter(stays)
    return frame


def from_one_side(frame: pl.DataFrame, mapping: Map, dropped: Counter[str]) -> pl.DataFrame:
    """The rows without those that tell of two who met from the other side than the first row about them does."""
    if not mapping.once:
        return frame
    one, other, *when = mapping.once
    first = pl.col(one).first().over(pl.min_horizontal(one, other), pl.max_horizontal(one, other), *when)
    stays = frame.select(pl.col(one).eq_missing(first)).to_series()
    dropped["from the other side"] += int((~stays).sum())
    return frame.filter(stays)


def meets(texts: pl.Series, condition: Condition) -> pl.Series:
    """Which cells meet a condition; one without a value meets only `null`."""
    if condition.null is not None:
        return texts.is_null() if condition.null else texts.is_not_null()
    found = texts.is_in(condition.among) if condition.matches is None else texts.str.contains(condition.matches)
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
    texts = (as_texts(frame[name]).replace(dict.fromkeys(null)) for name in (*names, layout.rows or ""))
    frame = frame.with_columns(texts)
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
    """The games of each pair of a crosstable: the row above the diagonal, its mirror; one half may say the other."""
    players = cells[ROW_NAME].to_list()
    number = mapping.layout.number
    lines = players if number is None else line_numbers(cells, number)
    below = [cells[name][line] for column, name in enumerate(names) for line in range(column + 1, cells.height)]
    is_result = any(rule.kind == "result" for rule in mapping.columns.values())
    is_half = not any(below) and is_result
    of_player = dict(zip(players, lines, strict=True))
    alone = [row for row, name in enumerate(players) if of_player[name] not in names or players.count(name) > 1]
    remedy = "is in the lines and not in the columns, or appears twice"
    faults = [Fault(None, None, players[row], remedy, grid.place(row)) for row in alone]
    faults += [Fault(None, name, None, "is in the columns and not in the lines") for name in names if name not in lines]
    if faults:
        raise ResultsError(grid.name, faults)
    met = [(one, other) for one in range(len(players)) for other in range(one + 1, len(players))]
    both = [(cells[of_player[players[other]]][one], cells[of_player[players[one]]][other]) for one, other in met]
    both = [(cell, mirrored(cell)) for cell, _ in both] if is_half else both
    played = as_games(both) if is_result else [[each] for each in both]
    rows: list[tuple[int, str, str, str | None, str]] = []
    for (one, other), cell_and_mirror, own in zip(met, both, played, strict=True):
        player, opponent, lacking = players[one], players[other], [each is None for each in cell_and_mirror]
        if own is None or [each.count(None) for each in own] == [1]:
            line, name = (one, opponent) if own is None or lacking[0] else (other, player)
            unfit = f"does not fit its mirror, {cell_and_mirror[1]}"
            remedy = "is empty, and its mirror is not" if any(lacking) else unfit
            faults.append(Fault(None, name, None if any(lacking) else cell_and_mirror[0], remedy, grid.place(line)))
        for count, (cell, mirror) in enumerate(own or (), start=1):
            column = opponent if count == 1 else f"{opponent} #{count}"
            rows += [(one, player, column, cell, player), (other, player, column, mirror, opponent)]
    if faults:
        raise ResultsError(grid.name, faults)
    return with_cells(cells, rows, (ROW_NAME, COLUMN, CELL, "\0player"))


Mirrors = tuple[str | None, str | None]  # two cells of a crosstable that tell of the same two


def as_games(met: Sequence[Mirrors]) -> list[list[Mirrors] | None]:
    """The games that cells of a crosstable and their mirrors tell of; None where they do not fit each other.

    Both tell of one; or both of several, as 1 0 and ½ ½; or, where most do not fit, each of its own with its
    line at home.
    """
    whole = [own for own in met if None not in own]
    alone = (read for read in map(results, whole) if read and all(map(is_alone, read)))
    totals = Counter(sum(own or 0 for own, _ in read) for read in alone)
    usual, often = max(totals.items(), key=itemgetter(1), default=(1.0, len(whole)))
    if often * 2 < len(whole) == totals.total() and usual > 1:
        return [[own] for own in met]
    unfit = [own for own in whole if not fit(own, usual)]
    if unfit:
        count = max(len(parted(cell or "")) for own in whole for cell in own)
        several = {own: in_several(own, count) for own in whole} if count > 1 else {}
        if several and all(several.values()):
            return [several.get(own, [own]) for own in met]
        if len(unfit) * 2 > len(whole) and all(own and not all(map(is_alone, own)) for own in map(results, unfit)):
            home = [[(own[0], mirrored(own[0])), (mirrored(own[1]), own[1])] for own in met]
            return [[each for each in games if each != (None, None)] for games in home]
    return [None if own in unfit else [own] for own in met]


def results(mirrors: Mirrors) -> list[Result] | None:
    """What two cells say; None where one says none."""
    read = [parse_result(cell or "") for cell in mirrors]
    return None if None in read else read  # type: ignore[return-value]


def is_alone(result: Result) -> bool:
    return result[1] is None or (result[0] in WHOLE and result[0] + result[1] == 1)


def fit(mirrors: Mirrors, total: float) -> bool:
    """Whether a cell and its mirror tell of one game: they share its points, as all do, or have them swapped."""
    read = results(mirrors)
    if read is None:  # of forfeits
        return not any(map(str.isdecimal, "".join(map(str, mirrors))))
    return sum(own or 0 for own, _ in read) == total if all(map(is_alone, read)) else read[0] == read[1][::-1]


def parted(cell: str) -> list[str]:
    return re.split(r"[\s/;|]+", plain(cell))


def in_several(mirrors: Mirrors, count: int) -> list[Mirrors] | None:
    """So many games of two cells, each of which lists them, or has a sum that they alone have."""
    of_both = []
    for cell in mirrors:
        read = [parse_result(part) or (None, None) for part in parted(cell or "")]
        points = [own for own, _ in read if own is not None]
        if len(points) == 1 and points[0] in (0, 0.5, count - 0.5, count):
            rest = count - math.ceil(points[0])
            points = [1.0] * int(points[0]) + [0.5] * (points[0] % 1 > 0) + [0.0] * rest
        of_both.append(points if len(points) == count and {*points} <= {*WHOLE} else [])
    own, other = of_both
    if not own or sorted(own) != sorted(1 - each for each in other):
        return None
    return [(f"{each:g}", f"{1 - each:g}") for each in own]


def with_cells(cells: pl.DataFrame, rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pl.DataFrame:
    table = cells[[row[0] for row in rows]] if rows else cells.clear()
    columns = zip(*(row[1:] for row in rows), strict=True) if rows else ([] for _ in names)
    return table.with_columns(pl.Series(name, cells, pl.String) for name, cells in zip(names, columns, strict=True))


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
            is_open = other is not None and mirror is None
            dropped["forfeit"] += is_open
            if game is None or is_open:
                continue
            if other is None or mirror is None or line_of.get(mirror.opponent) != line or not agree(game, mirror):
                remedy = "does not fit its opponent's cell"
                faults.append(Fault(None, name, cells[name][line], remedy, grid.place(line)))
            elif game.points is None:
                dropped["forfeit"] += line < other
            elif line < other:
                pair = f"{players[line]} - {players[other]}"
                both = (cells[name][each] or "" for each in (line, other))
                mark = UNRATED_MARK if any(UNRATED.fullmatch(each.replace(" ", "")) for each in both) else ""
                rows += [(own, name, f"{each.points}{mark}", pair) for own, each in ((line, game), (other, mirror))]
    if faults:
        raise ResultsError(grid.name, faults)
    dropped += Counter()  # without zeros
    return with_cells(cells, rows, (COLUMN, CELL, PAIR))


class Game(NamedTuple):
    """A cell of a Swiss list: the opponent's number, and the points; none of them for a forfeit."""

    opponent: str
    points: float | None


def game_text(text: str) -> str:
    """A cell of a Swiss list with the opponent's number first."""
    bare = plain(text).replace(" ", "")
    first = RESULT_FIRST.match(bare)
    if first is None:
        return bare
    letter, number, sign, number_of_sign = first.groups()
    return f"{number}-{letter}" if letter else f"{number_of_sign}-{'wdl'['+=-'.index(sign)]}"


def parse_game(text: str) -> Game | None:
    """A cell of a Swiss list, `4w1` or `12b½`; None for a round without an opponent, ValueError where it is neither."""
    bare = game_text(text)
    match = GAME.fullmatch(bare)
    if match is None:
        if ALONE.fullmatch(bare) or bare.lstrip("+-=").isalpha() or ABSENT.fullmatch(bare):
            return None
        raise ValueError(text)
    number, result = match[1], match[2].lower()
    if not int(number) or result in BYES:
        return None
    points = POINTS.get(result, float(result) if re.fullmatch(RESULTS["points"], result) else None)
    if points is not None and points not in WHOLE:
        raise ValueError(text)
    return Game(number, points)


def agree(game: Game, mirror: Game) -> bool:
    """Whether two cells tell of one game: both share its point, or it was a forfeit in both."""
    if game.points is None or mirror.points is None:
        return game.points is mirror.points
    return game.points + mirror.points == WHOLE[-1]


def is_scheme(rows: list[list[float]]) -> bool:
    """Whether rows are the points of one scheme, most to the first: all begin it, and its widest step is there."""
    ordered = [sorted(row, reverse=True) for row in rows]
    scheme = max(ordered, key=len)
    steps = [one - other for one, other in pairwise(scheme)]
    is_one = all(row == scheme[: len(row)] for row in ordered)
    return len(rows) > 1 and len(steps) > 1 and steps[0] > steps[-1] > 0 and is_one
