"""Values as people read them: one rule for all that shows a change, so that what is shown adds up as shown.

Ratings are rounded to the digits that a system shows. A change is the difference of the two ratings as shown, and its
parts are rounded so that they add up to it, by largest remainder. What programs read has every digit.
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
BEFORE_DOTS: Final = "\x1e"  # stands before a name of dots, which browsers take for a step to the folder above


def shown(value: float, digits: int) -> Decimal:
    """The number as it is shown, to so many decimals; zero has no sign."""
    number = Decimal(f"{value:.{digits}f}")
    return abs(number) if number.is_zero() else number


def shown_change(before: float, after: float, digits: int) -> Decimal:
    """The difference of two ratings as they are shown."""
    return shown(after, digits) - shown(before, digits)


def shown_parts(parts: Sequence[float], total: Decimal, digits: int) -> list[Decimal]:
    """Parts as they are shown, so that they add up to a total that is shown, by largest remainder."""
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
    """A change with its sign; nothing before zero."""
    return f"+{number}" if number > 0 else f"{MINUS}{-number}" if number < 0 else str(number)


MOST_LISTED = 8  # values of a list
SMALL = 2.0  # numbers below it are read to four decimals


def cell(value: object, decimals: int = 2, instants: str = "%Y-%m-%d %H:%M") -> str:
    """A value as people read it; nothing where there is none.

    Args:
        decimals: of a number from 1 on; a smaller one has four.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:z.4f}" if abs(value) < 1.0 else f"{value:,.{decimals}f}"
    if isinstance(value, list):
        more = [f"and {len(value) - MOST_LISTED:,} more"] if len(value) > MOST_LISTED + 1 else []
        return ", ".join([cell(each, decimals, instants) for each in value[: MOST_LISTED + 1 - len(more)]] + more)
    return str(value.strftime(instants)) if hasattr(value, "strftime") else str(value)


def column_texts(series: "pl.Series", instants: str = "%Y-%m-%d %H:%M") -> list[str]:
    """The values of a column as people read them, all numbers to as many decimals.

    Returns:
        A text for each; four decimals where all numbers are below 2, as chances and losses are, and else two.
    """
    if not series.dtype.is_float():
        return [cell(value, instants=instants) for value in series.to_list()]
    largest = series.filter(series.is_finite()).abs().max()
    decimals = 4 if largest is None or float(str(largest)) < SMALL else 2
    return ["" if value is None else f"{value:z,.{decimals}f}" for value in series.to_list()]


def as_text(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame with instants as ISO 8601 texts, for formats that have none."""
    import polars as pl  # noqa: PLC0415  (large, and a command may show nothing but a help)

    instants = [name for name, kind in frame.schema.items() if kind == pl.Datetime]
    return frame.with_columns(pl.col(instants).dt.strftime("%Y-%m-%dT%H:%M:%S%.fZ")) if instants else frame


def counted(count: int, noun: str) -> str:
    """A count with its noun: "1 rider", "6 riders"."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith("s") and not noun.endswith(("ss", "us")):
        return noun  # a plural, as "tyres"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in set("aeiou") else f"{noun}s"


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def ordinal(place: int) -> str:
    """A place in words: "first", "12th"."""
    return ORDINALS[place - 1] if place <= len(ORDINALS) else ordinal_number(place)


def ordinal_number(place: int) -> str:
    """A place in figures: "1st", "12th"."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def capitalised(words: str) -> str:
    """The words with a large first letter, the others as they are."""
    return words[:1].upper() + words[1:]


def table_html(heading: str, table: "pl.DataFrame") -> str:
    return f"<p>{escape(heading)}</p>{table._repr_html_()}"


def lines_html(heading: str, lines: Iterable[tuple[str, str]]) -> str:
    """A heading, and a table of words and the numbers beside them."""
    rows = "".join(
        f'<tr><td style="text-align:left;white-space:pre">{escape(words)}</td>'
        f'<td style="text-align:right">{escape(numbers)}</td></tr>'
        for words, numbers in lines
    )
    return f"<p>{escape(heading)}</p><table>{rows}</table>"


@lru_cache(maxsize=1 << 14)
def part(name: object) -> str:
    """A name, of any letters, as one part of an address."""
    text = str(name)
    return quote(f"{BEFORE_DOTS}{text}" if text in {".", ".."} else text, safe="")


MIN_LIKENESS = 0.66  # of the letters that two names share: about two typing errors in a first name and a surname


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one most likely means, whatever the case; None where none is near."""
    by_case = {each.casefold(): each for each in sorted(known, reverse=True)}
    near = get_close_matches(name.casefold(), by_case, 1, MIN_LIKENESS)
    return by_case[near[0]] if near else None


PAIR = re.compile(r"\s*[/&+]\s*|\s+(?:and|und|et|y|e|og|och)\s+")  # between the names of a pair
LEAST_SLIP = 4  # letters of a name in which one may be wrong


def is_nearly(name: str, other: str) -> bool:
    """Return True if two names differ by one letter, in case, or in how they write the same pair."""
    one, two = name.casefold(), other.casefold()
    if abs(len(one) - len(two)) > 1 and not PAIR.search(one):  # as nearly all names of a large pool
        return False
    if sorted(PAIR.split(one)) == sorted(PAIR.split(two)):
        return True
    start = next((k for k, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    first, second = one[start:], two[start:]
    if max(len(one), len(two)) < LEAST_SLIP or any(map(str.isdecimal, first[:1] + second[:1])):
        return False
    is_swapped = first[:2] == second[1::-1] and first[2:] == second[2:]
    return is_swapped or not {first, first[1:]}.isdisjoint({second, second[1:]})


def suggestion(name: str, known: Iterable[str]) -> str:
    """What was probably meant by a name that there is not, to end a sentence: a near one, or the one that has it."""
    known = [*known]
    holding = [each for each in known if name.casefold() in each.casefold()]
    meant = nearest_name(name, known) or (holding[0] if len(holding) == 1 else None)
    return f"; did you mean {meant!r}?" if meant else ""
