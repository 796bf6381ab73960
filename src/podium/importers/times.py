"""Durations, times and dates in the forms that people and programs write. All sources use the same parser.

A duration is `S(.f)`, `M:SS(.f)`, `(H:)MM:SS(.f)`, `1h 33m 56.7s`, `94h 33' 14''`, `1300 ms` or ISO 8601's
`P0DT01H33M56.736S`. A sign marks a gap. Units below the highest one go up to 59, or 23 for hours below days. If minutes
are the highest unit, they may exceed 59.
"""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

import polars as pl

from podium.errors import ParameterError
from podium.results.columns import from_texts
from podium.results.headings import MONTHS, WORDS, fold

LONGEST = 64  # maximum number of characters in a cell with a time
SECONDS = r"(?P<seconds>[0-9]+)(?:\.(?P<fraction>[0-9]*))?"
TIMES = {name: re.compile(own.replace("{seconds}", SECONDS), re.IGNORECASE) for name, own in WORDS["times"].items()}
SIZES = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
LIMITS = {"hours": 23, "minutes": 59, "seconds": 59}  # limits for units below a higher one
POINTED = re.compile(r"[+-]?(?:(?:\d{1,2}\.)?\d{1,3}\.\d\d,\d+|\d{1,2}\.[0-5]\d\.[0-5]\d)")  # 3.21,4 or 1.02.13
FRACTION_LAST = re.compile(r"(\d)(?:\"|''|[\u2033\u201D])(\d+)$")  # 1'23"456
STATUS_WORDS = {word: status for status, words in WORDS["statuses"].items() for word in words.split()}
NO_LETTERS = "()[] .,:+-0123456789"


class Duration(NamedTuple):
    """A duration as exact seconds. Only a gap has a sign before it."""

    seconds: Decimal
    sign: str = ""  # empty, + or -


def parse(text: str, *, decimal: str = ".") -> Duration | None:
    """Parse a duration. Return None if the text is not a duration."""
    text = text.strip()
    if len(text) > LONGEST or not text:
        return None
    if milliseconds := TIMES["milliseconds"].fullmatch(text):
        return Duration(Decimal(milliseconds[1]).scaleb(-3))
    text = text.replace(".", ":") if POINTED.fullmatch(text) else text
    if "," in decimal:
        if decimal == "," and "." in text:
            return None
        text = text.replace(",", ".")
    text = FRACTION_LAST.sub(r'\1.\2"', text)
    found = filter(None, (TIMES[name].fullmatch(text) for name in ("clock", "iso", "units")))
    return next((from_parts(match.groupdict()) for match in found), None)


def from_parts(parts: dict[str, str | None]) -> Duration | None:
    """Return the duration made of these units, or None without units, or if a lower unit is too large."""
    present = [name for name in SIZES if parts.get(name) is not None]
    whole = {name: int(parts[name] or 0) for name in present}
    if not present or any(name in LIMITS and whole[name] > LIMITS[name] for name in present[1:]):
        return None
    seconds = sum(SIZES[name] * count for name, count in whole.items())
    return Duration(Decimal(f"{seconds}.{parts.get('fraction') or '0'}"), parts["sign"] or "")


def is_lapped(text: str) -> bool:
    """Return True if a cell means that a racer was lapped: `+1 lap`, `+2 L`, `1 lap(s) down`, `+1 Rd.`."""
    return TIMES["lapped"].fullmatch(text.strip()) is not None


def status_word(text: str) -> str | None:
    """Return the status for a word in place of a number, such as DNF, DNS or RET, in upper or lower case."""
    if re.fullmatch(r"\d+[a-z]{2}", text):  # a place, for example 2ex
        return None
    parts = text, text.partition("(")[0]  # for example (4 DNF), with points, or DNF (puncture)
    words = (fold(part.strip(NO_LETTERS)) for part in parts)
    return next((STATUS_WORDS[word] for word in words if word in STATUS_WORDS), None)


def parse_column(texts: pl.Series, *, decimal: str = ".") -> pl.DataFrame:
    """Parse a column of durations as `parse` does.

    Return `seconds`, the nearest double or null, and `sign`, which is empty, + or -.
    """
    plain = texts.str.contains(r"^[0-9]{1,15}(\.[0-9]{0,15})?$").fill_null(value=False)
    if "." in decimal and plain.all():
        return pl.DataFrame({"seconds": texts.cast(pl.Float64), "sign": pl.Series([""]).new_from_index(0, texts.len())})
    clocks = parse_clocks(texts, decimal)
    other = texts.filter(clocks["seconds"].is_null()).drop_nulls().unique()
    read = {text: time for text in other if (time := parse(text, decimal=decimal)) is not None}
    seconds = {text: float(time.seconds) for text, time in read.items()}
    signs = {text: time.sign for text, time in read.items()}
    return pl.DataFrame(
        {
            "seconds": texts.replace_strict(seconds, default=clocks["seconds"], return_dtype=pl.Float64),
            "sign": texts.replace_strict(signs, default=clocks["sign"], return_dtype=pl.String),
        }
    )


def parse_clocks(texts: pl.Series, decimal: str) -> pl.DataFrame:
    """Parse the most common durations together: `H:MM:SS.f` with up to nine decimals. All others become null."""
    points = texts.str.replace(",", ".", literal=True) if "," in decimal else texts
    pattern = r"^([+-]?)(?:(?:([0-9]{1,6}):)?([0-9]{1,6}):)?([0-9]{1,9})(?:\.([0-9]{0,9}))?$"
    groups = points.str.extract_groups(pattern).struct
    sign, *units, fraction = (groups[number] for number in range(5))
    hours, minutes, seconds = (unit.cast(pl.Int64) for unit in units)
    valid = minutes.is_null() | (seconds <= LIMITS["seconds"])
    valid &= hours.is_null() | (minutes <= LIMITS["minutes"])
    if decimal == ",":
        valid &= ~texts.str.contains(".", literal=True)
    whole = hours.fill_null(0) * SIZES["hours"] + minutes.fill_null(0) * SIZES["minutes"] + seconds
    written = whole.cast(pl.String) + "." + fraction.fill_null("") + "0"
    return pl.DataFrame({"seconds": written.cast(pl.Float64).set(~valid, None), "sign": sign.fill_null("")})


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
EARLIEST_US = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND
LATEST_US = (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC) - EPOCH) // MICROSECOND


class LocalTimes:
    """Local times in a time zone. Hours that the clocks show twice, or never, get the earlier offset."""

    def __init__(self, zone: str) -> None:
        self.name = zone
        self.zone: tzinfo = UTC
        try:
            if zone != "UTC":  # UTC needs no time zone database
                self.zone = ZoneInfo(zone)
        except (OSError, ValueError, LookupError):
            raise ParameterError(f"there is no time zone {zone!r}. Write one such as UTC or Europe/Berlin.") from None
        self.first_unclear: datetime | None = None
        self.unclear = 0

    def microseconds(self, local: datetime) -> int | None:
        """Convert a local time to microseconds since 1970. Return None outside the years 1 to 9999."""
        early, late = (local.replace(tzinfo=self.zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
        if early != late:
            self.unclear += 1
            self.first_unclear = self.first_unclear or local
        return within_years((local.replace(tzinfo=UTC) - EPOCH - early) // MICROSECOND)

    def notes(self) -> tuple[str, ...]:
        """Return a line about ambiguous local times, if there were any."""
        if self.first_unclear is None:
            return ()
        one, first = self.unclear == 1, self.first_unclear.isoformat(sep=" ")
        times, occur = ("a local time", "occurs") if one else (f"{self.unclear} local times", "occur")
        return (f"{times} ({first}) {occur} twice or never on the clocks of {self.name}. The earlier offset was used",)


def within_years(microseconds: int) -> int | None:
    """Return the time, or None if it is outside the years 1 to 9999."""
    return microseconds if EARLIEST_US <= microseconds <= LATEST_US else None


def of_utc(moment: datetime) -> int:
    return (moment.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


MONTH = {start: number for number, starts in enumerate(MONTHS, start=1) for start in starts.split()}
A_MONTH = rf"(?i:{'|'.join(MONTH)})\p{{L}}*\.?"
DATES = WORDS["dates"]
CODES, SHAPES = (
    {key: own.replace("{month}", A_MONTH) for key, own in DATES[name].items()} for name in ("codes", "shapes")
)


def shape_of(form: str) -> str:
    codes = "|".join(CODES)
    return SHAPES.get(form) or f"^{re.sub(rf'{codes}|[.]', lambda code: CODES.get(code[0], chr(92) + code[0]), form)}$"


DATE_FORMATS = tuple((form, shape_of(form)) for form in DATES["formats"])
A_DAY = r"\d{4}-\d{2}-\d{2}(?:[ T]00:00:00)?"
IN_A_LINE = "|".join([A_DAY, *(shape.strip("^$") for _, shape in DATE_FORMATS[:-1])])
A_DATE = rf"(?:^|[^\d.])({IN_A_LINE})(?:$|\D)"  # a date within a line of words
BESIDE_MONTHS = DATES["beside"].split()
STAMPS, ODD_DATES = DATES["stamps"], tuple(map(tuple, DATES["odd"]))
NAMES = tuple(f"{date(2000, number, 1):%B}" for number in range(1, 13))


def in_a_line(form: str | None) -> str:
    """Return the pattern for a date within a line of words, in one format or in any."""
    shape = dict(DATE_FORMATS).get(form or "")
    return A_DATE if shape is None else rf"(?:^|[^\d.])({shape.strip('^$')})(?:$|\D)"


def fitting(distinct: pl.Series) -> list[str]:
    """Return the formats that fit all texts, or no formats for ISO 8601."""
    alike = (form for form, shape in DATE_FORMATS if distinct.str.contains(shape).all())
    return [form for form in alike if form == "%Y" or not by_format(distinct, form).null_count()]


def matching_formats(distinct: pl.Series) -> list[dict[str, str]]:
    """Return the rules that can read all texts: ISO 8601, counts of seconds or days, or other formats."""
    if are_iso(distinct):
        return [{}]
    counts = [{"epoch": unit} for unit, shape in STAMPS.items() if distinct.str.contains(shape).all()]
    return counts[:1] or [{"format": form} for form in fitting(distinct)]


def are_iso(distinct: pl.Series) -> bool:
    return bool((from_texts(distinct).is_not_null() | by_shape(distinct).is_not_null()).all())


def with_english_months(text: str) -> str:
    """Translate the name of the month in a date to English, from any of the languages of headings."""

    def english(match: re.Match[str]) -> str:
        word = match[0].casefold()
        size = next((size for size in range(len(word), 2, -1) if word[:size] in MONTH), 0)
        return NAMES[MONTH[word[:size]] - 1] if size else "" if word in BESIDE_MONTHS else match[0]

    words = re.sub(r"[^\W\d_]+", english, text).replace(",", " ").replace(".", " ")
    return " ".join(words.split())


def recent_day(text: str) -> datetime | None:
    """Return the latest day, up to today, that a date without a year (9 Oct or October 9) can mean, or None."""
    words, today = re.sub(r"[()\[\],:;|/]", " ", text).split(), datetime.now(UTC)
    starts = MONTH | {month.casefold(): number for number, month in enumerate(NAMES, 1)}
    for pair in pairwise(words):
        for word, number in (pair, pair[::-1]):
            month, day = starts.get(word.casefold().rstrip(".")), re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.)?", number)
            with suppress(ValueError):
                if month and day:
                    made = datetime(today.year, month, int(day[1]), tzinfo=UTC)
                    return made if made <= today else made.replace(year=today.year - 1)
    return None


def by_format(texts: pl.Series, form: str) -> pl.Series:
    """Parse times in a strftime format. A missing month or day means the first."""
    if "%B" in form or "%b" in form:
        texts = texts.map_elements(with_english_months, pl.String)
        form = form.replace("%b", "%B").replace(",", "").replace(".", "")
    if not any(code in form for code in ("%d", "%e", "%j", "%D", "%F", "%x", "%c", "%s")):
        month = not any(code in form for code in ("%m", "%b", "%B", "%h"))
        texts, form = texts + (" 01 01" if month else " 01"), form + (" %m %d" if month else " %d")
    if "%z" in form or "%:z" in form:
        return texts.str.to_datetime(form, time_unit="us", time_zone="UTC", strict=False)
    if any(code in form for code in ("%H", "%I", "%T", "%R", "%X", "%c", "%s", "%k", "%l", "%r")):
        return texts.str.to_datetime(form, time_unit="us", strict=False)
    return texts.str.to_date(form, strict=False).cast(pl.Datetime("us"))


def by_shape(texts: pl.Series) -> pl.Series:
    """Parse local times in ISO 8601, and days such as 20250131. Other texts, and times with an offset, become null."""
    naive = from_texts(texts).dt.replace_time_zone(None)
    compact = texts.str.contains(r"^[12]\d{7}$")
    if not compact.any():
        return naive
    days = texts.str.to_date("%Y%m%d", strict=False).cast(pl.Datetime("us"))
    return days.zip_with(compact, naive)
