"""What a table's rows are, where they are no entrants: matches, or lines of a grid of places, games or results."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers import times
from podium.importers.grid import EVERY, SHEET, TITLE, Choice, Grid, Question
from podium.importers.tables.applying import apply_map, outcome_points
from podium.importers.tables.cells import GAME, ORDINAL, PLACE, WHOLE, parse_result, plain
from podium.importers.tables.layouts import BY_ORDER
from podium.importers.tables.maps import build_map
from podium.results.headings import (
    BYE,
    FLAGS,
    FORFEIT,
    OUTCOMES,
    WON,
    fold,
    is_pairing,
    is_round,
    is_total,
    meanings,
    side_of,
    sides,
)

UNPLAYED = r"^(\*|\?|x|[-:. ]+)$"
DIAGONAL = frozenset({"", "x", "X", "*", "-", "\u2013", "\u2014", "#", "■", "█", "///", "\\", "xxx", "XXX", "0", "***"})
A_PLACE = rf"(?i)(?:^|\b(?:p|pos|place|platz))\W*(\d{{1,2}})(?:{ORDINAL})?\W*(?:place|platz)?$"
VERSUS = (r"vs?\.?", "[\u2013-]")  # between the sides of a match; the second in a column that is known to have both
MARKS = (" / ", "/", " & ", " + ")  # between the members of a side
COMPARED = frozenset({"position", "score", "time_s"})
MOST_LINES = 10_000  # of a grid
TWO, FEW, TINY = 2, 20, 1e-6
Document = dict[str, Any]


class Shapes:
    """Looks for a shape in a table's headings, and then in its cells; what it cannot know it asks."""

    def __init__(self, grid: Grid, given: Document, named: Mapping[str, str], ask: Callable[[Question], None]) -> None:
        self.grid, self.given, self.ask = grid, given, ask
        self.of_column: dict[str, list[str]] = {name: [heading] for name, heading in named.items()}
        for heading in grid.headings:
            column = meanings().get(fold(heading), "")
            if column not in named and heading not in named.values():
                self.of_column.setdefault(column, []).append(heading)

    def first(self, *columns: str) -> str | None:
        """The first heading of the first of some results columns that has one."""
        return next((self.of_column[each][0] for each in columns if each in self.of_column), None)

    def texts(self, heading: str) -> pl.Series:
        column = self.grid.frame[heading].cast(pl.String)
        return column.replace("", None) if (column == "").any() else column

    def cells(self, headings: Iterable[str]) -> pl.Series:
        """The cells of columns that are not empty."""
        return pl.concat([self.texts(each).drop_nulls().alias("cell") for each in headings])

    def document(self) -> Document | None:
        """The map of the shape, without dates; None where rows are entrants."""
        if {"event_id", "player"} <= self.of_column.keys() and self.of_column.keys() & {"position", "time_s"}:
            return None
        player = self.first("player", "team") or self.corner()
        if not 1 < self.grid.frame.height <= MOST_LINES:
            return self.matches()
        if player is None:
            return self.places() or self.matches()
        return self.matches() or self.lines(player)

    def corner(self) -> str | None:
        """The first column, where the others are headed by its cells: a crosstable, whatever stands in its corner."""
        first, *others = self.grid.headings or [""]
        cells = {*self.texts(first).drop_nulls()} if others else set()
        return first if len(cells) >= TWO and cells <= {*others} else None

    def places(self) -> Document | None:
        """The map of an event a row whose columns are places, and whose cells are names."""
        columns = [each for each in self.grid.headings if re.search(A_PLACE, each.strip())]
        numbers = [int(each) for each in pl.Series(columns, dtype=pl.String).str.extract(A_PLACE)]
        named = self.first("event_id", "started_at")
        if len(numbers) <= TWO or numbers != [*range(1, len(numbers) + 1)] or named is None or named in columns:
            return None
        if self.texts(named).is_duplicated().any() or not self.cells(columns).str.contains(r"\p{L}{2}").all():
            return None
        layout = {
            "kind": "matrix",
            "rows": named,
            "except": [e for e in self.grid.headings if e not in (named, *columns)],
        }
        position = {"from": "column", "regex": [f"^.*?{A_PLACE}.*$", "$1"]}
        rules = {"event_id": "{row_name}", "player": "cell", "position": position}
        return {"layout": layout, **self.without(columns, UNPLAYED, "nobody"), "columns": rules}

    def event(self) -> str:
        """What names the event of a sheet that has one only; empty where nothing does."""
        if self.grid.rule.sheet == EVERY and SHEET in self.grid.frame.columns:
            return "{title}" if self.titles().len() == self.grid.frame[SHEET].n_unique() else "{sheet}"
        return "{title}" if self.titles().len() else ""

    def titles(self) -> pl.Series:
        """The different lines above the heads, where each sheet has some."""
        titles = self.grid.frame.get_column(TITLE, default=pl.Series([], dtype=pl.String))
        return titles.head(0) if titles.null_count() else titles.unique(maintain_order=True)

    def title_dates(self) -> pl.Series:
        """The dates in those lines, null where one has none; empty where all have none."""
        found = self.titles().str.extract(times.A_DATE)
        return found.head(0) if found.null_count() == found.len() else found

    def matches(self) -> Document | None:
        """The map of a match a row."""
        parts: dict[str, str] = {}
        for heading in self.grid.headings:
            parts.setdefault(side_of(heading) or "", heading)
        player = self.first("player")
        if player is not None and "opponent" in parts and "first" not in parts:
            self.refuse_either_side(player, parts["opponent"])
            parts |= {"first": player, "second": parts["opponent"]}
        names = next((each for each in (("winner", "loser"), ("first", "second")) if parts.keys() >= {*each}), None)
        if names is None:
            return self.pairings(parts) if "result" in parts else None
        one, other = (parts[name] for name in names)
        compared, conditions = self.decided(parts) if names[0] == "winner" else self.compared(parts)
        conditions += [each for name in (other, one) for each in self.condition(name, BYE, "bye", "no opponent")]
        mark = next((mark for mark in MARKS if self.all_have(mark, one, other)), None)
        players = [{"from": [each]} for each in (one, other)] if mark else [one, other]
        event = f"{self.lead('started_at', 'event_id')} {{{one}}} - {{{other}}}"
        return self.match_rows(players, mark, compared, conditions, event)

    def lead(self, *columns: str) -> str:
        """What a match's name begins with: the value of a column, or what is above the head."""
        named = self.first(*columns)
        return f"{{{named}}}" if named else self.event()

    def match_rows(
        self, players: list[Any], mark: str | None, compared: list[Document], conditions: list[Document], event: str
    ) -> Document:
        """The map of a match a row, by the rule of each side's name, and what parts its members."""
        sides = [{"player": player, **rules} for player, rules in zip(players, compared, strict=True)]
        if mark is not None:
            sides = [{f"team_{key}" if key == "score" else key: rule for key, rule in each.items()} for each in sides]
            sides = [each | {"player": {**each["player"], "split": mark.strip()}} for each in sides]
        columns: Document = {"event_id": {"from": event.strip(), "count": True}}
        columns |= {"pool": self.of_column["pool"][0]} if "pool" in self.of_column else {}
        where = {"where": {"drop": conditions}} if conditions else {}
        return {"layout": {"kind": "wide", "sides": sides}, **where, "columns": columns}

    def refuse_either_side(self, player: str, opponent: str) -> None:
        """Refuse matches that stand in two rows, one of each side."""
        others = [each for each in (self.first("started_at"), self.first("event_id")) if each is not None]
        rows = self.grid.frame.select(player, opponent, *others)
        mirrored = rows.rename({player: opponent, opponent: player}).select(rows.columns)
        twice = rows.with_row_index("\0row").join(mirrored, on=rows.columns, how="semi", maintain_order="left")["\0row"]
        if twice.len():
            where = self.grid.places(twice.to_list())
            self.ask(Question(f"{where} tell a match from either side: keep one row of each match", ()))

    def pairings(self, parts: dict[str, str]) -> Document | None:
        """The map of a match a row, both of whose sides stand in one cell: Ana vs. Ben."""
        for heading in self.grid.headings:
            texts = self.texts(heading)
            marks = VERSUS if is_pairing(heading) else VERSUS[:1]
            counts = {mark: texts.str.count_matches(rf"(?i)\s{mark}\s").fill_null(0) for mark in marks}
            mark = next((mark for mark, count in counts.items() if (count == 1).all()), None)
            if mark is None:
                continue
            rule = {"from": [heading], "regex": [rf"(?i)^(.*?)\s+{mark}\s+(.*)$", "$1"]}
            players = [rule, rule | {"regex": [rule["regex"][0], "$2"]}]
            within = "/" if (texts.str.count_matches("/", literal=True) == TWO).all() else None
            return self.match_rows(players, within, *self.compared(parts), f"{self.lead('started_at')} {{{heading}}}")
        return None

    def all_have(self, mark: str, *headings: str) -> bool:
        """Whether all cells of two and more have a mark once, with something on both sides."""
        if not all(self.texts(each).head(FEW).str.contains(mark, literal=True).any() for each in headings):
            return False
        cells = self.cells(headings)
        parts = cells.filter(~cells.str.contains(BYE)).str.split(mark)
        return bool((parts.list.eval(pl.element().str.strip_chars() != "").list.sum() == TWO).all())

    def condition(self, heading: str, pattern: str, reason: str, empty: str = "") -> list[Document]:
        """The condition that drops the cells of a pattern, and empty ones, where there are any."""
        texts = self.texts(heading)
        found = [{"column": heading, "matches": pattern, "reason": reason}] if texts.str.contains(pattern).any() else []
        return found + ([{"column": heading, "null": True, "reason": empty}] if empty and texts.null_count() else [])

    def decided(self, parts: dict[str, str]) -> tuple[list[Document], list[Document]]:
        """The places of a winner and a loser; and which rows were not played."""
        conditions = self.condition(parts["result"], FORFEIT, "forfeit") if "result" in parts else []
        return [{"position": {"value": place}} for place in (1, 2)], conditions

    def take_outcomes(self, chosen: dict[str, str], asides: dict[str, str]) -> dict[str, float]:
        """Take wins and losses, or places, whose head may be a status's; the points of words that stand for a score."""
        heading, table = chosen.get("status"), OUTCOMES
        if heading is None:
            heading, table = next((each for each in self.grid.headings if fold(each) in WON), None), FLAGS
            if heading is None or heading in chosen.values():
                return {}
        points = outcome_points(self.texts(heading).drop_nulls().unique(maintain_order=True), table)
        if points:
            chosen.pop("status", None)
            name = "team_score" if "team" in chosen else "score"
            if name == "team_score" or chosen.keys().isdisjoint({"position", "time_s"}):
                asides |= {chosen[name]: f"{heading} says who won"} if name in chosen else {}
                chosen[name] = heading
        elif "status" in chosen and chosen.keys().isdisjoint(COMPARED) and self.are_places(heading, chosen):
            chosen["position"] = chosen.pop("status")
        return points

    def are_places(self, heading: str, chosen: Mapping[str, str]) -> bool:
        """Whether numbers surely are places: so many are better in each event, of three, or beside a DNF."""
        texts = self.texts(heading)
        words = [each for each in texts.drop_nulls().unique() if not times.status_word(each)]
        if "event_id" not in chosen or not words or not all(map(str.isdecimal, words)):
            return False
        places = texts.cast(pl.Float64, strict=False)
        table = pl.DataFrame({"event": self.texts(chosen["event_id"]), "place": places}).drop_nulls()
        is_right = table.select((pl.col("place").rank("min").over("event") == pl.col("place")).all()).item()
        has_more = places.max() > TWO or texts.drop_nulls().n_unique() > len(words)  # type: ignore[operator]
        return bool(is_right and has_more)

    def compared(self, parts: dict[str, str]) -> tuple[list[Document], list[Document]]:
        """What says who won, of each side; and which rows have no result."""
        result, winner = parts.get("result"), parts.get("winner")
        scores = [parts[name] for name in ("score of first", "score of second") if name in parts]
        if len(scores) == TWO:
            conditions = [each for name in scores for each in self.condition(name, UNPLAYED, *["no result"] * TWO)]
            return [{"score": {"from": [score], "as": "result"}} for score in scores], conditions
        if result is None:
            if winner is None:
                self.ask(Question("no column says who won", ()))
            then = {"equals": winner, "then": 1, "other": 2}
            return [{"position": {"from": [parts[side]], **then}} for side in ("first", "second")], []
        conditions = self.condition(result, FORFEIT, "forfeit", "no result")
        conditions += self.condition(result, UNPLAYED, "no result")
        points = outcome_points(self.texts(result).drop_nulls().unique())
        if points:
            others = {word: 1.0 - own for word, own in points.items()}
            return [{"score": {"from": [result], "map": each}} for each in (points, others)], conditions
        read = filter(None, map(parse_result, self.texts(result).drop_nulls().unique()))
        name = (
            "position" if all(own in WHOLE and other == 1 - own for own, other in read if own is not None) else "score"
        )
        return [{name: {"from": [result], "as": "result", "side": side}} for side in (1, TWO)], conditions

    def lines(self, player: str) -> Document | None:
        """The map of a grid: a crosstable, a Swiss list, or a column a round."""
        headings, players = [each for each in self.grid.headings if each != player], self.texts(player).to_list()
        numbered = [each for each in headings if each.isdecimal()]
        known = {*players}
        named = [each for each in headings if each in known]
        counts = [str(number) for number in range(1, len(players) + 1)]
        if len(named) == len(players) or (numbered == counts and self.is_diagonal(numbered)):
            return self.crosstable(player, named if len(named) == len(players) else numbered)
        totals, suffix = [each for each in headings if is_total(each)], self.place_of_rounds(headings)
        rounds = [each for each in headings if (each.endswith(suffix) if suffix else self.is_of_a_round(each))]
        if len(rounds) < TWO:
            rounds = [each for each in headings if each not in totals and self.is_unknown(each)]
            if len(rounds) < TWO or not self.meaning(rounds, totals):
                return None
        if not {*self.of_column.get("event_id", ())} <= {*rounds}:
            return None
        aside = [each for each in headings if each not in rounds]
        event = f"{self.event()} {{column}}".strip()
        return self.swiss(player, rounds, aside, event) or self.rounds(player, rounds, aside, event, suffix)

    def swiss(self, player: str, rounds: list[str], aside: list[str], event: str) -> Document | None:
        """The map of a Swiss list: by the first numbers of lines with which each game fits its opponent's cell."""
        bare = [plain(each).replace(" ", "") for each in self.cells(rounds).unique()]
        if not any(GAME.fullmatch(each) and any(map(str.isalpha, each)) for each in bare):
            return None
        numbers = [each for each in aside if sides().get(fold(each)) == "number"]
        columns = {"event_id": event, "heat": "{pair}", "score": {"from": "cell", "as": "number"}}
        refusal = None
        for number in (*numbers, *self.of_column.get("position", []), BY_ORDER):
            excluded = [each for each in aside if each != number]
            layout = {"kind": "swiss", "rows": player, "number": number, "except": excluded}
            document = {"layout": layout, "columns": columns}
            try:
                apply_map(self.grid, build_map(document, self.grid.name))
            except ResultsError as error:
                refusal = refusal or error
            else:
                return document
        raise refusal or ResultsError(self.grid.name, [])

    def rounds(self, player: str, rounds: list[str], aside: list[str], event: str, suffix: str) -> Document:
        """The map of an event a column."""
        columns: Document = {"event_id": {"from": event, "regex": [f"^(.*){suffix}$", "$1"]} if suffix else event}
        columns |= self.meaning(rounds, [each for each in aside if is_total(each)])
        if not COMPARED & (columns.keys() | self.given.keys()):
            points = Choice("points, the more the better", "columns.score", "cell")
            choices = points, Choice("places", "columns.position", "cell")
            self.ask(Question(f"what the cells of {rounds[0]}, {rounds[1]} … are", choices))
        if all(pl.Series([each]).str.contains(times.A_DATE).any() for each in rounds):
            columns["started_at"] = {"from": "{column}", "regex": [f"^.*?{times.A_DATE}.*$", "$1"]}
        layout = {"kind": "matrix", "rows": player, "except": aside}
        return {"layout": layout, **self.without(rounds, UNPLAYED, "no result"), "columns": columns}

    def without(self, names: list[str], pattern: str, reason: str) -> Document:
        """The condition that drops cells of a pattern, where there are any."""
        found = self.cells(names).str.contains(pattern).any()
        return {"where": {"drop": [{"column": "cell", "matches": pattern, "reason": reason}]}} if found else {}

    def place_of_rounds(self, headings: list[str]) -> str:
        """What stands behind the rounds in headings of two lines, where it is the place."""
        ends = [end for start, _, end in (each.rpartition(" ") for each in headings) if start]
        places = [end for end in ends if meanings().get(fold(end)) == "position"]
        return f" {places[0]}" if len(places) >= TWO and places.count(places[0]) == len(places) else ""

    def is_unknown(self, heading: str) -> bool:
        word = fold(heading)
        return word not in meanings() and word not in sides() and side_of(heading) is None

    def is_of_a_round(self, heading: str) -> bool:
        return is_round(heading) or bool(pl.Series([heading]).str.contains(rf"^(?:{times.IN_A_LINE})$").any())

    def is_diagonal(self, names: list[str]) -> bool:
        """Whether a grid has nothing where a line meets its own column."""
        return all((self.texts(name)[line] or "") in DIAGONAL for line, name in enumerate(names))

    def crosstable(self, player: str, names: list[str]) -> Document:
        """The map of a crosstable, all of whose cells fit their mirrors."""
        columns = [self.texts(name).to_list() for name in names]
        sums = set()
        for line in range(len(names)):
            for column in range(line + 1, len(names)):
                one, other = (parse_result(each or "") for each in (columns[column][line], columns[line][column]))
                if one and other and not (one == other[::-1] and one[1] != 1 - (one[0] or 0)):
                    sums.add((one[0] or 0) + (other[0] or 0))
        if len(sums) > 1:
            remedy = "holds results that do not fit their mirrors: who beat whom is not clear"
            raise ResultsError(self.grid.name, [Fault(None, None, None, remedy)])
        aside = [each for each in self.grid.headings if each not in (player, *names)]
        numbers = [each for each in aside if self.texts(each).to_list() == names][:1]
        layout: Document = {"kind": "crosstable", "rows": player}
        layout |= {"number": (numbers or [BY_ORDER])[0]} if names[0].isdecimal() else {}
        layout["except"] = [each for each in aside if each not in numbers]
        rules = {"heat": "{row_name} - {column}", "score": {"from": "cell", "as": "result"}}
        columns_of = {"event_id": self.event() or "{file}", **rules}
        return {"layout": layout, **self.without(names, FORFEIT, "forfeit"), "columns": columns_of}

    def meaning(self, rounds: list[str], totals: list[str]) -> Document:
        """Which results column the cells of rounds surely are: points that a total sums up, times, or places."""
        if self.given.keys() & COMPARED:
            return {}
        columns = [[number(each) for each in self.texts(name)] for name in rounds]
        sums = [sum(row) for row in zip(*columns, strict=True)]
        for total in totals:
            if all(abs(number(each) - own) < TINY for each, own in zip(self.texts(total), sums, strict=True)):
                return {"score": {"from": "cell", "as": "result"}}
        cells = [
            each for each in self.cells(rounds).unique() if not times.status_word(each) and not times.is_lapped(each)
        ]
        if cells and all(":" in each and times.parse(each.replace(",", ".")) for each in cells):
            return {"time_s": {"from": "cell", "as": "duration"}}
        return {"position": {"from": "cell", "as": "place"}} if all(map(self.ranks, rounds)) else {}

    def ranks(self, heading: str) -> bool:
        """Whether a column has the places of one event: 1, and as many better ones as each place says."""
        words = [
            each for each in self.texts(heading).drop_nulls() if not times.status_word(each) and each not in DIAGONAL
        ]
        places = pl.Series(words, dtype=pl.String).str.strip_chars().str.extract(PLACE).cast(pl.Float64)
        return bool(places.null_count() == 0 and places.len() and (places.rank("min") == places).all())


def number(text: str | None) -> float:
    """The number in a cell, 0 where there is none."""
    own, _ = parse_result(text or "") or (None, None)
    return own or 0.0
