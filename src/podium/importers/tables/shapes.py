"""What a table's rows are, where they are no entrants: matches, or lines of a grid of places, games or results."""

from collections.abc import Callable
from typing import Any

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers import dates, times
from podium.importers.grids.grid import EVERY, SHEET, TITLE, Choice, Grid, Question
from podium.importers.tables.applying import apply_map
from podium.importers.tables.cells import PLACE
from podium.importers.tables.layouts import BY_ORDER
from podium.importers.tables.maps import build_map
from podium.importers.tables.scores import GAME, WHOLE, parse_result, plain
from podium.results.headings import BYE, FORFEIT, fold, is_round, is_total, meanings, side_of, sides

UNPLAYED = r"^(\*|\?|x|[-:. ]+)$"
DIAGONAL = frozenset({"", "x", "X", "*", "-", "–", "—", "#", "■", "█", "///", "\\", "xxx", "XXX", "0", "***"})
MARKS = (" / ", "/", " & ", " + ")  # between the members of a side
TWO, FEW, TINY = 2, 20, 1e-6
Document = dict[str, Any]


class Shapes:
    """Looks for a shape in a table's headings, and then in its cells; what it cannot know it asks."""

    def __init__(self, grid: Grid, given: Document, ask: Callable[[Question], None]) -> None:
        self.grid, self.given, self.ask = grid, given, ask
        self.of_column: dict[str, list[str]] = {}
        for heading in grid.headings:
            self.of_column.setdefault(meanings().get(fold(heading), ""), []).append(heading)

    def first(self, *columns: str) -> str | None:
        """The first heading of the first of some results columns that has one."""
        return next((self.of_column[each][0] for each in columns if each in self.of_column), None)

    def texts(self, heading: str) -> pl.Series:
        column = self.grid.frame[heading].cast(pl.String)
        return column.replace("", None) if (column == "").any() else column

    def document(self) -> Document | None:
        """The map of the shape, without dates; None where rows are entrants."""
        if {"event_id", "player"} <= self.of_column.keys() and self.of_column.keys() & {"position", "time_s"}:
            return None
        player = self.first("player", "team")
        return self.matches() or (self.lines(player) if player is not None else None)

    def event(self) -> str | None:
        """What names the event of a sheet that has one only."""
        if self.grid.rule.sheet == EVERY and SHEET in self.grid.frame.columns:
            return "{title}" if self.titles().n_unique() == self.grid.frame[SHEET].n_unique() else "{sheet}"
        return "{title}" if self.titles().len() else None

    def titles(self) -> pl.Series:
        """The lines above the head, where each sheet has some."""
        none = pl.Series([], dtype=pl.String)
        titles = self.grid.frame[TITLE] if TITLE in self.grid.frame.columns else none
        return none if titles.null_count() else titles.unique(maintain_order=True)

    def title_dates(self) -> pl.Series:
        """The dates in those lines, where each has one."""
        found = self.titles().str.extract(dates.A_DATE)
        return found.head(0) if found.null_count() == found.len() else found

    def matches(self) -> Document | None:
        """The map of a match a row."""
        parts: dict[str, str] = {}
        for heading in self.grid.headings:
            part = side_of(heading)
            if part is not None and part not in parts:
                parts[part] = heading
        names = next((each for each in (("winner", "loser"), ("first", "second")) if parts.keys() >= {*each}), None)
        if names is None:
            return None
        one, other = (parts[name] for name in names)
        compared, conditions = self.compared(parts, decided=names[0] == "winner")
        for heading in (other, one):
            conditions += self.condition(heading, BYE, "bye", "no opponent")
        mark = next((mark for mark in MARKS if self.all_have(mark, one, other)), None)
        if mark is not None:
            compared = [
                {f"team_{name}" if name == "score" else name: rule for name, rule in each.items()} for each in compared
            ]
        players = [{"from": [each], "split": mark.strip()} if mark else each for each in (one, other)]
        columns: Document = {"event_id": {"from": self.called(one, other), "count": True}}
        if "pool" in self.of_column:
            columns["pool"] = self.of_column["pool"][0]
        layout = {
            "kind": "wide",
            "sides": [{"player": player, **each} for player, each in zip(players, compared, strict=True)],
        }
        return {"layout": layout, **({"where": {"drop": conditions}} if conditions else {}), "columns": columns}

    def called(self, one: str, other: str) -> str:
        """What names a match: when it was, else its event, and who met."""
        heading = self.first("started_at", "event_id")
        lead = f"{{{heading}}}" if heading else self.event()
        return f"{lead + ' ' if lead else ''}{{{one}}} - {{{other}}}"

    def all_have(self, mark: str, *headings: str) -> bool:
        """Whether all cells of two and more have a mark once, with something on both sides."""
        texts = [self.texts(each).drop_nulls().alias("cell") for each in headings]
        if not all(each.head(FEW).str.contains(mark, literal=True).any() for each in texts):
            return False
        cells = pl.concat(texts)
        cells = cells.filter(~cells.str.contains(BYE))
        return bool(
            cells.len()
            and (cells.str.split(mark).list.eval(pl.element().str.strip_chars() != "").list.sum() == TWO).all()
        )

    def condition(self, heading: str, pattern: str, reason: str, empty: str = "") -> list[Document]:
        """The condition that drops the cells of a pattern, and empty ones, where there are any."""
        texts = self.texts(heading)
        found = [{"column": heading, "matches": pattern, "reason": reason}] if texts.str.contains(pattern).any() else []
        return found + ([{"column": heading, "null": True, "reason": empty}] if empty and texts.null_count() else [])

    def compared(self, parts: dict[str, str], *, decided: bool) -> tuple[list[Document], list[Document]]:
        """What says who won, of each side; and which rows have no result."""
        result = parts.get("result")
        conditions = []
        if result is not None:
            conditions = self.condition(result, FORFEIT, "forfeit", "" if decided else "no result")
            conditions += [] if decided else self.condition(result, UNPLAYED, "no result")
        if decided:
            return [{"position": {"value": 1}}, {"position": {"value": 2}}], conditions
        scores = [parts.get(f"score of {name}") for name in ("first", "second")]
        if all(scores):
            for heading in filter(None, scores):
                conditions += self.condition(heading, UNPLAYED, "no result", "no result")
            return [{"score": {"from": [score]}} for score in scores], conditions
        if result is None:
            if "winner" not in parts:
                self.ask(Question("no column says who won", ()))
            winner = parts.get("winner", "")
            return [
                {"position": {"from": [parts[side]], "equals": winner, "then": 1, "other": 2}}
                for side in ("first", "second")
            ], conditions
        read = [parse_result(each) for each in self.texts(result).drop_nulls().unique()]
        single = all(each[0] in WHOLE and each[1] == 1 - each[0] for each in read if each and each[0] is not None)
        name = "position" if single else "score"
        return [
            {name: {"from": [result], "as": "result"}},
            {name: {"from": [result], "as": "result", "side": 2}},
        ], conditions

    def lines(self, player: str) -> Document | None:
        """The map of a grid: a crosstable, a Swiss list, or a column a round."""
        headings = [each for each in self.grid.headings if each != player]
        players = self.texts(player).to_list()
        numbered = [each for each in headings if each.isdecimal()]
        named = [each for each in headings if each in players]
        if len(players) < TWO:
            return None
        if len(named) == len(players) or (
            numbered == [str(n) for n in range(1, len(players) + 1)] and self.is_diagonal(numbered)
        ):
            return self.crosstable(player, named if len(named) == len(players) else numbered)
        suffix = self.place_of_rounds(headings)
        totals = [each for each in headings if is_total(each)]
        others = [each for each in headings if each not in totals and self.is_unknown(each)]
        rounds = (
            [each for each in headings if self.is_of_a_round(each.removesuffix(suffix), each, suffix)]
            if not suffix
            else [each for each in headings if each.endswith(suffix)]
        )
        are_named = len(rounds) >= TWO
        rounds = rounds if are_named else others
        if (
            len(rounds) < TWO
            or not {*self.of_column.get("event_id", ())} <= {*rounds}
            or (not are_named and not self.meaning(rounds, totals))
        ):
            return None
        aside = [each for each in headings if each not in rounds]
        cells = pl.concat([self.texts(each).drop_nulls().alias("cell") for each in rounds]).unique().to_list()
        games = [each for each in cells if GAME.fullmatch(plain(each).replace(" ", ""))]
        event = f"{self.event() + ' ' if self.event() else ''}{{column}}"
        if games and any(each.isalpha() for game in games for each in game):
            numbers = [each for each in headings if sides().get(fold(each)) == "number"]
            return self.first_that_fits([
                {"layout": {"kind": "swiss", "rows": player, "number": number, "except": [each for each in aside if each != number]},
                 "columns": {"event_id": event, "heat": "{pair}", "score": {"from": "cell", "as": "number"}}}
                for number in (*numbers, *self.of_column.get("position", []), BY_ORDER)
            ])  # fmt: skip
        rule: Document = {"event_id": event}
        if suffix:
            rule["event_id"] = {"from": event, "regex": [f"^(.*){suffix}$", "$1"]}
        rule |= self.meaning(rounds, totals) or self.what_cells_are(rounds)
        if all(pl.Series([each]).str.contains(dates.A_DATE).any() for each in rounds):
            rule["started_at"] = {"from": "{column}", "regex": [f"^.*?{dates.A_DATE}.*$", "$1"]}
        absent = self.cells_like(rounds, UNPLAYED, "no result")
        return {"layout": {"kind": "matrix", "rows": player, "except": aside}, **absent, "columns": rule}

    def cells_like(self, names: list[str], pattern: str, reason: str) -> Document:
        """The condition that drops cells of a pattern, where there are any."""
        found = any(self.texts(name).str.contains(pattern).any() for name in names)
        return {"where": {"drop": [{"column": "cell", "matches": pattern, "reason": reason}]}} if found else {}

    def place_of_rounds(self, headings: list[str]) -> str:
        """What stands behind the rounds in headings of two lines, where it is the place."""
        ends = [
            end
            for start, _, end in (each.rpartition(" ") for each in headings)
            if start and meanings().get(fold(end)) == "position"
        ]
        return f" {ends[0]}" if ends.count(ends[0] if ends else "") >= TWO else ""

    def is_unknown(self, heading: str) -> bool:
        word = fold(heading)
        return word not in meanings() and word not in sides() and side_of(heading) is None

    def is_of_a_round(self, start: str, heading: str, suffix: str) -> bool:
        is_date = pl.Series([start]).str.contains(rf"^(?:{dates.IN_A_LINE})$").any()
        return heading.endswith(suffix) and (is_round(start) or bool(is_date))

    def is_diagonal(self, names: list[str]) -> bool:
        """Whether a grid has nothing where a line meets its own column."""
        return all((self.texts(name)[line] or "") in DIAGONAL for line, name in enumerate(names))

    def crosstable(self, player: str, names: list[str]) -> Document:
        """The map of a crosstable, all of whose cells fit their mirrors."""
        rows = [[self.texts(name)[line] for name in names] for line in range(len(names))]
        sums = set()
        for line, row in enumerate(rows):
            for column in range(line + 1, len(names)):
                one, other = (parse_result(each or "") for each in (row[column], rows[column][line]))
                if one and other and not (one == other[::-1] and one[1] != 1 - (one[0] or 0)):
                    sums.add((one[0] or 0) + (other[0] or 0))
        if len(sums) > 1:
            remedy = "holds results that do not fit their mirrors: who beat whom is not clear"
            raise ResultsError(self.grid.name, [Fault(None, None, None, remedy)])
        aside = [each for each in self.grid.headings if each not in (player, *names)]
        numbers = [
            each for each in aside if sides().get(fold(each)) == "number" and self.texts(each).to_list() == names
        ]
        number = {"number": (numbers or [BY_ORDER])[0]} if names[0].isdecimal() else {}
        return {
            "layout": {
                "kind": "crosstable",
                "rows": player,
                **number,
                "except": [each for each in aside if each not in numbers[:1]],
            },
            **self.cells_like(names, FORFEIT, "forfeit"),
            "columns": {
                "event_id": self.event() or "{file}",
                "heat": "{row_name} - {column}",
                "score": {"from": "cell", "as": "result"},
            },
        }

    def first_that_fits(self, documents: list[Document]) -> Document:
        """The first map by which all cells fit; the refusal of the first where there is none."""
        refusal: ResultsError | None = None
        for document in documents:
            try:
                apply_map(self.grid, build_map(document, self.grid.name))
            except ResultsError as error:
                refusal = refusal or error
            else:
                return document
        raise refusal or ResultsError(self.grid.name, [])

    def meaning(self, rounds: list[str], totals: list[str]) -> Document:
        """Which results column the cells of rounds surely are: points that a total sums up, times, or places."""
        if self.given.keys() & {"position", "score", "time_s"}:
            return {}
        columns = [[self.number(each) for each in self.grid.frame[name].cast(pl.String)] for name in rounds]
        sums = [sum(filter(None, row)) for row in zip(*columns, strict=True)]
        for total in totals:
            if all(
                abs((self.number(each) or 0.0) - own) < TINY for each, own in zip(self.texts(total), sums, strict=True)
            ):
                return {"score": {"from": "cell", "as": "result"}}
        cells = pl.concat([self.texts(each).drop_nulls().alias("cell") for each in rounds]).unique()
        plain_cells = [each for each in cells if times.status_word(each) is None and not times.is_lapped(each)]
        if plain_cells and all(":" in each and times.parse(each.replace(",", ".")) for each in plain_cells):
            return {"time_s": {"from": "cell", "as": "duration"}}
        return {"position": {"from": "cell", "as": "place"}} if all(map(self.ranks, rounds)) else {}

    def number(self, text: str | None) -> float | None:
        read = parse_result(text or "")
        return None if read is None else read[0]

    def what_cells_are(self, rounds: list[str]) -> Document:
        if not self.given.keys() & {"position", "score", "time_s"}:
            choices = (
                Choice("points, the more the better", "columns.score", "cell"),
                Choice("places", "columns.position", "cell"),
            )
            self.ask(Question(f"what the cells of {rounds[0]}, {rounds[1]} … are", choices))
        return {}

    def ranks(self, heading: str) -> bool:
        """Whether a column has the places of one event: 1, and as many better ones as each place says."""
        texts = self.texts(heading).drop_nulls()
        words = [each for each in texts if times.status_word(each) is None and each not in DIAGONAL]
        places = pl.Series(words, dtype=pl.String).str.strip_chars().str.extract(PLACE).cast(pl.Float64)
        return bool(places.null_count() == 0 and places.len() and (places.rank("min") == places).all())
