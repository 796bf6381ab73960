"""The columns of a results table. Each cell is either converted to the column's type or reported as an error."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.errors import SHOWN_FAULTS, Fault, ResultsError
from podium.results import column_guide
from podium.results.names import SPACES, is_page_address, normalise, normalise_column

REQUIRED = ("event_id", "player")
TEXTS = ("event_id", "pool", "mode", "heat", "player", "team", "side", "awards", "title", "url")
# prefix of columns for shared equipment, such as shared:car; maximum number of kinds
SHARED, MAX_KINDS = "shared:", 4
BEGINNING, SIDES = ("home", "white"), ("home", "white", "away", "black")
FOR_PAGES = ("title", "url")  # can be in any row of an event, and do not affect ratings
MAX_URL = 2_000  # characters
POSITIVE = ("position", "time_s", "weight", "birth_year")
AGE_GROUPS, ADULT = (18, 20, 25), 99.0  # last age of each group, and the number of the group of older players
NOT_NEGATIVE = ("played_s", "duration_s", "handicap", "age_group")
MAX_WEIGHT = 100.0  # upper bound: larger weights make ratings diverge
TIMES = ("time_s", "played_s", "duration_s")
NUMBERS = (
    "sequence",
    "position",
    "time_s",
    "score",
    "team_score",
    "played_s",
    "duration_s",
    "weight",
    "age_group",
    "birth_year",
)
TRUTHS = ("ranked",)
STATUSES = tuple(status.name for status in column_guide.STATUSES)
ALL = tuple(column.name for column in column_guide.COLUMNS)
DEFAULTS = {"pool": "default", "status": "finished"}
FILLED = {"ranked": True, "handicap": 0.0, "weight": 1.0}  # value for an empty cell or a missing column
SYNONYMS = dict.fromkeys(("disconnected", "disconnect", "left", "leave"), "quit") | {"dns": "did_not_start"}
SYNONYMS |= {"dsq": "disqualified", "dq": "disqualified", "retired": "dnf", "ret": "dnf", "ok": "finished"}
# Words that have a meaning for systems, in any case. For example, the heat `Overall` means `overall`.
SPELLINGS = {
    "heat": {"overall": r"(?i)^overall$"},
    "mode": {"time-trial": r"(?i)^time[-_ ]?trial$", "duel": r"(?i)^duel$"},
    "side": {side: f"(?i)^{side}$" for side in SIDES},
}
EXACT = 2.0**53  # from this value on, one double represents several integers
TOO_LARGE = "is too large to be exact as a number; give it as text"
COSTS = "the cost of each is in: podium columns status"
GAP = "looks like a gap to the winner; give the total time, without a sign"
# returns those rejected names in a column that were accepted before the rule existed
Known = Callable[[str, list[str]], set[str]]
TRUTH_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
DATE_SHAPE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?)?\s?(Z|z|UTC|[+-]\d{2}:?\d{2})?")
UTC = pl.Datetime("us", "UTC")
TYPES: dict[str, Any] = dict.fromkeys(ALL, pl.String) | dict.fromkeys(NUMBERS, pl.Float64)
TYPES |= dict.fromkeys(TRUTHS, pl.Boolean) | {"started_at": UTC, "handicap": pl.Float64}


def is_shared(name: str) -> bool:
    """Return True if a column contains equipment that entrants share."""
    return name.startswith(SHARED) and name != SHARED


def in_order(names: Collection[str]) -> list[str]:
    """Return the names that are columns of a results table, in the table's order, with shared equipment last."""
    return [*(name for name in ALL if name in names), *sorted(name for name in names if is_shared(name))]


class Cells(NamedTuple):
    """A converted column, its errors, and its original names if any name was normalized."""

    column: pl.Series
    faults: list[Fault]
    sent: pl.Series | None = None


class Checked(NamedTuple):
    """All converted columns, their errors, and the table with its original names if any name was normalized."""

    frame: pl.DataFrame
    faults: list[Fault]
    sent: pl.DataFrame | None = None


def none_known(_column: str, _names: list[str]) -> set[str]:
    """Return an empty set, because no name was accepted before the rule existed."""
    return set()


def normalise_table(frame: pl.DataFrame, known: Known = none_known) -> Checked:
    """Convert every column and report errors, up to one more than are displayed."""
    cells = {name: cast_column(frame[name], known) for name in frame.columns}
    faults = sorted((fault for cell in cells.values() for fault in cell.faults), key=lambda fault: fault.row or 0)
    if faults:
        return Checked(frame, faults)
    columns = {name: cell.column for name, cell in cells.items()}
    if "birth_year" in columns:
        if "started_at" not in columns:
            remedy = "needs the column started_at, because the age group depends on the year of the event"
            return Checked(frame, [Fault(None, "birth_year", None, remedy)])
        given = columns.get("age_group", pl.Series([None], dtype=pl.Float64))
        columns["age_group"] = age_groups(columns.pop("birth_year"), columns["started_at"], given)
    constants: dict[str, Any] = dict(DEFAULTS)  # constant columns are stored only once in the frame
    for name in DEFAULTS.keys() & columns.keys():
        filled = columns.pop(name).fill_null(DEFAULTS[name])
        constants[name] = filled.first() or DEFAULTS[name]
        if (filled != constants[name]).any():
            columns[name] = filled
            del constants[name]
    if "weight" in columns and has_values(columns["weight"]):
        columns["weight"] = columns["weight"].fill_null(1.0)
    held = pl.DataFrame({name: columns[name] for name in in_order(columns) if has_values(columns[name])})
    whole = held.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
    whole = whole.select(in_order(whole.columns))
    sent = [cell.sent for name, cell in cells.items() if cell.sent is not None and name in whole.columns]
    return Checked(whole, [], whole.with_columns(sent) if sent else None)


def age_groups(birth_years: pl.Series, started_at: pl.Series, given: pl.Series) -> pl.Series:
    """Return the age groups that are given, and otherwise those that follow from the years of birth."""
    age = started_at.dt.year() - birth_years
    group = pl.lit(ADULT)
    for last in reversed(AGE_GROUPS):
        group = pl.when(age <= last).then(float(last)).otherwise(group)
    known = pl.when(age.is_not_null()).then(group)
    return pl.select(pl.coalesce(pl.lit(given), known).alias("age_group")).to_series()


def has_values(series: pl.Series) -> bool:
    """Return True if a column has any values. Required columns always count as having values."""
    return series.name in (*REQUIRED, *DEFAULTS) or series.null_count() < series.len()


def cast_column(series: pl.Series, known: Known) -> Cells:
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    if series.dtype == pl.String and (series == "").any():
        series = series.replace("", None)
    if series.name == "url":
        return Cells(*addresses(series))
    if series.name in TEXTS or is_shared(series.name):
        return names(series, known)
    if series.name == "handicap":
        return Cells(*handicaps(series))
    if series.name in NUMBERS:
        return Cells(*number(series))
    if series.name in TRUTHS:
        return Cells(*cast_truths(series))
    return Cells(*started(series)) if series.name == "started_at" else Cells(*cast_statuses(series))


def faults_at(series: pl.Series, bad: pl.Series, remedy: str) -> Iterator[Fault]:
    """Yield an error for each invalid row, with the original value."""
    for row in bad.arg_true().head(SHOWN_FAULTS + 1).to_list():
        yield Fault(row + 1, series.name, series[row], remedy)


def names(series: pl.Series, known: Known) -> Cells:
    """Check the names in a column: IDs, pools, modes, heats, teams or players.

    The ID of an event is a key, so it is never changed.
    """
    column, faults = text(series)
    if faults:
        return Cells(column, faults)
    clean, reasons = normalise_column(column)
    if reasons:
        clean = clean.replace("", None)
        reasons = {name: why for name, why in reasons.items() if normalise(name)}
        taken = known(series.name, list(reasons)) if reasons else set()
        bad = column.is_in([name for name in reasons if name not in taken])
        faults += [fault._replace(remedy=reasons[str(fault.value)]) for fault in faults_at(column, bad, "")]
        if taken:
            stays = pl.DataFrame({"sent": column, "clean": clean, "stays": column.is_in(list(taken))})
            clean = stays.select(pl.when("stays").then("sent").otherwise("clean").alias(series.name)).to_series()
    if series.name in REQUIRED and clean.null_count():
        faults += faults_at(clean, clean.is_null(), "is empty; every row needs a value")
    if series.name == "event_id":
        return Cells(column, faults if clean is column else faults + lookalike_ids(column, clean))
    for word, pattern in SPELLINGS.get(series.name, {}).items():
        if clean.str.contains(pattern).any():
            clean = clean.str.replace(pattern, word)
    if series.name == "side":
        faults += faults_at(column, ~clean.is_in(SIDES) & clean.is_not_null(), f"is not one of {', '.join(SIDES)}")
    if clean is column or clean.equals(column, null_equal=True):
        return Cells(clean, faults)
    return Cells(clean, faults, column)


def addresses(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    column, faults = text(series)
    if faults:
        return column, faults
    column = column.str.strip_chars(SPACES).replace("", None)
    too_long = (column.str.len_chars() > MAX_URL).fill_null(value=False)
    wrong = [url for url in column.filter(~too_long).drop_nulls().unique().to_list() if not is_page_address(url)]
    remedy = "is not the address of a page; write it in full, for example https://example.org/race-17, without spaces"
    faults += faults_at(column, column.is_in(wrong).fill_null(value=False), remedy) if wrong else []
    if too_long.any():
        faults += faults_at(column, too_long, f"is too long; an address has up to {MAX_URL:,} characters")
    return column, faults


def lookalike_ids(column: pl.Series, clean: pl.Series) -> list[Fault]:
    """Find event IDs that look the same but are different, because they would split an event in two."""
    if clean.equals(column) or clean.n_unique() == column.n_unique():
        return []
    ids = pl.DataFrame({"id": column, "clean": clean}).with_columns(first=pl.col("id").first().over("clean"))
    remedy = "looks like another ID in this table, but is written with different characters; write both the same way"
    return list(faults_at(column, ids["id"] != ids["first"], remedy))


def text(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Return a column as strings. Integers do not get a decimal point."""
    kind = series.dtype
    if kind.is_nested() or kind in (pl.Boolean, pl.Binary, pl.Object):
        return series, [Fault(None, series.name, None, f"holds {kind}; it must hold text")]
    if not kind.is_float():
        return series.cast(pl.String), []
    numbers = series.fill_nan(None)
    large = (numbers.abs() >= EXACT).fill_null(value=False)
    if large.any():
        return series, list(faults_at(series, large, TOO_LARGE))
    whole = (numbers == numbers.round()).fill_null(value=False)
    integers = numbers.cast(pl.Int64, strict=False).cast(pl.String)
    written = pl.DataFrame([numbers.cast(pl.String)]).select(pl.when(whole).then(integers).otherwise(series.name))
    return written.to_series().alias(series.name), []


def text_of_number(number: float) -> str:
    """Return a number as a name. Integers do not get a decimal point."""
    if not abs(number) < EXACT:
        raise ValueError(TOO_LARGE)
    return str(int(number)) if number == int(number) else repr(number)


def number(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Check that numbers are finite and, if required, positive."""
    if series.dtype == pl.Boolean or (series.dtype != pl.String and not series.dtype.is_numeric()):
        return series, [Fault(None, series.name, None, f"holds {series.dtype}; it must hold numbers")]
    if series.name in TIMES and series.dtype == pl.String:
        signed = series.str.starts_with("+")
        if signed.any():
            return series, list(faults_at(series, signed.fill_null(value=False), GAP))
    column = series.cast(pl.Float64, strict=False)
    values = column.to_numpy()  # NaN for empty cells
    fine = np.isfinite(values)
    if series.name in POSITIVE:
        remedy, fine = "must be a number above 0", fine & (values > 0.0)
        if series.name == "weight":
            remedy, fine = f"{remedy} and at most {MAX_WEIGHT:g}", fine & (values <= MAX_WEIGHT)
    elif series.name in NOT_NEGATIVE:
        remedy = f"must be a number{' of seconds' * (series.name in TIMES)}, 0 or more"
        fine &= values >= 0.0
    else:
        remedy = "must be a number"
    if series.name == "sequence" and 0 < series.null_count() < series.len():
        return column, list(faults_at(series, series.is_null(), "is empty; give it on every row or on none"))
    if int(fine.sum()) + series.null_count() == series.len():
        return column, []
    return column, list(faults_at(series, pl.Series(~fine) & series.is_not_null(), remedy))


def handicaps(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Check numbers of handicap stones. True is 1, and an empty cell is 0."""
    if series.dtype == pl.Boolean:
        series = series.cast(pl.Float64)
    if series.dtype == pl.String:
        series = series.str.to_lowercase().replace({word: f"{int(truth)}" for word, truth in TRUTH_WORDS.items()})
    column, faults = number(series)
    return (column, faults) if faults else (column.fill_null(0.0), [])


def cast_truths(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Check yes/no values. Empty cells get the default of the column."""
    default = series.name == "ranked"
    if series.dtype == pl.Boolean:
        return series.fill_null(default), []
    words = series.cast(pl.String).str.to_lowercase()
    column = words.replace_strict(TRUTH_WORDS, default=None, return_dtype=pl.Boolean)
    bad = column.is_null() & series.is_not_null()
    faults = list(faults_at(series, bad, "must be true or false")) if bad.any() else []
    return column.fill_null(default), faults


def cast_statuses(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    column = series.cast(pl.String)
    bad = ~column.is_in(STATUSES) & column.is_not_null()
    if not bad.any():
        return column, []
    faults = []
    for fault in faults_at(column, bad, ""):
        word = str(fault.value).strip().lower().replace(" ", "_")
        near = SYNONYMS.get(word) or next(iter(get_close_matches(word, STATUSES, 1, 0.5)), None)
        hint = f"; did you mean {near!r}?" if near else ""
        faults.append(fault._replace(remedy=f"is not a status{hint} ({', '.join(STATUSES)}); {COSTS}"))
    return column, faults


def started(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Check times, which are in UTC. Either every row has a time, or no row has one."""
    if series.dtype == pl.Date:
        column = series.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    elif isinstance(series.dtype, pl.Datetime):
        zoned = series.dt.replace_time_zone("UTC") if series.dtype.time_zone is None else series
        column = zoned.dt.convert_time_zone("UTC").cast(UTC)
    elif series.dtype == pl.String:
        column = from_texts(series)
    else:
        return series, [Fault(None, series.name, None, f"holds {series.dtype}; it must hold dates")]
    if column.null_count() > series.null_count():
        bad = column.is_null() & series.is_not_null()
        return column, list(faults_at(series, bad, "is not a date; write it like 2025-01-31 or 2025-01-31T18:00:00Z"))
    if 0 < column.null_count() < column.len():
        return column, list(faults_at(series, column.is_null(), "is empty; give it on every row or on none"))
    return column, []


def from_texts(series: pl.Series) -> pl.Series:
    """Parse ISO 8601 strings as UTC times, or null if they are invalid. Each distinct string is parsed only once."""
    texts = series.drop_nulls().unique()
    parts = texts.str.extract_groups(f"^{DATE_SHAPE.pattern}$").struct.unnest()
    day, minute, second, fraction, offset = (pl.col(name).fill_null("") for name in parts.columns)
    clock = minute.replace("", "00:00") + second.replace("", ":00")
    micros = (fraction.str.strip_prefix(".") + "000000").str.slice(0, 6)
    zone = offset.str.replace(r"^(Z|z|UTC|)$", "+00:00").str.replace(r"^([+-]\d\d)(\d\d)$", "${1}:${2}")
    joined = day + "T" + clock + "." + micros + zone
    instants = joined.str.to_datetime("%Y-%m-%dT%H:%M:%S%.6f%:z", time_unit="us", time_zone="UTC", strict=False)
    matched = parts.select(texts.alias("text"), instants.alias("instant"))
    return pl.DataFrame({"text": series}).join(matched, on="text", how="left", maintain_order="left")["instant"]


MAX_COLUMNS = 1_000  # maximum number of columns in a table, or of distinct keys in its objects
MAX_BOX = 100  # number of cells that a sheet may span per filled cell
FREE_CELLS = 1_000_000  # number of cells that any sheet may span


def refuse_wide(columns: Collection[object], table_name: str) -> None:
    """Raise an error if there are too many columns, because every row is stored in each of them."""
    if len(columns) > MAX_COLUMNS:
        remedy = f"has more than {MAX_COLUMNS:,} columns, or keys. Leave out those that Podium does not need."
        raise ResultsError.whole(table_name, remedy)


def refuse_repeated(columns: Sequence[str], table_name: str) -> None:
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise ResultsError(table_name, [Fault(None, name, None, "appears twice in the header") for name in twice])
