"""What pages show of boards, events, searches and a player, as the API has it; see `podium.views.models`."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from podium.ledger.history import Trend
from podium.support.answers import answer, described
from podium.views.models import LAST_PLAYED, STARTED, Compared, LastPlayed, Started, either
from podium.views.names import EVENT_STATUSES

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
class Surprise(EventName):
    """The change that ratings expected least: won and lost points, or came last and gained; else the largest."""

    player: str = described("The player's name as it is now.")
    change: float = described("The change, in points.")
    shown: float = described(SHOWN_CHANGE)
    settled: bool = described("Whether the player's rating is settled now.")
    rank: int | None = described("The player's place in the event; null where it is not kept.")
    field: int | None = described("How many were rated in it; null where it is not kept.")


@answer
class Movers(Compared):
    """Who moved most in the days up to a pool's newest event; in a numbered pool so many events are days."""

    since: datetime | None = described("From when on; null where there is no rated event, and in a numbered pool.")
    gained: tuple[Mover, ...] = described("Who gained, most first.")
    lost: tuple[Mover, ...] = described("Who lost, most first.")
    surprise: Surprise | None = described(
        "The surprise of these days, of their newest 20,000 changes; null without an event."
    )
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


SHOWN_SUM = "The sum as people read it: that of the changes as each of them is shown."


@answer
class FormLine(Started):
    """A rated event of a player, or where a season began, in a line."""

    event_id: str | None = described("The event; null where a season began.")
    title: str | None = described("What people call it; null where it has no title.")
    started_at: datetime | None = described(STARTED)
    change: float = described("The change of the rating, in points.")
    shown: float = described(SHOWN_CHANGE)
    rating: float = described("The rating after it, in points.")
    rank: int | None = described("The player's rank in it; null where none was sent.")
    field: int | None = described("How many entrants it rated; null where a season began.")


@answer
class Peak(Started):
    """The highest rating after an event, while it was settled."""

    rating: float = described("The rating, in points.")
    deviation: float | None = described("How uncertain it was; null if the system has no such.")
    event_id: str = described("The event after which it was reached, the first of them.")
    started_at: datetime | None = described(STARTED)


@answer
class Streaks:
    """Runs of rated events, one after the other."""

    wins: int = described("The longest run of events won.")
    current_wins: int = described("The run of events won that the newest ends.")
    gains: int = described("The longest run of events that raised the rating.")
    current_gains: int = described("The run of events that raised it that the newest ends.")


@answer
class NearbyRow:
    """A player who is rated next to another; only settled ratings stand nearby."""

    rank: int | None = described("The rank among the settled; null of a player who is not.")
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    ahead: float = described("Points ahead of the player of the card, by what ranks follow; negative where behind.")
    ahead_shown: float = described(SHOWN_CHANGE)


@answer
class Encounters:
    """How a player finished against one opponent, by the overall results of the newest events."""

    opponent: str = described("The opponent.")
    met: int = described("Events in which both have a rank.")
    ahead: int = described("In how many of them the player finished ahead.")
    behind: int = described("In how many behind; in the others they shared a rank.")


@answer
class PlayerCard(LastPlayed, Compared):
    """A player at a glance."""

    player: str = described("The player's name as it is now.")
    rating: float = described("The rating, in points.")
    deviation: float | None = described("How uncertain it is; null if the system has no such.")
    provisional: bool = described("Whether the rating is not settled yet.")
    rank: int | None = described("The rank among the settled; null of a player who is not.")
    would_be_rank: int | None = described("The rank that one who is not settled would have among them; null of who is.")
    listed: int = described("How many players are settled.")
    move: int | None = described("Ranks that the player has risen by since that day; null where there is no such rank.")
    since: date | None = described(
        "The day, at 00:00 UTC, that `move` compares with; null where there is none, or no dates."
    )
    events: int = described("Rated events of the player.")
    first_played_at: datetime | None = described("When the first rated event started; null in a numbered pool.")
    last_played_at: datetime | None = described(LAST_PLAYED)
    peak: Peak | None = described("The settled rating that was highest less two deviations, from the sixth event on.")
    last_ten: float = described("The sum of the newest ten changes by events, from the sixth event on, in points.")
    last_ten_shown: float = described(SHOWN_SUM)
    last_ten_events: int = described("How many changes these are.")
    trend: Trend = described(
        "`climbing` or `falling` where the newest ten changes sum to more than the rating's own "
        "interval (without one, to more than 25 points of Elo), else `steady`; `settling` while the rating is."
    )
    chance: float = described("That interval: so many points may be chance.")
    is_highest: bool = described("Whether the rating was never higher from the sixth event on.")
    streaks: Streaks = described("Runs of events won, and of events that raised the rating.")
    form: tuple[FormLine, ...] = described("The newest ten events, newest first.")
    best_days: tuple[FormLine, ...] = described(
        "The largest gains, largest first; none of the first five events, which find a rating."
    )
    worst_days: tuple[FormLine, ...] = described("The largest losses likewise.")
    finding: float = described("The sum of the changes by the first five events, in points.")
    finding_shown: float = described(SHOWN_SUM)
    nearby: tuple[NearbyRow, ...] = described(
        "Up to two who are rated above, the player, and up to two below; best first."
    )
    encounters: tuple[Encounters, ...] = described(
        "Up to three whom the player finishes ahead of more often than behind, the largest lead "
        "first; then whoever is ahead of the player most, if anybody is. Over the newest hundred events at most."
    )
    former_names: tuple[str, ...] = described("Other names that lead to the player, in the order of letters.")
    first_sequence: float | None = described("The number of the first rated event in a numbered pool.", default=None)

    first_when = either("first_played_at", "first_sequence")  # when the player played first


@answer
class CurvePoint(Started):
    """A player's rating after an event, or where a season began."""

    started_at: datetime | None = described(STARTED)
    event_id: str | None = described("The event; null where a season began.")
    change: float = described("The change of the rating, in points.")
    shown: float = described(SHOWN_CHANGE)
    rating: float = described("The rating after it, in points.")
    deviation: float | None = described("How uncertain it was; null if the system has no such.")


@answer
class RivalRow:
    """A player's duels against one opponent: a duel is one heat, or the overall result of several."""

    opponent: str = described("The opponent.")
    events: int = described("Events in which they were compared.")
    met: int = described("Duels between them; none where neither finished.")
    won: int = described("Duels in which the player scored more than a half.")
    drawn: int = described("Duels in which each scored a half.")
    lost: int = described("Duels in which the player scored less than a half.")
    score: float = described("The sum of the scores; a draw is a half.")
    expected: float = described("The sum of the expected scores.")
    points: float = described("What the duels added to the player's rating.")


@answer
class Scalp(Started):
    """The least expected duel that a player won."""

    opponent: str = described("The opponent.")
    event_id: str = described("The event.")
    title: str | None = described("What people call it; null where it has no title.")
    started_at: datetime | None = described(STARTED)
    heat: str = described("The heat; empty where the event has one only.")
    expected: float = described("The score that was expected, from 0 to 1.")


@answer
class Rivals:
    """Whom a player met, over the newest events that are explained."""

    events: int = described("Events that are counted: the newest, up to a hundred.")
    duels: int = described("Duels in them.")
    won: float = described("Duels won; a draw is a half.")
    expected: float = described("Duels that the ratings promised.")
    opponents: tuple[RivalRow, ...] = described("Everyone met, whoever was met most first.")
    best_scalp: Scalp | None = described("The least expected duel that was won; null without one.")


@answer
class ChangesPage:
    """A page of a player's changes."""

    rows: tuple[FormLine, ...] = described("The changes, newest first.")
    next: str | None = described("The cursor of the page after it; null where there is none.")
