"""A sheet during the search for its columns and layout: its cells, the meaning of its headings, and the answers.

Each step of the search returns its result, and adds errors to `Sheet.faults` and questions to `Sheet.unclear`. If there
are any, `refuse_unclear` rejects the sheet.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers import times
from podium.importers.blocks import drop_footer_rows
from podium.importers.grid import (
    EVERY,
    SHEET,
    TITLE,
    Choice,
    Grid,
    UndecidedError,
    members_beside,
    name_parts,
    question,
)
from podium.importers.tables.cells import DIAGONAL, TINY, number, placed
from podium.importers.tables.maps import Rule, build_map, is_refinement
from podium.results import headings as heads
from podium.results.columns import ALL
from podium.results.headings import fold, known_column, meanings, side_of, sides

Document = dict[str, Any]
UNPLAYED = rf"^(?:\*|\?|x|[-:. ]+|(?i:{'|'.join(heads.UNPLAYED_WORDS)})\.?)$"
COMMA = [r"^(.*\d),(\d+\D*)$", "$1.$2"]  # changes the comma in a time to a point
UNIT = r"(?i)\s*[(\[](?:[hms:.,0]+|sec|min|k?g)[)\]]$"  # unit at the end of a heading
LISTED = {"regex": [r'^\["|"\]$', ""], "split": '", "'}  # reads a list in JSON, such as ["Ana", "Ben"]
SAMPLE = 20  # number of cells in which to search for a mark
OF_NAMES = ("player", "team", "given", "family", *heads.MET)


@dataclass(frozen=True)
class Sheet:
    grid: Grid  # excludes the rows below the table
    given: Document  # rules for results columns from the answers
    named: Mapping[str, str]  # headings in the answers, by results column
    refined: Mapping[str, Document]  # rules for reading a results column, from the answers
    source: Document  # format of the file, from the answers
    parts: list[str]  # columns of the members of teams, or of given and family names
    has_members: bool
    drops: list[Document]  # conditions that drop the rows below the table
    pairs: str = ""  # answer about names that may be pairs: pairs or names
    faults: list[Fault] = field(default_factory=list)
    unclear: list[Fault] = field(default_factory=list)  # questions

    def ask(
        self, text: str, choices: Iterable[Choice] = (), column: str | None = None, cell: str | None = None
    ) -> None:
        row = None if cell is None else self.frame[column or ""].cast(pl.String).index_of(cell)
        doubt = question(self.grid.name, text, choices, column, cell)
        self.unclear.append(doubt if row is None else doubt._replace(place=self.grid.place(row)))

    @cached_property
    def headings(self) -> list[str]:
        return self.grid.headings

    @cached_property
    def frame(self) -> pl.DataFrame:
        return self.grid.frame

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        return build_map({"columns": self.given}, self.grid.name).columns if self.given else {}

    @cached_property
    def used(self) -> set[str]:
        """The headings that the answers use."""
        return {name for rule in self.rules.values() for name in rule.names} | {*self.named.values()}

    @cached_property
    def of_column(self) -> dict[str, list[str]]:
        """The headings for each results column, most certain first."""
        named = {**self.named, **({"player": self.parts[1]} if self.parts else {})}
        found = {name: [heading] for name, heading in named.items()}
        for heading in sorted(self.headings, key=lambda heading: fold(heading) in heads.WEAK):
            column = self.meaning(heading)
            if column not in named and heading not in named.values():
                found.setdefault(column, []).append(heading)
        found.get("started_at", []).sort(key=lambda heading: not self.has(heading, r"\d"))  # after dates, weekdays
        corner = self.headings[0] if self.headings else None
        if "player" not in found and corner == "" and self.cells(corner).str.contains(r"\p{L}").all():
            found["player"] = [corner]  # names below an empty corner
        return found

    @cached_property
    def titles(self) -> pl.Series:
        """The lines above the heads, if every row has such lines."""
        titles = self.frame.get_column(TITLE, default=pl.Series([], dtype=pl.String))
        return titles.head(0) if titles.null_count() else titles.unique(maintain_order=True)

    @cached_property
    def title_dates(self) -> pl.Series:
        """The dates in those lines, or null for lines without a date. The column is empty if there are no dates.

        A line with three dates or more, which are of columns, counts as one without a date.
        """
        several = self.titles.str.extract_all(times.IN_A_LINE).list.n_unique() > 2  # noqa: PLR2004
        found = self.titles.str.extract(times.A_DATE).set(several, None)
        return found.head(0) if found.null_count() == found.len() else found

    @cached_property
    def event(self) -> str:
        """The template for the event's name, if the sheet has a single event.

        It is empty if nothing provides a name.
        """
        titles = self.titles.len()
        if self.grid.rule.sheet == EVERY and SHEET in self.frame.columns:
            return "{title}" if titles == self.frame[SHEET].n_unique() else "{sheet}"
        return "{title}" if titles else ""

    def first(self, *columns: str) -> str | None:
        return next((self.of_column[column][0] for column in columns if column in self.of_column), None)

    def under(self, words: Collection[str]) -> list[str]:
        """Return the headings that are among these words."""
        return [heading for heading in self.headings if fold(heading) in words]

    def first_under(self, words: Collection[str]) -> str | None:
        return next(iter(self.under(words)), None)

    def others(self, *headings: str | None) -> list[str]:
        """Return all headings except these."""
        return [heading for heading in self.headings if heading not in headings]

    def texts(self, heading: str) -> pl.Series:
        """Return the cells of a column as strings, with null for empty cells."""
        return self.frame[heading].cast(pl.String)

    def cells(self, *headings: str) -> pl.Series:
        """Return the cells in these columns that are not empty."""
        return pl.concat([self.texts(heading).drop_nulls().alias("cell") for heading in headings])

    def has(self, heading: str, pattern: str) -> bool:
        return self.texts(heading).str.contains(pattern).any()

    def meaning(self, heading: str) -> str:
        """Return the results column for a heading.

        The result is empty for a heading of both sides of a match, and for one of several legs.
        """
        word = fold(re.sub(UNIT, "", heading))
        if word in heads.LEGS and len(self.under(heads.LEGS)) > 1:
            return ""
        if word in heads.WEIGHTS and self.under(heads.PEGS):
            has_unit = word != fold(heading) or not self.has(heading, r"^\d+[.,-]\d{1,2}$")
            return "score" if has_unit else ""  # 14.2 may be 14 lb 2 oz
        if sides().get(word) == "total" and self.has(heading, r"\d:\d\d[:.,]\d"):
            return "time_s"
        may_be_all = word in heads.WEAK and word in (*heads.PAIRING, *heads.COUPLES)
        return "" if may_be_all and self.has(heading, r"^\d+$|,") else meanings().get(word, "")

    def is_unknown(self, heading: str) -> bool:
        """Return True if a heading has no known meaning, or has numbers below it and could be a person such as Nick."""
        word = fold(heading)
        part = known_column(word) or sides().get(word) or side_of(heading)
        return part is None or (part in OF_NAMES and not self.has(heading, r"\p{L}"))

    def repeats(self, headings: Sequence[str], most: int | None = None) -> bool:
        """Return True if some rows are equal in all of these columns. With `most`, check only this many rows."""
        return bool(self.frame.select(headings).head(most or self.frame.height).is_duplicated().any())

    def drop(self, headings: Iterable[str], pattern: str, reason: str, empty: str = "") -> list[Document]:
        """Return the conditions that drop cells with a pattern, and empty cells, if there are any."""
        found: list[Document] = []
        for heading in headings:
            if self.has(heading, pattern):
                found.append({"column": heading, "matches": pattern, "reason": reason})
            if empty and self.texts(heading).null_count():
                found.append({"column": heading, "null": True, "reason": empty})
        return found


def sheet_of(grid: Grid, source: Document, columns: Document) -> Sheet:
    """Return the sheet for a table, with the answers about its file and columns."""
    drops, rows = drop_footer_rows(grid)
    left = grid.only(rows)
    refined = {name: rule for name, rule in columns.items() if is_refinement(rule)}
    named = {name: rule for name, rule in columns.items() if name in ALL and rule in grid.headings}
    given = {name: rule for name, rule in columns.items() if name not in refined.keys() | named.keys()}
    members = [] if "player" in columns else members_beside(grid)
    parts = members or ([] if "player" in columns else name_parts(left))
    lists = [] if "player" in columns else [heading for heading in grid.headings if lists_players(grid, heading)]
    if lists:
        given["player"] = {"from": lists, **LISTED}
    elif parts:
        given["player"] = {"from": parts, **({"split": " / "} if members else {})}
    player = refined.pop("player", None)
    pairs = "" if not player else "pairs" if "split" in player else "names"
    return Sheet(left, given, named, refined, source, parts, bool(members or lists), drops, pairs)


def lists_players(grid: Grid, heading: str) -> bool:
    """Return True if the cells of a column are lists of players in JSON."""
    cells = grid.frame[heading].cast(pl.String)
    return known_column(heading) == "player" and bool(cells.str.starts_with('["').all())


def refuse_unclear(sheet: Sheet, alone: Sequence[Fault] = ()) -> None:
    """Reject a sheet if it has questions or errors. With `alone`, ask only these questions."""
    faults = dict.fromkeys((*sheet.unclear, *sheet.faults, *alone))
    if alone or sheet.unclear:
        raise UndecidedError(sheet.grid.name, faults, dict.fromkeys(alone or sheet.unclear))
    if faults:
        raise ResultsError(sheet.grid.name, faults)


def are_ranks(sheet: Sheet, heading: str, within: Sequence[str] = (), first: int = 1) -> bool:
    """Return True if a column contains places, which equal 1 plus the number of better rows in the same group."""
    texts, place = sheet.texts(heading), pl.col("\0place")
    places = placed(texts).alias("\0place")
    words = texts.filter(places.is_null()).drop_nulls()
    if not places.count() or not all(times.status_word(word) or DIAGONAL.fullmatch(word) for word in words):
        return False
    table = sheet.frame.with_columns(places).select(*within, "\0place").drop_nulls("\0place")
    rank = (place.rank("min").over(within) if within else place.rank("min")) + first - 1
    return bool(table.select((rank == place).all()).item())


def day_column(sheet: Sheet, headings: Iterable[str]) -> str | None:
    """Return the only column in which all cells are days, or years if its heading means years."""
    found = [heading for heading in headings if not sheet.texts(heading).null_count() and is_of_days(sheet, heading)]
    return found[0] if len(found) == 1 else None


def is_of_days(sheet: Sheet, heading: str) -> bool:
    distinct = sheet.cells(heading).unique(maintain_order=True)
    if distinct.str.contains(r"^\d*\.?\d*$").any():
        return fold(heading) in heads.YEARS and bool(distinct.str.contains(r"^[12]\d{3}$").all())
    return bool(times.matching_formats(distinct))


def all_have(sheet: Sheet, mark: str, *headings: str) -> bool:
    """Return True if every cell contains a mark exactly once, with text on both sides."""
    cells = sheet.cells(*headings)
    parts = cells.filter(~cells.str.contains(heads.ABSENT)).str.split(mark)
    counts = parts.list.eval(pl.element().str.strip_chars() != "").list.sum()
    return bool(counts.len() and (counts == 2).all())  # noqa: PLR2004


def mates_rule(sheet: Sheet, heading: str) -> Document:
    """Return the rule that splits a column's names into the members of pairs, if the cells contain a mark."""
    marks = "/", " & ", " + ", *((" - ", " \u2013 ") if fold(heading) in (*heads.PAIRING, *heads.COUPLES) else ())
    is_apart = sheet.texts(heading).head(SAMPLE).str.contains(" / ", literal=True).any()
    mark = " / " if is_apart else next((mark for mark in marks if all_have(sheet, mark, heading)), None)
    commas = sheet.cells(heading).str.count_matches(",")
    if commas.len() and (commas > (1 if "team" in sheet.of_column else 2)).all():  # three names of a team, or four
        mark = ","
    return {"split": mark} if mark and sheet.pairs != "names" else pair_rule(sheet, heading)


def pair_rule(sheet: Sheet, *headings: str) -> Document:
    """Return the rule that splits cells into pairs at different marks. If only some cells look like pairs, ask."""
    cells, known = sheet.cells(*headings).unique(maintain_order=True), sheet.pairs
    cells = cells.filter(~cells.str.contains(heads.ABSENT))
    are_pairs = cells.str.contains(heads.MATES)
    if known == "names":
        return {}
    parts = cells.str.split(", ")
    if (parts.list.len() == 2).all() and parts.explode().n_unique() <= cells.len():  # noqa: PLR2004
        text = f"has {cells[0]!r}, which may be a pair. Write / between the members of pairs"
        sheet.ask(text, [Choice("each is one name", "columns.player.as", "text")], headings[0])
    if not are_pairs.any():
        return {}
    pairs, names = cells.filter(are_pairs), cells.filter(~are_pairs)
    members = pairs.str.replace_all(heads.MATES, "\0").str.split("\0").explode()
    repeats = pl.concat([members, names]).is_duplicated().any()
    if not known and names.len() and (repeats or pairs.len() > names.len()):
        text = f"has {pairs[0]!r}, which may be a pair, and {names[0]!r}. Are they pairs?"
        choices = (
            Choice("they are pairs", "columns.player.split", "/"),
            Choice("each is one name", "columns.player.as", "text"),
        )
        sheet.ask(text, choices, headings[0])
    return {"regex": [heads.MATES, " / "], "split": " / "} if known or not names.len() else {}


def numbers_of(sheet: Sheet, heading: str) -> list[float]:
    """Return the numbers in a column, with 0 for cells without a number."""
    return [number(cell) for cell in sheet.texts(heading)]


def sums_up(whole: Iterable[float | None], parts: Iterable[float]) -> bool:
    """Return True if the numbers in two columns are equal, ignoring empty cells."""
    return all(own is None or abs(own - part) < TINY for own, part in zip(whole, parts, strict=True))
