"""The service's answers, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict


class PoolSummary(TypedDict):
    """A pool."""

    name: str  # Its name.
    system: str  # The system that rates the pool.
    parameters: dict[str, bool | int | float | str | None]  # Parameters of the system by name; `none` if switched off.
    # Note if events have more players than the system can rate well, with suitable systems; or null.
    notice: str | None
    title: str  # Title shown on pages. Empty if pages show the name.
    contact: str  # Email address or page of the person who corrects results, or empty.
    player_word: str  # Word for a single player, such as rider. Empty means player.
    public: bool  # True if anyone can read its pages and data without a key.
    # `dated` if its events have dates, `sequence` if they have numbers. Null if not decided yet.
    order: Literal["dated", "sequence"] | None
    version: int  # Number of the pool's latest log entry. Other responses have it in the header `Pool-Version`.


class Totals(TypedDict):
    """Totals of recalculated changes, made or previewed."""

    events: int  # Number of events with a recalculated change, including seasons.
    players: int  # Number of players with a recalculated change.
    changes: int  # Number of changes that are new, different or removed.
    largest: float  # Largest difference in any rating, in points, or 0.


class Effect(TypedDict):
    """The effect on one change."""

    event_id: str | None  # Event. Null for the start of a season.
    player: str  # The player's current name.
    rating_was: float | None  # Rating after the event before this correction, or null.
    rating: float | None  # Rating after the event once this correction is applied, or null.


class Rerated(TypedDict):
    """Number and size of the recalculated rating changes. A dry run only previews them."""

    rerated: int  # Their number.
    totals: NotRequired[Totals]  # Totals of a dry run. Omitted otherwise.
    effects: NotRequired[list[Effect]]  # Largest changes of a dry run. Omitted otherwise.
    next: NotRequired[str]  # Cursor for the next page of effects (`effects_after`). Omitted on the last page.


class Season(TypedDict):
    """A season."""

    name: str  # Its name.
    starts_at: datetime | None  # Start time. Null in a pool without dates.
    keep: float  # Share of each lead over a newcomer that is kept, from 0 to 1.
    sequence: NotRequired[float]  # The number of its first event, in a pool whose events are numbered.


class Change(TypedDict):
    """A change of a player's rating by an event."""

    player: str  # The player's current name.
    rating_before: float  # The rating before, in points.
    rating: float  # The rating after, in points.
    delta: float  # The change, in points.
    # Uncertainty of the rating after the change, in points. Null if the system has no deviation.
    deviation: float | None
    provisional: bool  # True if the rating is provisional after the change.


class Head(TypedDict):
    """The newest entry of a pool's log. It identifies all entries up to itself."""

    place: int  # The number of entries up to it.
    hash: str  # SHA-256, in hexadecimal digits.


class Receipt(TypedDict):
    """The answer for a submitted event."""

    event_id: str  # The event.
    seq: int  # Number of the log entry; 0 in a dry run for a new event.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    reason: str  # Reason why it is not rated. Empty if it is rated.
    duplicate: bool  # True if the same event was already stored with identical content.
    changes: list[Change]  # The event's own rating changes, in the order of its rows.
    rerated: int  # Number of later rating changes that were recalculated.
    effects: list[Effect]  # For a dry run, only in its first receipt: the largest rating changes it would cause.
    totals: Totals | None  # For a dry run, only in its first receipt: the totals of the changes it would cause.
    next: str | None  # Cursor for the next page of effects (`effects_after`). Null on the last page.
    warnings: list[str]  # New players whose names are similar to existing ones.
    head: Head | None  # Keep it: `podium verify --head` detects entries that were removed later. Null in a dry run.
    # Note on late results and corrections if the system learns from the pool. For the first events of a pool, a note if
    # they have numbers instead of dates.
    notice: NotRequired[str]


class ResultRow(TypedDict):
    """An entrant's result in one heat of an event; fields that the result does not contain are left out."""

    player: str  # The player's current name.
    mode: NotRequired[str]  # The kind of event.
    heat: NotRequired[str]  # The heat.
    team: NotRequired[str]  # The player's side.
    position: NotRequired[float]  # Place; 1 is the best.
    time_s: NotRequired[float]  # The time, in seconds.
    score: NotRequired[float]  # Score; higher is better.
    team_score: NotRequired[float]  # The score of the team.
    status: NotRequired[Literal["finished", "quit", "dnf", "disqualified", "did_not_start"]]  # How the heat ended.
    played_s: NotRequired[float]  # Number of seconds that the player took part.
    duration_s: NotRequired[float]  # Duration of the heat in seconds.
    ranked: NotRequired[bool]  # True if the event counts for ratings.
    handicap: NotRequired[bool]  # True if the player had a handicap.
    side: NotRequired[str]  # home, or white for the side with the first move.
    shared: NotRequired[dict[str, str]]  # Equipment that the player used, by kind.
    weight: NotRequired[float]  # Weight of the event: 2 counts like two events.


class EventDetails(TypedDict):
    """An event with its results and rating changes."""

    event_id: str  # The event.
    seq: int  # The number of its submission in the log.
    started_at: datetime | None  # When it started; null in a numbered pool.
    title: str | None  # Title, if one was submitted.
    url: str | None  # Address of a page about the event, if one was submitted.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    reason: str  # Reason why it is not rated. Empty if it is rated.
    match_id: str | None  # The registered match that this result belongs to, if any.
    corrected: bool  # True if the content was changed after submission.
    version: str  # Version (ETag). Send it as If-Match with a correction.
    entries: list[ResultRow]  # Its content, in the order of its rows.
    changes: list[Change]  # The rating changes, in the order of its rows.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class RegisteredMatch(TypedDict):
    """A match that was registered."""

    match_id: str  # The match.
    entrants: list[str]  # Players of the match, by current name.
    expires_at: datetime  # Until when the match waits for a result.
    status: Literal["open", "reported", "expired"]  # Status.
    results: list[str]  # Its results, starting with the event that counts.


class NewName(TypedDict):
    """A player's new name."""

    name: str  # New name of the player.


class Anonymization(TypedDict):
    """The replacements made when a player is anonymized."""

    player: str  # The player's current name.
    name: str  # The name that the player will get.
    ids: dict[str, str]  # New IDs of events, matches, fixtures and seasons whose IDs mention a name, by ID.
    entries: int  # Log entries with a title, team, ID or other text that mentions a name.
    reasons: int  # Number of reasons that mention a name. Their texts are deleted.


class KeyDetails(TypedDict):
    """An API key."""

    id: int  # Number of the key.
    name: str  # Name of the program or person that uses the key.
    role: Literal["read", "write", "admin"]  # `read`, `write` or `admin`.
    pool: str | None  # Pool that the key gives access to. Null means all pools.
    per_second: float | None  # Number of requests allowed per second. Null means no limit.
    backdating_limit_s: float | None  # Maximum age of events in seconds. Null means no limit.
    created_at: datetime  # Time of creation.
    expires_at: datetime | None  # Time when the key expires. Null means never.
    revoked_at: datetime | None  # Time when the key was revoked or expired. Null while the key is valid.
    last_used_at: datetime | None  # Time of the last request, to the nearest minute. Null if there was no request yet.
    secret: NotRequired[str]  # The key itself, returned only in the response that creates it.


class WebhookDetails(TypedDict):
    """A receiver of everything that happens in a pool."""

    id: int  # Number of the webhook.
    url: str  # Its URL. For a chat, only the host and the last four characters are shown.
    format: Literal["json", "discord", "slack", "matrix", "text"]  # `json`, or the chat service.
    delivered_seq: int  # Number of the latest log entry that the receiver has accepted.
    failing_since: datetime | None  # Time of the first failure since the last success, or null.
    last_error: str  # The last failure, or empty.
    stopped: bool  # True if it failed for five days or the receiver refuses further messages.
    created_at: datetime  # Time of creation.
    secret: NotRequired[str]  # Signing secret, returned only in the response that creates the webhook.


class ListedRow(TypedDict):
    """A player on the leaderboard."""

    # Rank among the listed players. Equal ratings share the best of their ranks. Null for provisional players without
    # one.
    rank: int | None
    player: str  # The player's name.
    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty of the rating, in points. Null if the system has no deviation.
    provisional: bool  # True if the rating is provisional.
    events: int  # Number of rated events the player has taken part in.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    move: int | None  # Number of ranks gained since the day in `since`. Null if there is nothing to compare with.
    is_new: bool  # True if the player was not on this board on that day.
    spark: list[float]  # The rating after each of the last 16 changes (or fewer), oldest first.
    newest_change: float | None  # Change in the pool's latest event, in points. Null for players who did not take part.
    newest_shown: float | None  # The change as displayed: the difference between the two displayed ratings.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class EntrantChange(TypedDict):
    """The effect of an event on an entrant."""

    player: str  # The player's current name.
    change: float  # The change, in points.
    shown: float  # The change as displayed: the difference between the two displayed ratings.


class EventHeadline(TypedDict):
    """An event in a list."""

    event_id: str  # The event.
    title: str | None  # Title, or null.
    url: str | None  # Address of a page about the event, or null.
    started_at: datetime | None  # When it started; null in a numbered pool.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    entrants: int  # Number of entrants.
    winners: list[str]  # Winners. Several if they share first place.
    most_gained: EntrantChange | None  # Largest gain. Null if no player gained.
    most_lost: EntrantChange | None  # Largest loss. Null if no player lost.
    headline: str  # Summary of the event in one or two sentences.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class Leaderboard(TypedDict):
    """A page of the leaderboard."""

    players: list[ListedRow]  # The players, best first.
    next: str | None  # Cursor for the next page. Null on the last page.
    listed: int  # Number of players on all pages.
    rated: int  # Number of players with a rating.
    since: date | None  # Day (00:00 UTC) that `move` is measured from. Null if there is none, or without dates.
    newest: EventHeadline | None  # The pool's latest rated event, if there is one.
    # Up to 20 players with a provisional rating, best first. Empty if they are ranked, and after the first page.
    provisional: list[ListedRow]
    since_sequence: NotRequired[float]  # Number of the event before which the ranks are compared (pools without dates).


class RatingCount(TypedDict):
    """The number of players within one point of rating."""

    rating: int  # A whole rating; players with ratings from it up to the next whole number are counted.
    players: int  # Their number.


class CareerChange(TypedDict):
    """The effect of an event, or of the start of a season, on one player's rating."""

    event_id: str | None  # Event. Null for the start of a season.
    started_at: datetime | None  # When it started; null in a numbered pool.
    rating_before: float  # The rating before, in points.
    delta: float  # The change, in points.
    rating: float  # The rating after, in points.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class PlayerDetails(TypedDict):
    """A player's rank and history."""

    player: str  # The player's current name.
    rank: int  # Rank; 1 is the best. Equal ratings share the best of their ranks.
    players: int  # Number of players with a rating.
    percentile: float  # Percentage of players with the same or a lower rating.
    rating: float  # The rating, in points.
    events: int  # Number of rated events the player has taken part in.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    history: list[CareerChange]  # The latest changes, newest first.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class BoardRow(TypedDict):
    """A player on a board. Filtered boards and boards for a past date also have the system's other numbers."""

    rank: int  # Rank; 1 is the best. Equal ratings share the best of their ranks.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    events: int  # Number of rated events the player has taken part in.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    provisional: bool  # True if the rating is provisional.
    deviation: float | None  # Uncertainty of the rating, in points. Null if the system has no deviation.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class DailyRank(TypedDict):
    """A player's rank at 00:00 UTC of a day, or in a numbered pool before an event."""

    day: date | None  # Day. Null in a pool without dates.
    rank: int  # Rank; 1 is the best. Equal ratings share the best of their ranks.
    rating: float  # The rating, in points.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class HindsightPoint(TypedDict):
    """A player's strength at an event, with hindsight."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    rating: float  # Rating in hindsight, in points.
    deviation: float  # Uncertainty, in points.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


class BestEver(TypedDict):
    """A player where the curve of hindsight is highest."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    rating: float  # Rating in hindsight, in points.
    deviation: float  # Uncertainty, in points.
    player: str  # The player.
    above_next: float | None  # Probability of having been stronger than the next player. Null for the last player.
    sequence: NotRequired[float]  # The event's number, in a pool whose events are numbered.


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
    result: str  # Result as text, such as "won 4 of 5". Empty if the group is not about opponents.
    duels: int  # Number of duels in the group.
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
    not_compared: str  # Players who are not compared, with the reason. Empty if everybody is compared.


class StandingLine(TypedDict):
    """A player's line in a heat, or in the overall result."""

    heat: str | None  # Heat. Null if the event has only one heat.
    player: str  # The player.
    team: str | None  # The team, if any.
    place: int | None  # Place. Ties share the best place.
    status: str  # Finish status as submitted.
    score: float | None  # The score, as it was sent.
    time_s: float | None  # The time in seconds, as it was sent.
    gap_s: float | None  # Number of seconds behind the winner.


class Reason(TypedDict):
    """A part of a change: a comparison with an opponent, or another cause."""

    player: str  # The player whose rating changed.
    opponent: str | None  # Opponent. Null for other causes.
    heat: str | None  # Heat. Empty if the event has only one heat.
    result: float | None  # The score against the opponent, from 0 to 1.
    expected: float | None  # The expected score, from 0 to 1.
    weight: float | None  # Weight of the comparison.
    contribution: float  # Contribution to the change, in points.
    cause: str  # `opponent`, or another cause of the change.
    gap: float | None  # Rating of the opponent minus that of the player, in points.
    group: int  # The number of its group, from 0.
    shown: float  # The contribution, rounded for display.


class ExplainedChange(TypedDict):
    """Why an event moved a player's rating."""

    event_id: str  # The event.
    player: str  # The player's current name.
    rating_before: float  # The rating before, in points.
    delta: float  # The change, in points: the sum of the contributions.
    words: str  # The reasons in a few sentences.
    outcome: str  # Outcome of the player as text. Empty if the player was not compared with anyone.
    verdict: str  # Place and rating change in a sentence.
    cause: str  # Sentence about the main reason. Empty if there is no main reason.
    shown: ShownChange  # The change, rounded for display.
    groups: list[ReasonGroup]  # The reasons, in a few groups.
    duels: DuelCount  # Number of duels won, and expected.
    ranked_by: str  # Sentence about the rule that decided the order.
    standings: list[StandingLine]  # Rows of the result.
    method: str  # How the change is divided if it is not a sum over duels. Otherwise empty.
    shared: str  # Sentence about the change in the rating of the player's equipment, or empty.
    reasons: list[Reason]  # Every reason.


class ReasonTotal(TypedDict):
    """The points of one kind of reason."""

    # The kind of reason.
    reason: Literal["won", "drawn", "lost", "ahead of quitters", "quit", "time away", "bonus", "season", "other"]
    points: float  # Its points.
    shown: float  # Its points to one decimal; all kinds add up to the displayed change.
    count: int  # Number of duels or causes of this kind.
    events: list[str]  # The events in which they occurred, oldest first.


class ReasonTotals(TypedDict):
    """Why a player's rating changed over several events."""

    player: str  # The player's name.
    events: int  # Number of events.
    won: int  # Number of these events that the player won.
    change: float  # The change in the rating over these events, in points.
    shown: float  # The change, rounded to one decimal.
    summary: str  # The main reasons, in a sentence.
    reasons: list[ReasonTotal]  # Each kind of reason that occurred.


class AlternativeChange(TypedDict):
    """What an event would have done with one thing changed."""

    words: str  # What is changed.
    delta: float  # The change that would have resulted, in points.
    shown: float  # The change, rounded for display.
    better: float  # Difference from the actual change, rounded for display.


class AlternativeChanges(TypedDict):
    """An event as it was for a player, and as it would have been."""

    event_id: str  # The event.
    player: str  # The player's current name.
    rating_before: float  # The rating before, in points.
    delta: float  # The actual change, in points.
    shown: float  # The change, rounded for display.
    alternatives: list[AlternativeChange]  # One thing changed in each.


class Equipment(TypedDict):
    """A piece of shared equipment, and its effect on results over all its users."""

    kind: str  # Kind of equipment, such as `car`.
    name: str  # Its current name.
    points: float  # Points that it adds to the rating of the player who uses it.
    deviation: float | None  # Uncertainty of these points.
    events: int  # Number of rated events in which it was used.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class RankedPlayer(TypedDict):
    """A player at 00:00 UTC of a day, or in a numbered pool before an event."""

    rank: int  # Rank; 1 is the best. Equal ratings share the best of their ranks.
    player: str  # The player's current name.
    rating: float  # The rating, in points.


class Moved(TypedDict):
    """The effect of a correction."""

    events: int  # Number of events with a rating change that was affected.
    players: int  # Number of players with an affected rating change.
    largest: float  # Largest difference in any rating, in points, or 0.


class LogRecord(TypedDict):
    """An entry of the log, for an action on a pool."""

    seq: int  # The entry's number; numbers increase and are never reused.
    place: int | None  # Position in the hash chain, from 1. Null if the entry is not in the chain.
    hash: str | None  # Hash of the log up to this entry, in hexadecimal. Null if the entry is not in the chain.
    kind: str  # Kind of entry: submit, amend, void, unvoid, register, merge and so on.
    subject: str  # ID of the event or match, name of the season, or number of the player.
    player: str | None  # Current name of the player concerned, or null.
    into: str | None  # Player that the account was merged into. Null for other entries.
    received_at: datetime  # When the entry was received.
    actor: str  # Name of the key, or the name given to the command.
    reason: str | None  # Reason. Null if no name was given, or if it was deleted.
    moved: Moved | None  # Effect of a correction. Null for other entries and in imported pools.
