"""The options and results of imports, and the formats and their names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from podium.errors import Fault

if TYPE_CHECKING:
    import polars as pl

PRESETS, DECLARED = (Path(__file__).parent / folder for folder in ("presets", "formats"))


@dataclass(frozen=True)
class Options:
    """The options of an import. Each format uses the options that apply to it."""

    skip_bad: bool = False  # leave out events with bad records instead of rejecting the input
    timezone: str = "UTC"  # IANA time zone for times without an offset
    player: str = "id"  # source of players' names: id, name, or fide (pgn)
    forfeits: str = "keep"  # keep players who left, with the status quit, or drop them
    map: Path | Mapping[str, Any] | None = None  # meaning of a table's columns, as a TOML file or its content
    guess: bool = False  # True to use the headings for everything that the map lacks
    most_rows: int | None = None  # maximum number of rows for a format's events; None: no limit


@dataclass(frozen=True)
class Imported:
    """The result of an import: complete events, and counts of everything that is left out."""

    table: "pl.DataFrame"  # a results table with events in the order of the source
    # number of valid records that contain no result, by reason
    dropped: Mapping[str, int] = field(default_factory=dict)
    bad: tuple[Fault, ...] = ()  # violations of the format's rules, with file, place and value
    skipped: int = 0  # number of events left out because of bad records, if these are skipped
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # display name and last event of each player ID
    notes: tuple[str, ...] = ()  # decisions about the content, one per line
    made: Mapping[str, str] = field(default_factory=dict)  # the same as in `Results`
    details: tuple[Mapping[str, str], ...] = ()  # the same as in `Results`


class Format(NamedTuple):
    title: str
    map: Path | None = None
    is_table: bool = False


FORMATS = {
    "xonstat": Format("match reports from Xonotic servers"),
    "stk": Format("the database of a SuperTuxKart server that stores results"),
    "f1db": Format("a release of f1db: a folder or .zip of CSV files, or the single JSON file"),
    "ergast": Format("Ergast's CSV tables, or JSON from its API"),
    "pgn": Format("chess games"),
    "racetime": Format("races on racetime.gg as JSON"),
    "startgg": Format("sets of a start.gg event as JSON"),
    "challonge": Format("a Challonge tournament as JSON"),
    **{
        path.stem: Format(path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "), path, is_table=True)
        for path in sorted(PRESETS.glob("*.toml"))
    },
    "csv": Format("any table, with a map that describes its columns", is_table=True),
}
