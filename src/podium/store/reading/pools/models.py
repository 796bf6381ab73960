"""What is read of an event beyond its changes, and of a pool as a whole."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

Bound = Literal["at least", "at most"]


@dataclass(frozen=True, slots=True)
class Performance:
    """How well an entrant played in one event."""

    player: str = field(metadata={"description": "The entrant."})
    performance: float | None = field(
        metadata={"description": "The rating whose expected score is the actual one; null where nobody was compared."}
    )
    bound: Bound | None = field(
        metadata={"description": "`at least` where every duel was won, `at most` where every duel was lost; else null."}
    )


@dataclass(frozen=True, slots=True)
class EventField:
    """How strong the field of an event was, and how well each played in it."""

    players: int = field(metadata={"description": "Entrants who were rated."})
    mean_rating: float = field(metadata={"description": "The mean of their ratings before it, in points."})
    performances: tuple[Performance, ...] = field(
        metadata={"description": "Of each, in the order of the event's rows."}
    )


@dataclass(frozen=True, slots=True)
class CorrectedLine:
    """A line of an event's content that a correction changed."""

    heat: str | None = field(metadata={"description": "The heat; null where the event has one only."})
    player: str | None = field(metadata={"description": "The player; null where it is of the event as a whole."})
    before: str | None = field(metadata={"description": "What is another now, in words; null where no line was there."})
    after: str | None = field(metadata={"description": "What it is now, in words; null where the line is gone."})


@dataclass(frozen=True, slots=True)
class CorrectionRecord:
    """An event's submission, or something that was done to it afterwards."""

    seq: int = field(metadata={"description": "The number of the log entry."})
    kind: str = field(metadata={"description": "What was done: submit, amend, void or restore."})
    received_at: datetime = field(metadata={"description": "When it came."})
    actor: str = field(metadata={"description": "Who did it: the name of a key, or what a command was given."})
    reason: str | None = field(metadata={"description": "Why; null where no reason was given, or it is blanked."})
    events: int | None = field(metadata={"description": "Events with a change that moved; null where not known."})
    players: int | None = field(metadata={"description": "Players who have one; null where not known."})
    largest: float | None = field(
        metadata={"description": "The most that the rating after any one change moved; null where not known."}
    )
    lines: tuple[CorrectedLine, ...] = field(metadata={"description": "What it changed of the event's content."})


@dataclass(frozen=True, slots=True)
class PromisePoint:
    """What a lead promises the middle settled player over an equal; a newcomer where nobody is settled."""

    gap: float = field(metadata={"description": "Points by which a player is ahead."})
    expected: float = field(metadata={"description": "The expected score, from 0 to 1."})


@dataclass(frozen=True, slots=True)
class WeightPoint:
    """How far a duel moved players in their n-th rated event, by some who are spread over all."""

    event_number: int = field(metadata={"description": "Which rated event of a player it was, from 1."})
    points: float = field(metadata={"description": "The most that one duel moved the middle player."})
    players: int = field(metadata={"description": "How many players it is the middle of."})


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Duels in which about the same score was expected; each is counted from both sides."""

    expected: float = field(metadata={"description": "The mean of the expected scores."})
    observed: float = field(metadata={"description": "The mean of the scores."})
    lowest: float = field(metadata={"description": "The lower end of the 95 % interval of the observed mean."})
    highest: float = field(metadata={"description": "The upper end of it."})
    duels: int = field(metadata={"description": "How many there are."})


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What a pool's whole history shows, as of a day."""

    day: date = field(metadata={"description": "The day on which it was worked out."})
    events: int = field(metadata={"description": "Rated events that were counted: all, or the newest of a large pool."})
    players: int = field(metadata={"description": "Players in them."})
    duels: int = field(metadata={"description": "Duels in them."})
    promise: tuple[PromisePoint, ...] = field(metadata={"description": "What a lead in points promises."})
    weights: tuple[WeightPoint, ...] = field(metadata={"description": "How far one duel moves a player, by event."})
    reliability: tuple[ReliabilityBin, ...] = field(metadata={"description": "Whether promises came true."})


@dataclass(frozen=True, slots=True)
class FairExpectation:
    """A player's duels in an event, as they were promised and as such promises come true in the pool."""

    duels: int = field(metadata={"description": "Duels of the player."})
    promised: float = field(metadata={"description": "Duels that the ratings promised."})
    fair: float | None = field(
        metadata={"description": "Duels that would have been fair to expect; null where too few such are known."}
    )
    example: ReliabilityBin | None = field(
        metadata={"description": "What came of promises like most of these; null where nothing is fair to say."}
    )
