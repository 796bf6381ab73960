"""Read the games in the cells of crosstables and Swiss lists, in which each game appears for both sides."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers.grid import Grid
from podium.importers.tables.cells import POINTS, RESULTS, WHOLE, Result, as_texts, mirrored, parse_result, plain
from podium.importers.tables.maps import CELL, COLUMN, PAIR, ROW_NAME, Layout, Map

GAME, RESULT_FIRST, ALONE = (re.compile(RESULTS[name]) for name in ["game", "result_first", "alone"])
ABSENT = re.compile(r"(?i)0+[a-z-]*")  # a round without an opponent
BYES = "hfuza"  # the letters that FIDE uses for rounds without a game
UNRATED, UNRATED_MARK = (
    re.compile(r"(?i)\d+[wb][wdl]"),
    "*",
)  # a game of less than one move, which has a mark after its points
BY_ORDER = "#"  # lines are numbered by their order


def line_numbers(cells: pl.DataFrame, number: str | None) -> list[str]:
    """Return the line numbers to which headings or cells refer, from a column or from the order of the lines."""
    in_order = [str(line) for line in range(1, cells.height + 1)]
    return in_order if number in (None, BY_ORDER) else [str(text) for text in as_texts(cells[number])]


def crosstable_games(cells: pl.DataFrame, names: list[str], mapping: Map, grid: Grid) -> pl.DataFrame:
    """Return the games of each pair in a crosstable, based on a cell and its mirror image. One half may be empty."""
    players = cells[ROW_NAME].to_list()
    number = mapping.layout.number
    lines = players if number is None else line_numbers(cells, number)
    remedy = "is a line but not a column, or appears twice"
    faults = [
        Fault(None, None, player, remedy, grid.place(row))
        for row, (player, line) in enumerate(zip(players, lines, strict=True))
        if line not in names or players.count(player) > 1
    ]
    faults += [Fault(None, name, None, "is a column but not a line") for name in names if name not in lines]
    if faults:
        raise ResultsError(grid.name, faults)
    is_result = any(rule.kind == "result" for rule in mapping.columns.values())
    below = (cell for column, name in enumerate(names) for cell in cells[name][column + 1 :])
    is_half = is_result and not any(below)
    met = [*combinations(range(len(players)), 2)]
    both = [(cells[lines[other]][one], cells[lines[one]][other]) for one, other in met]
    both = [(cell, mirrored(cell)) for cell, _ in both] if is_half else both
    played = as_games(both) if is_result else [[cells] for cells in both]
    rows: list[tuple[int, str, str, str | None, str]] = []
    for (one, other), cell_and_mirror, own in zip(met, both, played, strict=True):
        player, opponent, lacking = players[one], players[other], [cell is None for cell in cell_and_mirror]
        if own is None or [game.count(None) for game in own] == [1]:
            line, name = (one, opponent) if own is None or lacking[0] else (other, player)
            unfit = f"contradicts the opponent's cell, {cell_and_mirror[1]}"
            remedy = "is empty, but the opponent's cell is not" if any(lacking) else unfit
            faults.append(Fault(None, name, None if any(lacking) else cell_and_mirror[0], remedy, grid.place(line)))
        for count, (cell, mirror) in enumerate(own or (), start=1):
            column = opponent if count == 1 else f"{opponent} #{count}"
            rows += [(one, player, column, cell, player), (other, player, column, mirror, opponent)]
    if faults:
        raise ResultsError(grid.name, faults)
    return with_cells(cells, rows, (ROW_NAME, COLUMN, CELL, "\0player"))


Mirrors = tuple[str | None, str | None]  # two cells of a crosstable that belong to the same two players


def as_games(met: Sequence[Mirrors]) -> list[list[Mirrors] | None]:
    """Return the games in each pair of crosstable cells, or None if the two cells contradict each other.

    Both cells show the same game, or several games such as 1 0 and ½ ½. If most pairs of cells contradict each other,
    each cell shows the home game of its line's player.
    """
    whole = [own for own in met if None not in own]
    alone = (read for read in map(results, whole) if read and all(map(is_alone, read)))
    totals = Counter(sum(own or 0 for own, _ in read) for read in alone)
    usual, often = max(totals.items(), key=itemgetter(1), default=(1.0, len(whole)))
    if often * 2 < len(whole) == totals.total() and usual > 1:
        return [[own] for own in met]
    unfit = [own for own in whole if not sums_agree(own, usual)]
    if unfit:
        count = max(len(parted(cell or "")) for own in whole for cell in own)
        several = {own: in_several(own, count) for own in whole} if count > 1 else {}
        if several and all(several.values()):
            return [several.get(own, [own]) for own in met]
        if len(unfit) * 2 > len(whole) and all(own and not all(map(is_alone, own)) for own in map(results, unfit)):
            home = [[(own[0], mirrored(own[0])), (mirrored(own[1]), own[1])] for own in met]
            return [[game for game in games if game != (None, None)] for games in home]
    return [None if own in unfit else [own] for own in met]


def results(mirrors: Mirrors) -> list[Result] | None:
    """Return the results in two cells, or None if one of them has no result."""
    read = [parse_result(cell or "") for cell in mirrors]
    return None if None in read else read  # type: ignore[return-value]


def is_alone(result: Result) -> bool:
    return result[1] is None or (result[0] in WHOLE and result[0] + result[1] == 1)


def sums_agree(mirrors: Mirrors, total: float) -> bool:
    """Return True if two cells show the same game. The points then have the usual sum, or the scores are swapped."""
    read = results(mirrors)
    if read is None:  # the cells are forfeits
        return not any(map(str.isdecimal, "".join(map(str, mirrors))))
    return sum(own or 0 for own, _ in read) == total if all(map(is_alone, read)) else read[0] == read[1][::-1]


def parted(cell: str) -> list[str]:
    return re.split(r"[\s/;|]+", plain(cell))


def in_several(mirrors: Mirrors, count: int) -> list[Mirrors] | None:
    """Return `count` games from two cells, if each lists them, or has a sum that only one list of games can have."""
    of_both = []
    for cell in mirrors:
        read = [parse_result(part) or (None, None) for part in parted(cell or "")]
        points = [own for own, _ in read if own is not None]
        if len(points) == 1 and points[0] in (0, 0.5, count - 0.5, count):
            rest = count - math.ceil(points[0])
            points = [1.0] * int(points[0]) + [0.5] * (points[0] % 1 > 0) + [0.0] * rest
        of_both.append(points if len(points) == count and {*points} <= {*WHOLE} else [])
    own, other = of_both
    if not own or sorted(own) != sorted(1 - points for points in other):
        return None
    return [(f"{points:g}", f"{1 - points:g}") for points in own]


def with_cells(cells: pl.DataFrame, rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pl.DataFrame:
    table = cells[[row[0] for row in rows]] if rows else cells.clear()
    columns = zip(*(row[1:] for row in rows), strict=True) if rows else ([] for _ in names)
    return table.with_columns(pl.Series(name, cells, pl.String) for name, cells in zip(names, columns, strict=True))


def swiss_games(cells: pl.DataFrame, names: list[str], layout: Layout, grid: Grid) -> tuple[pl.DataFrame, Counter[str]]:
    """Return the games of a Swiss list by round, and for each reason the number of cells without a game.

    Both cells of a game must agree.
    """
    players = cells[ROW_NAME].to_list()
    line_of = {number.lstrip("0"): line for line, number in enumerate(line_numbers(cells, layout.number))}
    rows: list[tuple[int, str, str, str]] = []
    faults: list[Fault] = []
    dropped: Counter[str] = Counter()
    for name in names:
        read: list[Game | None] = []
        for line, cell in enumerate(cells[name]):
            try:
                read.append(None if cell is None else parse_game(cell))
            except ValueError:
                read.append(None)
                remedy = "must be the opponent's number, a colour and the points, such as 4w1 or 12b½"
                faults.append(Fault(None, name, cell, remedy, grid.place(line)))
            dropped["bye"] += cell is not None and read[-1] is None
        for line, game in enumerate(read):
            other = None if game is None else line_of.get(game.opponent)
            mirror = None if other is None else read[other]
            is_open = other is not None and mirror is None
            dropped["forfeit"] += is_open
            if game is None or is_open:
                continue
            if other is None or mirror is None or line_of.get(mirror.opponent) != line or not is_mirrored(game, mirror):
                remedy = "contradicts the opponent's cell"
                faults.append(Fault(None, name, cells[name][line], remedy, grid.place(line)))
            elif game.points is None:
                dropped["forfeit"] += line < other
            elif line < other:
                pair = f"{players[line]} - {players[other]}"
                both = (cells[name][row] or "" for row in (line, other))
                mark = UNRATED_MARK if any(UNRATED.fullmatch(cell.replace(" ", "")) for cell in both) else ""
                rows += [(own, name, f"{seen.points}{mark}", pair) for own, seen in ((line, game), (other, mirror))]
    if faults:
        raise ResultsError(grid.name, faults)
    return with_cells(cells, rows, (COLUMN, CELL, PAIR)), +dropped


class Game(NamedTuple):
    """A cell in a Swiss list: the opponent's number, and the points, which are None for a forfeit."""

    opponent: str
    points: float | None


def game_text(text: str) -> str:
    """Return a cell of a Swiss list with the opponent's number first."""
    bare = plain(text).replace(" ", "")
    first = RESULT_FIRST.match(bare)
    if first is None:
        return bare
    letter, number, sign, number_of_sign = first.groups()
    return f"{number}-{letter}" if letter else f"{number_of_sign}-{'wdl'['+=-'.index(sign)]}"


def parse_game(text: str) -> Game | None:
    """Parse a cell of a Swiss list, such as `4w1` or `12b½`. Return None for a round without an opponent."""
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


def is_mirrored(game: Game, mirror: Game) -> bool:
    """Return True if two cells show the same game. Then they share one point, or both show a forfeit."""
    if game.points is None or mirror.points is None:
        return game.points is mirror.points
    return game.points + mirror.points == WHOLE[-1]
