"""Which columns of a table are which of results, by their headings and cells; else a question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from podium.errors import SHOWN_FAULTS, Fault, ResultsError
from podium.importers import times
from podium.importers.grid import SHEET, TITLE, Choice, Grid, Question, UndecidedError, members_beside, name_parts
from podium.importers.tables.applying import status_words
from podium.importers.tables.cells import placed
from podium.importers.tables.layouts import foot
from podium.importers.tables.maps import build_map, is_refinement, toml_value
from podium.importers.tables.shapes import Shapes
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.columns import ALL, FOR_PAGES, NUMBERS, TRUTHS
from podium.results.headings import fold, is_total, meanings, near_miss, sides

TWO = 2
MOST_LOOKED_AT = 10_000  # rows in which players are looked for again
DOUBT = "numbers, which may be seconds, places or points"
PLAIN_NUMBER = re.compile(r"[+-]?[\d\s.,]+")  # and no time on a clock
LEAST_STEPS = 3  # from one row to the next, that show an order
LOOKED_AT = 1000  # cells of a column that nothing is known of


class Columns:
    def __init__(self, grid: Grid, written: dict[str, Any], given: dict[str, Any]) -> None:
        self.drops, rows = foot(grid)
        self.grid, self.written = grid.only(rows), written
        self.refined = {name: rule for name, rule in given.items() if is_refinement(rule)}
        self.named = {name: rule for name, rule in given.items() if name in ALL and rule in grid.headings}
        others = {*self.refined, *self.named}
        self.members = [] if "player" in given else members_beside(grid)
        self.parts = parts = self.members or ([] if "player" in given else name_parts(self.grid))
        self.given = given = {name: rule for name, rule in given.items() if name not in others}
        self.given |= {"player": {"from": parts, **({"split": " / "} if self.members else {})}} if parts else {}
        rules = build_map({"columns": given}, grid.name).columns if given else {}
        self.taken = {name for rule in rules.values() for name in rule.names} | {*self.named.values()}
        self.numbers = [name for key in NUMBERS if key in rules for name in rules[key].columns]
        self.faults: list[Fault] = []
        self.questions: list[Question] = []
        self.shapes = Shapes(self.grid, given, self.named | ({"player": parts[1]} if parts else {}), self.ask)
        self.words: list[str] = []  # how the table is written
        self.asides: dict[str, str] = {}  # why a column that has a meaning is left aside
        self.chosen: dict[str, str] = {}
        self.event = ""  # what names events that share a name, as a template
        self.outcomes: dict[str, float] = {}  # points of words in place of a score

    def one_event(self) -> dict[str, Any]:
        """The event of a table without a column of events: the sheet's, the day's or the file's."""
        if "event_id" in {*self.chosen, *self.given} or "player" not in {*self.chosen, *self.given}:
            return {}
        day, place = (self.chosen.get(each) for each in ("started_at", "position"))
        if day and place and self.shapes.are_ranks(place, []) and not self.shapes.are_ranks(place, [day]):
            self.asides[self.chosen.pop("started_at")] = "days of entries in one order"
        named, day = self.shapes.event(), "{" + self.chosen["started_at"] + "}" if "started_at" in self.chosen else ""
        if not named or (day and self.varies(day[1:-1], SHEET if named == "{sheet}" else TITLE)):
            named = f"{named} {day}".strip()
        is_bare = "score" in self.chosen and not self.open_headings()
        if not named and (is_bare or {*self.chosen, *self.given} & {"position", "time_s"}):
            named = "" if self.is_of_many_events() else "{file}"
        return {"event_id": named} if named else {}

    def is_of_many_events(self) -> bool:
        """Whether players stand in it again, and but once beside each value of a column that nothing is made of."""
        rows = [self.chosen[each] for each in ("player", "heat") if each in self.chosen]
        again = bool(rows) and self.grid.frame.select(rows).is_duplicated().any()
        ways = ([*rows, each] for each in self.open_headings())
        return again and any(not self.grid.frame.select(way).is_duplicated().any() for way in ways)

    def check_holes(self) -> None:
        """Ask for what stands in events and dates that are empty below one that is not, as merged cells leave them."""
        holes = []
        place, team, time = (self.shapes.first(each) for each in ("position", "team", "time_s"))
        names = ["event_id", "started_at"]
        if place and team:
            no_place, no_team = (self.shapes.texts(each).is_null() for each in (place, team))
            is_apart = time is None or self.shapes.texts(time).filter(no_place).count() == 0
            if is_apart and no_place.equals(no_team, check_names=False):
                names += ["position", "team"]  # which stand beside the first of each team
        for name in names:
            heading = self.shapes.first(name)
            if heading is not None and heading not in self.taken and heading not in self.grid.rule.fill:
                texts = self.shapes.texts(heading)
                holes += [heading] if texts.len() and texts.null_count() and texts[0] is not None else []
        if holes:
            count = self.shapes.texts(holes[0]).null_count()
            text = f"is empty in {count:,} rows below one that is not"
            choices = (Choice("the value above stands there", "source.fill", toml_value(holes)),)
            self.ask(Question(text, choices, holes[0]))

    def check_standing(self) -> None:
        """Ask whether a table is one of standings: a column counts games, or sums the three up that follow it."""
        names = self.grid.headings
        if self.shapes.first("event_id") or "event_id" in self.given or not self.shapes.first("player", "team"):
            return
        own = [self.shapes.texts(each).cast(pl.Int64, strict=False) for each in names]
        whole = [each.null_count() == 0 and each.len() > 1 and each.sum() > 0 for each in own]
        sums = [all(whole[n : n + 4]) and (own[n] == sum(own[n + 1 : n + 4])).all() for n in range(len(names) - 3)]
        played = [is_whole and fold(each) in heads.PLAYED for each, is_whole in zip(names, whole, strict=True)]
        found = [each for n, each in enumerate(names) if any(sums[n : n + 1]) or played[n]]
        if found:
            choice = Choice("one event, by its places", "columns.event_id", "{file}")
            text = "counts games, so this may be a standing after many, which says of none who won"
            self.ask(Question(text, (choice,), found[0]))

    def refuse(self) -> None:
        if self.questions:
            raise UndecidedError(self.grid.name, self.faults, self.questions)
        if self.faults:
            raise ResultsError(self.grid.name, self.faults)

    def ask(self, question: Question, cell: str | None = None) -> None:
        """Add what only a reader of the table knows, of a column or of a cell in it."""
        shown = question if cell is None else replace(question, text=f"{cell!r} {question.text}")
        if shown in self.questions:
            return
        self.questions.append(shown)
        row = None if cell is None else self.grid.frame[question.column or ""].cast(pl.String).index_of(cell)
        self.fault(question.column, question.remedy(self.grid.name), cell, "" if row is None else self.grid.place(row))

    def fault(self, column: str | None, remedy: str, value: object = None, place: str = "") -> None:
        self.faults.append(Fault(None, column, value, remedy, place))

    def texts(self, heading: str) -> pl.Series:
        return self.shapes.texts(heading).drop_nulls()

    def choose(self) -> dict[str, str]:
        candidates, unknown = self.candidates()
        if "position" in candidates and len(candidates.get("time_s", ())) > 1:
            self.asides |= dict.fromkeys(candidates["time_s"], "one of several times, and the places decide")
            del candidates["time_s"][1:]
        self.take_sum(candidates, unknown)
        chosen = {column: self.one_of(column, headings) for column, headings in candidates.items()} | self.named
        bases = [re.sub(r"\d+", "", each) for each in unknown]  # of members, as in Leg 1 and Leg 2
        others = [each for each, base in zip(unknown, bases, strict=True) if base == each or bases.count(base) == 1]
        if "team" in chosen and "player" not in {*chosen, *self.given} and not any(map(self.has_words, others)):
            chosen["player"] = chosen.pop("team")
        self.outcomes = self.shapes.take_outcomes(chosen, self.asides)
        self.part_events(chosen, unknown)
        self.leave_clubs(chosen)
        if chosen.keys().isdisjoint(COMPARED) and self.given.keys().isdisjoint(COMPARED) and "event_id" in chosen:
            self.take_what_compares(chosen, unknown)
        self.ask_what_numbers(chosen, unknown)
        self.ask_what_times(chosen, unknown)
        for column in (*FOR_PAGES, *(["weight"] if chosen.get("weight") != "weight" else [])):
            if column in chosen and self.varies(chosen[column], chosen.get("event_id")):
                self.asides[chosen.pop(column)] = "several in one event, so no event's own"
        days = self.shapes.days(unknown)
        if days is not None and "started_at" not in {*chosen, *self.given} and self.are_of_events(days, chosen):
            chosen["started_at"] = days
            unknown.remove(days)
        self.ask_what_is_near(unknown, chosen)
        return {column: chosen[column] for column in ALL if column in chosen}

    def take_sum(self, candidates: dict[str, list[str]], unknown: list[str]) -> None:
        """Take the time or score that is another with what a column adds to it, or takes from it."""
        is_adjusted = any(fold(each) in heads.PENALTY for each in self.grid.headings)
        others = [each for each in (*self.asides, *unknown) if is_adjusted or is_total(each)]
        others = [each for each in others if fold(each) not in heads.PENALTY]
        for name in ("time_s", "score"):
            headings = candidates.get(name, [])
            wholes = others if is_adjusted or name == "score" else []
            ways = [headings, *([heading, each] for heading in headings for each in wholes)]
            found = next(filter(None, map(self.shapes.sum_of, ways)), None)
            if found is not None:
                own, whole, more = found
                before, after = (self.texts(each).cast(pl.Float64, strict=False).sum() for each in (own, whole))
                if name == "score" and "score" not in self.named and before > after:
                    choices = Choice("more", "columns.score", whole), Choice("less", "columns.position", whole)
                    self.ask(Question(f"is {own} less {more}; is more of it better, or less", choices, whole))
                candidates[name] = [whole]
                self.asides[own] = f"without {more}"
                self.taken.add(more)
                self.words.append(f"{whole} as {own} with {more}")

    def has_words(self, heading: str) -> bool:
        """Whether a column may have names: some first cell has a letter, and no time or status."""
        cells = self.texts(heading).head(LOOKED_AT).unique()
        return any(not times.status_word(each) for each in cells.filter(cells.str.contains(r"\p{L}{2}")))

    def part_events(self, chosen: dict[str, str], unknown: Sequence[str]) -> None:
        """Tell events of one name apart by days or years, and by classes that each have a first; ask by what else."""
        if "player" not in chosen or chosen.keys().isdisjoint({"event_id", "started_at"}):
            return
        rows = [chosen[each] for each in ("event_id", "heat", "player") if each in chosen]
        if "event_id" in chosen and self.stand_again(rows, MOST_LOOKED_AT):
            years = [each for each in unknown if fold(each) in heads.YEARS]
            days = [chosen[each] for each in ("started_at",) if each in chosen]
            titles = [TITLE] if TITLE in self.grid.frame.columns else []
            may_part = *days, *years, *titles, *unknown
            parting = [each for each in may_part if not self.stand_again([*rows, each])]
            if parting and parting[0] == TITLE:
                self.event = f"{{title}} {{{chosen['event_id']}}}"
            elif parting and parting[0] in days + years:
                self.event = f"{{{parting[0]}}} {{{chosen['event_id']}}}"
                self.words.append(f"{parting[0]} and {chosen['event_id']} as the event")
            elif parting:
                named = {f"{each} and {rows[0]}": f"{{{each}}} {{{rows[0]}}}" for each in parting}
                choices = [Choice(meaning, "columns.event_id", event) for meaning, event in named.items()]
                text = "names events in which players stand again; what names them"
                self.ask(Question(text, tuple(choices), rows[0]))
        event = chosen.get("event_id") or chosen["started_at"]
        classes = [each for each in unknown if fold(each) in heads.CLASSES]
        if classes and "position" in chosen and "heat" not in chosen:
            ways = [[event], *([event, each] for each in classes)]
            found = next((way for way in ways if self.shapes.are_ranks(chosen["position"], way)), [event])
            chosen |= dict(zip(("heat",), found[1:], strict=False))

    def leave_clubs(self, chosen: dict[str, str]) -> None:
        """Leave aside teams that are no sides, as where two of one club share a place that counts each of them."""
        event = [chosen[each] for each in ("event_id", "heat") if each in chosen]
        if self.members and "team" in chosen and self.stand_again([*event, chosen["team"]]):
            self.asides[chosen.pop("team")] = "clubs, of which some have several teams"
        by = next((each for each in ("position", "time_s") if each in chosen), "")
        if not by or not {"team", "player"} <= chosen.keys():
            return
        apart = (each for each in (SHEET, TITLE) if each in self.grid.frame.columns and not event)
        event += [each for each in apart if self.grid.frame[each].null_count() == 0]
        sides = self.grid.frame.select(*event, chosen["team"], chosen[by]).drop_nulls()
        if not sides.is_duplicated().any():
            return
        if by == "time_s":
            are_clubs = sides.unique().drop(chosen[by]).is_duplicated().any()
        else:
            are_clubs = sides.drop(chosen[by]).is_unique().any() and self.shapes.are_ranks(chosen[by], event)
        if are_clubs:
            what = "place" if by == "position" else "time"
            self.asides[chosen.pop("team")] = f"clubs, of whose members each has a {what}"

    def ask_what_numbers(self, chosen: Mapping[str, str], unknown: Sequence[str]) -> None:
        """Ask where what may number the lines decides against the order of times or points."""
        place = chosen.get("position")
        totals = filter(is_total, (*self.asides, *unknown))
        against = chosen.get("time_s") or chosen.get("score") or next(totals, None)
        if place is None or against is None or fold(place) != "#" or "position" in self.named:
            return
        steps = self.steps(against, chosen, place)
        if (steps > 0).any() and (steps < 0).any():
            choices = [Choice(f"{place} has places", "columns.position", place)]
            choices += [Choice(f"{place} numbers the lines", "source.aside", place)]
            self.ask(Question(f"may be places or number the lines: {against} has another order", tuple(choices), place))

    def ask_what_times(self, chosen: dict[str, str], unknown: Sequence[str]) -> None:
        """Ask where times may not say who beat whom: beside distances, or as times of day beside when each started."""
        time = chosen.get("time_s")
        if time is None or "position" in chosen or not {"time_s", "position", "score"}.isdisjoint(self.named):
            return
        for other in (each for each in (*unknown, *self.asides) if each not in self.taken):
            is_clock = self.texts(other).str.contains(":").any()
            words = {*fold(other).replace("km_h", "").split("_")}
            is_far, is_added = bool(words & heads.DISTANCES), not words.isdisjoint(heads.PENALTY)
            may_count = is_far or is_added or (is_total(other) and not is_clock) or words & heads.BESIDE_TIMES
            if may_count and self.varies(other, chosen.get("event_id")) and (is_far or self.is_against(other, chosen)):
                choices = [Choice(f"{time} does", "source.aside", other)]
                for way, key in (("more", "columns.score"), ("less", "columns.position")) if not is_added else ():
                    choices.append(Choice(f"{other} does, the {way} the better", key, other))
                which = f"{time} alone say who beat whom" if is_added else f"{time} say who beat whom, or {other}"
                self.ask(Question(f"differs within an event; does {which}", tuple(choices), other))
                break
        start = next((each for each in self.grid.headings if fold(each) in heads.STARTS), None)
        if start and self.texts(start).str.contains(":").all() and self.varies(start, chosen.get("event_id")):
            since = [each for each in unknown if (self.shapes.sum_of([each, time]) or ("",) * 3)[2] == start]
            if since:
                chosen["time_s"] = since[0]
                self.asides[time] = f"with {start}"
            else:
                choices = [Choice("not of day: they count", "source.aside", start)]
                self.ask(Question(f"says who started when, so {time} may be a time of day", tuple(choices), start))

    def is_against(self, heading: str, chosen: Mapping[str, str]) -> bool:
        """Whether some whom times put first have fewer points, or more of what is better the less."""
        steps = self.steps(heading, chosen, chosen["time_s"])
        return bool(((steps > 0) if is_total(heading) else (steps < 0)).any())

    def steps(self, heading: str, chosen: Mapping[str, str], place: str | None = None) -> pl.Series:
        """What numbers or times add from one to the next in each event, by places, by times or as the rows stand."""
        events = [chosen[each] for each in ("event_id", "heat") if each in chosen]
        values = times.parse_column(self.shapes.texts(heading), decimal=".,")
        signed = pl.when(pl.col("sign") == "-").then(-pl.col("seconds")).otherwise("seconds").alias("\0value")
        rows = pl.Series(range(values.height), dtype=pl.Float64)
        if place is not None:
            by = self.shapes.texts(place)
            rows = times.parse_column(by, decimal=".,")["seconds"] if place == chosen.get("time_s") else placed(by)
        columns = [*map(self.grid.frame.get_column, events), rows.alias("\0row"), *values.select(signed)]
        table = pl.DataFrame(columns).drop_nulls(["\0row", "\0value"]).sort(*events, "\0row")
        step = pl.col("\0value").diff()
        steps = table.select(step.over(events) if events else step)
        return steps.to_series().drop_nulls()

    def stand_again(self, names: Sequence[str], most: int | None = None) -> bool:
        """Whether some rows have the same in all columns; only the first are looked at where the table is long."""
        return bool(self.grid.frame.select(names).head(most or self.grid.frame.height).is_duplicated().any())

    def take_what_compares(self, chosen: dict[str, str], unknown: Sequence[str]) -> None:
        """Take points that the rows of all events have most first, or places that they have in order."""
        for heading in dict.fromkeys((*self.asides, *filter(is_total, unknown))):
            steps, is_sum = self.steps(heading, chosen), is_total(heading)
            if (steps == 0).all() or (is_sum and steps.len() < LEAST_STEPS):
                continue
            are_places = (steps >= 0).all() and self.shapes.are_places(heading, chosen)
            if are_places or (is_sum and (steps <= 0).all()):
                chosen["position" if are_places else "score"] = heading
                self.asides.pop(heading, None)
                break

    def candidates(self) -> tuple[dict[str, list[str]], list[str]]:
        """The headings that may be of each results column, and those that mean none."""
        found: dict[str, list[str]] = {}
        for heading in (each for each in self.grid.headings if each not in self.taken):
            column = self.shapes.meaning_of(heading)
            if column == "player" and heading.startswith("^"):  # the name of what the rows stand in
                column = "event_id"
            if column in ("started_at", "time_s") and not self.fits(column, heading):
                column = heads.OTHERWISE.get(fold(heading), "") if self.texts(heading).len() else ""
            if column not in {*self.given, *self.named} and (not column or self.fits(column, heading)):
                found.setdefault(column, []).append(heading)
        unknown = found.pop("", [])
        weak = {each for headings in found.values() for each in headings if fold(each) in heads.WEAK}
        strong = {column: [each for each in headings if each not in weak] for column, headings in found.items()}
        return {column: strong[column] or headings for column, headings in found.items()}, unknown

    def ask_what_is_near(self, unknown: list[str], chosen: Mapping[str, str]) -> None:
        """Ask whether headings that are but a slip away from a known one mean that."""
        columns = meanings()
        words = [name for name in ALL if not name.endswith("_s")]
        words += [word for word, column in columns.items() if column not in chosen and word not in heads.WEAK]
        known = {*heads.LAPS_WORDS, *columns, *sides()}
        for heading in (each for each in unknown if fold(each) not in known):
            if self.texts(heading).str.starts_with("[").any():  # a list
                continue
            near = near_miss(heading, words) if len(self.faults) <= SHOWN_FAULTS else None  # it is refused anyway
            own = columns.get(fold(heading).partition("_")[0], "")  # as of Time (min), which is no slip of Time in
            if near is not None and columns.get(near) != own:
                yes, no = (f"columns.{columns.get(near, near)}", "source.aside")
                choices = Choice("yes", yes, heading), Choice("no: leave it aside", no, heading)
                self.ask(Question(f"is nearly {near}: write it so, or give it another name", choices, heading))

    def are_of_events(self, heading: str, chosen: Mapping[str, str]) -> bool:
        """Whether days are those of events: one in each event, or where nothing names these, a first place on each."""
        if "event_id" in chosen:
            return not self.varies(heading, chosen["event_id"])
        if "position" not in chosen or "event_id" in self.given:
            return False
        places = placed(self.shapes.texts(chosen["position"]))
        table = pl.DataFrame({"day": self.shapes.texts(heading), "place": places})
        return bool(table.select((pl.col("place").min().over("day") == 1).all()).item())

    def varies(self, heading: str, event_heading: str | None) -> bool:
        """Whether one event has several values of a column, or a table without a column of events has."""
        if event_heading is None:
            return self.texts(heading).n_unique() > 1
        if event_heading not in self.grid.frame.columns:
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
            choices = [Choice(each, f"columns.{column}", each) for each in (headings[0], *different)]
            self.ask(Question(f"{names} may each be {column}: rename the one that is", tuple(choices)))
        return headings[0]

    def fits(self, column: str, heading: str) -> bool:
        """Whether a column has anything of what its heading says, where that has other meanings too."""
        texts = self.texts(heading)
        if column == "status" and self.codes(heading):
            return True
        if column in TRUTHS:
            return texts.str.contains("(?i)^(?:true|false|0|1)$").all()
        if column not in ("position", "time_s", "started_at", "status") or fold(heading) == column:
            return True
        if column == "started_at":
            return not texts.len() or bool(texts.head(LOOKED_AT).str.contains(r"\d").any())
        words = texts.unique().to_list()
        plain = [each for each in words if times.status_word(each) is None and not times.is_lapped(each)]
        is_doubtful = fold(heading) in heads.DOUBTFUL and all(map(PLAIN_NUMBER.fullmatch, plain))
        if column == "position":
            events = [each for each in (self.shapes.first("event_id"),) if each]
            if is_doubtful and plain and not self.shapes.are_ranks(heading, events):
                self.asides[heading] = DOUBT
                return False
            return not plain or placed(pl.Series(plain)).null_count() < len(plain)
        if column == "status" and (not plain or any(map(str.isalpha, "".join(plain)))):
            return fold(heading) not in heads.DOUBTFUL or bool(status_words(words))
        if column == "status" or is_doubtful:
            self.asides[heading] = DOUBT
            return False
        return not plain or any(times.parse(each, decimal=mark) for mark in ".," for each in plain[:1000])

    def codes(self, heading: str) -> dict[str, str]:
        """What numbers of a program say of entrants, where a column has its head and no others."""
        known: dict[str, str] = heads.CODES.get(fold(heading), {})
        return known if {*self.texts(heading)} <= known.keys() else {}

    def open_headings(self) -> list[str]:
        """The columns that nothing is made of yet."""
        return [each for each in self.grid.headings if each not in self.taken | {*self.chosen.values()}]
