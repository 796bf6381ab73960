"""What a table's rows are, where they are no entrants: matches, or the lines of a grid."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers import times
from podium.importers.grid import ROW_NUMBER, Choice, Question
from podium.importers.tables.applying import apply_map, outcome_points
from podium.importers.tables.cells import POINTS, TINY, WHOLE, parse_result, placed
from podium.importers.tables.lines import TWO, UNPLAYED, Document, Lines
from podium.importers.tables.maps import build_map
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.headings import fold, is_pairing, meanings, side_of

PAIR_ALONE = re.compile(r"\s*\d{1,3}\s*[-:\u2013/xX]\s*\d{1,3}\s*(\(\d+\))?\s*")
VERSUS = (r"vs?\.?", "[\u2013-]")  # between the sides of a match; the second in a column that is known to have both
MARKS = (" / ", "/", " & ", " + ", "&", "+", " - ", " \u2013 ", *(f" {each} " for each in heads.AND))  # between mates
FORFEITED = heads.FORFEIT, "forfeit"
MOST_LINES = 10_000  # of a grid


class Shapes(Lines):
    def document(self) -> Document | None:
        """The map of the shape, without dates; None where rows are entrants."""
        if self.grid.frame.height == 1 and (found := self.places()):
            return found
        if {"event_id", "player"} <= self.of_column.keys() and self.of_column.keys() & {"position", "time_s"}:
            return None
        player = self.first("player", "team") or self.corner()
        if not 1 < self.grid.frame.height <= MOST_LINES:
            return self.matches()
        if player is not None and ("position" in self.of_column or not self.is_unknown(player)):
            return self.matches() or self.lines(player)
        found = self.places() or self.places_down() or self.matches() or self.across()
        return found or (None if player is None else self.lines(player))

    def corner(self) -> str | None:
        """The first column, where the others are headed by its cells or by the numbers of its lines: a crosstable."""
        first, *others = self.grid.headings or [""]
        cells = {*self.texts(first).drop_nulls()} if others else set()
        counts = [f"{line}" for line in range(1, self.grid.frame.height + 1)]
        is_numbered = {*counts} <= {*others} and self.is_diagonal(counts)
        return first if len(cells) >= TWO and (cells <= {*others} or is_numbered) else None

    def matches(self) -> Document | None:
        members: dict[str, list[str]] = {}
        for heading in self.grid.headings:
            members.setdefault(side_of(heading) or "", []).append(heading)
        for headings in members.values():  # players before their teams
            headings.sort(key=lambda each: "team" in map(meanings().get, fold(each).split("_")))
        parts = {part: headings[0] for part, headings in members.items()}
        goals = [each for each in self.grid.headings if fold(each) in heads.GOALS and self.are_pairs(each)]
        if results := goals[:1] or self.sum_of_pairs():
            parts.setdefault("result", results[0])
        player = self.first("player", "team")
        if "opponent" in parts and "first" in parts:
            parts.setdefault("second", parts["opponent"])
        if player is not None and parts.get("opponent", player) != player and "first" not in parts:
            parts |= {"first": player, "second": parts["opponent"]}
        names = next((each for each in (("winner", "loser"), ("first", "second")) if parts.keys() >= {*each}), None)
        if names is None:
            found = self.pairings(parts) if "result" in parts else None
            parts = parts if found else self.sides_by_cells()
            if found or not parts:
                return found
            names = ("first", "second")
        one, other = (parts[name] for name in names)
        compared, conditions = self.decided(parts) if names[0] == "winner" else self.compared(parts)
        conditions += [each for name in (other, one) for each in self.condition(name, heads.BYE, "bye", "no opponent")]
        conditions += [each for name in (one, other) for each in self.condition(name, heads.NOBODY, "nobody")]
        are_lists = bool(self.cells((one, other)).str.starts_with('["').all())  # of JSON
        mark = '", "' if are_lists else next((mark for mark in MARKS if self.all_have(mark, one, other)), None)
        mark = mark or self.commas(one, other)
        of_list = {"regex": [r'^\["|"\]$', ""]} if are_lists else {}
        rest: Document = of_list if mark else self.pair_rule(one, other)
        mark = rest.get("split", mark)
        players: list[Any] = [{"from": [each], **rest} for each in (one, other)] if mark else [one, other]
        several = [members.get(name, []) for name in names]
        words = map(fold, chain(*several))
        are_members = (heads.SIDE.fullmatch(word) or heads.MEMBER.fullmatch(word) for word in words)
        mate, third, fourth = (f"{one[:-1]}{number}" for number in "234")
        if one.endswith("1") and other == mate and {third, fourth} <= {*self.grid.headings}:  # two by two
            players, mark = [[one, other], [third, fourth]], None
        elif len(several[0]) == len(several[1]) > 1 and (names[0] == "winner" or all(are_members)):
            players, mark = several, None
        names_of = [each if isinstance(each, list) else [each] for each in (players if not mark else (one, other))]
        met = " - ".join(" / ".join(f"{{{each}}}" for each in side) for side in names_of)
        event = f"{self.lead('started_at', 'event_id')} {met}"
        document = self.match_rows(players, mark, compared, conditions, event)
        return self.from_one_side(document, one, other) if one == player else document

    def commas(self, *headings: str) -> str | None:
        """What parts three members in a cell, below heads that are of so many; asks where some cells have fewer."""
        cells = self.cells(headings)
        are_three = cells.filter(~cells.str.contains(heads.BYE)).str.count_matches(",") >= TWO
        if heads.THREES.isdisjoint(fold(headings[0]).split("_")) or not are_three.any():
            return None
        if not are_three.all():
            self.ask(Question("has more names in some cells than in others; part all of them by /", (), headings[0]))
        return ","

    def sum_of_pairs(self) -> list[str]:
        """The column of both sides' points that sums up the others of such, as what a game ended with its quarters."""
        pairs = [each for each in self.grid.headings if self.are_pairs(each)]
        cells = ([parse_result(cell or "0-0") or () for cell in self.texts(each)] for each in pairs)
        points = [[own or 0.0 for own in chain.from_iterable(column)] for column in cells]
        sums = [*map(sum, zip(*points, strict=True))]
        found = (each for each, own in zip(pairs, points, strict=True) if [2 * one for one in own] == sums)
        words = [{*fold(each).split("_")} for each in pairs]
        are_quarters = sum(not own & heads.SETS and bool(own & heads.QUARTERS) for own in words) >= len(pairs) - 1
        return [*found] if are_quarters and len(pairs) > TWO else []

    def sides_by_cells(self) -> dict[str, str]:
        """The two sides of a match and its result, by cells alone: two columns with the same names, one of results."""
        columns = {each: self.texts(each).drop_nulls() for each in self.grid.headings if self.is_unknown(each)}
        results = [each for each in columns if self.are_pairs(each)]
        if len(results) != 1:
            return {}
        names = [each for each, cells in columns.items() if cells.str.contains(r"\p{L}{2}").all() and cells.len()]
        if len(names) != TWO or columns[names[0]].is_in(columns[names[1]].implode()).sum() < 1:
            return {}
        return {"first": names[0], "second": names[1], "result": results[0]}

    def lead(self, *columns: str) -> str:
        """What a match's name begins with: the values of columns that are full, or what is above the head."""
        named = [each for column in columns if (each := self.first(column))]
        named = named[:1] + [each for each in named[1:] if not self.texts(each).null_count()]
        return " ".join(f"{{{each}}}" for each in named) or self.event()

    def match_rows(
        self, players: list[Any], mark: str | None, compared: list[Document], conditions: list[Document], event: str
    ) -> Document:
        """The map of a match a row, by the rule of each side's name, and what parts its members."""
        sides = [
            {"player": member, **rules, **({"team": {"value": name}} if isinstance(player, list) else {})}
            for name, player, rules in zip(("winners", "losers"), players, compared, strict=True)
            for member in (player if isinstance(player, list) else [player])
        ]
        if mark is not None:
            sides = [{f"team_{key}" if key == "score" else key: rule for key, rule in each.items()} for each in sides]
            sides = [each | {"player": {**each["player"], "split": mark}} for each in sides]
        columns: Document = {"event_id": {"from": event.strip(), "count": True}}
        columns |= {"pool": self.of_column["pool"][0]} if "pool" in self.of_column else {}
        where = {"where": {"drop": conditions}} if conditions else {}
        return {"layout": {"kind": "wide", "sides": sides}, **where, "columns": columns}

    def from_one_side(self, document: Document, player: str, opponent: str) -> Document:
        """The map, of matches once that stand from both sides all and alike; refuses rows of which but some are so."""
        when = [each for each in (self.first("started_at"), self.first("event_id")) if each is not None]
        rows = self.grid.frame.select(player, opponent, *when)
        mirrored = rows.rename({player: opponent, opponent: player}).select(rows.columns)
        twice = rows.with_row_index(ROW_NUMBER).join(mirrored, on=rows.columns, how="semi", maintain_order="left")
        if not twice.height:
            return document
        mapped, met = apply_map(self.grid, build_map(document, self.grid.name)), rows.rows()
        names = [each for each in ("player", *COMPARED) if each in mapped.table.columns]
        results = defaultdict[int, frozenset[Any]](frozenset)
        for row, *own in zip(mapped.rows, *mapped.table.select(names), strict=True):
            results[row] |= {tuple(own)}
        counts = Counter((met[row], own) for row, own in results.items())
        other_side = {row: (met[row][1], met[row][0], *met[row][2:]) for row in twice[ROW_NUMBER]}
        own_side = {row: (met[row], results[row]) for row in other_side}
        unlike = [row for row, own in own_side.items() if counts[own] != counts[other_side[row], own[1]]]
        if not unlike and when and results.keys() <= other_side.keys():
            return document | {"where": {**document.get("where", {}), "once": [player, opponent, *when]}}
        where = self.grid.places(unlike or [*other_side])
        what = "say of a match what its rows from the other side do not" if unlike else "tell a match from either side"
        self.ask(Question(f"{where} {what}: keep one row of each match", ()))
        return document

    def pairings(self, parts: dict[str, str]) -> Document | None:
        """The map of a match a row, both of whose sides stand in one cell: Ana vs. Ben."""
        for heading in self.grid.headings:
            texts = self.texts(heading)
            marks = VERSUS if is_pairing(heading) else VERSUS[:1]
            counts = {mark: texts.str.count_matches(rf"(?i)\s{mark}\s").fill_null(0) for mark in marks}
            mark = next((mark for mark, count in counts.items() if count.len() and (count == 1).all()), None)
            if mark is None:
                continue
            rule = {"from": [heading], "regex": [rf"(?i)^(.*?)\s+{mark}\s+(.*)$", "$1"]}
            players = [rule, rule | {"regex": [rule["regex"][0], "$2"]}]
            within = "/" if (texts.str.count_matches("/", literal=True) == TWO).all() else None
            return self.match_rows(players, within, *self.compared(parts), f"{self.lead('started_at')} {{{heading}}}")
        return None

    def condition(self, heading: str, pattern: str, reason: str, empty: str = "") -> list[Document]:
        """The condition that drops the cells of a pattern, and empty ones, where there are any."""
        texts = self.texts(heading)
        found = [{"column": heading, "matches": pattern, "reason": reason}] if texts.str.contains(pattern).any() else []
        return found + ([{"column": heading, "null": True, "reason": empty}] if empty and texts.null_count() else [])

    def decided(self, parts: dict[str, str]) -> tuple[list[Document], list[Document]]:
        conditions = self.condition(parts["result"], *FORFEITED) if "result" in parts else []
        return [{"position": {"value": place}} for place in (1, 2)], conditions

    def take_outcomes(self, chosen: dict[str, str], asides: dict[str, str]) -> dict[str, float]:
        """Take wins and losses, or places, whose head may be a status's; the points of words that stand for a score."""
        flag = next((each for each in self.grid.headings if fold(each) in heads.WON), None)
        heading, table = (chosen["status"], heads.OUTCOMES) if "status" in chosen else (flag, heads.FLAGS)
        if heading is None or (heading == flag and flag in chosen.values()):
            return {}
        points = outcome_points(self.texts(heading).drop_nulls().unique(maintain_order=True), table)
        if points:
            chosen.pop("status", None)
            name = "team_score" if "team" in chosen else "score"
            if name == "team_score" or chosen.keys().isdisjoint({"position", "time_s"}):
                asides |= {chosen[name]: f"{heading} says who won"} if name in chosen else {}
                chosen[name] = heading
        return points

    def are_places(self, heading: str, chosen: Mapping[str, str]) -> bool:
        """Whether numbers surely are places: so many are better in each event, of three, or beside a DNF."""
        if "event_id" not in chosen or not self.are_ranks(heading, [chosen["event_id"]]):
            return False
        places = placed(self.texts(heading).drop_nulls())
        return bool((places > TWO).any() or places.null_count())

    def days(self, headings: Sequence[str]) -> str | None:
        """The one of some columns whose every cell is a day, or a year where it is headed so."""
        height = self.grid.frame.height
        found = [each for each in headings if self.texts(each).count() == height and self.is_of_days(each)]
        return found[0] if len(found) == 1 else None

    def is_of_days(self, heading: str) -> bool:
        distinct = self.texts(heading).drop_nulls().unique(maintain_order=True)
        if distinct.str.contains(r"^\d*\.?\d*$").any():
            return fold(heading) in heads.YEARS and bool(distinct.str.contains(r"^[12]\d{3}$").all())
        return times.are_iso(distinct) or bool(times.fitting(distinct))

    def sum_of(self, headings: list[str]) -> tuple[str, str, str] | None:
        """The one of two times, the other, and what another column adds to it to make that, or takes from it."""
        if len(headings) != TWO:
            return None
        texts = {each: self.texts(each).str.replace(",", ".", literal=True) for each in self.grid.headings}
        seconds = {each: times.parse_column(own)["seconds"] for each, own in texts.items()}
        for own, whole in (headings, headings[::-1]):
            steps = seconds[whole] - seconds[own]
            for more in (each for each in self.grid.headings if each not in headings):
                added = seconds[more].fill_null(0.0).set(steps.is_null(), None)
                is_sum = any(((steps - sign * added).abs() < TINY).all() for sign in (1, -1))
                if is_sum and steps.count() > 1 and added.sum():
                    return own, whole, more
        return None

    def compared(self, parts: dict[str, str]) -> tuple[list[Document], list[Document]]:
        """What says who won, of each side; and which rows have no result."""
        result, winner = parts.get("result") or self.sets(), parts.get("winner")
        scores = [parts[name] for name in ("score of first", "score of second") if name in parts]
        written = scores if len(scores) == TWO else [result] if isinstance(result, str) else []
        if winner and written and self.wins_draws(winner, parts, written):
            return self.by_winner(winner, parts), []
        if len(scores) == TWO:
            if isinstance(result, str):
                self.ask_which_score(result, scores)
            conditions = [each for name in scores for each in self.condition(name, UNPLAYED, *["no result"] * TWO)]
            pair = next(filter(PAIR_ALONE.fullmatch, self.cells(scores)), None)
            if pair is not None:
                self.ask(Question(f"{pair!r} is two numbers of one side; write what they come to", (), scores[0]))
            outcomes = outcome_points(self.cells(scores).unique())
            conditions += [] if outcomes else [each for name in scores for each in self.condition(name, *FORFEITED)]
            way: Document = {"map": outcomes} if outcomes else {"as": "result"}
            return [{"score": {"from": [score], **way}} for score in scores], conditions
        if result is None or (winner and isinstance(result, list)):
            return self.by_winner(winner, parts), []
        if isinstance(result, list):
            return [{"score": {"from": result, "as": "result", "side": side}} for side in (1, TWO)], []
        conditions = self.condition(result, *FORFEITED, "no result")
        conditions += self.condition(result, UNPLAYED, "no result")
        words = self.texts(result).drop_nulls().unique().to_list()
        points = {word: (own, 1.0 - own) for word, own in outcome_points(words).items()}
        points = points or self.side_points(words, parts)
        if points.keys() >= {*words}:
            return self.by_words(result, points), conditions
        later = [each for each in self.grid.headings if fold(each) in heads.LATER and self.are_pairs(each)]
        origin = {"first": [*reversed(later), result]} if later else {"from": [result]}
        read = filter(None, map(parse_result, words))
        is_won = all(own in WHOLE and other == 1 - own for own, other in read if own is not None) and not later
        name = "position" if is_won else "score"
        return [{name: {**origin, "as": "result", "side": side}} for side in (1, TWO)], conditions

    def wins_draws(self, winner: str, parts: Mapping[str, str], scores: list[str]) -> bool:
        """Whether a column names a winner where the score is a draw; asks where it names who has less."""
        names = [self.texts(each) for each in (parts["first"], parts["second"], winner)]
        is_draw = False
        for one, other, named, *cells in zip(*names, *map(self.texts, scores), strict=True):
            read = parse_result(":".join(each or "" for each in cells))
            if read is None or None in read or named not in (one, other):
                continue
            own, its = read if named == one else read[::-1]
            is_draw |= own == its
            if own < its:  # type: ignore[operator]
                choices = [Choice(f"leave {each} aside", "source.aside", each) for each in (winner, scores[0])]
                self.ask(Question(f"names {named} where {' and '.join(scores)} say another", tuple(choices), winner))
                return False
        return is_draw

    def ask_which_score(self, result: str, scores: list[str]) -> None:
        """Ask what decides where a result says that one side won, and the scores beside it that the other did."""
        for written, *cells in zip(*map(self.texts, (result, *scores)), strict=True):
            read = [parse_result(each) for each in (written or "", ":".join(each or "" for each in cells))]
            whole = ((own or 0.0, its or 0.0) for own, its in filter(None, read))
            signs = {own > its for own, its in whole if own != its}
            if len(signs) > 1:
                choices = [Choice(f"leave {each} aside", "source.aside", each) for each in (result, scores[0])]
                self.ask(
                    Question(f"says {written} where {' and '.join(scores)} say another won", tuple(choices), result)
                )
                return

    def sets(self) -> list[str] | None:
        """The columns of sets, one after the other, whose cells are the points of both sides."""
        words = {each: {*fold(each).split("_")} for each in self.grid.headings if re.search(r"^\d|\D\d$", each.strip())}
        headings = [
            each for each, own in words.items() if not own & heads.QUARTERS and (each[-1].isdigit() or own & heads.SETS)
        ]
        found = [each for each in headings if self.are_pairs(each)]
        return found if len(found) >= TWO else None

    def are_pairs(self, heading: str) -> bool:
        cells = self.texts(heading).drop_nulls()
        return bool(cells.len()) and all(map(PAIR_ALONE.fullmatch, cells))

    def by_winner(self, heading: str | None, parts: Mapping[str, str]) -> list[Document]:
        """What each side has by a column that names the winner, or the winner's side, or says that it was a draw."""
        if heading is None:
            self.ask(Question("no column says who won", ()))
            return [{}, {}]
        names = self.grid.frame.select(parts["first"], parts["second"], heading).cast(pl.String)
        words = names[heading].drop_nulls().unique()
        points = self.side_points({*words}.difference(names[parts["first"]], names[parts["second"]]), parts)
        if not all(winner in (None, one, other, *points) for one, other, winner in names.iter_rows()):
            remedy = "names neither side in some rows; write the winner's name as it stands there"
            raise ResultsError(self.grid.name, [Fault(None, heading, None, remedy)])
        if points.keys() >= {*words}:
            return self.by_words(heading, points)
        then = {"equals": heading, "then": 1, "other": 2}
        return [{"position": {"from": [parts[side]], **then}} for side in ("first", "second")]

    def by_words(self, heading: str, points: Mapping[str, tuple[float, float]]) -> list[Document]:
        maps = ({word: own[side] for word, own in points.items()} for side in (0, 1))
        return [{"score": {"from": [heading], "map": each}} for each in maps]

    def side_points(self, words: Iterable[str], parts: Mapping[str, str]) -> dict[str, tuple[float, float]]:
        """The points of both sides of each word that says which of them won, as heads do or in short, or that none did.

        Home, H and 1 are the first side, B+3.5 is Black, and X is a draw.
        """
        titles = [fold(parts.get(each, each)) for each in ("first", "second")]
        short = [each[:1] for each in titles] if titles[0][:1] != titles[1][:1] else []
        begun = [each.partition("_")[0] for each in titles if short]
        named = dict(zip(("1", "2", "a", "b", *short, *begun, *titles), ("first", "second") * 5, strict=False))
        draws = {*heads.OUTCOMES[POINTS["="]].split(), "x"}
        found = {}
        for word in words:
            bare = fold(word.partition("+")[0])
            won = named.get(bare) or side_of(bare)
            if won in ("first", "second") or bare in draws:
                found[word] = {"first": (1.0, 0.0), "second": (0.0, 1.0)}.get(won or "", (POINTS["="],) * 2)
        return found
