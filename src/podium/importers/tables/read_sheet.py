"""Read any table as results, using its map, a matching preset, or a map inferred from its headings."""

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import Fault, FormatError, ParameterError, PodiumError, ResultsError
from podium.importers.collecting import Collector
from podium.importers.files import kind_of, language_encoding, load
from podium.importers.grid import Choice, Grid, SourceRule, UndecidedError
from podium.importers.options import DECLARED, FORMATS, PRESETS, Imported, Options
from podium.importers.sources import Source, decode, refuse_file, sources
from podium.importers.tables import declared
from podium.importers.tables.applying import apply_map, drop_small
from podium.importers.tables.faults import find_faults, questions_of_cells, without_bad_events
from podium.importers.tables.infer import infer_map
from podium.importers.tables.maps import Map, build_map, load_map
from podium.importers.times import LocalTimes
from podium.importers.trees import Level, json_document, parse_path, walk, xml_document
from podium.results.column_guide import COMPARED
from podium.results.headings import known_column, side_of
from podium.results.reading import read_results
from podium.support.words import suggestion

CHOICES = {"player": ("id", "name", "fide"), "forfeits": ("keep", "drop")}  # values that an option can have
SHOWN_ROWS = 5
START_BYTES = 1 << 13  # number of bytes that contain the head of a table
Posed = list[tuple[Fault, Choice | None]]


def read_format(name: str, files: Sequence[str | Path], options: Options | None = None) -> Imported:
    """Import files in a known format.

    Args:
        name: Name of the format, which is a key of `FORMATS`.
        files: Paths of files or folders, in the order of the events. `-` means standard input.
        options: Options chosen by the user. Default: `Options()`.

    Returns:
        The results table, and counts of everything that was dropped, invalid or skipped.

    Raises:
        FormatError: A file is not in this format, breaks its rules (unless bad events are skipped), or contains only
            bad events.
        ParameterError: The format is unknown, or an option does not suit the format.
    """
    options = options or Options()
    check_options(name, options)
    known = FORMATS[name]
    found = [source for file in files for source in sources(str(file))]
    if not found:
        refuse_file(", ".join(map(str, files)), "has no files to read")
    if known.is_table:
        imported = read(found, replace(options, map=known.map or options.map))
    else:
        collector, declaration = Collector(options), DECLARED / f"{name}.toml"
        if declaration.exists():
            declared.read(declaration, found, collector)
        else:
            import_module(f"podium.importers.formats.{name}").read(found, collector)
        imported = collector.imported()
    if imported.bad and (not options.skip_bad or imported.table.is_empty()):
        raise FormatError(str(files[0]), imported.bad)
    return imported


def check_options(name: str, options: Options) -> None:
    if name not in FORMATS:
        raise ParameterError(f"{name!r} is not a format{suggestion(name, FORMATS)} (formats: {', '.join(FORMATS)})")
    for option, known in CHOICES.items():
        value = getattr(options, option)
        if value not in known:
            raise ParameterError(f"{option} is {value!r}; it must be one of {', '.join(known)}")
    if options.player == "fide" and name != "pgn":
        raise ParameterError(f"{name} has no FIDE IDs. Use them with pgn only.")
    if options.map is not None and name != "csv":
        raise ParameterError(f"{name} needs no map. Maps are for tables (csv).")


def read(files: Sequence[Source], options: Options) -> Imported:
    """Read files as results, each with its own map, and collect their errors."""
    tables, bad, notes, details = list[pl.DataFrame](), list[Fault](), list[str](), list[Mapping[str, str]]()
    made, dropped, skipped = dict[str, str](), Counter[str](), 0
    for source in files:
        grid, mapping, note = read_with_map(source, options)
        try:
            mapped = apply_map(grid, mapping)
        except ResultsError as error:  # from the cells of a Swiss list, whose rounds are events
            rounds = {str(fault.column) for fault in error.faults}
            if not options.skip_bad or mapping.layout.kind != "swiss" or not rounds <= {*grid.headings}:
                raise
            mapped = apply_map(replace(grid, frame=grid.frame.drop(rounds)), mapping)
            bad += [fault._replace(file=grid.name) for fault in error.faults]
            skipped += len(rounds)
        mapped, faults, count = (
            without_bad_events(mapped) if options.skip_bad else (mapped, find_faults(mapped).faults, 0)
        )
        mapped = drop_small(mapped)
        bad += [*(fault._replace(file=grid.name) for fault in grid.bad), *faults]
        notes += [*([note] if note else grid.notes), *mapped.notes]
        skipped, dropped, made = skipped + count, dropped + mapped.dropped, {**made, **mapped.rounds}
        tables.append(mapped.table)
        details += mapped.details
    table = pl.concat(tables, how="diagonal_relaxed")
    if len(tables) > 1 and not bad:
        read_results(table, name="all files together")
    noted = tuple(dict.fromkeys(notes))
    return Imported(table, dict(dropped), tuple(bad), skipped, notes=noted, made=made, details=tuple(details))


def map_of_options(options: Options) -> Map | None:
    """Return the map in the options, including the options' time zone.

    Return None if only headings can reveal the meaning of the columns.
    """
    given = options.map
    if given is None:
        return None
    mapping = build_map(given, is_partial=options.guess) if isinstance(given, Mapping) else load_map(given)
    return in_zone(mapping, options.timezone)


def in_zone(mapping: Map, zone: str) -> Map:
    source = replace(mapping.source, timezone=LocalTimes(zone).name)
    return mapping if zone == "UTC" else replace(mapping, source=source)


def read_with_map(source: Source, options: Options) -> tuple[Grid, Map, str]:
    """Return the table in a file, its map, and a line about its headings.

    The map comes from the options, or from a matching preset. Headings provide everything that the map lacks.
    """
    given = map_of_options(options)
    whole = given if given is not None and not options.guess else preset_of(source)
    is_preset = whole is not None and whole.is_preset
    mapping = whole or given
    rule, wanted = (mapping.source, mapping.names) if mapping else (SourceRule(), frozenset())
    try:
        grid = load(source, rule, wanted, skip_bad=options.skip_bad and not is_preset)
    except ResultsError as error:
        raise FormatError(source.name, error.faults) if is_preset else error from None
    if whole is not None:
        return grid, whole, "" if whole is given else f"read as {Path(whole.name).stem}"
    grid = within_lists(grid, source, options)
    answers = given.document if given else {}
    document, note = infer_map(grid, answers.get("source", {}), answers.get("columns", {}))
    return grid, in_zone(build_map(document, grid.name), options.timezone), note


def within_lists(grid: Grid, source: Source, options: Options) -> Grid:
    """Return the objects in the only list in each JSON row, or in a list inside it, if they contain results."""
    inner = grid
    while inner.rule.format in ("json", "jsonl", "xml") and not has_results(inner):
        lists = inner.lists
        if len(lists) != 1:
            names_events = "event_id" in {known_column(heading) for heading in inner.headings}
            return inner if names_events and not lists else grid
        inner = load(source, replace(inner.rule, records=inner.records_in(*lists)), skip_bad=options.skip_bad)
    return inner


def has_results(grid: Grid) -> bool:
    """Return True if the headings include players and results, a winner and a loser, or two sides."""
    named = {known_column(heading) for heading in grid.headings}
    met = {side_of(heading) for heading in grid.headings}
    is_of_entrants = "player" in named and not named.isdisjoint(COMPARED)
    return is_of_entrants or met >= {"winner", "loser"} or met >= {"first", "second"}


def map_of_files(files: Sequence[str], options: Options) -> Map:
    """Return the map for several files, which is the map of the first file."""
    return read_with_map(sources(files[0])[0], options)[1]


def questions(files: Sequence[str], options: Options | None = None) -> list[Fault]:
    """Return the open questions about a table. The map in `options` contains the answers so far, from `answer`.

    The result is empty if the table can be read, or if no answer would help.
    """
    try:
        grid, mapping, _ = read_with_map(sources(files[0])[0], options or Options())
        return [] if mapping.is_preset else questions_of_cells(apply_map(grid, mapping))
    except UndecidedError as error:
        return list(error.questions)
    except ResultsError:
        return []


def first_rows(files: Sequence[str], options: Options) -> pl.DataFrame:
    """Return the first rows of a table, if its format is known."""
    given = map_of_options(options)
    try:
        grid = load(sources(files[0])[0], given.source if given else SourceRule())
    except ResultsError:
        return pl.DataFrame()
    return grid.frame.select(grid.headings).head(SHOWN_ROWS)


def answer(key: str, value: str, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Add one answer to part of a map. `key` may contain dots, such as `source.sheet`.

    Returns:
        The document, for `Options(map=…, guess=True)`.
    """
    *tables, last = (part.strip('"') for part in re.findall(r'"[^"]*"|[^.]+', key))
    whole: dict[str, Any] = {name: {**table} for name, table in (document or {}).items()}
    table = whole
    for name in tables:
        inner = table.get(name, {})
        table[name] = {**inner} if isinstance(inner, Mapping) else {"from": inner}
        table = table[name]
    is_toml = last in ("header", "width", "fill", "null") and value[:1] in '["0123456789'
    own: Any = tomllib.loads(f"value = {value}")["value"] if is_toml else value
    table[last] = [*table.get(last, []), value] if last == "aside" else own
    return {"columns": {}, **whole}


def answer_questions(file: str, answers: Collection[str]) -> tuple[Posed, dict[str, Any] | None]:
    """Return the questions and choices for a table, and the part of a map that the answers determine."""
    posed: Posed = []
    document: dict[str, Any] | None = None
    while all(choice for _, choice in posed):
        found = questions([file], Options(map=document, guess=True))
        news = [
            (question, next((one for one in question.choices if one.answer in answers), None)) for question in found
        ]
        if not news or any(question in posed for question in news):  # an answer that has no effect is rejected later
            break
        posed += news
        for _, choice in news:
            document = document if choice is None else answer(choice.key, choice.value, document)
    return posed, document


@cache
def presets() -> dict[str, Map]:
    return {path.stem: load_map(path) for path in sorted(PRESETS.glob("*.toml"))}


def preset_of(source: Source) -> Map | None:
    content = source.content()
    kind = kind_of(content, source.name).replace("jsonl", "json")
    fitting = [preset for preset in presets().values() if preset.source.format == kind]
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
        return None  # the reader of the file reports it later
    return next((preset for preset in fitting if all(is_there(document, path) for path in preset.needs)), None)


def is_there(document: Any, path: str) -> bool:
    return next(iter(walk(Level(document), parse_path(path, "map"), (), "")), None) is not None
