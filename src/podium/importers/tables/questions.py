"""Questions about a table that does not say it itself, and the answers that there are."""

from collections.abc import Mapping, Sequence

import polars as pl

from podium.importers import times
from podium.importers.grid import Choice, Question
from podium.importers.tables.cells import PLACE

SHAPE = (
    "a results table has a row for each entrant of each event, as event_id,player,position, then race-1,Ana,1 and "
    "race-1,Ben,2; winners and losers in one row, or a grid, are read by a map: see docs/own-tables.md"
)
KINDS = {
    "wide": "a match a row",
    "crosstable": "a crosstable",
    "swiss": "a Swiss list",
    "matrix": "an event a column",
    "row": "an event a row",
}
LOOKED_AT = 1000  # cells of a column that nothing is known of
WHOLE = Choice("none: it is all one event", "columns.event_id", "{file}")


def which_column(name: str, headings: Sequence[str]) -> list[Question]:
    """Ask which of the columns that have no meaning has the players, or the events; all else may follow from it."""
    what = "the players" if name == "player" else "the event, as a race or a round"
    choices = [Choice(each, f"columns.{name}", each) for each in headings]
    choices += [WHOLE] if name == "event_id" else []
    return [Question(f"which column has {what}", tuple(choices))] if len(choices) > 1 else []


def who_beat_whom(columns: Mapping[str, pl.Series]) -> list[Question]:
    """Ask which of the columns that have no meaning has places, times or points, as far as their cells are such."""
    choices = [choice for heading, texts in columns.items() for choice in comparisons(heading, texts)]
    return [Question("which column says who beat whom", tuple(choices))] if choices else []


def comparisons(heading: str, texts: pl.Series) -> list[Choice]:
    """What a column may compare."""
    plain = [each for each in texts.head(LOOKED_AT).unique() if times.status_word(each) is None]
    cells = pl.Series(plain, dtype=pl.String).str.strip_chars()
    ways = {
        "position": ("places", cells.str.contains(PLACE).all()),
        "time_s": ("times", all(times.is_lapped(each) or is_time(each) for each in cells)),
        "score": ("points, the more the better", cells.str.contains(r"^-?[0-9]+([.,][0-9]+)?$").all()),
    }
    fitting = {name: words for name, (words, fits) in ways.items() if fits and plain}
    return [Choice(f"{heading}: {words}", f"columns.{name}", heading) for name, words in fitting.items()]


def is_time(cell: str) -> bool:
    return any(times.parse(cell, decimal=mark) is not None for mark in ".,")


def day_or_month(dates: pl.Series, forms: Sequence[str], column: str | None) -> Question:
    """Ask which of the formats of dates is theirs: each by the day that it makes of the first."""
    ways = " or ".join(f'format = "{form}"' for form in forms)
    days = [dates.head(1).str.to_datetime(form, strict=False)[0] for form in forms]
    choices = [
        Choice(f"{day.day} {day:%B %Y}" if day else form, "columns.started_at.format", form)
        for day, form in zip(days, forms, strict=True)
    ]
    text = f"{dates[0]!r} may be a day and a month either way"
    return Question(text, tuple(choices), column, f": say in a map which, {ways}")


def thousand_or_more(cell: str, column: str) -> Question:
    """Ask what a score is whose mark stands before three digits: 1,234 may be a thousand, or a bit over 1."""
    mark = next(each for each in cell if each in ".,")
    readings = cell.replace(mark, ""), cell.replace(mark, ".")
    ways = f"--thousands '{mark}' for the one, --decimal '{mark}' for the other"
    choices = [Choice(readings[0], "source.thousands", mark), Choice(readings[1], "source.decimal", mark)]
    text, hint = f"{cell!r} may be {' or '.join(readings)}", f" (or podium import csv FILE -o OUT {ways})"
    return Question(text, tuple(choices), column, hint)
