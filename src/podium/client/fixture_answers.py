"""The service's answers about races to come, as `make docs` writes them from its OpenAPI document."""

from datetime import datetime
from typing import Literal, TypedDict


class Starter(TypedDict):
    """Who is to start."""

    player: str  # The name as it is now.
    team: str | None  # With whom; null for one who starts alone.


class Fixture(TypedDict):
    """A race to come, or one that was."""

    fixture_id: str  # The race; its result is the event of this id.
    title: str | None  # What people call it.
    starts_at: datetime  # When it starts.
    entrants: list[Starter] | None  # Who starts; null for whoever comes.
    # What became of it; a day after its start it has no result.
    status: Literal["planned", "started", "reported", "cancelled", "no result"]


class StakesLine(TypedDict):
    """What one place would bring one player."""

    player: str  # Whose line it is.
    place: float | None  # The place, 1.5 for a draw of two; null for a quit.
    chance: float | None  # Of the place, from 0 to 1; null for a draw and a quit.
    delta: float  # By how much the rating would change.
    rating: float  # What it would be then.
    rank: int  # Among the settled then.
    error: float  # Twice the standard error of the change; 0 where it is exact.


class StakesEntrant(TypedDict):
    """Who would start."""

    player: str  # The player.
    rating: float  # The rating now.
    rank: int | None  # Among the settled; null for whoever is not.
    win: float  # The chance to win, from 0 to 1.
    break_even: int | None  # The last place that loses nothing; null where none is.


class RaceStakes(TypedDict):
    """What each place of a race to come would bring."""

    stakes: list[StakesLine]  # A line a place, the best first.
    entrants: list[StakesEntrant]  # Who starts, the highest rating first.
    headline: str  # Which places gain, of the first player.
    promise: str | None  # What the best likely place brings; null without a table.
    method: str  # How it was computed, with its error; or why there is no table.
    draws: int  # Orders of the others that were rated.
    is_exact: bool  # Whether these are all.
    error: float  # The largest of the lines.
    age_s: float  # Seconds since it was worked out, where newer results came since.


class RunningRace(TypedDict):
    """How a race stands, and what everyone's rating would change by, were it to end so."""

    places: list[str]  # Who is where, the first first.
    out: list[str]  # Who does not finish.
    posted_at: datetime | None  # As of when; null where nothing was posted.
    changes: dict[str, float | None]  # By player; null for who would not be rated.


class Places(TypedDict):
    """How a race stands; nothing of it counts until the result is in."""

    race_id: str  # The race.
    posted_at: datetime  # As of when.
    places: list[str]  # Who is where, the first first.
    out: list[str]  # Who does not finish.
