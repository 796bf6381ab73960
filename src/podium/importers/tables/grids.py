"""The layouts of a grid.

Its cells, at the intersection of lines and columns, contain places, games, results or names.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter

import polars as pl

from podium.errors import ResultsError
from podium.importers import times
from podium.importers.grid import Choice, are_days, ignoring
from podium.importers.tables.applying import apply_map
from podium.importers.tables.cells import DIAGONAL, are_winnings, is_result, number, parse_result, placed
from podium.importers.tables.crosstables import BY_ORDER, GAME, game_text
from podium.importers.tables.maps import build_map
from podium.importers.tables.matches import matches
from podium.importers.tables.sheet import (
    COMMA,
    UNPLAYED,
    Document,
    Sheet,
    are_ranks,
    mates_rule,
    numbers_of,
    pair_rule,
    sums_up,
)
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.headings import fold, is_round, is_total, known_column, sides

MAX_LINES = 10_000  # maximum number of lines in a grid
LEAST_PLACES = 3  # minimum number of columns with places as headings
MAX_TIMES_APART = 10  # maximum ratio of the longest time in an event to the shortest


def find_layout(sheet: Sheet) -> Document | None:
    """Return the map of a layout, without dates, or None if each row is an entrant."""
    of_column = sheet.of_column
    if sheet.has_members or {"event_id", "player"} <= sheet.given.keys() | sheet.named.keys():
        return None
    if sheet.frame.height == 1 and (found := places_across(sheet)):
        return found
    if {"event_id", "player"} <= of_column.keys() and of_column.keys() & {"position", "time_s"}:
        return None
    player = player_column(sheet)
    layouts = [places_across, places_down, matches, players_across, crosstable, rounds]
    if not 1 < sheet.frame.height <= MAX_LINES:
        layouts = [matches]
    elif player is not None and ("position" in of_column or not sheet.is_unknown(player)):
        layouts = [matches, crosstable, rounds]
    for layout in layouts:
        if found := layout(sheet):
            return found
    return None


def player_column(sheet: Sheet) -> str | None:
    """Return the column of players.

    It is the first column if the other headings are its cells or its line numbers.
    """
    known = sheet.first("player", "team")
    first, *others = sheet.headings or [""]
    if known is not None or not others:
        return known
    cells = {*sheet.cells(first)}
    counts = [str(line) for line in range(1, sheet.frame.height + 1)]
    is_numbered = {*counts} <= {*others} and is_diagonal(sheet, counts)
    return first if len(cells) > 1 and (cells <= {*others} or is_numbered) else None


def matrix(sheet: Sheet, rows: str | None, cells: Sequence[str], columns: Document, reason: str) -> Document:
    """Return the map of a grid: the column with the names of its lines, and its cells, except unplayed games."""
    layout: Document = {"kind": "matrix", "except": sheet.others(rows, *cells)}
    layout |= {} if rows is None else {"rows": rows}
    return {"layout": layout, **without(sheet, cells, UNPLAYED, reason), "columns": columns}


def without(sheet: Sheet, headings: Sequence[str], pattern: str, reason: str) -> Document:
    """Return the condition that drops cells with a pattern, if there are such cells."""
    found = sheet.cells(*headings).str.contains(pattern).any()
    return {"where": {"drop": [{"column": "cell", "matches": pattern, "reason": reason}]}} if found else {}


def places_across(sheet: Sheet) -> Document | None:
    """Return the map for one event per row, with places as columns and names in the cells."""
    words = (heading.split() for heading in sheet.headings)
    bare = [" ".join(word for word in own if known_column(word) != "position") for own in words]
    read = zip(sheet.headings, placed(pl.Series(bare, dtype=pl.String)), strict=True)
    places = {heading: place or heads.PLACES.get(fold(heading) or heading, 0) for heading, place in read}
    places = {heading: int(place) for heading, place in places.items() if place}
    if len(places) < LEAST_PLACES or [*places.values()] != [*range(1, len(places) + 1)]:
        return None
    when = sheet.first("started_at") or sheet.first_under(heads.YEARS)
    both = [
        heading for heading in (when, sheet.first("event_id", "heat")) if heading is not None and heading not in places
    ]
    ways = [*([heading] for heading in reversed(both)), both]
    named = next((way for way in ways if way and not sheet.repeats(way)), both)
    if sheet.first("player", "team") or not sheet.cells(*places).str.contains(r"^\p{L}|\p{L}{2}").all():
        return None
    fallen = [heading for heading in sheet.headings if times.status_word(heading) and heading not in places]
    for heading in fallen:
        if sheet.has(heading, r"[,;&+]"):
            text = "has several names in a cell. Write each in a separate column with this heading"
            sheet.ask(text, [ignoring(heading)], heading)
    event = "{row_name}" if len(named) == 1 else " ".join(f"{{{heading}}}" for heading in named)
    columns = {
        "event_id": {"from": event or sheet.event or "{file}", "count": True},
        "player": {"from": "cell", **pair_rule(sheet, *places)},
        "position": {"from": "column", "map": places},
    }
    return matrix(sheet, named[0] if named else None, [*places, *fallen], columns, "nobody")


def places_down(sheet: Sheet) -> Document | None:
    """Return the map for one event per column, with places as lines and names that repeat in the cells."""
    place = sheet.first("position")
    events = sheet.others(place)
    are_events = all(is_of_a_round(heading) or sheet.is_unknown(heading) for heading in events)
    if place is None or len(events) <= 1 or not are_events or not are_ranks(sheet, place):
        return None
    cells = sheet.cells(*events)
    are_names = cells.str.contains(r"\p{L}").all() and not cells.str.contains(r"[:;]|\d{3}").any()
    is_once = all(sheet.cells(heading).is_unique().all() for heading in events)
    if not are_names or not is_once or cells.n_unique() == cells.len():
        return None
    position = {"from": "row_name", "as": "place"}
    columns = {"event_id": event_of_column(sheet), "player": "cell", "position": position, **dates_of(events)}
    return matrix(sheet, place, events, columns, "nobody")


def is_of_a_round(heading: str) -> bool:
    return is_round(heading) or all(are_days([heading]))


def event_of_column(sheet: Sheet) -> str:
    return f"{sheet.event} {{column}}".strip()


def dates_of(headings: Sequence[str]) -> Document:
    """Return the rule for dates, if every heading contains a date."""
    are_dated = pl.Series(headings).str.contains(times.A_DATE).all()
    return {"started_at": {"from": "{column}", "regex": [f"^.*?{times.A_DATE}.*$", "$1"]}} if are_dated else {}


def players_across(sheet: Sheet) -> Document | None:
    """Return the map for one event per row, with players as columns and results below unknown headings."""
    named = [heading for heading in (sheet.first("started_at"), sheet.first("event_id")) if heading is not None]
    unknown = (heading for heading in sheet.headings if sheet.is_unknown(heading) and not is_of_a_round(heading))
    are_results = {heading: [*map(is_result, sheet.cells(heading).unique())] for heading in unknown}
    players = [heading for heading, own in are_results.items() if any(own)]
    players = [player for player in players if not sheet.has(player, "[€£$%]")] or players
    if (
        not named
        or len(players) <= 1
        or not all(all(are_results[player]) for player in players)
        or sheet.repeats(named)
    ):
        return None
    columns: Document = {"event_id": " ".join(f"{{{heading}}}" for heading in named), "player": "column"}
    lines = [*zip(*map(sheet.texts, players), strict=True)]
    rows = [[number(cell) for cell in line if cell] for line in lines]
    are_points = max(map(len, rows)) == 2 and any(0 in row or len({*row}) == 1 for row in rows)  # noqa: PLR2004
    if all(sorted(row) == [*range(1, len(row) + 1)] for row in rows):
        columns["position"] = {"from": "cell", "as": "place"}
    elif are_winnings(lines):
        columns["score"] = as_number(sheet, players)
    elif are_points or is_scheme(rows):
        columns["score"] = "cell"
    else:
        ask_what_cells_are(sheet, players)
    return matrix(sheet, named[0], players, columns, "no result")


def is_diagonal(sheet: Sheet, names: Sequence[str]) -> bool:
    return all(DIAGONAL.fullmatch(sheet.texts(name)[line] or "") for line, name in enumerate(names))


def crosstable(sheet: Sheet) -> Document | None:
    """Return the map of a crosstable, whose headings are the players or the numbers of their lines."""
    player = player_column(sheet)
    if player is None:
        return None
    headings, players = sheet.others(player), sheet.texts(player).to_list()
    columns = {heading: sheet.texts(heading).to_list() for heading in headings}
    if len({*players}) < len(players):
        return None
    called = next((own for own in columns.values() if {*own} <= {*headings}), [])
    numbered = [heading for heading in headings if heading.isdecimal()]
    numbered = called if len({*called}) == len(players) else numbered
    counts = [str(line) for line in range(1, len(players) + 1)]
    names = [heading for heading in headings if heading in {*players}]
    if len(names) < len(players):
        names = numbered
        if not names or names not in (counts, called) or not is_diagonal(sheet, names):
            return None
    numbers = [heading for heading in headings if heading not in names and columns[heading] == names][:1]
    layout: Document = {"kind": "crosstable", "rows": player}
    layout |= {"number": (numbers or [BY_ORDER])[0]} if names[0].isdecimal() or numbers else {}
    layout["except"] = [heading for heading in headings if heading not in (*names, *numbers)]
    rules = {"heat": "{row_name} - {column}", "score": {"from": "cell", "as": "result"}}
    columns_of = {"event_id": sheet.event or "{file}", **rules}
    return {"layout": layout, **without(sheet, names, heads.FORFEIT, "forfeit"), "columns": columns_of}


def rounds(sheet: Sheet) -> Document | None:
    """Return the map for one round per column, with players' results or the games of a Swiss list."""
    player = player_column(sheet)
    if player is None or "{column}" not in str(sheet.given.get("event_id", "{column}")):
        return None
    headings, players = sheet.others(player), sheet.texts(player)
    if not players.is_unique().all() or len({*players} & {*headings}) > 1:  # an incomplete crosstable
        return None
    totals, suffix = [heading for heading in headings if is_total(heading)], place_of_rounds(headings)
    found = [heading for heading in headings if (heading.endswith(suffix) if suffix else is_of_a_round(heading))]
    if len(found) <= 1:
        found = rounds_by_cells(sheet, headings, totals)
    of_events = {*sheet.of_column.get("event_id", ())}
    if not found or not of_events <= {*found} or are_parts(sheet, found, totals):
        return None
    aside = [heading for heading in headings if heading not in found]
    if document := swiss_list(sheet, player, found, aside):
        return document
    event = event_of_column(sheet)
    columns: Document = {"event_id": {"from": event, "regex": [f"^(.*){suffix}$", "$1"]} if suffix else event}
    by_head: Document = {"position": {"from": "cell", "as": "place"}} if suffix else {}
    columns |= by_head or meaning(sheet, found, [heading for heading in aside if is_total(heading)])
    if columns.keys().isdisjoint(COMPARED):
        ask_what_cells_are(sheet, found)
    if "time_s" in columns and {*map(fold, found)} <= heads.LEGS:
        sheet.ask(f"{', '.join(found)} are legs of one event. Add a column with total times", ())
    columns |= dates_of(found)
    if rule := mates_rule(sheet, player):
        columns["player"] = {"from": "row_name", **rule}
    return matrix(sheet, player, found, columns, "no result")


def rounds_by_cells(sheet: Sheet, headings: Sequence[str], totals: Sequence[str]) -> list[str]:
    """Return the columns of rounds, recognized by their results because their headings are different."""
    found = [heading for heading in headings if heading not in totals and sheet.is_unknown(heading)]
    found = [heading for heading in found if fold(heading) not in heads.PENALTY and has_results(sheet, heading)]
    meant = meaning(sheet, found, totals) if len(found) > 1 else {}
    whole = sheet.first("time_s")
    is_timed = whole is not None and (not is_total(whole) or sheet.has(whole, ":"))
    if whole not in (None, *found) and ("time_s" in meant or ("position" in meant and is_timed)):
        return []  # these are legs or parts of a race, or places in it
    if meant:
        return found
    is_summed = len(found) > 1 and summing(sheet, found, totals) is not None
    found = [heading for heading in found if is_summed or are_nearly_places(sheet, heading)]
    if len(found) <= 2:  # noqa: PLR2004
        return []
    ask_what_cells_are(sheet, found)
    return found


def has_results(sheet: Sheet, heading: str) -> bool:
    """Return True if a column has a result or a status, but no negative cells, which would be gaps."""
    cells = sheet.cells(heading).unique()
    is_any = any(number(own) or parse_result(own) or times.parse(own) or times.status_word(own) for own in cells)
    has_gaps = cells.str.contains(r"^[-\u2212]\d").any() and not are_winnings([sheet.texts(heading)])
    return (is_any or not cells.len()) and not has_gaps


def swiss_list(sheet: Sheet, player: str, found: Sequence[str], aside: Sequence[str]) -> Document | None:
    """Return the map of a Swiss list, using the first numbering of lines with which all games agree."""
    bare = map(game_text, sheet.cells(*found).unique())
    are_games = (GAME.fullmatch(text) and any(map(str.isalpha, text)) for text in bare)
    if all(are_ranks(sheet, heading) for heading in found) or not any(are_games):
        return None
    score = {"from": "cell", "regex": [r"\*$", ""], "as": "number"}
    columns: Document = {"event_id": event_of_column(sheet), "heat": "{pair}", "score": score}
    numbers = [heading for heading in aside if sides().get(fold(heading)) == "number"]
    refusals = list[ResultsError]()
    for name in (*numbers, *sheet.of_column.get("position", []), BY_ORDER):
        excluded = [heading for heading in aside if heading != name]
        layout = {"kind": "swiss", "rows": player, "number": name, "except": excluded}
        document = {"layout": layout, "columns": columns}
        try:
            apply_map(sheet.grid, build_map(document, sheet.grid.name))
        except ResultsError as error:
            refusals.append(error)
        else:
            return document
    raise refusals[0]


def ask_what_cells_are(sheet: Sheet, headings: Sequence[str]) -> None:
    """Ask what the cells mean, unless an answer already states it."""
    if not sheet.given.keys().isdisjoint(COMPARED):
        return
    choices = [
        Choice("points: more is better", "columns.score", "cell"),
        Choice("places, or numbers where less is better", "columns.position", "cell"),
        Choice("times", "columns.time_s", "cell"),
    ]
    if sheet.first("position") or any(map(is_total, sheet.headings)):
        choices.append(Choice("parts of one event", "columns.event_id", "{file}"))
    sheet.ask(f"what are the cells of {headings[0]}, {headings[1]} …?", choices)


def place_of_rounds(headings: Sequence[str]) -> str:
    """Return the ending of headings for rounds with places, such as " Place", or an empty string."""
    parts = (heading.rpartition(" ") for heading in headings)
    ends = [end for start, _, end in parts if start and fold(start) not in heads.STARTS]
    places = [end for end in ends if known_column(end) == "position"]
    return f" {places[0]}" if len(places) > 1 and len({*places}) == 1 else ""


def meaning(sheet: Sheet, found: Sequence[str], totals: Sequence[str]) -> Document:
    """Return the rule for the cells of rounds, if they are certainly times, places, or points with a total."""
    if not sheet.given.keys().isdisjoint(COMPARED):
        return {}
    words = [cell for cell in sheet.cells(*found).unique() if not DIAGONAL.fullmatch(cell)]
    cells = [cell for cell in words if not (times.status_word(cell) or times.is_lapped(cell))]
    are_times = all({*cell} & {*":,."} and times.parse(cell.replace(",", ".")) for cell in cells)
    are_times &= any(":" in cell for cell in cells) and not are_of_parts(sheet, found, cells)
    as_times = {"time_s": {"from": "cell", "as": "duration", "regex": COMMA}}
    if are_times and all(re.search(r"[.,]\d\d", cell) for cell in cells):
        return as_times
    if are_winnings(map(sheet.texts, found)):
        return {"score": as_number(sheet, found)}
    if (whole := summing(sheet, found, totals)) is not None:
        return summed(sheet, found, whole)
    if are_times:
        return as_times
    are_places = all(are_ranks(sheet, heading) for heading in found)
    return {"position": {"from": "cell", "as": "place"}} if are_places else {}


def summing(sheet: Sheet, found: Sequence[str], totals: Iterable[str]) -> list[float | None] | None:
    """Return the numbers of a column that adds up rounds, with or without penalties, or None without such a column."""
    sums = [*map(sum, zip(*(numbers_of(sheet, heading) for heading in found), strict=True))]
    penalties = [numbers_of(sheet, heading) for heading in sheet.under(heads.PENALTY) if heading not in found]
    added = [[0.0] * len(sums), *([sign * own for own in penalty] for penalty in penalties for sign in (1, -1))]
    for total in totals:
        whole = [None if cell is None else number(cell) for cell in sheet.texts(total)]
        if any(whole) and any(sums_up(whole, map(sum, zip(sums, more, strict=True))) for more in added):
            return whole
    return None


def are_of_parts(sheet: Sheet, found: Sequence[str], cells: Sequence[str]) -> bool:
    """Return True if columns are different parts, as in a decathlon.

    Then some lack clock times, and values vary widely.
    """
    seconds = times.parse_column(pl.Series(cells), decimal=".,")["seconds"]
    clocks = (sheet.has(heading, ":") for heading in found if sheet.texts(heading).count())
    return not all(clocks) and bool(seconds.max() > MAX_TIMES_APART * seconds.min())  # type: ignore[operator]


def are_parts(sheet: Sheet, found: Sequence[str], totals: Sequence[str]) -> bool:
    """Return True if rounds are parts of one event, such as golf rounds, or attempts of which only the best counts."""
    place, whole = sheet.first("position"), [total for total in totals if total not in found]
    meant = meaning(sheet, found, whole)
    if place is None:
        return False
    if meant:
        return bool(whole) and sheet.has(place, r"^T\d") and meant.get("position", {}).get("as") == "number"
    parts = [*zip(*(numbers_of(sheet, heading) for heading in found), strict=True)]
    best = [*map(max, parts)]
    others = (numbers_of(sheet, other) for other in sheet.others(place, *found))
    return any(best) and best != [*map(sum, parts)] and best in others


def summed(sheet: Sheet, found: Sequence[str], sums: Sequence[float | None]) -> Document:
    """Return the rule for cells with a total: points, or numbers for which lower is better.

    The order of the players decides this. Without an order, the cells are points if every round has the same maximum,
    unless they are places.
    """
    columns = [numbers_of(sheet, heading) for heading in found]
    least, order = min(map(min, columns)), standing(sheet, sums)
    are_places = all(are_ranks(sheet, heading) for heading in found)
    are_alike = len({*map(max, columns)}) == 1
    if order is None and not are_places:
        order = 1 if are_alike else None
    is_placed = are_places or sheet.first("position") or any(map(times.status_word, sheet.cells(*found)))
    if not is_placed and (order == -1 or sheet.under(heads.LESS)):  # the lines may be in any order
        return {}
    # the rounds are on one day
    may_be_parts = not are_alike and sheet.title_dates.n_unique() == 1 and all(map(is_round, found))
    if order is None or least < 0 or may_be_parts:
        return {}
    if order > 0:
        return {"score": {"from": "cell", "as": "result"}}
    above = {} if least else {"offset": 1}  # makes places positive
    return {"position": {**as_number(sheet, found), **({"as": "place"} if are_places else above)}}


def as_number(sheet: Sheet, headings: Sequence[str]) -> Document:
    """Return the rule for cells that contain numbers, possibly with a decimal comma."""
    comma = {"regex": COMMA} if sheet.cells(*headings).str.contains(r"\d,\d").any() else {}
    return {"from": "cell", "as": "number", **comma}


def standing(sheet: Sheet, sums: Sequence[float | None]) -> int | None:
    """Return 1 if the first player, by places or row order, has the highest sum, or -1 if it is the lowest.

    If unclear, return None.
    """
    heading = sheet.first("position")
    places = pl.Series([*range(len(sums))], dtype=pl.Float64)
    if heading is not None and are_ranks(sheet, heading):
        places = placed(sheet.texts(heading))
    elif len(sums) <= 2:  # noqa: PLR2004
        return None
    by_place = sorted(zip(places.fill_null(len(sums)), sums, strict=True), key=itemgetter(0))
    ordered = [own for _, own in by_place if own is not None]
    if not ordered or ordered[0] == ordered[-1]:
        return None
    return next((way for way in (1, -1) if ordered[::-way] == sorted(ordered)), None)


def are_nearly_places(sheet: Sheet, heading: str) -> bool:
    """Return True if a column may contain the places in one event. Then the column has a 1, and no number twice."""
    places = placed(sheet.cells(heading)).drop_nulls().to_list()
    return len({*places}) == len(places) >= LEAST_PLACES and 1.0 in places


def is_scheme(rows: list[list[float]]) -> bool:
    """Return True if rows follow one points scheme.

    Then each row is the beginning of the scheme, and the first step is the widest.
    """
    ordered = [sorted(row, reverse=True) for row in rows]
    scheme = max(ordered, key=len)
    steps = [one - other for one, other in pairwise(scheme)]
    is_one = all(row == scheme[: len(row)] for row in ordered)
    return len(rows) > 1 and len(steps) > 1 and steps[0] > steps[-1] > 0 and is_one
