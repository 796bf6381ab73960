"""Options and results of imports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import Fault

if TYPE_CHECKING:
    import polars as pl

PRESETS = Path(__file__).parent / "presets"


@dataclass(frozen=True)
class Options:
    """Options of an import. Each format uses those that apply to it."""

    skip_bad: bool = False  # leave out events with bad records instead of rejecting the input
    timezone: str = "UTC"  # IANA time zone of times without an offset
    player: str = "id"  # name of a player: id, name, or fide (pgn)
    forfeits: str = "keep"  # keep players who left as quit, or drop them
    map: Path | Mapping[str, Any] | None = None  # meaning of a table's columns: a TOML file or its content
    guess: bool = False  # True: use the headings where the map says nothing
    most_rows: int | None = None  # limit for events of a format; None: no limit


@dataclass(frozen=True)
class Imported:
    """The result of an import: complete events, and counts of everything left out."""

    table: "pl.DataFrame"  # a results table, with events in the order of the source
    dropped: Mapping[str, int] = field(default_factory=dict)  # number of valid records without a result, by reason
    bad: tuple[Fault, ...] = ()  # violations of the format's rules, with file, place and value
    skipped: int = 0  # events left out because of bad records, if these are skipped
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # display name and last event by player ID
    notes: tuple[str, ...] = ()  # decisions about the content, one per line
    made: Mapping[str, str] = field(default_factory=dict)  # as in `Results`
