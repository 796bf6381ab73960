"""The formats that Podium imports, by name, and their options; none is loaded before files of it are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from podium.errors import Fault, FormatError, ParameterError
from podium.support.words import suggestion

if TYPE_CHECKING:
    import polars as pl

PRESETS = Path(__file__).parent / "presets"
TABLES = "tables.csv"  # the module that reads them
PLAYERS = ("id", "name", "fide")
FORFEITS = ("keep", "drop")


class Format(NamedTuple):
    title: str
    module: str
    map: Path | None = None


FORMATS = {
    "xonstat": Format("match reports of Xonotic servers", "formats.xonstat"),
    "stk": Format("the database of a SuperTuxKart server that stores results", "formats.stk"),
    "f1db": Format("a release of f1db: a folder or .zip of CSV, or the single JSON", "formats.f1db"),
    "ergast": Format("Ergast's CSV tables, or the JSON of its interface", "formats.ergast"),
    "pgn": Format("chess games", "formats.pgn"),
    "racetime": Format("races of racetime.gg as JSON", "formats.racetime"),
    "startgg": Format("sets of a start.gg event as JSON", "formats.startgg"),
    "challonge": Format("a Challonge tournament as JSON", "formats.challonge"),
    **{
        path.stem: Format(path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "), TABLES, path)
        for path in sorted(PRESETS.glob("*.toml"))
    },
    "csv": Format("any table, by a map of its columns", TABLES),
}


@dataclass(frozen=True)
class Options:
    """How to import; each format uses what concerns it."""

    skip_bad: bool = False  # leave out the events of bad records, whole, instead of refusing the input
    timezone: str = "UTC"  # IANA's name of the zone of times without an offset
    player: str = "id"  # what players are called: id, name, or fide (pgn)
    forfeits: str = "keep"  # keep who left as quit, or drop them
    map: Path | Mapping[str, Any] | None = None  # what the columns of a table mean: a TOML file, or what it would hold
    guess: bool = False  # whether headings say what the map lacks
    most_rows: int | None = None  # beyond which a table without a map is refused as it is read


@dataclass(frozen=True)
class Imported:
    """What an importer made of its input: the events that are whole, and what is left out, counted apart."""

    table: "pl.DataFrame"  # a results table, event by event as the source has them
    dropped: Mapping[str, int] = field(default_factory=dict)  # valid, but no result: reason -> how many records
    bad: tuple[Fault, ...] = ()  # what breaks the format's rules, with file, place and value
    skipped: int = 0  # events left out because of bad records (only where those are skipped)
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # player id -> display name, last event
    notes: tuple[str, ...] = ()  # what was understood or decided, a line each
    made: Mapping[str, str] = field(default_factory=dict)  # as `Results` has it


def read_format(name: str, files: Sequence[str | Path], options: Options | None = None) -> Imported:
    """Import files of a format.

    Args:
        name: of the format, as `FORMATS` has it.
        files: paths of files or folders, in the order of their events; `-` is standard input.
        options: what a user may decide; the defaults where None.

    Returns:
        A results table, with what is dropped, bad and skipped.

    Raises:
        FormatError: a file is not of that format, or breaks its rules and bad events are not skipped,
            or nothing is left without them.
        ParameterError: there is no such format, or an option does not fit it.
    """
    options = options or Options()
    check_options(name, options)
    options = replace(options, map=FORMATS[name].map or options.map)
    sources = import_module("podium.importers.sources")
    found = [source for file in files for source in sources.sources(str(file))]
    if not found:
        sources.refuse_file(", ".join(map(str, files)), "holds no file to read")
    module = import_module(f"podium.importers.{FORMATS[name].module}")
    if FORMATS[name].module == TABLES:
        imported: Imported = module.read(found, options)
    else:
        collector = import_module("podium.importers.collecting").Collector(options)
        module.read(found, collector)
        imported = collector.imported()
    if imported.bad and (not options.skip_bad or imported.table.is_empty()):
        raise FormatError(str(files[0]), imported.bad)
    return imported


def check_options(name: str, options: Options) -> None:
    if name not in FORMATS:
        raise ParameterError(f"{name!r} is not a format{suggestion(name, FORMATS)} ({', '.join(FORMATS)})")
    for key, value, known in (("player", options.player, PLAYERS), ("forfeits", options.forfeits, FORFEITS)):
        if value not in known:
            raise ParameterError(f"{key} is {value!r}; it must be one of {', '.join(known)}")
    if options.player == "fide" and name != "pgn":
        raise ParameterError(f"{name} has no FIDE ids; players can be called by them in pgn only")
    if options.map is not None and name != "csv":
        raise ParameterError(f"a map is for tables (csv); {name} needs none")
