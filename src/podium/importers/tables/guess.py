"""The map that a table's headings and cells say, or why there is none: nothing is guessed in silence."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from podium.importers import times
from podium.importers.grid import Choice, Question, day_or_month, thousand_or_more, which_column
from podium.importers.sources import stem
from podium.importers.tables.applying import decimal_marks, may_be_thousands, status_words
from podium.importers.tables.cells import PLAYED, Table, build, placed
from podium.importers.tables.choosing import LEAST_STEPS, LOOKED_AT, Columns
from podium.importers.tables.lines import COMMA
from podium.importers.tables.maps import build_map
from podium.importers.tables.model import LAPS
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.columns import GAP, NUMBERS, REQUIRED, TIMES
from podium.results.headings import fold
from podium.results.plain_rows import DELIMITERS

SHAPE = (
    "a results table has a row for each entrant of each event, as event_id,player,position, then race-1,Ana,1 and "
    "race-1,Ben,2; winners and losers in one row, or a grid, are read by a map: see docs/own-tables.md"
)
KINDS = {"wide": "a match a row", "crosstable": "a crosstable", "swiss": "a Swiss list"}
BESIDE_STATUSES = [r"\s*[^\p{L}\s]*\d[^\p{L}\s]*", ""]  # of joined cells: the numbers of parts that were played
OF_CELLS = (("position", "place"), ("score", "number"), ("time_s", "duration"))
KINDS |= {"matrix": "an event a column", "row": "an event a row"}


class Guesser(Columns):
    def guess(self) -> tuple[dict[str, Any], str]:
        """The map that a table says, as TOML has it, and a line of what was understood."""
        self.check_holes()
        self.check_standing()
        if own := self.refined.pop("player", {}):
            self.shapes.pairs = "pairs" if "split" in own else "names"
        is_of_entrants = self.members or {"event_id", "player"} <= {*self.given, *self.named}
        shape = None if is_of_entrants else self.shapes.document()
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
        player = self.chosen.get("player")
        self.drops += self.shapes.condition(player, heads.NOBODY, "nobody") if player else []
        columns |= self.titled(columns) | self.laps(columns)
        self.add_statuses(columns)
        self.add_started(columns)
        columns = {name: rule for name, rule in columns.items() if rule is not None} | self.given
        for name in self.refined.keys() & columns.keys() - {"started_at", "status"}:
            rule = columns[name]
            columns[name] = (rule if isinstance(rule, dict) else {"from": rule}) | self.refined[name]
        columns |= self.order_of_sides(columns)
        self.refuse()
        self.check_compared(columns)
        self.refuse()
        return self.document(source, {"columns": columns}), self.note(columns)

    def document(self, source: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
        where = rest.get("where", {})
        drops = self.drops + where.get("drop", [])
        where = {**where, "drop": drops} if drops else where
        return ({"source": source} if source else {}) | rest | ({"where": where} if where else {})

    def shaped(self, shape: dict[str, Any]) -> tuple[dict[str, Any], str]:
        source, layout = self.source(), shape["layout"]
        columns = shape["columns"]
        is_row = layout["kind"] == "matrix" and "{column}" not in str(columns["event_id"])
        kind = "row" if is_row else layout["kind"]
        heading = self.shapes.first("started_at") if kind in ("row", "wide") else None
        if kind == "wide" and heading is None:
            heading = self.shapes.days([each for each in self.grid.headings if self.shapes.is_unknown(each)])
        if heading is not None:
            columns["started_at"] = self.rule("started_at", heading)
        columns |= self.titled(columns) | self.given
        if "status" in self.refined and layout["kind"] == "matrix":
            cells = self.shapes.cells([each for each in self.grid.headings if each not in layout["except"]]).unique()
            words = {each: status for each in cells if (status := times.status_word(each))}
            columns["status"] = {"from": "cell", "map": words | self.refined["status"]["map"], "default": "finished"}
            columns |= {name: {"from": "cell", "as": way, "else": "null"} for name, way in OF_CELLS if name in columns}
        of_cells = [each for each in self.grid.headings if each not in (layout.get("rows"), *layout.get("except", ()))]
        made = {name: {"from": "cell", "as": kind} for name, kind in OF_CELLS if columns.get(name) == "cell"}
        columns |= made | ({"score": self.shapes.as_number(of_cells)} if "score" in made else {})
        document = self.document(source, shape)
        mapping = build_map(document, self.grid.name)
        self.refuse()
        used = {layout.get("rows"), layout.get("number"), *mapping.names}
        if layout["kind"] != "wide":
            used |= {each for each in self.grid.headings if each not in layout["except"]}
        aside = [each for each in self.grid.headings if each not in used]
        read = [each or "the first column" for each in self.grid.headings if each in used]
        return document, self.line(f"read {', '.join(read)} as {KINDS[kind]}", aside)

    def titled(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The moments that the lines above the head say, or the name of the file, where no column does."""
        origin, found = "{title}", self.shapes.title_dates()
        if not found.len() and columns.get("event_id") == "{file}":
            origin, found = "{file}", pl.Series([stem(self.grid.name)]).str.extract(times.A_DATE).drop_nulls()
        if "{title}" in self.grid.rule.aside:
            return {}
        if "started_at" in {*columns, *self.given} or not found.len():
            return {}
        made = self.moments(origin, found.drop_nulls().unique(maintain_order=True))
        if found.null_count():
            text = "has a date above the head of some sheets or blocks alone; write it in each, or in none"
            self.ask(Question(text, (Choice("in none: their order counts", "source.aside", "{title}"),)))
        rule = made if isinstance(made, dict) else {"from": made}
        return {"started_at": rule | {"regex": [f"(?s)^.*?{times.in_a_line(rule.get('format'))}.*$", "$1"]}}

    def laps(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The laps beside times: who was lapped may have the shorter time."""
        heading = next((each for each in self.grid.headings if fold(each) in heads.LAPS_WORDS), None)
        if heading is None or columns.get("time_s") is None or self.texts(heading).n_unique() == 1:
            return {}
        if not self.texts(heading).str.contains(r"^[0-9]+$").all():
            return {}
        self.taken.add(heading)
        self.words.append(f"{heading} before times")
        return {LAPS: {"from": heading, "as": "number"}}

    def order_of_sides(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The times of sides as their order, where nothing else compares these: times compare players alone."""
        time, player = columns.get("time_s"), columns.get("player")
        if time is None or "split" not in (player or {}) or not {"position", "team_score"}.isdisjoint(columns):
            return {}
        return {"position": time if isinstance(time, dict) else {"from": time, "as": "number"}}

    def source(self) -> dict[str, Any]:
        rule, source = self.grid.rule, dict(self.written)
        if rule.format == "csv" and rule.delimiter not in (None, ","):
            source["delimiter"] = rule.delimiter
            self.words.append(f"{DELIMITERS.get(str(rule.delimiter), repr(rule.delimiter))}s")
        keys = ("sheet", "header", "fill", "encoding", "records", "pattern")
        written = {key: getattr(rule, key) for key in keys if getattr(rule, key)}
        source = written | source
        self.words += self.grid.notes
        headings = [*(heading for name, heading in self.chosen.items() if name in NUMBERS), *self.numbers]
        numbers = [self.texts(heading) for heading in headings if heading in self.grid.frame.columns]
        if rule.format == "csv" and source.keys().isdisjoint({"decimal", "thousands"}):
            self.add_mark(source, numbers)
        return source

    def add_mark(self, source: dict[str, Any], numbers: list[pl.Series]) -> None:
        """Take the decimal mark of numbers; ask where both are, or where each of a score may part its thousands."""
        for heading in (self.chosen[name] for name in ("score", "team_score") if name in self.chosen):
            marked = may_be_thousands(self.texts(heading))
            if marked:
                self.ask(thousand_or_more(marked, heading))
        found = decimal_marks(numbers)
        if found == "both":
            text = "has both 1.5 and 1,5; which is the decimal mark"
            both = Choice("both are decimal marks", "source.decimal", ".,")
            self.ask(Question(text, (both, Choice("1,500 is 1500", "source.thousands", ","))))
        if found == ",":
            source["decimal"] = ","
            self.words.append("decimal commas")

    def rule(self, name: str, heading: str) -> Any:
        """How a results column is made of the table's; None where it is left aside."""
        if name == "event_id" and self.event:
            return self.event
        texts = self.texts(heading)
        if name == "position":
            return self.place_rule(heading, texts)
        if name in TIMES:
            return self.time_rule(name, heading, texts)
        if name == "started_at":
            return self.moments(heading, texts.unique(maintain_order=True))
        if name in ("score", "team_score") and self.outcomes.keys() >= {*texts.unique()}:
            return {"from": heading, "map": self.outcomes}
        if name == "player" and (way := self.shapes.mates_rule(heading)):
            return {"from": heading, **way}
        if name == "status":
            words = self.codes(heading) or status_words(texts.unique(maintain_order=True).to_list())
            changed = {word: status for word, status in words.items() if word != status}
            others = {word: status for word, status in changed.items() if word.lower() != status}
            self.words += [", ".join(f"{word} as {status}" for word, status in others.items())] if others else []
            return {"from": heading, "map": changed} if changed else heading
        return heading

    def place_rule(self, heading: str, texts: pl.Series) -> Any:
        """Return how places are read, or numbers, if a reader answered that less is better: these end above 0."""
        numbers = texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).drop_nulls()
        least = float(numbers.min() or 0.0)  # type: ignore[arg-type]
        if "position" in self.named and numbers.len() and (least < 1 or (numbers % 1 != 0).any()):
            return {"from": heading, "as": "number"} | ({"offset": 1 - least} if least < 1 else {})
        if not texts.str.contains(r"^[0-9]+$").all():
            return {"from": heading, "as": "place"}
        event = [self.chosen["event_id"]] if "event_id" in self.chosen else []
        is_full = (texts == "0").any() and texts.len() == self.grid.frame.height
        if not is_full or not self.shapes.are_ranks(heading, event, 0):
            return heading
        self.words.append("places from 0")
        return {"from": heading, "as": "number", "offset": 1}

    def moments(self, origin: str, distinct: pl.Series) -> Any:
        """How dates are read; asks where they may be a day and a month either way."""
        refined = self.refined.get("started_at")
        if refined is not None:
            return {"from": origin, **refined}
        ways, rest = times.ways_of(distinct), dict[str, Any]()
        for odd in times.ODD_DATES if not ways else ():
            found = times.ways_of(distinct.str.replace(*odd))
            ways, rest = (found, {"regex": list(odd)}) if found and not ways else (ways, rest)
        if len(ways) > 1:
            self.ask(day_or_month(distinct, [way["format"] for way in ways], None if "{" in origin else origin))
        way = ways[0] if ways else {}
        shown = way.get("format") or (distinct[0] if distinct.str.contains(r"^\d{8}$").any() else "")
        self.words += [f"dates as {shown}"] if ways and shown else []
        self.words += ["dates as Excel counts days"] * (way.get("epoch") == "excel")
        return {"from": origin, **rest, **way} if way else origin

    def time_rule(self, name: str, heading: str, texts: pl.Series) -> Any:
        """How times are read; gaps are left aside where places decide, and refused where they do not."""
        if heading in self.asides:
            return None
        signed = texts.filter(texts.str.contains(r"^[+-]") & ~texts.str.contains(r"(?i)lap|rd|^\+\s*\d+\s*l$"))
        if signed.len() and name == "time_s":
            if "position" in self.chosen and heading != "time_s":
                self.asides[heading] = f'{signed[0]!r} is a gap, which gap = "leader" in a map makes a time'
                return None
            if "gap" not in self.refined.get("time_s", {}):
                whom = {"leader": "the winner", "previous": "who is ahead"}
                choices = (Choice(f"a gap to {each}", "columns.time_s.gap", key) for key, each in whom.items())
                self.ask(Question(GAP, tuple(choices), heading), signed[0])
        if self.grid.rule.format != "csv" and texts.str.contains(r"\d,\d+$").any():
            return {"from": heading, "regex": COMMA, "as": "duration"}
        numbers = texts.str.contains(r"^[0-9.]*$").all()
        if not numbers and name == "time_s":
            self.words.append("clock times")
        return heading if numbers else {"from": heading, "as": "duration"}

    def add_statuses(self, columns: dict[str, Any]) -> None:
        """Take statuses from places, times and scores, where no column of their own has them."""
        if "status" in self.chosen or "status" in self.given:
            return
        known = self.refined.get("status", {}).get("map", {})
        headings = []
        own = {self.chosen[name]: name for name in ("position", "time_s", "score") if name in self.chosen}
        for heading, name in (own | dict.fromkeys(self.with_status(list(own)), "")).items():
            if not any(known.get(word) or times.status_word(word) for word in self.texts(heading).unique()):
                continue
            headings.append(heading)
            if known and columns.get(name):
                rule = columns[name] if isinstance(columns[name], dict) else {"from": heading}
                columns[name] = rule | {"else": "null"}
        if not headings:
            return
        cells = [self.shapes.texts(each) for each in headings]
        joined = pl.DataFrame(cells).select(pl.concat_str(pl.all(), separator=" ", ignore_nulls=True)).to_series()
        is_one = len(headings) == 1
        bare = joined if is_one else joined.str.replace_all(*BESIDE_STATUSES).str.strip_chars()
        words: dict[str, str] = {}
        for word, *row in pl.DataFrame([bare.alias("\0word"), *cells]).unique(maintain_order=True).rows():
            statuses = (known.get(each) or times.status_word(each) for each in row if each)
            found = next(filter(None, statuses), None)
            words |= {word: found} if found else {}
        if words:
            origin: dict[str, Any] = {"from": headings[0]} if is_one else {"from": headings, "regex": BESIDE_STATUSES}
            columns["status"] = origin | {"map": words, "default": "finished"}
            self.words.append(", ".join(f"{word} as {status}" for word, status in words.items()))

    def add_started(self, columns: dict[str, Any]) -> None:
        """Take who played a part, and did not start by a word, for one who did not finish: WD after a round."""
        rule = columns.get("status")
        if rule is None or "status" in self.given:
            return
        rule = {"from": [rule]} if isinstance(rule, str) else rule
        made = build_map({"columns": {"status": rule}}, self.grid.name).columns["status"]
        rows = build(Table(self.grid.frame, self.grid.rule), "status", made).column == "did_not_start"
        played = [
            each for each in self.parts_of_events() if self.shapes.texts(each).filter(rows).str.contains(PLAYED).any()
        ]
        if played:
            columns["status"] = rule | {"started": played}
            self.words.append(f"who has {' or '.join(played)} as started")

    def parts_of_events(self) -> list[str]:
        """The columns of what entrants played: laps, and those that are alike but for a number, as rounds are."""
        bare = {each: re.sub(r"\d+", "", fold(each)) for each in self.open_headings()}
        often = Counter(own for each, own in bare.items() if own != fold(each))
        laps = [each for each in self.grid.headings if fold(each) in heads.LAPS_WORDS]
        return laps + [each for each, own in bare.items() if often[own] > 1 and each not in laps]

    def with_status(self, compared: list[str]) -> list[str]:
        """The columns that say of some who have no result how they ended, and of the others nothing or a number."""
        cells = (pl.col(each).cast(pl.String).replace("", None).is_null() for each in compared)
        lacking = self.grid.frame.select(pl.all_horizontal(pl.lit(bool(compared)), *cells)).to_series()
        found = []
        for heading in (*self.open_headings(), *self.asides) if lacking.any() else ():
            texts = self.shapes.texts(heading)
            distinct = texts.filter(lacking).drop_nulls().unique()
            words = [each for each in distinct if times.status_word(each)]
            others = pl.concat([texts.filter(~lacking).drop_nulls(), distinct.filter(~distinct.is_in(words))])
            if words and others.str.contains(r"\d").all():
                found.append(heading)
        return found

    def check_missing(self, columns: Mapping[str, Any]) -> None:
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
            questions = which_column("event_id" if "player" in known else "player", self.likely_headings())
            self.questions = [] if questions else self.questions  # all else may follow from it
            if not questions:
                self.fault(None, SHAPE)
            for each in questions:
                self.ask(each)

    def likely_headings(self) -> list[str]:
        """The columns that may be of players, first those with words, or of events, in which no player stands again."""
        headings = self.open_headings() if self.grid.frame.height > 1 else []
        if "player" not in self.chosen:
            return headings if "player" in self.given else sorted(headings, key=self.has_words, reverse=True)
        once = (each for each in headings if not self.stand_again([each, self.chosen["player"]]))
        return [each for each in once if not each.isdecimal()] or headings

    def check_compared(self, columns: Mapping[str, Any]) -> None:
        self.ask_which_is_better(self.chosen.get("score", ""))
        if any(name in columns for name in COMPARED) or self.grid.frame.height <= 1:
            return
        doubtful = [f"{heading} ({why})" for heading, why in self.asides.items()]
        hint = f"; is it {' or '.join(doubtful)}?" if doubtful else ""
        ways = (
            [each for name in way for each in self.comparisons(name)] for way in (self.asides, self.open_headings())
        )
        choices = tuple(next(filter(None, ways), ()))
        text = f"no column says who beat whom: it needs a position, a score or a time{hint}"
        self.ask(Question(text, choices)) if choices else self.fault(None, text)

    def ask_which_is_better(self, score: str) -> None:
        """Ask whether more or less of a score is better, unless places or the order of the rows say so."""
        names, is_decided = {*self.grid.headings}, "score" in self.named or "position" in {*self.chosen, *self.given}
        if fold(score) not in heads.EITHER or is_decided or {*REQUIRED, "score"} <= names:
            return
        steps, less = self.steps(score, self.chosen), heads.LESS & {*map(fold, names)}
        if less or steps.len() < LEAST_STEPS or not (steps <= 0).all():
            aside = [Choice("neither: the time decides", "source.aside", score)] * ("time_s" in self.chosen)
            text = "has nothing beside it that says whether more of it is better, or less"
            self.ask(Question(text, (*self.comparisons(score), *aside), score))

    def comparisons(self, heading: str) -> list[Choice]:
        if heads.LANES & {*fold(heading).split("_")}:
            return []
        plain = [each for each in self.texts(heading).head(LOOKED_AT).unique() if times.status_word(each) is None]
        cells = pl.Series(plain, dtype=pl.String).str.strip_chars()
        are_numbers = cells.str.contains(r"^[+-]?[0-9][0-9 ]*([.,][0-9]+)?\s?[€£$%]?$").all()
        ways = {
            "position": ("places, or what is better the less", are_numbers or not placed(cells).null_count()),
            "time_s": ("times", all(times.is_lapped(each) or times.parse(each.replace(",", ".")) for each in cells)),
            "score": ("points, the more the better", are_numbers),
        }
        fitting = {name: words for name, (words, fits) in ways.items() if fits and plain}
        return [Choice(f"{heading}: {words}", f"columns.{name}", heading) for name, words in fitting.items()]

    def note(self, columns: Mapping[str, Any]) -> str:
        named = {name: heading for name, heading in self.chosen.items() if columns.get(name)}
        read = [f"{heading} as {name}" for name, heading in named.items() if heading != name]
        read += [f"{' and '.join(self.parts)} as player"] if self.parts else []
        same = [name for name, heading in self.chosen.items() if heading == name and columns.get(name)]
        used = {heading for name, heading in self.chosen.items() if columns.get(name)} | self.taken
        why = {heading: f" ({reason})" for heading, reason in self.asides.items()}
        aside = [heading + why.get(heading, "") for heading in self.grid.headings if heading not in used]
        return self.line(f"read {', '.join([*read, *same])}", aside)

    def line(self, read: str, aside: Sequence[str]) -> str:
        parts = [read, f"understood {', '.join(self.words)}"] if self.words else [read]
        parts += [f"left aside {', '.join(aside)}"] if aside else []
        return "; ".join(parts)
