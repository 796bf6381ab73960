"""Read the formats of other programs that are declared in TOML files, in the folder `formats`.

A declaration is a map (see `maps`) with more tables, whose keys are the fields of the classes below. Its paths lead to
the events in a document and to the entrants in an event. Its conditions, side tables and rules decide what counts. A
format with several kinds of events lists under `kinds` what differs between them.

A condition is met if the value in its `column` passes its test, or if the value in `unless` does not. It can have
another condition as `when`.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import groupby, product
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import polars as pl

from podium.errors import FormatError, ResultsError
from podium.importers import times
from podium.importers.collecting import PLACE, Collector, Event, encodable
from podium.importers.files import read as read_cells
from podium.importers.grid import ROW_NUMBER, Grid
from podium.importers.sources import Source, refuse_file
from podium.importers.tables.applying import apply_map, drop_rows, meets
from podium.importers.tables.cells import constant
from podium.importers.tables.maps import CONDITIONS, Condition, Map, build_map, read_table, read_text
from podium.importers.trees import Chain, Level, as_text, documents, parse_path, texts_at, walk
from podium.results.names import refusal
from podium.support.immutable import immutable

Entrants = list[dict[str, Any]]


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
    """A table in the same document, or in another file. An event gets its partner under the table's name."""

    here: str  # path to the key of the partner
    there: Sequence[str]  # paths to the keys of the table's rows
    path: str = ""
    file: str = ""


@immutable
class Rules:
    """Rules for the entrants of an event."""

    by: Sequence[str] = ()  # paths to the keys of an event. Default: the rows at the same path are an event
    name: str = ""  # path to the name to display
    no_id: str = ""  # reason to drop players without an ID
    twice: str = ""  # reason to drop all but the first row of a player
    by_mean_time: bool = False  # True if the mean time of a team's members is its time
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

    @property
    def names(self) -> set[str]:
        return {*self.map.names, *filter(None, (self.rules.name, self.rules.clock))}


class Document(NamedTuple):
    """A JSON document, or a row of a table."""

    file: str
    place: str
    value: Any


class Row(NamedTuple):
    """An event, or a row in an event, with the objects around it."""

    event: Event
    place: str
    levels: Chain


def forms_of(path: Path) -> Iterator[Form]:
    """Yield the form of each kind of event in a format."""
    for tables in kinds_of(tomllib.loads(path.read_text(encoding="utf-8"))):
        files, sides, rules = (tables.pop(name, {}) for name in ("files", "sides", "rules"))
        events, entrants = (
            Stage(**read_table(tables.pop(name, {}), name, OF_STAGE)) for name in ("events", "entrants")
        )
        side_tables = {name: SideTable(**side) for name, side in sides.items()}
        mapping = build_map({"preset": {}, **tables}, path.stem)
        yield Form(mapping, Files(**files), events, entrants, side_tables, Rules(**rules))


def kinds_of(common: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tables of each kind of event. An empty value removes a key that is common to several kinds."""
    kinds = common.pop("kinds", None)
    if kinds is None:
        yield {name: {key: value for key, value in own.items() if value != {}} for name, own in common.items()}
    for kind in (kinds or {}).values():
        yield from kinds_of({name: {**common.get(name, {}), **kind.get(name, {})} for name in common | kind})


OF_STAGE = {"path": read_text, "drop": CONDITIONS, "refuse": CONDITIONS}


def read(path: Path, files: Sequence[Source], collector: Collector) -> None:
    """Read files in the format that a TOML file declares."""
    forms = [*forms_of(path)]
    present = [form for form in forms if named(files, form.files.name) and not named(files, form.files.unless)]
    if not present:
        names = dict.fromkeys(form.files.name for form in forms)
        refuse_file(files[0].name, f"has no results. Give the folder with {' or '.join(names)}.")
    for side in (side for form in present for side in form.sides.values()):
        if side.file and not named(files, side.file):
            refuse_file(files[0].name, f"needs {side.file} in the same folder")
    for wanted, kinds in groupby(present, key=lambda form: form.files):
        first, *others = kinds
        found = [
            document for source in named(files, wanted.name) for document in documents_in(source, first, collector)
        ]
        for form in (first, *others):
            every = events_in(found, form, collector)
            add_partners(every, found, form, files)
            events, _ = counted(every, form, form.events, (), collector)
            add_entrants(*counted(entrants_in(events, form), form, form.entrants, form.names, collector), form)
            for event in {id(row.event): row.event for row in events}.values():
                complete(event, form.rules, collector)


def named(files: Iterable[Source], name: str) -> list[Source]:
    """Return the files with a name, in which * stands for any text."""
    return [source for source in files if fnmatchcase(PurePath(source.name).name.lower(), name)]


def table_in(source: Source, columns: Sequence[str], form: Form) -> Grid:
    try:
        grid = read_cells(source, form.map.source, columns)
    except ResultsError as error:
        raise FormatError(source.name, error.faults) from None
    for name in columns:
        if name not in grid.headings:
            refuse_file(source.name, f"has no column {name}. It needs {', '.join(columns)}.")
    return grid


def documents_in(source: Source, form: Form, collector: Collector) -> Iterator[Document]:
    """Yield the rows of a table, or the documents in a JSON file. Report documents without a list of events."""
    to_list, _, rest = form.events.path.partition("[]")
    if form.files.columns:
        grid = table_in(source, form.files.columns, form)
        for at, row in enumerate(grid.frame.iter_rows(named=True)):
            yield Document(source.name, grid.place(at), row)
        return
    for place, whole in documents(source, collector.refuse):
        for inner, (document, *_) in walk(Level(whole), ["[]"] if isinstance(whole, list) else [], (), place):
            has_list = any(isinstance(value, list) for value in values_in(document.value, to_list))
            if has_list or (rest == "?" and isinstance(document.value, dict)):  # which is a single event
                yield Document(source.name, inner, document.value)
            else:
                event = Event(source.name, inner)
                event.refuse(document.value, f"has no list {to_list}")
                collector.refuse(event.faults)


def values_in(value: Any, path: str) -> list[Any]:
    """Return the values at a path."""
    return [levels[0].value for _, levels in walk(Level(value), parse_path(path, path), (), "")]


def events_in(documents: Iterable[Document], form: Form, collector: Collector) -> list[Row]:
    """Return the events in documents. Rows that belong to the same event share it."""
    steps = parse_path(form.events.path, form.map.name)
    found = [
        (file, event_place, levels)
        for file, place, document in documents
        for event_place, levels in walk(Level(document), steps, (), place)
    ]
    keys: list[Sequence[object]] = [texts_at([levels for *_, levels in found], path) for path in form.rules.by] or [
        range(len(found))
    ]
    rows, events = list[Row](), dict[tuple[Any, ...], Event]()
    for (file, place, levels), key in zip(found, zip(*keys, strict=True), strict=True):
        event = events.get(key) or Event(file, place)
        if isinstance(levels[0].value, dict):
            events[key] = event
            rows.append(Row(event, place, levels))
        else:
            event.refuse(levels[0].value, "is not an object")
            collector.refuse(event.faults)
    return rows


def entrants_in(events: list[Row], form: Form) -> list[Row]:
    steps = parse_path(form.entrants.path, form.map.name)
    if not steps:
        return events
    return [
        Row(event, entrant_place, levels)
        for event, place, (row, *around) in events
        for entrant_place, levels in walk(row, steps, tuple(around), place)
    ]


def add_partners(events: Sequence[Row], documents: Sequence[Document], form: Form, files: Sequence[Source]) -> None:
    """Add to each event its partners in side tables, under the names of these tables. Report missing partners."""
    for name, side in form.sides.items():
        if side.file:
            grid = table_in(named(files, side.file)[0], side.there, form)
            rows = [*grid.frame.iter_rows(named=True)]
        else:
            rows = [row for document in documents for row in values_in(document.value, side.path)]
        partners = {as_text(key): row for row in rows for path in side.there for key in values_in(row, path)}
        keys = texts_at([event.levels for event in events], side.here)
        for (event, place, (row, *_)), key in zip(events, keys, strict=True):
            row.value[name] = partners.get(key or "")
            if row.value[name] is None and key not in (None, *form.map.source.null):
                event.refuse(key, f"is not in {side.file or side.path}", side.here, place)


def counted(
    rows: Sequence[Row], form: Form, stage: Stage, names: Iterable[str], collector: Collector
) -> tuple[list[Row], pl.DataFrame]:
    """Return the rows that count, some of which have errors, and their texts for these names."""
    nulls = dict.fromkeys(form.map.source.null)
    needed = {*names, *(name for condition in (*stage.drop, *stage.refuse) for name in condition.names)}
    texts = (texts_of(rows, name, form).str.strip_chars().replace(nulls) for name in needed)
    every = pl.DataFrame([pl.Series(ROW_NUMBER, range(len(rows)), pl.UInt32), *texts])
    frame, dropped = drop_rows(every, stage.drop)
    collector.dropped += dropped
    for condition in stage.refuse:
        for at, text in frame.filter(meets(frame, condition)).select(ROW_NUMBER, condition.column).iter_rows():
            rows[at].event.refuse(text, condition.reason, condition.column, rows[at].place)
    return [rows[at] for at in frame[ROW_NUMBER]], frame


def texts_of(rows: Sequence[Row], name: str, form: Form) -> pl.Series:
    """Return the text for a name in each row. Report halves of surrogate pairs, except in names to display."""
    texts = texts_at([row.levels for row in rows], name)
    try:
        return pl.Series(name, texts, pl.String)
    except UnicodeEncodeError:
        plain = [text and encodable(text) for text in texts]
    for row, text, own in zip(rows, texts, plain, strict=True):
        if text != own and name != form.rules.name:
            row.event.refuse(text, refusal(text or ""), name, row.place)
    return pl.Series(name, plain, pl.String)


def add_entrants(rows: Sequence[Row], texts: pl.DataFrame, form: Form) -> None:
    """Apply the map to all rows, add the entrants to their events, and report the cells that do not fit."""
    mapped = apply_map(Grid(form.map.name, texts, labels=[row.place for row in rows]), form.map)
    table = mapped.table.with_columns(pl.col("started_at").cast(pl.Int64))
    if "ranked" in table.columns:
        table = table.with_columns(pl.col("ranked") == "true")
    bad, nothing = mapped.bad.items(), constant(None, texts.height)
    names, clocks = (texts.get_column(path, default=nothing) for path in (form.rules.name, form.rules.clock))
    entrants = zip(mapped.rows, table.iter_rows(named=True), names[mapped.rows], clocks[mapped.rows], strict=True)
    for at, (number, values, name, clock) in enumerate(entrants):
        event, place, _ = rows[number]
        for column, (is_bad, written) in bad:
            if is_bad[at]:
                event.refuse(written[at], mapped.remedies[column], mapped.headings.get(column, column), place)
        if values.get("status", "finished") != "finished":
            values.update(position=None, time_s=None)
        time = times.parse(clock or "")
        if time and not time.sign and values["time_s"] not in (None, float(time.seconds)):
            remedy = f"differs from the {values['time_s']} seconds of the same result"
            event.refuse(clock, remedy, form.rules.clock, place)
        event.add(values["player"], values, name=name, place=place)


def complete(event: Event, rules: Rules, collector: Collector) -> None:
    """Apply the rules to the entrants of an event, which then goes to the collector."""
    count = len(event.rows)
    if rules.twice:
        once = dict[str, dict[str, Any]]()
        for entrant in event.rows:
            once.setdefault(entrant["player"], entrant)
        event.rows = [*once.values()]
        collector.drop(rules.twice, count - len(once))
    if rules.by_mean_time:
        event.rows = by_mean_time(event.rows)
    if rules.no_id:
        event.rows = [entrant for entrant in event.rows if entrant["player"] is not None]
        collector.drop(rules.no_id, count - len(event.rows))
    for entrant, column in product(event.rows, ("event_id", "pool", "player")):
        if entrant[column] is None:
            event.refuse(None, "is missing", column, entrant[PLACE])
    if event.faults:
        collector.refuse(event.faults)
    elif event.rows:
        first = event.rows[0]
        event.event_id, event.started_at, event.shared = first["event_id"], first["started_at"], {"pool": first["pool"]}
        collector.take(event)
    elif not rules.by:
        collector.drop("too few")


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
