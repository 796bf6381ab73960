"""The author of a sheet: the language, the forms of dates, names and marks, and the kind of file."""

import csv
import io
import random
import tomllib
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from workbooks import DATE, Merged, write_ods, write_xlsx

WORDS = tomllib.loads((Path(__file__).parent / "sheet_words.toml").read_text(encoding="utf-8"))
TRACKS = (
    "Genk",
    "Kerpen",
    "Salbris",
    "Lonato",
    "Zuera",
    "Mülheim",
    "Braga",
    "Turku",
    "Assen",
    "Rye House",
    "Bydgoszcz",
)
OUT = "out"  # the rank of entrants who did not finish, behind all who did
EXCEL_EPOCH = date(1899, 12, 30)
FORMS = {
    "iso": "{d:%Y-%m-%d}", "dots": "{d:%d.%m.%Y}", "short": "{d.day}.{d.month}.{d.year}", "two": "{d:%d.%m.%y}",
    "day/month": "{d:%d/%m/%Y}", "month/day": "{d:%m/%d/%Y}", "day-month": "{d:%d-%m-%Y}",
    "clock": "{d:%Y-%m-%d} 14:30", "dots clock": "{d:%d.%m.%Y} 14:30", "year": "{d:%Y}",
}  # fmt: skip
SLASHED = ("day/month", "month/day", "day-month")
SURE = ("iso", "dots", "short", "words")  # forms that always mean one day


class Event(NamedTuple):
    """An event as the sheet describes it.

    `dates` are the dates that a reader may find: None for no date, four digits for any time of that year. A heat is a
    list of sides with their ranks, and a side is a list of names. 1 is best, ties share a rank, and OUT did not finish.
    """

    dates: list[str | None]
    heats: list[list[tuple[list[str], int | str]]]


@dataclass
class Truth:
    """The events in their order. `ask` is the reason why the sheet is ambiguous, if it is.

    If `grouped` is false, each game may be an event, or all games of a round may be heats of one event.
    """

    events: list[Event]
    grouped: bool = True
    ask: str = ""


def heat_of(entries):
    """Return a heat from names and the values that order them, the smallest first."""
    keys = sorted({key for _, key in entries if key != OUT})
    return [(list(names), key if key == OUT else keys.index(key) + 1) for names, key in entries]


@dataclass
class Author:
    """The random author of one sheet, whose choices stay the same for the entire sheet."""

    rng: random.Random
    only: str = ""  # the kind of file, if the layout needs one
    ask: str = ""
    kept: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        self.language = self.rng.choice(list(WORDS))
        self.words = WORDS[self.language]
        kind = self.drawn({"csv": 62, "xlsx": 26, "ods": 12})
        self.kind = {"book": kind if kind != "csv" else "xlsx", "trf": "trf"}.get(self.only, kind)
        self.is_book = self.kind in ("xlsx", "ods")
        english = self.language == "en"
        self.delimiter = self.drawn({",": 70, ";": 15, "\t": 15} if english else {";": 60, ",": 25, "\t": 15})
        weights = {"utf-8": 42, "utf-8-sig": 20, "cp1252": 10, "utf-16": 15, "utf-16-le": 13}
        self.encoding = self.drawn(weights) if self.kind == "csv" else "utf-8"
        plain = english or self.is_book or self.delimiter == "," or self.chance(0.2)
        self.decimal = "." if plain else ","
        self.date_form = ""
        self.name_form = self.drawn({"whole": 60, "first": 25, "last first": 15})

    def chance(self, share):
        return self.rng.random() < share

    def drawn(self, weights):
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def word(self, key):
        """Return a heading or word of the language, always the same in a sheet."""
        return self.kept.setdefault(key, self.rng.choice(self.words[key]))

    def people(self, count):
        """Return different names."""
        firsts = self.rng.sample(self.words["first"], count)
        lasts = [self.rng.choice(self.words["last"]) for _ in firsts]
        forms = {"whole": "{0} {1}", "first": "{0}", "last first": "{1}, {0}"}
        return [forms[self.name_form].format(*both) for both in zip(firsts, lasts, strict=True)]

    def number(self, value):
        """Return a number as cell content."""
        if value == int(value):
            return int(value)
        return value if self.is_book else str(value).replace(".", self.decimal)

    def event_names(self, count):
        """Return names of tracks, or rounds with numbers."""
        if self.chance(0.6):
            return self.rng.sample(TRACKS, count)
        return [f"{self.word('round')} {number}" for number in range(1, count + 1)]

    def days(self, count, early=0.2):
        """Return days in order. In the share `early` of sheets, all are among the first twelve days of a month."""
        if self.chance(early):
            start = self.rng.randint(1, 12 - count)
            return [date(2025, start + number, self.rng.randint(1, 12)) for number in range(count)]
        first = date(self.rng.randint(2023, 2026), 1, 1) + timedelta(self.rng.randint(0, 250))
        step = self.rng.choice((7, 14, 30))
        days = [first + timedelta(number * step) for number in range(count)]
        return days if any(day.day > 12 for day in days) else [day + timedelta(15) for day in days]

    def dates(self, count):
        """Return a cell and its possible dates for each event, or no dates at all."""
        weights = {"": 25, "iso": 15, "dots": 18, "short": 6, "two": 3, "day/month": 14, "day-month": 5}
        weights |= {"words": 9, "clock": 4, "dots clock": 3, "year": 4}
        if self.language == "en":
            weights |= {"dots": 3, "short": 0, "two": 0, "dots clock": 0, "month/day": 12}
        self.date_form = self.drawn(weights | ({"real": 40} if self.is_book else {}))
        return self.dates_as(self.date_form, count)

    def dates_as(self, form, count):
        """Return cells and dates in one form."""
        days = self.days(count, 0.4 if form in SLASHED else 0.2)
        if form == "year":
            days = [date(2022 + number // 2, 1, 1) for number in range(count)]
        if form in SLASHED and all(each.day <= 12 for each in days):
            self.ask = self.ask if all(each.day == each.month for each in days) else "a day and a month either way"
        return [(self.day_cell(day, form), self.accepted(day, form)) for day in days]

    def accepted(self, day, form):
        """Return the dates that a reader may find for a cell."""
        if form == "year":
            return [None, str(day.year)]
        return [None if not form else f"{day}T14:30" if "clock" in form else str(day)]

    def day_cell(self, day, form):
        """Return a day as cell content."""
        if form == "real":
            return ("date", str(day)) if self.kind == "ods" else ((day - EXCEL_EPOCH).days, DATE)
        if form == "words":
            return self.words["day"].format(day=day.day, month=self.words["months"][day.month - 1], year=day.year)
        return FORMS[form].format(d=day) if form else None

    def sure_dates(self, count):
        """Return dates as texts in an unambiguous form."""
        return self.dates_as(self.rng.choice(SURE), count)

    def titled(self, rows, *facts):
        """Return the rows below a title with these words."""
        width = max(len(row) for row in rows)
        mark = self.kept.setdefault("between titles", self.rng.choice((" \u2013 ", ", ", "\n")))
        lines = mark.join((self.word("title"), *facts)).split("\n")
        cells = [[Merged(line, width, 1) if self.is_book and self.chance(0.5) else line] for line in lines]
        cells += [[None]] if self.chance(0.5) else []
        pads = self.is_book or self.chance(0.7)
        return [row + [None] * (width - 1) * pads for row in cells] + rows

    def saved(self, sheets, path):
        """Write one or several sheets in this style."""
        if self.kind == "trf":
            path.write_bytes("\r\n".join(sheets).encode(self.encoding))
        elif self.is_book:
            {"xlsx": write_xlsx, "ods": write_ods}[self.kind](path, **sheets)
        else:
            (rows,) = sheets.values()
            text = io.StringIO()
            end = self.rng.choice(("\r\n", "\n"))
            csv.writer(text, delimiter=self.delimiter, lineterminator=end).writerows(
                [each.value if isinstance(each, Merged) else each for each in row] for row in rows
            )
            path.write_bytes(encoded(text.getvalue(), self.encoding))

    @property
    def suffix(self):
        return "tsv" if self.kind == "csv" and self.delimiter == "\t" else self.kind


def encoded(text, encoding):
    """Return the text in its encoding, or in UTF-8 if the encoding lacks some of its letters."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode()
