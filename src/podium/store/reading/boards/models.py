"""What pages show of boards, events and searches, as the HTTP API has it; see `podium.store.reading.models`."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from podium.store.rating.events import EVENT_STATUSES
from podium.store.reading.when import LAST_PLAYED, STARTED, Compared, LastPlayed, Started

STATUS_SCHEMA = {"json_schema_extra": {"enum": [*EVENT_STATUSES]}}
SHOWN_CHANGE = {"description": "The change as people read it: the difference of the two ratings as they are shown."}


@dataclass(frozen=True, slots=True)
class Listing:
    """Who is listed on a board; None leaves a rule out."""

    min_events: int | None = None
    active_within: timedelta | None = None  # before the pool's newest rated event
    unsettled: bool = False  # whether players whose rating is provisional are ranked among the others


@dataclass(frozen=True, slots=True)
class EntrantChange:
    """What an event did to an entrant."""

    player: str = field(metadata={"description": "The player's name as it is now."})
    change: float = field(metadata={"description": "The change, in points."})
    shown: float = field(metadata=SHOWN_CHANGE)


@dataclass(frozen=True, slots=True)
class EventHeadline(Started):
    """An event in a list."""

    event_id: str = field(metadata={"description": "The event."})
    title: str | None = field(metadata={"description": "What people call it; null where it has no title."})
    url: str | None = field(metadata={"description": "A page about it; null where there is none."})
    started_at: datetime | None = field(metadata=STARTED)
    status: str = field(metadata={"description": "What became of it."} | STATUS_SCHEMA)
    entrants: int = field(metadata={"description": "How many took part."})
    winners: tuple[str, ...] = field(metadata={"description": "Who won: several where the first place is shared."})
    most_gained: EntrantChange | None = field(metadata={"description": "The largest gain; null where nobody gained."})
    most_lost: EntrantChange | None = field(metadata={"description": "The largest loss; null where nobody lost."})
    headline: str = field(metadata={"description": "What happened, in a sentence or two."})


@dataclass(frozen=True, slots=True)
class EventListPage:
    """A page of the list of events."""

    events: tuple[EventHeadline, ...] = field(metadata={"description": "The events, newest first."})
    next: str | None = field(metadata={"description": "The cursor of the page after it; null where there is none."})


@dataclass(frozen=True, slots=True)
class EventName(Started):
    """An event to be linked to."""

    event_id: str = field(metadata={"description": "The event."})
    title: str | None = field(metadata={"description": "What people call it; null where it has no title."})
    started_at: datetime | None = field(metadata=STARTED)


@dataclass(frozen=True, slots=True)
class AdjacentEvents:
    """The events beside an event, in the order of rating."""

    previous: EventName | None = field(metadata={"description": "The one before it; null where there is none."})
    next: EventName | None = field(metadata={"description": "The one after it; null where there is none."})


@dataclass(frozen=True, slots=True)
class ListedRow(LastPlayed):
    """A player on a board."""

    rank: int | None = field(
        metadata={
            "description": "Among those who are listed: 1 is best, equal ratings share the best of their ranks. Null "
            "of an unsettled player beside a board of settled ones."
        }
    )
    player: str = field(metadata={"description": "The player's name."})
    rating: float = field(metadata={"description": "The rating, in points."})
    deviation: float | None = field(
        metadata={"description": "How uncertain the rating is, in points; null if the system does not say."}
    )
    provisional: bool = field(metadata={"description": "Whether the rating is not settled yet."})
    events: int = field(metadata={"description": "Rated events of the player."})
    last_played_at: datetime | None = field(metadata=LAST_PLAYED)
    move: int | None = field(
        metadata={
            "description": "Ranks that the player has risen by since the day that the page names; null where there is "
            "nothing to compare with."
        }
    )
    is_new: bool = field(metadata={"description": "Whether the player was not on this board on that day."})
    spark: tuple[float, ...] = field(
        metadata={"description": "The rating after each of the newest 16 changes at most, oldest first."}
    )
    newest_change: float | None = field(
        metadata={"description": "The change by the pool's newest event, in points; null of whoever was not in it."}
    )
    newest_shown: float | None = field(metadata=SHOWN_CHANGE)


@dataclass(frozen=True, slots=True)
class ListedPage(Compared):
    """A page of a board."""

    rows: tuple[ListedRow, ...] = field(metadata={"description": "The players, best first."})
    next: str | None = field(metadata={"description": "The cursor of the page after it; null where there is none."})
    listed: int = field(metadata={"description": "How many players the whole board lists."})
    players: int = field(metadata={"description": "How many players have a rating."})
    since: date | None = field(
        metadata={
            "description": "The day, at 00:00 UTC, that `move` compares with; null where there is none, or no dates."
        }
    )
    newest: EventHeadline | None = field(metadata={"description": "The pool's newest rated event, if there is one."})
    unsettled: tuple[ListedRow, ...] = field(
        metadata={"description": "On the first page of a board of settled players: up to 20 of the others, best first."}
    )


@dataclass(frozen=True, slots=True)
class PlayerPage:
    """The page of a board that a player is on."""

    cursor: str | None = field(
        metadata={"description": "The cursor of the page, empty of the first; null of whoever is not listed."}
    )


@dataclass(frozen=True, slots=True)
class FoundPlayer:
    """A player found by name."""

    pool: str = field(metadata={"description": "The ladder."})
    player: str = field(metadata={"description": "The player's name as it is now."})
    rating: float | None = field(metadata={"description": "The rating, in points; null of whoever has none."})
    rank: int | None = field(metadata={"description": "Among the settled; null of whoever is not settled."})
    former_name: str | None = field(
        metadata={"description": "The former name that was found; null if the present one."}
    )
    is_similar: bool = field(metadata={"description": "Whether the name is only similar to what was searched."})


@dataclass(frozen=True, slots=True)
class Mover:
    """A player's changes in a span of days, added up."""

    player: str = field(metadata={"description": "The player's name as it is now."})
    events: int = field(metadata={"description": "Rated events of the player in these days."})
    change: float = field(metadata={"description": "The sum of the changes, in points."})
    shown: float = field(
        metadata={"description": "The sum as people read it: that of the changes as each of them is shown."}
    )


@dataclass(frozen=True, slots=True)
class Surprise(Started):
    """The change that ratings expected least: won and lost points, or came last and gained; else the largest."""

    event_id: str = field(metadata={"description": "The event."})
    title: str | None = field(metadata={"description": "What people call it; null where it has no title."})
    started_at: datetime | None = field(metadata=STARTED)
    player: str = field(metadata={"description": "The player's name as it is now."})
    change: float = field(metadata={"description": "The change, in points."})
    shown: float = field(metadata=SHOWN_CHANGE)
    settled: bool = field(metadata={"description": "Whether the player's rating is settled now."})
    rank: int | None = field(metadata={"description": "The player's place in the event; null where it is not kept."})
    field: int | None = field(metadata={"description": "How many were rated in it; null where it is not kept."})


@dataclass(frozen=True, slots=True)
class Movers(Compared):
    """Who moved most in the days up to a pool's newest event; in a counted pool so many events are days."""

    since: datetime | None = field(
        metadata={"description": "From when on; null where there is no rated event, and in a counted pool."}
    )
    gained: tuple[Mover, ...] = field(metadata={"description": "Who gained, most first."})
    lost: tuple[Mover, ...] = field(metadata={"description": "Who lost, most first."})
    surprise: Surprise | None = field(metadata={"description": "The surprise of these days; null without an event."})
    spread: float = field(
        metadata={
            "description": "The standard deviation of all ratings: changes in several pools compare as shares of it."
        }
    )
