"""The service's answers about chances, as `make docs` writes them from its OpenAPI document."""

from datetime import datetime
from typing import NotRequired, TypedDict


class ComparedPlayer(TypedDict):
    """Where one of two players stands."""

    player: str  # The player's name as it is now.
    rank: int  # 1 is best; equal ratings share the best of their ranks.
    players: int  # How many players have a rating.
    percentile: float  # The share of players who are not rated above, from 0 to 100.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a counted pool.
    expected: float  # The expected score against the other, from 0 to 1.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a counted pool.


class CommonEvent(TypedDict):
    """An event in which two players met. Heats are won, drawn and lost by the first; none between team mates."""

    event_id: str  # The event.
    started_at: datetime | None  # When it started; null in a counted pool.
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
    sequence: NotRequired[float]  # Its number in a counted pool.


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
    """Players to play each other."""

    players: list[str]  # Who plays.
    teams: list[list[str]]  # Sides of equal numbers; a player each where everyone is for himself.
    spread: float  # The best rating less the worst, in points.
    quality: float  # 1 where all sides are as likely to win, towards 0 where one surely does.
    waited_s: float  # Seconds that the first of them has waited.
