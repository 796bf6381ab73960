"""The map that a sheet's headings and cells say, or why there is none: nothing is guessed in silence."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from podium.errors import Fault
from podium.importers import times
from podium.importers.grid import SHEET, TITLE, Choice, Grid, Question, day_or_month, thousand_or_more, which_column
from podium.importers.sources import stem
from podium.importers.tables.applying import decimal_marks, may_be_thousands, status_words
from podium.importers.tables.cells import PLAYED, Table, build, placed
from podium.importers.tables.columns import (
    LEAST_STEPS,
    SAMPLE_CELLS,
    Columns,
    choose_columns,
    codes,
    has_words,
    steps_of,
    varies,
)
from podium.importers.tables.grids import as_number, find_layout
from podium.importers.tables.maps import build_map, toml_value
from podium.importers.tables.model import LAPS
from podium.importers.tables.sheet import (
    COMMA,
    Document,
    Sheet,
    Step,
    are_ranks,
    day_column,
    mates_rule,
    refuse,
    run,
    settle,
    sheet_of,
)
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.columns import GAP, NUMBERS, REQUIRED, TIMES
from podium.results.headings import fold
from podium.results.plain_rows import DELIMITERS

SHAPE = (
    "a results table has a row for each entrant of each event, as event_id,player,position, then race-1,Ana,1 and "
    "race-1,Ben,2; winners and losers in one row, or a grid, are read by a map: see docs/own-tables.md"
)
KINDS = {
    "wide": "a match a row",
    "crosstable": "a crosstable",
    "swiss": "a Swiss list",
    "matrix": "an event a column",
    "row": "an event a row",
}
BESIDE_STATUSES = [r"\s*[^\p{L}\s]*\d[^\p{L}\s]*", ""]  # of joined cells: the numbers of parts that were played
OF_CELLS = {"position": "place", "score": "number", "time_s": "duration"}


def infer_map(grid: Grid, source: Document, columns: Document) -> tuple[Document, str]:
    """Return the map that a table says beside some answers, as TOML has it, and a line of what was understood.

    Raises:
        UndecidedError: its reader must answer a question.
        ResultsError: something is missing or wrong.
    """
    sheet = sheet_of(grid, source, columns)
    layout = settle(sheet, look(sheet))
    if layout is not None:
        return settle(sheet, map_of_layout(sheet, layout))
    chosen, found = run(choose_columns(sheet))
    chosen = name_event(sheet, chosen)
    wrong, alone = missing(sheet, chosen)
    refuse(sheet, [*found, *wrong], alone)
    source, chosen = settle(sheet, read_source(sheet, chosen))
    chosen = settle(sheet, read_columns(sheet, chosen))
    settle(sheet, check_compared(sheet, chosen))
    player = chosen.chosen.get("player")
    drops = sheet.condition(player, heads.NOBODY, "nobody") if player else []
    return document(sheet, source, {"columns": chosen.rules}, drops), note(sheet, chosen)


def look(sheet: Sheet) -> Step[Document | None]:
    """Return the map of the layout; ask for what is empty, or may be no results at all."""
    yield from ask_what_is_empty(sheet)
    yield from ask_if_standing(sheet)
    return (yield from find_layout(sheet))


def ask_what_is_empty(sheet: Sheet) -> Step[None]:
    """Ask for what stands in events and dates that are empty below one that is not, as merged cells leave them."""
    names = ["event_id", "started_at"]
    place, team, time = map(sheet.first, ("position", "team", "time_s"))
    if place and team:
        no_place, no_team = (sheet.texts(heading).is_null() for heading in (place, team))
        is_apart = time is None or sheet.texts(time).filter(no_place).count() == 0
        if is_apart and no_place.equals(no_team, check_names=False):
            names += ["position", "team"]  # which stand beside the first of each team
    found = (heading for name in names if (heading := sheet.first(name)) is not None)
    empty = [each for each in found if each not in sheet.used and each not in sheet.grid.rule.fill]
    counts = {each: own.null_count() for each in empty if (own := sheet.texts(each)).len() and own[0] is not None}
    holes = [each for each, count in counts.items() if count]
    if holes:
        text = f"is empty in {counts[holes[0]]:,} rows below one that is not"
        choices = (Choice("the value above stands there", "source.fill", toml_value(holes)),)
        yield Question(text, choices, holes[0])


def ask_if_standing(sheet: Sheet) -> Step[None]:
    """Ask whether a table is one of standings: a column counts games, or sums the three up that follow it."""
    names = sheet.headings
    if sheet.first("event_id") or "event_id" in sheet.given or not sheet.first("player", "team"):
        return
    own = [sheet.texts(each).cast(pl.Int64, strict=False) for each in names]
    whole = [each.null_count() == 0 and each.len() > 1 and each.sum() > 0 for each in own]
    sums = [all(whole[n : n + 4]) and (own[n] == sum(own[n + 1 : n + 4])).all() for n in range(len(names) - 3)]
    played = [is_whole and fold(each) in heads.PLAYED for each, is_whole in zip(names, whole, strict=True)]
    found = [each for n, each in enumerate(names) if any(sums[n : n + 1]) or played[n]]
    if found:
        choice = Choice("one event, by its places", "columns.event_id", "{file}")
        text = "counts games, so this may be a standing after many, which says of none who won"
        yield Question(text, (choice,), found[0])


def name_event(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns with the event of a table that has none: the sheet's, the day's or the file's."""
    known = columns.chosen.keys() | sheet.given
    if "event_id" in known or "player" not in known:
        return columns
    day, place = (columns.chosen.get(name) for name in ("started_at", "position"))
    if day and place and are_ranks(sheet, place) and not are_ranks(sheet, place, [day]):
        columns, day = columns.leave("started_at", "days of entries in one order"), None
    named = sheet.event
    if not named or (day and varies(sheet, day, SHEET if named == "{sheet}" else TITLE)):
        named = f"{named} {{{day}}}".strip() if day else named
    is_bare = "score" in columns.chosen and not columns.open(sheet)
    known = columns.chosen.keys() | sheet.given
    if (
        not named
        and (is_bare or not known.isdisjoint({"position", "time_s"}))
        and not is_of_many_events(sheet, columns)
    ):
        named = "{file}"
    return columns.make({"event_id": named}) if named else columns


def is_of_many_events(sheet: Sheet, columns: Columns) -> bool:
    """Return True if players stand in it again, and but once beside each value of an open column."""
    rows = columns.headings("player", "heat")
    again = bool(rows) and sheet.repeats(rows)
    return again and any(not sheet.repeats([*rows, each]) for each in columns.open(sheet))


def missing(sheet: Sheet, columns: Columns) -> tuple[list[Question | Fault], list[Question]]:
    """Return the faults of a sheet that lacks what every row needs, and the questions that come before all others."""
    grid, faults = sheet.grid, list[Question | Fault]()
    for heading in columns.headings(*REQUIRED):
        texts = sheet.cells(heading)
        others = texts.filter(texts.str.contains(r"^\[.*\]$|^true$|^false$"))
        if others.len() and grid.rule.format in ("json", "jsonl"):
            row = sheet.frame[heading].index_of(others[0])
            faults.append(Fault(None, heading, others[0], "is no text; give a text or a number", grid.place(row or 0)))
    known = columns.chosen.keys() | sheet.given.keys() | columns.rules.keys()
    if known.issuperset(REQUIRED):
        return faults, []
    if lists := grid.lists:
        records = {f"those of {each}": grid.records_in(each) for each in lists}
        remedy = f'holds the rows: a map reads them, with [source] records = "{grid.records_in(lists[0])}"'
        choices = tuple(Choice(meaning, "source.records", path) for meaning, path in records.items())
        question = Question("which rows are the results", choices)
        return [*faults, Fault(None, lists[0], None, remedy)], [question]
    shown = ", ".join(sheet.headings)
    for name, words in (("event_id", "event, race, match or round"), ("player", "player, driver or name")):
        if name not in known:
            remedy = f"is missing; every row needs it, under that name or as {words} (there are {shown})"
            faults.append(Fault(None, name, None, remedy))
    questions = which_column("event_id" if "player" in known else "player", likely_headings(sheet, columns))
    last = questions or (Fault(None, None, None, SHAPE),)
    return [*faults, *last], questions


def likely_headings(sheet: Sheet, columns: Columns) -> list[str]:
    """Return the columns that may be of players, first those with words, or of events, in which no player repeats."""
    headings = columns.open(sheet) if sheet.frame.height > 1 else []
    if "player" in columns.chosen:
        player = columns.chosen["player"]
        once = (each for each in headings if not sheet.repeats([each, player]))
        return [each for each in once if not each.isdecimal()] or headings
    return headings if "player" in sheet.given else sorted(headings, key=lambda each: not has_words(sheet, each))


def read_source(sheet: Sheet, columns: Columns) -> Step[tuple[Document, Columns]]:
    """Return how the file is written, and the columns with a word of it."""
    rule, said = sheet.grid.rule, list[str]()
    keys = ("sheet", "header", "fill", "encoding", "records", "pattern")
    source = {key: getattr(rule, key) for key in keys if getattr(rule, key)} | sheet.source
    if rule.format == "csv" and rule.delimiter not in (None, ","):
        source["delimiter"] = rule.delimiter
        said.append(f"{DELIMITERS.get(rule.delimiter, repr(rule.delimiter))}s")
    said += sheet.grid.notes
    if rule.format == "csv" and source.keys().isdisjoint({"decimal", "thousands"}):
        own = (name for key in NUMBERS if key in sheet.rules for name in sheet.rules[key].columns)
        numbers = [*(columns.chosen[name] for name in columns.chosen if name in NUMBERS), *own]
        for heading in columns.headings("score", "team_score"):
            if marked := may_be_thousands(sheet.cells(heading)):
                yield thousand_or_more(marked, heading)
        mark = decimal_marks(sheet.cells(heading) for heading in numbers if heading in sheet.frame.columns)
        if mark == "both":
            both = Choice("both are decimal marks", "source.decimal", ".,")
            choices = both, Choice("1,500 is 1500", "source.thousands", ",")
            yield Question("has both 1.5 and 1,5; which is the decimal mark", choices)
        if mark == ",":
            source["decimal"] = ","
            said.append("decimal commas")
    return source, columns.make({}, *said)


def read_columns(sheet: Sheet, columns: Columns) -> Step[Columns]:
    """Return the columns with the rule of each."""
    for name, heading in columns.chosen.items():
        columns = yield from read_column(sheet, columns, name, heading)
    columns = yield from read_title_dates(sheet, columns)
    columns = read_started(sheet, read_statuses(sheet, read_laps(sheet, columns)))
    rules = {name: rule for name, rule in columns.rules.items() if rule is not None} | sheet.given
    for name in sheet.refined.keys() & rules.keys() - {"started_at", "status"}:
        rules[name] = as_table(rules[name]) | sheet.refined[name]
    return columns._replace(rules=rules | order_of_sides(rules))


def as_table(rule: Any) -> Document:
    return rule if isinstance(rule, dict) else {"from": rule}


def read_column(sheet: Sheet, columns: Columns, name: str, heading: str) -> Step[Columns]:
    """Return the columns with the rule of one."""
    texts = sheet.cells(heading)
    rule: Any = heading
    said: Sequence[str] = ()
    if name == "event_id" and columns.event:
        rule = columns.event
    elif name == "position":
        rule, said = place_rule(sheet, columns, heading, texts)
    elif name in TIMES:
        return (yield from read_times(sheet, columns, name, heading))
    elif name == "started_at":
        rule, said = yield from date_rule(sheet, heading, texts.unique(maintain_order=True))
    elif name in ("score", "team_score") and columns.points and columns.points.keys() >= {*texts.unique()}:
        rule = {"from": heading, "map": columns.points}
    elif name == "player" and (way := (yield from mates_rule(sheet, heading))):
        rule = {"from": heading, **way}
    elif name == "status":
        words = codes(sheet, heading) or status_words(texts.unique(maintain_order=True).to_list())
        changed = {word: status for word, status in words.items() if word != status}
        others = {word: status for word, status in changed.items() if word.lower() != status}
        rule = {"from": heading, "map": changed} if changed else heading
        said = [as_said(others)]
    return columns.make({name: rule}, *said)


def as_said(words: Mapping[str, str]) -> str:
    return ", ".join(f"{word} as {status}" for word, status in words.items())


def place_rule(sheet: Sheet, columns: Columns, heading: str, texts: pl.Series) -> tuple[Any, list[str]]:
    """Return how places are read, or numbers if a reader answered that less is better: these end above 0."""
    numbers = texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).drop_nulls()
    least = float(numbers.min() or 0.0)  # type: ignore[arg-type]
    if "position" in sheet.named and numbers.len() and (least < 1 or (numbers % 1 != 0).any()):
        return {"from": heading, "as": "number"} | ({"offset": 1 - least} if least < 1 else {}), []
    if not texts.str.contains(r"^[0-9]+$").all():
        return {"from": heading, "as": "place"}, []
    is_full = (texts == "0").any() and texts.len() == sheet.frame.height
    if not is_full or not are_ranks(sheet, heading, columns.headings("event_id"), 0):
        return heading, []
    return {"from": heading, "as": "number", "offset": 1}, ["places from 0"]


def date_rule(sheet: Sheet, origin: str, distinct: pl.Series) -> Step[tuple[Any, list[str]]]:
    """Return how dates are read; ask if they may be a day and a month either way."""
    if "started_at" in sheet.refined:
        return {"from": origin, **sheet.refined["started_at"]}, []
    ways, rest = times.ways_of(distinct), dict[str, Any]()
    for odd in times.ODD_DATES if not ways else ():
        found = times.ways_of(distinct.str.replace(*odd))
        ways, rest = (found, {"regex": list(odd)}) if found and not ways else (ways, rest)
    if len(ways) > 1:
        yield day_or_month(distinct, [way["format"] for way in ways], None if "{" in origin else origin)
    way = ways[0] if ways else {}
    shown = way.get("format") or (distinct[0] if distinct.str.contains(r"^\d{8}$").any() else "")
    said = [f"dates as {shown}"] if ways and shown else []
    said += ["dates as Excel counts days"] * (way.get("epoch") == "excel")
    return {"from": origin, **rest, **way} if way else origin, said


def read_times(sheet: Sheet, columns: Columns, name: str, heading: str) -> Step[Columns]:
    """Return the columns with the rule of times; gaps are left aside where places decide, and refused otherwise."""
    texts = sheet.cells(heading)
    if heading in columns.asides:
        return columns.make({name: None})
    signed = texts.filter(texts.str.contains(r"^[+-]") & ~texts.str.contains(r"(?i)lap|rd|^\+\s*\d+\s*l$"))
    if signed.len() and name == "time_s":
        if "position" in columns.chosen and heading != "time_s":
            why = f'{signed[0]!r} is a gap, which gap = "leader" in a map makes a time'
            return columns.make({name: None})._replace(asides={**columns.asides, heading: why})
        if "gap" not in sheet.refined.get("time_s", {}):
            whom = {"leader": "the winner", "previous": "who is ahead"}
            choices = tuple(Choice(f"a gap to {each}", "columns.time_s.gap", key) for key, each in whom.items())
            yield Question(GAP, choices, heading, signed[0])
    if sheet.grid.rule.format != "csv" and texts.str.contains(r"\d,\d+$").any():
        return columns.make({name: {"from": heading, "regex": COMMA, "as": "duration"}})
    if texts.str.contains(r"^[0-9.]*$").all():
        return columns.make({name: heading})
    said = "clock times" if name == "time_s" else ""
    return columns.make({name: {"from": heading, "as": "duration"}}, said)


def read_title_dates(sheet: Sheet, columns: Columns) -> Step[Columns]:
    """Return the columns with the dates of the lines above the head, or of the file's name, if they have none."""
    origin, found = "{title}", sheet.title_dates
    if not found.len() and columns.rules.get("event_id") == "{file}":
        origin, found = "{file}", pl.Series([stem(sheet.grid.name)]).str.extract(times.A_DATE).drop_nulls()
    is_known = "{title}" in sheet.grid.rule.aside or "started_at" in columns.rules.keys() | sheet.given
    if is_known or not found.len():
        return columns
    rule, said = yield from date_rule(sheet, origin, found.drop_nulls().unique(maintain_order=True))
    if found.null_count():
        text = "has a date above the head of some sheets or blocks alone; write it in each, or in none"
        yield Question(text, (Choice("in none: their order counts", "source.aside", "{title}"),))
    rule = as_table(rule)
    regex = [f"(?s)^.*?{times.in_a_line(rule.get('format'))}.*$", "$1"]
    return columns.make({"started_at": {**rule, "regex": regex}}, *said)


def read_laps(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns with the laps beside times: who was lapped may have the shorter time."""
    heading = next(iter(sheet.under(heads.LAPS_WORDS)), None)
    if heading is None or columns.rules.get("time_s") is None:
        return columns
    texts = sheet.cells(heading)
    if texts.n_unique() == 1 or not texts.str.contains(r"^[0-9]+$").all():
        return columns
    columns = columns._replace(used=columns.used | {heading})
    return columns.make({LAPS: {"from": heading, "as": "number"}}, f"{heading} before times")


def read_statuses(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns with statuses of places, times and scores, if no column of their own has them."""
    if "status" in columns.chosen or "status" in sheet.given:
        return columns
    known = sheet.refined.get("status", {}).get("map", {})
    rules, headings = {**columns.rules}, list[str]()
    own = {columns.chosen[name]: name for name in ("position", "time_s", "score") if name in columns.chosen}
    for heading, name in (own | dict.fromkeys(columns_with_status(sheet, columns, list(own)), "")).items():
        if any(known.get(word) or times.status_word(word) for word in sheet.cells(heading).unique()):
            headings.append(heading)
            if known and rules.get(name):
                rules[name] = as_table(rules[name]) | {"else": "null"}
    if not headings:
        return columns
    cells = [sheet.texts(heading) for heading in headings]
    origin: Document = {"from": headings[0]}
    bare = cells[0]
    if len(headings) > 1:
        origin = {"from": headings, "regex": BESIDE_STATUSES}
        joined = pl.DataFrame(cells).select(pl.concat_str(pl.all(), separator=" ", ignore_nulls=True)).to_series()
        bare = joined.str.replace_all(*BESIDE_STATUSES).str.strip_chars()
    words: dict[str, str] = {}
    for word, *row in pl.DataFrame([bare.alias("\0word"), *cells]).unique(maintain_order=True).rows():
        found = next(filter(None, (known.get(cell) or times.status_word(cell) for cell in row if cell)), None)
        words |= {word: found} if found else {}
    if not words:
        return columns._replace(rules=rules)
    rules["status"] = origin | {"map": words, "default": "finished"}
    return columns.make(rules, as_said(words))


def read_started(sheet: Sheet, columns: Columns) -> Columns:
    """Take who played a part, and did not start by a word, for one who did not finish: WD after a round."""
    rule = columns.rules.get("status")
    if rule is None or "status" in sheet.given:
        return columns
    table = {"from": [rule]} if isinstance(rule, str) else rule
    made = build_map({"columns": {"status": table}}, sheet.grid.name).columns["status"]
    rows = build(Table(sheet.frame, sheet.grid.rule), "status", made).column == "did_not_start"
    bare = {each: re.sub(r"\d+", "", fold(each)) for each in columns.open(sheet)}  # R1, R2 are alike but for a number
    often = Counter(own for each, own in bare.items() if own != fold(each))
    parts = [*sheet.under(heads.LAPS_WORDS), *(each for each, own in bare.items() if often[own] > 1)]
    played = [each for each in dict.fromkeys(parts) if sheet.texts(each).filter(rows).str.contains(PLAYED).any()]
    if not played:
        return columns
    return columns.make({"status": {**table, "started": played}}, f"who has {' or '.join(played)} as started")


def columns_with_status(sheet: Sheet, columns: Columns, compared: Sequence[str]) -> list[str]:
    """Return the columns that say of some who have no result how they ended, and of others nothing or a number."""
    cells = (pl.col(each).cast(pl.String).replace("", None).is_null() for each in compared)
    lacking = sheet.frame.select(pl.all_horizontal(pl.lit(bool(compared)), *cells)).to_series()
    found = []
    for heading in (*columns.open(sheet), *columns.asides) if lacking.any() else ():
        texts = sheet.texts(heading)
        distinct = texts.filter(lacking).drop_nulls().unique()
        words = [each for each in distinct if times.status_word(each)]
        others = pl.concat([texts.filter(~lacking).drop_nulls(), distinct.filter(~distinct.is_in(words))])
        if words and others.str.contains(r"\d").all():
            found.append(heading)
    return found


def order_of_sides(rules: Mapping[str, Any]) -> Document:
    """Return the times of sides as their order, if nothing else compares these: times compare players alone."""
    time, player = rules.get("time_s"), rules.get("player")
    if time is None or "split" not in (player or {}) or not {"position", "team_score"}.isdisjoint(rules):
        return {}
    return {"position": time if isinstance(time, dict) else {"from": time, "as": "number"}}


def check_compared(sheet: Sheet, columns: Columns) -> Step[None]:
    """Ask what compares entrants, if nothing does; and whether more or less of a score is better."""
    yield from ask_which_is_better(sheet, columns, columns.chosen.get("score", ""))
    if any(name in columns.rules for name in COMPARED) or sheet.frame.height <= 1:
        return
    doubtful = [f"{heading} ({why})" for heading, why in columns.asides.items()]
    hint = f"; is it {' or '.join(doubtful)}?" if doubtful else ""
    ways = ([own for each in way for own in comparisons(sheet, each)] for way in (columns.asides, columns.open(sheet)))
    choices = tuple(next(filter(None, ways), ()))
    text = f"no column says who beat whom: it needs a position, a score or a time{hint}"
    yield Question(text, choices) if choices else Fault(None, None, None, text)


def ask_which_is_better(sheet: Sheet, columns: Columns, score: str) -> Step[None]:
    """Ask whether more or less of a score is better, unless places or the order of the rows say so."""
    names, known = {*sheet.headings}, columns.chosen.keys() | sheet.given.keys()
    is_decided = "score" in sheet.named or "position" in known or {*REQUIRED, "score"} <= names
    if fold(score) not in heads.EITHER or is_decided:
        return
    steps = steps_of(sheet, score, columns)
    if sheet.under(heads.LESS) or steps.len() < LEAST_STEPS or not (steps <= 0).all():
        aside = [Choice("neither: the time decides", "source.aside", score)] * ("time_s" in columns.chosen)
        text = "has nothing beside it that says whether more of it is better, or less"
        yield Question(text, (*comparisons(sheet, score), *aside), score)


def comparisons(sheet: Sheet, heading: str) -> list[Choice]:
    """Return the ways in which a column may say who beat whom."""
    words = sheet.cells(heading).head(SAMPLE_CELLS).unique()
    plain = [each for each in words if times.status_word(each) is None]
    if not plain or heads.LANES & {*fold(heading).split("_")}:
        return []
    cells = pl.Series(plain, dtype=pl.String).str.strip_chars()
    are_numbers = cells.str.contains(r"^[+-]?[0-9][0-9 ]*([.,][0-9]+)?\s?[€£$%]?$").all()
    are_times = all(times.is_lapped(each) or times.parse(each.replace(",", ".")) for each in cells)
    ways = [("position", "places, or what is better the less", are_numbers or not placed(cells).null_count())]
    ways += [("time_s", "times", are_times), ("score", "points, the more the better", are_numbers)]
    return [Choice(f"{heading}: {meaning}", f"columns.{name}", heading) for name, meaning, fits in ways if fits]


def map_of_layout(sheet: Sheet, shape: Document) -> Step[tuple[Document, str]]:
    """Return the map of a layout with what else the sheet says, and a line of what was understood."""
    layout = shape["layout"]
    source, columns = yield from read_source(sheet, Columns({}, {}, (), frozenset(sheet.used), rules=shape["columns"]))
    is_row = layout["kind"] == "matrix" and "{column}" not in str(columns.rules["event_id"])
    kind = "row" if is_row else layout["kind"]
    heading = sheet.first("started_at") if kind in ("row", "wide") else None
    if kind == "wide" and heading is None:
        heading = day_column(sheet, filter(sheet.is_unknown, sheet.headings))
    if heading is not None:
        columns = yield from read_column(sheet, columns, "started_at", heading)
    columns = yield from read_title_dates(sheet, columns)
    rules = {**columns.rules, **sheet.given}
    aside = layout.get("except", ())
    if "status" in sheet.refined and layout["kind"] == "matrix":
        cells = sheet.cells(*(each for each in sheet.headings if each not in aside)).unique()
        words = {cell: status for cell in cells if (status := times.status_word(cell))}
        rules["status"] = {"from": "cell", "map": words | sheet.refined["status"]["map"], "default": "finished"}
        rules |= {name: {"from": "cell", "as": way, "else": "null"} for name, way in OF_CELLS.items() if name in rules}
    made = {name: {"from": "cell", "as": way} for name, way in OF_CELLS.items() if rules.get(name) == "cell"}
    of_cells = [each for each in sheet.headings if each not in (layout.get("rows"), *aside)]
    rules |= made | ({"score": as_number(sheet, of_cells)} if "score" in made else {})
    own = document(sheet, source, {**shape, "columns": rules})
    mapping = build_map(own, sheet.grid.name)
    used = {layout.get("rows"), layout.get("number"), *mapping.names}
    used |= {each for each in sheet.headings if each not in aside} if layout["kind"] != "wide" else set()
    read = [each or "the first column" for each in sheet.headings if each in used]
    left = [each for each in sheet.headings if each not in used]
    return own, line(f"read {', '.join(read)} as {KINDS[kind]}", columns.said, left)


def document(sheet: Sheet, source: Document, rest: Document, drops: Sequence[Document] = ()) -> Document:
    """Return a map with how the file is written, and the conditions that drop rows below the table."""
    where = rest.get("where", {})
    drops = [*sheet.drops, *drops, *where.get("drop", [])]
    where = {**where, "drop": drops} if drops else where
    return ({"source": source} if source else {}) | rest | ({"where": where} if where else {})


def note(sheet: Sheet, columns: Columns) -> str:
    """Return a line of what columns are read as, and which are left aside."""
    named = {name: heading for name, heading in columns.chosen.items() if columns.rules.get(name)}
    read = [f"{heading} as {name}" for name, heading in named.items() if heading != name]
    read += [f"{' and '.join(sheet.parts)} as player"] if sheet.parts else []
    read += [name for name, heading in named.items() if heading == name]
    used = {*named.values()} | columns.used
    why = {heading: f" ({reason})" for heading, reason in columns.asides.items()}
    return line(f"read {', '.join(read)}", columns.said, [h + why.get(h, "") for h in sheet.headings if h not in used])


def line(read: str, said: Sequence[str], aside: Sequence[str]) -> str:
    parts = (("understood", said), ("left aside", aside))
    return "; ".join([read, *(f"{what} {', '.join(words)}" for what, words in parts if words)])
