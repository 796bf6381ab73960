"""The service's answers with what pages show, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict

from podium.client.answers import EventHeadline


class EventListPage(TypedDict):
    """A page of the list of events."""

    events: list[EventHeadline]  # The events, newest first.
    next: str | None  # Cursor for the next page. Null on the last page.


class PlayerPage(TypedDict):
    """The page of a board that a player is on."""

    # Cursor of the page with the player; empty for the first page. Null if the player is not listed.
    cursor: str | None


class FoundPlayer(TypedDict):
    """A player found by name."""

    pool: str  # Name of the pool.
    player: str  # The player's name as it is now.
    rating: float | None  # Rating, in points. Null for players without one.
    rank: int | None  # Rank among players with an established rating. Null for others.
    former_name: str | None  # Former name that matched. Null if the current name matched.
    is_similar: bool  # True if the name is only similar to the search text.


class EventName(TypedDict):
    """An event to be linked to."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class AdjacentEvents(TypedDict):
    """The events before and after an event, in the order of rating."""

    previous: EventName | None  # Previous event, or null.
    next: EventName | None  # Next event, or null.


class Mover(TypedDict):
    """A player's changes in a span of days, added up."""

    player: str  # The player's name as it is now.
    events: int  # Rated events of the player in these days.
    change: float  # The sum of the changes, in points.
    shown: float  # The sum as people read it: that of the changes as each of them is shown.


class Surprise(TypedDict):
    """The most unexpected change: won but lost points, came last but gained, or otherwise the largest."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    player: str  # The player's name as it is now.
    change: float  # The change, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.
    established: bool  # True if the player's rating is established.
    rank: int | None  # Place in the event. Null if it is not stored.
    field: int | None  # Number of rated entrants. Null if it is not stored.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Movers(TypedDict):
    """The largest changes in the days before a pool's newest event. Without dates, events count as days."""

    since: datetime | None  # Start of the period. Null without rated events and in pools without dates.
    gained: list[Mover]  # Players who gained, the largest gain first.
    lost: list[Mover]  # Players who lost, the largest loss first.
    surprise: Surprise | None  # Greatest surprise among the newest 20,000 changes of these days. Null without events.
    spread: float  # The standard deviation of all ratings: changes in several pools compare as shares of it.
    since_sequence: NotRequired[float]  # Number of the event before which the ranks are compared (pools without dates).


class Peak(TypedDict):
    """The highest established rating after an event."""

    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty at that time, in points. Null if the system has none.
    event_id: str  # First event after which it was reached.
    started_at: datetime | None  # When it started; null in a numbered pool.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Streaks(TypedDict):
    """Runs of rated events, one after the other."""

    wins: int  # The longest run of events won.
    current_wins: int  # The run of events won that the newest ends.
    gains: int  # The longest run of events that raised the rating.
    current_gains: int  # The run of events that raised it that the newest ends.


class FormLine(TypedDict):
    """A line for a rated event of a player, or for the start of a season."""

    event_id: str | None  # Event. Null for the start of a season.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    change: float  # The change of the rating, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.
    rating: float  # The rating after it, in points.
    rank: int | None  # Rank of the player in the event. Null if none was submitted.
    field: int | None  # Number of rated entrants. Null for the start of a season.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class NearbyRow(TypedDict):
    """A player who is rated next to another; only established ratings stand nearby."""

    rank: int | None  # Rank among players with an established rating. Null for others.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    ahead: float  # Lead over the requested player in ranking points. Negative if behind.
    ahead_shown: float  # The change as people read it: the difference of the two ratings as they are shown.


class Encounters(TypedDict):
    """A player's finishes against one opponent, by the overall results of the newest events."""

    opponent: str  # The opponent.
    met: int  # Number of events in which both have a rank.
    ahead: int  # Number of events ahead of the opponent.
    behind: int  # Number of events behind the opponent. In the rest they shared a rank.


class PlayerCard(TypedDict):
    """A player at a glance."""

    player: str  # The player's name as it is now.
    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty, in points. Null if the system has none.
    provisional: bool  # True if the rating is provisional.
    rank: int | None  # Rank among players with an established rating. Null for others.
    # Rank that a provisional player would have among established ones. Null for established players.
    would_be_rank: int | None
    listed: int  # Number of players with an established rating.
    move: int | None  # Number of ranks gained since that day. Null if there was no rank.
    since: date | None  # Day (00:00 UTC) that `move` compares with. Null if there is none, or in a pool without dates.
    events: int  # Rated events of the player.
    first_played_at: datetime | None  # Start of the first rated event. Null in a pool without dates.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    peak: Peak | None  # The established rating that was highest less two deviations, from the sixth event on.
    last_ten: float  # The sum of the newest ten changes by events, from the sixth event on, in points.
    last_ten_shown: float  # The sum as people read it: that of the changes as each of them is shown.
    last_ten_events: int  # Number of changes.
    # `climbing` or `falling` if the newest ten changes sum to more than the rating's interval (or 25 Elo points if it
    # has none). Otherwise `steady`. `provisional` for a provisional rating.
    trend: Literal["climbing", "falling", "steady", "provisional"]
    chance: float  # That interval: so many points may be chance.
    is_highest: bool  # True if the rating was never higher since the sixth event.
    streaks: Streaks  # Runs of events won, and of events that raised the rating.
    form: list[FormLine]  # The newest ten events, newest first.
    best_days: list[FormLine]  # Largest gains, the largest first. The first five events are left out.
    worst_days: list[FormLine]  # The largest losses likewise.
    finding: float  # The sum of the changes by the first five events, in points.
    finding_shown: float  # The sum as people read it: that of the changes as each of them is shown.
    nearby: list[NearbyRow]  # The player with up to two players above and two below, best first.
    # Up to three opponents whom the player beats most often, then the opponent who beats the player most often. It
    # covers the newest 100 events.
    encounters: list[Encounters]
    former_names: list[str]  # Other names that lead to the player, in the order of letters.
    first_sequence: NotRequired[float]  # The number of the first rated event in a numbered pool.
    since_sequence: NotRequired[float]  # Number of the event before which the ranks are compared (pools without dates).
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class CurvePoint(TypedDict):
    """A player's rating after an event, or where a season began."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    event_id: str | None  # Event. Null for the start of a season.
    change: float  # The change of the rating, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.
    rating: float  # The rating after it, in points.
    deviation: float | None  # Uncertainty at that time, in points. Null if the system has none.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class ChangesPage(TypedDict):
    """A page of a player's changes."""

    rows: list[FormLine]  # The changes, newest first.
    next: str | None  # Cursor for the next page. Null on the last page.


class RivalRow(TypedDict):
    """A player's duels against one opponent: a duel is one heat, or the overall result of several."""

    opponent: str  # The opponent.
    events: int  # Number of events in which they were compared.
    met: int  # Number of duels between them. Duels that neither finished do not count.
    won: int  # Number of duels with more than half a point for the player.
    drawn: int  # Number of duels with half a point each.
    lost: int  # Number of duels with less than half a point for the player.
    score: float  # Sum of the scores. A draw counts as half.
    expected: float  # The sum of the expected scores.
    points: float  # Points that the duels added to the player's rating.


class BestWin(TypedDict):
    """The least expected duel that a player won."""

    opponent: str  # The opponent.
    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    heat: str  # Heat. Empty if the event has only one.
    expected: float  # The score that was expected, from 0 to 1.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Rivals(TypedDict):
    """The opponents of a player, over the newest explained events."""

    events: int  # Events that are counted: the newest, up to a hundred.
    duels: int  # Duels in them.
    won: float  # Number of duels won. A draw counts as half.
    expected: float  # Number of duels the player was expected to win.
    opponents: list[RivalRow]  # Opponents, the most frequent first.
    best_win: BestWin | None  # Least expected win, or null.


class Performance(TypedDict):
    """An entrant's performance in one event."""

    player: str  # The entrant.
    # Rating for which the expected score equals the actual score. Null if nobody was compared.
    performance: float | None
    # `at least` if all duels were won, `at most` if all were lost. Otherwise null.
    bound: Literal["at least", "at most"] | None


class EventField(TypedDict):
    """The strength of an event's field, and the performance of each entrant."""

    players: int  # Entrants who were rated.
    mean_rating: float  # The mean of their ratings before it, in points.
    performances: list[Performance]  # Performance rating of each entrant, in result order.


class CorrectedLine(TypedDict):
    """A line of an event's content that a correction changed."""

    heat: str | None  # Heat. Null if the event has only one.
    player: str | None  # Player. Null for changes to the event itself.
    before: str | None  # Former values as text. Null for a new line.
    after: str | None  # New values as text. Null for a removed line.


class CorrectionRecord(TypedDict):
    """An event's submission, or something that was done to it afterwards."""

    seq: int  # The number of the log entry.
    kind: str  # Kind of change: submit, amend, move, void or unvoid.
    received_at: datetime  # When it came.
    actor: str  # Name of the key, or the name given to the command.
    reason: str | None  # Reason. Null if none was given, or if it was deleted.
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
    fair: float | None  # Number of wins that was realistic, from similar duels in this pool. Null if there are too few.
    example: ReliabilityBin | None  # Outcome of most similar duels in this pool. Null if there are too few.


class ExpectedPoint(TypedDict):
    """The expected score of a leader over an equal of the median established player, or of a newcomer without any."""

    gap: float  # Lead of the player, in points.
    expected: float  # The expected score, from 0 to 1.


class WeightPoint(TypedDict):
    """The effect of one duel on players in their n-th rated event, from a sample."""

    event_number: int  # Number of the rated event in the player's career, from 1.
    points: float  # The most that one duel moved the middle player.
    players: int  # Number of players in the median.


class PoolFacts(TypedDict):
    """Facts from a pool's whole history, as of a day."""

    day: date  # Day of the calculation.
    events: int  # Number of rated events covered: all, or the newest ones in a large pool.
    players: int  # Players in them.
    duels: int  # Number of duels in these events. Events with over 1,000 entrants are left out.
    expected: list[ExpectedPoint]  # Expected score by lead in points.
    weights: list[WeightPoint]  # Change by one duel, by number of events played.
    reliability: list[ReliabilityBin]  # Expected scores compared with actual scores.
