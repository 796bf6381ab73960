"""The service's answers about chances and upcoming races, as `make docs` writes them from its OpenAPI document."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class ComparedPlayer(TypedDict):
    """The rank and rating of one of two players."""

    player: str  # The player's current name.
    rank: int  # Rank; 1 is the best. Equal ratings share the best of their ranks.
    players: int  # Number of players with a rating.
    percentile: float  # Percentage of players with the same or a lower rating.
    rating: float  # The rating, in points.
    events: int  # Number of rated events the player has taken part in.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    expected: float  # Expected score against the other player, from 0 to 1.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class CommonEvent(TypedDict):
    """An event in which two players met, with heats won, drawn and lost by the first (zero for team mates)."""

    event_id: str  # The event.
    started_at: datetime | None  # When it started; null in a numbered pool.
    wins: int  # Heats that the first player won.
    draws: int  # Heats that were drawn.
    losses: int  # Heats that the first player lost.
    delta: float  # Rating change of the first player in the event, in points.
    other_delta: float  # Rating change of the other player, in points.
    title: str | None  # Title of the event, or null.
    rank: int | None  # Rank of the first player in the event. Null if unknown.
    other_rank: int | None  # Rank of the other player in the event.
    lead: float  # Lead of the first player over the other before the event, in points.
    shown: float  # The first player's change, rounded for display.
    other_shown: float  # The other player's change, rounded for display.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class Comparison(TypedDict):
    """A comparison of two players."""

    players: list[ComparedPlayer]  # Both players, in the order of the request.
    wins: int  # Heats that the first player won, in all their common events.
    draws: int  # Heats that were drawn.
    losses: int  # Heats that the first player lost.
    meetings: list[CommonEvent]  # Their latest common events, newest first.


class EntrantChances(TypedDict):
    """An entrant's chances in a given field."""

    player: str  # The entrant.
    rating: float  # The rating, in points.
    events: int  # Number of rated events the player has taken part in; 0 for a newcomer.
    win: float  # The chance of winning, from 0 to 1.
    top: float  # The chance of finishing in a top place, from 0 to 1.
    mean_rank: float  # The player's mean rank.


class RankChance(TypedDict):
    """The chance that an entrant takes a given rank."""

    player: str  # The entrant.
    rank: int  # Rank; 1 is the best.
    chance: float  # The chance of this rank, from 0 to 1.


class PairChance(TypedDict):
    """The expected score of one entrant against another in a heat."""

    player: str  # The player.
    opponent: str  # The opponent.
    expected: float  # The player's expected score, from 0 to 1.


class FieldChances(TypedDict):
    """Each entrant's chances in a given field."""

    entrants: list[EntrantChances]  # The entrants, most likely winner first.
    newcomers: list[str]  # Entrants who have not played before, including misspelt names.
    ranks: list[RankChance]  # Every combination of entrant and rank.
    pairs: list[PairChance]  # Every combination of two entrants.


class Match(TypedDict):
    """A match."""

    players: list[str]  # Who plays.
    teams: list[list[str]]  # Teams with equal numbers of players, or single players if everyone plays individually.
    spread: float  # The best rating minus the worst, in points.
    quality: float  # 1 if all sides are equally likely to win, close to 0 if one side is certain to.
    waited_s: float  # Number of seconds that the longest-waiting player has waited.


class Starter(TypedDict):
    """An entrant of an upcoming race."""

    player: str  # The entrant's current name.
    team: str | None  # Team. Null for a player who competes individually.
    side: NotRequired[str]  # Side: home, white, away or black. Omitted if not planned.
    shared: NotRequired[dict[str, str]]  # Equipment that the player uses, by kind.


class Fixture(TypedDict):
    """An upcoming or past race."""

    fixture_id: str  # ID of the race. Its result is the event with the same ID.
    title: str | None  # Title.
    starts_at: datetime  # When the race starts.
    entrants: list[Starter] | None  # Entrants. Null if the race is open to anyone.
    # Status. If there is no result one day after the start, it becomes `no_result`.
    status: Literal["planned", "started", "reported", "cancelled", "no result"]


class StakesLine(TypedDict):
    """The effect of one place on one player."""

    player: str  # Player.
    place: float | None  # Place; 1.5 for a draw between two. Null for a quit.
    chance: float | None  # Probability of finishing in this place, 0 to 1. Null for draws and quits.
    delta: float  # How much the rating would change.
    rating: float  # Rating that the player would have.
    rank: int  # Rank that the player would have among players with an established rating.
    error: float  # Twice the standard error of the change. 0 if it is exact.


class StakesEntrant(TypedDict):
    """Who would start."""

    player: str  # The player.
    rating: float  # Current rating.
    rank: int | None  # Rank among players with an established rating. Null for other players.
    win: float  # The chance of winning, from 0 to 1.
    break_even: int | None  # Lowest finishing place that costs no points. Null if every place costs points.


class RaceStakes(TypedDict):
    """The effect of each place in an upcoming race."""

    stakes: list[StakesLine]  # One row per place, best first.
    entrants: list[StakesEntrant]  # Entrants, highest rating first.
    headline: str  # Sentence about the places in which the first player gains points.
    outlook: str | None  # Sentence about the best likely place. Null if there is no table.
    method: str  # Method and accuracy, or the reason why there is no table.
    draws: int  # Number of finishing orders of the others that were rated.
    is_exact: bool  # True if these are all entrants.
    error: float  # The largest of all rows.
    age_s: float  # Age in seconds, if newer results have arrived since.


class RunningRace(TypedDict):
    """The current places in a race, and everyone's rating change if it ended now."""

    places: list[str]  # Players by place, leader first.
    out: list[str]  # Players who did not finish.
    posted_at: datetime | None  # Time of the latest places. Null if nothing was posted.
    changes: dict[str, float | None]  # Rating change by player. Null for players who would not be rated.
    likely: dict[str, int]  # By player without a place yet: the most likely place, behind those who have one.


class Places(TypedDict):
    """The current places in a race. They do not count before the result."""

    race_id: str  # The race.
    posted_at: datetime  # Time of these standings.
    places: list[str]  # Players by place, leader first.
    out: list[str]  # Players who did not finish.
