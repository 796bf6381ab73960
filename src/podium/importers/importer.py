"""What every importer gives: a results table, and what of the source is not in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from podium.errors import Fault


@dataclass(frozen=True)
class Imported:
    """What an importer made of its input: the events that are whole, and what is left out, counted apart."""

    table: pl.DataFrame  # a results table, event by event as the source has them
    dropped: Mapping[str, int] = field(default_factory=dict)  # valid, but no result: reason -> how many records
    bad: tuple[Fault, ...] = ()  # what breaks the format's rules, with file, place and value
    skipped: int = 0  # events left out because of bad records (only where those are skipped)
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # player id -> display name, last event
    notes: tuple[str, ...] = ()  # what was understood or decided, a line each
