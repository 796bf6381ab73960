"""The service's answers with what pages show, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict

from podium.client.answers import EventHeadline


class EventListPage(TypedDict):
    """A page of the list of events."""

    events: list[EventHeadline]  # The events, newest first.
    next: str | None  # Cursor for the next page. Null on the last page.


class PlayerPage(TypedDict):
    """The page of a board that shows a player."""

    # Cursor of the page with the player; empty for the first page. Null if the player is not listed.
    cursor: str | None


class FoundPlayer(TypedDict):
    """A player found by name."""

    pool: str  # Name of the pool.
    player: str  # The player's current name.
    rating: float | None  # Rating, in points. Null for players without a rating.
    rank: int | None  # Rank among players with an established rating. Null for other players.
    former_name: str | None  # Former name that matched. Null if the current name matched.
    is_similar: bool  # True if the name is only similar to the search text.


class EventName(TypedDict):
    """An event to link to."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class AdjacentEvents(TypedDict):
    """The events before and after a given event, in the order they are rated."""

    previous: EventName | None  # Previous event, or null.
    next: EventName | None  # Next event, or null.


class Mover(TypedDict):
    """A player's changes in a span of days, added up."""

    player: str  # The player's current name.
    events: int  # Number of rated events the player took part in during these days.
    change: float  # The sum of the changes, in points.
    shown: float  # The sum as displayed: the sum of the displayed changes.


class Surprise(TypedDict):
    """The most unexpected change: a win that cost points, a last place that gained some, or else the largest change."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    player: str  # The player's current name.
    change: float  # The change, in points.
    shown: float  # The change as displayed: the difference between the two displayed ratings.
    established: bool  # True if the player's rating is established.
    rank: int | None  # Place in the event. Null if it is not stored.
    field: int | None  # Number of rated entrants. Null if it is not stored.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class Movers(TypedDict):
    """The largest changes in the days before a pool's latest event. In pools without dates, events count as days."""

    since: datetime | None  # Start of the period. Null without rated events and in pools without dates.
    gained: list[Mover]  # Players who gained, largest gain first.
    lost: list[Mover]  # Players who lost, largest loss first.
    # Biggest surprise among the latest 20,000 changes of these days. Null if there are no events.
    surprise: Surprise | None
    spread: float  # The standard deviation of all ratings, for comparing changes in different pools.
    since_sequence: NotRequired[float]  # Number of the event before which the ranks are compared (pools without dates).


class Peak(TypedDict):
    """The highest established rating after an event."""

    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty at that time, in points. Null if the system has no deviation.
    event_id: str  # First event after which the rating was reached.
    started_at: datetime | None  # When it started; null in a numbered pool.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class Streaks(TypedDict):
    """Consecutive rated events."""

    wins: int  # The longest winning streak.
    current_wins: int  # The winning streak that ends with the most recent event.
    gains: int  # The longest streak of events that raised the rating.
    current_gains: int  # The streak of rating gains that ends with the most recent event.


class FormLine(TypedDict):
    """A row for a player's rated event, or for the start of a season."""

    event_id: str | None  # Event. Null for the start of a season.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    change: float  # The change in the rating, in points.
    shown: float  # The change as displayed: the difference between the two displayed ratings.
    rating: float  # The rating after it, in points.
    rank: int | None  # Rank of the player in the event. Null if none was submitted.
    field: int | None  # Number of rated entrants. Null for the start of a season.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class NearbyRow(TypedDict):
    """A player with a neighbouring rank; only established ratings count."""

    rank: int | None  # Rank among players with an established rating. Null for other players.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    ahead: float  # Lead over the requested player in ranking points. Negative if behind.
    ahead_shown: float  # The change as displayed: the difference between the two displayed ratings.


class Encounters(TypedDict):
    """A player's finishes against one opponent, by the overall results of the latest events."""

    opponent: str  # The opponent.
    met: int  # Number of events in which both have a rank.
    ahead: int  # Number of events in which the player finished ahead of the opponent.
    # Number of events in which the player finished behind the opponent. In the remaining events they shared a rank.
    behind: int


class PlayerCard(TypedDict):
    """An overview of a player."""

    player: str  # The player's current name.
    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty, in points. Null if the system has no deviation.
    provisional: bool  # True if the rating is provisional.
    rank: int | None  # Rank among players with an established rating. Null for other players.
    # Rank that a provisional player would have among established ones. Null for established players.
    would_be_rank: int | None
    listed: int  # Number of players with an established rating.
    move: int | None  # Number of ranks gained since that day. Null if there was no rank on that day.
    since: date | None  # Day (00:00 UTC) that `move` is measured from. Null if there is none, or without dates.
    events: int  # Number of rated events the player has taken part in.
    first_played_at: datetime | None  # Start of the first rated event. Null in a pool without dates.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    # The established rating with the highest value of rating minus two deviations, from the sixth event on.
    peak: Peak | None
    last_ten: float  # The sum of the changes in the last ten events, from the sixth event on, in points.
    last_ten_shown: float  # The sum as displayed: the sum of the displayed changes.
    last_ten_events: int  # Number of changes.
    # `climbing` or `falling` if the sum of the latest ten changes is larger than the rating's interval (or 25 Elo
    # points if it has none). Otherwise `steady`. `provisional` for a provisional rating.
    trend: Literal["climbing", "falling", "steady", "provisional"]
    chance: float  # That interval: changes up to this many points may be chance.
    is_highest: bool  # True if the rating is the highest since the sixth event.
    streaks: Streaks  # Streaks of events won, and of events that raised the rating.
    form: list[FormLine]  # The latest ten events, newest first.
    best_days: list[FormLine]  # Largest gains, largest first. The first five events are left out.
    worst_days: list[FormLine]  # Largest losses, in the same form.
    finding: float  # The sum of the changes in the first five events, in points.
    finding_shown: float  # The sum as displayed: the sum of the displayed changes.
    nearby: list[NearbyRow]  # The player with up to two players above and two below, best first.
    # Up to three opponents that the player beats most often, then the opponent who beats the player most often. It
    # covers the latest 100 events.
    encounters: list[Encounters]
    former_names: list[str]  # Other names that lead to the player, in alphabetical order.
    first_sequence: NotRequired[float]  # The number of the first rated event, in a pool whose events are numbered.
    since_sequence: NotRequired[float]  # Number of the event before which the ranks are compared (pools without dates).
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class CurvePoint(TypedDict):
    """A player's rating after an event, or at the start of a season."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    event_id: str | None  # Event. Null for the start of a season.
    change: float  # The change in the rating, in points.
    shown: float  # The change as displayed: the difference between the two displayed ratings.
    rating: float  # The rating after it, in points.
    deviation: float | None  # Uncertainty at that time, in points. Null if the system has no deviation.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class ChangesPage(TypedDict):
    """A page of a player's changes."""

    rows: list[FormLine]  # The changes, newest first.
    next: str | None  # Cursor for the next page. Null on the last page.


class RivalRow(TypedDict):
    """A player's duels against one opponent: a duel is one heat, or the overall result of several heats."""

    opponent: str  # The opponent.
    events: int  # Number of events in which the two were compared.
    met: int  # Number of duels between them. Duels that neither of them finished do not count.
    won: int  # Number of duels in which the player scored more than half a point.
    drawn: int  # Number of duels in which both scored half a point.
    lost: int  # Number of duels in which the player scored less than half a point.
    score: float  # Sum of the scores. A draw counts as half.
    expected: float  # The sum of the expected scores.
    points: float  # Points that the duels added to the player's rating.


class BestWin(TypedDict):
    """The most surprising duel that a player won."""

    opponent: str  # The opponent.
    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    heat: str  # Heat. Empty if the event has only one heat.
    expected: float  # The expected score, from 0 to 1.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class Rivals(TypedDict):
    """A player's opponents across the most recent events that have explanations."""

    events: int  # Number of events that are counted: the latest ones, up to a hundred.
    duels: int  # Number of duels in them.
    won: float  # Number of duels won. A draw counts as half.
    expected: float  # Number of duels the player was expected to win.
    opponents: list[RivalRow]  # Opponents, the most frequent first.
    best_win: BestWin | None  # Least expected win, or null.


class Performance(TypedDict):
    """An entrant's performance in one event."""

    player: str  # The entrant.
    # Rating at which the expected score equals the actual score. Null if the player was not compared with anyone.
    performance: float | None
    # `at least` if all duels were won, `at most` if all were lost. Otherwise null.
    bound: Literal["at least", "at most"] | None


class EventField(TypedDict):
    """The strength of an event's field, and the performance of each entrant."""

    players: int  # Number of entrants who were rated.
    mean_rating: float  # The mean of their ratings before the event, in points.
    performances: list[Performance]  # Performance rating of each entrant, in result order.


class CorrectedLine(TypedDict):
    """A line of an event's content that a correction changed."""

    heat: str | None  # Heat. Null if the event has only one heat.
    player: str | None  # Player. Null for changes to the event itself.
    before: str | None  # Former values as text. Null for a new row.
    after: str | None  # New values as text. Null for a removed row.


class CorrectionRecord(TypedDict):
    """An event's submission, or something that was done to it afterwards."""

    seq: int  # The number of the log entry.
    kind: str  # Kind of change: submit, amend, move, void or unvoid.
    received_at: datetime  # When the entry was received.
    actor: str  # Name of the key, or the name given to the command.
    reason: str | None  # Reason. Null if no name was given, or if it was deleted.
    events: int | None  # Number of events with a recalculated change. Null if unknown.
    players: int | None  # Number of players with a recalculated change. Null if unknown.
    largest: float | None  # Largest difference in any rating, in points. Null if unknown.
    lines: list[CorrectedLine]  # Changes to the event's content.


class ReliabilityBin(TypedDict):
    """Duels with about the same expected score. Each is counted from both sides."""

    expected: float  # Mean of the expected scores.
    observed: float  # Mean of the scores.
    lowest: float  # Lower end of the 95 % interval of the observed mean.
    highest: float  # Upper end of the 95 % interval of the observed mean.
    duels: int  # Number of duels.


class FairExpectation(TypedDict):
    """The expected and the realistic number of wins of a player in an event."""

    duels: int  # Number of duels of the player.
    expected: float  # Number of duels the player was expected to win.
    fair: float | None  # Number of wins suggested by similar duels in this pool. Null if there are too few such duels.
    # Outcome of the largest group of similar duels in this pool. Null if there are too few such duels.
    example: ReliabilityBin | None


class ExpectedPoint(TypedDict):
    """The expected score of a leader over an equal of the median established player, or of a newcomer without any."""

    gap: float  # Lead of the player, in points.
    expected: float  # The expected score, from 0 to 1.


class WeightPoint(TypedDict):
    """The effect of one duel on players in their n-th rated event, from a sample."""

    event_number: int  # Number of the rated event in the player's career, from 1.
    points: float  # The maximum that a single duel changed the median player's rating.
    players: int  # Number of players in the median.


class PoolFacts(TypedDict):
    """Facts from a pool's whole history, as of a day."""

    day: date  # Day of the calculation.
    events: int  # Number of rated events covered: all, or the latest ones in a large pool.
    players: int  # Number of players in them.
    duels: int  # Number of duels in these events. Events with over 1,000 entrants are left out.
    expected: list[ExpectedPoint]  # Expected score by rating lead in points.
    weights: list[WeightPoint]  # Rating change from one duel, by number of events played.
    reliability: list[ReliabilityBin]  # Expected scores compared with actual scores.
