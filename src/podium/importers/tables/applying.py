"""A map applied to a table: rows of entrants in the columns of results, and which cells did not fit."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import reduce
from operator import or_

import numpy as np
import polars as pl

from podium.importers import times
from podium.importers.grid import ROW_NUMBER, Grid
from podium.importers.sources import stem
from podium.importers.tables.cells import Cells, Table, build
from podium.importers.tables.model import BESIDE, CELL, COLUMN, FILE, LAPS, PAIR, ROW, ROW_NAME, Map, Rule
from podium.importers.tables.unfolding import check_names, check_needs, filter_rows, join_tables, unfold
from podium.importers.times import LocalTimes
from podium.results.columns import ALL, STATUSES, SYNONYMS
from podium.results.hashing import runs
from podium.results.headings import FINISHED, OUTCOME_LETTERS, OUTCOMES, fold
from podium.results.names import normalise

NO_LEADER = "is a gap, and nobody before it in its event has a whole time"
NOT_OF_TABLES = (ROW, FILE, ROW_NAME, COLUMN, CELL, PAIR, *BESIDE)
ROUND = "\0round"
BAD, WRITTEN = "\0bad ", "\0written "  # before the name of a results column: which cells are bad, and as they were


@dataclass(frozen=True)
class Mapped:
    grid: Grid
    table: pl.DataFrame  # in the columns of results; bad cells are null
    rows: pl.Series  # of the grid, from 0
    bad: Mapping[str, tuple[pl.Series, pl.Series]]  # which cells of a column are bad, and all as they were written
    remedies: Mapping[str, str]
    headings: Mapping[str, str]  # the grid's column that a results column is made of, where it is one
    dropped: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()
    rounds: Mapping[str, str] = field(default_factory=dict)  # of event ids that Podium made; empty text if unknown

    def only_rows(self, rows: pl.Series) -> "Mapped":
        numbers = rows.arg_true() if rows.dtype == pl.Boolean else rows
        bad = {name: (which.gather(numbers), written.gather(numbers)) for name, (which, written) in self.bad.items()}
        return replace(self, table=self.table[numbers], rows=self.rows.gather(numbers), bad=bad)

    @property
    def any_bad(self) -> pl.Series:
        return reduce(or_, (which for which, _ in self.bad.values()))


def apply_map(grid: Grid, mapping: Map) -> Mapped:
    local = LocalTimes(mapping.source.timezone)
    frame = join_tables(grid, mapping)
    if mapping.is_preset:
        check_needs(mapping, grid)
        lacking = [each for each in mapping.names if each not in frame.columns and each not in NOT_OF_TABLES]
        frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in lacking)
    check_names(mapping, [name for name in frame.columns if not name.startswith("\0")], grid.name)
    frame, dropped = filter_rows(frame, mapping)
    sides, empty = unfold(frame, mapping, grid)
    dropped += empty
    parts: list[pl.DataFrame] = []
    remedies: dict[str, str] = {}
    headings: dict[str, str] = {}
    made = mapping.round_of_made_ids
    for side, (unfolded, rules) in enumerate(zip(sides, mapping.rules(), strict=True)):
        rows, more = filter_rows(unfolded, mapping) if mapping.layout.rows is not None else (unfolded, Counter[str]())
        dropped += more
        numbers = rows[ROW_NUMBER].cast(pl.Int64)
        shown = numbers + (grid.first_row if grid.labels is None else 1)
        table = Table(rows, mapping.source, stem(grid.name), shown, local)
        columns = build_columns(table, with_player(rules, mapping))
        for name, cells in columns.items():
            remedies[name] = remedies.get(name) or cells.remedy
            if len(cells.sources) == 1 and cells.sources[0] in grid.frame.columns:
                headings.setdefault(name, cells.sources[0].lstrip("^." if mapping.is_preset else ""))
        split = rules["player"].split if "player" in rules else None
        laid = laid_out(columns, rows[ROW_NUMBER], side)
        if made is not None:
            laid = laid.with_columns(round_names(table, made).alias(ROUND))
        parts.append(with_members(laid, split) if split else laid)
    laid = parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal_relaxed").sort(ROW_NUMBER, "\0side")
    names = [name for name in ALL if name in laid.columns]
    are_bad = {name: laid[BAD + name].fill_null(value=False) for name in names if BAD + name in laid.columns}
    bad = {name: (which, laid[WRITTEN + name]) for name, which in are_bad.items()}
    made_ids = zip(laid["event_id"], laid[ROUND], strict=True) if made is not None else ()
    rounds = {form: name or "" for each, name in made_ids if each for form in (each, normalise(each))}
    mapped = Mapped(grid, laid.select(names), laid[ROW_NUMBER], bad, remedies, headings, dropped, local.notes(), rounds)
    if mapping.is_distinct and not bad:  # bad cells are all empty, and not the same
        mapped = mapped.only_rows(mapped.table.to_struct().is_first_distinct())
    return by_event(mapped)


def round_names(table: Table, headings: tuple[str, ...]) -> pl.Series:
    """Return the round or game number of each row, as "R2" or "Game 3"; empty text if the table has none."""
    cells = pl.DataFrame([table.texts(each).alias(each) for each in headings])
    if not headings:
        return pl.Series([""], dtype=pl.String).new_from_index(0, table.frame.height)
    shown = [
        pl.when(pl.col(each).str.contains(r"^\d+$")).then(pl.format(f"{each} {{}}", each)).otherwise(each)
        for each in headings
    ]
    return cells.select(pl.concat_str(shown, separator=" ", ignore_nulls=True)).to_series()


def with_player(rules: Mapping[str, Rule], mapping: Map) -> Mapping[str, Rule]:
    """Return the rules, with the lines' names as players where a grid's map names none."""
    player = {"matrix": ROW_NAME, "swiss": ROW_NAME, "crosstable": "\0player"}.get(mapping.layout.kind)
    return rules if player is None or "player" in rules else {**rules, "player": Rule(columns=(player,))}


def build_columns(table: Table, rules: Mapping[str, Rule]) -> dict[str, Cells]:
    """Return every results column; statuses come from places and times where the map has no rule for them."""
    columns = {name: build(table, name, rule) for name, rule in rules.items()}
    for name in ("position", "time_s", "score"):
        statuses = columns[name].statuses if name in columns else None
        if statuses is not None and "status" not in rules:
            before = columns["status"].column if "status" in columns else statuses
            merged = before.zip_with(before.is_not_null(), statuses)
            columns["status"] = Cells(merged.alias("status"), sources=columns[name].sources)
    time_s = columns.get("time_s")
    if time_s is not None and time_s.gaps is not None and "event_id" in columns:
        columns["time_s"] = whole_times(columns, time_s, rules["time_s"].gap == "leader")
    laps = columns.pop(LAPS, None)
    return columns if laps is None else by_laps(columns, laps)


def by_laps(columns: dict[str, Cells], laps: Cells) -> dict[str, Cells]:
    """Return the columns with places by laps and then time, if they have none, and without times of lapped racers."""
    heat = ["event_id", *(["heat"] if "heat" in columns else [])]
    nothing = pl.Series("time_s", [None], pl.Float64).new_from_index(0, laps.column.len())
    time_s = columns["time_s"].column if "time_s" in columns else nothing
    table = pl.DataFrame([*(columns[name].column for name in heat), laps.column.alias(LAPS), time_s.alias("time_s")])
    order = table.unique().sort(LAPS, "time_s", descending=[True, False], nulls_last=True)
    order = order.with_columns(position=pl.int_range(1, pl.len() + 1).over(heat).cast(pl.Float64))
    placed = table.join(order, on=table.columns, how="left", nulls_equal=True, maintain_order="left")
    if "position" not in columns:
        columns["position"] = replace(laps, column=placed["position"])
    if "time_s" in columns:
        lapped = table.select(pl.col(LAPS) < pl.col(LAPS).max().over(heat)).to_series()
        columns["time_s"] = replace(columns["time_s"], column=time_s.set(lapped, None))
    return columns


def with_members(laid: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return a row for each of those who share a side, which is their team."""
    members = pl.col("player").str.split(split)
    team = pl.when(members.list.len() > 1).then("player").alias("team")
    rows = laid.with_columns(*([] if "team" in laid.columns else [team]), members.alias("player"))
    return rows.explode("player").with_columns(pl.col("player").str.strip_chars())


def whole_times(columns: Mapping[str, Cells], time_s: Cells, from_leader: bool) -> Cells:  # noqa: FBT001
    """Return times of gaps: each added to the best whole time of its event, or to the time before it."""
    heat = columns["heat"].column if "heat" in columns else pl.lit("").alias("heat")
    order = columns["position"].column.cast(pl.Float64, strict=False) if "position" in columns else pl.lit(0.0)
    series = {"event": columns["event_id"].column, "time": time_s.column, "sign": time_s.gaps}
    table = pl.DataFrame(series).with_columns(heat.alias("heat"), order.alias("order"))
    gap = (table["sign"] == "+") & table["time"].is_not_null()
    if from_leader:
        plain = pl.when(pl.col("sign") == "").then("time").min().over("event", "heat")
        base = table.select(plain.alias("base")).to_series()
        sums = times.add(base, table["time"])
    else:
        sums = after_each_other(table)
    seconds = sums.zip_with(gap, table["time"]).alias("time_s")
    alone = gap & sums.is_null()
    bad = alone if time_s.bad is None else time_s.bad | alone
    remedy = NO_LEADER if alone.any() else time_s.remedy
    return Cells(seconds, bad, time_s.written, remedy, time_s.sources, time_s.statuses)


def after_each_other(table: pl.DataFrame) -> pl.Series:
    """Return the times of gaps to whom is ahead, by place where there is one, else as they stand."""
    ordered = table.with_row_index("row").sort("event", "heat", "order", maintain_order=True, nulls_last=True)
    sums: list[float | None] = [None] * table.height
    key, before = None, None
    for row, event, heat, time, sign in ordered.select("row", "event", "heat", "time", "sign").iter_rows():
        if (event, heat) != key:
            key, before = (event, heat), None
        if time is None:
            continue
        own = Decimal(repr(time))
        before = own if sign == "" else None if before is None else before + own
        sums[row] = None if before is None else float(before)
    return pl.Series(sums, dtype=pl.Float64)


def laid_out(columns: Mapping[str, Cells], numbers: pl.Series, side: int) -> pl.DataFrame:
    parts = [numbers, pl.Series("\0side", [side], pl.UInt32).new_from_index(0, numbers.len())]
    for name, cells in columns.items():
        column = cells.column.alias(name)
        if cells.bad is not None and cells.bad.any():
            written = cells.column if cells.written is None else cells.written
            parts += [column.set(cells.bad, None), cells.bad.alias(BAD + name), written.alias(WRITTEN + name)]
        else:
            parts.append(column)
    return pl.DataFrame(parts)


def by_event(mapped: Mapped) -> Mapped:
    """Return the rows event by event, in the order in which the table has them first."""
    if "event_id" not in mapped.table.columns or not mapped.table.height:
        return mapped
    ids = mapped.table["event_id"].fill_null("")
    _, starts = runs(ids)
    if starts.size == ids.n_unique():
        return mapped
    first = pl.DataFrame({"id": ids}).with_row_index("row").select(pl.col("row").min().over("id")).to_series()
    return mapped.only_rows(pl.Series(np.argsort(first.to_numpy(), kind="stable")))


def drop_small(mapped: Mapped) -> Mapped:
    """Return the rows of events of two entrants and more; others are counted."""
    if "event_id" not in mapped.table.columns:
        return mapped
    sizes = mapped.table.select(pl.len().over("event_id")).to_series()
    small = sizes < 2  # noqa: PLR2004
    if not small.any():
        return mapped
    dropped = mapped.dropped + Counter({"too few": mapped.table["event_id"].filter(small).n_unique()})
    return replace(mapped.only_rows(~small), dropped=dropped)


def decimal_marks(columns: Iterable[pl.Series]) -> str:
    """Return the decimal mark of numbers and times: a point, a comma, `both` where either may be, or nothing."""
    texts = [column for column in columns if column.len()]
    if not texts:
        return ""
    everything = pl.concat([column.alias("cell") for column in texts])
    comma, point = (everything.str.contains(rf"[0-9]{each}[0-9]+\s*\p{{L}}*\.?$").any() for each in (",", r"\."))
    return "both" if comma and point else "," if comma else "." if point else ""


def may_be_thousands(texts: pl.Series) -> str:
    """Return the first number with a mark that may part its thousands, where all the column's may; else nothing."""
    plain = texts.str.strip_chars().drop_nulls()
    marked = plain.filter(plain.str.contains("[.,]"))
    grouped = marked.str.contains(r"^[+-]?[0-9]{1,3}([.][0-9]{3})+$|^[+-]?[0-9]{1,3}(,[0-9]{3})+$")
    others = plain.filter(~plain.str.contains("[.,]"))
    alike = marked.len() and grouped.all() and not others.str.contains("[0-9]{4}").any()
    return str(marked[0]) if alike else ""


def outcome_points(words: Iterable[str], table: Mapping[float, str] = OUTCOMES) -> dict[str, float]:
    """Return the points of each word, where all say that somebody won, lost or drew; else nothing."""
    points = {word: own for own, names in table.items() for word in names.split()}
    bare = {word: word.strip().lower().rstrip(".") for word in words}
    letters = sorted({*bare.values()}) if table is OUTCOMES else []
    ways = {tuple(map(each.find, letters)) for each in OUTCOME_LETTERS if all(letters)}
    ways = {way for way in ways if {0, 2} <= {*way} and -1 not in way}  # some won, and others lost
    if len(ways) == 1:
        points |= zip(letters, (1 - place / 2 for place in ways.pop()), strict=True)
    found = {word: points.get(own) for word, own in bare.items()}
    return {word: own for word, own in found.items() if own is not None} if None not in found.values() else {}


def status_words(words: list[str]) -> dict[str, str]:
    """Return the status of each word that surely has one, in any case; those that are one already with itself."""
    found: dict[str, str] = {}
    for word in words:
        plain = word.strip().lower().replace(" ", "_").replace("-", "_").rstrip(".")
        if plain in STATUSES:
            found[word] = plain
        elif fold(word) in FINISHED or times.is_lapped(word):
            found[word] = "finished"
        elif status := times.status_word(word) or SYNONYMS.get(plain):
            found[word] = status
    return found
