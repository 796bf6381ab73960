"""The service's answers about chances and upcoming races, as `make docs` writes them from its OpenAPI document."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class ComparedPlayer(TypedDict):
    """The rank and rating of one of the two players who are compared."""

    player: str  # The player's current name.
    rank: int  # Rank; 1 is the best. Players with equal ratings share the best of their ranks.
    players: int  # Number of players with a rating.
    percentile: float  # Percentage of players with the same or a lower rating.
    rating: float  # The rating, in points.
    events: int  # Number of rated events in which the player has taken part.
    last_played_at: datetime | None  # Start of the player's last rated event. Null in a pool with numbered events.
    expected: float  # Expected score against the other player, from 0 to 1.
    last_sequence: NotRequired[float]  # Number of the player's last rated event, in a pool with numbered events.


class CommonEvent(TypedDict):
    """An event in which two players met. Heats in which they were team mates are not counted."""

    event_id: str  # The event.
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    wins: int  # Number of heats that the first player won.
    draws: int  # Number of heats that were drawn.
    losses: int  # Number of heats that the first player lost.
    delta: float  # The first player's rating change in the event, in points.
    other_delta: float  # Rating change of the other player, in points.
    title: str | None  # Title of the event, or null.
    rank: int | None  # Rank of the first player in the event. Null if unknown.
    other_rank: int | None  # Rank of the other player in the event.
    lead: float  # Lead of the first player over the other before the event, in points.
    shown: float  # The first player's change, rounded for display.
    other_shown: float  # The other player's change, rounded for display.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class Comparison(TypedDict):
    """A comparison of two players."""

    players: list[ComparedPlayer]  # Both players, in the order of the request.
    wins: int  # Number of heats that the first player won, in all events in which both took part.
    draws: int  # Number of heats that were drawn.
    losses: int  # Number of heats that the first player lost.
    meetings: list[CommonEvent]  # The latest events in which both players took part, newest first.
    draw: NotRequired[float]  # The chance that a duel of the two is drawn, from 0 to 1. Only in pools with drawn duels.


class EntrantChances(TypedDict):
    """An entrant's chances against the other entrants."""

    player: str  # The entrant.
    rating: float  # The rating, in points.
    events: int  # Number of rated events in which the player has taken part. 0 for a newcomer.
    win: float  # The chance of winning, from 0 to 1.
    top: float  # The chance of finishing in a top place, from 0 to 1.
    mean_rank: float  # The player's average predicted rank.
    draw: NotRequired[float]  # The chance of a draw, from 0 to 1. Only for two sides, in pools with drawn duels.


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
    """Each entrant's chances against the others."""

    entrants: list[EntrantChances]  # The entrants, most likely winner first.
    newcomers: list[str]  # Entrants who have not played before, including misspelt names.
    ranks: list[RankChance]  # The chance of every rank, for each entrant.
    pairs: list[PairChance]  # The expected score of each entrant against each other entrant.


class Match(TypedDict):
    """A match."""

    players: list[str]  # The players in the match.
    teams: list[list[str]]  # Teams with equal numbers of players, or single players if everyone plays individually.
    spread: float  # The best rating minus the worst, in points.
    quality: float  # 1 if all sides are equally likely to win, and close to 0 if one side is almost certain to win.
    waited_s: float  # Number of seconds that the longest-waiting player has waited.


class Starter(TypedDict):
    """An entrant of an upcoming race."""

    player: str  # The entrant's current name.
    team: str | None  # Team. Null for a player who competes individually.
    side: NotRequired[str]  # Side: home, white, away or black. Omitted if no side is planned.
    shared: NotRequired[dict[str, str]]  # Equipment that the player uses, by kind.


class Fixture(TypedDict):
    """An upcoming or past race."""

    fixture_id: str  # ID of the race. Its result is the event with the same ID.
    title: str | None  # Title.
    starts_at: datetime  # When the race starts.
    entrants: list[Starter] | None  # Entrants. Null if the race is open to anyone.
    # Status. If there is no result one day after the start, it becomes `no_result`.
    status: Literal["planned", "started", "reported", "cancelled", "no result"]


class Seed(TypedDict):
    """A player's place in a tournament."""

    seed: int  # Seed. The highest score has seed 1, and players without results come last.
    player: str  # Name of the player.
    rating: float | None  # Rating. Null for players without results.
    line: int  # Line in a bracket, counted from the top. The best seeds meet as late as possible.
    group: int | None  # Group, if there are groups. Groups are filled in snake order: 1 2 3, 3 2 1, 1 2 3.
    # Opponent of similar strength in a round of pairs; if possible, one whom the player has not met. Null for a bye.
    opponent: str | None


class StakesLine(TypedDict):
    """The effect of one place on one player."""

    player: str  # Player.
    place: float | None  # Place. A draw between two players is 1.5. Null for a quit.
    chance: float | None  # Probability of finishing in this place, from 0 to 1. Null for quits.
    delta: float  # Rating change, in points.
    rating: float  # Rating that the player would have.
    rank: int  # Rank that the player would have among players with an established rating.
    error: float  # Twice the standard error of the change. 0 if it is exact.


class StakesEntrant(TypedDict):
    """An entrant of an upcoming race."""

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
    outlook: str | None  # Sentence about the best place that the player is likely to reach. Null if there is no table.
    method: str  # Method and accuracy, or the reason why there is no table.
    draws: int  # The table is based on this number of possible finishing orders of the other entrants.
    is_exact: bool  # True if these are all the possible finishing orders.
    error: float  # The largest `error` of all rows.
    age_s: float  # Age of the table in seconds, if newer results have arrived. Otherwise 0.


class RunningRace(TypedDict):
    """The current places in a race, and everyone's rating change if the race ended now."""

    places: list[str]  # Players by place, leader first.
    out: list[str]  # Players who did not finish.
    posted_at: datetime | None  # Time when the places were last updated. Null if none have been posted.
    changes: dict[str, float | None]  # Rating change of each player. Null for players who would not be rated.
    # The most likely place of each player without a place, assuming that they finish behind everyone who has one.
    likely: dict[str, int]


class Places(TypedDict):
    """The current places in a race. Only the final result counts towards ratings."""

    race_id: str  # The race.
    posted_at: datetime  # Time at which these standings were posted.
    places: list[str]  # Players by place, leader first.
    out: list[str]  # Players who did not finish.
