"""What pages show of boards, events and searches, as the HTTP API has it; see `podium.store.reading.models`."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from podium.store.rating.events import EVENT_STATUSES
from podium.store.reading.models import LAST_PLAYED, STARTED, Compared, LastPlayed, Started
from podium.support.answers import answer, described

SHOWN_CHANGE = "The change as people read it: the difference of the two ratings as they are shown."


@dataclass(frozen=True, slots=True)
class Listing:
    """Who is listed on a board; None leaves a rule out."""

    min_events: int | None = None
    active_within: timedelta | None = None  # before the pool's newest rated event
    unsettled: bool = False  # whether players whose rating is provisional are ranked among the others


@answer
class EntrantChange:
    """What an event did to an entrant."""

    player: str = described("The player's name as it is now.")
    change: float = described("The change, in points.")
    shown: float = described(SHOWN_CHANGE)


@answer
class EventHeadline(Started):
    """An event in a list."""

    event_id: str = described("The event.")
    title: str | None = described("What people call it; null where it has no title.")
    url: str | None = described("A page about it; null where there is none.")
    started_at: datetime | None = described(STARTED)
    status: str = described("What became of it.", enum=EVENT_STATUSES)
    entrants: int = described("How many took part.")
    winners: tuple[str, ...] = described("Who won: several where the first place is shared.")
    most_gained: EntrantChange | None = described("The largest gain; null where nobody gained.")
    most_lost: EntrantChange | None = described("The largest loss; null where nobody lost.")
    headline: str = described("What happened, in a sentence or two.")


@answer
class EventListPage:
    """A page of the list of events."""

    events: tuple[EventHeadline, ...] = described("The events, newest first.")
    next: str | None = described("The cursor of the page after it; null where there is none.")


@answer
class EventName(Started):
    """An event to be linked to."""

    event_id: str = described("The event.")
    title: str | None = described("What people call it; null where it has no title.")
    started_at: datetime | None = described(STARTED)


@answer
class AdjacentEvents:
    """The events beside an event, in the order of rating."""

    previous: EventName | None = described("The one before it; null where there is none.")
    next: EventName | None = described("The one after it; null where there is none.")


@answer
class ListedRow(LastPlayed):
    """A player on a board."""

    rank: int | None = described(
        "Among those who are listed: 1 is best, equal ratings share the best of their ranks. Null "
        "of an unsettled player beside a board of settled ones."
    )
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    deviation: float | None = described("How uncertain the rating is, in points; null if the system does not say.")
    provisional: bool = described("Whether the rating is not settled yet.")
    events: int = described("Rated events of the player.")
    last_played_at: datetime | None = described(LAST_PLAYED)
    move: int | None = described(
        "Ranks that the player has risen by since the day that the page names; null where there is "
        "nothing to compare with."
    )
    is_new: bool = described("Whether the player was not on this board on that day.")
    spark: tuple[float, ...] = described("The rating after each of the newest 16 changes at most, oldest first.")
    newest_change: float | None = described(
        "The change by the pool's newest event, in points; null of whoever was not in it."
    )
    newest_shown: float | None = described(SHOWN_CHANGE)


@answer
class ListedPage(Compared):
    """A page of a board."""

    rows: tuple[ListedRow, ...] = described("The players, best first.")
    next: str | None = described("The cursor of the page after it; null where there is none.")
    listed: int = described("How many players the whole board lists.")
    players: int = described("How many players have a rating.")
    since: date | None = described(
        "The day, at 00:00 UTC, that `move` compares with; null where there is none, or no dates."
    )
    newest: EventHeadline | None = described("The pool's newest rated event, if there is one.")
    unsettled: tuple[ListedRow, ...] = described(
        "On the first page of a board of settled players: up to 20 of the others, best first."
    )


@answer
class PlayerPage:
    """The page of a board that a player is on."""

    cursor: str | None = described("The cursor of the page, empty of the first; null of whoever is not listed.")


@answer
class FoundPlayer:
    """A player found by name."""

    pool: str = described("The ladder.")
    player: str = described("The player's name as it is now.")
    rating: float | None = described("The rating, in points; null of whoever has none.")
    rank: int | None = described("Among the settled; null of whoever is not settled.")
    former_name: str | None = described("The former name that was found; null if the present one.")
    is_similar: bool = described("Whether the name is only similar to what was searched.")


@answer
class Mover:
    """A player's changes in a span of days, added up."""

    player: str = described("The player's name as it is now.")
    events: int = described("Rated events of the player in these days.")
    change: float = described("The sum of the changes, in points.")
    shown: float = described("The sum as people read it: that of the changes as each of them is shown.")


@answer
class Surprise(Started):
    """The change that ratings expected least: won and lost points, or came last and gained; else the largest."""

    event_id: str = described("The event.")
    title: str | None = described("What people call it; null where it has no title.")
    started_at: datetime | None = described(STARTED)
    player: str = described("The player's name as it is now.")
    change: float = described("The change, in points.")
    shown: float = described(SHOWN_CHANGE)
    settled: bool = described("Whether the player's rating is settled now.")
    rank: int | None = described("The player's place in the event; null where it is not kept.")
    field: int | None = described("How many were rated in it; null where it is not kept.")


@answer
class Movers(Compared):
    """Who moved most in the days up to a pool's newest event; in a counted pool so many events are days."""

    since: datetime | None = described("From when on; null where there is no rated event, and in a counted pool.")
    gained: tuple[Mover, ...] = described("Who gained, most first.")
    lost: tuple[Mover, ...] = described("Who lost, most first.")
    surprise: Surprise | None = described("The surprise of these days; null without an event.")
    spread: float = described(
        "The standard deviation of all ratings: changes in several pools compare as shares of it."
    )


@answer
class SharedThing(LastPlayed):
    """Something that entrants share, and what the results say of it whoever had it."""

    kind: str = described("What it is, as `car`.")
    name: str = described("Its name as it is now.")
    points: float = described("What it adds to the rating of whoever has it, in points.")
    deviation: float | None = described("How uncertain that is, in points.")
    events: int = described("Rated events in which somebody had it.")
    last_played_at: datetime | None = described(LAST_PLAYED)
