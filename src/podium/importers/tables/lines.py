"""What the lines of a grid are, where they are no entrants: players or events, over places, games, results or names."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import polars as pl

from podium.errors import ResultsError
from podium.importers import times
from podium.importers.grid import EVERY, SHEET, TITLE, Choice, Grid, Question, are_days
from podium.importers.tables.applying import apply_map
from podium.importers.tables.cells import DIAGONAL, TINY, are_winnings, is_result, number, parse_result, placed
from podium.importers.tables.layouts import BY_ORDER, GAME, game_text, is_scheme
from podium.importers.tables.maps import build_map
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.headings import fold, is_round, is_total, meanings, side_of, sides

UNPLAYED = rf"^(?:\*|\?|x|[-:. ]+|(?i:{'|'.join(heads.UNPLAYED_WORDS)})\.?)$"
COMMA = [r"^(.*\d),(\d+\D*)$", "$1.$2"]  # of a time, as a point
UNIT = r"(?i)\s*[(\[](?:[hms:.,0]+|sec|min|k?g)[)\]]$"  # of a head
TWO, FEW, FAR = 2, 20, 10
OF_NAMES = ("player", "team", "given", "family", *heads.MET)
Document = dict[str, Any]


class Lines:
    """Looks for a grid in a table's headings, and then in its cells; what it cannot know it asks."""

    def __init__(self, grid: Grid, given: Document, named: Mapping[str, str], ask: Callable[[Question], None]) -> None:
        self.grid, self.given, self.ask = grid, given, ask
        self.pairs = ""  # or what the reader answered: pairs, or names
        self.known: dict[str, pl.Series] = {}  # the cells of columns that were looked at
        self.of_column: dict[str, list[str]] = {name: [heading] for name, heading in named.items()}
        for heading in sorted(grid.headings, key=lambda each: fold(each) in heads.WEAK):
            column = self.meaning_of(heading)
            if column not in named and heading not in named.values():
                self.of_column.setdefault(column, []).append(heading)

    def first(self, *columns: str) -> str | None:
        return next((self.of_column[each][0] for each in columns if each in self.of_column), None)

    def texts(self, heading: str) -> pl.Series:
        if heading not in self.known:
            column = self.grid.frame[heading].cast(pl.String)
            self.known[heading] = column.replace("", None) if (column == "").any() else column
        return self.known[heading]

    def meaning_of(self, heading: str) -> str:
        """The results column that a heading means; none where it is of all who met, or of a leg beside another."""
        word = fold(re.sub(UNIT, "", heading))
        if word in heads.LEGS and sum(fold(each) in heads.LEGS for each in self.grid.headings) > 1:
            return ""
        if word in heads.WEIGHTS and not heads.PEGS.isdisjoint(map(fold, self.grid.headings)):
            has_unit = word != fold(heading) or not self.texts(heading).str.contains(r"^\d+[.,-]\d{1,2}$").any()
            return "score" if has_unit else ""  # 14.2 may be 14 lb 2 oz
        may_be_all = word in heads.WEAK and word in heads.PAIRING
        return "" if may_be_all and self.texts(heading).str.contains(r"^\d+$|,").any() else meanings().get(word, "")

    def cells(self, headings: Iterable[str]) -> pl.Series:
        return pl.concat([self.texts(each).drop_nulls().alias("cell") for each in headings])

    def all_have(self, mark: str, *headings: str) -> bool:
        """Whether all cells of two and more have a mark once, with something on both sides."""
        if not all(self.texts(each).head(FEW).str.contains(mark, literal=True).any() for each in headings):
            return False
        cells = self.cells(headings)
        parts = cells.filter(~cells.str.contains(heads.ABSENT)).str.split(mark)
        return bool((parts.list.eval(pl.element().str.strip_chars() != "").list.sum() == TWO).all())

    def mates(self, heading: str) -> str | None:
        """What stands between the members of a pair, in some cells of a column or in all."""
        is_apart = self.texts(heading).head(FEW).str.contains(" / ", literal=True).any()
        marks = "/", " & ", " + ", *((" - ", " \u2013 ") if fold(heading) in heads.PAIRING else ())
        return " / " if is_apart else next((mark for mark in marks if self.all_have(mark, heading)), None)

    def mates_rule(self, heading: str) -> Document:
        """Return how the names of a column are parted into the members of pairs."""
        mark = self.mates(heading)
        return {"split": mark} if mark and self.pairs != "names" else self.pair_rule(heading)

    def pair_rule(self, *headings: str) -> Document:
        """Return how cells are parted into pairs that are written in several ways; ask if only some look like pairs."""
        cells, known = self.cells(headings).unique(), self.pairs
        cells = cells.filter(~cells.str.contains(heads.ABSENT))
        are_pairs = cells.str.contains(heads.MATES)
        if known == "names" or not are_pairs.any():
            return {}
        parts = cells.filter(are_pairs).str.replace_all(heads.MATES, "\0").str.split("\0").explode()
        again = pl.concat([parts, cells.filter(~are_pairs)]).is_duplicated().any()
        if not known and not are_pairs.all() and (again or are_pairs.sum() * 2 > cells.len()):
            text = f"has {cells.filter(are_pairs)[0]!r}, which may be a pair, and {cells.filter(~are_pairs)[0]!r}"
            names = Choice("each is one name", "columns.player.as", "text")
            self.ask(Question(text, (Choice("they are pairs", "columns.player.split", "/"), names), headings[0]))
        is_split = known or are_pairs.all()
        return {"regex": [heads.MATES, " / "], "split": " / "} if is_split else {}

    def event(self) -> str:
        """What names the event of a sheet that has one only; empty where nothing does."""
        if self.grid.rule.sheet == EVERY and SHEET in self.grid.frame.columns:
            return "{title}" if self.titles().len() == self.grid.frame[SHEET].n_unique() else "{sheet}"
        return "{title}" if self.titles().len() else ""

    def titles(self) -> pl.Series:
        titles = self.grid.frame.get_column(TITLE, default=pl.Series([], dtype=pl.String))
        return titles.head(0) if titles.null_count() else titles.unique(maintain_order=True)

    def title_dates(self) -> pl.Series:
        """The dates in those lines, null where one has none; empty where all have none."""
        found = self.titles().str.extract(times.A_DATE)
        return found.head(0) if found.null_count() == found.len() else found

    def without(self, names: list[str], pattern: str, reason: str) -> Document:
        """The condition that drops cells of a pattern, where there are any."""
        found = self.cells(names).str.contains(pattern).any()
        return {"where": {"drop": [{"column": "cell", "matches": pattern, "reason": reason}]}} if found else {}

    def is_unknown(self, heading: str) -> bool:
        """Whether a heading means nothing; or stands over numbers, and so may be one who is called Nick or White."""
        word = fold(heading)
        part = meanings().get(word) or sides().get(word) or side_of(heading)
        return part is None or (part in OF_NAMES and not self.texts(heading).str.contains(r"\p{L}").any())

    def is_of_a_round(self, heading: str) -> bool:
        return is_round(heading) or all(are_days([heading]))

    def places(self) -> Document | None:
        """The map of an event a row whose columns are places, and whose cells are names."""
        parts = [each.split() for each in self.grid.headings]
        bare = [" ".join(each for each in part if meanings().get(fold(each)) != "position") for part in parts]
        found = zip(self.grid.headings, placed(pl.Series(bare, dtype=pl.String)), strict=True)
        places = {each: int(place or heads.PLACES.get(fold(each) or each, 0)) for each, place in found}
        columns = [each for each, place in places.items() if place]
        numbers = [place for place in places.values() if place]
        if len(numbers) <= TWO or numbers != [*range(1, len(numbers) + 1)]:
            return None
        year = next((each for each in self.grid.headings if fold(each) in heads.YEARS), None)
        both = [self.first("started_at") or year, self.first("event_id", "heat")]
        both = [each for each in both if each not in (None, *columns)]
        ways = [*([each] for each in reversed(both)), both]
        named = next((way for way in ways if way and not self.grid.frame.select(way).is_duplicated().any()), both)
        if not named or not self.cells(columns).str.contains(r"^\p{L}|\p{L}{2}").all():
            return None
        fallen = [each for each in self.grid.headings if times.status_word(each) and each not in columns]
        for each in fallen:
            if self.texts(each).str.contains(r"[,;&+]").any():
                text = "has several in a cell; write each in a column of its own that is called so"
                self.ask(Question(text, (Choice(f"leave {each} aside", "source.aside", each),), each))
        position = {"from": "column", "map": dict(zip(columns, numbers, strict=True))}
        event = "{row_name}" if len(named) == 1 else " ".join(f"{{{each}}}" for each in named)
        player = {"from": "cell", **self.pair_rule(*columns)}
        rules = {"event_id": {"from": event, "count": True}, "player": player, "position": position}
        return self.matrix(named[0], columns + fallen, rules, "nobody")

    def places_down(self) -> Document | None:
        """The map of an event a column whose lines are places, and whose cells are names, of whom some stand again."""
        place = self.first("position")
        rounds = [each for each in self.grid.headings if each != place]
        are_rounds = all(self.is_of_a_round(each) or self.is_unknown(each) for each in rounds)
        if place is None or len(rounds) < TWO or not are_rounds or not self.are_ranks(place):
            return None
        cells = self.cells(rounds)
        are_names = cells.len() and cells.str.contains(r"\p{L}").all() and not cells.str.contains(r"[:;]|\d{3}").any()
        is_once = all(self.texts(each).drop_nulls().is_unique().all() for each in rounds)
        if not are_names or not is_once or cells.n_unique() == cells.len():
            return None
        event, position = f"{self.event()} {{column}}".strip(), {"from": "row_name", "as": "place"}
        columns = {"event_id": event, "player": "cell", "position": position, **self.dates_of(rounds)}
        return self.matrix(place, rounds, columns, "nobody")

    def dates_of(self, headings: list[str]) -> Document:
        """When events are whose heads all have a date."""
        are_dated = pl.Series(headings).str.contains(times.A_DATE).all()
        return {"started_at": {"from": "{column}", "regex": [f"^.*?{times.A_DATE}.*$", "$1"]}} if are_dated else {}

    def across(self) -> Document | None:
        """The map of an event a row, whose columns are players: of unknown heads, and over numbers."""
        named = [each for each in (self.first("started_at"), self.first("event_id")) if each is not None]
        unknown = [each for each in self.grid.headings if self.is_unknown(each) and not self.is_of_a_round(each)]
        are_results = {each: [*map(is_result, self.texts(each).drop_nulls().unique())] for each in unknown}
        players = [each for each in unknown if any(are_results[each])]
        unpaid = [each for each in players if not self.texts(each).str.contains("[€£$%]").any()]
        players = unpaid or players
        are_numbers = all(map(all, (are_results[each] for each in players)))
        if not named or len(players) < TWO or not are_numbers or self.grid.frame.select(named).is_duplicated().any():
            return None
        rows = [[number(each) for each in row if each] for row in zip(*map(self.texts, players), strict=True)]
        are_places = all(sorted(row) == [*range(1, len(row) + 1)] for row in rows)
        columns: Document = {"event_id": " ".join(f"{{{each}}}" for each in named), "player": "column"}
        are_won = are_winnings(zip(*map(self.texts, players), strict=True))
        are_points = max(map(len, rows)) == TWO and any(0 in row or len({*row}) == 1 for row in rows)
        are_points |= is_scheme(rows)
        if are_places or are_points or are_won:
            place = {"position": {"from": "cell", "as": "place"}}
            columns |= place if are_places else {"score": self.as_number(players) if are_won else "cell"}
        else:
            self.ask_what_cells_are(players)
        return self.matrix(named[0], players, columns, "no result")

    def lines(self, player: str) -> Document | None:
        """The map of a grid: a crosstable, a Swiss list, or a column a round."""
        headings, players = [each for each in self.grid.headings if each != player], self.texts(player).to_list()
        numbered = [each for each in headings if each.isdecimal()]
        known, heads_known = {*players}, {*headings}
        if len(known) < len(players):
            return None
        named = [each for each in headings if each in known]
        called = next((own for each in headings if {*(own := self.texts(each).to_list())} <= heads_known), [])
        numbered = called if len({*called}) == len(players) else numbered
        counts = [str(number) for number in range(1, len(players) + 1)]
        if len(named) == len(players) or (numbered and numbered in (counts, called) and self.is_diagonal(numbered)):
            return self.crosstable(player, named if len(named) == len(players) else numbered)
        if len(named) > 1:
            return None  # that lacks lines
        if "{column}" not in str(self.given.get("event_id", "{column}")):
            return None
        totals, suffix = [each for each in headings if is_total(each)], self.place_of_rounds(headings)
        rounds = [each for each in headings if (each.endswith(suffix) if suffix else self.is_of_a_round(each))]
        if len(rounds) < TWO:
            rounds = [each for each in headings if each not in totals and self.is_unknown(each)]
            rounds = [each for each in rounds if fold(each) not in heads.PENALTY and self.has_results(each)]
            meant = self.meaning(rounds, totals) if len(rounds) >= TWO else {}
            whole = self.first("time_s")
            is_timed = whole is not None and (not is_total(whole) or self.texts(whole).str.contains(":").any())
            if whole not in (None, *rounds) and ("time_s" in meant or ("position" in meant and is_timed)):
                return None  # legs, or parts of a race, or places in it
            if not meant:
                is_summed = len(rounds) >= TWO and self.summing(rounds, totals) is not None
                rounds = [each for each in rounds if is_summed or self.are_nearly_places(each)]
                if len(rounds) <= TWO:
                    return None
                self.ask_what_cells_are(rounds)
        if not {*self.of_column.get("event_id", ())} <= {*rounds} or self.is_one(rounds, totals):
            return None
        aside = [each for each in headings if each not in rounds]
        event = f"{self.event()} {{column}}".strip()
        return self.swiss(player, rounds, aside, event) or self.rounds(player, rounds, aside, event, suffix)

    def has_results(self, heading: str) -> bool:
        """Whether a column has a result or a status, and no cell below nothing, as gaps are."""
        cells = self.texts(heading).drop_nulls().unique()
        is_any = any(number(own) or parse_result(own) or times.parse(own) or times.status_word(own) for own in cells)
        has_gaps = cells.str.contains(r"^[-\u2212]\d").any() and not are_winnings([self.texts(heading)])
        return (is_any or not cells.len()) and not has_gaps

    def swiss(self, player: str, rounds: list[str], aside: list[str], event: str) -> Document | None:
        """The map of a Swiss list: by the first numbers of lines with which each game fits its opponent's cell."""
        bare = map(game_text, self.cells(rounds).unique())
        are_games = (GAME.fullmatch(each) and any(map(str.isalpha, each)) for each in bare)
        if all(map(self.are_ranks, rounds)) or not any(are_games):
            return None
        numbers = [each for each in aside if sides().get(fold(each)) == "number"]
        columns: Document = {"event_id": event, "heat": "{pair}"}
        columns["score"] = {"from": "cell", "regex": [r"\*$", ""], "as": "number"}
        refusal = None
        for name in (*numbers, *self.of_column.get("position", []), BY_ORDER):
            excluded = [each for each in aside if each != name]
            layout = {"kind": "swiss", "rows": player, "number": name, "except": excluded}
            document = {"layout": layout, "columns": columns}
            try:
                apply_map(self.grid, build_map(document, self.grid.name))
            except ResultsError as error:
                refusal = refusal or error
            else:
                return document
        raise refusal or ResultsError(self.grid.name, [])

    def rounds(self, player: str, rounds: list[str], aside: list[str], event: str, suffix: str) -> Document:
        columns: Document = {"event_id": {"from": event, "regex": [f"^(.*){suffix}$", "$1"]} if suffix else event}
        by_head: Document = {"position": {"from": "cell", "as": "place"}} if suffix else {}
        columns |= by_head or self.meaning(rounds, [each for each in aside if is_total(each)])
        columns |= self.ask_what_cells_are(rounds) if columns.keys().isdisjoint(COMPARED) else {}
        if "time_s" in columns and {*map(fold, rounds)} <= heads.LEGS:
            self.ask(Question(f"{', '.join(rounds)} are legs of one event: add a column of the whole times", ()))
        columns |= self.dates_of(rounds)
        if rule := self.mates_rule(player):
            columns["player"] = {"from": "row_name", **rule}
        return self.matrix(player, rounds, columns, "no result")

    def matrix(self, rows: str | None, cells: Sequence[str], columns: Document, reason: str) -> Document:
        """The map of a grid: the column that names its lines, its cells, without those that stand for none."""
        aside = [each for each in self.grid.headings if each not in (rows, *cells)]
        layout = {"kind": "matrix", "rows": rows, "except": aside}
        return {"layout": layout, **self.without(list(cells), UNPLAYED, reason), "columns": columns}

    def ask_what_cells_are(self, headings: list[str]) -> Document:
        """Nothing, but the question what cells are, where that is not given."""
        if self.given.keys().isdisjoint(COMPARED):
            points = Choice("points, the more the better", "columns.score", "cell")
            places = Choice("places, or what is better the less", "columns.position", "cell")
            choices = points, places, Choice("times", "columns.time_s", "cell")
            is_summed = self.first("position") or any(map(is_total, self.grid.headings))
            whole = [Choice("parts of one event", "columns.event_id", "{file}")] if is_summed else []
            self.ask(Question(f"what the cells of {headings[0]}, {headings[1]} … are", (*choices, *whole)))
        return {}

    def place_of_rounds(self, headings: list[str]) -> str:
        """What stands behind the rounds in headings of two lines, where it is the place."""
        ends = [
            end
            for start, _, end in (each.rpartition(" ") for each in headings)
            if start and fold(start) not in heads.STARTS
        ]
        places = [end for end in ends if meanings().get(fold(end)) == "position"]
        return f" {places[0]}" if len(places) >= TWO and places.count(places[0]) == len(places) else ""

    def is_diagonal(self, names: list[str]) -> bool:
        return all(DIAGONAL.fullmatch(self.texts(name)[line] or "") for line, name in enumerate(names))

    def crosstable(self, player: str, names: list[str]) -> Document:
        aside = [each for each in self.grid.headings if each not in (player, *names)]
        numbers = [each for each in aside if self.texts(each).to_list() == names][:1]
        layout: Document = {"kind": "crosstable", "rows": player}
        layout |= {"number": (numbers or [BY_ORDER])[0]} if names[0].isdecimal() or numbers else {}
        layout["except"] = [each for each in aside if each not in numbers]
        rules = {"heat": "{row_name} - {column}", "score": {"from": "cell", "as": "result"}}
        columns_of = {"event_id": self.event() or "{file}", **rules}
        return {"layout": layout, **self.without(names, heads.FORFEIT, "forfeit"), "columns": columns_of}

    def meaning(self, rounds: list[str], totals: list[str]) -> Document:
        """Which results column the cells of rounds surely are: points that a total sums up, times, or places."""
        if not self.given.keys().isdisjoint(COMPARED):
            return {}
        words = [each for each in self.cells(rounds).unique() if not DIAGONAL.fullmatch(each)]
        cells = [each for each in words if not (times.status_word(each) or times.is_lapped(each))]
        are_times = all({*each} & {*":,."} and times.parse(each.replace(",", ".")) for each in cells)
        are_times &= any(":" in each for each in cells) and not self.are_of_parts(rounds, cells)
        as_times = {"time_s": {"from": "cell", "as": "duration", "regex": COMMA}}
        if are_times and all(re.search(r"[.,]\d\d", each) for each in cells):
            return as_times
        if are_winnings(map(self.texts, rounds)):
            return {"score": self.as_number(rounds)}
        if (whole := self.summing(rounds, totals)) is not None:
            return self.summed(rounds, [[number(each) for each in self.texts(name)] for name in rounds], whole)
        if are_times:
            return as_times
        return {"position": {"from": "cell", "as": "place"}} if all(map(self.are_ranks, rounds)) else {}

    def summing(self, rounds: list[str], totals: list[str]) -> list[float | None] | None:
        """The numbers of a column that sums rounds up, with penalties or without; None where no column does."""
        columns = [[number(each) for each in self.texts(name)] for name in rounds]
        sums = [sum(row) for row in zip(*columns, strict=True)]
        others = [each for each in self.grid.headings if fold(each) in heads.PENALTY and each not in rounds]
        added = [[sign * number(cell) for cell in self.texts(each)] for each in others for sign in (1, -1)]
        for total in totals:
            whole = [None if cell is None else number(cell) for cell in self.texts(total)]
            for more in ([0.0] * len(sums), *added):
                parts = zip(whole, sums, more, strict=True)
                if any(whole) and all(own is None or abs(own - one - other) < TINY for own, one, other in parts):
                    return whole
        return None

    def are_of_parts(self, rounds: list[str], cells: list[str]) -> bool:
        """Whether some columns have nothing on a clock, and cells are far from each other, as those of a decathlon."""
        seconds = times.parse_column(pl.Series(cells), decimal=".,")["seconds"]
        clocks = (self.texts(each).str.contains(":").any() for each in rounds if self.texts(each).count())
        return not all(clocks) and bool(seconds.max() > FAR * seconds.min())  # type: ignore[operator]

    def is_one(self, rounds: list[str], totals: list[str]) -> bool:
        """Whether rounds are parts of one event: golf by the least sum, with ties as T2, or attempts with a best."""
        place, whole = self.first("position"), [each for each in totals if each not in rounds]
        meant = self.meaning(rounds, whole)
        if place is None or meant:
            is_golf = place is not None and whole and self.texts(place).str.contains(r"^T\d").any()
            return bool(is_golf and meant.get("position", {}).get("as") == "number")
        parts = [*zip(*(map(number, self.texts(each)) for each in rounds), strict=True)]
        others = [[*map(number, self.texts(each))] for each in self.grid.headings if each not in (place, *rounds)]
        best = [*map(max, parts)]
        return any(best) and best in others and best != [*map(sum, parts)]

    def summed(self, rounds: list[str], columns: list[list[float]], sums: list[float | None]) -> Document:
        """What cells are that a total sums up: points, or what is better the less; by who is first, else by the cells.

        Nobody sums up places as points of which the winner of each round has the same.
        """
        least = min(map(min, columns))
        by_place, are_places = self.standing(sums), all(map(self.are_ranks, rounds))
        are_alike = len({max(column) for column in columns}) == 1
        if by_place is None and not are_places:
            by_place = 1 if are_alike else None
        is_placed = are_places or self.first("position") or any(map(times.status_word, self.cells(rounds)))
        may_be_less = by_place == -1 or not heads.LESS.isdisjoint(map(fold, self.grid.headings))
        if may_be_less and not is_placed:  # the lines may stand in any order
            by_place = None
        may_be_parts = not are_alike and self.title_dates().n_unique() == 1 and all(map(is_round, rounds))  # of one day
        if by_place is None or least < 0 or may_be_parts:
            return {}
        if by_place > 0:
            return {"score": {"from": "cell", "as": "result"}}
        above = {} if least else {"offset": 1}  # for places are above 0
        return {"position": {**self.as_number(rounds), **({"as": "place"} if are_places else above)}}

    def as_number(self, headings: list[str]) -> Document:
        """The rule of cells that are numbers, some perhaps with a comma."""
        comma = {"regex": COMMA} if self.cells(headings).str.contains(r"\d,\d").any() else {}
        return {"from": "cell", "as": "number", **comma}

    def standing(self, sums: list[float | None]) -> int | None:
        """Whether who stands first has most (1) or least (-1), by the places or as the lines stand; else None."""
        heading = self.first("position")
        places = pl.Series([*range(len(sums))], dtype=pl.Float64)
        if heading is not None and self.are_ranks(heading):
            places = placed(self.texts(heading))
        elif len(sums) <= TWO:
            return None
        placed_sums = zip(places.fill_null(len(sums)), sums, strict=True)
        ordered = [own for _, own in sorted(placed_sums, key=itemgetter(0)) if own is not None]
        ways = {1: ordered[::-1], -1: ordered}
        return next((way for way, each in ways.items() if each == sorted(each) and each and each[0] != each[-1]), None)

    def are_nearly_places(self, heading: str) -> bool:
        """Whether a column may be of one event's places: it has 1, and each number once."""
        places = placed(self.texts(heading)).drop_nulls().to_list()
        return len({*places}) == len(places) > TWO and 1.0 in places

    def are_ranks(self, heading: str, within: Sequence[str] = (), first: int = 1) -> bool:
        """Whether a column has places, and as many are better as each says, in all with the same in some columns."""
        texts, place = self.texts(heading), pl.col("\0place")
        places = placed(texts).alias("\0place")
        words = texts.filter(places.is_null()).drop_nulls()
        if not places.count() or not all(times.status_word(each) or DIAGONAL.fullmatch(each) for each in words):
            return False
        table = self.grid.frame.with_columns(places).select(*within, "\0place").drop_nulls("\0place")
        rank = (place.rank("min").over(within) if within else place.rank("min")) + first - 1
        return bool(table.select((rank == place).all()).item())
