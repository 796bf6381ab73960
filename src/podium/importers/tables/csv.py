"""Any table as results: by a map of its columns, or by the map that its headings say."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from podium.importers.importer import Imported
from podium.importers.moments import LocalTimes
from podium.importers.options import Options
from podium.importers.sources import refuse_file
from podium.importers.tables.applying import apply_map, drop_small, grids
from podium.importers.tables.faults import find_faults, without_bad_events
from podium.importers.tables.files.grid import Grid
from podium.importers.tables.guess import guess
from podium.importers.tables.maps import build_map, load_map
from podium.importers.tables.model import Map, SourceRule
from podium.results.reading import read_results

if TYPE_CHECKING:
    from podium.errors import Fault


def read(files: Sequence[str], options: Options) -> Imported:
    """Import tables.

    Returns:
        The results, and what of the tables is not in them.

    Raises:
        ResultsError: a file cannot be read, or the files contradict each other.
        ParameterError: the map cannot be, or does not fit a file.
    """
    given = map_of(options)
    tables: list[pl.DataFrame] = []
    bad: list[Fault] = []
    dropped: Counter[str] = Counter()
    notes: list[str] = []
    skipped = 0
    for grid in grids(files, given.source if given else SourceRule(), skip_bad=options.skip_bad):
        mapping, note = complete(grid, given, options)
        mapped = apply_map(grid, mapping)
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
    if not tables:
        refuse_file(", ".join(files), "holds no file to read")
    table = pl.concat(tables, how="diagonal_relaxed")
    if len(tables) > 1 and not bad:
        read_results(table, name="the files together")
    return Imported(table, dict(dropped), tuple(bad), skipped, notes=tuple(dict.fromkeys(notes)))


def map_of(options: Options) -> Map | None:
    """The map of the options, with their time zone; None where the headings say it all."""
    if options.map is None:
        return None
    if isinstance(options.map, Mapping):
        mapping = build_map(options.map, is_partial=options.guess)
    else:
        mapping = load_map(options.map)
    if options.timezone == "UTC":
        return mapping
    return replace(mapping, source=replace(mapping.source, timezone=LocalTimes(options.timezone).name))


def complete(grid: Grid, given: Map | None, options: Options) -> tuple[Map, str]:
    """The map of a table, with what the headings say of all that the given one lacks; and a line of what they say.

    Raises:
        ResultsError: the headings leave a choice.
    """
    if given is not None and not options.guess:
        return given, ""
    written = given.document.get("source", {}) if given else {}
    understood = guess(grid, written, given.document.get("columns", {}) if given else {})
    mapping = build_map(understood.document)
    if options.timezone != "UTC":
        mapping = replace(mapping, source=replace(mapping.source, timezone=LocalTimes(options.timezone).name))
    return mapping, understood.note


def understand(files: Sequence[str], options: Options) -> Map:
    """The map that files are read by: the first one's, where their headings say it.

    Raises:
        ResultsError: they leave a choice.
    """
    given = map_of(options)
    return complete(grids(files, given.source if given else SourceRule())[0], given, options)[0]
