"""Errors in mapped rows, with their locations in the source, and questions about unknown words."""

import re
import shlex
from dataclasses import dataclass, field, replace

import polars as pl

from podium.errors import Fault
from podium.importers.grid import Choice, ignoring, question
from podium.importers.tables.applying import BAD, Mapped
from podium.importers.tables.cells import parse_result
from podium.results.column_guide import COMPARED
from podium.results.columns import REQUIRED, normalise_table
from podium.results.consistency import NOTHING_COMPARES, REMEDY, bare_heats, contradictions, finishers, with_ids

MAX_WORDS = 3  # maximum number of unknown words in a column to ask about
STATUS_MEANINGS = {"dnf": "did not finish", "did_not_start": "did not start", "disqualified": "was disqualified"}
MAX_VALUES = 1000  # maximum number of values to list for a column


@dataclass
class Findings:
    faults: list[Fault] = field(default_factory=list)
    events: set[str | None] = field(default_factory=set)  # events with errors
    checked: tuple[pl.DataFrame, pl.DataFrame | None] = (pl.DataFrame(), None)  # the results, if there are no errors


def find_faults(mapped: Mapped) -> Findings:
    """Return all errors in mapped rows, grouped as in a results table."""
    found = Findings()
    for name, (which, written) in mapped.bad.items():
        add_cells(found, mapped, name, which, written, mapped.remedies[name])
    if lacking := [name for name in REQUIRED if name not in mapped.table.columns]:
        found.faults += [Fault(None, name, None, "is missing; every row needs a value") for name in lacking]
        return found
    bad = [BAD + name for name in mapped.bad]
    rows = replace(mapped, frame=mapped.frame.filter(~pl.any_horizontal(bad))) if bad else mapped
    checked = normalise_table(rows.table)
    while checked.faults:
        if of_columns := [located(rows, fault) for fault in checked.faults if fault.row is None]:
            found.faults += of_columns
            return found
        wrong = pl.Series([False] * rows.table.height)
        for fault in checked.faults:
            row, name = (fault.row or 1) - 1, fault.column or ""
            if not wrong[row]:  # all cells with this value are wrong
                column = rows.table[name]
                alike = column.eq_missing(column[row])
                add_cells(found, rows, name, alike, column.cast(pl.String), fault.remedy)
                wrong |= alike
        rows = rows.only_rows(~wrong)
        checked = normalise_table(rows.table)
    frame = checked.frame
    if found.events:
        whole = ~rows.table["event_id"].is_in([event for event in found.events if event is not None])
        frame, rows = frame.filter(whole), rows.only_rows(whole)
    add_contradictions(found, rows, frame)
    found.checked = frame, checked.sent
    return found


def add_contradictions(found: Findings, mapped: Mapped, frame: pl.DataFrame) -> None:
    """Add errors for rows that contradict each other. All entrants who cannot be compared share one error."""
    are_blank = False
    for fault in contradictions(frame):
        found.events |= set() if fault.row is None else {mapped.table["event_id"][fault.row - 1]}
        if not fault.remedy.startswith(NOTHING_COMPARES):
            found.faults.append(located(mapped, fault))
        elif not are_blank:
            are_blank = True
            add_blanks(found, mapped, frame)


def add_cells(found: Findings, mapped: Mapped, name: str, which: pl.Series, written: pl.Series, remedy: str) -> None:
    """Add one error for each value in the marked rows of a column, with the rows that contain it."""
    grid, column = mapped.grid, mapped.headings.get(name, name)
    rows = pl.DataFrame({"value": written, "row": mapped.rows}).filter(which)
    groups = rows.group_by("value", maintain_order=True).agg(pl.col("row").unique(maintain_order=True))
    for value, numbers in groups.head(MAX_VALUES).iter_rows():
        doubt = ask_what_it_says(mapped, name, value or "")
        command = doubt.command
        if not command and (name in mapped.bad or value is None):
            command = f"To leave its event out, type podium import {shlex.quote(grid.name)} --skip-bad"
        place = grid.places(numbers)
        found.faults.append(Fault(None, column, value, remedy, place, grid.name, command, doubt.choices))
    if "event_id" in mapped.table.columns:
        found.events |= {*mapped.table["event_id"].filter(which)}


def add_blanks(found: Findings, mapped: Mapped, frame: pl.DataFrame) -> None:
    """Add an error for entrants who cannot be compared because they lack a value that most others have."""
    table = with_ids(frame)
    heats = bare_heats(table)
    rows = finishers(table).filter(pl.col("unit").is_in(heats["unit"].implode()))
    known = [name for name in COMPARED if name in rows.columns]
    name = min(known, key=lambda column: rows[column].null_count(), default=None)
    lacking = rows if name is None else rows.filter(pl.col(name).is_null())
    where = mapped.grid.places([int(mapped.rows[row - 1]) for row in lacking["row"]])
    subject = "nothing" if name is None else "is empty, and no other column"
    column = name and mapped.headings.get(name, name)
    remedy = f"{subject} compares these finishers; {REMEDY}"
    found.faults.append(Fault(None, column, None, remedy, where, mapped.grid.name))
    found.events |= {*heats["event_id"]}


def located(mapped: Mapped, fault: Fault) -> Fault:
    """Return an error in the results, with its location in the source."""
    name = fault.column
    place = "" if fault.row is None else mapped.grid.place(int(mapped.rows[fault.row - 1]))
    day, event = (mapped.headings.get(column) for column in ("started_at", "event_id"))
    if name == "started_at" and day and event and fault.remedy.endswith("an event can have only one"):
        by_day = Choice("each day is an event", "columns.event_id", f"{{{day}}} {{{event}}}")
        fault = fault._replace(command=question(mapped.grid.name, "", [by_day]).command, choices=(by_day,))
    column = name and mapped.headings.get(name, name)
    return fault._replace(row=None, column=column, place=place, file=mapped.grid.name)


def without_bad_events(mapped: Mapped) -> tuple[Mapped, list[Fault], int]:
    """Return the events without errors, the errors in all other events, and the number of these events."""
    faults: list[Fault] = []
    skipped: set[str | None] = set()
    while (findings := find_faults(mapped)).faults:
        faults += findings.faults
        skipped |= {*findings.events}
        if "event_id" not in mapped.table.columns or not findings.events:
            mapped = replace(mapped, frame=mapped.frame.clear())
            break
        known = [event for event in findings.events if event is not None]
        mapped = mapped.only_rows(~mapped.table["event_id"].is_in(known).fill_null(value=True))
    return mapped, faults, len(skipped)


def questions_of_cells(mapped: Mapped) -> list[Fault]:
    """Ask about words that do not fit their columns, if there are only a few."""
    found = list[Fault]()
    for name, (which, written) in mapped.bad.items():
        cells = written.filter(which).unique(maintain_order=True)
        found += [ask_what_it_says(mapped, name, cell) for cell in (cells if cells.len() <= MAX_WORDS else ())]
    return [doubt for doubt in found if doubt.choices]


def ask_what_it_says(mapped: Mapped, name: str, cell: str) -> Fault:
    """Ask what a word means if it replaces a place, time or score, or whether to ignore its column."""
    heading = mapped.headings.get(name, "")
    is_word = name in COMPARED and not re.search(r"\d", cell)
    is_of_entrant = is_word and not (heading and mapped.rows.is_duplicated().any())  # not of a match
    statuses = STATUS_MEANINGS.items() if is_of_entrant else ()
    choices = [Choice(meaning, f'columns.status.map."{cell}"', status) for status, meaning in statuses]
    if name == "score" and None not in (parse_result(cell) or (None,)):
        choices.append(Choice("the first of two scores", "columns.score.as", "result"))
    may_lack = name not in ("event_id", "player") and heading in mapped.grid.headings
    if may_lack and any(column in mapped.table.columns for column in COMPARED if column != name):
        choices.append(ignoring(heading))
    return question(mapped.grid.name, f"what does {cell!r} mean?", choices, heading or None)
