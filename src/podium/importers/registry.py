"""The formats that Podium imports, by name. Each is loaded when the first file of it is read."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from podium.errors import FormatError, ParameterError
from podium.importers.options import PRESETS, Imported, Options
from podium.support.words import suggestion

CHOICES = {"player": ("id", "name", "fide"), "forfeits": ("keep", "drop")}  # of an option


class Format(NamedTuple):
    title: str
    map: Path | None = None
    is_table: bool = False
    reader: str = ""  # module and function. Default: `read` in the format's own module


FORMATS = {
    "xonstat": Format("match reports of Xonotic servers"),
    "stk": Format("the database of a SuperTuxKart server that stores results"),
    "f1db": Format("a release of f1db: a folder or .zip of CSV, or the single JSON", reader="formula1.read_f1db"),
    "ergast": Format("Ergast's CSV tables, or the JSON of its API", reader="formula1.read_ergast"),
    "pgn": Format("chess games"),
    "racetime": Format("races of racetime.gg as JSON"),
    "startgg": Format("sets of a start.gg event as JSON"),
    "challonge": Format("a Challonge tournament as JSON"),
    **{
        path.stem: Format(path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "), path, is_table=True)
        for path in sorted(PRESETS.glob("*.toml"))
    },
    "csv": Format("any table, with a map of its columns", is_table=True),
}


def read_format(name: str, files: Sequence[str | Path], options: Options | None = None) -> Imported:
    """Import files of a format.

    Args:
        name: Name of the format, a key of `FORMATS`.
        files: Paths of files or folders, in the order of their events. `-` is standard input.
        options: The user's choices. Default: `Options()`.

    Returns:
        The results table, with everything that was dropped, bad or skipped.

    Raises:
        FormatError: A file is not of this format, or breaks its rules and bad events are not skipped, or no event is
            left without them.
        ParameterError: The format is unknown, or an option does not fit it.
    """
    options = options or Options()
    check_options(name, options)
    known = FORMATS[name]
    sources = import_module("podium.importers.sources")
    found = [source for file in files for source in sources.sources(str(file))]
    if not found:
        sources.refuse_file(", ".join(map(str, files)), "has no files to read")
    imported: Imported
    if known.is_table:
        tables = import_module("podium.importers.tables.read_sheet")
        imported = tables.read(found, replace(options, map=known.map or options.map))
    else:
        collector = import_module("podium.importers.collecting").Collector(options)
        module, _, function = (known.reader or f"{name}.read").partition(".")
        getattr(import_module(f"podium.importers.formats.{module}"), function)(found, collector)
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
