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
    """The effect of an event on an entrant."""

    player: str = described("The player's current name.")
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
    winners: tuple[str, ...] = described("The winner, or all winners if several share first place.")
    most_gained: EntrantChange | None = described("Largest gain. Null if no player gained.")
    most_lost: EntrantChange | None = described("Largest loss. Null if no player lost.")
    headline: str = described("Summary of the event in one or two sentences.")


@answer
class EventListPage:
    """A page of the list of events."""

    events: tuple[EventHeadline, ...] = described("The events, newest first.")
    next: str | None = described("Cursor for the next page. Null on the last page.")


@answer
class EventName(Started):
    """The details needed to link to an event."""

    event_id: str = described("The event.")
    title: str | None = described("Title, or null.")
    started_at: datetime | None = described(STARTED)


@answer
class AdjacentEvents:
    """The events before and after a given event, in the order in which they are rated."""

    previous: EventName | None = described("Previous event, or null.")
    next: EventName | None = described("Next event, or null.")


@answer
class ListedRow(LastPlayed):
    """A player on the leaderboard."""

    rank: int | None = described(
        "Rank among the listed players. Equal ratings share the best rank. Null for provisional players without one."
    )
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    deviation: float | None = described("Uncertainty of the rating, in points. Null if the system has no deviation.")
    score: float = described(SCORE)
    tier: str | None = described(TIER)
    provisional: bool = described("True if the rating is provisional.")
    events: int = described("Number of rated events in which the player has taken part.")
    last_played_at: datetime | None = described(LAST_PLAYED)
    move: int | None = described(
        "Number of ranks gained since the day in `since`. Null if there is no rank to compare with."
    )
    is_new: bool = described("True if the player was not on this board on the day in `since`.")
    spark: tuple[float, ...] = described("The rating after each of the latest changes (at most 16), oldest first.")
    newest_change: float | None = described(
        "Change in the pool's latest event, in points. Null for players who did not take part."
    )
    newest_shown: float | None = described(SHOWN_CHANGE)


@answer
class Leaderboard(Compared):
    """A page of the leaderboard."""

    players: tuple[ListedRow, ...] = described("The players, best first.")
    next: str | None = described("Cursor for the next page. Null on the last page.")
    listed: int = described("Number of players on all pages.")
    rated: int = described("Number of players with a rating.")
    since: date | None = described("Day (00:00 UTC) from which `move` is measured. Null if there is no such day.")
    newest: EventHeadline | None = described("The pool's latest rated event, if there is one.")
    provisional: tuple[ListedRow, ...] = described(
        "Up to 20 provisional players, best first. Empty if they are ranked."
    )


@answer
class PlayerPage:
    """The page of a board that shows a player."""

    cursor: str | None = described(
        "Cursor of the page with the player; empty for the first page. Null if the player is not listed."
    )


@answer
class FoundPlayer:
    """A player found by name."""

    pool: str = described("Name of the pool.")
    player: str = described("The player's current name.")
    rating: float | None = described("Rating, in points. Null for players without a rating.")
    rank: int | None = described("Rank among players with an established rating. Null for other players.")
    former_name: str | None = described("Former name that matched. Null if the current name matched.")
    is_similar: bool = described("True if the name is only similar to the search text.")


@answer
class Mover:
    """The sum of a player's changes over several days."""

    player: str = described("The player's current name.")
    events: int = described("Number of rated events in which the player took part during this period.")
    change: float = described("The sum of the changes, in points.")
    shown: float = described("The sum of the changes as they are displayed.")


@answer
class Surprise(EventName):
    """The most unexpected change: a win that cost points, a last place that gained some, or the largest change."""

    player: str = described("The player's current name.")
    change: float = described("The change, in points.")
    shown: float = described(SHOWN_CHANGE)
    established: bool = described("True if the player's rating is established.")
    rank: int | None = described("Place in the event. Null if it is not stored.")
    field: int | None = described("Number of rated entrants. Null if it is not stored.")


@answer
class Movers(Compared):
    """The largest changes in the days up to a pool's latest event. Without dates, each event counts as a day."""

    since: datetime | None = described(
        "Start of the period. Null if there are no rated events, and in pools without dates."
    )
    gained: tuple[Mover, ...] = described("Players who gained, largest gain first.")
    lost: tuple[Mover, ...] = described("Players who lost, largest loss first.")
    surprise: Surprise | None = described(
        "Biggest surprise among the latest 20,000 changes in this period. Null if there are no events."
    )
    spread: float = described("The standard deviation of all ratings, for comparing changes in different pools.")


@answer
class Equipment(LastPlayed):
    """A piece of shared equipment, and its effect on the results of all its users."""

    kind: str = described("Kind of equipment, such as `car`.")
    name: str = described("Current name of the equipment.")
    points: float = described("Number of points that it adds to the rating of the player who uses it.")
    deviation: float | None = described("Uncertainty of these points.")
    events: int = described("Number of rated events in which it was used.")
    last_played_at: datetime | None = described(LAST_PLAYED)


SHOWN_SUM = "The sum of the changes as they are displayed."


@answer
class FormLine(Started):
    """One of a player's rated events, or the start of a season."""

    event_id: str | None = described("Event. Null for the start of a season.")
    title: str | None = described("Title, or null.")
    started_at: datetime | None = described(STARTED)
    change: float = described("The change in the rating, in points.")
    shown: float = described(SHOWN_CHANGE)
    rating: float = described("The rating after the change, in points.")
    rank: int | None = described("Rank of the player in the event. Null if none was submitted.")
    field: int | None = described("Number of rated entrants. Null for the start of a season.")


@answer
class Peak(Started):
    """The highest established rating after an event."""

    rating: float = described("The rating, in points.")
    deviation: float | None = described(
        "Uncertainty of the rating at that time, in points. Null if the system has no deviation."
    )
    event_id: str = described("First event after which the player had this rating.")
    started_at: datetime | None = described(STARTED)


@answer
class Streaks:
    """Streaks of consecutive rated events."""

    wins: int = described("The longest winning streak.")
    current_wins: int = described("The winning streak that ends with the most recent event.")
    gains: int = described("The longest streak of events that raised the rating.")
    current_gains: int = described("The streak of rating gains that ends with the most recent event.")


@answer
class NearbyRow:
    """A player with a neighbouring rank. Only players with an established rating are ranked."""

    rank: int | None = described("Rank among players with an established rating. Null for other players.")
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    ahead: float = described("Lead over the requested player in ranking points. Negative if behind.")
    ahead_shown: float = described(SHOWN_CHANGE)


@answer
class Encounters:
    """A comparison of a player's finishes with one opponent's, based on the overall results of the latest events."""

    opponent: str = described("The opponent.")
    met: int = described("Number of events in which both players have a rank.")
    ahead: int = described("Number of events in which the player finished ahead of the opponent.")
    behind: int = described(
        "Number of events in which the player finished behind the opponent. In the remaining events they shared a rank."
    )


@answer
class PlayerCard(LastPlayed, Compared):
    """An overview of a player."""

    player: str = described("The player's current name.")
    rating: float = described("The rating, in points.")
    deviation: float | None = described("Uncertainty of the rating, in points. Null if the system has no deviation.")
    score: float = described(SCORE)
    tier: str | None = described(TIER)
    provisional: bool = described("True if the rating is provisional.")
    rank: int | None = described("Rank among players with an established rating. Null for other players.")
    would_be_rank: int | None = described(
        "Rank that a provisional player would have among established players. Null for established players."
    )
    listed: int = described("Number of players with an established rating.")
    move: int | None = described(
        "Number of ranks gained since the day in `since`. Null if the player had no rank on that day."
    )
    since: date | None = described("Day (00:00 UTC) from which `move` is measured. Null if there is no such day.")
    events: int = described("Number of rated events in which the player has taken part.")
    first_played_at: datetime | None = described(
        "Start time of the player's first rated event. Null in a pool without dates."
    )
    last_played_at: datetime | None = described(LAST_PLAYED)
    peak: Peak | None = described(
        "The established rating, from the sixth event onwards, with the highest value of rating minus two deviations."
    )
    last_ten: float = described(
        "The sum of the changes in the last ten events, in points. The first five events are left out."
    )
    last_ten_shown: float = described(SHOWN_SUM)
    last_ten_events: int = described("Number of changes in this sum.")
    trend: Trend = described(
        "`climbing` or `falling` if the last ten changes add up to more than the rating's interval in either direction"
        " (or more than 25 Elo points if it has none). Otherwise `steady`. `provisional` for a provisional rating."
    )
    chance: float = described("The rating's interval. Changes of up to this many points may be due to chance.")
    is_highest: bool = described("True if the rating is the player's highest since the sixth event.")
    streaks: Streaks = described("Streaks of events that the player won, and of events that raised the rating.")
    form: tuple[FormLine, ...] = described("The latest ten events, newest first.")
    best_days: tuple[FormLine, ...] = described("Largest gains, largest first. The first five events are left out.")
    worst_days: tuple[FormLine, ...] = described("Largest losses, largest first. The first five events are left out.")
    finding: float = described("The sum of the changes in the first five events, in points.")
    finding_shown: float = described(SHOWN_SUM)
    nearby: tuple[NearbyRow, ...] = described(
        "The player, up to two players ranked just above and up to two ranked just below, best first."
    )
    encounters: tuple[Encounters, ...] = described(
        "Up to three opponents whom the player beats most often, followed by the opponent who beats the player most"
        " often. Only the latest 100 events count."
    )
    former_names: tuple[str, ...] = described("Other names under which the player can be found, in alphabetical order.")
    first_sequence: float | None = described(
        "Number of the player's first rated event, in a pool with numbered events.", default=None
    )
    details: PlayerDetail | None = described(DETAILS_OF, default=None)

    first_when = either("first_played_at", "first_sequence")  # time of the player's first event


@answer
class CurvePoint(Started):
    """A player's rating after an event, or at the start of a season."""

    started_at: datetime | None = described(STARTED)
    event_id: str | None = described("Event. Null for the start of a season.")
    change: float = described("The change in the rating, in points.")
    shown: float = described(SHOWN_CHANGE)
    rating: float = described("The rating after the change, in points.")
    deviation: float | None = described(
        "Uncertainty of the rating at that time, in points. Null if the system has no deviation."
    )


@answer
class RivalRow:
    """A player's duels against one opponent: a duel is one heat, or the overall result of several heats."""

    opponent: str = described("The opponent.")
    events: int = described("Number of events in which the two players were compared.")
    met: int = described("Number of duels between them. Duels that neither of them finished do not count.")
    won: int = described("Number of duels in which the player scored more than half a point.")
    drawn: int = described("Number of duels in which both scored half a point.")
    lost: int = described("Number of duels in which the player scored less than half a point.")
    score: float = described("Sum of the scores. A draw counts as half.")
    expected: float = described("The sum of the expected scores.")
    points: float = described("Points that the duels added to the player's rating.")


@answer
class BestWin(Started):
    """The most surprising duel that a player won."""

    opponent: str = described("The opponent.")
    event_id: str = described("The event.")
    title: str | None = described("Title, or null.")
    started_at: datetime | None = described(STARTED)
    heat: str = described("Heat. Empty if the event has only one heat.")
    expected: float = described("The expected score, from 0 to 1.")


@answer
class Rivals:
    """A player's opponents across the most recent events that have explanations."""

    events: int = described("Number of events that are counted: the latest ones, up to 100.")
    duels: int = described("Number of duels in these events.")
    won: float = described("Number of duels won. A draw counts as half.")
    expected: float = described("Number of duels the player was expected to win.")
    opponents: tuple[RivalRow, ...] = described("Opponents, most frequent first.")
    best_win: BestWin | None = described("The least expected win, or null.")


@answer
class ChangesPage:
    """A page of a player's changes."""

    rows: tuple[FormLine, ...] = described("The changes, newest first.")
    next: str | None = described("Cursor for the next page. Null on the last page.")
