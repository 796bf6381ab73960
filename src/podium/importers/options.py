"""How to import, and what an import gives."""

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
