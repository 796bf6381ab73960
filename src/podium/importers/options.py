"""What a user may decide about an import."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Options:
    """How to import; each format uses what concerns it."""

    skip_bad: bool = False  # leave out the events of bad records, whole, instead of refusing the input
    timezone: str = "UTC"  # IANA's name of the zone of times without an offset
    player: str = "id"  # what players are called: id, name, or fide (pgn)
    forfeits: str = "keep"  # keep who left as quit, or drop them
    map: Path | Mapping[str, Any] | None = None  # what the columns of a table mean: a TOML file, or what it would hold
    guess: bool = False  # whether headings say what the map lacks
