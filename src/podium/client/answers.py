"""The service's answers, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict


class PoolSummary(TypedDict):
    """A pool."""

    name: str  # Name of the pool.
    system: str  # The pool's rating system.
    parameters: dict[str, bool | int | float | str | None]  # The system's parameters by name; `none` if switched off.
    # A note that names suitable systems if events have too many players for this system. Otherwise null.
    notice: str | None
    title: str  # Title shown on pages. Empty if pages show the pool's name instead.
    contact: str  # Email address or web page of the person who corrects results, or empty.
    player_word: str  # Word for a single player, such as rider. Empty means player.
    public: bool  # True if anyone can read its pages and data without a key.
    time_zone: str  # Time zone of dates on pages and in messages. Empty means UTC.
    points_scheme: str  # Points of the championship, such as `f1 drop=2`. Empty if there is none.
    # Scale of shown scores, tiers, and `ids=public`, such as `factor=100 tiers=Bronze:0,Silver:1400`, or empty.
    display: str
    reports: str  # When results that players report count, such as `50% 48h`. Empty if players cannot report.
    order: Literal["dated", "sequence"] | None  # `dated`, or `sequence` for numbered events. Null if not decided yet.
    version: int  # Number of the pool's latest log entry. Other responses have it in the `Pool-Version` header.


class Totals(TypedDict):
    """Totals for the recalculated changes, whether applied or only previewed."""

    events: int  # Number of events and season starts in which a change was recalculated.
    players: int  # Number of players for whom a change was recalculated.
    changes: int  # Number of changes that are new, different or removed.
    largest: float  # Largest difference in any rating, in points. 0 if no rating is different.


class Effect(TypedDict):
    """The effect of a request on one rating change."""

    event_id: str | None  # Event. Null for the start of a season.
    player: str  # The player's current name.
    rating_was: float | None  # Rating after the event without this request. Null for a new change.
    rating: float | None  # Rating after the event with this request. Null for a removed change.


class Rerated(TypedDict):
    """Number and size of the recalculated rating changes. A dry run only previews them."""

    rerated: int  # Number of recalculated rating changes.
    totals: NotRequired[Totals]  # Totals for a dry run. Omitted otherwise.
    effects: NotRequired[list[Effect]]  # Largest changes in a dry run. Omitted otherwise.
    next: NotRequired[str]  # Cursor for the next page of effects (`effects_after`). Omitted on the last page.


class Season(TypedDict):
    """A season."""

    name: str  # Name of the season.
    starts_at: datetime | None  # Start time. Null in a pool without dates.
    keep: float  # Share of each lead over a newcomer that is kept, from 0 to 1.
    sequence: NotRequired[float]  # Number of the season's first event, in a pool with numbered events.
    # True if the uncertainty of each rating grew by as many points as the season deducted from it.
    widens: NotRequired[bool]


class Change(TypedDict):
    """A rating change that an event made for a player."""

    player: str  # The player's current name.
    rating_before: float  # The rating before the change, in points.
    rating: float  # The rating after the change, in points.
    delta: float  # The change, in points.
    deviation: float | None  # Uncertainty after the change, in points. Null if the system has no deviation.
    provisional: bool  # True if the rating is provisional after the change.


class Head(TypedDict):
    """The newest entry in a pool's log. Its hash also covers all earlier entries."""

    place: int  # Number of entries up to and including this one.
    hash: str  # SHA-256 hash, in hexadecimal digits.


class Receipt(TypedDict):
    """The response to the submission of an event."""

    event_id: str  # The event.
    seq: int  # Number of the log entry. 0 for a new event in a dry run.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    reason: str  # Reason why the event is not rated. Empty if it is rated.
    duplicate: bool  # True if the same event has already been stored with identical content.
    changes: list[Change]  # The rating changes in this event, in the order of its rows.
    rerated: int  # Number of later rating changes that were recalculated.
    # The largest rating changes that the request would cause. Only in the first receipt of a dry run.
    effects: list[Effect]
    # The totals of the changes that the request would cause. Only in the first receipt of a dry run.
    totals: Totals | None
    next: str | None  # Cursor for the next page of effects (`effects_after`). Null on the last page.
    # Warnings about names that are similar to existing ones, unused values, and details of players.
    warnings: list[str]
    # Head of the log. Keep it, so that `podium verify --head` can detect removed entries. Null in a dry run.
    head: Head | None
    # Note on late results and corrections if the system learns from the pool. For the first events of a pool, a note if
    # they have numbers instead of dates.
    notice: NotRequired[str]


class ResultRow(TypedDict):
    """An entrant's result in one heat of an event. Fields that the result does not contain are omitted."""

    player: str  # The player's current name.
    mode: NotRequired[str]  # The kind of event.
    heat: NotRequired[str]  # The heat.
    team: NotRequired[str]  # The player's side.
    position: NotRequired[float]  # Place; 1 is the best.
    time_s: NotRequired[float]  # The time, in seconds.
    score: NotRequired[float]  # Score; higher is better.
    team_score: NotRequired[float]  # The score of the team.
    # How the heat ended for the player.
    status: NotRequired[Literal["finished", "quit", "dnf", "disqualified", "did_not_start"]]
    played_s: NotRequired[float]  # Number of seconds for which the player took part.
    duration_s: NotRequired[float]  # Duration of the heat in seconds.
    ranked: NotRequired[bool]  # True if the event counts towards ratings.
    handicap: NotRequired[float]  # Number of handicap stones, or 1 with any other handicap.
    side: NotRequired[str]  # `home` for the home side, or `white` for the side that moves first.
    awards: NotRequired[str]  # Awards such as the fastest lap, separated by commas.
    age_group: NotRequired[float]  # Oldest age in the player's group, such as 18.
    shared: NotRequired[dict[str, str]]  # Equipment that the player used, by kind.
    weight: NotRequired[float]  # Weight of the event. An event with weight 2 counts like two events.


class EventDetails(TypedDict):
    """An event with its results and rating changes."""

    event_id: str  # The event.
    seq: int  # Number of the log entry that submitted the event.
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    title: str | None  # Title, if one was submitted.
    url: str | None  # Address of a page about the event, if one was submitted.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    reason: str  # Reason why the event is not rated. Empty if it is rated.
    match_id: str | None  # The registered match that this result belongs to, if any.
    corrected: bool  # True if the content was changed after submission.
    version: str  # Version of the event (ETag). Send it in the `If-Match` header when you correct the event.
    entries: list[ResultRow]  # The rows of the event's result, in the order in which they were submitted.
    changes: list[Change]  # The rating changes, in the same order as the rows.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class RegisteredMatch(TypedDict):
    """A registered match."""

    match_id: str  # The match.
    entrants: list[str]  # Current names of the players in the match.
    expires_at: datetime  # Time until which the match waits for a result.
    status: Literal["open", "reported", "expired"]  # Status.
    results: list[str]  # IDs of the events with the match's result, starting with the event that counts.


class PlayerStart(TypedDict):
    """The rating with which a player enters the first event."""

    player: str  # The player's name.
    rating: float  # Starting rating, in points.
    deviation: float | None  # Starting deviation. Null if the system has no deviation.


class NewName(TypedDict):
    """A player's new name."""

    name: str  # New name of the player.


class Anonymization(TypedDict):
    """The replacements that anonymize a player."""

    player: str  # The player's current name.
    name: str  # The player's new name.
    ids: dict[str, str]  # New IDs of events, matches, fixtures and seasons whose IDs contain a name, listed by old ID.
    entries: int  # Number of log entries with a title, team, ID or other text that mentions a name.
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
    last_used_at: datetime | None  # Time of the last request, to the minute. Null if there has been no request yet.
    secret: NotRequired[str]  # The key itself, returned only in the response that creates it.


class WebhookDetails(TypedDict):
    """A receiver of everything that happens in a pool."""

    id: int  # Number of the webhook.
    url: str  # URL of the receiver. For a chat, only the host and the last four characters are shown.
    format: Literal["json", "discord", "slack", "matrix", "text"]  # `json`, or the chat service.
    delivered_seq: int  # Number of the latest log entry that the receiver has accepted.
    failing_since: datetime | None  # Time of the first failure since the last success, or null.
    last_error: str  # The last failure, or empty.
    stopped: bool  # True if deliveries have failed for five days or the receiver has refused further messages.
    created_at: datetime  # Time of creation.
    secret: NotRequired[str]  # Signing secret, returned only in the response that creates the webhook.


class ListedRow(TypedDict):
    """A player on the leaderboard."""

    # Rank among the listed players. Equal ratings share the best rank. Null for provisional players without one.
    rank: int | None
    player: str  # The player's name.
    rating: float  # The rating, in points.
    deviation: float | None  # Uncertainty of the rating, in points. Null if the system has no deviation.
    score: float  # The number that decides the rank, as the pool shows it. Many systems rank by the rating itself.
    tier: str | None  # Tier of the score. Null if the pool has no tiers, or the score is below the lowest.
    provisional: bool  # True if the rating is provisional.
    events: int  # Number of rated events in which the player has taken part.
    last_played_at: datetime | None  # Start of the player's last rated event. Null in a pool with numbered events.
    move: int | None  # Number of ranks gained since the day in `since`. Null if there is no rank to compare with.
    is_new: bool  # True if the player was not on this board on the day in `since`.
    spark: list[float]  # The rating after each of the latest changes (at most 16), oldest first.
    newest_change: float | None  # Change in the pool's latest event, in points. Null for players who did not take part.
    newest_shown: float | None  # The change as displayed: the difference between the two displayed ratings.
    last_sequence: NotRequired[float]  # Number of the player's last rated event, in a pool with numbered events.


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
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    status: Literal["rated", "unrated", "voided", "superseded"]  # Status.
    entrants: int  # Number of entrants.
    winners: list[str]  # The winner, or all winners if several share first place.
    most_gained: EntrantChange | None  # Largest gain. Null if no player gained.
    most_lost: EntrantChange | None  # Largest loss. Null if no player lost.
    headline: str  # Summary of the event in one or two sentences.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class Leaderboard(TypedDict):
    """A page of the leaderboard."""

    players: list[ListedRow]  # The players, best first.
    next: str | None  # Cursor for the next page. Null on the last page.
    listed: int  # Number of players on all pages.
    rated: int  # Number of players with a rating.
    since: date | None  # Day (00:00 UTC) from which `move` is measured. Null if there is no such day.
    newest: EventHeadline | None  # The pool's latest rated event, if there is one.
    provisional: list[ListedRow]  # Up to 20 provisional players, best first. Empty if they are ranked.
    since_sequence: NotRequired[float]  # In pools without dates: number of the event at which the comparison starts.


class RatingCount(TypedDict):
    """The number of players whose ratings fall within the same one-point range."""

    rating: int  # A whole number. It stands for all ratings from this number up to the next whole number.
    players: int  # Number of players with such a rating.


class CareerChange(TypedDict):
    """The effect of an event, or of the start of a season, on one player's rating."""

    event_id: str | None  # Event. Null for the start of a season.
    started_at: datetime | None  # Start time of the event. Null in a pool with numbered events.
    rating_before: float  # The rating before the change, in points.
    delta: float  # The change, in points.
    rating: float  # The rating after the change, in points.
    sequence: NotRequired[float]  # Number of the event, in a pool with numbered events.


class PlayerDetail(TypedDict):
    """What a pool says about a player besides the rating."""

    player: str  # The player's name.
    country: str | None  # Country, or null.
    club: str | None  # Club, or null.
    division: str | None  # Division, or null.
    link: str | None  # Web address, or null.
    ids: NotRequired[dict[str, str]]  # IDs by program, if the pool shows them to readers.


class PlayerDetails(TypedDict):
    """A player's rank and history."""

    player: str  # The player's current name.
    rank: int  # Rank; 1 is the best. Players with equal ratings share the best of their ranks.
    players: int  # Number of players with a rating.
    percentile: float  # Percentage of players with the same or a lower rating.
    rating: float  # The rating, in points.
    events: int  # Number of rated events in which the player has taken part.
    last_played_at: datetime | None  # Start of the player's last rated event. Null in a pool with numbered events.
    history: list[CareerChange]  # The latest changes, newest first.
    details: NotRequired[PlayerDetail]  # Country, club, division and link of a player who has some.
    last_sequence: NotRequired[float]  # Number of the player's last rated event, in a pool with numbered events.


class BoardRow(TypedDict):
    """A player on a board. Filtered boards and boards for a past date also include the system's other values."""

    rank: int  # Rank; 1 is the best. Players with equal ratings share the best of their ranks.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    events: int  # Number of rated events in which the player has taken part.
    last_played_at: datetime | None  # Start of the player's last rated event. Null in a pool with numbered events.
    provisional: bool  # True if the rating is provisional.
    deviation: float | None  # Uncertainty of the rating, in points. Null if the system has no deviation.
    score: float  # The number that decides the rank, as the pool shows it. Many systems rank by the rating itself.
    tier: str | None  # Tier of the score. Null if the pool has no tiers, or the score is below the lowest.
    last_sequence: NotRequired[float]  # Number of the player's last rated event, in a pool with numbered events.


class ShownChange(TypedDict):
    """A change as it is displayed. `before` and `change` add up to `after`."""

    before: float  # The rating before the change.
    change: float  # The change.
    after: float  # The rating after the change.


class ReasonGroup(TypedDict):
    """Reasons that belong together: a heat, an opponent, a group of opponents of similar strength, or another cause."""

    kind: str  # Kind of group: `heat`, `opponent`, `band` or `cause`.
    label: str  # Label of the group.
    result: str  # Result as text, such as "won 4 of 5". Empty if the group is not about opponents.
    duels: int  # Number of duels in the group.
    expected: float  # Number of duels the player was expected to win.
    won: float  # Number of duels won. A draw counts as half.
    points: float  # Contribution to the change, in points.
    shown: float  # Points rounded for display. They add up to the displayed change.


class DuelCount(TypedDict):
    """The number of duels that a player won, and the number expected from the ratings."""

    count: int  # Number of duels in which the player took part.
    won: float  # Number of duels won. A draw counts as half.
    expected: float  # Number of duels the player was expected to win.
    headline: str  # A sentence that gives the three numbers.
    meaning: str  # Explanation of the word "duel" in this event.
    not_compared: str  # Players who are not compared, with the reason. Empty if everybody is compared.


class StandingLine(TypedDict):
    """A player's line in a heat, or in the overall result."""

    heat: str | None  # Heat. Null if the event has only one heat.
    player: str  # The player.
    team: str | None  # The team, if any.
    place: int | None  # Place. Ties share the best place.
    status: str  # Finish status as submitted.
    score: float | None  # The score, as submitted.
    time_s: float | None  # The time in seconds, as submitted.
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
    group: int  # Number of the group to which the reason belongs, counting from 0.
    shown: float  # The contribution in points, rounded for display.


class ExplainedChange(TypedDict):
    """The reasons why an event changed a player's rating."""

    event_id: str  # The event.
    player: str  # The player's current name.
    rating_before: float  # The rating before the change, in points.
    delta: float  # The change, in points. It is the sum of all contributions.
    words: str  # The reasons in a few sentences.
    outcome: str  # The player's outcome, as text. Empty if the player was not compared with anyone.
    verdict: str  # A sentence about the player's place and rating change.
    cause: str  # Sentence about the main reason. Empty if there is no main reason.
    shown: ShownChange  # The change, rounded for display.
    groups: list[ReasonGroup]  # The reasons, combined into a few groups.
    duels: DuelCount  # Number of duels that the player won, and the number expected.
    ranked_by: str  # Sentence about the rule that decided the order.
    standings: list[StandingLine]  # Rows of the result.
    method: str  # How the change is divided among the reasons if it is not a sum over duels. Otherwise empty.
    shared: str  # Sentence about the change in the rating of the player's equipment, or empty.
    reasons: list[Reason]  # All the reasons, one by one.


class ReasonTotal(TypedDict):
    """The points due to one kind of reason."""

    # The kind of reason.
    reason: Literal[
        "won", "drawn", "lost", "ahead of quitters", "quit", "margins", "time away", "bonus", "season", "other"
    ]
    points: float  # Points due to reasons of this kind.
    shown: float  # These points, rounded to one decimal place. All kinds add up to the displayed change.
    count: int  # Number of duels or causes of this kind.
    events: list[str]  # The events in which these reasons occurred, oldest first.


class ReasonTotals(TypedDict):
    """The reasons why a player's rating changed over several events."""

    player: str  # The player's name.
    events: int  # Number of events.
    won: int  # Number of these events that the player won.
    change: float  # The change in the rating over these events, in points.
    shown: float  # The sum of the displayed changes, to one decimal place.
    summary: str  # The main reasons, in a sentence.
    reasons: list[ReasonTotal]  # The kinds of reasons behind the change.


class AlternativeChange(TypedDict):
    """The effect that an event would have had if one thing had been different."""

    words: str  # A description of what is different.
    delta: float  # The rating change that would have resulted, in points.
    shown: float  # The change, rounded for display.
    better: float  # Difference from the actual change in points, rounded for display. Negative if worse.


class AlternativeChanges(TypedDict):
    """The effect of an event on a player, and the effect it would have had with different results."""

    event_id: str  # The event.
    player: str  # The player's current name.
    rating_before: float  # The rating before the change, in points.
    delta: float  # The actual change, in points.
    shown: float  # The change, rounded for display.
    alternatives: list[AlternativeChange]  # The alternatives. In each, one thing is different.


class Equipment(TypedDict):
    """A piece of shared equipment, and its effect on the results of all its users."""

    kind: str  # Kind of equipment, such as `car`.
    name: str  # Current name of the equipment.
    points: float  # Number of points that it adds to the rating of the player who uses it.
    deviation: float | None  # Uncertainty of these points.
    events: int  # Number of rated events in which it was used.
    last_played_at: datetime | None  # Start of the player's last rated event. Null in a pool with numbered events.
    last_sequence: NotRequired[float]  # Number of the player's last rated event, in a pool with numbered events.


class Moved(TypedDict):
    """The effect of a correction."""

    events: int  # Number of events in which a rating change was affected.
    players: int  # Number of players for whom a rating change was affected.
    largest: float  # Largest difference in any rating, in points. 0 if no rating is different.


class LogRecord(TypedDict):
    """An entry of the log, for an action on a pool."""

    seq: int  # The entry's number. Later entries have higher numbers, and numbers are never reused.
    place: int | None  # Position in the hash chain, counting from 1. Null if the entry is not in the chain.
    hash: str | None  # Hexadecimal hash of the log up to this entry. Null if the entry is not in the chain.
    kind: str  # Kind of entry, such as submit, amend, void, unvoid, register or merge.
    subject: str  # ID of the event or match, name of the season, or number of the player.
    player: str | None  # Current name of the player concerned, or null.
    into: str | None  # Player that the account was merged into. Null for other entries.
    received_at: datetime  # When the entry was received.
    actor: str  # Name of the key, or the name given to the command.
    reason: str | None  # Reason. Null if no reason was given, or if it was deleted.
    moved: Moved | None  # Effect of a correction. Null for other entries and in imported pools.


class PlayerIds(TypedDict):
    """A player's IDs in other programs."""

    player: str  # The player's name.
    discord: str | None  # ID in Discord, or null.
    steam: str | None  # ID in Steam, or null.
    fide: str | None  # FIDE ID, or null.
