"""Any table as results: by a map of its columns, by a preset that it fits, or by the map that its headings say."""

import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import Fault, FormatError, PodiumError, ResultsError
from podium.importers.files import kind_of, language_encoding, load
from podium.importers.grid import Choice, Grid, Question, SourceRule, UndecidedError
from podium.importers.options import PRESETS, Imported, Options
from podium.importers.sources import Source, decode, sources
from podium.importers.tables.applying import Mapped, apply_map, drop_small
from podium.importers.tables.cells import parse_result
from podium.importers.tables.infer import infer_map
from podium.importers.tables.maps import build_map, load_map
from podium.importers.tables.model import Map
from podium.importers.times import LocalTimes
from podium.importers.trees import Level, json_document, parse_path, walk, xml_document
from podium.results.column_guide import COMPARED
from podium.results.columns import REQUIRED, normalise_table
from podium.results.consistency import NOTHING_COMPARES, REMEDY, bare_heats, contradictions, finishers, with_ids
from podium.results.headings import fold, meanings, side_of
from podium.results.reading import read_results

SHOWN_ROWS = 5
MOST_WORDS = 3  # of a column that a question shows; a column of more is another
STATUS_MEANINGS = {"dnf": "did not finish", "did_not_start": "did not start", "disqualified": "was disqualified"}
Posed = list[tuple[Question, Choice | None]]
MAX_GROUPS = 1000  # different values of a column; more are not listed


@dataclass
class Findings:
    faults: list[Fault] = field(default_factory=list)
    events: set[str | None] = field(default_factory=set)
    checked: tuple[pl.DataFrame, pl.DataFrame | None] = (pl.DataFrame(), None)  # the results, where nothing is wrong


def find_faults(mapped: Mapped) -> Findings:
    """Everything wrong with mapped rows, as the strict reading would find it, grouped."""
    findings = Findings()
    for name, (which, written) in mapped.bad.items():
        add(findings, mapped, name, which, written, mapped.remedies[name])
    missing = [name for name in REQUIRED if name not in mapped.table.columns]
    if missing:
        findings.faults += [Fault(None, name, None, "is missing; every row needs it") for name in missing]
        return findings
    remaining = mapped.only_rows(~mapped.any_bad) if mapped.bad else mapped
    checked = normalise_table(remaining.table)
    while checked.faults:
        of_columns = [fault for fault in checked.faults if fault.row is None]
        if of_columns:
            findings.faults += [located(remaining, fault) for fault in of_columns]
            return findings
        remaining = remaining.only_rows(~wrong_cells(findings, remaining, checked.faults))
        checked = normalise_table(remaining.table)
    frame = checked.frame
    if findings.events:
        whole = ~remaining.table["event_id"].is_in([each for each in findings.events if each is not None])
        frame, remaining = frame.filter(whole), remaining.only_rows(whole)
    blank = True
    for fault in contradictions(frame):
        if fault.row is not None:
            findings.events.add(remaining.table["event_id"][fault.row - 1])
        if not fault.remedy.startswith(NOTHING_COMPARES):
            findings.faults.append(located(remaining, fault))
        elif blank:
            add_blanks(findings, remaining, frame)
            blank = False
    findings.checked = frame, checked.sent
    return findings


def wrong_cells(findings: Findings, mapped: Mapped, faults: list[Fault]) -> pl.Series:
    """Add the cells that the strict reading refuses, with all that have the same value; return their rows."""
    wrong = pl.Series([False], dtype=pl.Boolean).new_from_index(0, mapped.table.height)
    for fault in faults:
        row, name = (fault.row or 1) - 1, fault.column or ""
        if wrong[row]:
            continue
        column = mapped.table[name]
        alike = column.eq_missing(column[row])
        add(findings, mapped, name, alike, column.cast(pl.String), fault.remedy)
        wrong |= alike
    return wrong


def add(findings: Findings, mapped: Mapped, name: str, which: pl.Series, written: pl.Series, remedy: str) -> None:
    """Add a fault for each value of a column among the marked rows, with its rows."""
    rows = pl.DataFrame({"value": written, "row": mapped.rows}).filter(which)
    column = mapped.headings.get(name, name)
    groups = rows.group_by("value", maintain_order=True).agg(pl.col("row").unique(maintain_order=True))
    for value, numbers in groups.head(MAX_GROUPS).iter_rows():
        command = what_it_says(mapped, name, value or "").command(mapped.grid.name)
        if not command and (name in mapped.bad or value is None):
            command = f", or leave its event out: type podium import {shlex.quote(mapped.grid.name)} --skip-bad"
        place = mapped.grid.places(numbers)
        findings.faults.append(Fault(None, column, value, remedy + command, place, mapped.grid.name))
    if "event_id" in mapped.table.columns:
        findings.events |= set(mapped.table["event_id"].filter(which))


def add_blanks(findings: Findings, mapped: Mapped, frame: pl.DataFrame) -> None:
    """Add who of the heats that nothing compares lacks what most of the others have."""
    table = with_ids(frame)
    heats = bare_heats(table)
    rows = finishers(table).filter(pl.col("unit").is_in(heats["unit"].implode()))
    findings.events |= set(heats["event_id"])
    known = [name for name in COMPARED if name in rows.columns]
    name = min(known, key=lambda each: rows[each].null_count(), default=None)
    lacking = rows if name is None else rows.filter(pl.col(name).is_null())
    numbers = [int(mapped.rows[row - 1]) for row in lacking["row"]]
    column = None if name is None else mapped.headings.get(name, name)
    subject = "nothing" if name is None else "is empty, and nothing else"
    remedy, where = f"{subject} compares these finishers: {REMEDY}", mapped.grid.places(numbers)
    findings.faults.append(Fault(None, column, None, remedy, where, mapped.grid.name))


def located(mapped: Mapped, fault: Fault) -> Fault:
    """A fault of the strict reading, where it is in the source."""
    column = mapped.headings.get(fault.column, fault.column) if fault.column else fault.column
    place = "" if fault.row is None else mapped.grid.place(int(mapped.rows[fault.row - 1]))
    day, event = (mapped.headings.get(each) for each in ("started_at", "event_id"))
    remedy = fault.remedy
    if fault.column == "started_at" and day and event and remedy.endswith("an event has one"):
        by_day = Choice("each day is an event", "columns.event_id", f"{{{day}}} {{{event}}}")
        remedy += Question("", (by_day,)).command(mapped.grid.name)
    return fault._replace(row=None, column=column, remedy=remedy, place=place, file=mapped.grid.name)


def without_bad_events(mapped: Mapped) -> tuple[Mapped, list[Fault], int]:
    """The events without any fault, each whole; the faults of the others, and how many those are."""
    faults: list[Fault] = []
    skipped: set[str | None] = set()
    while (findings := find_faults(mapped)).faults:
        faults += findings.faults
        skipped |= findings.events
        if "event_id" not in mapped.table.columns or not findings.events:
            mapped = mapped.only_rows(pl.Series([], dtype=pl.UInt32))
            break
        ids = mapped.table["event_id"]
        gone = ids.is_in([each for each in findings.events if each is not None]).fill_null(value=True)
        mapped = mapped.only_rows(~gone)
    return mapped, faults, len(skipped)


def read(files: Sequence[Source], options: Options) -> Imported:
    tables: list[pl.DataFrame] = []
    bad: list[Fault] = []
    made: dict[str, str] = {}
    dropped: Counter[str] = Counter()
    notes: list[str] = []
    skipped = 0
    for source in files:
        grid, mapping, note = understood(source, options)
        try:
            mapped = apply_map(grid, mapping)
        except ResultsError as error:  # of cells of a Swiss list, whose rounds are events
            rounds = {str(each.column) for each in error.faults}
            if not options.skip_bad or mapping.layout.kind != "swiss" or not rounds <= {*grid.headings}:
                raise
            mapped = apply_map(replace(grid, frame=grid.frame.drop(rounds)), mapping)
            bad += [fault._replace(file=grid.name) for fault in error.faults]
            skipped += len(rounds)
        notes += [note] if note else grid.notes
        if options.skip_bad:
            mapped, faults, count = without_bad_events(mapped)
            skipped += count
        else:
            faults = find_faults(mapped).faults
        mapped = drop_small(mapped)
        bad += [*(fault._replace(file=grid.name) for fault in grid.bad), *faults]
        dropped += mapped.dropped
        notes += mapped.notes
        tables.append(mapped.table)
        made |= mapped.rounds
    table = pl.concat(tables, how="diagonal_relaxed")
    if len(tables) > 1 and not bad:
        read_results(table, name="the files together")
    return Imported(table, dict(dropped), tuple(bad), skipped, notes=tuple(dict.fromkeys(notes)), made=made)


def map_of(options: Options) -> Map | None:
    """The map of the options, with their time zone; None where the headings say it all."""
    given = options.map
    if given is None:
        return None
    mapping = build_map(given, is_partial=options.guess) if isinstance(given, Mapping) else load_map(given)
    return in_zone(mapping, options.timezone)


def in_zone(mapping: Map, zone: str) -> Map:
    source = replace(mapping.source, timezone=LocalTimes(zone).name)
    return mapping if zone == "UTC" else replace(mapping, source=source)


def understood(source: Source, options: Options) -> tuple[Grid, Map, str]:
    """The table of a file, its map, and a line of what its headings say.

    The map is the given one, or the preset that the file fits; of all that it lacks the headings say it.
    """
    given = map_of(options)
    whole = given if given is not None and not options.guess else preset_of(source)
    mapping = whole or given
    rule, wanted = (mapping.source, mapping.names) if mapping else (SourceRule(), frozenset())
    try:
        grid = load(source, rule, wanted, skip_bad=options.skip_bad and not (whole and whole.is_preset))
    except ResultsError as error:
        raise FormatError(source.name, error.faults) if whole and whole.is_preset else error from None
    if whole is not None:
        return grid, whole, "" if whole is given else f"read as {Path(whole.name).stem}"
    grid = within_lists(grid, source, options)
    document = given.document if given else {}
    document, note = infer_map(grid, document.get("source", {}), document.get("columns", {}))
    return grid, in_zone(build_map(document, grid.name), options.timezone), note


def within_lists(grid: Grid, source: Source, options: Options) -> Grid:
    """What is in the one list that each row of JSON holds, or in one that this holds, where that has results."""
    inner = grid
    while inner.rule.format in ("json", "jsonl", "xml") and not has_results(inner):
        lists = inner.lists
        if len(lists) != 1:
            names_events = "event_id" in {meanings().get(fold(each)) for each in inner.headings}
            return inner if names_events and not lists else grid
        inner = load(source, replace(inner.rule, records=inner.records_in(*lists)), skip_bad=options.skip_bad)
    return inner


def has_results(grid: Grid) -> bool:
    """Whether headings are of players and of what compares them, or of a winner and a loser, or two sides."""
    named = {meanings().get(fold(each)) for each in grid.headings}
    met = {side_of(each) for each in grid.headings}
    is_of_entrants = "player" in named and not named.isdisjoint(COMPARED)
    return is_of_entrants or met >= {"winner", "loser"} or met >= {"first", "second"}


def understand(files: Sequence[str], options: Options) -> Map:
    """The map that files are read by: the first one's, where their headings say it."""
    return understood(sources(files[0])[0], options)[1]


def questions(files: Sequence[str], options: Options | None = None) -> list[Question]:
    """What a table leaves open, with the answers so far in the map of `options`, where `answer` puts them.

    Nothing where the table is read, or nothing that could be answered is wrong.
    """
    try:
        grid, mapping, _ = understood(sources(files[0])[0], options or Options())
        return [] if mapping.is_preset else what_words_say(apply_map(grid, mapping))
    except UndecidedError as error:
        return list(error.questions)
    except ResultsError:
        return []


def what_words_say(mapped: Mapped) -> list[Question]:
    found = list[Question]()
    for name, (which, written) in mapped.bad.items():
        cells = written.filter(which).unique(maintain_order=True)
        found += [what_it_says(mapped, name, cell) for cell in (cells if cells.len() <= MOST_WORDS else ())]
    return [question for question in found if question.choices]


def what_it_says(mapped: Mapped, name: str, cell: str) -> Question:
    """Ask what a cell says in place of a place, a time or a score, or whether its column counts."""
    heading = mapped.headings.get(name, "")
    key = f'columns.status.map."{cell}"'
    is_word = name in COMPARED and not re.search(r"\d", cell)
    is_of_entrant = is_word and not (heading and mapped.rows.is_duplicated().any())  # but of a match
    choices = [Choice(what, key, status) for status, what in STATUS_MEANINGS.items() if is_of_entrant]
    if name == "score" and None not in (parse_result(cell) or (None,)):
        choices.append(Choice("the first of two scores", "columns.score.as", "result"))
    may_lack = name not in ("event_id", "player") and heading in mapped.grid.headings
    if may_lack and any(each in mapped.table.columns for each in COMPARED if each != name):
        choices.append(Choice(f"leave {heading} aside", "source.aside", heading))
    return Question(f"what {cell!r} says of an entrant", tuple(choices), heading or None)


def first_rows(files: Sequence[str], options: Options) -> pl.DataFrame:
    """The first rows of a table as they are written, as far as it is known how."""
    given = map_of(options)
    try:
        grid = load(sources(files[0])[0], given.source if given else SourceRule())
    except ResultsError:
        return pl.DataFrame()
    return grid.frame.select(grid.headings).head(SHOWN_ROWS)


def answer(key: str, value: str, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A part of a map that says one thing more: the key with its dots, as `source.sheet`, and its value.

    Returns:
        The document with it, as TOML has it, which `Options(map=…, guess=True)` takes.
    """
    *tables, last = (each.strip('"') for each in re.findall(r'"[^"]*"|[^.]+', key))
    whole: dict[str, Any] = {name: {**each} for name, each in (document or {}).items()}
    table = whole
    for name in tables:
        inner = table.get(name, {})
        table[name] = {**inner} if isinstance(inner, Mapping) else {"from": inner}
        table = table[name]
    is_value = last in ("header", "width", "fill")
    if last == "aside":
        table[last] = [*table.get(last, []), value]
        return {"columns": {}, **whole}
    table[last] = tomllib.loads(f"value = {value}")["value"] if is_value and value[:1] in '["0123456789' else value
    return {"columns": {}, **whole}


def interview(file: str, answers: Collection[str]) -> tuple[Posed, dict[str, Any] | None]:
    """All that a table leaves open as far as `answers` go, with what was chosen, and the map's part that this says."""
    posed: Posed = []
    document: dict[str, Any] | None = None
    while all(choice for _, choice in posed):
        found = questions([file], Options(map=document, guess=True))
        news = [(each, next((one for one in each.choices if one.answer in answers), None)) for each in found]
        if not news or any(each in posed for each in news):  # an answer that settles nothing is refused as it is read
            break
        posed += news
        for _, choice in news:
            document = document if choice is None else answer(choice.key, choice.value, document)
    return posed, document


START_BYTES = 1 << 13  # in which the head of a table is


@cache
def presets() -> dict[str, Map]:
    return {path.stem: load_map(path) for path in sorted(PRESETS.glob("*.toml"))}


def preset_of(source: Source) -> Map | None:
    content = source.content()
    kind = kind_of(content, source.name).replace("jsonl", "json")
    fitting = [each for each in presets().values() if each.source.format == kind]
    if not fitting:
        return None
    try:
        if kind == "csv":
            start = content[:START_BYTES].decode(language_encoding(content[:START_BYTES]) or "utf-8", "replace")
            lines = start.splitlines()
            return next((own for line in lines for own in fitting if all(cell in line for cell in own.needs)), None)
        text = decode(content, source.name, "xml" if kind == "xml" else None)
        if kind == "lines":
            return fitting[0]
        document = (json_document if kind == "json" else xml_document)(text, source.name)
    except PodiumError:
        return None  # which its reader refuses by name
    return next((each for each in fitting if all(is_there(document, path) for path in each.needs)), None)


def is_there(document: Any, path: str) -> bool:
    return next(iter(walk(Level(document), parse_path(path, "map"), (), "")), None) is not None
