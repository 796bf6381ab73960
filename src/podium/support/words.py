"""Values for display. Changes are always rounded by the same rule, so that displayed numbers add up.

Ratings are rounded to the system's digits. A change is the difference between the two rounded ratings. Its parts are
rounded by the largest-remainder method, so that they add up to it. Programs get all digits.
"""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    import polars as pl

MINUS = "\N{MINUS SIGN}"
BEFORE_DOTS: Final = "\x1e"  # precedes a name of dots, which browsers would read as the parent folder


def shown(value: float, digits: int) -> Decimal:
    """Return the number rounded to this many decimal places. Zero has no sign."""
    number = Decimal(f"{value:.{digits}f}")
    return abs(number) if number.is_zero() else number


def shown_change(before: float, after: float, digits: int) -> Decimal:
    """Return the difference between two rounded ratings."""
    return shown(after, digits) - shown(before, digits)


def shown_parts(parts: Sequence[float], total: Decimal, digits: int) -> list[Decimal]:
    """Round parts by the largest-remainder method, so that they add up to a rounded total."""
    if not parts:
        return []
    unit = Decimal(1).scaleb(-digits)
    rounded = [shown(part, digits) for part in parts]
    every, more = divmod(int((total - sum(rounded, Decimal(0))) / unit), len(parts))
    short = sorted(range(len(parts)), key=lambda k: rounded[k] - Decimal(parts[k]))
    for k in range(len(parts)):
        rounded[k] += every * unit
    for k in short[:more]:
        rounded[k] += unit
    return [abs(number) if number.is_zero() else number for number in rounded]


def signed(number: Decimal) -> str:
    """Return a change with its sign. Zero has no sign."""
    return f"+{number}" if number > 0 else f"{MINUS}{-number}" if number < 0 else str(number)


MAX_LISTED = 8  # number of values of a list to display
SMALL, LARGE = 2.0, 100.0  # numbers below SMALL get four decimals, and columns with larger ones than LARGE one


def cell(value: object, decimals: int = 2, instants: str = "%Y-%m-%d %H:%M") -> str:
    """Return a value for display, or an empty string for None.

    Args:
        decimals: Number of decimal places for numbers of 1 or more. Smaller numbers get four.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:z.4f}" if abs(value) < 1.0 else f"{value:,.{decimals}f}"
    if isinstance(value, list):
        more = [f"and {len(value) - MAX_LISTED:,} more"] if len(value) > MAX_LISTED + 1 else []
        return ", ".join([cell(item, decimals, instants) for item in value[: MAX_LISTED + 1 - len(more)]] + more)
    return str(value.strftime(instants)) if hasattr(value, "strftime") else str(value)


def column_texts(series: "pl.Series", instants: str = "%Y-%m-%d %H:%M") -> list[str]:
    """Return the values of a column for display, with the same number of decimal places.

    Returns:
        One string per value. Numbers have four decimal places if all of them are below 2 (such as probabilities and
        losses), two if none is above 100, otherwise one.
    """
    if not series.dtype.is_float():
        return [cell(value, instants=instants) for value in series.to_list()]
    largest = series.filter(series.is_finite()).abs().max()
    decimals = 4 if largest is None or float(str(largest)) < SMALL else 2 if float(str(largest)) <= LARGE else 1
    return ["" if value is None else f"{value:z.{decimals}f}" for value in series.to_list()]


def as_text(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Convert times in the frame to ISO 8601 strings, for formats without a time type."""
    import polars as pl  # noqa: PLC0415  (large, and a command may show nothing but a help)

    instants = [name for name, kind in frame.schema.items() if kind == pl.Datetime]
    return frame.with_columns(pl.col(instants).dt.strftime("%Y-%m-%dT%H:%M:%S%.fZ")) if instants else frame


# also after a semicolon, which separates cells in some spreadsheets, and in full width
FORMULA_START = r"^[;\s]*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]|^[\t\r]"


def without_formulas(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Put an apostrophe before text that would be a formula in a spreadsheet. Numbers do not change."""
    import polars as pl  # noqa: PLC0415

    text = pl.col(pl.String)
    is_formula = text.str.contains(FORMULA_START)
    return frame.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())


def with_formulas(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return the frame as it was before `without_formulas`."""
    import polars as pl  # noqa: PLC0415

    text = pl.col(pl.String)
    is_guarded = text.str.starts_with("'") & text.str.slice(1).str.contains(FORMULA_START)
    return frame.with_columns(pl.when(is_guarded).then(text.str.slice(1)).otherwise(text).name.keep())


def in_words(bound: float) -> str:
    """Return a bound as people write it, such as 0.001, 10,000 or -1 billion."""
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if abs(bound) >= size:
            return f"{bound / size:g}{word}"
    return f"{bound:,.9f}".rstrip("0").rstrip(".")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: "1 rider", "6 riders"."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith("s") and not noun.endswith(("ss", "us")):
        return noun  # already a plural, such as "tyres"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in set("aeiou") else f"{noun}s"


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def ordinal(place: int) -> str:
    """Return a place in words: "first", "12th"."""
    return ORDINALS[place - 1] if place <= len(ORDINALS) else ordinal_number(place)


def ordinal_number(place: int) -> str:
    """Return a place in figures: "1st", "12th"."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def listed(words: Sequence[str]) -> str:
    """Join words in a sentence: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def capitalised(words: str) -> str:
    """Return the text with a capital first letter, and the rest unchanged."""
    return words[:1].upper() + words[1:]


def table_html(heading: str, table: "pl.DataFrame") -> str:
    return f"<p>{escape(heading)}</p>{table._repr_html_()}"


def lines_html(heading: str, lines: Iterable[tuple[str, str]]) -> str:
    """Return HTML with a heading and a table of words and numbers."""
    rows = "".join(
        f'<tr><td style="text-align:left;white-space:pre">{escape(words)}</td>'
        f'<td style="text-align:right">{escape(numbers)}</td></tr>'
        for words, numbers in lines
    )
    return f"<p>{escape(heading)}</p><table>{rows}</table>"


@lru_cache(maxsize=1 << 14)
def part(name: object) -> str:
    """Return a name as one segment of a URL path."""
    text = str(name)
    return quote(f"{BEFORE_DOTS}{text}" if text in {".", ".."} else text, safe="")


MIN_LIKENESS = 0.66  # share of common letters, which allows about two typing errors in a first name and surname


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt name most likely means, regardless of case, or None."""
    by_case = {other.casefold(): other for other in sorted(known, reverse=True)}
    near = get_close_matches(name.casefold(), by_case, 1, MIN_LIKENESS)
    return by_case[near[0]] if near else None


PAIR = re.compile(r"\s*[/&+]\s*|\s+(?:and|und|et|y|e|og|och)\s+")  # between the two names of a pair
MIN_SLIP = 4  # letters from which a name may have one error
WRITTEN_OUT = str.maketrans({"ä": "ae", "æ": "ae", "ö": "oe", "ø": "oe", "ü": "ue", "å": "aa"})


def is_nearly(name: str, other: str) -> bool:
    """Return True if two names differ by one letter, in case, or in the way they write umlauts or the same pair."""
    one, two = name.casefold(), other.casefold()
    if not (one.isascii() and two.isascii()) and one.translate(WRITTEN_OUT) == two.translate(WRITTEN_OUT):
        return True
    if abs(len(one) - len(two)) > 1 and not PAIR.search(one):  # like most names of a large pool
        return False
    if sorted(PAIR.split(one)) == sorted(PAIR.split(two)):
        return True
    start = next((k for k, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    first, second = one[start:], two[start:]
    if max(len(one), len(two)) < MIN_SLIP or any(map(str.isdecimal, first[:1] + second[:1])):
        return False
    is_swapped = first[:2] == second[1::-1] and first[2:] == second[2:]
    return is_swapped or not {first, first[1:]}.isdisjoint({second, second[1:]})


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name (a similar name, or one that contains it) as the end of a sentence."""
    known = [*known]
    holding = [other for other in known if name.casefold() in other.casefold()]
    meant = nearest_name(name, known) or (holding[0] if len(holding) == 1 else None)
    return f"; did you mean {meant!r}?" if meant else ""
