"""The service's answers, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict


class PoolSummary(TypedDict):
    """A pool."""

    name: str  # Its name.
    system: str  # The system that rates it.
    parameters: dict[str, bool | int | float | str | None]  # Parameters of the system by name; `none` if one is off.
    # Note if events have more players than the system can rate, with suitable systems. Null if there are none.
    notice: str | None
    title: str  # Title on pages. Empty if pages use the name.
    contact: str  # Email address or page of the person who corrects results, or empty.
    player_word: str  # Word for one player, such as rider. Empty for player.
    public: bool  # True if its pages and data can be read without a key.
    # `dated` if its events have dates, `sequence` if numbers. Null if neither an event nor the pool says it.
    order: Literal["dated", "sequence"] | None
    version: int  # Number of its newest log entry. Other responses have it in the header `Pool-Version`.


class Totals(TypedDict):
    """Totals of recalculated changes, made or previewed."""

    events: int  # Number of events with a recalculated change, including seasons.
    players: int  # Players who have one.
    changes: int  # Changes that are new, other or gone.
    largest: float  # Largest difference in any rating, in points, or 0.


class Effect(TypedDict):
    """The effect on one change."""

    event_id: str | None  # Event. Null for the start of a season.
    player: str  # The player's name as it is now.
    rating_was: float | None  # Rating after the event before this correction, or null.
    rating: float | None  # Rating after the event once this correction is applied, or null.


class Rerated(TypedDict):
    """Number and size of the recalculated rating changes. A dry run only previews them."""

    rerated: int  # Their number.
    totals: NotRequired[Totals]  # Totals of a dry run. Left out otherwise.
    effects: NotRequired[list[Effect]]  # Largest changes of a dry run. Left out otherwise.
    next: NotRequired[str]  # Cursor for the next page of effects (`effects_after`). Left out on the last page.


class Season(TypedDict):
    """A season."""

    name: str  # Its name.
    starts_at: datetime | None  # Start time. Null in a pool without dates.
    keep: float  # The share of each lead over a newcomer that stays, from 0 to 1.
    sequence: NotRequired[float]  # The number of its first event in a numbered pool.


class Change(TypedDict):
    """A change of a player's rating by an event."""

    player: str  # The player's name as it is now.
    rating_before: float  # The rating before, in points.
    rating: float  # The rating after, in points.
    delta: float  # The change, in points.
    deviation: float | None  # Uncertainty of the rating after the change, in points. Null if the system has none.
    provisional: bool  # True if the rating is provisional after the change.


class Head(TypedDict):
    """The newest entry of a pool's log. It identifies all entries up to it."""

    place: int  # The number of entries up to it.
    hash: str  # SHA-256, in hexadecimal digits.


class Receipt(TypedDict):
    """The answer for a submitted event."""

    event_id: str  # The event.
    seq: int  # Number of its log entry; 0 in a dry run of a new event.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    reason: str  # Reason why it is not rated. Empty if it is rated.
    duplicate: bool  # True if the same event was already stored with identical content.
    changes: list[Change]  # Its own changes of ratings, in the order of its rows.
    rerated: int  # Number of later rating changes that were recalculated.
    effects: list[Effect]  # Of a dry run, on its first receipt: the largest changes that would move.
    totals: Totals | None  # Of a dry run, on its first receipt: how much would move.
    next: str | None  # Cursor for the next page of effects (`effects_after`). Null on the last page.
    warnings: list[str]  # New players whose names are similar to existing ones.
    head: Head | None  # Keep it: `podium verify --head` finds what was removed since. Null in a dry run.
    # Note on late results and corrections if the system learns from the pool. For the first events of a pool, a note if
    # they have numbers instead of dates.
    notice: NotRequired[str]


class ResultRow(TypedDict):
    """An entrant's line in one heat of an event; what the result does not say is left out."""

    player: str  # The player's name as it is now.
    mode: NotRequired[str]  # The kind of event.
    heat: NotRequired[str]  # The heat.
    team: NotRequired[str]  # The player's side.
    position: NotRequired[float]  # Place, 1 is the best.
    time_s: NotRequired[float]  # The time, in seconds.
    score: NotRequired[float]  # Score; higher is better.
    team_score: NotRequired[float]  # The score of the team.
    status: NotRequired[Literal["finished", "quit", "dnf", "disqualified", "did_not_start"]]  # How it ended.
    played_s: NotRequired[float]  # Seconds that the player took part.
    duration_s: NotRequired[float]  # Seconds that the heat took.
    ranked: NotRequired[bool]  # True if the event counts for ratings.
    handicap: NotRequired[bool]  # True if the player had a handicap.
    side: NotRequired[str]  # home or white: it was at home.
    shared: NotRequired[dict[str, str]]  # Equipment of the player, by kind.
    weight: NotRequired[float]  # Weight of the event: 2 counts like two events.


class EventDetails(TypedDict):
    """An event with its results and effects."""

    event_id: str  # The event.
    seq: int  # The number of its submission in the log.
    started_at: datetime | None  # When it started; null in a numbered pool.
    title: str | None  # Title, if one was submitted.
    url: str | None  # Address of a page about the event, if one was submitted.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    reason: str  # Reason why it is not rated. Empty if it is rated.
    match_id: str | None  # The registered match whose result it is, if any.
    corrected: bool  # True if the content was changed after submission.
    version: str  # Version (ETag). Send it as If-Match with a correction.
    entries: list[ResultRow]  # Its content, in the order of its rows.
    changes: list[Change]  # The changes of ratings, in the order of its rows.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class RegisteredMatch(TypedDict):
    """A match that was registered."""

    match_id: str  # The match.
    entrants: list[str]  # Players of the match, by current name.
    expires_at: datetime  # Until when it waits for a result.
    status: Literal["open", "reported", "expired"]  # Status.
    results: list[str]  # Its results, the event that counts first.


class NewName(TypedDict):
    """A player's new name."""

    name: str  # New name of the player.


class Anonymization(TypedDict):
    """The replacements made when a player is anonymized."""

    player: str  # The player's name now.
    name: str  # The name that the player gets.
    ids: dict[str, str]  # New ids of events, matches, fixtures and seasons whose ids mention a name, by id.
    entries: int  # Log entries with a title, a team, an id or another text that mentions a name.
    reasons: int  # Number of reasons that mention a name. Their texts are deleted.


class KeyDetails(TypedDict):
    """An API key."""

    id: int  # Number of the key.
    name: str  # Name of the program or person that uses it.
    role: Literal["read", "write", "admin"]  # `read`, `write` or `admin`.
    pool: str | None  # Pool that it opens. Null for all pools.
    per_second: float | None  # Requests per second. Null for no limit.
    backdating_limit_s: float | None  # Maximum age of events in seconds. Null for no limit.
    created_at: datetime  # Time of creation.
    expires_at: datetime | None  # Time when it expires. Null for never.
    revoked_at: datetime | None  # Time when it was revoked or expired. Null while it is valid.
    last_used_at: datetime | None  # Time of the last request, to a minute. Null before the first.
    secret: NotRequired[str]  # The key itself, only in the answer that creates it.


class WebhookDetails(TypedDict):
    """A receiver of what happens in a pool."""

    id: int  # Number of the webhook.
    url: str  # Its URL. For a chat only the host and the last four characters.
    format: Literal["json", "discord", "slack", "matrix", "text"]  # `json`, or the chat that gets messages.
    delivered_seq: int  # Number of the newest log entry that the receiver has taken.
    failing_since: datetime | None  # Time of the first failure since the last success, or null.
    last_error: str  # The last failure, or empty.
    stopped: bool  # True if it failed for five days or the receiver wants no more.
    created_at: datetime  # Time of creation.
    secret: NotRequired[str]  # Secret of the signatures, only in the answer that creates it.


class ListedRow(TypedDict):
    """A player on the leaderboard."""

    # Rank among the listed players. Equal ratings share the best of their ranks. Null for provisional players on a
    # board of established ones.
    rank: int | None
    player: str  # The player's name.
    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty of the rating, in points. Null if the system has none.
    provisional: bool  # True if the rating is provisional.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    move: int | None  # Number of ranks gained since the day in `since`. Null if there is nothing to compare with.
    is_new: bool  # True if the player was not on this board on that day.
    spark: list[float]  # The rating after each of the newest 16 changes at most, oldest first.
    newest_change: float | None  # Change in the pool's newest event, in points. Null for players who were not in it.
    newest_shown: float | None  # The change as people read it: the difference of the two ratings as they are shown.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class EntrantChange(TypedDict):
    """The effect of an event on an entrant."""

    player: str  # The player's name as it is now.
    change: float  # The change, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.


class EventHeadline(TypedDict):
    """An event in a list."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    url: str | None  # Address of a page about the event, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    entrants: int  # Number of entrants.
    winners: list[str]  # Winners. Several if they share the first place.
    most_gained: EntrantChange | None  # Largest gain. Null if nobody gained.
    most_lost: EntrantChange | None  # Largest loss. Null if nobody lost.
    headline: str  # Summary of the event in one or two sentences.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Leaderboard(TypedDict):
    """A page of the leaderboard."""

    players: list[ListedRow]  # The players, best first.
    next: str | None  # Cursor for the next page. Null on the last page.
    listed: int  # Number of players on all pages.
    rated: int  # Number of players with a rating.
    since: date | None  # Day (00:00 UTC) that `move` compares with. Null if there is none, or in a pool without dates.
    newest: EventHeadline | None  # The pool's newest rated event, if there is one.
    # Up to 20 players with a provisional rating, best first. Empty if they are ranked, and after the first page.
    provisional: list[ListedRow]
    since_sequence: NotRequired[float]  # Number of the event before which the ranks are compared (pools without dates).


class RatingCount(TypedDict):
    """The number of players within one point."""

    rating: int  # A whole rating: counted are ratings from it up to the next.
    players: int  # Their number.


class CareerChange(TypedDict):
    """The effect of an event, or of the start of a season, on one player's rating."""

    event_id: str | None  # Event. Null for the start of a season.
    started_at: datetime | None  # When it started; null in a numbered pool.
    rating_before: float  # The rating before, in points.
    delta: float  # The change, in points.
    rating: float  # The rating after, in points.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class PlayerDetails(TypedDict):
    """A player's rank and history."""

    player: str  # The player's name as it is now.
    rank: int  # Rank, 1 is the best. Equal ratings share the best of their ranks.
    players: int  # Number of players with a rating.
    percentile: float  # Percentage of players with the same or a lower rating.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    history: list[CareerChange]  # The newest changes, newest first.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class BoardRow(TypedDict):
    """A player on a board. Filtered boards and boards of a past date also have the system's other numbers."""

    rank: int  # Rank, 1 is the best. Equal ratings share the best of their ranks.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    provisional: bool  # True if the rating is provisional.
    deviation: float | None  # Uncertainty of the rating, in points. Null if the system has none.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class DailyRank(TypedDict):
    """A player's rank at 00:00 UTC of a day, or in a numbered pool before an event."""

    day: date | None  # Day. Null in a pool without dates.
    rank: int  # Rank, 1 is the best. Equal ratings share the best of their ranks.
    rating: float  # The rating, in points.
    sequence: NotRequired[float]  # The event in a numbered pool.


class HindsightPoint(TypedDict):
    """A player's strength at an event, with hindsight."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    rating: float  # Rating in hindsight, in points.
    deviation: float  # Uncertainty, in points.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class BestEver(TypedDict):
    """A player where the curve of hindsight is highest."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    rating: float  # Rating in hindsight, in points.
    deviation: float  # Uncertainty, in points.
    player: str  # The player.
    above_next: float | None  # Probability of having been stronger than the next player. Null for the last.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class BestEverBoard(TypedDict):
    """The best ever, in hindsight; no rating that counts."""

    as_of: date  # Day of the calculation.
    players: list[BestEver]  # At most 50 players with an established rating, highest peak first.


class ShownChange(TypedDict):
    """A change as people read it; before and change add up to after."""

    before: float  # The rating before.
    change: float  # The change.
    after: float  # The rating after.


class ReasonGroup(TypedDict):
    """Reasons that belong together: a heat, an opponent, a band of strength, or another cause."""

    kind: str  # Kind of group: `heat`, `opponent`, `band` or `cause`.
    label: str  # Label of the group.
    result: str  # Result as text, such as "won 4 of 5". Empty if it is not about opponents.
    duels: int  # Duels in it.
    expected: float  # Number of duels the player was expected to win.
    won: float  # Number of duels won. A draw counts as half.
    points: float  # Contribution to the change, in points.
    shown: float  # Points rounded for display. They add up to the displayed change.


class DuelCount(TypedDict):
    """A player's number of won duels, and the number expected from the ratings."""

    count: int  # Number of duels of the player.
    won: float  # Number of duels won. A draw counts as half.
    expected: float  # Number of duels the player was expected to win.
    headline: str  # The three numbers in a sentence.
    meaning: str  # Explanation of the word "duel" in this event.
    not_compared: str  # Players who are not compared, and the reason. Empty if everybody is compared.


class StandingLine(TypedDict):
    """A player's line in a heat, or in the overall result."""

    heat: str | None  # Heat. Null if the event has only one.
    player: str  # The player.
    team: str | None  # The team, if any.
    place: int | None  # Place. Ties share the best place.
    status: str  # Finish status as submitted.
    score: float | None  # The score, as it was sent.
    time_s: float | None  # The time in seconds, as it was sent.
    gap_s: float | None  # The seconds behind the first.


class Reason(TypedDict):
    """A part of a change: a comparison with an opponent, or another cause."""

    player: str  # The player whose rating changed.
    opponent: str | None  # Opponent. Null for other causes.
    heat: str | None  # Heat. Empty if the event has only one.
    result: float | None  # The score against the opponent, from 0 to 1.
    expected: float | None  # The score that was expected, from 0 to 1.
    weight: float | None  # Weight of the comparison.
    contribution: float  # Contribution to the change, in points.
    cause: str  # `opponent`, or another cause of the change.
    gap: float | None  # Rating of the opponent minus that of the player, in points.
    group: int  # The number of its group, from 0.
    shown: float  # The contribution as people read it.


class ExplainedChange(TypedDict):
    """Why an event moved a player's rating."""

    event_id: str  # The event.
    player: str  # The player's name as it is now.
    rating_before: float  # The rating before, in points.
    delta: float  # The change, in points: the sum of the contributions.
    words: str  # The reasons in a few sentences.
    outcome: str  # Outcome of the player as text. Empty if nobody was compared.
    verdict: str  # Place and change in a sentence.
    cause: str  # Sentence about the main reason. Empty if there is none.
    shown: ShownChange  # The change as people read it.
    groups: list[ReasonGroup]  # The reasons, a few groups of them.
    duels: DuelCount  # Duels won, and expected.
    ranked_by: str  # Sentence about the rule that decided the order.
    standings: list[StandingLine]  # Lines of the result.
    method: str  # Method of dividing the change if it is not a sum over duels. Otherwise empty.
    shared: str  # Sentence about the change of the player's equipment, or empty.
    reasons: list[Reason]  # Every reason.


class ReasonTotal(TypedDict):
    """The points of one kind of reason."""

    # The kind of reason.
    reason: Literal["won", "drawn", "lost", "ahead of quitters", "quit", "time away", "bonus", "season", "other"]
    points: float  # Its points.
    shown: float  # Its points to one decimal; all kinds add up to the change that is shown.
    count: int  # How many duels or causes there were.
    events: list[str]  # The events in which they were, oldest first.


class ReasonTotals(TypedDict):
    """Why a player's rating moved over several events."""

    player: str  # The player's name.
    events: int  # How many events there were.
    won: int  # How many of them the player won.
    change: float  # The change of the rating over them, in points.
    shown: float  # The change to one decimal.
    summary: str  # The main reasons, in a sentence.
    reasons: list[ReasonTotal]  # Each kind of reason that there was.


class AlternativeChange(TypedDict):
    """What an event would have done with one thing changed."""

    words: str  # What is changed.
    delta: float  # The change then, in points.
    shown: float  # The change as people read it.
    better: float  # Difference from the actual change, rounded for display.


class AlternativeChanges(TypedDict):
    """An event as it was for a player, and as it would have been."""

    event_id: str  # The event.
    player: str  # The player's name as it is now.
    rating_before: float  # The rating before, in points.
    delta: float  # The change as it was, in points.
    shown: float  # The change as people read it.
    alternatives: list[AlternativeChange]  # One thing changed each.


class Equipment(TypedDict):
    """A piece of shared equipment, and its effect on results over all its users."""

    kind: str  # Kind of equipment, such as `car`.
    name: str  # Its name as it is now.
    points: float  # Points that it adds to the rating of its user.
    deviation: float | None  # Uncertainty of that number, in points.
    events: int  # Number of rated events in which it was used.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class RankedPlayer(TypedDict):
    """A player at 00:00 UTC of a day, or in a numbered pool before an event."""

    rank: int  # Rank, 1 is the best. Equal ratings share the best of their ranks.
    player: str  # The player's name as it is now.
    rating: float  # The rating, in points.


class Moved(TypedDict):
    """The effect of a correction."""

    events: int  # Events with a change that moved.
    players: int  # Players who have one.
    largest: float  # Largest difference in any rating, in points, or 0.


class LogRecord(TypedDict):
    """An entry of the log: something that was done to a pool."""

    seq: int  # Its number: rising, and never used again.
    place: int | None  # Position in the hash chain, from 1. Null outside it.
    # Hash of the log up to and including this entry, hexadecimal. Null for entries that are not in the chain.
    hash: str | None
    kind: str  # Kind of entry: submit, amend, void, unvoid, register, merge and so on.
    subject: str  # Name of the event, match or season, or number of the player.
    player: str | None  # Current name of the player concerned, or null.
    into: str | None  # Player into whom the account was merged. Null for other entries.
    received_at: datetime  # When it came.
    actor: str  # Name of the key, or the name given to the command.
    reason: str | None  # Reason. Null if none was given, or if it was deleted.
    moved: Moved | None  # Effect of a correction. Null for other entries and in imported pools.
