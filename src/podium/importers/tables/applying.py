"""Apply a map to a table.

The result has one row per entrant, with the results columns and the cells that do not fit.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import polars as pl

from podium.errors import Fault, ParameterError, ResultsError
from podium.importers import times
from podium.importers.files import load
from podium.importers.grid import ROW_NUMBER, Grid, SourceRule
from podium.importers.sources import refuse_file, sources, stem
from podium.importers.tables.cells import Cells, Table, as_texts, build, constant
from podium.importers.tables.crosstables import crosstable_games, swiss_games
from podium.importers.tables.maps import (
    BESIDE,
    CELL,
    COLUMN,
    FILE,
    LAPS,
    PAIR,
    PLACEHOLDER,
    ROW,
    ROW_NAME,
    Condition,
    Join,
    Map,
    Rule,
)
from podium.importers.times import LocalTimes
from podium.results.columns import ALL, STATUSES, SYNONYMS
from podium.results.headings import FINISHED, OUTCOME_LETTERS, OUTCOMES, detail_of, fold
from podium.results.names import normalise
from podium.support.words import suggestion

NO_LEADER = "is a gap, but no earlier row of the event has a full time"
NOT_OF_TABLES = (ROW, FILE, ROW_NAME, COLUMN, CELL, PAIR, *BESIDE)
ROUND, SIDE, ORDER = "\0round", "\0side", "\0order"
# prefixes of a results column's name, for its bad cells and its original texts
BAD, WRITTEN = "\0bad ", "\0written "


@dataclass(frozen=True)
class Mapped:
    grid: Grid
    frame: pl.DataFrame  # columns of results with bad cells set to null, `BAD` and `WRITTEN` columns, and the row
    remedies: Mapping[str, str]
    headings: Mapping[str, str]  # for each results column, the grid's column, if it is only one
    dropped: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()
    # round by event ID that Podium made; empty if unknown
    rounds: Mapping[str, str] = field(default_factory=dict)
    detail_headings: Mapping[str, str] = field(default_factory=dict)  # the grid's column for each detail of players

    @property
    def details(self) -> tuple[dict[str, str], ...]:
        """The last details of each player in the rows, as `Store.set_details` takes them."""
        if not self.detail_headings:
            return ()
        cells = self.grid.frame[self.rows].select(
            pl.col(heading).cast(pl.String).str.strip_chars().replace("", None).alias(detail)
            for detail, heading in self.detail_headings.items()
        )
        cells = cells.with_columns(self.table["player"].cast(pl.String)).drop_nulls("player")
        last = cells.group_by("player", maintain_order=True).agg(pl.all().drop_nulls().last()).to_dicts()
        found = ({name: text for name, text in row.items() if text is not None} for row in last)
        return tuple(row for row in found if len(row) > 1)

    @cached_property
    def table(self) -> pl.DataFrame:
        return self.frame.select(name for name in self.frame.columns if not name.startswith("\0"))

    @property
    def rows(self) -> pl.Series:
        """The number, from 0, of the grid's row from which each row comes."""
        return self.frame[ROW_NUMBER]

    @property
    def bad(self) -> dict[str, tuple[pl.Series, pl.Series]]:
        """A mask of the bad cells, and all original texts, for each column."""
        names = (name.removeprefix(BAD) for name in self.frame.columns if name.startswith(BAD))
        return {name: (self.frame[BAD + name], self.frame[WRITTEN + name]) for name in names}

    def only_rows(self, rows: pl.Series) -> "Mapped":
        return replace(self, frame=self.frame.filter(rows))


def apply_map(grid: Grid, mapping: Map) -> Mapped:
    local = LocalTimes(mapping.source.timezone)
    frame = join_tables(grid, mapping)
    if mapping.is_preset:
        check_needs(mapping, grid)
        lacking = [name for name in mapping.names if name not in frame.columns and name not in NOT_OF_TABLES]
        frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in lacking)
    check_names(mapping, [name for name in frame.columns if not name.startswith("\0")], grid.name)
    frame, dropped = drop_rows(frame, mapping.drop)
    if mapping.once:
        frame, dropped["from the other side"] = from_one_side(frame, mapping.once)
    sides, empty = unfold(frame, mapping, grid)
    dropped += empty
    parts: list[pl.DataFrame] = []
    remedies: dict[str, str] = {}
    headings: dict[str, str] = {}
    made = mapping.round_of_made_ids
    for side, (unfolded, rules) in enumerate(zip(sides, mapping.rules(), strict=True)):
        rows, more = drop_rows(unfolded, mapping.drop)  # conditions on cells of a grid
        dropped += more
        table = Table(with_beside(rows, mapping, grid), mapping.source, local, mapping.layout.kind == "wide")
        columns = build_columns(table, with_player(rules, mapping))
        for name, cells in columns.items():
            remedies[name] = remedies.get(name) or cells.remedy
            rule = rules.get(name) or rules.get(LAPS, Rule())
            own = [heading for heading in rule.names if heading not in rule.started]
            if len(own) == 1 and own[0] in grid.frame.columns:
                headings.setdefault(name, own[0].lstrip("^." if mapping.is_preset else ""))
        split = rules["player"].split if "player" in rules else None
        laid = laid_out(columns, rows[ROW_NUMBER], side)
        if made is not None:
            laid = laid.with_columns(round_names(table, made).alias(ROUND))
        if side > 1 and "team" not in columns:  # not every game has a third player
            laid = laid.drop_nulls("player")
        parts.append(with_members(laid, split) if split else laid)
    laid = parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal_relaxed").sort(ROW_NUMBER, SIDE)
    names = [name for name in ALL if name in laid.columns]
    bad = [BAD + name for name in names if BAD + name in laid.columns]
    made_ids = zip(laid["event_id"], laid[ROUND], strict=True) if made is not None else ()
    rounds = {form: name or "" for event_id, name in made_ids if event_id for form in (event_id, normalise(event_id))}
    written = (name.replace(BAD, WRITTEN) for name in bad)
    frame = laid.select(ROW_NUMBER, *names, *written, *(pl.col(name).fill_null(value=False) for name in bad))
    mapped = Mapped(grid, frame, remedies, headings, dropped, local.notes(), rounds, detail_headings(grid, mapping))
    if mapping.distinct and not bad:  # bad cells are all empty now, but may have been different
        mapped = mapped.only_rows(mapped.table.to_struct().is_first_distinct())
    return by_event(mapped)


def with_beside(rows: pl.DataFrame, mapping: Map, grid: Grid) -> pl.DataFrame:
    """Return the rows with columns for placeholders such as {file}, unless the table has columns of these names."""
    first = grid.first_row if grid.labels is None else 1
    values = {ROW: (pl.col(ROW_NUMBER).cast(pl.Int64) + first).cast(pl.String), FILE: pl.lit(stem(grid.name))}
    values |= {name: pl.col(own) if own in rows.columns else pl.lit(None, pl.String) for name, own in BESIDE.items()}
    needed = mapping.names.difference(rows.columns)
    return rows.with_columns(value.alias(name) for name, value in values.items() if name in needed)


def detail_headings(grid: Grid, mapping: Map) -> dict[str, str]:
    """Return the column for each detail of players, among the columns without a meaning for results.

    The teams in a column such as `Club` are also the players' clubs.
    """
    player = mapping.columns.get("player")
    if mapping.layout.kind != "long" or mapping.is_preset or player is None or player.split:
        return {}
    used = {name for key, rule in mapping.columns.items() if key != "team" for name in rule.names}
    unused = [name for name in grid.headings if name not in used and not grid.frame[name].dtype.is_nested()]
    found: dict[str, str] = {}
    for name in unused:
        if detail := detail_of(name):
            found.setdefault(detail, name)
    return found


def round_names(table: Table, headings: tuple[str, ...]) -> pl.Series:
    """Return the round or game number of each row, such as "R2" or "Game 3".

    The result is empty if the table has no such numbers.
    """
    cells = pl.DataFrame([table.texts(heading).alias(heading) for heading in headings])
    if not headings:
        return constant("", table.frame.height)
    shown = [
        pl.when(pl.col(heading).str.contains(r"^\d+$")).then(pl.format(f"{heading} {{}}", heading)).otherwise(heading)
        for heading in headings
    ]
    return cells.select(pl.concat_str(shown, separator=" ", ignore_nulls=True)).to_series()


def with_player(rules: Mapping[str, Rule], mapping: Map) -> Mapping[str, Rule]:
    """Return the rules. If a grid's map has no rule for players, the names of the lines are the players."""
    player = {"matrix": ROW_NAME, "swiss": ROW_NAME, "crosstable": "\0player"}.get(mapping.layout.kind)
    return rules if player is None or "player" in rules else {**rules, "player": Rule(columns=(player,))}


def build_columns(table: Table, rules: Mapping[str, Rule]) -> dict[str, Cells]:
    """Build every results column.

    If there is no rule for statuses, words in places, times and scores provide them.
    """
    columns = {name: build(table, name, rule) for name, rule in rules.items()}
    for name in ("position", "time_s", "score"):
        statuses = columns[name].statuses if name in columns else None
        if statuses is not None and "status" not in rules:
            before = columns["status"].column if "status" in columns else statuses
            merged = before.zip_with(before.is_not_null(), statuses)
            columns["status"] = Cells(merged.alias("status"))
    time_s = columns.get("time_s")
    if time_s is not None and time_s.gaps is not None and "event_id" in columns:
        columns["time_s"] = whole_times(columns, time_s, time_s.gaps, from_leader=rules["time_s"].gap == "leader")
    laps = columns.pop(LAPS, None)
    return columns if laps is None else by_laps(columns, laps)


def by_laps(columns: dict[str, Cells], laps: Cells) -> dict[str, Cells]:
    """If places are missing, assign them by laps and then by time, and remove the times of lapped racers."""
    heat = ["event_id", *(["heat"] if "heat" in columns else [])]
    nothing = pl.Series("time_s", [None] * laps.column.len(), pl.Float64)
    time_s = columns["time_s"].column if "time_s" in columns else nothing
    table = pl.DataFrame([*(columns[name].column for name in heat), laps.column.alias(LAPS), time_s.alias("time_s")])
    order = pl.struct(key.fill_null(float("inf")) for key in (-pl.col(LAPS), pl.col("time_s")))
    position = table.select(order.rank("dense").over(heat).cast(pl.Float64)).to_series()
    if "position" not in columns:
        columns["position"] = replace(laps, column=position)
    if "time_s" in columns:
        lapped = table.select(pl.col(LAPS) < pl.col(LAPS).max().over(heat)).to_series()
        columns["time_s"] = replace(columns["time_s"], column=time_s.set(lapped, None))
    return columns


def with_members(laid: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return one row for each member of a side. The side becomes the member's team."""
    members = pl.col("player").str.split(split)
    team = pl.when(members.list.len() > 1).then("player").alias("team")
    rows = laid.with_columns(*([] if "team" in laid.columns else [team]), members.alias("player"))
    return rows.explode("player").with_columns(pl.col("player").str.strip_chars())


def whole_times(columns: Mapping[str, Cells], time_s: Cells, gaps: pl.Series, *, from_leader: bool) -> Cells:
    """Convert gaps to times, by adding each exactly to the heat's best full time, or to the previous time."""
    seconds, signs = time_s.column.to_list(), gaps.to_list()
    heats = [*zip(*(columns[name].column for name in ("event_id", "heat") if name in columns), strict=True)]
    order = [*range(len(seconds))]
    if from_leader:
        order.sort(key=lambda row: (signs[row] != "", seconds[row] or 0.0))  # full times first
    elif "position" in columns:
        positions = columns["position"].column.cast(pl.Float64, strict=False).fill_null(float("inf"))
        order.sort(key=positions.to_list().__getitem__)
    bases: dict[tuple[str, ...], Decimal] = {}
    sums: list[float | None] = [None] * len(seconds)
    for row in order:
        heat, time = heats[row], seconds[row]
        if time is None or (signs[row] and heat not in bases):
            continue
        whole = Decimal(repr(time)) + (bases[heat] if signs[row] else 0)
        if heat not in bases or not from_leader:
            bases[heat] = whole
        sums[row] = float(whole)
    column = pl.Series("time_s", sums, pl.Float64)
    alone = (gaps == "+") & column.is_null() & time_s.column.is_not_null()
    bad = alone if time_s.bad is None else time_s.bad | alone
    return replace(time_s, column=column, bad=bad, remedy=NO_LEADER if alone.any() else time_s.remedy, gaps=None)


def laid_out(columns: Mapping[str, Cells], numbers: pl.Series, side: int) -> pl.DataFrame:
    parts = [numbers]
    for name, cells in columns.items():
        column = cells.column.alias(name)
        if cells.bad is not None and cells.bad.any():
            written = cells.column if cells.written is None else cells.written
            parts += [column.set(cells.bad, None), cells.bad.alias(BAD + name), written.alias(WRITTEN + name)]
        else:
            parts.append(column)
    return pl.DataFrame(parts).with_columns(pl.lit(side).alias(SIDE))


def by_event(mapped: Mapped) -> Mapped:
    """Sort the rows by event. Events keep the order in which they first appear."""
    if "event_id" not in mapped.frame.columns:
        return mapped
    first = pl.col(ORDER).min().over(pl.col("event_id").fill_null(""))
    return replace(mapped, frame=mapped.frame.with_row_index(ORDER).sort(first, maintain_order=True).drop(ORDER))


def drop_small(mapped: Mapped) -> Mapped:
    """Keep events that have at least two entrants, and count the remaining events."""
    if "event_id" not in mapped.table.columns:
        return mapped
    sizes = mapped.table.select(pl.len().over("event_id")).to_series()
    small = sizes < 2  # noqa: PLR2004
    dropped = mapped.dropped + Counter({"too few": mapped.table["event_id"].filter(small).n_unique()})
    return replace(mapped.only_rows(~small), dropped=dropped)


def may_be_thousands(texts: pl.Series) -> str:
    """Return the first number whose mark may separate thousands, if all marks in the column may do so."""
    plain = texts.str.strip_chars().drop_nulls()
    marked = plain.filter(plain.str.contains("[.,]"))
    grouped = marked.str.contains(r"^[+-]?[0-9]{1,3}([.][0-9]{3})+$|^[+-]?[0-9]{1,3}(,[0-9]{3})+$")
    others = plain.filter(~plain.str.contains("[.,]"))
    alike = marked.len() and grouped.all() and not others.str.contains("[0-9]{4}").any()
    return str(marked[0]) if alike else ""


def outcome_points(words: Iterable[str], table: Mapping[float, str] = OUTCOMES) -> dict[str, float]:
    """Return the points for each word if all words mean a win, a loss or a draw. Otherwise, return an empty dict."""
    points = {word: own for own, names in table.items() for word in names.split()}
    bare = {word: word.strip().lower().rstrip(".") for word in words}
    letters = sorted({*bare.values()}) if table is OUTCOMES else []
    ways = {tuple(map(letter.find, letters)) for letter in OUTCOME_LETTERS if all(letters)}
    ways = {way for way in ways if {0, 2} <= {*way} and -1 not in way}  # includes both wins and losses
    if len(ways) == 1:
        points |= zip(letters, (1 - place / 2 for place in ways.pop()), strict=True)
    found = {word: points.get(own) for word, own in bare.items()}
    return {word: own for word, own in found.items() if own is not None} if None not in found.values() else {}


def status_words(words: list[str]) -> dict[str, str]:
    """Return the status for each word that clearly means one, in upper or lower case.

    Statuses themselves are included.
    """
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


SHOWN_NAMES = 20
OF_CELLS = ROW_NAME, COLUMN, CELL
PARTS = {"matrix": OF_CELLS, "crosstable": OF_CELLS, "swiss": (*OF_CELLS, PAIR)}


def check_names(mapping: Map, columns: Iterable[str], table_name: str) -> None:
    known = list(columns)
    columns = {*PARTS.get(mapping.layout.kind, ()), *known}
    used = [
        (f"where.{'keep' if condition.is_unless else 'drop'}", name)
        for condition in mapping.drop
        for name in condition.names
    ]
    used += [("layout.rows", mapping.layout.rows)] if mapping.layout.rows is not None else []
    used += [("layout.except", name) for name in mapping.layout.excluded]
    for key, rule in (item for rules in mapping.rules() for item in rules.items()):
        in_template = {*PLACEHOLDER.findall(" ".join(rule.first))} & {ROW, FILE, *BESIDE}
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
    """Return a table's numbered rows, including the columns from its side tables."""
    frame = grid.frame.with_columns(pl.Series(ROW_NUMBER, range(grid.frame.height), pl.UInt32))
    for name, join in mapping.join.items():
        frame = join_table(frame, name, join, grid, mapping)
    return frame


def join_table(frame: pl.DataFrame, name: str, join: Join, grid: Grid, mapping: Map) -> pl.DataFrame:
    """Add the columns of a side table. Each row must have exactly one match in the side table."""
    side = load_side(join.file, grid, mapping)
    ends = ("here", join.here, frame.columns, grid), ("there", join.there, side.frame.columns, side)
    for end, key, known, where in ends:
        if key not in known:
            refuse_name(mapping.name, f"join.{name}.on.{end}", key, list(known), where.name)
    keys, own = as_texts(side.frame[join.there]), as_texts(frame[join.here])
    twice = (keys.is_duplicated() & keys.is_not_null()).arg_true()
    if twice.len():
        row = int(twice[1])
        fault = Fault(None, join.there, keys[row], "appears twice. Each row must have one partner.", side.place(row))
        raise ResultsError(side.name, [fault])
    alone = frame[ROW_NUMBER].filter(~own.is_in(keys.drop_nulls().implode()).fill_null(value=False))
    if alone.len():
        remedy = f"has no row in {side.name}"
        raise ResultsError(grid.name, [Fault(None, join.here, own[row], remedy, grid.place(row)) for row in alone])
    partners = side.frame.select(pl.all().name.prefix(f"{name}."), keys.alias("\0key"))
    return (
        frame.with_columns(own.alias("\0key"))
        .join(partners, on="\0key", how="left", maintain_order="left")
        .drop("\0key")
    )


def load_side(file: str, grid: Grid, mapping: Map) -> Grid:
    """Read a side table with the settings of the table that refers to it."""
    rule = SourceRule(encoding=mapping.source.encoding, null=mapping.source.null)
    return load(sources(str(grid.folder / file))[0], rule)


def drop_rows(frame: pl.DataFrame, conditions: Iterable[Condition]) -> tuple[pl.DataFrame, Counter[str]]:
    """Return the rows that meet no condition, and the number of other rows for each reason.

    Conditions on cells of a grid apply later.
    """
    dropped: Counter[str] = Counter()
    for condition in conditions:
        if condition.column in frame.columns:
            gone = meets(frame, condition)
            dropped[condition.reason] += int(gone.sum())
            frame = frame.filter(~gone)
    return frame, +dropped


def from_one_side(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, int]:
    """If both sides report a match, keep only the reports from the same side as in the first row. Count the others."""
    one, other, *when = columns
    first = pl.col(one).first().over(pl.min_horizontal(one, other), pl.max_horizontal(one, other), *when)
    kept = frame.filter(pl.col(one).eq_missing(first))
    return kept, frame.height - kept.height


def meets(frame: pl.DataFrame, condition: Condition) -> pl.Series:
    """Return True for each row that meets a condition."""
    cells = as_texts(frame[condition.column])
    if condition.null is not None:
        passes = cells.is_null() == condition.null
    elif condition.matches is not None:
        passes = cells.str.contains(condition.matches)
    elif condition.same:
        passes = cells == as_texts(frame[condition.same])
    elif condition.below:
        passes = cells.cast(pl.Float64, strict=False) < frame[condition.below].cast(pl.Float64, strict=False)
    else:
        passes = cells.is_in(condition.among)
    passes = passes.fill_null(value=False)
    met = ~passes if condition.is_unless else passes
    return met if condition.when is None else met & meets(frame, condition.when)


def unfold(frame: pl.DataFrame, mapping: Map, grid: Grid) -> tuple[list[pl.DataFrame], Counter[str]]:
    """Return the entrants' rows, one table per side, and the number of cells without an entrant, by reason."""
    layout, dropped = mapping.layout, Counter[str]()
    if layout.kind in ("long", "wide"):
        return [frame] * max(len(layout.sides), 1), dropped
    rows, aside = layout.rows, (layout.rows, layout.number, *layout.excluded)
    names = [name for name in frame.columns if name not in aside and not name.startswith("\0")]
    lines = [] if rows is None else [rows]
    cells = frame.with_columns(as_texts(frame[name]) for name in (*names, *lines))
    cells = cells.with_columns((pl.lit("") if rows is None else pl.col(rows)).alias(ROW_NAME))
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
