"""The service's answers about pages, rankings and reports, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict

from podium.client.answers import (
    EventHeadline,
    PlayerDetail,
)


class EventListPage(TypedDict):
    """A page of the list of events."""

    events: list[EventHeadline]  # The events, newest first.
    next: str | None  # Cursor for the next page. Null on the last page.


class DailyRank(TypedDict):
    """A player's rank at 00:00 UTC on a day or, in a numbered pool, before an event."""

    day: date | None  # Day. Null in a pool without dates.
    rank: int  # Rank; 1 is the best. Players with equal ratings share the best of their ranks.
    rating: float  # The rating, in points.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class HindsightPoint(TypedDict):
    """A player's strength at an event, in hindsight."""

    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    rating: float  # Rating in hindsight, in points.
    deviation: float  # Uncertainty of the rating, in points.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class BestEver(TypedDict):
    """The point of a player's hindsight curve that is furthest ahead of its year, less two deviations."""

    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    rating: float  # Rating in hindsight, in points.
    deviation: float  # Uncertainty of the rating, in points.
    player: str  # The player.
    ahead: float  # Rating minus the mean rating of that year's entrants.
    above_next: float | None  # Probability of having been further ahead than the next player. Null for the last player.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class BestEverBoard(TypedDict):
    """The best players of all time, in hindsight. These are not official ratings."""

    as_of: date  # Day of the calculation.
    players: list[BestEver]  # At most 50 players with an established rating, best first.


class RankedPlayer(TypedDict):
    """A player's rank and rating at 00:00 UTC on a day or, in a numbered pool, before an event."""

    rank: int  # Rank; 1 is the best. Players with equal ratings share the best of their ranks.
    player: str  # The player's current name.
    rating: float  # The rating, in points.


class PlayerLink(TypedDict):
    """A player's personal link."""

    player: str  # The player's current name.
    path: str  # Path of the link. Anyone who has it can report and confirm results as this player.
    until: datetime | None  # Time at which the link ends. Null if only the next season ends it.


class Report(TypedDict):
    """A result that a player reported."""

    report_id: str  # ID of the report.
    event_id: str  # ID of its event, once it counts: that of the planned race, or of the report.
    player: str  # The player who reported it.
    reported_at: datetime  # Time at which it was reported.
    started_at: datetime | None  # Start of the event. Null in a pool without dates.
    # Status. An objection makes it `disputed`, and an organiser then decides.
    status: Literal["open", "disputed", "counted", "refused"]
    result: str  # The result as text, such as `1. ana, 2. ben`.
    confirmed: list[str]  # Entrants who confirmed it, including the one who reported it.
    objected: list[str]  # Entrants who objected.
    counts_at: datetime | None  # Time at which it counts if nobody objects. Null if only answers decide.
    # In the list of waiting reports, the reason why it cannot count, such as two accounts that were merged. Usually
    # null.
    problem: str | None


class PlayerPage(TypedDict):
    """The page of a board that shows a player."""

    # Cursor of the page with the player; empty for the first page. Null if the player is not listed.
    cursor: str | None


class GroupRank(TypedDict):
    """A club, country or division, ranked by its best players."""

    rank: int | None  # Rank. Null if too few of its players count.
    name: str  # Name of the club, country or division.
    score: float  # Mean score of its best players.
    players: int  # Number of its players who count.
    best: list[str]  # Its best players, best first.


class FoundPlayer(TypedDict):
    """A player found by name."""

    pool: str  # Name of the pool.
    player: str  # The player's current name.
    rating: float | None  # Rating, in points. Null for players without a rating.
    rank: int | None  # Rank among players with an established rating. Null for other players.
    former_name: str | None  # Former name that matched. Null if the current name matched.
    is_similar: bool  # True if the name is only similar to the search text.


class EventName(TypedDict):
    """The details needed to link to an event."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class AdjacentEvents(TypedDict):
    """The events before and after a given event, in the order in which they are rated."""

    previous: EventName | None  # Previous event, or null.
    next: EventName | None  # Next event, or null.


class Mover(TypedDict):
    """The sum of a player's changes over several days."""

    player: str  # The player's current name.
    events: int  # Number of rated events in which the player took part during this period.
    change: float  # The sum of the changes, in points.
    shown: float  # The sum of the changes as they are displayed.


class Surprise(TypedDict):
    """The most unexpected change: a win that cost points, a last place that gained some, or the largest change."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    player: str  # The player's current name.
    change: float  # The change, in points.
    shown: float  # The change as displayed: the difference between the two displayed ratings.
    established: bool  # True if the player's rating is established.
    rank: int | None  # Place in the event. Null if it is not stored.
    field: int | None  # Number of rated entrants. Null if it is not stored.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class Movers(TypedDict):
    """The largest changes in the days up to a pool's latest event. Without dates, each event counts as a day."""

    since: datetime | None  # Start of the period. Null if there are no rated events, and in pools without dates.
    gained: list[Mover]  # Players who gained, largest gain first.
    lost: list[Mover]  # Players who lost, largest loss first.
    # Biggest surprise among the latest 20,000 changes in this period. Null if there are no events.
    surprise: Surprise | None
    spread: float  # The standard deviation of all ratings, for comparing changes in different pools.
    since_sequence: NotRequired[float]  # In pools without dates: number of the event at which the comparison starts.


class Peak(TypedDict):
    """The highest established rating after an event."""

    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty of the rating at that time, in points. Null if the system has no deviation.
    event_id: str  # First event after which the player had this rating.
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class Streaks(TypedDict):
    """Streaks of consecutive rated events."""

    wins: int  # The longest winning streak.
    current_wins: int  # The winning streak that ends with the most recent event.
    gains: int  # The longest streak of events that raised the rating.
    current_gains: int  # The streak of rating gains that ends with the most recent event.


class FormLine(TypedDict):
    """One of a player's rated events, or the start of a season."""

    event_id: str | None  # Event. Null for the start of a season.
    title: str | None  # Title, or null.
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    change: float  # The change in the rating, in points.
    shown: float  # The change as displayed: the difference between the two displayed ratings.
    rating: float  # The rating after the change, in points.
    rank: int | None  # Rank of the player in the event. Null if none was submitted.
    field: int | None  # Number of rated entrants. Null for the start of a season.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class NearbyRow(TypedDict):
    """A player with a neighbouring rank. Only players with an established rating are ranked."""

    rank: int | None  # Rank among players with an established rating. Null for other players.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    ahead: float  # Lead over the requested player in ranking points. Negative if behind.
    ahead_shown: float  # The change as displayed: the difference between the two displayed ratings.


class Encounters(TypedDict):
    """A comparison of a player's finishes with one opponent's, based on the overall results of the latest events."""

    opponent: str  # The opponent.
    met: int  # Number of events in which both players have a rank.
    ahead: int  # Number of events in which the player finished ahead of the opponent.
    # Number of events in which the player finished behind the opponent. In the remaining events they shared a rank.
    behind: int


class PlayerCard(TypedDict):
    """An overview of a player."""

    player: str  # The player's current name.
    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty of the rating, in points. Null if the system has no deviation.
    score: float  # The number that decides the rank, as the pool shows it. Many systems rank by the rating itself.
    tier: str | None  # Tier of the score. Null if the pool has no tiers, or the score is below the lowest.
    provisional: bool  # True if the rating is provisional.
    rank: int | None  # Rank among players with an established rating. Null for other players.
    # Rank that a provisional player would have among established players. Null for established players.
    would_be_rank: int | None
    listed: int  # Number of players with an established rating.
    move: int | None  # Number of ranks gained since the day in `since`. Null if the player had no rank on that day.
    since: date | None  # Day (00:00 UTC) from which `move` is measured. Null if there is no such day.
    events: int  # Number of rated events in which the player has taken part.
    first_played_at: datetime | None  # Start time of the player's first rated event. Null in a pool without dates.
    last_played_at: datetime | None  # Start of the player's last rated event. Null in a pool with numbered events.
    # The established rating, from the sixth event onwards, with the highest value of rating minus two deviations.
    peak: Peak | None
    last_ten: float  # The sum of the changes in the last ten events, in points. The first five events are left out.
    last_ten_shown: float  # The sum of the changes as they are displayed.
    last_ten_events: int  # Number of changes in this sum.
    # `climbing` or `falling` if the last ten changes add up to more than the rating's interval in either direction (or
    # more than 25 Elo points if it has none). Otherwise `steady`. `provisional` for a provisional rating.
    trend: Literal["climbing", "falling", "steady", "provisional"]
    chance: float  # The rating's interval. Changes of up to this many points may be due to chance.
    is_highest: bool  # True if the rating is the player's highest since the sixth event.
    streaks: Streaks  # Streaks of events that the player won, and of events that raised the rating.
    form: list[FormLine]  # The latest ten events, newest first.
    best_days: list[FormLine]  # Largest gains, largest first. The first five events are left out.
    worst_days: list[FormLine]  # Largest losses, largest first. The first five events are left out.
    finding: float  # The sum of the changes in the first five events, in points.
    finding_shown: float  # The sum of the changes as they are displayed.
    # The player, up to two players ranked just above and up to two ranked just below, best first.
    nearby: list[NearbyRow]
    # Up to three opponents whom the player beats most often, followed by the opponent who beats the player most often.
    # Only the latest 100 events count.
    encounters: list[Encounters]
    former_names: list[str]  # Other names under which the player can be found, in alphabetical order.
    first_sequence: NotRequired[float]  # Number of the player's first rated event, in a pool with numbered events.
    details: NotRequired[PlayerDetail]  # Country, club, division and link of a player who has some.
    since_sequence: NotRequired[float]  # In pools without dates: number of the event at which the comparison starts.
    last_sequence: NotRequired[float]  # Number of the player's last rated event, in a pool with numbered events.


class CurvePoint(TypedDict):
    """A player's rating after an event, or at the start of a season."""

    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    event_id: str | None  # Event. Null for the start of a season.
    change: float  # The change in the rating, in points.
    shown: float  # The change as displayed: the difference between the two displayed ratings.
    rating: float  # The rating after the change, in points.
    deviation: float | None  # Uncertainty of the rating at that time, in points. Null if the system has no deviation.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class ChangesPage(TypedDict):
    """A page of a player's changes."""

    rows: list[FormLine]  # The changes, newest first.
    next: str | None  # Cursor for the next page. Null on the last page.


class RivalRow(TypedDict):
    """A player's duels against one opponent: a duel is one heat, or the overall result of several heats."""

    opponent: str  # The opponent.
    events: int  # Number of events in which the two players were compared.
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
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    heat: str  # Heat. Empty if the event has only one heat.
    expected: float  # The expected score, from 0 to 1.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class Rivals(TypedDict):
    """A player's opponents across the most recent events that have explanations."""

    events: int  # Number of events that are counted: the latest ones, up to 100.
    duels: int  # Number of duels in these events.
    won: float  # Number of duels won. A draw counts as half.
    expected: float  # Number of duels the player was expected to win.
    opponents: list[RivalRow]  # Opponents, most frequent first.
    best_win: BestWin | None  # The least expected win, or null.


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
    mean_rating: float  # The mean of these entrants' ratings before the event, in points.
    performances: list[Performance]  # Performance rating of each entrant, in the order of the result.


class CorrectedLine(TypedDict):
    """A line of an event's content that a correction changed."""

    heat: str | None  # Heat. Null if the event has only one heat.
    player: str | None  # Player. Null for changes to the event itself.
    before: str | None  # Former values as text. Null for a new row.
    after: str | None  # New values as text. Null for a removed row.


class CorrectionRecord(TypedDict):
    """The submission of an event, or a later action on it."""

    seq: int  # The number of the log entry.
    kind: str  # Kind of change: submit, amend, move, void or unvoid.
    received_at: datetime  # When the entry was received.
    actor: str  # Name of the key, or the name given to the command.
    reason: str | None  # Reason. Null if no reason was given, or if it was deleted.
    events: int | None  # Number of events in which a change was recalculated. Null if unknown.
    players: int | None  # Number of players for whom a change was recalculated. Null if unknown.
    largest: float | None  # Largest difference in any rating, in points. Null if unknown.
    lines: list[CorrectedLine]  # Changes to the event's content.


class ReliabilityBin(TypedDict):
    """Duels with similar expected scores. Each duel is counted from both sides."""

    expected: float  # Mean of the expected scores.
    observed: float  # Mean of the actual scores.
    lowest: float  # Lower end of the 95% interval of the observed mean.
    highest: float  # Upper end of the 95% interval of the observed mean.
    duels: int  # Number of duels.


class FairExpectation(TypedDict):
    """A player's expected number of wins in an event, and a more realistic estimate."""

    duels: int  # Number of duels in which the player took part.
    expected: float  # Number of duels the player was expected to win.
    fair: float | None  # Number of wins suggested by similar duels in this pool. Null if there are too few such duels.
    # Outcome of the largest group of similar duels in this pool. Null if there are too few such duels.
    example: ReliabilityBin | None


class Round(TypedDict):
    """A championship round: an event whose results count."""

    event_id: str  # The event.
    title: str | None  # Title, or null.


class RoundPoints(TypedDict):
    """The points from one round."""

    event_id: str  # The event.
    points: float  # Points scored in this round.
    dropped: bool  # True if the round is one of the worst rounds, which do not count.


class RoundLead(TypedDict):
    """The effect of one round on the lead between two neighbours in the standings."""

    event_id: str  # The event.
    points: float  # Points that count from this round, minus those of the next player or team.


class Lead(TypedDict):
    """The lead of a player or team over the next one."""

    over: str  # The next player or team.
    points: float  # The lead, in points. If it is 0, places break the tie.
    rounds: list[RoundLead]  # Rounds that made a difference, largest difference first.


class ChampionshipRow(TypedDict):
    """A player or a team in the standings."""

    rank: int  # Rank. Ties on points are broken by the number of first places, then second places, and so on.
    name: str  # Name of the player or team.
    team: str | None  # The player's latest team. Null for teams, and for players without one.
    points: float  # Points that count.
    wins: int  # Number of races won.
    rounds: list[RoundPoints]  # Rounds with a result, oldest first.
    # The most points possible at the end of the season. Null if the number of rounds is unknown.
    reachable: float | None
    uncatchable: bool  # True if nobody below can still reach these points.
    lead: Lead | None  # The lead over the next player or team. Null for the last one.


class Championship(TypedDict):
    """The standings of a season."""

    season: str | None  # Name of the season, or null.
    scheme: str  # The points scheme.
    counting: int  # Number of rounds that count for each player.
    remaining: int | None  # Number of remaining rounds. Null if unknown.
    points_left: float | None  # The most points a player can still score. Null if unknown.
    rounds: list[Round]  # The rounds so far, oldest first.
    players: list[ChampionshipRow]  # The players, best first.
    teams: list[ChampionshipRow]  # The teams, best first.


class ExpectedPoint(TypedDict):
    """The expected score against the median established player or, if there is none, against a newcomer."""

    gap: float  # The player's lead over the opponent, in points.
    expected: float  # The expected score, from 0 to 1.


class WeightPoint(TypedDict):
    """The effect of one duel on players in their n-th rated event, estimated from a sample."""

    event_number: int  # Position of this event among the player's rated events, counting from 1.
    points: float  # The largest change in the median player's rating from a single duel, in points.
    players: int  # Number of players on whom the median is based.


class PoolFacts(TypedDict):
    """Facts from a pool's whole history, as of a given day."""

    day: date  # Day of the calculation.
    events: int  # Number of rated events covered: all, or the latest ones in a large pool.
    players: int  # Number of players in these events.
    duels: int  # Number of duels in these events. Events with over 1,000 entrants are left out.
    expected: list[ExpectedPoint]  # Expected score for each rating lead.
    weights: list[WeightPoint]  # Rating change from one duel, by number of events played.
    reliability: list[ReliabilityBin]  # Expected scores compared with actual scores.
