"""Dates as people write them: which format a column of them has, and what they are."""

import re
from datetime import date

import polars as pl

from podium.results.columns import from_texts
from podium.results.headings import MONTHS

MONTH = {start: number for number, starts in enumerate(MONTHS, start=1) for start in starts.split()}
A_MONTH = rf"(?i:{'|'.join(MONTH)})\p{{L}}*\.?"
DATE_FORMATS = (  # each with what it looks like
    ("%d.%m.%Y", r"^\d{1,2}\.\d{1,2}\.\d{4}$"),
    ("%d.%m.%Y %H:%M", r"^\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d{2}$"),
    ("%d/%m/%Y", r"^\d{1,2}/\d{1,2}/\d{4}$"),
    ("%m/%d/%Y", r"^\d{1,2}/\d{1,2}/\d{4}$"),
    ("%d/%m/%Y %H:%M", r"^\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d{2}$"),
    ("%m/%d/%Y %H:%M", r"^\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d{2}$"),
    ("%d-%m-%Y", r"^\d{1,2}-\d{1,2}-\d{4}$"),
    ("%m-%d-%Y", r"^\d{1,2}-\d{1,2}-\d{4}$"),
    ("%Y/%m/%d", r"^\d{4}/\d{1,2}/\d{1,2}$"),
    ("%d.%m.%y", r"^\d{1,2}\.\d{1,2}\.\d{2}$"),
    ("%d/%m/%y", r"^\d{1,2}/\d{1,2}/\d{2}$"),
    ("%m/%d/%y", r"^\d{1,2}/\d{1,2}/\d{2}$"),
    ("%d %B %Y", rf"^\d{{1,2}}\.? (?:de )?{A_MONTH} (?:de )?\d{{4}}$"),
    ("%B %d %Y", rf"^{A_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}$"),
    ("%d-%B-%Y", rf"^\d{{1,2}}-{A_MONTH}-\d{{4}}$"),
    ("%Y", r"^[12]\d{3}$"),
)
IN_A_LINE = "|".join(
    shape.strip("^$") for _, shape in (("", r"\d{4}-\d{2}-\d{2}(?:[ T]00:00:00)?"), *DATE_FORMATS[:-1])
)
A_DATE = rf"(?:^|[^\d.])({IN_A_LINE})(?:$|\D)"  # in a line of words
STAMPS = {"s": r"^1\d{9}(\.\d+)?$", "ms": r"^1\d{12}$"}
NAMES = tuple(f"{date(2000, number, 1):%B}" for number in range(1, 13))


def in_a_line(form: str | None) -> str:
    """The pattern of a date in a line of words: of a format, or of any."""
    shape = dict(DATE_FORMATS).get(form or "")
    return A_DATE if shape is None else rf"(?:^|[^\d.])({shape.strip('^$')})(?:$|\D)"


def fitting(distinct: pl.Series) -> list[str]:
    """The formats that all of some texts have; none where they are in ISO 8601."""
    return [form for form, shape in DATE_FORMATS if distinct.str.contains(shape).all() and reads_all(distinct, form)]


def are_iso(distinct: pl.Series) -> bool:
    return bool((from_texts(distinct).is_not_null() | by_shape(distinct).is_not_null()).all())


def reads_all(texts: pl.Series, form: str) -> bool:
    """Whether every text is a date in a format."""
    return form == "%Y" or by_format(texts, form).null_count() == 0


def with_english_months(text: str) -> str:
    """A date with its month, in any of the languages of headings, as English has it."""

    def english(match: re.Match[str]) -> str:
        word = match[0].casefold()
        size = next((size for size in range(len(word), 2, -1) if word[:size] in MONTH), 0)
        return NAMES[MONTH[word[:size]] - 1] if size else "" if word in ("de", "st", "nd", "rd", "th") else match[0]

    words = re.sub(r"[^\W\d_]+", english, text).replace(",", " ").replace(".", " ")
    return " ".join(words.split())


def by_format(texts: pl.Series, form: str) -> pl.Series:
    """Times in a format of strftime; what it lacks is the first day, or the first month."""
    if "%B" in form or "%b" in form:
        texts, form = (
            texts.map_elements(with_english_months, pl.String),
            form.replace("%b", "%B").replace(",", "").replace(".", ""),
        )
    if not any(code in form for code in ("%d", "%e", "%j", "%D", "%F", "%x", "%c", "%s")):
        month = not any(code in form for code in ("%m", "%b", "%B", "%h"))
        texts, form = texts + (" 01 01" if month else " 01"), form + (" %m %d" if month else " %d")
    if "%z" in form or "%:z" in form:
        return texts.str.to_datetime(form, time_unit="us", time_zone="UTC", strict=False)
    if any(code in form for code in ("%H", "%I", "%T", "%R", "%X", "%c", "%s", "%k", "%l", "%r")):
        return texts.str.to_datetime(form, time_unit="us", strict=False)
    return texts.str.to_date(form, strict=False).cast(pl.Datetime("us"))


def by_shape(texts: pl.Series) -> pl.Series:
    """Local times of ISO 8601, and 20250131; null where a text is neither, or names its offset."""
    naive = from_texts(texts).dt.replace_time_zone(None)
    compact = texts.str.contains(r"^[12]\d{7}$")
    if not compact.any():
        return naive
    days = texts.str.to_date("%Y%m%d", strict=False).cast(pl.Datetime("us"))
    both = pl.DataFrame({"n": naive, "d": days, "c": compact})
    return both.select(pl.when("c").then("d").otherwise("n")).to_series()
