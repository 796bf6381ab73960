"""What is read of an event beyond its changes, and of a pool as a whole."""

from datetime import date, datetime
from typing import Literal

from podium.support.answers import answer, described

Bound = Literal["at least", "at most"]


@answer
class Performance:
    """How well an entrant played in one event."""

    player: str = described("The entrant.")
    performance: float | None = described(
        "The rating whose expected score is the actual one; null where nobody was compared."
    )
    bound: Bound | None = described(
        "`at least` where every duel was won, `at most` where every duel was lost; else null."
    )


@answer
class EventField:
    """How strong the field of an event was, and how well each played in it."""

    players: int = described("Entrants who were rated.")
    mean_rating: float = described("The mean of their ratings before it, in points.")
    performances: tuple[Performance, ...] = described("Of each, in the order of the event's rows.")


@answer
class CorrectedLine:
    """A line of an event's content that a correction changed."""

    heat: str | None = described("The heat; null where the event has one only.")
    player: str | None = described("The player; null where it is of the event as a whole.")
    before: str | None = described("What is another now, in words; null where no line was there.")
    after: str | None = described("What it is now, in words; null where the line is gone.")


@answer
class CorrectionRecord:
    """An event's submission, or something that was done to it afterwards."""

    seq: int = described("The number of the log entry.")
    kind: str = described("What was done: submit, amend, void or restore.")
    received_at: datetime = described("When it came.")
    actor: str = described("Who did it: the name of a key, or what a command was given.")
    reason: str | None = described("Why; null where no reason was given, or it is blanked.")
    events: int | None = described("Events with a change that moved; null where not known.")
    players: int | None = described("Players who have one; null where not known.")
    largest: float | None = described("The most that the rating after any one change moved; null where not known.")
    lines: tuple[CorrectedLine, ...] = described("What it changed of the event's content.")


@answer
class PromisePoint:
    """What a lead promises the middle settled player over an equal; a newcomer where nobody is settled."""

    gap: float = described("Points by which a player is ahead.")
    expected: float = described("The expected score, from 0 to 1.")


@answer
class WeightPoint:
    """How far a duel moved players in their n-th rated event, by some who are spread over all."""

    event_number: int = described("Which rated event of a player it was, from 1.")
    points: float = described("The most that one duel moved the middle player.")
    players: int = described("How many players it is the middle of.")


@answer
class ReliabilityBin:
    """Duels in which about the same score was expected; each is counted from both sides."""

    expected: float = described("The mean of the expected scores.")
    observed: float = described("The mean of the scores.")
    lowest: float = described("The lower end of the 95 % interval of the observed mean.")
    highest: float = described("The upper end of it.")
    duels: int = described("How many there are.")


@answer
class PoolFacts:
    """What a pool's whole history shows, as of a day."""

    day: date = described("The day on which it was worked out.")
    events: int = described("Rated events that were counted: all, or the newest of a large pool.")
    players: int = described("Players in them.")
    duels: int = described("Duels in them.")
    promise: tuple[PromisePoint, ...] = described("What a lead in points promises.")
    weights: tuple[WeightPoint, ...] = described("How far one duel moves a player, by event.")
    reliability: tuple[ReliabilityBin, ...] = described("Whether promises came true.")


@answer
class FairExpectation:
    """A player's duels in an event, as they were promised and as such promises come true in the pool."""

    duels: int = described("Duels of the player.")
    promised: float = described("Duels that the ratings promised.")
    fair: float | None = described("Duels that would have been fair to expect; null where too few such are known.")
    example: ReliabilityBin | None = described(
        "What came of promises like most of these; null where nothing is fair to say."
    )
