"""The public histories of docs/comparison.md. The results belong to other people and are not in this repository."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

import podium
from podium.engine.system import System
from podium.systems import find

SELF_TUNING = "adaptive"
HEATS_APART = "speedway"  # a history of events with many heats, judged once more with each heat as an event
STARTING_RATED = ("dwz", "fide")  # systems that would otherwise never rate anybody here
OTHER_COLUMNS = ("team_name", "published")  # in the file, but not in a results table


class History(NamedTuple):
    """A history: its title and file, the date from which it is judged, and the end of its training part."""

    title: str
    file: str
    since: str | None
    train_until: str
    trials: int = 160  # parameter sets in a search
    settings: Mapping[str, str] = {}  # settings of `adaptive` for columns that entrants share here

    def read(self, folder: Path) -> podium.Results:
        """Return the results from the file in a folder."""
        return podium.read_results(pl.read_parquet(folder / self.file).drop(OTHER_COLUMNS, strict=False))

    def system(self, name: str) -> System:
        """Return a system with its defaults, `adaptive` with this history's settings, and all players rated."""
        rated = {"first_ratings": False} if name in STARTING_RATED else {}
        return find(name)(**(self.settings if name == SELF_TUNING else rated))


HISTORIES = {
    "atp": History(
        "Men's tennis singles 1968-2024, judged from 1991 on", "atp.parquet", "1991-01-01", "2010-12-31", 64
    ),
    "f1": History(
        "Formula 1, races and qualifying, the whole history",
        "f1.parquet",
        None,
        "2000-12-31",
        settings={"shared": "team"},
    ),
    "zakstunts": History("ZakStunts, 293 races of Stunts", "zakstunts.parquet", None, "60%"),
    "speedway": History("Speedway Grand Prix, 5,454 heats of four", "speedway.parquet", None, "2010-12-31"),
    "tdf": History("Tour de France 1903-2026, each a race of about a hundred", "tdf.parquet", None, "60%", 64),
    "snooker": History("Snooker, two seasons, 5,064 matches", "snooker.parquet", None, "60%", 64),
    "tcec": History("Chess engines 2010-2026, 12,052 games, half of them drawn", "tcec.parquet", None, "60%", 64),
    "volley_players": History(
        "Volleyball 2013-2019, line-ups of about ten against ten",
        "volley_players.parquet",
        None,
        "60%",
        64,
        {"shared": "team"},
    ),
    "motogp": History("Motorcycle Grand Prix 1949-2024, five classes", "motogp.parquet", None, "60%", 32),
}

# Histories that nobody had used when `adaptive` was designed.
NEWER = {
    "climb_lead": History("Climbing, lead, World Cup 2007-2023", "climb_lead.parquet", None, "60%"),
    "lol": History("League of Legends 2014-2018, five a side", "lol.parquet", None, "60%"),
    "nfl": History("American football (NFL) 1920-2020", "nfl.parquet", None, "60%"),
    "halo_team": History("Halo 2, sides of about six", "halo_team.parquet", None, "60%"),
}
# Settings of `adaptive` that are judged on them with the column `side`, which other systems do not read.
NEWER_SETTINGS = {
    "climb_lead": (),
    "lol": ("adaptive",),
    "nfl": ("adaptive", "adaptive:margin=true", "adaptive:margin=true,reversion=0.02"),
    "halo_team": ("adaptive:size=true", "adaptive:margin=true"),
}
