"""Find the meaning of each column in a sheet, from its heading and cells, or ask about it."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from podium.errors import SHOWN_FAULTS
from podium.importers import times
from podium.importers.grid import SHEET, TITLE, Choice
from podium.importers.tables.applying import outcome_points, status_words
from podium.importers.tables.cells import TINY, placed
from podium.importers.tables.sheet import Sheet, are_ranks, day_column
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.columns import ALL, FOR_PAGES, TRUTHS
from podium.results.headings import fold, is_total, meanings, near_miss, sides

ROWS_FOR_REPEATS = 10_000  # number of rows to search for repeated players
DOUBT = "numbers, which may be seconds, places or points"
PLAIN_NUMBER = re.compile(r"[+-]?[\d\s.,]+")  # excludes clock times
LEAST_STEPS = 3  # number of steps between rows that prove an order
SAMPLE_CELLS = 1000  # number of cells to examine in an unknown column


class Columns(NamedTuple):
    """The meaning of each column in a sheet, as far as it is known, and the reasons."""

    chosen: Mapping[str, str]  # heading for each results column
    asides: Mapping[str, str]  # reason for each ignored heading
    unknown: Sequence[str]  # headings without a meaning so far
    used: frozenset[str]  # headings that other rules use
    notes: tuple[str, ...] = ()  # notes about how the table was read
    points: Mapping[str, float] = {}  # points for each word in place of a score
    rules: Mapping[str, Any] = {}  # rule for each results column, as in a map; None if it is ignored

    def known(self, sheet: Sheet) -> set[str]:
        """Return the results columns that have a heading or a rule."""
        return {*self.chosen, *self.rules, *sheet.given}

    def make(self, rules: Mapping[str, Any], *notes: str) -> "Columns":
        return self._replace(rules={**self.rules, **rules}, notes=(*self.notes, *filter(None, notes)))

    def take(self, column: str, heading: str) -> "Columns":
        asides = {name: why for name, why in self.asides.items() if name != heading}
        return self._replace(chosen={**self.chosen, column: heading}, asides=asides)

    def leave(self, column: str, why: str) -> "Columns":
        chosen = {name: heading for name, heading in self.chosen.items() if name != column}
        return self._replace(chosen=chosen, asides={**self.asides, self.chosen[column]: why})

    def headings(self, *columns: str) -> list[str]:
        """Return the chosen headings for these results columns."""
        return [self.chosen[column] for column in columns if column in self.chosen]

    def open(self, sheet: Sheet) -> list[str]:
        """Return the headings that have not been used yet."""
        return sheet.others(*self.used, *self.chosen.values())


def choose_columns(sheet: Sheet) -> Columns:
    """Choose the heading for each results column. If several are possible, ask."""
    found, columns = candidates(sheet)
    several = found.get("time_s", [])
    if "position" in found and len(several) > 1:
        columns = columns._replace(
            asides={**columns.asides, **dict.fromkeys(several, "one of several times; the places decide")}
        )
        found["time_s"] = several[:1]
    for name in ("time_s", "score"):
        if name in found:
            found[name], columns = take_sum(sheet, name, found[name], columns)
    chosen = {column: decide(sheet, column, headings) for column, headings in found.items()}
    chosen |= sheet.named
    bases = [re.sub(r"\d+", "", heading) for heading in columns.unknown]  # columns of members, such as Leg 1 and Leg 2
    others = (
        heading
        for heading, base in zip(columns.unknown, bases, strict=True)
        if base == heading or bases.count(base) == 1
    )
    if (
        "team" in chosen
        and "player" not in chosen.keys() | sheet.given
        and not any(has_words(sheet, h) for h in others)
    ):
        chosen["player"] = chosen.pop("team")
    columns = take_outcomes(sheet, columns._replace(chosen=chosen))
    columns = leave_clubs(sheet, split_events(sheet, columns))
    is_of_events = "event_id" in columns.chosen or sheet.title_dates.len() > 0
    if is_of_events and columns.known(sheet).isdisjoint(COMPARED):
        columns = take_what_compares(sheet, columns)
    ask_what_numbers(sheet, columns)
    columns = ask_what_times(sheet, columns)
    for column in (*FOR_PAGES, *(["weight"] if columns.chosen.get("weight") != "weight" else [])):
        if column in columns.chosen and varies(sheet, columns.chosen[column], columns.chosen.get("event_id")):
            columns = columns.leave(column, "several values in one event")
    days = day_column(sheet, columns.unknown)
    if days and "started_at" not in columns.known(sheet) and are_of_events(sheet, days, columns):
        columns = columns.take("started_at", days)
    ask_what_is_near(sheet, columns)
    return columns._replace(chosen={name: columns.chosen[name] for name in ALL if name in columns.chosen})


def candidates(sheet: Sheet) -> tuple[dict[str, list[str]], Columns]:
    """Return the possible headings for each results column, and the columns with other headings."""
    found, asides = dict[str, list[str]](), dict[str, str]()
    for heading in sheet.others(*sheet.used):
        column = sheet.meaning(heading)
        if column == "player" and heading.startswith("^"):  # name of the object around the rows
            column = "event_id"
        why = misfit(sheet, column, heading) if column in ("started_at", "time_s") else None
        if why is not None:
            asides |= {heading: why} if why else {}
            column = heads.OTHERWISE.get(fold(heading), "") if sheet.cells(heading).len() else ""
        if column in sheet.given or column in sheet.named:
            continue
        why = misfit(sheet, column, heading) if column else None
        if why is None:
            found.setdefault(column, []).append(heading)
        elif why:
            asides[heading] = why
    columns = Columns({}, asides, found.pop("", []), frozenset(sheet.used))
    return {name: [*filter(evidence, headings)] or headings for name, headings in found.items()}, columns


def misfit(sheet: Sheet, column: str, heading: str) -> str | None:
    """Return None if a column's cells fit its heading's meaning.

    Otherwise, return the reason for doubt, or an empty string.
    """
    word, texts = fold(heading), sheet.cells(heading)
    if column == "status" and codes(sheet, heading):
        return None
    if column in (*TRUTHS, "handicap"):
        return None if texts.str.contains("(?i)^(?:true|false|0|1)$").all() else ""
    if column not in ("position", "time_s", "started_at", "status") or word == column:
        return None
    if column == "started_at":
        return None if not texts.len() or texts.head(SAMPLE_CELLS).str.contains(r"\d").any() else ""
    words = texts.unique().to_list()
    plain = [word for word in words if times.status_word(word) is None and not times.is_lapped(word)]
    is_doubtful = word in heads.DOUBTFUL and all(map(PLAIN_NUMBER.fullmatch, plain))
    if column == "position":
        event = sheet.first("event_id", "started_at")
        if is_doubtful and plain and not are_ranks(sheet, heading, [event] if event else []):
            return DOUBT
        return None if not plain or placed(pl.Series(plain)).null_count() < len(plain) else ""
    if column == "status" and (not plain or any(map(str.isalpha, "".join(plain)))):
        return None if word not in heads.DOUBTFUL or status_words(words) else ""
    if column == "status" or is_doubtful:
        return DOUBT
    cells = plain[:SAMPLE_CELLS]
    return None if not plain or any(times.parse(cell, decimal=mark) for mark in ".," for cell in cells) else ""


def codes(sheet: Sheet, heading: str) -> dict[str, str]:
    """Return the statuses for a program's codes, if a column has the right heading and only known codes."""
    known: dict[str, str] = heads.CODES.get(fold(heading), {})
    return known if {*sheet.cells(heading)} <= known.keys() else {}


def evidence(heading: str) -> int:
    """Return a heading's certainty: 3 for the column's name, less for its word, other words and ambiguous words."""
    word = fold(heading)
    return 3 if heading in ALL else 2 if word in ALL else 0 if word in heads.WEAK else 1


def decide(sheet: Sheet, column: str, headings: Sequence[str]) -> str:
    """Return the most certain heading for a results column. If equally certain ones have different cells, ask.

    Two names of the same events, such as a race and its number, are not different.
    """
    most = max(map(evidence, headings))
    first, *others = (heading for heading in headings if evidence(heading) == most)
    rivals = [first]
    for other in others:
        one, pair = sheet.frame[first], sheet.frame.select(first, other)
        are_named_alike = column == "event_id" and one.n_unique() == pair.n_unique() == pair[other].n_unique()
        if not (are_named_alike or pair[other].equals(one, null_equal=True)):
            rivals.append(other)
    if len(rivals) > 1:
        choices = tuple(Choice(rival, f"columns.{column}", rival) for rival in rivals)
        sheet.ask(f"{' and '.join(map(repr, rivals))} may each be {column}. Which is it?", choices)
    return first


def sum_of(sheet: Sheet, headings: Sequence[str]) -> tuple[str, str, str] | None:
    """Return a time, a total, and the column with their difference, if there are such columns."""
    if len(headings) != 2:  # noqa: PLR2004
        return None
    texts = {heading: sheet.texts(heading).str.replace(",", ".", literal=True) for heading in sheet.headings}
    seconds = {heading: times.parse_column(own)["seconds"] for heading, own in texts.items()}
    for own, whole in (headings, headings[::-1]):
        steps = seconds[whole] - seconds[own]
        for more in sheet.others(*headings):
            added = seconds[more].fill_null(0.0).set(steps.is_null(), None)
            is_sum = any(((steps - sign * added).abs() < TINY).all() for sign in (1, -1))
            if is_sum and steps.count() > 1 and added.sum():
                return own, whole, more
    return None


def take_sum(sheet: Sheet, name: str, headings: list[str], columns: Columns) -> tuple[list[str], Columns]:
    """Return the time or score column that already includes another column, such as a penalty, or None."""
    is_adjusted = bool(sheet.under(heads.PENALTY))
    others = [heading for heading in (*columns.asides, *columns.unknown) if is_adjusted or is_total(heading)]
    wholes = (
        [heading for heading in others if fold(heading) not in heads.PENALTY] if is_adjusted or name == "score" else []
    )
    ways = [headings, *([heading, total] for heading in headings for total in wholes)]
    found = next(filter(None, (sum_of(sheet, way) for way in ways)), None)
    if found is None:
        return headings, columns
    own, whole, more = found
    before, after = (sheet.cells(heading).cast(pl.Float64, strict=False).sum() for heading in (own, whole))
    if name == "score" and "score" not in sheet.named and before > after:
        choices = Choice("more", "columns.score", whole), Choice("less", "columns.position", whole)
        sheet.ask(f"is {own} minus {more}. Is a higher value better, or a lower one?", choices, whole)
    return [whole], columns._replace(
        asides={**columns.asides, own: f"without {more}"},
        used=columns.used | {more},
        notes=(*columns.notes, f"{whole} as {own} with {more}"),
    )


def has_words(sheet: Sheet, heading: str) -> bool:
    """Return True if a column may contain names: a cell near the top has letters, but is not a time or status."""
    cells = sheet.cells(heading).head(SAMPLE_CELLS).unique()
    return any(not times.status_word(cell) for cell in cells.filter(cells.str.contains(r"\p{L}{2}")))


def take_outcomes(sheet: Sheet, columns: Columns) -> Columns:
    """Treat words for wins and losses as points, even if the column's heading could also mean a status."""
    chosen, flag = columns.chosen, sheet.first_under(heads.WON)
    heading, table = (chosen["status"], heads.OUTCOMES) if "status" in chosen else (flag, heads.FLAGS)
    if heading is None or (heading == flag and flag in chosen.values()):
        return columns
    points = outcome_points(sheet.cells(heading).unique(maintain_order=True), table)
    if not points:
        return columns
    columns = columns._replace(points=points, chosen={name: own for name, own in chosen.items() if name != "status"})
    name = "team_score" if "team" in chosen else "score"
    if name == "score" and not chosen.keys().isdisjoint({"position", "time_s"}):
        return columns
    columns = columns.leave(name, f"{heading} says who won") if name in chosen else columns
    return columns.take(name, heading)


def split_events(sheet: Sheet, columns: Columns) -> Columns:
    """Divide events that share a name by days, years or classes, if each part has a first place.

    Ask about other columns.
    """
    chosen = columns.chosen
    if "player" not in chosen or chosen.keys().isdisjoint({"event_id", "started_at"}):
        return columns
    rows = columns.headings("event_id", "heat", "player")
    if "event_id" in chosen and sheet.repeats(rows, ROWS_FOR_REPEATS):
        dates = columns.headings("started_at") + [
            heading for heading in columns.unknown if fold(heading) in heads.YEARS
        ]
        titles = [TITLE] if TITLE in sheet.frame.columns else []
        apart = [heading for heading in (*dates, *titles, *columns.unknown) if not sheet.repeats([*rows, heading])]
        templates = {f"{heading} and {rows[0]}": f"{{{heading}}} {{{rows[0]}}}" for heading in apart}
        if apart and apart[0] == TITLE:
            columns = columns.make({"event_id": f"{{title}} {{{rows[0]}}}"})
        elif apart and apart[0] in dates:
            rule = {"event_id": next(iter(templates.values()))}
            columns = columns.make(rule, f"{apart[0]} and {rows[0]} as the event")
        elif apart:
            choices = tuple(Choice(meaning, "columns.event_id", event) for meaning, event in templates.items())
            sheet.ask(
                "identifies events in which players appear more than once. Which column identifies an event?",
                choices,
                rows[0],
            )
    classes = [heading for heading in columns.unknown if fold(heading) in heads.CLASSES]
    if "position" in chosen and "heat" not in chosen:
        event = columns.headings("event_id", "started_at")[:1]
        ways = (event, *([*event, heading] for heading in classes))
        found = next((way for way in ways if are_ranks(sheet, chosen["position"], way)), event) if classes else event
        columns = columns._replace(chosen={**chosen, "heat": found[1]}) if len(found) > 1 else columns
    return columns


def leave_clubs(sheet: Sheet, columns: Columns) -> Columns:
    """Ignore teams that are not sides, such as clubs with several placed members."""
    event = columns.headings("event_id", "heat")
    if sheet.has_members and "team" in columns.chosen and sheet.repeats([*event, columns.chosen["team"]]):
        columns = columns.leave("team", "clubs, some with several teams")
    by = next((name for name in ("position", "time_s") if name in columns.chosen), "")
    if not by or not {"team", "player"} <= columns.chosen.keys():
        return columns
    team, decides = columns.headings("team", by)
    apart = (column for column in (SHEET, TITLE) if column in sheet.frame.columns and not event)
    event += [column for column in apart if sheet.frame[column].null_count() == 0]
    teams = sheet.frame.select(*event, team, decides).drop_nulls()
    if not teams.is_duplicated().any():
        return columns
    if by == "time_s":
        are_clubs = teams.unique().drop(decides).is_duplicated().any()
    else:
        are_clubs = teams.drop(decides).is_unique().any() and are_ranks(sheet, decides, event)
    what = "place" if by == "position" else "time"
    return columns.leave("team", f"clubs; each member has a {what}") if are_clubs else columns


def ask_what_numbers(sheet: Sheet, columns: Columns) -> None:
    """Ask about a column of places or line numbers that contradicts the order of times or points."""
    place = columns.chosen.get("position")
    totals = filter(is_total, (*columns.asides, *columns.unknown))
    against = next(iter((*columns.headings("time_s", "score"), *totals)), None)
    if place is None or against is None or fold(place) != "#" or "position" in sheet.named:
        return
    steps = steps_of(sheet, against, columns, place)
    if (steps > 0).any() and (steps < 0).any():
        choices = (
            Choice(f"{place} has places", "columns.position", place),
            Choice(f"{place} counts the lines", "source.aside", place),
        )
        sheet.ask(f"may hold places or line numbers. {against} has a different order", choices, place)


def ask_what_times(sheet: Sheet, columns: Columns) -> Columns:
    """Ask whether times decide the order, if there are distances or if they may be times of day."""
    time, event = columns.chosen.get("time_s"), columns.chosen.get("event_id")
    if time is None or "position" in columns.chosen or not {"time_s", "position", "score"}.isdisjoint(sheet.named):
        return columns
    for other in (heading for heading in (*columns.unknown, *columns.asides) if heading not in columns.used):
        words = {*fold(other).replace("km_h", "").split("_")}
        is_far, is_added = bool(words & heads.DISTANCES), not words.isdisjoint(heads.PENALTY)
        may_count = is_far or is_added or bool(words & heads.BESIDE_TIMES)
        may_count = may_count or (is_total(other) and not sheet.has(other, ":"))
        if may_count and varies(sheet, other, event) and (is_far or is_against(sheet, other, columns)):
            ways = () if is_added else (("more", "columns.score"), ("less", "columns.position"))
            choices = [Choice(f"if {other} does, {way} is better", key, other) for way, key in ways]
            which = f"{time} decide alone" if is_added else f"{time} decide, or {other}"
            text = f"differs within an event. Does {which}?"
            sheet.ask(text, (Choice(f"{time} does", "source.aside", other), *choices), other)
            break
    start = sheet.first_under(heads.STARTS)
    if not start or not sheet.texts(start).str.contains(":").all() or not varies(sheet, start, event):
        return columns
    sums = {heading: sum_of(sheet, [heading, time]) for heading in columns.unknown}
    since = next((heading for heading, found in sums.items() if found and found[2] == start), None)
    if since is not None:
        return columns.leave("time_s", f"with {start}").take("time_s", since)
    choice = Choice("no: they count", "source.aside", start)
    sheet.ask(f"has starting times. Is {time} a time of day?", (choice,), start)
    return columns


def is_against(sheet: Sheet, heading: str, columns: Columns) -> bool:
    """Return True if a column contradicts the times: a better time has fewer points (or more, if less is better)."""
    steps = steps_of(sheet, heading, columns, columns.chosen["time_s"])
    return bool(((steps > 0) if is_total(heading) else (steps < 0)).any())


def steps_of(sheet: Sheet, heading: str, columns: Columns, place: str | None = None) -> pl.Series:
    """Return the differences between neighbours in each event, in the order of places, times or rows."""
    events = columns.headings("event_id", "heat")
    values = times.parse_column(sheet.texts(heading), decimal=".,")
    signed = pl.when(pl.col("sign") == "-").then(-pl.col("seconds")).otherwise("seconds").alias("\0value")
    rows = pl.Series(range(values.height), dtype=pl.Float64)
    if place is not None:
        by, is_time = sheet.texts(place), place == columns.chosen.get("time_s")
        rows = times.parse_column(by, decimal=".,")["seconds"] if is_time else placed(by)
    series = [*map(sheet.frame.get_column, events), rows.alias("\0row"), *values.select(signed)]
    table = pl.DataFrame(series).drop_nulls(["\0row", "\0value"]).sort(*events, "\0row")
    step = pl.col("\0value").diff()
    return table.select(step.over(events) if events else step).to_series().drop_nulls()


def take_what_compares(sheet: Sheet, columns: Columns) -> Columns:
    """Use points if each event's rows begin with the highest, or places if they are in order."""
    for heading in dict.fromkeys((*columns.asides, *filter(is_total, columns.unknown))):
        steps, is_sum = steps_of(sheet, heading, columns), is_total(heading)
        if (steps == 0).all() or (is_sum and steps.len() < LEAST_STEPS):
            continue
        if (steps >= 0).all() and are_places(sheet, heading, columns):
            return columns.take("position", heading)
        if is_sum and (steps <= 0).all():
            return columns.take("score", heading)
    return columns


def are_places(sheet: Sheet, heading: str, columns: Columns) -> bool:
    """Return True if numbers are certainly places. They count the better entrants, up to 3 or next to a DNF."""
    if not are_ranks(sheet, heading, columns.headings("event_id")):
        return False
    places = placed(sheet.cells(heading))
    return bool((places > 2).any() or places.null_count())  # noqa: PLR2004


def ask_what_is_near(sheet: Sheet, columns: Columns) -> None:
    """Ask about headings that may be misspelt."""
    meant = meanings()
    words = [name for name in ALL if not name.endswith("_s")]
    words += [word for word, column in meant.items() if column not in columns.chosen and word not in heads.WEAK]
    known = {*heads.LAPS_WORDS, *meant, *sides()}
    others = (heading for heading in columns.open(sheet) if heading in columns.unknown and fold(heading) not in known)
    plain = (other for other in others if not sheet.texts(other).str.starts_with("[").any())  # excludes lists
    slips = ((heading, near) for heading in plain if (near := near_miss(heading, words)) is not None)
    for heading, near in islice(slips, SHOWN_FAULTS):
        own = meant.get(fold(heading).partition("_")[0], "")  # Time (min) is not a misspelling of Time in
        if meant.get(near) != own:
            yes = Choice("yes", f"columns.{meant.get(near, near)}", heading)
            no = Choice("no: ignore it", "source.aside", heading)
            sheet.ask(f"is very similar to {near}. Does it mean that?", (yes, no), heading)


def are_of_events(sheet: Sheet, heading: str, columns: Columns) -> bool:
    """Return True if each event has a single day. Without names of events, each day must have a first place."""
    if "event_id" in columns.chosen:
        return not varies(sheet, heading, columns.chosen["event_id"])
    if "position" not in columns.chosen or "event_id" in sheet.given:
        return False
    places = placed(sheet.texts(columns.chosen["position"]))
    table = pl.DataFrame({"day": sheet.texts(heading), "place": places})
    return bool(table.select((pl.col("place").min().over("day") == 1).all()).item())


def varies(sheet: Sheet, heading: str, event: str | None) -> bool:
    """Return True if a column has several values within an event, or within a table of one event."""
    if event is None:
        return sheet.cells(heading).n_unique() > 1
    if event not in sheet.frame.columns:
        return False
    values = sheet.frame.select(pl.col(event).alias("event"), pl.col(heading).alias("value")).drop_nulls().unique()
    return bool(values["event"].is_duplicated().any())
