"""Tables in several parts: lines of text, blocks that follow titles or are side by side, and rows that count games."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise, takewhile, zip_longest
from typing import Any, NamedTuple

import polars as pl

from podium.importers import times
from podium.importers.grid import (
    ROW_NUMBER,
    SHEET,
    TITLE,
    VALUE,
    Grid,
    SourceRule,
    name_by_neighbours,
    number_repeats,
)
from podium.importers.sources import refuse_file
from podium.results import headings as heads
from podium.results.headings import fold, is_heading, is_statistic, is_total, known_column

MAX_FOOTERS = 5  # maximum number of rows that follow a table but do not belong to it
TALLY = r"^\+\s*(\d{1,3})\s*=\s*(\d{1,3})\s*[-\u2013\u2212]\s*(\d{1,3})$"
_WORDS = {
    "status": "|".join(sorted(times.STATUS_WORDS, key=len, reverse=True)).replace("_", " "),
    "date": times.IN_A_LINE,
    "beat": "|".join(heads.BEAT),
    "verbs": "|".join(phrase for phrase in heads.BEAT + heads.LOST + heads.DREW if len(phrase) > 2),
}
PATTERNS = heads.written_out(heads.WORDS["lines"], _WORDS)
LINE_PATTERNS = tuple(PATTERNS[name] for name in heads.WORDS["lines"] if name.startswith("row_"))
LISTED = re.compile(PATTERNS["listed"])
WITHOUT_PLACE = re.compile(PATTERNS["without_place"])
LABELLED = re.compile(r"(.{1,60}?)\s*[:\u2013-]\s+(?=1\S{0,2}\s)(.+)")
# neither a number nor a mark of a table, as in Ana 12, Ana - Ben or Winner: Ana
NAME = re.compile(r"(?!.*(?:^|\s)[\d.:\u2013-]+(?:\s|$))[^,;:|\t<>=]{1,60}")
ORDINALS = re.compile(heads.WORDS["results"]["listed"])
MESSAGE = re.compile(PATTERNS["message"])


def split_lists(text: str) -> str:
    """Convert lists in a text to lines or to a table.

    If "DNF: Ana, Ben" or "Ana dnf" follows places, it becomes one line per player, with the status first. Lines such as
    "Race 1: 1st Ana, 2nd Ben" become a table. A text of a single line, such as "1. Ana 2. Ben", becomes one line per
    place.
    """
    start, *listed = ORDINALS.split(text.strip())
    if not start and "\n" not in text.strip() and listed[::2] == [*map(str, range(1, len(listed) // 2 + 1))]:
        text = "\n".join(
            f"{place}. {name.strip(' .,;')}" for place, name in zip(listed[::2], listed[1::2], strict=True)
        )
    if re.search(r"(?m)^\s*1[.)]\s", text):
        text = LISTED.sub(lambda line: "\n".join(f"{line[1]} {name.strip()}" for name in line[2].split(",")), text)
        return WITHOUT_PLACE.sub(r"\2 \1", text)
    lines = [LABELLED.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    rows = [[line[1], *ORDINALS.split(line[2])[1:]] for line in lines if line]
    counts = [[*map(str, range(1, len(row) // 2 + 1))] for row in rows]
    has_more = any("," in name for row in rows for name in row[2::2])  # a name with a comma means several names
    if len(lines) < 2 or len(rows) < len(lines) or has_more or [row[1::2] for row in rows] != counts:
        return text
    head = ["Event", *(f"P{number}" for number in max(counts, key=len))]
    table = [head, *([row[0], *row[2::2], *[""] * (len(head) - 1 - len(row) // 2)] for row in rows)]
    return "\n".join(map("\t".join, table))


def messages(text: str) -> str:
    """Convert an exported chat to lines: each result after the day of its message, and each list below day and time.

    Messages that contain neither are left out. Return any other text as it is.
    """
    _, *parts = MESSAGE.split(text)
    lines = list[str]()
    for day, time, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        message = split_lists(body.strip())
        if first := re.search(r"(?m)^\s*1[.)]\s", message):
            mark = " " if first.start() else "\n"  # a title is on the line of the day
            lines.append(f"{day} {time.replace(':', '.')}{mark}{message}")
        elif pl.Series([message]).str.contains(PATTERNS["no_title"]).any():
            lines += [f"{day}: {line}" for line in message.splitlines()]
    return "\n".join(lines) or text


def number_names(text: str) -> str:
    """Number the names in a text that contains only names, from first to last.

    The names are on a line each, or on one line with commas or `>` between them. Return any other text as it is.
    """
    first, *rest = text.strip().splitlines() or [""]
    lines = [first, *rest] if rest else re.split("[,>]", first)
    names = pl.Series([line.strip().lstrip("🥇🥈🥉").lstrip() for line in lines])
    words = {fold(word) for word in " ".join(names).split()}
    is_table = any(map(is_heading, names)) or names.str.contains(PATTERNS["no_title"]).any()
    is_table = is_table or not words.isdisjoint({"vs", "v", *times.STATUS_WORDS})
    if len(names) < 2 or is_table or not names.is_unique().all() or not all(map(NAME.fullmatch, names)):
        return text
    return "\n".join(f"{place}. {name}" for place, name in enumerate(names, start=1))


def pattern_of(text: str) -> str | None:
    """Return the pattern of the lines if each certainly contains a match or a place, otherwise None."""
    lines = pl.Series(text.splitlines(), dtype=pl.String).str.strip_chars()
    lines = lines.filter(lines != "")
    for pattern in LINE_PATTERNS:
        rows = lines.str.contains(pattern)
        titles = lines.filter(~rows).str.replace(times.A_DATE, "")
        is_alone = rows.any() and rows.all() and "<Pos>" not in pattern  # a single result, such as Ana beat Ben 11-7
        if (rows.sum() > 1 or is_alone) and not titles.str.contains(PATTERNS["no_title"]).any():
            places = lines.filter(rows).str.extract(r"^(\d+)").cast(pl.Int64).drop_nulls()
            are_places = places.len() and places[0] == 1 and (places.diff().fill_null(0) < 3).all()
            return pattern if "<Pos>" not in pattern or are_places else None
    return None


def with_tabs(text: str) -> str:
    """Replace spaces with tabs if all lines with two consecutive spaces have these in the same columns."""
    lines = text.splitlines()
    rows = [line for line in lines if "  " in line.strip()]
    blanks = "".join(" " if set(column) <= {" "} else "x" for column in zip_longest(*rows, fillvalue=" "))
    cuts = [gap.end() for gap in re.finditer(r"(?<=x)  +(?=x)", blanks)]
    parts = [[line[start:end].strip() for start, end in pairwise([0, *cuts, None])] for line in rows]
    written = dict(zip(rows, map("\t".join, parts), strict=True))
    return "\n".join(written.get(line, line) for line in lines) if cuts else text


def from_lines(text: str, name: str, rule: SourceRule) -> Grid:
    """Return a table from lines with fixed columns.

    Lines that match the pattern become rows. All other lines are titles.
    """
    lines = pl.Series("line", text.splitlines(), pl.String)
    lines = lines if rule.width else lines.str.strip_chars()
    pattern = rule.pattern or r"^(?<line>.*)$"
    rows = lines.str.contains(pattern).arg_true()
    if not rows.len():
        refuse_file(name, f"has no line that matches the row pattern ({pattern})")
    frame = lines.gather(rows).str.extract_groups(pattern).struct.unnest()
    if rule.width:
        rest = lines.gather(rows).str.replace(pattern, "")
        above = lines.filter(lines.str.contains(rule.names or "$^"))
        over = above.str.replace(rule.names or "$^", "")[0] if above.len() else ""
        for start in range(0, max(map(len, rest)), rule.width):
            name_above = over[start : start + rule.width].strip()
            cells = rest.str.slice(start, rule.width)
            # there is no result
            cells = cells.str.replace(r"^(..[ \d]{3}\d(?: \S)?)\s*$", "${1}Z") if rule.names else cells
            cells = cells.str.replace_all(" ", "")
            frame = frame.with_columns(cells.alias(f"{start // rule.width + 1} {name_above}".strip()))
    frame = frame.select(pl.all().str.strip_chars()).select(column for column in frame.columns if frame[column].count())
    titles = pl.lit("\n".join(lines.filter(~lines.str.contains(pattern)))) if rule.width else titles_of(lines, rows)
    return Grid(name, frame.with_columns(titles.alias(TITLE)), labels=[f"line {row + 1}" for row in rows])


def titles_of(lines: pl.Series, rows: pl.Series) -> pl.Series:
    """Return the title of each row.

    The outer lines above the first block apply to all blocks, unless the blocks have dates.
    """
    found, above, numbers = list[str | None](), list[str](), {*rows}
    whole, title = "", None
    for number, line in enumerate(lines):
        if number not in numbers:
            above += [line] if line else []
            continue
        if above and not found:
            *outer, title = above
            whole = " ".join(outer)
        found.append(" ".join(above) if above and found else title)
        title, above = found[-1], []
    own = pl.Series(found, dtype=pl.String)
    dated = own.unique(maintain_order=True)[1:].str.contains(times.A_DATE).any()
    return own if dated or not whole else whole + " " + own


class Block(NamedTuple):
    title: str  # lines above the block
    rows: list[int]
    head: Mapping[str, str]  # this block's heading for each of the table's columns


def game_by_game(grid: Grid) -> Grid:
    """Return a table with one row per game if cells count games, such as +2 =3 -1 (wins, draws and losses)."""
    texts = [heading for heading in grid.headings if grid.frame[heading].dtype == pl.String]
    name = next((heading for heading in texts if grid.frame[heading].head(1).str.contains(TALLY).any()), None)
    if name is None or not grid.frame[name].str.contains(TALLY).fill_null(value=False).all():
        return grid
    counts = grid.frame[name].str.extract_groups(TALLY).struct.unnest().cast(pl.Int64)
    cells = [["1-0"] * won + ["½-½"] * drawn + ["0-1"] * lost for won, drawn, lost in counts.iter_rows()]
    frame = grid.frame.with_columns(pl.Series(name, cells)).with_row_index("\0line").explode(name).drop_nulls(name)
    labels = [grid.place(row) for row in frame["\0line"]]
    return replace(grid, frame=frame.drop("\0line"), labels=labels, notes=(*grid.notes, f"games counted by {name}"))


def below_each_other(grid: Grid) -> Grid:
    """Stack blocks that are side by side, each with a title above the same headings.

    Rows get the title of their block.
    """
    names = grid.headings
    for size in range(2, len(names) // 2 + 1):
        parts = [names[start : start + size] for start in range(0, len(names), size)]
        blocks = {part[0].rpartition(" ")[0]: part for part in parts}
        heads, *others = ([heading.removeprefix(f"{title} ") for heading in part] for title, part in blocks.items())
        is_named = {"player", "position"} <= {known_column(head) for head in heads}
        if is_named and all(own == heads for own in others) and all(blocks) and len(blocks) == len(parts):
            rows = [*range(grid.frame.height)]
            renamed = (Block(title, rows, dict(zip(own, heads, strict=True))) for title, own in blocks.items())
            whole = stacked(grid, renamed)
            has_more = pl.sum_horizontal(pl.col(heads).fill_null("") != "") > 1
            return whole.only(whole.frame.select(has_more).to_series().arg_true())
    return grid


def names_round(title: str) -> bool:
    """Return True if a line names a round or a race, by a date or by a word and a number."""
    words = [fold(word) for word in re.findall(r"[^\W\d_]{2,}", title)]
    is_named = any(known_column(word) == "event_id" or word in heads.ROUND for word in words)
    is_numbered = is_named and re.search(r"\d", title)
    return bool(is_numbered or heads.is_round(title) or pl.Series([title]).str.contains(times.A_DATE).any())


def in_blocks(grid: Grid) -> Grid:
    """Return a table with the titles of its blocks.

    A block begins if the head is repeated, or after the title of a round.
    """
    names, frame = grid.headings, grid.frame.select(grid.headings)
    if any(kind != pl.String for kind in frame.dtypes) or len(names) < 2 or not frame.height:
        return grid
    is_again = all(name and (frame[name] == name).any() for name in names)
    if not is_again and sum(frame[name].null_count() > 0 for name in names) < len(names) - 2:
        return grid
    title = grid.frame[TITLE][0] or "" if TITLE in grid.frame.columns else "1" if is_again else ""
    blocks = find_blocks(frame, title, is_again=is_again)
    titles, first = [block.title for block in blocks], blocks[0].head
    used = titles if blocks[0].rows else titles[1:]
    others = {block.title: block.head for block in blocks if block.head != first}
    are_clear = not any("event_id" in map(known_column, fold(other).split("_")) for other in filter(is_total, others))
    if len(titles) == 1 or not all(used) or len({*used}) < len(used) or not are_clear:  # as in a points race
        return grid
    sums = [title for title, head in others.items() if is_total(title) or is_of_teams(head, first)]
    named = zip(dated_titles(titles), blocks, strict=True)
    parts = [block._replace(title=title) for title, block in named if block.rows and block.title not in sums]
    if not parts:
        return grid
    notes = (f"without {' and '.join(sums)}",) if sums else ()
    return replace(stacked(grid, parts), notes=(*grid.notes, *notes))


def find_blocks(frame: pl.DataFrame, title: str, *, is_again: bool) -> list[Block]:
    """Return the blocks of a table.

    `title` belongs to the first block, and `is_again` is True if the head is repeated.
    """
    names = frame.columns
    blocks = [Block(title, [], dict(zip(names, names, strict=True)))]
    above: dict[int, str] = {}  # rows that become titles if a head or a row follows
    for number, row in enumerate(frame.fill_null("").iter_rows()):
        cells, count = dict.fromkeys(filter(None, row)), len([*filter(None, row)])
        own = (
            name_by_neighbours(number_repeats([*row]), [*row], [])
            if above and not any(map(VALUE.fullmatch, cells))
            else []
        )
        is_own = len({*filter(None, own)}) == count and sum(map(is_heading, cells)) > 1
        is_head, title = row == tuple(names) or is_own, " ".join(above.values())
        is_alone = len(cells) == 1 and count in (1, len(row))  # or a merged cell
        is_title = is_alone or (count == 2 < len(row) and any(map(names_round, cells)))
        if is_head or (above and not is_again and not is_title and names_round(title)):
            blocks.append(Block(title, [], dict(zip(names, own or row, strict=True)) if is_head else blocks[-1].head))
            above = {}
        if is_title:
            above[number] = " ".join(cells)
        elif cells and not is_head:
            blocks[-1].rows.extend((*above, number))
            above = {}
    blocks[-1].rows.extend(above)
    return blocks


def is_of_teams(head: Mapping[str, str], first: Mapping[str, str]) -> bool:
    """Return True if a head is for other entrants, such as teams, and the first head is for players."""
    meant, above = ({known_column(heading) for heading in own.values()} for own in (head, first))
    has_sides = not {*heads.MET}.isdisjoint(map(heads.side_of, head.values()))
    return "position" in meant and "player" in above - meant and not has_sides


def stacked(grid: Grid, blocks: Iterable[Block]) -> Grid:
    frame = grid.frame.with_row_index(ROW_NUMBER)
    beside = [column for column in frame.columns if column.startswith("\0") and column != TITLE]
    parts = []
    for title, rows, head in blocks:
        columns = (pl.col(column).alias(name) for column, name in head.items() if name)
        parts.append(frame[rows].select(*beside, pl.lit(title).alias(TITLE), *columns))
    table = pl.concat(parts, how="diagonal")
    return replace(grid, frame=table.drop(ROW_NUMBER), labels=[grid.place(row) for row in table[ROW_NUMBER]])


def dated_titles(titles: list[str]) -> list[str]:
    """Return the titles of blocks.

    If only the outer lines of the first block have a date, they precede every title.
    """
    outer, _, first = titles[0].rpartition("\n")
    dated = pl.Series([outer, first, *titles[1:]]).str.contains(times.A_DATE).arg_true().to_list()
    return [titles[0], *(f"{outer} {title}" for title in titles[1:])] if dated == [0] else titles


def drop_footer_rows(grid: Grid) -> tuple[list[dict[str, Any]], pl.Series]:
    """Return the conditions that drop sums and notes below each sheet, such as `Fastest lap: …`, and the other rows."""
    rows = grid.frame.with_row_index(ROW_NUMBER)
    sheets = rows.partition_by(SHEET, maintain_order=True) if SHEET in rows.columns else [rows]
    numbers = [sheet[ROW_NUMBER] for sheet in sheets]
    notes = {row: cell for own in numbers for row, cell in notes_below(grid.only(own), own).items()}
    left = rows.filter(~pl.col(ROW_NUMBER).is_in([*notes]))
    again = {note for note in notes.values() if (left[note[0]].cast(pl.String) == note[1]).any()}
    found = dict.fromkeys(note for note in notes.values() if note not in again)
    gone = [row for row, note in notes.items() if note in found]
    drops = [{"column": name, "equals": cell, "reason": "row below the table"} for name, cell in found]
    return drops, rows[ROW_NUMBER].filter(~rows[ROW_NUMBER].is_in(gone))


def notes_below(grid: Grid, numbers: pl.Series) -> dict[int, tuple[str, str]]:
    """Return the first cell of each note below a sheet, by row number. Notes lack values that all results have."""
    names, height = grid.headings, grid.frame.height
    texts = pl.col(names).cast(pl.String)
    last = grid.frame.slice(max(height - MAX_FOOTERS, 2)).select(texts).rows(named=True)
    cells_of = [{name: cell for name, cell in row.items() if cell is not None} for row in reversed(last)]
    alone = len([*takewhile(lambda cells: len(cells) == 1, cells_of)])
    edge = [grid.place(row) for row in (height - alone - 1, height - alone) if 0 <= row < height]
    lines = [int(end[1]) for place in edge if (end := re.search(r" (\d+)$", place))]
    is_apart = len(lines) == 2 and lines[1] - lines[0] > 1  # below an empty line
    notes = cells_of[:alone] if is_apart else [*takewhile(is_note, cells_of)]
    rows = grid.frame.head(height - len(notes)).select(texts) if notes else grid.frame
    found = dict[int, tuple[str, str]]()
    for number, cells in zip(reversed(numbers), notes, strict=False):
        first = next(iter(cells.items()))
        has_place = any(known_column(name) == "position" for name in cells)
        is_none = is_apart or (is_statistic(first[1]) and not has_place)
        lacks = is_none or any(rows[name].null_count() == 0 for name in names if name not in cells)
        if not lacks or first in found.values():
            break
        found[number] = first
    return found


def is_note(cells: Mapping[str, str]) -> bool:
    """Return True if a row begins with a word for a sum, or with a word and a colon."""
    first = next(iter(cells.values()), "")
    return is_total(first) or is_statistic(first) or re.match(r"[^\W\d][^:\d]*:(\s|$)", first) is not None
