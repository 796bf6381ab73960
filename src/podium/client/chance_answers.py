"""The service's answers about chances and upcoming races, as `make docs` writes them from its OpenAPI document."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class ComparedPlayer(TypedDict):
    """Where one of two players stands."""

    player: str  # The player's name as it is now.
    rank: int  # Rank, 1 is the best. Equal ratings share the best of their ranks.
    players: int  # Number of players with a rating.
    percentile: float  # Percentage of players with the same or a lower rating.
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
    delta: float  # Rating change of the first player in the event, in points.
    other_delta: float  # Rating change of the other player, in points.
    title: str | None  # Title of the event, or null.
    rank: int | None  # Rank of the first player in the event. Null if unknown.
    other_rank: int | None  # Rank of the other player.
    lead: float  # Lead of the first player over the other before the event, in points.
    shown: float  # The first player's change as people read it.
    other_shown: float  # The other player's change as people read it.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Comparison(TypedDict):
    """A comparison of two players."""

    players: list[ComparedPlayer]  # Both, in the order of the request.
    wins: int  # Heats that the first player won, in all their common events.
    draws: int  # Heats that were drawn.
    losses: int  # Heats that the first player lost.
    meetings: list[CommonEvent]  # Their newest common events, newest first.


class EntrantChances(TypedDict):
    """An entrant's chances in a field."""

    player: str  # The entrant.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player; 0 for a newcomer.
    win: float  # The chance to win, from 0 to 1.
    top: float  # The chance to be among the first, from 0 to 1.
    mean_rank: float  # The mean of the ranks.


class RankChance(TypedDict):
    """The chance of an entrant to take a rank."""

    player: str  # The entrant.
    rank: int  # Rank, 1 is the best.
    chance: float  # Its chance, from 0 to 1.


class PairChance(TypedDict):
    """The expected score of two entrants in a heat."""

    player: str  # The player.
    opponent: str  # The opponent.
    expected: float  # The player's expected score, from 0 to 1.


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
    """An entrant of an upcoming race."""

    player: str  # The name as it is now.
    team: str | None  # Team. Null for a player who starts alone.
    side: NotRequired[str]  # Side: home, white, away or black. Left out if not planned.
    shared: NotRequired[dict[str, str]]  # Equipment of the player, by kind.


class Fixture(TypedDict):
    """An upcoming or past race."""

    fixture_id: str  # ID of the race. Its result is the event with the same ID.
    title: str | None  # Title.
    starts_at: datetime  # When it starts.
    entrants: list[Starter] | None  # Entrants. Null if the race is open to anyone.
    # Status. One day after the start it becomes `no_result` unless there is a result.
    status: Literal["planned", "started", "reported", "cancelled", "no result"]


class StakesLine(TypedDict):
    """The effect of one place on one player."""

    player: str  # Player.
    place: float | None  # Place; 1.5 for a draw of two. Null for a quit.
    chance: float | None  # Probability of finishing in this place, 0 to 1. Null for draws and quits.
    delta: float  # By how much the rating would change.
    rating: float  # Rating the player would have.
    rank: int  # Rank among players with an established rating then.
    error: float  # Twice the standard error of the change. 0 if it is exact.


class StakesEntrant(TypedDict):
    """Who would start."""

    player: str  # The player.
    rating: float  # The rating now.
    rank: int | None  # Rank among players with an established rating. Null for others.
    win: float  # The chance to win, from 0 to 1.
    break_even: int | None  # Last place that loses nothing. Null if every place loses.


class RaceStakes(TypedDict):
    """The effect of each place in an upcoming race."""

    stakes: list[StakesLine]  # A line a place, the best first.
    entrants: list[StakesEntrant]  # Entrants, the highest rating first.
    headline: str  # Sentence about the places in which the first player gains.
    outlook: str | None  # Sentence about the best likely place. Null without a table.
    method: str  # Method and accuracy, or the reason why there is no table.
    draws: int  # Orders of the others that were rated.
    is_exact: bool  # True if these are all entrants.
    error: float  # The largest of the lines.
    age_s: float  # Age in seconds, if newer results arrived since.


class RunningRace(TypedDict):
    """The current places in a race, and everyone's rating change if it ended now."""

    places: list[str]  # Players by place, the leader first.
    out: list[str]  # Players who did not finish.
    posted_at: datetime | None  # Time of the latest places. Null if nothing was posted.
    changes: dict[str, float | None]  # Change by player. Null for players who would not be rated.
    likely: dict[str, int]  # By player without a place yet: the likeliest, behind those who have one.


class Places(TypedDict):
    """The current places in a race. They do not count before the result."""

    race_id: str  # The race.
    posted_at: datetime  # As of when.
    places: list[str]  # Players by place, the leader first.
    out: list[str]  # Players who did not finish.
