"""Infer the map of a sheet from its headings and cells, or find the questions to answer first.

`infer_map` takes these steps. Each step takes values and returns a value. The sheet collects its questions.

1. `sheet_of`: the table without the rows below it, and the answers so far. 2. `find_layout`: the map of a layout in
which rows are not entrants. For a new layout, add a function to its list. 3. `choose_columns` and `name_event`: the
heading of each results column, and the name of events. 4. `read_source` and `read_columns`: the format of the file, and
of the cells in each column. 5. `check_compared`: the column that determines who beat whom.

Words for headings and cells in 26 languages are in `results/words.toml`.
"""

from collections.abc import Sequence

import polars as pl

from podium.errors import DOCS, Fault
from podium.importers import times
from podium.importers.grid import SHEET, TITLE, Choice, Grid, question
from podium.importers.tables.applying import may_be_thousands
from podium.importers.tables.cells import placed
from podium.importers.tables.column_rules import read_column, read_columns, read_title_dates
from podium.importers.tables.columns import (
    LEAST_STEPS,
    SAMPLE_CELLS,
    Columns,
    choose_columns,
    has_words,
    steps_of,
    varies,
)
from podium.importers.tables.grids import as_number, find_layout
from podium.importers.tables.maps import build_map, toml_value
from podium.importers.tables.sheet import (
    Document,
    Sheet,
    are_ranks,
    day_column,
    refuse_unclear,
    sheet_of,
)
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.columns import NUMBERS, REQUIRED
from podium.results.headings import fold
from podium.results.plain_rows import DELIMITERS

SHAPE = (
    "A results table has one row per entrant and event: event_id,player,position, then race-1,Ana,1 and ~"
    f"race-1,Ben,2. Other layouts, such as a match per row or a grid, need a map: see {DOCS}/own-tables.md"
)
KINDS = {
    "wide": "one match per row",
    "crosstable": "a crosstable",
    "swiss": "a Swiss list",
    "matrix": "one event per column",
    "row": "one event per row",
}
OF_CELLS = {"position": "place", "score": "number", "time_s": "duration"}


def infer_map(grid: Grid, source: Document, columns: Document) -> tuple[Document, str]:
    """Infer the map of a table from its cells and some answers. Return it as a TOML document, with a line about it.

    Raises:
        UndecidedError: The owner of the table must answer a question.
        ResultsError: Something is missing or invalid.
    """
    sheet = sheet_of(grid, source, columns)
    ask_what_is_empty(sheet)
    ask_if_standing(sheet)
    layout = find_layout(sheet)
    refuse_unclear(sheet)
    if layout is not None:
        found = map_of_layout(sheet, layout)
        refuse_unclear(sheet)
        return found
    chosen = name_event(sheet, choose_columns(sheet))
    refuse_unclear(sheet, find_missing(sheet, chosen))
    source, chosen = read_source(sheet, chosen)
    refuse_unclear(sheet)
    chosen = read_columns(sheet, chosen)
    refuse_unclear(sheet)
    check_compared(sheet, chosen)
    refuse_unclear(sheet)
    drops = sheet.drop(chosen.headings("player"), heads.NOBODY, "nobody")
    return document(sheet, source, {"columns": chosen.rules}, drops), note(sheet, chosen)


def ask_what_is_empty(sheet: Sheet) -> None:
    """Ask about empty cells below filled ones in columns of events and dates. Merged cells often leave such gaps."""
    names = ["event_id", "started_at"]
    place, team, time = map(sheet.first, ("position", "team", "time_s"))
    if place and team:
        no_place, no_team = (sheet.texts(heading).is_null() for heading in (place, team))
        is_apart = time is None or sheet.texts(time).filter(no_place).count() == 0
        if is_apart and no_place.equals(no_team, check_names=False):
            names += ["position", "team"]  # only the row of each team's first member has a value
    found = (heading for name in names if (heading := sheet.first(name)) is not None)
    empty = [heading for heading in found if heading not in sheet.used and heading not in sheet.grid.rule.fill]
    begun = [own for own in map(sheet.texts, empty) if own.len() and own[0] is not None]
    holes = [own.name for own in begun if own.null_count()]
    if holes:
        text = f"is empty in {sheet.texts(holes[0]).null_count():,} rows below a filled one"
        choices = (Choice("repeat the value above", "source.fill", toml_value(holes)),)
        sheet.ask(text, choices, holes[0])


def ask_if_standing(sheet: Sheet) -> None:
    """Ask whether a table contains standings, if a column counts games or adds up the next three columns."""
    names = sheet.headings
    if sheet.first("event_id") or "event_id" in sheet.given or not sheet.first("player", "team"):
        return
    own = [sheet.texts(name).cast(pl.Int64, strict=False) for name in names]
    whole = [cells.null_count() == 0 and cells.len() > 1 and cells.sum() > 0 for cells in own]
    sums = [all(whole[n : n + 4]) and (own[n] == sum(own[n + 1 : n + 4])).all() for n in range(len(names) - 3)]
    played = [is_whole and fold(heading) in heads.PLAYED for heading, is_whole in zip(names, whole, strict=True)]
    found = [heading for n, heading in enumerate(names) if any(sums[n : n + 1]) or played[n]]
    if found:
        choice = Choice("one event, by its places", "columns.event_id", "{file}")
        text = "counts games, so this may be a table of standings. It does not say who won each game"
        sheet.ask(text, (choice,), found[0])


def name_event(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns, with a name for the event if the table has none: from the sheet, the day or the file."""
    known = columns.known(sheet)
    if "event_id" in known or "player" not in known:
        return columns
    day, place = (columns.chosen.get(name) for name in ("started_at", "position"))
    if day and place and are_ranks(sheet, place) and not are_ranks(sheet, place, [day]):
        columns, day = columns.leave("started_at", "days of entries in one common order"), None
    named = sheet.event
    if not named or (day and varies(sheet, day, SHEET if named == "{sheet}" else TITLE)):
        named = f"{named} {{{day}}}".strip() if day else named
    is_bare = "score" in columns.chosen and not columns.open(sheet)
    if (
        not named
        and (is_bare or not columns.known(sheet).isdisjoint({"position", "time_s"}))
        and not is_of_many_events(sheet, columns)
    ):
        named = "{file}"
    return columns.make({"event_id": named}) if named else columns


def is_of_many_events(sheet: Sheet, columns: Columns) -> bool:
    """Return True if players repeat, but never in rows with the same value in some unused column."""
    rows = columns.headings("player", "heat")
    again = bool(rows) and sheet.repeats(rows)
    return again and any(not sheet.repeats([*rows, heading]) for heading in columns.open(sheet))


def find_missing(sheet: Sheet, columns: Columns) -> list[Fault]:
    """Report the errors of a sheet that lacks a required column. Return the questions that come first."""
    grid, faults = sheet.grid, sheet.faults
    for heading in columns.headings(*REQUIRED):
        texts = sheet.cells(heading)
        others = texts.filter(texts.str.contains(r"^\[.*\]$|^true$|^false$"))
        if others.len() and grid.rule.format in ("json", "jsonl"):
            row = sheet.frame[heading].index_of(others[0])
            faults.append(Fault(None, heading, others[0], "is not text. Give text or a number.", grid.place(row or 0)))
    known = columns.known(sheet)
    if known.issuperset(REQUIRED):
        return []
    if lists := grid.lists:
        records = {f"those of {name}": grid.records_in(name) for name in lists}
        remedy = f'holds the rows. Read them with a map that has [source] records = "{grid.records_in(lists[0])}"'
        choices = tuple(Choice(meaning, "source.records", path) for meaning, path in records.items())
        faults.append(Fault(None, lists[0], None, remedy))
        return [question(grid.name, "which rows are the results?", choices)]
    shown = ", ".join(sheet.headings)
    for name, words in (("event_id", "event, race, match or round"), ("player", "player, driver or name")):
        if name not in known:
            remedy = f"is missing. Every row needs a value for it, under that name or as {words} (columns: {shown})."
            faults.append(Fault(None, name, None, remedy))
    questions = which_column(grid.name, "event_id" if "player" in known else "player", likely_headings(sheet, columns))
    faults.extend([] if questions else [Fault(None, None, None, SHAPE)])
    return questions


def likely_headings(sheet: Sheet, columns: Columns) -> list[str]:
    """Return the possible columns of players, words first, or of events within which no player repeats."""
    headings = columns.open(sheet) if sheet.frame.height > 1 else []
    if "player" in columns.chosen:
        player = columns.chosen["player"]
        once = (heading for heading in headings if not sheet.repeats([heading, player]))
        return [heading for heading in once if not heading.isdecimal()] or headings
    return headings if "player" in sheet.given else sorted(headings, key=lambda heading: not has_words(sheet, heading))


def which_column(file: str, name: str, headings: Sequence[str]) -> list[Fault]:
    """Ask which column has the players or events, if the headings do not make it clear.

    Everything else may depend on the answer.
    """
    what = "the players" if name == "player" else "the event, such as a race or round"
    none = Choice("none: the first line has no headings", "source.header", "0")
    none = none if name == "player" else Choice("none: all rows are one event", "columns.event_id", "{file}")
    choices = [Choice(heading, f"columns.{name}", heading) for heading in headings]
    return [question(file, f"which column has {what}?", (*choices, none))] if choices else []


def ask_thousand_or_more(sheet: Sheet, cell: str, column: str) -> None:
    """Ask what a mark before three digits means: 1,234 may be more than a thousand, or slightly more than 1."""
    mark = next(mark for mark in cell if mark in ".,")
    readings = cell.replace(mark, ""), cell.replace(mark, ".")
    choices = [Choice(readings[0], "source.thousands", mark), Choice(readings[1], "source.decimal", mark)]
    sheet.ask(f"{cell!r} may be {' or '.join(readings)}", choices, column)


def read_source(sheet: Sheet, columns: Columns) -> tuple[Document, Columns]:
    """Return the format of the file, and the columns, with notes about the format."""
    rule, notes = sheet.grid.rule, list[str]()
    keys = ("sheet", "header", "fill", "encoding", "records", "pattern")
    source = {key: getattr(rule, key) for key in keys if getattr(rule, key)} | sheet.source
    if rule.format == "csv" and rule.delimiter not in (None, ","):
        source["delimiter"] = rule.delimiter
        notes.append(f"{DELIMITERS.get(rule.delimiter, repr(rule.delimiter))}s")
    notes += sheet.grid.notes
    if rule.format == "csv" and source.keys().isdisjoint({"decimal", "thousands"}):
        own = (name for key in NUMBERS if key in sheet.rules for name in sheet.rules[key].columns)
        numbers = [heading for heading in (*columns.headings(*NUMBERS), *own) if heading in sheet.frame.columns]
        for heading in columns.headings("score", "team_score"):
            if marked := may_be_thousands(sheet.cells(heading)):
                ask_thousand_or_more(sheet, marked, heading)
        cells = sheet.cells(*numbers) if numbers else pl.Series(dtype=pl.String)
        marks = "".join(mark for mark in ".," if cells.str.contains(rf"[0-9][{mark}][0-9]+\s*\p{{L}}*\.?$").any())
        if marks == ".,":
            both = Choice("both are decimal marks", "source.decimal", ".,")
            choices = both, Choice("1,500 is 1500", "source.thousands", ",")
            sheet.ask("has both 1.5 and 1,5. Which is the decimal mark?", choices)
        if marks == ",":
            source["decimal"] = ","
            notes.append("decimal commas")
    return source, columns.make({}, *notes)


def check_compared(sheet: Sheet, columns: Columns) -> None:
    """Ask which column compares entrants, if none does, and whether a higher or lower score is better."""
    ask_which_is_better(sheet, columns, columns.chosen.get("score", ""))
    if any(name in columns.rules for name in COMPARED) or sheet.frame.height <= 1:
        return
    doubtful = [f"{heading} ({why})" for heading, why in columns.asides.items()]
    hint = f". Is it {' or '.join(doubtful)}?" if doubtful else ""
    ways = (
        [own for heading in way for own in comparisons(sheet, heading)] for way in (columns.asides, columns.open(sheet))
    )
    choices = tuple(next(filter(None, ways), ()))
    text = f"no column says who beat whom. Add a position, a score or a time{hint}"
    if choices:
        sheet.ask(text, choices)
    else:
        sheet.faults.append(Fault(None, None, None, text))


def ask_which_is_better(sheet: Sheet, columns: Columns, score: str) -> None:
    """Ask whether a higher or lower score is better, unless places or the row order show it."""
    is_plain = {*REQUIRED, "score"} <= {*sheet.headings}
    is_decided = "score" in sheet.named or "position" in columns.known(sheet) or is_plain or sheet.has_members
    if fold(score) not in heads.EITHER or is_decided:
        return
    steps = steps_of(sheet, score, columns)
    if sheet.under(heads.LESS) or steps.len() < LEAST_STEPS or not (steps <= 0).all():
        aside = [Choice("neither: the time decides", "source.aside", score)] * ("time_s" in columns.chosen)
        text = "is a number. Is a higher value better, or a lower one?"
        sheet.ask(text, (*comparisons(sheet, score), *aside), score)


def comparisons(sheet: Sheet, heading: str) -> list[Choice]:
    """Return the ways in which a column could compare entrants."""
    words = sheet.cells(heading).head(SAMPLE_CELLS).unique()
    plain = [word for word in words if times.status_word(word) is None]
    if not plain or heads.LANES & {*fold(heading).split("_")}:
        return []
    cells = pl.Series(plain, dtype=pl.String).str.strip_chars()
    are_numbers = cells.str.contains(r"^[+-]?[0-9][0-9 ]*([.,][0-9]+)?\s?[€£$%]?$").all()
    are_times = all(times.is_lapped(cell) or times.parse(cell.replace(",", ".")) for cell in cells)
    ways = [("position", "places, or numbers where less is better", are_numbers or not placed(cells).null_count())]
    ways += [("time_s", "times", are_times), ("score", "points: more is better", are_numbers)]
    return [Choice(f"{heading}: {meaning}", f"columns.{name}", heading) for name, meaning, fits in ways if fits]


def map_of_layout(sheet: Sheet, shape: Document) -> tuple[Document, str]:
    """Complete a layout's map with information from the sheet. Return the map, and a line about it."""
    layout = shape["layout"]
    source, columns = read_source(sheet, Columns({}, {}, (), frozenset(sheet.used), rules=shape["columns"]))
    is_row = layout["kind"] == "matrix" and "{column}" not in str(columns.rules["event_id"])
    kind = "row" if is_row else layout["kind"]
    heading = sheet.first("started_at") if kind in ("row", "wide") else None
    if kind == "wide" and heading is None:
        heading = day_column(sheet, filter(sheet.is_unknown, sheet.headings))
    if heading is not None:
        columns = read_column(sheet, columns, "started_at", heading)
    columns = read_title_dates(sheet, columns)
    rules = {**columns.rules, **sheet.given}
    aside = layout.get("except", ())
    if "status" in sheet.refined and layout["kind"] == "matrix":
        cells = sheet.cells(*sheet.others(*aside)).unique()
        words = {cell: status for cell in cells if (status := times.status_word(cell))}
        rules["status"] = {"from": "cell", "map": words | sheet.refined["status"]["map"], "default": "finished"}
        rules |= {name: {"from": "cell", "as": way, "else": "null"} for name, way in OF_CELLS.items() if name in rules}
    made = {name: {"from": "cell", "as": way} for name, way in OF_CELLS.items() if rules.get(name) == "cell"}
    if "score" in made:
        made["score"] = as_number(sheet, sheet.others(layout.get("rows"), *aside))
    rules |= made
    own = document(sheet, source, {**shape, "columns": rules})
    mapping = build_map(own, sheet.grid.name)
    used = {layout.get("rows"), layout.get("number"), *mapping.names}
    used |= {*sheet.others(*aside)} if layout["kind"] != "wide" else set()
    read = [heading or "the first column" for heading in sheet.headings if heading in used]
    return own, line(f"read {', '.join(read)} as {KINDS[kind]}", columns.notes, sheet.others(*used))


def document(sheet: Sheet, source: Document, rest: Document, drops: Sequence[Document] = ()) -> Document:
    """Return a complete map, including the format of the file and conditions that drop rows below the table."""
    where = rest.get("where", {})
    drops = [*sheet.drops, *drops, *where.get("drop", [])]
    where = {**where, "drop": drops} if drops else where
    return ({"source": source} if source else {}) | rest | ({"where": where} if where else {})


def note(sheet: Sheet, columns: Columns) -> str:
    """Return a line about the meaning of the columns, and about columns that are ignored."""
    named = {name: heading for name, heading in columns.chosen.items() if columns.rules.get(name)}
    read = [f"{heading} as {name}" for name, heading in named.items() if heading != name]
    read += [f"{' and '.join(sheet.parts)} as player"] if sheet.parts else []
    read += [name for name, heading in named.items() if heading == name]
    used = {*named.values()} | columns.used
    why = {heading: f" ({reason})" for heading, reason in columns.asides.items()}
    others = [heading for heading in sheet.headings if heading not in used]
    details = [heading for heading in (*columns.headings("team"), *others) if heads.detail_of(heading)]
    aside = [heading + why.get(heading, "") for heading in others if heading not in details]
    return line(f"read {', '.join(read)}", columns.notes, aside, details)


def line(read: str, notes: Sequence[str], aside: Sequence[str], details: Sequence[str] = ()) -> str:
    parts = (("understood", notes), ("details of players:", details), ("ignored", aside))
    return "; ".join([read, *(f"{what} {', '.join(words)}" for what, words in parts if words)])
