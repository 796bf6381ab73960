"""Read the formats of other programs that are declared in TOML files, in the folder `formats`.

A declaration is a map (see `maps`) with more tables, whose keys are the fields of the classes below. Its paths lead to
the events in a document and to the entrants in an event. Its conditions, side tables and rules decide what counts. A
format with several kinds of events lists under `kinds` what differs between them.

A condition is met if the value in its `column` passes its tests (`TESTS`), or if the value in `unless` does not. It can
have another condition as `when`. The value itself is the default reason to drop a row.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import groupby, product
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from podium.errors import FormatError, ResultsError
from podium.importers import times
from podium.importers.collecting import PLACE, Collector, Event
from podium.importers.files import load
from podium.importers.grid import Grid
from podium.importers.sources import Source, refuse_file
from podium.importers.tables.applying import apply_map
from podium.importers.tables.cells import number
from podium.importers.tables.maps import Map, build_map
from podium.importers.trees import Chain, Level, as_text, documents, parse_path, value_at, walk
from podium.support.immutable import immutable

Condition = Mapping[str, Any]
Entrants = list[dict[str, Any]]
SideRows = Mapping[str, Any]  # rows of a side table, by their keys


@immutable
class Files:
    """The files that contain one kind of event."""

    name: str = "*"
    unless: str = ""  # name of a file that replaces them
    columns: Sequence[str] = ()  # columns that a table must have. Without them, the files are JSON documents


@immutable
class Stage:
    """The events in a document, or the entrants in an event."""

    path: str = ""
    drop: Sequence[Condition] = ()
    refuse: Sequence[Condition] = ()


@immutable
class SideTable:
    """A table in the same document, or in another file, whose columns are called `side.column`."""

    here: str  # path to the key of the partner
    there: Sequence[str]  # paths to the keys of the table's rows
    path: str = ""
    file: str = ""


@immutable
class Rules:
    """Rules for the entrants of an event."""

    by_id: bool = False  # True if all rows with one event ID are one event. Default: the rows at the same path
    name: str = ""  # path to the name to display
    no_id: str = ""  # reason to drop players without an ID
    twice: str = ""  # reason to drop all but the first row of a player
    teams: str = ""  # a key of `TEAMS`
    clock: str = ""  # path to a time on a clock, which must not differ from time_s


@immutable
class Form:
    """The form of one kind of event."""

    map: Map
    files: Files
    events: Stage
    entrants: Stage
    sides: Mapping[str, SideTable]
    rules: Rules


@dataclass(slots=True)
class Row:
    """An event, or a row in an event, with the objects around it and its partners in side tables."""

    event: Event
    place: str
    levels: Chain
    nulls: Sequence[str]
    partners: dict[str, Chain] = field(default_factory=dict)
    entrants: Entrants = field(default_factory=list)  # one, or both sides of a match, in the columns of results

    def text(self, name: str) -> str | None:
        side, _, path = name.partition(".")
        levels = self.partners.get(side)
        text = ((value_at(self.levels, name) if levels is None else value_at(levels, path)) or "").strip()
        return None if text in self.nulls else text

    def reason_to_drop(self, stage: Stage) -> str:
        """Return the reason why the row does not count, or an empty string if it counts, perhaps with errors."""
        for condition in stage.drop:
            if self.meets(condition):
                return condition.get("reason") or self.text(tested(condition)) or ""
        for condition in stage.refuse:
            if self.meets(condition):
                column = tested(condition)
                self.event.refuse(self.text(column), condition["reason"], column, self.place)
        return ""

    def meets(self, condition: Condition) -> bool:
        text = self.text(tested(condition))
        passes = all(test(self, text, condition[name]) for name, test in TESTS.items() if name in condition)
        return passes != ("unless" in condition) and ("when" not in condition or self.meets(condition["when"]))


def tested(condition: Condition) -> str:
    return str(condition.get("column") or condition["unless"])


TESTS: Mapping[str, Callable[[Row, str | None, Any], bool]] = {
    "null": lambda _row, text, is_null: (text is None) == is_null,
    "in": lambda _row, text, words: text in words,
    "matches": lambda _row, text, pattern: re.fullmatch(pattern, text or "") is not None,
    "of": lambda row, text, columns: text in map(row.text, columns),
    "below": lambda row, text, column: number(text) < number(row.text(column)),
}


def forms_of(path: Path) -> Iterator[Form]:
    """Yield the form of each kind of event in a format. An empty value removes a key that is common to all kinds."""
    common = tomllib.loads(path.read_text(encoding="utf-8"))
    for kind in common.pop("kinds", [{}]):
        tables = dict[str, Any]()
        for name in common | kind:
            whole = {**common.get(name, {}), **kind.get(name, {})}
            tables[name] = {key: value for key, value in whole.items() if value != {}}
        files, events, entrants, sides, rules = (
            tables.pop(name, {}) for name in ("files", "events", "entrants", "sides", "rules")
        )
        side_tables = {name: SideTable(**side) for name, side in sides.items()}
        mapping = build_map({"preset": {}, **tables}, path.stem)
        yield Form(mapping, Files(**files), Stage(**events), Stage(**entrants), side_tables, Rules(**rules))


def read(path: Path, files: Sequence[Source], collector: Collector) -> None:
    """Read files in the format that a TOML file declares."""
    forms = [*forms_of(path)]
    present = [form for form in forms if named(files, form.files.name) and not named(files, form.files.unless)]
    if not present:
        names = dict.fromkeys(form.files.name for form in forms)
        refuse_file(files[0].name, f"has no results. Give the folder with {' or '.join(names)}.")
    for wanted, kinds in groupby(present, key=lambda form: form.files):
        found = [(form, side_files(form, files), list[tuple[Event, list[Row]]]()) for form in kinds]
        for source in named(files, wanted.name):
            for place, document in documents_in(source, found[0][0], collector):
                for form, tables, events in found:
                    events.extend(events_in(source.name, place, document, form, tables, collector))
        for form, _, events in found:
            add_entrants([row for _, rows in events for row in rows], form)
            for event, rows in by_id(events) if form.rules.by_id else events:
                complete(event, rows, form.rules, collector)


def named(files: Iterable[Source], name: str) -> list[Source]:
    """Return the files with a name, in which * stands for any text."""
    return [source for source in files if fnmatchcase(PurePath(source.name).name.lower(), name)]


def table_in(source: Source, columns: Sequence[str], form: Form) -> Grid:
    try:
        grid = load(source, form.map.source, columns)
    except ResultsError as error:
        raise FormatError(source.name, error.faults) from None
    for name in columns:
        if name not in grid.headings:
            refuse_file(source.name, f"has no column {name}. It needs {', '.join(columns)}.")
    return grid


def side_files(form: Form, files: Sequence[Source]) -> dict[str, SideRows]:
    """Return the rows of the side tables that are files."""
    found = dict[str, SideRows]()
    for name, side in form.sides.items():
        if side.file:
            own = named(files, side.file)
            if not own:
                refuse_file(files[0].name, f"needs {side.file} in the same folder")
            found[name] = by_keys(table_in(own[0], side.there, form).frame.iter_rows(named=True), side)
    return found


def by_keys(rows: Iterable[Any], side: SideTable) -> SideRows:
    return {as_text(key): row for row in rows for path in side.there for key in values_in(row, path)}


def values_in(value: Any, path: str) -> list[Any]:
    """Return the values at a path."""
    return [levels[0].value for _, levels in walk(Level(value), parse_path(path, path), (), "")]


def documents_in(source: Source, form: Form, collector: Collector) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a table, or the documents in a JSON file. Report documents without a list of events."""
    to_list, _, rest = form.events.path.partition("[]")
    if form.files.columns:
        grid = table_in(source, form.files.columns, form)
        yield from ((grid.place(at), row) for at, row in enumerate(grid.frame.iter_rows(named=True)))
        return
    for place, whole in documents(source, collector.refuse):
        for inner, (document, *_) in walk(Level(whole), ["[]"] if isinstance(whole, list) else [], (), place):
            found = values_in(document.value, to_list)
            has_list = any(isinstance(value, list) for value in found)
            if has_list or (rest == "?" and isinstance(document.value, dict)):  # which is a single event
                yield inner, document.value
            else:
                event = Event(source.name, inner)
                event.refuse(document.value, f"has no list {to_list}")
                collector.refuse(event.faults)


def events_in(
    file: str, place: str, document: Any, form: Form, tables: Mapping[str, SideRows], collector: Collector
) -> Iterator[tuple[Event, list[Row]]]:
    """Yield the events in a document that count, each with its rows."""
    inner = {name: by_keys(values_in(document, side.path), side) for name, side in form.sides.items() if side.path}
    nulls = form.map.source.null
    for event_place, levels in walk(Level(document), parse_path(form.events.path, file), (), place):
        event = Event(file, event_place)
        if not isinstance(levels[0].value, dict):
            event.refuse(levels[0].value, "is not an object")
        elif reason := Row(event, event_place, levels, nulls).reason_to_drop(form.events):
            collector.drop(reason)
            continue
        rows = list[Row]()
        for row_place, row_levels in walk(levels[0], parse_path(form.entrants.path, file), levels[1:], event_place):
            row = Row(event, row_place, row_levels, nulls)
            add_partners(row, form.sides, {**tables, **inner})
            if reason := row.reason_to_drop(form.entrants):
                collector.drop(reason)
            else:
                rows.append(row)
        yield event, rows


def add_partners(row: Row, sides: Mapping[str, SideTable], tables: Mapping[str, SideRows]) -> None:
    """Add the partners of a row in side tables. Report those that are missing."""
    for name, side in sides.items():
        key = row.text(side.here)
        partner = None if key is None else tables[name].get(key)
        if key is not None and partner is None:
            row.event.refuse(key, f"is not in {side.file or side.path}", side.here, row.place)
        row.partners[name] = (Level(partner),)


def add_entrants(rows: Sequence[Row], form: Form) -> None:
    """Apply the map to all rows, and report the cells that do not fit."""
    frame = pl.DataFrame({name: [row.text(name) for row in rows] for name in form.map.names})
    grid = Grid(form.map.name, frame.cast(pl.String), labels=[row.place for row in rows])
    mapped = apply_map(grid, form.map)
    table = mapped.table.with_columns(pl.col("started_at").cast(pl.Int64))
    if "ranked" in table.columns:
        table = table.with_columns(pl.col("ranked") == "true")
    bad, clock = mapped.bad.items(), form.rules.clock
    for at, values in enumerate(table.iter_rows(named=True)):
        row = rows[mapped.rows[at]]
        for name, (is_bad, written) in bad:
            if is_bad[at]:
                row.event.refuse(written[at], mapped.remedies[name], mapped.headings.get(name, name), row.place)
        if values.get("status", "finished") != "finished":
            values.update(position=None, time_s=None)
        text = row.text(clock) or ""
        time = times.parse(text)
        if time and not time.sign and values["time_s"] not in (None, float(time.seconds)):
            row.event.refuse(text, f"differs from the {values['time_s']} seconds of the same result", clock, row.place)
        row.entrants.append(values)


def by_id(found: Iterable[tuple[Event, list[Row]]]) -> Iterable[tuple[Event, list[Row]]]:
    """Join the events that have the same ID."""
    events = dict[str, tuple[Event, list[Row]]]()
    for event, rows in found:
        if rows or event.faults:
            event_id = rows[0].entrants[0]["event_id"] if rows else None
            whole, own = events.setdefault(event_id or event.place, (event, []))
            own += rows
            whole.faults += event.faults if whole is not event else []
    return events.values()


def complete(event: Event, rows: Sequence[Row], rules: Rules, collector: Collector) -> None:
    """Apply the rules to the entrants of an event, which then goes to the collector."""
    for row in rows:
        if rules.twice and any(known["player"] == row.entrants[0]["player"] for known in event.rows):
            collector.drop(rules.twice)
        else:
            for values in row.entrants:
                event.add(values["player"], values, name=row.text(rules.name), place=row.place)
    if rules.teams:
        event.rows = TEAMS[rules.teams](event.rows)
    if rules.no_id:
        known = [entrant for entrant in event.rows if entrant["player"] is not None]
        collector.drop(rules.no_id, len(event.rows) - len(known))
        event.rows = known
    for entrant, column in product(event.rows, ("event_id", "pool", "player")):
        if entrant[column] is None:
            event.refuse(None, "is missing", column, entrant[PLACE])
    if event.faults:
        collector.refuse(event.faults)
    elif not event.rows:
        collector.drop("too few")
    else:
        first = event.rows[0]
        event.event_id, event.started_at, event.shared = first["event_id"], first["started_at"], {"pool": first["pool"]}
        collector.take(event)


def with_players_alone(rows: Entrants) -> Entrants:
    """Return the rows without teams of a single player, who gets the team's score."""
    sizes = Counter(row["team"] for row in rows)
    for row in rows:
        if sizes[row["team"]] == 1:
            row.update(team=None, score=row["team_score"], team_score=None)
    return rows


def by_mean_time(rows: Entrants) -> Entrants:
    """Place teams by the mean time of their members. A team with a member who did not finish gets no place."""
    if all(row["team"] is None for row in rows):
        return rows
    teams = dict[str | int, Entrants]()
    for at, row in enumerate(rows):
        teams.setdefault(row["team"] or at, []).append(row)
    means = dict[str | int, Decimal]()
    for name, members in teams.items():
        finishes = [Decimal(repr(row["time_s"])) for row in members if row["time_s"] is not None]
        if len(finishes) == len(members):
            means[name] = sum(finishes, Decimal(0)) / len(members)
    for name, members in teams.items():
        place = 1.0 + sum(mean < means[name] for mean in means.values()) if name in means else None
        for row in members:
            status = "dnf" if place is None and row["status"] == "finished" else row["status"]
            row.update(position=place, time_s=None, status=status)
    return [row for members in teams.values() for row in members]


TEAMS = {"players alone": with_players_alone, "mean time": by_mean_time}
