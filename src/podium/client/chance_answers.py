"""The service's answers about chances and races to come, as `make docs` writes them from its OpenAPI document."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class ComparedPlayer(TypedDict):
    """Where one of two players stands."""

    player: str  # The player's name as it is now.
    rank: int  # 1 is best; equal ratings share the best of their ranks.
    players: int  # How many players have a rating.
    percentile: float  # The share of players who are not rated above, from 0 to 100.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    expected: float  # The expected score against the other, from 0 to 1.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class CommonEvent(TypedDict):
    """An event in which two players met. Heats are won, drawn and lost by the first; none between team mates."""

    event_id: str  # The event.
    started_at: datetime | None  # When it started; null in a numbered pool.
    wins: int  # Heats that the first player won.
    draws: int  # Heats that were drawn.
    losses: int  # Heats that the first player lost.
    delta: float  # The change of the first player's rating by the event, in points.
    other_delta: float  # The change of the other's.
    title: str | None  # What people call the event; null where it has no title.
    rank: int | None  # The first player's rank in it; null where none is known.
    other_rank: int | None  # The other's.
    lead: float  # How far above the other the first was rated before it, in points.
    shown: float  # The first player's change as people read it.
    other_shown: float  # The other's.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Comparison(TypedDict):
    """Two players beside each other."""

    players: list[ComparedPlayer]  # Both, in the order of the request.
    wins: int  # Heats that the first player won, in all their common events.
    draws: int  # Heats that were drawn.
    losses: int  # Heats that the first player lost.
    meetings: list[CommonEvent]  # Their newest common events, newest first.


class EntrantChances(TypedDict):
    """An entrant's chances in a field."""

    player: str  # The entrant.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player; 0 of a newcomer.
    win: float  # The chance to win, from 0 to 1.
    top: float  # The chance to be among the first, from 0 to 1.
    mean_rank: float  # The mean of the ranks.


class RankChance(TypedDict):
    """The chance of an entrant to take a rank."""

    player: str  # The entrant.
    rank: int  # The rank; 1 is best.
    chance: float  # Its chance, from 0 to 1.


class PairChance(TypedDict):
    """What is expected of two entrants in a heat of their own."""

    player: str  # One.
    opponent: str  # The other.
    expected: float  # The expected score of the one, from 0 to 1.


class FieldChances(TypedDict):
    """The chances of a field."""

    entrants: list[EntrantChances]  # The entrants, the likeliest winner first.
    newcomers: list[str]  # Those who have not played, misspelt names among them.
    ranks: list[RankChance]  # Every entrant with every rank.
    pairs: list[PairChance]  # Every entrant with every other.


class Match(TypedDict):
    """A match."""

    players: list[str]  # Who plays.
    teams: list[list[str]]  # Sides of equal numbers; a player each where everyone is for himself.
    spread: float  # The best rating less the worst, in points.
    quality: float  # 1 where all sides are as likely to win, towards 0 where one surely does.
    waited_s: float  # Seconds that the first of them has waited.


class Starter(TypedDict):
    """Who is to start."""

    player: str  # The name as it is now.
    team: str | None  # With whom; null for one who starts alone.
    side: NotRequired[str]  # home or white, away or black; left out where not planned.
    shared: NotRequired[dict[str, str]]  # What the player will have, by kind.


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
    likely: dict[str, int]  # By player without a place yet: the likeliest, behind those who have one.


class Places(TypedDict):
    """How a race stands; nothing of it counts until the result is in."""

    race_id: str  # The race.
    posted_at: datetime  # As of when.
    places: list[str]  # Who is where, the first first.
    out: list[str]  # Who does not finish.
