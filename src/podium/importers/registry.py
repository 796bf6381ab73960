"""The formats that Podium imports, by name, and their options; none is loaded before it is used."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

PRESETS = Path(__file__).parent / "presets"


class Format(NamedTuple):
    """A format: what it is, the module that reads it, and the map where it is a table."""

    title: str
    module: str
    map: Path | None = None


FORMATS = {
    "xonstat": Format("match reports of Xonotic servers", "formats.xonstat"),
    "stk": Format("the database of a SuperTuxKart server that stores results", "formats.stk"),
    "zakstunts": Format("race positions of ZakStunts, as elo-zs has them", "formats.zakstunts"),
    "f1db": Format("a release of f1db: a folder or .zip of CSV, or the single JSON", "formats.f1db"),
    "ergast": Format("Ergast's CSV tables, or the JSON of its interface", "formats.ergast"),
    "pgn": Format("chess games", "formats.pgn"),
    "racetime": Format("races of racetime.gg as JSON", "formats.racetime"),
    "startgg": Format("sets of a start.gg event as JSON", "formats.startgg"),
    "challonge": Format("a Challonge tournament as JSON", "formats.challonge"),
    **{
        path.stem: Format(path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "), "tables.csv", path)
        for path in sorted(PRESETS.glob("*.toml"))
    },
    "csv": Format("any table, by a map of its columns", "tables.csv"),
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
