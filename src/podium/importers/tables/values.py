"""What the cells of a column say of how they are written: decimal marks, dates, words for a status."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from podium.importers import durations
from podium.importers.tables.cells import by_shape
from podium.results.columns import STATUSES, SYNONYMS, from_texts

DATE_FORMATS = (  # each with what it looks like
    ("%d.%m.%Y", r"^\d{1,2}\.\d{1,2}\.\d{4}$"),
    ("%d.%m.%Y %H:%M", r"^\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d{2}$"),
    ("%d/%m/%Y", r"^\d{1,2}/\d{1,2}/\d{4}$"),
    ("%m/%d/%Y", r"^\d{1,2}/\d{1,2}/\d{4}$"),
    ("%d/%m/%Y %H:%M", r"^\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d{2}$"),
    ("%m/%d/%Y %H:%M", r"^\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d{2}$"),
    ("%m.%d.%Y", r"^\d{1,2}\.\d{1,2}\.\d{4}$"),
    ("%d-%m-%Y", r"^\d{1,2}-\d{1,2}-\d{4}$"),
    ("%m-%d-%Y", r"^\d{1,2}-\d{1,2}-\d{4}$"),
    ("%Y/%m/%d", r"^\d{4}/\d{1,2}/\d{1,2}$"),
    ("%d %b %Y", r"^\d{1,2} [A-Za-z]{3} \d{4}$"),
    ("%d %B %Y", r"^\d{1,2} [A-Za-z]+ \d{4}$"),
    ("%b %d, %Y", r"^[A-Za-z]{3} \d{1,2}, \d{4}$"),
    ("%B %d, %Y", r"^[A-Za-z]+ \d{1,2}, \d{4}$"),
    ("%Y", r"^[12]\d{3}$"),
)
FINISHED = frozenset(
    {"finished", "finish", "fin", "classified", "ok", "done", "complete", "completed", "ins_ziel", "gewertet"}
)


def decimal_marks(columns: Iterable[pl.Series]) -> str:
    """The decimal mark of numbers and times: a point, a comma, `both` where either may be, or nothing."""
    texts = [column for column in columns if column.len()]
    if not texts:
        return ""
    everything = pl.concat([column.alias("cell") for column in texts])
    comma = bool(everything.str.contains(r"[0-9],[0-9]+$").any())
    point = bool(everything.str.contains(r"[0-9]\.[0-9]+$").any())
    return "both" if comma and point else "," if comma else "." if point else ""


def may_be_thousands(texts: pl.Series) -> str:
    """The first number with a mark that may part its thousands, where all the column's may; else nothing."""
    plain = texts.str.strip_chars().drop_nulls()
    marked = plain.filter(plain.str.contains("[.,]"))
    grouped = marked.str.contains(r"^[+-]?[0-9]{1,3}([.][0-9]{3})+$|^[+-]?[0-9]{1,3}(,[0-9]{3})+$")
    others = plain.filter(~plain.str.contains("[.,]"))
    alike = marked.len() and grouped.all() and not others.str.contains("[0-9]{4}").any()
    return str(marked[0]) if alike else ""


def date_rule(heading: str, texts: pl.Series) -> tuple[Any, str, str]:
    """How a column of dates is read.

    Returns:
        The rule, what is worth a word, and what is to be decided, if anything.
    """
    distinct = texts.unique(maintain_order=True)
    iso = from_texts(distinct).is_not_null() | by_shape(distinct).is_not_null()
    if iso.all():
        compact = bool(distinct.str.contains(r"^\d{8}$").any())
        return heading, (f"dates as {distinct[0]}" if compact else ""), ""
    fitting = [form for form, shape in DATE_FORMATS if distinct.str.contains(shape).all() and reads_all(distinct, form)]
    if len(fitting) > 1:
        ways = " or ".join(f'format = "{form}"' for form in fitting)
        return None, "", f"{distinct[0]!r} may be a day and a month either way: say in a map which, {ways}"
    if fitting:
        return {"from": heading, "format": fitting[0]}, f"dates as {fitting[0]}", ""
    return heading, "", ""


def reads_all(texts: pl.Series, form: str) -> bool:
    """Whether every text is a date in a format."""
    if form == "%Y":
        return True
    return (
        texts.str.to_datetime(form, strict=False).null_count() == 0
        if "%H" in form
        else (texts.str.to_date(form, strict=False).null_count() == 0)
    )


def status_words(words: list[str]) -> dict[str, str]:
    """The status of each word that surely has one, in any case; those that are one already with itself."""
    found: dict[str, str] = {}
    for word in words:
        plain = word.strip().lower().replace(" ", "_").replace("-", "_").rstrip(".")
        if plain in STATUSES:
            found[word] = plain
        elif plain in FINISHED or durations.is_lapped(word):
            found[word] = "finished"
        else:
            status = durations.status_word(word) or SYNONYMS.get(plain)
            if status is not None:
                found[word] = status
    return found
