"""The map that a table's headings and cells say, or why there is none: nothing is guessed in silence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from podium.errors import SHOWN_FAULTS, Fault, ResultsError
from podium.importers import times
from podium.importers.grid import Choice, Grid, Question, UndecidedError
from podium.importers.tables.applying import decimal_marks, may_be_thousands, status_words
from podium.importers.tables.cells import PLACE
from podium.importers.tables.maps import build_map, is_refinement, toml_value
from podium.importers.tables.model import LAPS
from podium.importers.tables.questions import KINDS, SHAPE, day_or_month, thousand_or_more, which_column, who_beat_whom
from podium.importers.tables.shapes import Shapes
from podium.results.columns import ALL, FOR_PAGES, GAP, NUMBERS, REQUIRED, TIMES
from podium.results.headings import DOUBTFUL, LAPS_WORDS, fold, meanings, near_miss
from podium.results.plain_rows import DELIMITERS

COMPARED = ("position", "score", "time_s", "team_score")


@dataclass(frozen=True)
class Guess:
    """A map that was understood, as TOML has it, and the line that says so."""

    document: dict[str, Any]
    note: str


def guess(grid: Grid, written: Mapping[str, Any] | None = None, given: Mapping[str, Any] | None = None) -> Guess:
    """The map that a table says."""
    return Guesser(grid, dict(written or {}), dict(given or {})).guess()


class Guesser:
    """Looks at a table, and collects what it says."""

    def __init__(self, grid: Grid, written: dict[str, Any], given: dict[str, Any]) -> None:
        self.grid, self.written = grid, written
        self.refined = {name: rule for name, rule in given.items() if is_refinement(rule)}
        self.named = {name: rule for name, rule in given.items() if name in ALL and rule in grid.headings}
        others = {*self.refined, *self.named}
        self.given = given = {name: rule for name, rule in given.items() if name not in others}
        rules = build_map({"columns": given}, grid.name).columns if given else {}
        self.taken = {name for rule in rules.values() for name in rule.names} | {*self.named.values()}
        self.numbers = [name for key in NUMBERS if key in rules for name in rules[key].columns]
        self.faults: list[Fault] = []
        self.questions: list[Question] = []
        self.shapes = Shapes(grid, given, self.named, self.ask)
        self.words: list[str] = []  # how the table is written
        self.asides: dict[str, str] = {}  # why a column that has a meaning is left aside
        self.chosen: dict[str, str] = {}
        self.outcomes: dict[str, float] = {}  # points of words in place of a score

    def guess(self) -> Guess:
        """Choose columns, then read their cells."""
        self.check_holes()
        shape = None if {"event_id", "player"} <= {*self.given, *self.named} else self.shapes.document()
        self.refuse()
        if shape is not None:
            return self.shaped(shape)
        self.chosen = self.choose()
        columns: dict[str, Any] = self.one_event()
        self.check_missing(columns)
        self.refuse()
        source = self.source()
        self.refuse()
        columns |= {name: self.rule(name, heading) for name, heading in self.chosen.items()}
        columns |= self.titled(columns) | self.laps(columns)
        self.add_statuses(columns)
        columns = {name: rule for name, rule in columns.items() if rule is not None} | self.given
        self.refuse()
        self.check_compared(columns)
        self.refuse()
        return Guess(({"source": source} if source else {}) | {"columns": columns}, self.note(columns))

    def shaped(self, shape: dict[str, Any]) -> Guess:
        """The map of a shape, with when its events were."""
        source, layout = self.source(), shape["layout"]
        columns = shape["columns"]
        kind = "row" if columns["event_id"] == "{row_name}" else layout["kind"]
        heading = self.shapes.first("started_at") if kind in ("row", "wide") else None
        if heading is not None:
            columns["started_at"] = self.rule("started_at", heading)
        columns |= self.titled(columns) | self.given
        document = ({"source": source} if source else {}) | shape
        mapping = build_map(document, self.grid.name)
        self.refuse()
        used = {layout.get("rows"), layout.get("number"), *mapping.names}
        if layout["kind"] != "wide":
            used |= {each for each in self.grid.headings if each not in layout["except"]}
        aside = [each for each in self.grid.headings if each not in used]
        read = [each or "the first column" for each in self.grid.headings if each in used]
        parts = [f"read {', '.join(read)} as {KINDS[kind]}"]
        parts += [f"understood {', '.join(self.words)}"] if self.words else []
        parts += [f"left aside {', '.join(aside)}"] if aside else []
        return Guess(document, "; ".join(parts))

    def titled(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The moments that the lines above the head say, where no column does."""
        found = self.shapes.title_dates()
        if found.null_count():
            self.fault(None, "has a date above the head of some sheets alone; write it in each, or in none")
        if "started_at" in {*columns, *self.given} or not found.len():
            return {}
        made = self.moments("{title}", found.unique(maintain_order=True))
        rule = made if isinstance(made, dict) else {"from": made}
        return {"started_at": rule | {"regex": [f"(?s)^.*?{times.in_a_line(rule.get('format'))}.*$", "$1"]}}

    def laps(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The laps beside times: who was lapped may have the shorter time."""
        heading = next((each for each in self.grid.headings if fold(each) in LAPS_WORDS), None)
        if heading is None or columns.get("time_s") is None or self.texts(heading).n_unique() == 1:
            return {}
        if not self.texts(heading).str.contains(r"^[0-9]+$").all():
            return {}
        self.taken.add(heading)
        self.words.append(f"{heading} before times")
        return {LAPS: {"from": heading, "as": "number"}}

    def one_event(self) -> dict[str, Any]:
        """The event of a table without a column of events: the sheet's, the day's or the file's."""
        if "event_id" in {*self.chosen, *self.given} or "player" not in {*self.chosen, *self.given}:
            return {}
        named = self.shapes.event() or ("{" + self.chosen["started_at"] + "}" if "started_at" in self.chosen else "")
        if not named and {*self.chosen, *self.given} & {"position", "time_s"}:
            named = "{file}"
        return {"event_id": named} if named else {}

    def check_holes(self) -> None:
        """Ask for what stands in events and dates that are empty below one that is not, as merged cells leave them."""
        holes = []
        for name in ("event_id", "started_at"):
            heading = self.shapes.first(name)
            if heading is not None and heading not in self.taken and heading not in self.grid.rule.fill:
                texts = self.shapes.texts(heading)
                holes += [heading] if texts.len() and texts.null_count() and texts[0] is not None else []
        if holes:
            count = self.shapes.texts(holes[0]).null_count()
            text = f"is empty in {count:,} rows below one that is not"
            choices = (Choice("the value above stands there", "source.fill", toml_value(holes)),)
            self.ask(Question(text, choices, holes[0]))

    def refuse(self) -> None:
        if self.questions:
            raise UndecidedError(self.grid.name, self.faults, self.questions)
        if self.faults:
            raise ResultsError(self.grid.name, self.faults)

    def ask(self, question: Question) -> None:
        """Add what only a reader of the table knows."""
        self.questions.append(question)
        self.fault(question.column, question.remedy(self.grid.name))

    def fault(self, column: str | None, remedy: str, value: object = None, place: str = "") -> None:
        """Add what is to be mended or decided."""
        self.faults.append(Fault(None, column, value, remedy, place))

    def texts(self, heading: str) -> pl.Series:
        """The cells of a column, those without a value left out, as text."""
        column = self.grid.frame[heading]
        texts = column if column.dtype == pl.String else column.cast(pl.String)
        return texts.filter((texts != "") & texts.is_not_null())

    def choose(self) -> dict[str, str]:
        """The heading of each results column."""
        columns = meanings()
        candidates: dict[str, list[str]] = {}
        unknown = []
        for heading in (each for each in self.grid.headings if each not in self.taken):
            column = columns.get(fold(heading))
            if column == "player" and heading.startswith("^"):  # the name of what the rows stand in
                column = "event_id"
            if column in self.given or column in self.named:
                continue
            if column is None:
                unknown.append(heading)
            elif self.fits(column, heading):
                candidates.setdefault(column, []).append(heading)
        chosen = {column: self.one_of(column, headings) for column, headings in candidates.items()} | self.named
        self.outcomes = self.shapes.take_outcomes(chosen, self.asides)
        for column in FOR_PAGES:
            if column in chosen and self.varies(chosen[column], chosen.get("event_id")):
                self.asides[chosen.pop(column)] = "several in one event, so no event's own"
        words = [
            *(name for name in ALL if not name.endswith("_s")),
            *(word for word, column in columns.items() if column not in chosen),
        ]
        for heading in (each for each in unknown if not self.texts(each).str.starts_with("[").any()):  # no list
            near = near_miss(heading, words) if len(self.faults) <= SHOWN_FAULTS else None  # it is refused anyway
            if near is not None:
                self.fault(heading, f"is nearly {near}: write it so, or give it another name")
                choice = Choice("yes", f"columns.{columns.get(near, near)}", heading)
                self.questions.append(Question(f"is it {near}", (choice,), heading))
        return {column: chosen[column] for column in ALL if column in chosen}

    def varies(self, heading: str, event_heading: str | None) -> bool:
        """Whether a column has several values in one event."""
        if event_heading is None:
            return False
        values = self.grid.frame.select(pl.col(event_heading).alias("event"), pl.col(heading).alias("value"))
        values = values.drop_nulls().unique()
        return bool(values["event"].is_duplicated().any())

    def one_of(self, column: str, headings: list[str]) -> str:
        """The one heading of a column: its own name, or the only one that means it."""
        own = [each for each in headings if each in ALL] or [each for each in headings if fold(each) in ALL]
        if len(own) == 1:
            return own[0]
        first = self.grid.frame[headings[0]]
        different = [each for each in headings[1:] if not self.grid.frame[each].equals(first, null_equal=True)]
        if different:
            names = " and ".join(repr(each) for each in (headings[0], *different))
            self.fault(None, f"{names} may each be {column}: rename the one that is, or choose it in a map")
            choices = [Choice(each, f"columns.{column}", each) for each in (headings[0], *different)]
            self.questions.append(Question(f"{names} may each be {column}", tuple(choices)))
        return headings[0]

    def fits(self, column: str, heading: str) -> bool:
        """Whether a column has anything of what its heading says, where that has other meanings too."""
        if column not in ("position", "time_s") or fold(heading) == column:
            return True
        texts = self.texts(heading)
        words = texts.unique().to_list()
        plain = [each for each in words if times.status_word(each) is None and not times.is_lapped(each)]
        if column == "position":
            return not plain or bool(pl.Series(plain).str.strip_chars().str.contains(PLACE).any())
        if fold(heading) in DOUBTFUL and all(each.isdecimal() for each in plain):
            self.asides[heading] = "whole numbers, which may be seconds, places or points"
            return False
        return not plain or any(times.parse(each, decimal=mark) for mark in ".," for each in plain[:1000])

    def check_missing(self, columns: Mapping[str, Any]) -> None:
        """Say what a required column may be called, and what a row is."""
        for heading in (self.chosen[name] for name in REQUIRED if name in self.chosen):
            texts = self.texts(heading)
            others = texts.filter(texts.str.contains(r"^\[.*\]$|^true$|^false$"))
            if others.len() and self.grid.rule.format in ("json", "jsonl"):
                row = self.grid.frame[heading].index_of(others[0])
                self.fault(heading, "is no text; give a text or a number", others[0], self.grid.place(row or 0))
        known = {*self.chosen, *self.given, *columns}
        if not known.issuperset(REQUIRED):
            shown = ", ".join(self.grid.headings)
            lists = self.grid.lists
            if lists:
                records = self.grid.records_in(lists[0])
                self.fault(lists[0], f'holds the rows: a map reads them, with [source] records = "{records}"')
                choices = [Choice(f"those of {each}", "source.records", self.grid.records_in(each)) for each in lists]
                self.questions.append(Question("which rows are the results", tuple(choices)))
                return
            for name, words in (("event_id", "event, race, match or round"), ("player", "player, driver or name")):
                if name not in known:
                    remedy = f"is missing; every row needs it, under that name or as {words} (there are {shown})"
                    self.fault(name, remedy)
            self.fault(None, SHAPE)
            headings = self.open_headings() if self.grid.frame.height > 1 else []
            self.questions = which_column("event_id" if "player" in known else "player", headings) or self.questions

    def open_headings(self) -> list[str]:
        """The columns that nothing is made of yet."""
        return [each for each in self.grid.headings if each not in self.taken | {*self.chosen.values()}]

    def source(self) -> dict[str, Any]:
        """How the table is written, where that is not the default."""
        rule, source = self.grid.rule, dict(self.written)
        if rule.format == "csv" and rule.delimiter not in (None, ","):
            source["delimiter"] = rule.delimiter
            self.words.append(f"{DELIMITERS.get(str(rule.delimiter), repr(rule.delimiter))}s")
        written = {
            key: getattr(rule, key) for key in ("sheet", "header", "fill", "encoding", "records") if getattr(rule, key)
        }
        source = written | source
        self.words += self.grid.notes
        headings = [*(heading for name, heading in self.chosen.items() if name in NUMBERS), *self.numbers]
        numbers = [self.texts(heading) for heading in headings if heading in self.grid.frame.columns]
        if not source.keys() & {"decimal", "thousands"} and rule.format == "csv":
            self.check_thousands()
        found = decimal_marks(numbers) if not source.keys() & {"decimal", "thousands"} and rule.format == "csv" else ""
        if found == "both":
            self.fault(None, 'has both 1.5 and 1,5: say in a map which is the decimal mark, as [source] decimal = ","')
        if found == ",":
            source["decimal"] = ","
            self.words.append("decimal commas")
        return source

    def check_thousands(self) -> None:
        """Ask what scores are whose every mark stands before three digits: 1,234 may be a thousand, or a bit over 1."""
        for heading in (self.chosen[name] for name in ("score", "team_score") if name in self.chosen):
            marked = may_be_thousands(self.texts(heading))
            if marked:
                self.ask(thousand_or_more(marked, heading))

    def rule(self, name: str, heading: str) -> Any:
        """How a results column is made of the table's; None where it is left aside."""
        texts = self.texts(heading)
        if name == "position":
            plain = texts.str.contains(r"^[0-9]+$").all()
            return heading if plain else {"from": heading, "as": "place"}
        if name in TIMES:
            return self.time_rule(name, heading, texts)
        if name == "started_at":
            return self.moments(heading, texts.unique(maintain_order=True))
        if name in ("score", "team_score") and self.outcomes.keys() >= {*texts.unique()}:
            return {"from": heading, "map": self.outcomes}
        if name == "player" and self.shapes.all_have(" / ", heading):
            return {"from": heading, "split": "/"}
        if name == "status":
            words = status_words(texts.unique(maintain_order=True).to_list())
            changed = {word: status for word, status in words.items() if word != status}
            others = {word: status for word, status in changed.items() if word.lower() != status}
            self.words += [", ".join(f"{word} as {status}" for word, status in others.items())] if others else []
            return {"from": heading, "map": changed} if changed else heading
        return heading

    def moments(self, origin: str, distinct: pl.Series) -> Any:
        """How dates are read; asks where they may be a day and a month either way."""
        refined = self.refined.get("started_at")
        if refined is not None:
            return {"from": origin, **refined}
        if times.are_iso(distinct):
            self.words += [f"dates as {distinct[0]}"] if distinct.str.contains(r"^\d{8}$").any() else []
            return origin
        unit = times.unit_of(distinct)
        if unit is not None:
            self.words += ["dates as Excel counts days"] * (unit == "excel")
            return {"from": origin, "epoch": unit}
        forms = times.fitting(distinct)
        if len(forms) > 1:
            self.ask(day_or_month(distinct, forms, None if "{" in origin else origin))
        self.words += [f"dates as {forms[0]}"] if forms else []
        return {"from": origin, "format": forms[0]} if forms else origin

    def time_rule(self, name: str, heading: str, texts: pl.Series) -> Any:
        """How times are read; gaps are left aside where places decide, and refused where they do not."""
        signed = texts.filter(texts.str.contains(r"^[+-]") & ~texts.str.contains(r"(?i)lap|rd|^\+\s*\d+\s*l$"))
        if signed.len() and name == "time_s":
            if "position" in self.chosen and heading != "time_s":
                self.asides[heading] = f'{signed[0]!r} is a gap, which gap = "leader" in a map makes a time'
                return None
            row = self.grid.frame[heading].cast(pl.String).index_of(signed[0])
            place = "" if row is None else self.grid.place(row)
            remedy = f'{GAP}, or say in a map what it is a gap to: time_s = {{ from = "{heading}", gap = "leader" }}'
            self.fault(heading, remedy, signed[0], place)
        numbers = texts.str.contains(r"^[0-9.]*$").all()
        if not numbers and name == "time_s":
            self.words.append("clock times")
        return heading if numbers else {"from": heading, "as": "duration"}

    def add_statuses(self, columns: dict[str, Any]) -> None:
        """Take statuses from places, then times, where no column of their own has them."""
        if "status" in self.chosen or "status" in self.given:
            return
        for name in ("position", "time_s", "score"):
            heading = self.chosen.get(name)
            if heading is None:
                continue
            distinct = self.texts(heading).unique(maintain_order=True).to_list()
            words = {word: status for word in distinct if (status := times.status_word(word)) is not None}
            if words:
                columns["status"] = {"from": heading, "map": words, "default": "finished"}
                self.words.append(", ".join(f"{word} as {status}" for word, status in words.items()))
                return

    def check_compared(self, columns: Mapping[str, Any]) -> None:
        """Check that something says who beat whom."""
        if any(name in columns for name in COMPARED) or self.grid.frame.height <= 1:
            return
        doubtful = [f"{heading} ({why})" for heading, why in self.asides.items()]
        hint = f"; is it {' or '.join(doubtful)}? Say so in a map" if doubtful else ""
        self.fault(None, f"no column says who beat whom: it needs a position, a score or a time{hint}")
        self.questions += who_beat_whom({each: self.texts(each) for each in self.open_headings()})

    def note(self, columns: Mapping[str, Any]) -> str:
        """All that was understood and left aside, in a line."""
        read = [
            f"{heading} as {name}" for name, heading in self.chosen.items() if columns.get(name) and heading != name
        ]
        same = [name for name, heading in self.chosen.items() if heading == name and columns.get(name)]
        used = {heading for name, heading in self.chosen.items() if columns.get(name)} | self.taken
        aside = [
            heading + (f" ({self.asides[heading]})" if heading in self.asides else "")
            for heading in self.grid.headings
            if heading not in used
        ]
        parts = [f"read {', '.join([*read, *same])}"]
        parts += [f"understood {', '.join(self.words)}"] if self.words else []
        parts += [f"left aside {', '.join(aside)}"] if aside else []
        return "; ".join(parts)
