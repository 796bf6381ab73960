"""Responses about boards, events, searches and players for pages and the API; see `podium.views.models`."""

from datetime import date, datetime, timedelta

from podium.ledger.history import Trend
from podium.support.answers import answer, described
from podium.support.immutable import immutable
from podium.views.details import PlayerDetail
from podium.views.models import DETAILS_OF, LAST_PLAYED, SCORE, STARTED, TIER, Compared, LastPlayed, Started, either
from podium.views.names import EVENT_STATUSES

SHOWN_CHANGE = "The change as displayed: the difference between the two displayed ratings."


@immutable
class Listing:
    """Rules for which players a board lists. None switches a rule off."""

    min_events: int | None = None
    active_within: timedelta | None = None  # within this time before the pool's newest rated event
    provisional: bool = False  # True if players with a provisional rating are ranked among the others
    details: tuple[tuple[str, str], ...] = ()  # details that players must have, such as ("club", "Kart Club")


@answer
class EntrantChange:
    """The effect of an event on an entrant.

    Attributes:
        player: The player's current name.
        change: The change, in points.
    """

    player: str
    change: float
    shown: float = described(SHOWN_CHANGE)


@answer
class EventHeadline(Started):
    """An event in a list.

    Attributes:
        event_id: The event.
        title: Title, or null.
        url: Address of a page about the event, or null.
        entrants: Number of entrants.
        winners: The winner, or all winners if several share first place.
        most_gained: Largest gain. Null if no player gained.
        most_lost: Largest loss. Null if no player lost.
        headline: Summary of the event in one or two sentences.
    """

    event_id: str
    title: str | None
    url: str | None
    started_at: datetime | None = described(STARTED)
    status: str = described("Status.", enum=EVENT_STATUSES)
    entrants: int
    winners: tuple[str, ...]
    most_gained: EntrantChange | None
    most_lost: EntrantChange | None
    headline: str


@answer
class EventListPage:
    """A page of the list of events.

    Attributes:
        events: The events, newest first.
        next: Cursor for the next page. Null on the last page.
    """

    events: tuple[EventHeadline, ...]
    next: str | None


@answer
class EventName(Started):
    """The details needed to link to an event.

    Attributes:
        event_id: The event.
        title: Title, or null.
    """

    event_id: str
    title: str | None
    started_at: datetime | None = described(STARTED)


@answer
class AdjacentEvents:
    """The events before and after a given event, in the order in which they are rated.

    Attributes:
        previous: Previous event, or null.
        next: Next event, or null.
    """

    previous: EventName | None
    next: EventName | None


@answer
class ListedRow(LastPlayed):
    """A player on the leaderboard.

    Attributes:
        rank: Rank among the listed players. Equal ratings share the best rank. Null for provisional players without
            one.
        player: The player's name.
        rating: The rating, in points.
        deviation: Uncertainty of the rating, in points. Null if the system has no deviation.
        provisional: True if the rating is provisional.
        events: Number of rated events in which the player has taken part.
        move: Number of ranks gained since the day in `since`. Null if there is no rank to compare with.
        is_new: True if the player was not on this board on the day in `since`.
        spark: The rating after each of the latest changes (at most 16), oldest first.
        newest_change: Change in the pool's latest event, in points. Null for players who did not take part.
    """

    rank: int | None
    player: str
    rating: float
    deviation: float | None
    score: float = described(SCORE)
    tier: str | None = described(TIER)
    provisional: bool
    events: int
    last_played_at: datetime | None = described(LAST_PLAYED)
    move: int | None
    is_new: bool
    spark: tuple[float, ...]
    newest_change: float | None
    newest_shown: float | None = described(SHOWN_CHANGE)


@answer
class Leaderboard(Compared):
    """A page of the leaderboard.

    Attributes:
        players: The players, best first.
        next: Cursor for the next page. Null on the last page.
        listed: Number of players on all pages.
        rated: Number of players with a rating.
        since: Day (00:00 UTC) from which `move` is measured. Null if there is no such day.
        newest: The pool's latest rated event, if there is one.
        provisional: Up to 20 provisional players, best first. Empty if they are ranked.
    """

    players: tuple[ListedRow, ...]
    next: str | None
    listed: int
    rated: int
    since: date | None
    newest: EventHeadline | None
    provisional: tuple[ListedRow, ...]


@answer
class PlayerPage:
    """The page of a board that shows a player.

    Attributes:
        cursor: Cursor of the page with the player; empty for the first page. Null if the player is not listed.
    """

    cursor: str | None


@answer
class FoundPlayer:
    """A player found by name.

    Attributes:
        pool: Name of the pool.
        player: The player's current name.
        rating: Rating, in points. Null for players without a rating.
        rank: Rank among players with an established rating. Null for other players.
        former_name: Former name that matched. Null if the current name matched.
        is_similar: True if the name is only similar to the search text.
    """

    pool: str
    player: str
    rating: float | None
    rank: int | None
    former_name: str | None
    is_similar: bool


@answer
class Mover:
    """The sum of a player's changes over several days.

    Attributes:
        player: The player's current name.
        events: Number of rated events in which the player took part during this period.
        change: The sum of the changes, in points.
        shown: The sum of the changes as they are displayed.
    """

    player: str
    events: int
    change: float
    shown: float


@answer
class Surprise(EventName):
    """The most unexpected change: a win that cost points, a last place that gained some, or the largest change.

    Attributes:
        player: The player's current name.
        change: The change, in points.
        established: True if the player's rating is established.
        rank: Place in the event. Null if it is not stored.
        field: Number of rated entrants. Null if it is not stored.
    """

    player: str
    change: float
    shown: float = described(SHOWN_CHANGE)
    established: bool
    rank: int | None
    field: int | None


@answer
class Movers(Compared):
    """The largest changes in the days up to a pool's latest event. Without dates, each event counts as a day.

    Attributes:
        since: Start of the period. Null if there are no rated events, and in pools without dates.
        gained: Players who gained, largest gain first.
        lost: Players who lost, largest loss first.
        surprise: Biggest surprise among the latest 20,000 changes in this period. Null if there are no events.
        spread: The standard deviation of all ratings, for comparing changes in different pools.
    """

    since: datetime | None
    gained: tuple[Mover, ...]
    lost: tuple[Mover, ...]
    surprise: Surprise | None
    spread: float


@answer
class Equipment(LastPlayed):
    """A piece of shared equipment, and its effect on the results of all its users.

    Attributes:
        kind: Kind of equipment, such as `car`.
        name: Current name of the equipment.
        points: Number of points that it adds to the rating of the player who uses it.
        deviation: Uncertainty of these points.
        events: Number of rated events in which it was used.
    """

    kind: str
    name: str
    points: float
    deviation: float | None
    events: int
    last_played_at: datetime | None = described(LAST_PLAYED)


SHOWN_SUM = "The sum of the changes as they are displayed."


@answer
class FormLine(Started):
    """One of a player's rated events, or the start of a season.

    Attributes:
        event_id: Event. Null for the start of a season.
        title: Title, or null.
        change: The change in the rating, in points.
        rating: The rating after the change, in points.
        rank: Rank of the player in the event. Null if none was submitted.
        field: Number of rated entrants. Null for the start of a season.
    """

    event_id: str | None
    title: str | None
    started_at: datetime | None = described(STARTED)
    change: float
    shown: float = described(SHOWN_CHANGE)
    rating: float
    rank: int | None
    field: int | None


@answer
class Peak(Started):
    """The highest established rating after an event.

    Attributes:
        rating: The rating, in points.
        deviation: Uncertainty of the rating at that time, in points. Null if the system has no deviation.
        event_id: First event after which the player had this rating.
    """

    rating: float
    deviation: float | None
    event_id: str
    started_at: datetime | None = described(STARTED)


@answer
class Streaks:
    """Streaks of consecutive rated events.

    Attributes:
        wins: The longest winning streak.
        current_wins: The winning streak that ends with the most recent event.
        gains: The longest streak of events that raised the rating.
        current_gains: The streak of rating gains that ends with the most recent event.
    """

    wins: int
    current_wins: int
    gains: int
    current_gains: int


@answer
class NearbyRow:
    """A player with a neighbouring rank. Only players with an established rating are ranked.

    Attributes:
        rank: Rank among players with an established rating. Null for other players.
        player: The player's name.
        rating: The rating, in points.
        ahead: Lead over the requested player in ranking points. Negative if behind.
    """

    rank: int | None
    player: str
    rating: float
    ahead: float
    ahead_shown: float = described(SHOWN_CHANGE)


@answer
class Encounters:
    """A comparison of a player's finishes with one opponent's, based on the overall results of the latest events.

    Attributes:
        opponent: The opponent.
        met: Number of events in which both players have a rank.
        ahead: Number of events in which the player finished ahead of the opponent.
        behind: Number of events in which the player finished behind the opponent. In the remaining events they shared a
            rank.
    """

    opponent: str
    met: int
    ahead: int
    behind: int


@answer
class PlayerCard(LastPlayed, Compared):
    """An overview of a player.

    Attributes:
        player: The player's current name.
        rating: The rating, in points.
        deviation: Uncertainty of the rating, in points. Null if the system has no deviation.
        provisional: True if the rating is provisional.
        rank: Rank among players with an established rating. Null for other players.
        would_be_rank: Rank that a provisional player would have among established players. Null for established
            players.
        listed: Number of players with an established rating.
        move: Number of ranks gained since the day in `since`. Null if the player had no rank on that day.
        since: Day (00:00 UTC) from which `move` is measured. Null if there is no such day.
        events: Number of rated events in which the player has taken part.
        first_played_at: Start time of the player's first rated event. Null in a pool without dates.
        peak: The established rating, from the sixth event onwards, with the highest value of rating minus two
            deviations.
        last_ten: The sum of the changes in the last ten events, in points. The first five events are left out.
        last_ten_events: Number of changes in this sum.
        trend: `climbing` or `falling` if the last ten changes add up to more than the rating's interval in either
            direction (or more than 25 Elo points if it has none). Otherwise `steady`. `provisional` for a provisional
            rating.
        chance: The rating's interval. Changes of up to this many points may be due to chance.
        is_highest: True if the rating is the player's highest since the sixth event.
        streaks: Streaks of events that the player won, and of events that raised the rating.
        form: The latest ten events, newest first.
        best_days: Largest gains, largest first. The first five events are left out.
        worst_days: Largest losses, largest first. The first five events are left out.
        finding: The sum of the changes in the first five events, in points.
        nearby: The player, up to two players ranked just above and up to two ranked just below, best first.
        encounters: Up to three opponents whom the player beats most often, followed by the opponent who beats the
            player most often. Only the latest 100 events count.
        former_names: Other names under which the player can be found, in alphabetical order.
        first_sequence: Number of the player's first rated event, in a pool with numbered events.
    """

    player: str
    rating: float
    deviation: float | None
    score: float = described(SCORE)
    tier: str | None = described(TIER)
    provisional: bool
    rank: int | None
    would_be_rank: int | None
    listed: int
    move: int | None
    since: date | None
    events: int
    first_played_at: datetime | None
    last_played_at: datetime | None = described(LAST_PLAYED)
    peak: Peak | None
    last_ten: float
    last_ten_shown: float = described(SHOWN_SUM)
    last_ten_events: int
    trend: Trend
    chance: float
    is_highest: bool
    streaks: Streaks
    form: tuple[FormLine, ...]
    best_days: tuple[FormLine, ...]
    worst_days: tuple[FormLine, ...]
    finding: float
    finding_shown: float = described(SHOWN_SUM)
    nearby: tuple[NearbyRow, ...]
    encounters: tuple[Encounters, ...]
    former_names: tuple[str, ...]
    first_sequence: float | None = None
    details: PlayerDetail | None = described(DETAILS_OF, default=None)

    first_when = either("first_played_at", "first_sequence")  # time of the player's first event


@answer
class CurvePoint(Started):
    """A player's rating after an event, or at the start of a season.

    Attributes:
        event_id: Event. Null for the start of a season.
        change: The change in the rating, in points.
        rating: The rating after the change, in points.
        deviation: Uncertainty of the rating at that time, in points. Null if the system has no deviation.
    """

    started_at: datetime | None = described(STARTED)
    event_id: str | None
    change: float
    shown: float = described(SHOWN_CHANGE)
    rating: float
    deviation: float | None


@answer
class ChangesPage:
    """A page of a player's changes.

    Attributes:
        rows: The changes, newest first.
        next: Cursor for the next page. Null on the last page.
    """

    rows: tuple[FormLine, ...]
    next: str | None
