"""Answers about boards, events, searches and players for pages and the API; see `podium.views.models`."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from podium.ledger.history import Trend
from podium.support.answers import answer, described
from podium.views.models import LAST_PLAYED, STARTED, Compared, LastPlayed, Started, either
from podium.views.names import EVENT_STATUSES

SHOWN_CHANGE = "The change as people read it: the difference of the two ratings as they are shown."


@dataclass(frozen=True, slots=True)
class Listing:
    """Rules for a listing on a board. None switches a rule off."""

    min_events: int | None = None
    active_within: timedelta | None = None  # before the pool's newest rated event
    provisional: bool = False  # whether players whose rating is provisional are ranked among the others


@answer
class EntrantChange:
    """The effect of an event on an entrant."""

    player: str = described("The player's name as it is now.")
    change: float = described("The change, in points.")
    shown: float = described(SHOWN_CHANGE)


@answer
class EventHeadline(Started):
    """An event in a list."""

    event_id: str = described("The event.")
    title: str | None = described("Title, or null.")
    url: str | None = described("Address of a page about the event, or null.")
    started_at: datetime | None = described(STARTED)
    status: str = described("Status.", enum=EVENT_STATUSES)
    entrants: int = described("Number of entrants.")
    winners: tuple[str, ...] = described("Winners. Several if they share the first place.")
    most_gained: EntrantChange | None = described("Largest gain. Null if nobody gained.")
    most_lost: EntrantChange | None = described("Largest loss. Null if nobody lost.")
    headline: str = described("Summary of the event in one or two sentences.")


@answer
class EventListPage:
    """A page of the list of events."""

    events: tuple[EventHeadline, ...] = described("The events, newest first.")
    next: str | None = described("Cursor for the next page. Null on the last page.")


@answer
class EventName(Started):
    """An event to be linked to."""

    event_id: str = described("The event.")
    title: str | None = described("Title, or null.")
    started_at: datetime | None = described(STARTED)


@answer
class AdjacentEvents:
    """The events before and after an event, in the order of rating."""

    previous: EventName | None = described("Previous event, or null.")
    next: EventName | None = described("Next event, or null.")


@answer
class ListedRow(LastPlayed):
    """A player on the leaderboard."""

    rank: int | None = described(
        "Rank among the listed players. Equal ratings share the best of their ranks. Null for provisional players on "
        "a board of established ones."
    )
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    deviation: float | None = described("Uncertainty of the rating, in points. Null if the system has none.")
    provisional: bool = described("True if the rating is provisional.")
    events: int = described("Rated events of the player.")
    last_played_at: datetime | None = described(LAST_PLAYED)
    move: int | None = described(
        "Number of ranks gained since the day in `since`. Null if there is nothing to compare with."
    )
    is_new: bool = described("True if the player was not on this board on that day.")
    spark: tuple[float, ...] = described("The rating after each of the newest 16 changes at most, oldest first.")
    newest_change: float | None = described(
        "Change in the pool's newest event, in points. Null for players who were not in it."
    )
    newest_shown: float | None = described(SHOWN_CHANGE)


@answer
class Leaderboard(Compared):
    """A page of the leaderboard."""

    players: tuple[ListedRow, ...] = described("The players, best first.")
    next: str | None = described("Cursor for the next page. Null on the last page.")
    listed: int = described("Number of players on all pages.")
    rated: int = described("Number of players with a rating.")
    since: date | None = described(
        "Day (00:00 UTC) that `move` compares with. Null if there is none, or in a pool without dates."
    )
    newest: EventHeadline | None = described("The pool's newest rated event, if there is one.")
    provisional: tuple[ListedRow, ...] = described(
        "Up to 20 players with a provisional rating, best first. Empty if they are ranked, and after the first page."
    )


@answer
class PlayerPage:
    """The page of a board that a player is on."""

    cursor: str | None = described(
        "Cursor of the page with the player; empty for the first page. Null if the player is not listed."
    )


@answer
class FoundPlayer:
    """A player found by name."""

    pool: str = described("Name of the pool.")
    player: str = described("The player's name as it is now.")
    rating: float | None = described("Rating, in points. Null for players without one.")
    rank: int | None = described("Rank among players with an established rating. Null for others.")
    former_name: str | None = described("Former name that matched. Null if the current name matched.")
    is_similar: bool = described("True if the name is only similar to the search text.")


@answer
class Mover:
    """A player's changes in a span of days, added up."""

    player: str = described("The player's name as it is now.")
    events: int = described("Rated events of the player in these days.")
    change: float = described("The sum of the changes, in points.")
    shown: float = described("The sum as people read it: that of the changes as each of them is shown.")


@answer
class Surprise(EventName):
    """The most unexpected change: won but lost points, came last but gained, or otherwise the largest."""

    player: str = described("The player's name as it is now.")
    change: float = described("The change, in points.")
    shown: float = described(SHOWN_CHANGE)
    established: bool = described("True if the player's rating is established.")
    rank: int | None = described("Place in the event. Null if it is not stored.")
    field: int | None = described("Number of rated entrants. Null if it is not stored.")


@answer
class Movers(Compared):
    """The largest changes in the days before a pool's newest event. Without dates, events count as days."""

    since: datetime | None = described("Start of the period. Null without rated events and in pools without dates.")
    gained: tuple[Mover, ...] = described("Players who gained, the largest gain first.")
    lost: tuple[Mover, ...] = described("Players who lost, the largest loss first.")
    surprise: Surprise | None = described(
        "Greatest surprise among the newest 20,000 changes of these days. Null without events."
    )
    spread: float = described(
        "The standard deviation of all ratings: changes in several pools compare as shares of it."
    )


@answer
class Equipment(LastPlayed):
    """A piece of shared equipment, and its effect on results over all its users."""

    kind: str = described("Kind of equipment, such as `car`.")
    name: str = described("Its name as it is now.")
    points: float = described("Points that it adds to the rating of its user.")
    deviation: float | None = described("Uncertainty of that number, in points.")
    events: int = described("Number of rated events in which it was used.")
    last_played_at: datetime | None = described(LAST_PLAYED)


SHOWN_SUM = "The sum as people read it: that of the changes as each of them is shown."


@answer
class FormLine(Started):
    """A line for a rated event of a player, or for the start of a season."""

    event_id: str | None = described("Event. Null for the start of a season.")
    title: str | None = described("Title, or null.")
    started_at: datetime | None = described(STARTED)
    change: float = described("The change of the rating, in points.")
    shown: float = described(SHOWN_CHANGE)
    rating: float = described("The rating after it, in points.")
    rank: int | None = described("Rank of the player in the event. Null if none was submitted.")
    field: int | None = described("Number of rated entrants. Null for the start of a season.")


@answer
class Peak(Started):
    """The highest established rating after an event."""

    rating: float = described("The rating, in points.")
    deviation: float | None = described("Uncertainty at that time, in points. Null if the system has none.")
    event_id: str = described("First event after which it was reached.")
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
    """A player who is rated next to another; only established ratings stand nearby."""

    rank: int | None = described("Rank among players with an established rating. Null for others.")
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    ahead: float = described("Lead over the requested player in ranking points. Negative if behind.")
    ahead_shown: float = described(SHOWN_CHANGE)


@answer
class Encounters:
    """A player's finishes against one opponent, by the overall results of the newest events."""

    opponent: str = described("The opponent.")
    met: int = described("Number of events in which both have a rank.")
    ahead: int = described("Number of events ahead of the opponent.")
    behind: int = described("Number of events behind the opponent. In the rest they shared a rank.")


@answer
class PlayerCard(LastPlayed, Compared):
    """A player at a glance."""

    player: str = described("The player's name as it is now.")
    rating: float = described("The rating, in points.")
    deviation: float | None = described("Uncertainty, in points. Null if the system has none.")
    provisional: bool = described("True if the rating is provisional.")
    rank: int | None = described("Rank among players with an established rating. Null for others.")
    would_be_rank: int | None = described(
        "Rank that a provisional player would have among established ones. Null for established players."
    )
    listed: int = described("Number of players with an established rating.")
    move: int | None = described("Number of ranks gained since that day. Null if there was no rank.")
    since: date | None = described(
        "Day (00:00 UTC) that `move` compares with. Null if there is none, or in a pool without dates."
    )
    events: int = described("Rated events of the player.")
    first_played_at: datetime | None = described("Start of the first rated event. Null in a pool without dates.")
    last_played_at: datetime | None = described(LAST_PLAYED)
    peak: Peak | None = described(
        "The established rating that was highest less two deviations, from the sixth event on."
    )
    last_ten: float = described("The sum of the newest ten changes by events, from the sixth event on, in points.")
    last_ten_shown: float = described(SHOWN_SUM)
    last_ten_events: int = described("Number of changes.")
    trend: Trend = described(
        "`climbing` or `falling` if the newest ten changes sum to more than the rating's interval (or 25 Elo points "
        "if it has none). Otherwise `steady`. `provisional` for a provisional rating."
    )
    chance: float = described("That interval: so many points may be chance.")
    is_highest: bool = described("True if the rating was never higher since the sixth event.")
    streaks: Streaks = described("Runs of events won, and of events that raised the rating.")
    form: tuple[FormLine, ...] = described("The newest ten events, newest first.")
    best_days: tuple[FormLine, ...] = described("Largest gains, the largest first. The first five events are left out.")
    worst_days: tuple[FormLine, ...] = described("The largest losses likewise.")
    finding: float = described("The sum of the changes by the first five events, in points.")
    finding_shown: float = described(SHOWN_SUM)
    nearby: tuple[NearbyRow, ...] = described("The player with up to two players above and two below, best first.")
    encounters: tuple[Encounters, ...] = described(
        "Up to three opponents whom the player beats most often, then the opponent who beats the player most often. "
        "It covers the newest 100 events."
    )
    former_names: tuple[str, ...] = described("Other names that lead to the player, in the order of letters.")
    first_sequence: float | None = described("The number of the first rated event in a numbered pool.", default=None)

    first_when = either("first_played_at", "first_sequence")  # when the player played first


@answer
class CurvePoint(Started):
    """A player's rating after an event, or where a season began."""

    started_at: datetime | None = described(STARTED)
    event_id: str | None = described("Event. Null for the start of a season.")
    change: float = described("The change of the rating, in points.")
    shown: float = described(SHOWN_CHANGE)
    rating: float = described("The rating after it, in points.")
    deviation: float | None = described("Uncertainty at that time, in points. Null if the system has none.")


@answer
class RivalRow:
    """A player's duels against one opponent: a duel is one heat, or the overall result of several."""

    opponent: str = described("The opponent.")
    events: int = described("Number of events in which they were compared.")
    met: int = described("Number of duels between them. Duels that neither finished do not count.")
    won: int = described("Number of duels with more than half a point for the player.")
    drawn: int = described("Number of duels with half a point each.")
    lost: int = described("Number of duels with less than half a point for the player.")
    score: float = described("Sum of the scores. A draw counts as half.")
    expected: float = described("The sum of the expected scores.")
    points: float = described("Points that the duels added to the player's rating.")


@answer
class BestWin(Started):
    """The least expected duel that a player won."""

    opponent: str = described("The opponent.")
    event_id: str = described("The event.")
    title: str | None = described("Title, or null.")
    started_at: datetime | None = described(STARTED)
    heat: str = described("Heat. Empty if the event has only one.")
    expected: float = described("The score that was expected, from 0 to 1.")


@answer
class Rivals:
    """The opponents of a player, over the newest explained events."""

    events: int = described("Events that are counted: the newest, up to a hundred.")
    duels: int = described("Duels in them.")
    won: float = described("Number of duels won. A draw counts as half.")
    expected: float = described("Number of duels the player was expected to win.")
    opponents: tuple[RivalRow, ...] = described("Opponents, the most frequent first.")
    best_win: BestWin | None = described("Least expected win, or null.")


@answer
class ChangesPage:
    """A page of a player's changes."""

    rows: tuple[FormLine, ...] = described("The changes, newest first.")
    next: str | None = described("Cursor for the next page. Null on the last page.")
