"""What is read of one player beyond rank and changes: form, streaks, records, the curve, and rivals.

A field's `metadata` is what pydantic puts into the OpenAPI document of it.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from podium.ledger.history import Trend
from podium.store.log.order import When
from podium.store.reading.boards.models import SHOWN_CHANGE
from podium.store.reading.when import LAST_PLAYED, OPTIONAL, STARTED, Compared, LastPlayed, Started

SHOWN_SUM = {"description": "The sum as people read it: that of the changes as each of them is shown."}


@dataclass(frozen=True, slots=True)
class FormLine(Started):
    """A rated event of a player, or where a season began, in a line."""

    event_id: str | None = field(metadata={"description": "The event; null where a season began."})
    title: str | None = field(metadata={"description": "What people call it; null where it has no title."})
    started_at: datetime | None = field(metadata=STARTED)
    change: float = field(metadata={"description": "The change of the rating, in points."})
    shown: float = field(metadata=SHOWN_CHANGE)
    rating: float = field(metadata={"description": "The rating after it, in points."})
    rank: int | None = field(metadata={"description": "The player's rank in it; null where none was sent."})
    field: int | None = field(metadata={"description": "How many entrants it rated; null where a season began."})


@dataclass(frozen=True, slots=True)
class Peak(Started):
    """The highest rating after an event, while it was settled."""

    rating: float = field(metadata={"description": "The rating, in points."})
    deviation: float | None = field(metadata={"description": "How uncertain it was; null if the system has no such."})
    event_id: str = field(metadata={"description": "The event after which it was reached, the first of them."})
    started_at: datetime | None = field(metadata=STARTED)


@dataclass(frozen=True, slots=True)
class Streaks:
    """Runs of rated events, one after the other."""

    wins: int = field(metadata={"description": "The longest run of events won."})
    current_wins: int = field(metadata={"description": "The run of events won that the newest ends."})
    gains: int = field(metadata={"description": "The longest run of events that raised the rating."})
    current_gains: int = field(metadata={"description": "The run of events that raised it that the newest ends."})


@dataclass(frozen=True, slots=True)
class NearbyRow:
    """A player who is rated next to another; only settled ratings stand nearby."""

    rank: int | None = field(metadata={"description": "The rank among the settled; null of a player who is not."})
    player: str = field(metadata={"description": "The player's name."})
    rating: float = field(metadata={"description": "The rating, in points."})
    ahead: float = field(metadata={"description": "Points ahead of the player of the card; negative where behind."})
    ahead_shown: float = field(metadata=SHOWN_CHANGE)


@dataclass(frozen=True, slots=True)
class Encounters:
    """How a player finished against one opponent, by the overall results of the newest events."""

    opponent: str = field(metadata={"description": "The opponent."})
    met: int = field(metadata={"description": "Events in which both have a rank."})
    ahead: int = field(metadata={"description": "In how many of them the player finished ahead."})
    behind: int = field(metadata={"description": "In how many behind; in the others they shared a rank."})


@dataclass(frozen=True, slots=True)
class PlayerCard(LastPlayed, Compared):
    """A player at a glance."""

    player: str = field(metadata={"description": "The player's name as it is now."})
    rating: float = field(metadata={"description": "The rating, in points."})
    deviation: float | None = field(metadata={"description": "How uncertain it is; null if the system has no such."})
    provisional: bool = field(metadata={"description": "Whether the rating is not settled yet."})
    rank: int | None = field(metadata={"description": "The rank among the settled; null of a player who is not."})
    would_be_rank: int | None = field(
        metadata={"description": "The rank that one who is not settled would have among them; null of who is."}
    )
    listed: int = field(metadata={"description": "How many players are settled."})
    move: int | None = field(
        metadata={"description": "Ranks that the player has risen by since that day; null where there is no such rank."}
    )
    since: date | None = field(
        metadata={
            "description": "The day, at 00:00 UTC, that `move` compares with; null where there is none, or no dates."
        }
    )
    events: int = field(metadata={"description": "Rated events of the player."})
    first_played_at: datetime | None = field(
        metadata={"description": "When the first rated event started; null in a counted pool."}
    )
    last_played_at: datetime | None = field(metadata=LAST_PLAYED)
    peak: Peak | None = field(
        metadata={"description": "The settled rating that was highest less two deviations, from the sixth event on."}
    )
    last_ten: float = field(
        metadata={"description": "The sum of the newest ten changes by events, from the sixth event on, in points."}
    )
    last_ten_shown: float = field(metadata=SHOWN_SUM)
    last_ten_events: int = field(metadata={"description": "How many changes these are."})
    trend: Trend = field(
        metadata={
            "description": "`climbing` or `falling` where the newest ten changes sum to more than the rating's own "
            "interval (without one, to more than 25 points of Elo), else `steady`; `settling` while the rating is."
        }
    )
    chance: float = field(metadata={"description": "That interval: so many points may be chance."})
    is_highest: bool = field(metadata={"description": "Whether the rating was never higher from the sixth event on."})
    streaks: Streaks = field(metadata={"description": "Runs of events won, and of events that raised the rating."})
    form: tuple[FormLine, ...] = field(metadata={"description": "The newest ten events, newest first."})
    best_days: tuple[FormLine, ...] = field(
        metadata={
            "description": "The largest gains, largest first; none of the first five events, which find a rating."
        }
    )
    worst_days: tuple[FormLine, ...] = field(metadata={"description": "The largest losses likewise."})
    finding: float = field(metadata={"description": "The sum of the changes by the first five events, in points."})
    finding_shown: float = field(metadata=SHOWN_SUM)
    nearby: tuple[NearbyRow, ...] = field(
        metadata={"description": "Up to two who are rated above, the player, and up to two below; best first."}
    )
    encounters: tuple[Encounters, ...] = field(
        metadata={
            "description": "Up to three whom the player finishes ahead of more often than behind, the largest lead "
            "first; then whoever is ahead of the player most, if anybody is. Over the newest hundred events at most."
        }
    )
    former_names: tuple[str, ...] = field(
        metadata={"description": "Other names that lead to the player, in the order of letters."}
    )
    first_sequence: float | None = field(
        default=None, metadata=OPTIONAL | {"description": "The number of the first rated event in a counted pool."}
    )

    @property
    def first_when(self) -> When:
        """When the player played first: a moment, or a number."""
        when: Any = self.first_played_at if self.first_sequence is None else self.first_sequence
        return when  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class CurvePoint(Started):
    """A player's rating after an event, or where a season began."""

    started_at: datetime | None = field(metadata=STARTED)
    event_id: str | None = field(metadata={"description": "The event; null where a season began."})
    change: float = field(metadata={"description": "The change of the rating, in points."})
    shown: float = field(metadata=SHOWN_CHANGE)
    rating: float = field(metadata={"description": "The rating after it, in points."})
    deviation: float | None = field(metadata={"description": "How uncertain it was; null if the system has no such."})


@dataclass(frozen=True, slots=True)
class RivalRow:
    """A player's duels against one opponent: a duel is one heat, or the overall result of several."""

    opponent: str = field(metadata={"description": "The opponent."})
    events: int = field(metadata={"description": "Events in which they were compared."})
    met: int = field(metadata={"description": "Duels between them; none where neither finished."})
    won: int = field(metadata={"description": "Duels in which the player scored more than a half."})
    drawn: int = field(metadata={"description": "Duels in which each scored a half."})
    lost: int = field(metadata={"description": "Duels in which the player scored less than a half."})
    score: float = field(metadata={"description": "The sum of the scores; a draw is a half."})
    expected: float = field(metadata={"description": "The sum of the expected scores."})
    points: float = field(metadata={"description": "What the duels added to the player's rating."})


@dataclass(frozen=True, slots=True)
class Scalp(Started):
    """The least expected duel that a player won."""

    opponent: str = field(metadata={"description": "The opponent."})
    event_id: str = field(metadata={"description": "The event."})
    title: str | None = field(metadata={"description": "What people call it; null where it has no title."})
    started_at: datetime | None = field(metadata=STARTED)
    heat: str = field(metadata={"description": "The heat; empty where the event has one only."})
    expected: float = field(metadata={"description": "The score that was expected, from 0 to 1."})


@dataclass(frozen=True, slots=True)
class Rivals:
    """Whom a player met, over the newest events that are explained."""

    events: int = field(metadata={"description": "Events that are counted: the newest, up to a hundred."})
    duels: int = field(metadata={"description": "Duels in them."})
    won: float = field(metadata={"description": "Duels won; a draw is a half."})
    expected: float = field(metadata={"description": "Duels that the ratings promised."})
    opponents: tuple[RivalRow, ...] = field(metadata={"description": "Everyone met, whoever was met most first."})
    best_scalp: Scalp | None = field(
        metadata={"description": "The least expected duel that was won; null without one."}
    )


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """A page of a player's changes."""

    rows: tuple[FormLine, ...] = field(metadata={"description": "The changes, newest first."})
    next: str | None = field(metadata={"description": "The cursor of the page after it; null where there is none."})
