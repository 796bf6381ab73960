"""The columns of a results table: their types, and each cell turned into its type or told as a fault."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

import numpy as np
import polars as pl

from podium.errors import SHOWN_FAULTS, Fault

REQUIRED = ("event_id", "player")
TEXTS = ("event_id", "pool", "mode", "heat", "player", "team")
POSITIVE = ("position", "time_s", "weight")
NOT_NEGATIVE = ("played_s", "duration_s")
MOST_WEIGHT = 100.0  # an event counts as many; more in one step throws ratings beyond all bounds
NUMBERS = ("sequence", "position", "time_s", "score", "team_score", "played_s", "duration_s", "weight")
TRUTHS = ("ranked", "handicap")
STATUSES = ("finished", "quit", "dnf", "disqualified", "did_not_start")
ALL = (
    "event_id",
    "started_at",
    "sequence",
    "pool",
    "mode",
    "heat",
    "team",
    "player",
    "position",
    "time_s",
    "score",
    "team_score",
    "status",
    "played_s",
    "duration_s",
    "ranked",
    "handicap",
    "weight",
)
DEFAULTS = {"pool": "default", "status": "finished"}
SYNONYMS = {
    "disconnected": "quit",
    "disconnect": "quit",
    "left": "quit",
    "leave": "quit",
    "dns": "did_not_start",
    "dsq": "disqualified",
    "dq": "disqualified",
    "retired": "dnf",
    "ret": "dnf",
    "ok": "finished",
}
TRUTH_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
DATE_SHAPE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?)?\s?(Z|z|UTC|[+-]\d{2}:?\d{2})?")
UTC = pl.Datetime("us", "UTC")


def normalised(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Fault]]:
    """Every column in its type, and what did not fit: at most one fault more than are shown."""
    columns: dict[str, pl.Series] = {}
    faults: list[Fault] = []
    for name in frame.columns:
        series, told = typed(frame[name])
        columns[name] = series
        faults.extend(told)
    faults.sort(key=lambda fault: fault.row or 0)
    if faults:
        return frame, faults
    for name, default in DEFAULTS.items():
        columns[name] = columns[name].fill_null(default) if name in columns else constant(name, default, frame.height)
    if "weight" in columns and keeps(columns["weight"]):
        columns["weight"] = columns["weight"].fill_null(1.0)
    kept = {name: columns[name] for name in ALL if name in columns and keeps(columns[name])}
    return pl.DataFrame(kept), []


def constant(name: str, value: str, height: int) -> pl.Series:
    """A column of one value."""
    return pl.Series(name, [value], pl.String).new_from_index(0, height)


def keeps(series: pl.Series) -> bool:
    """Whether a column says anything: the required ones always do, others where they have a value."""
    return series.name in (*REQUIRED, *DEFAULTS) or series.null_count() < series.len()


def typed(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """A column in its type, and its faults."""
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    if series.dtype == pl.String and (series == "").any():
        series = series.replace("", None)
    if series.name in NUMBERS:
        return number(series)
    if series.name in TRUTHS:
        return truth(series)
    if series.name == "started_at":
        return started(series)
    if series.name == "status":
        return status(series)
    return text(series)


def told(series: pl.Series, bad: pl.Series, remedy: str) -> Iterator[Fault]:
    """A fault for each row that is bad, with its value as it was."""
    for row in bad.arg_true().head(SHOWN_FAULTS + 1).to_list():
        yield Fault(row + 1, series.name, series[row], remedy)


def text(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Names: ids, pools, heats, players."""
    if series.dtype.is_nested() or series.dtype == pl.Boolean:
        return series, [Fault(None, series.name, None, f"holds {series.dtype}; it must hold text")]
    if series.dtype.is_float():
        whole = series.fill_null(0.0)
        if (whole == whole.round()).all():
            series = series.cast(pl.Int64, strict=False)
    column = series.cast(pl.String)
    faults: list[Fault] = []
    if series.name in REQUIRED and column.null_count():
        faults += told(column, column.is_null(), "is empty; every row needs one")
    if column.str.contains("\x00", literal=True).any():
        faults += told(column, column.str.contains("\x00", literal=True).fill_null(value=False), "has a NUL character")
    return column, faults


def number(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Numbers, finite, and above zero where they must be."""
    if series.dtype == pl.Boolean or (series.dtype != pl.String and not series.dtype.is_numeric()):
        return series, [Fault(None, series.name, None, f"holds {series.dtype}; it must hold numbers")]
    column = series.cast(pl.Float64, strict=False)
    values = column.to_numpy()  # NaN where it is empty
    fine = np.isfinite(values)
    if series.name in POSITIVE:
        remedy, fine = "must be a number above 0", fine & (values > 0.0)
        if series.name == "weight":
            remedy, fine = f"{remedy} and at most {MOST_WEIGHT:g}", fine & (values <= MOST_WEIGHT)
    elif series.name in NOT_NEGATIVE:
        remedy, fine = "must be a number of seconds, 0 or more", fine & (values >= 0.0)
    else:
        remedy = "must be a number"
    if series.name == "sequence" and 0 < series.null_count() < series.len():
        return column, list(told(series, series.is_null(), "is empty; give it on every row or on none"))
    if int(fine.sum()) + series.null_count() == series.len():
        return column, []
    return column, list(told(series, pl.Series(~fine) & series.is_not_null(), remedy))


def truth(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Yes or no; empty means the column's default."""
    default = series.name == "ranked"
    if series.dtype == pl.Boolean:
        return series.fill_null(default), []
    words = series.cast(pl.String).str.to_lowercase()
    column = words.replace_strict(TRUTH_WORDS, default=None, return_dtype=pl.Boolean)
    bad = column.is_null() & series.is_not_null()
    faults = list(told(series, bad, "must be true or false")) if bad.any() else []
    return column.fill_null(default), faults


def status(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """How an entry ended."""
    column = series.cast(pl.String)
    bad = ~column.is_in(STATUSES) & column.is_not_null()
    if not bad.any():
        return column, []
    faults = []
    for fault in told(column, bad, ""):
        word = str(fault.value).strip().lower().replace(" ", "_")
        near = SYNONYMS.get(word) or next(iter(get_close_matches(word, STATUSES, 1, 0.5)), None)
        hint = f"; did you mean {near!r}?" if near else ""
        faults.append(fault._replace(remedy=f"is not a status{hint} ({', '.join(STATUSES)})"))
    return column, faults


def started(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Instants in UTC, given on every row or on none."""
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
        return column, list(told(series, bad, "is not a date; write it like 2025-01-31T18:00:00Z"))
    if 0 < column.null_count() < column.len():
        return column, list(told(series, column.is_null(), "is empty; give it on every row or on none"))
    return column, []


def from_texts(series: pl.Series) -> pl.Series:
    """Texts in ISO 8601 as instants in UTC, null where they are not; each different text is parsed once."""
    texts = series.drop_nulls().unique()
    parts = texts.str.extract_groups(f"^{DATE_SHAPE.pattern}$").struct.unnest()
    day, minute, second, fraction, offset = (parts[name].fill_null("") for name in parts.columns)
    clock = minute.replace("", "00:00") + second.replace("", ":00")
    micros = (fraction.str.strip_prefix(".") + "000000").str.slice(0, 6)
    zone = offset.str.replace(r"^(Z|z|UTC|)$", "+00:00").str.replace(r"^([+-]\d\d)(\d\d)$", "${1}:${2}")
    joined = day + "T" + clock + "." + micros + zone
    instants = joined.str.to_datetime("%Y-%m-%dT%H:%M:%S%.6f%:z", time_unit="us", time_zone="UTC", strict=False)
    matched = pl.DataFrame({"text": texts, "instant": instants})
    return pl.DataFrame({"text": series}).join(matched, on="text", how="left", maintain_order="left")["instant"]
