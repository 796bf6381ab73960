"""Convert the cells of a table to a results column by a rule.

Cells that do not fit are reported, never guessed. Results of two sides have common forms such as 1-0, ½:½, 3:1 and 6:4
7:5. Cells of Swiss lists look like 4w1.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import polars as pl

from podium.importers import times
from podium.importers.grid import ROW_NUMBER, SourceRule
from podium.importers.tables.maps import LAPS, PLACEHOLDER, Rule
from podium.importers.times import LocalTimes
from podium.importers.trees import as_text
from podium.results.columns import NUMBERS, TEXTS, TIMES, UTC, from_texts, text
from podium.results.headings import WORDS, written_out

RESULTS = written_out(WORDS["results"], {})
PAIR, BRACKETS, AS_TIME, LONGER, SHOOT_OUT, FENCED = (
    re.compile(RESULTS[name]) for name in ["pair", "brackets", "as_time", "longer", "shoot_out", "fenced"]
)
WON_MARK = re.compile(r"^[○●△](?=\d)")  # before a result, in Japanese tables
NOTHING = re.compile(r"[-\u2013\u2014\s]+")
DIAGONAL = re.compile(r"(?i)0?|[x*#■█/\\\u2013\u2014-]+")  # the diagonal of a crosstable
SCORES = re.compile(r"(-?[0-9]{1,9})-(-?[0-9]{1,9})")
TINY = 1e-6
AMOUNT = re.compile(r"([+-]?)\s?[€£$]?\s?([+-]?)(\d+(?:[.,]\d+)?)\s?[€£$]?")
POINTS = {"=": 0.5, "w": 1.0, "d": 0.5, "l": 0.0}
WHOLE = (0.0, 0.5, 1.0)  # possible points of one game
Result = tuple[float | None, float | None]


def plain(text: str) -> str:
    """Return a result with halves as decimals, and with uniform dashes."""
    text = re.sub(r"(\d)\s*½", r"\1.5", text.strip()).replace("½", "0.5")
    text = re.sub(r"\b1\s*/\s*2\b", "0.5", text)
    text = text.replace(",", ".") if re.fullmatch(r"\d+,\d+", text) else re.sub(r"(?<!\d)0,5(?!\d)", "0.5", text)
    return re.sub(r"[\u2010-\u2015\u2212]", "-", text)


def parse_result(text: str) -> Result | None:
    """Parse the result of two sides. Return their points or, for several sets, the number of sets that each side won.

    Return None if it is not a result. A single number belongs to the first side. The second side's points are then
    known only in a single game, in which both sides share one point.
    """
    text = AS_TIME.sub(lambda clock: f"{clock[1]}:{int(clock[2])}", text)
    text = plain(text)
    shot = SHOOT_OUT.search(text)
    text = text[: shot.start()] if shot and shot.start() else text
    bare = WON_MARK.sub("", LONGER.sub("", BRACKETS.sub(" ", text)).strip())
    if FENCED.fullmatch(bare):
        return (1.0, 0.0) if bare[0] == "V" else (0.0, 1.0)
    pairs = [(float(one), float(other)) for one, other in PAIR.findall(bare)]
    if shot and shot.start():
        if len(pairs) != 1 or pairs[0][0] != pairs[0][1]:
            return None
        one, other = (int(group) for group in shot.groups() if group)
        pairs = [(pairs[0][0] + (one > other), pairs[0][1] + (other > one))]
    if not pairs:
        own = float(bare) if re.fullmatch(RESULTS["points"], bare) else None
        return None if own is None else (own, 1.0 - own if own in WHOLE else None)
    if PAIR.sub("", bare).strip(" ,;.|"):
        return None
    return points_or_sets(pairs)


def points_or_sets(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the points in a single set or, if there are several sets, the number of sets that each side won."""
    if len(pairs) == 1:
        return pairs[0]
    return float(sum(one > other for one, other in pairs)), float(sum(other > one for one, other in pairs))


def parse_sets(text: str) -> Result | None:
    """Parse the scores of all sets, such as 3-1,3-2. Points may be negative. Return None if it is anything else."""
    sets = [SCORES.fullmatch(part.strip()) for part in text.split(",")]
    return points_or_sets([(float(score[1]), float(score[2])) for score in sets if score]) if all(sets) else None


def mirrored(text: str | None) -> str | None:
    own, other = parse_result(text or "") or (None, None)
    return {"+": "-", "-": "+"}.get(text or "") if other is None else f"{other:g}:{own:g}"


NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
IN_WORDS = {word: f"{place}" for words in (ROMAN, "🥇🥈🥉") for place, word in enumerate(words, start=1)}
EXCEL_EPOCH_DAYS = 25569  # number of days from 1899-12-30 to 1970-01-01
DAY_MS = 86_400_000
DIVISORS = {0.1: 10.0, 0.01: 100.0, 0.001: 1000.0, 0.000001: 1e6}  # division is exact, but multiplication is not
PLAYED = r"^[^\p{L}]*[1-9][^\p{L}]*$"  # matches if part of an event was played, such as laps or a round
NO_GAP = 'is a gap. Give the full time, or set gap = "leader" or "previous"'
SIGNED_BACK = "is a negative gap"
RESULT = "must be a result such as 1-0, ½-½, 3:1 or 6:4 7:5"
UNDECIDED = "does not say who won. Leave these matches out."


@dataclass(frozen=True)
class Cells:
    column: pl.Series
    bad: pl.Series | None = None
    written: pl.Series | None = None
    remedy: str = ""
    statuses: pl.Series | None = None  # from words in cells of places and times
    gaps: pl.Series | None = None  # sign of each time, if some times are gaps


@dataclass(frozen=True)
class Table:
    frame: pl.DataFrame
    rule: SourceRule
    local: LocalTimes = field(default_factory=lambda: LocalTimes("UTC"))
    has_sides: bool = False  # True if each row is a match

    def texts(self, name: str) -> pl.Series:
        return as_texts(self.frame[name])


def as_texts(column: pl.Series) -> pl.Series:
    return column if column.dtype == pl.String else text(column)[0].cast(pl.String)


def build(table: Table, name: str, rule: Rule) -> Cells:
    if rule.is_plain:
        column = table.frame[rule.columns[0]]
        is_count = name == "started_at" and column.dtype.is_numeric()  # a day such as 20250131
        as_it_is = name in (*TEXTS, "status") if column.dtype == pl.String else not is_count
        if as_it_is:
            return Cells(column.alias(name))
    texts = origin(table, rule)
    if rule.regex is not None:
        texts = texts.str.replace_all(*rule.regex).str.strip_chars()
    if rule.equals is not None:
        words = {True: rule.then and str(rule.then), False: rule.other and str(rule.other)}
        texts = (texts == table.texts(rule.equals)).replace_strict(words, return_dtype=pl.String)
    texts = worded(texts, rule)
    if rule.started:
        has_part = reduce(
            or_, (table.texts(heading).str.contains(PLAYED).fill_null(value=False) for heading in rule.started)
        )
        texts = texts.set((texts == "did_not_start") & has_part, "dnf")
    if rule.count:  # repeated values are numbered, starting with #2
        count = pl.col("row").rank("dense").over("text").cast(pl.String)
        counts = pl.DataFrame({"text": texts, "row": table.frame[ROW_NUMBER]}).select(count).to_series()
        texts = texts.zip_with(counts == "1", texts + " #" + counts)
    cells = as_kind(table, name, rule, texts)
    return replace(cells, column=cells.column.alias(name), written=texts)


def origin(table: Table, rule: Rule) -> pl.Series:
    height = table.frame.height
    if rule.value is not None:
        return constant(rule.value, height)
    if rule.first:
        cells = [filled(table, name) if "{" in name else table.texts(name) for name in rule.first]
        return numbered(cells).select(pl.coalesce(pl.all())).to_series()
    columns = numbered(map(table.texts, rule.columns))
    if columns.width == 1:
        return columns.to_series()
    mark = rule.split or " "  # separates members in separate columns, or parts of a name
    joined = columns.select(pl.concat_str(pl.all(), separator=mark, ignore_nulls=True)).to_series()
    return joined.replace("", None)


def constant(value: Any, height: int) -> pl.Series:
    return pl.Series([value if value is None else as_text(value)], dtype=pl.String).new_from_index(0, height)


def numbered(columns: Iterable[pl.Series]) -> pl.DataFrame:
    return pl.DataFrame([column.alias(str(number)) for number, column in enumerate(columns)])


def filled(table: Table, template: str) -> pl.Series:
    """Fill a template with the values of each row. Return null if a value is missing."""
    pieces = enumerate(PLACEHOLDER.split(template))
    columns = (table.texts(text) if at % 2 else constant(text, table.frame.height) for at, text in pieces)
    return numbered(columns).select(pl.concat_str(pl.all())).to_series()


def worded(texts: pl.Series, rule: Rule) -> pl.Series:
    if rule.words is not None:
        words = {word: as_text(value) for word, value in rule.words.items()}
        default = texts if rule.default is None else as_text(rule.default)
        texts = texts.replace_strict(words, default=default, return_dtype=pl.String).set(texts.is_null(), None)
    return texts if rule.null is None else texts.fill_null(as_text(rule.null))


def as_kind(table: Table, name: str, rule: Rule, texts: pl.Series) -> Cells:
    kind = rule.kind or ("duration" if name in TIMES else "number" if name in (*NUMBERS, LAPS) else "text")
    if name == "started_at":
        return as_moments(table, rule, texts)
    if name not in (*NUMBERS, LAPS) or kind == "text":
        return Cells(texts)
    if kind in ("result", "sets"):
        return as_results(table, name, rule, texts)
    readers = {"number": as_numbers, "place": as_places, "duration": as_times}
    cells = readers[kind](table, rule, texts)
    if rule.scale != 1.0:
        divisor, numbers = DIVISORS.get(rule.scale), cells.column.to_numpy()
        scaled = pl.Series(numbers / divisor if divisor else numbers * rule.scale, nan_to_null=True)
        cells = replace(cells, column=scaled)
    return replace(cells, column=cells.column + rule.offset) if rule.offset else cells


def as_results(table: Table, name: str, rule: Rule, texts: pl.Series) -> Cells:
    """Return one side's points. In a match, a word such as "retired" does not reveal who won."""
    parse, remedy = (parse_sets, "must be scores such as 3-1,3-2") if rule.kind == "sets" else (parse_result, RESULT)
    column = each_once(texts, lambda text: points_of(parse(text), name, rule.side))
    cells = without_words(rule, texts, column, remedy)
    if not table.has_sides or cells.statuses is None or cells.bad is None:
        return cells
    remedy = cells.remedy if cells.bad.any() else UNDECIDED
    return replace(cells, bad=cells.bad | cells.statuses.is_not_null(), remedy=remedy, statuses=None)


def points_of(result: Result | None, name: str, side: int) -> float | None:
    own, other = (result or (None, None))[:: 1 if side == 1 else -1]
    if name != "position" or own is None:
        return own
    return None if other is None else 1.0 if own >= other else 2.0


def each_once(texts: pl.Series, read: Callable[[str], Any], kind: type[pl.DataType] = pl.Float64) -> pl.Series:
    """Parse each cell, but equal cells only once."""
    distinct = texts.drop_nulls().unique().to_list()
    values = pl.Series([read(text) for text in distinct], dtype=kind)
    return texts.replace_strict(distinct, values, default=None, return_dtype=kind)


def as_numbers(table: Table, rule: Rule, texts: pl.Series) -> Cells:
    plain = texts
    thousands = table.rule.thousands or " "
    mark = "[ \u00a0\u202f]" if thousands in " \u00a0\u202f" else f"[{thousands}]"
    grouped = texts.str.contains(rf"^[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}})+([.,][0-9]*)?$")
    if grouped.any():
        plain = texts.str.replace_all(mark, "").zip_with(grouped, texts)
    if table.rule.decimal == ".,":
        plain = plain.str.replace(",", ".", literal=True)
    elif table.rule.decimal == ",":
        swapped = plain.str.contains(r"^[+-]?[0-9]*,[0-9]+$") | ~plain.str.contains("[.,]")
        plain = plain.str.replace(",", ".", literal=True).set(~swapped, None)
    numbers = plain.cast(pl.Float64, strict=False)
    if numbers.null_count() > texts.null_count():
        parts = texts.str.replace(RESULTS["price"], "$1$3 $2").str.extract_groups(RESULTS["unit"]).struct
        if parts[1].drop_nulls().n_unique() == 1:  # all have the same unit, so the numbers are comparable without it
            bare = as_numbers(table, replace(rule, otherwise="null"), parts[0])
            numbers = numbers.zip_with(numbers.is_not_null(), bare.column)
        pounds, ounces = (texts.str.extract(RESULTS["pounds"], group).cast(pl.Float64) for group in (1, 2))
        numbers = numbers.zip_with(numbers.is_not_null(), pounds + ounces.fill_null(0.0) / 16)
    return without_words(rule, texts, numbers, "must be a number")


def without_words(rule: Rule, texts: pl.Series, values: pl.Series, remedy: str) -> Cells:
    """Return the cells.

    Words for statuses and laps have no value. Other cells without a value become bad or null.
    """
    unread = values.is_null() & texts.is_not_null()
    if not unread.any():
        return Cells(values)
    distinct = texts.filter(unread).unique().to_list()
    words = {word: status for word in distinct if (status := times.status_word(word))}
    nothing = [word for word in distinct if is_lapped(word, rule.lapped) or NOTHING.fullmatch(word)]
    found = texts.replace_strict(words, default=None, return_dtype=pl.String) if words else None
    bad = unread & ~texts.is_in([*words, *nothing]) if rule.otherwise == "bad" else None
    return Cells(values, bad, texts, remedy, statuses=found)


def is_lapped(word: str, unit: str | None) -> bool:
    """Return True if a cell means that a racer was lapped, in the table's own unit or in a common unit."""
    if unit is not None and word.strip().endswith(unit):
        return word.strip().removesuffix(unit).strip().removeprefix("+").strip().isdecimal()
    return times.is_lapped(word)


def placed(texts: pl.Series) -> pl.Series:
    """Return the places in cells, or null for cells without a place."""
    return texts.str.strip_chars(" .").replace(IN_WORDS).str.extract(RESULTS["place"]).cast(pl.Float64)


def is_result(text: str) -> bool:
    return bool(number(text) or parse_result(text) or times.status_word(text) or DIAGONAL.fullmatch(text))


def number(text: str | None) -> float:
    amount = AMOUNT.fullmatch(text or "")
    if amount is not None:
        return float(f"{amount[1] or amount[2]}{amount[3]}".replace(",", "."))
    own, _ = parse_result(text or "") or (text and placed(pl.Series([text]))[0], None)
    return own or 0.0


def are_winnings(parts: Iterable[Iterable[str | None]]) -> bool:
    """Return True if players won each part's points from each other. Some are then negative, and they add up to 0."""
    amounts = [[number(text) for text in part] for part in parts]
    return all(min(part) < 0 and abs(sum(part)) < TINY for part in amounts)


def as_places(_table: Table, rule: Rule, texts: pl.Series) -> Cells:
    return without_words(rule, texts, placed(texts), "must be a place such as 1, 1st or T2")


def as_times(table: Table, rule: Rule, texts: pl.Series) -> Cells:
    """Return times in seconds, and the signs of those that are gaps."""
    read = times.parse_column(texts, decimal=table.rule.decimal)
    seconds, signs = read["seconds"], read["sign"]
    if seconds.null_count() > texts.null_count() and "." in table.rule.decimal:  # 1e3 is a number, not a clock time
        other = texts.str.contains(NUMBER).fill_null(value=False) & ~texts.str.contains(r"^[+-]")
        seconds = texts.cast(pl.Float64, strict=False).zip_with(seconds.is_null() & other, seconds)
    remedy = "must be a time such as 61.2, 1:01.2 or 1:33:56.736"
    cells = without_words(rule, texts, seconds, remedy)
    if not (signs != "").any():
        return cells
    wrong = signs != "" if rule.gap is None else signs == "-"
    remedy = NO_GAP if rule.gap is None else SIGNED_BACK if wrong.any() else remedy
    bad = wrong if cells.bad is None else cells.bad | wrong
    return Cells(seconds, bad, texts, remedy, statuses=cells.statuses, gaps=None if rule.gap is None else signs)


def as_moments(table: Table, rule: Rule, texts: pl.Series) -> Cells:
    """Return times in UTC. Each distinct string is parsed only once."""
    if rule.epoch is not None:
        return from_epoch(rule.epoch, texts)
    distinct = texts.drop_nulls().unique()
    form, remedy = rule.format, "is not a date. Write it like 2025-01-31T18:00:00Z, or give its format"
    ways = times.matching_formats(distinct) if form is None and distinct.len() else []
    if ways and "epoch" in ways[0]:
        return from_epoch(ways[0]["epoch"], texts)
    if len(ways) == 1:
        form = ways[0].get("format")
    elif ways:
        shown = " or ".join(f'format = "{way["format"]}"' for way in ways)
        remedy = f"may start with the day or the month. Set {shown}"
    if form is not None:
        local, remedy = times.by_format(distinct, form), f"does not fit the format {form}"
    else:
        local = times.by_shape(distinct)
    if local.dtype == UTC:
        instants = local
    elif table.local.name == "UTC":
        instants = local.dt.replace_time_zone("UTC")
    else:
        instants = pl.Series([moment and table.local.microseconds(moment) for moment in local], dtype=pl.Int64).cast(
            UTC
        )
    if form is None:
        zoned = distinct.str.contains(r"([Zz]|UTC|[+-]\d{2}:?\d{2})$")
        absolute = from_texts(distinct)
        instants = absolute.zip_with(zoned & absolute.is_not_null(), instants)
    column = texts.replace_strict(distinct, instants, default=None, return_dtype=instants.dtype)
    bad = column.is_null() & texts.is_not_null() if rule.otherwise == "bad" else None
    return Cells(column, bad, texts, remedy)


def from_epoch(unit: str, texts: pl.Series) -> Cells:
    """Convert seconds or milliseconds since 1970, or Excel's day numbers, to times."""
    numbers = texts.cast(pl.Float64, strict=False)
    millis = {"s": numbers * 1000.0, "ms": numbers, "excel": (numbers - EXCEL_EPOCH_DAYS) * DAY_MS}[unit]
    plausible = millis.is_between(-62_135_596_800_000, 253_402_300_799_999)
    column = (millis.set(~plausible, None) * 1000.0).round().cast(pl.Int64).cast(UTC)
    return Cells(column, column.is_null() & texts.is_not_null(), texts, f"is not a number of {unit} since 1970")
