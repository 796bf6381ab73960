"""The service's answers, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict


class PoolSummary(TypedDict):
    """A ladder."""

    name: str  # Its name.
    system: str  # The system that rates it.
    parameters: dict[str, bool | int | float | str | None]  # The system's parameters by name; `none` where one is off.
    notice: str | None  # How many players are beyond what the system can rate, and what suits, if any.
    title: str  # What pages call it; empty where they use its name.
    contact: str  # Who corrects results: a mail address, or that of a page; or empty.
    player_word: str  # What one player is called, like rider; empty for player.
    public: bool  # Whether its pages and reads need no key.
    # `dated` if its events have dates, `sequence` if numbers. Null if neither an event nor the pool says it.
    order: Literal["dated", "sequence"] | None
    version: int  # Its newest log entry; other answers name theirs in the header `Pool-Version`.


class Totals(TypedDict):
    """How much moved, or would move."""

    events: int  # Events with a change that moved; seasons are among them.
    players: int  # Players who have one.
    changes: int  # Changes that are new, other or gone.
    largest: float  # The most that the rating after any one change moved; or 0.


class Effect(TypedDict):
    """How a change moves."""

    event_id: str | None  # The event; null where a season began.
    player: str  # The player's name as it is now.
    rating_was: float | None  # The rating after the event until now; null if none.
    rating: float | None  # The rating after it from now on; null if none.


class Rerated(TypedDict):
    """How many changes of ratings moved, or would move."""

    rerated: int  # Their number.
    totals: NotRequired[Totals]  # How much would move; left out if it is done.
    effects: NotRequired[list[Effect]]  # The largest changes that would move; left out if it is done.
    next: NotRequired[str]  # For `effects_after`; left out if no effect follows.


class Season(TypedDict):
    """A season."""

    name: str  # Its name.
    starts_at: datetime | None  # When it begins; null in a numbered pool.
    keep: float  # The share of each lead over a newcomer that stays, from 0 to 1.
    sequence: NotRequired[float]  # The number of its first event in a numbered pool.


class Change(TypedDict):
    """A change of a player's rating by an event."""

    player: str  # The player's name as it is now.
    rating_before: float  # The rating before, in points.
    rating: float  # The rating after, in points.
    delta: float  # The change, in points.
    deviation: float | None  # How uncertain the rating is then, in points; null if the system does not say.
    provisional: bool  # Whether the rating is not settled yet then.


class Head(TypedDict):
    """The newest entry of a pool's log. It identifies all entries up to it."""

    place: int  # The number of entries up to it.
    hash: str  # SHA-256, in hexadecimal digits.


class Receipt(TypedDict):
    """What became of an event that was sent."""

    event_id: str  # The event.
    seq: int  # The number of its submission in the log; 0 in a dry run of a new one.
    status: Literal["rated", "unrated", "voided", "superseded"]  # What became of it.
    reason: str  # Why it is not rated; empty where it is.
    duplicate: bool  # Whether it was known, with this very content.
    changes: list[Change]  # Its own changes of ratings, in the order of its rows.
    rerated: int  # How many changes of other events it moved.
    effects: list[Effect]  # Of a dry run, on its first receipt: the largest changes that would move.
    totals: Totals | None  # Of a dry run, on its first receipt: how much would move.
    next: str | None  # For `effects_after`; null where no effect follows.
    warnings: list[str]  # Which new players have names like those of others.
    head: Head | None  # Keep it: `podium verify --head` finds what was removed since. Null in a dry run.
    # If the system learns from its pool: what a late result or a correction moves. Of a pool's first events: that they
    # have numbers and no dates.
    notice: NotRequired[str]


class ResultRow(TypedDict):
    """An entrant's line in one heat of an event; what the result does not say is left out."""

    player: str  # The player's name as it is now.
    mode: NotRequired[str]  # The kind of event.
    heat: NotRequired[str]  # The heat.
    team: NotRequired[str]  # The player's side.
    position: NotRequired[float]  # The place; 1 is best.
    time_s: NotRequired[float]  # The time, in seconds.
    score: NotRequired[float]  # The score; more is better.
    team_score: NotRequired[float]  # The score of the team.
    status: NotRequired[Literal["finished", "quit", "dnf", "disqualified", "did_not_start"]]  # How it ended.
    played_s: NotRequired[float]  # Seconds that the player took part.
    duration_s: NotRequired[float]  # Seconds that the heat took.
    ranked: NotRequired[bool]  # Whether the event counts.
    handicap: NotRequired[bool]  # Whether the player had a handicap.
    side: NotRequired[str]  # home or white: it was at home.
    shared: NotRequired[dict[str, str]]  # What the player had or shared with others, by kind.
    weight: NotRequired[float]  # How many events it counts as.


class EventDetails(TypedDict):
    """An event as it stands, and what it did."""

    event_id: str  # The event.
    seq: int  # The number of its submission in the log.
    started_at: datetime | None  # When it started; null in a numbered pool.
    title: str | None  # What people call it, where that was sent.
    url: str | None  # A page about it, where one was sent.
    status: Literal["rated", "unrated", "voided", "superseded"]  # What became of it.
    reason: str  # Why it is not rated; empty where it is.
    match_id: str | None  # The registered match whose result it is, if any.
    corrected: bool  # Whether its content is another than was submitted.
    version: str  # Its version, which is its ETag: for the If-Match of a correction.
    entries: list[ResultRow]  # Its content, in the order of its rows.
    changes: list[Change]  # The changes of ratings, in the order of its rows.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class RegisteredMatch(TypedDict):
    """A match that was registered."""

    match_id: str  # The match.
    entrants: list[str]  # Who plays, by their names as they are now.
    expires_at: datetime  # Until when it waits for a result.
    status: Literal["open", "reported", "expired"]  # What became of it.
    results: list[str]  # Its results, the event that counts first.


class NewName(TypedDict):
    """A player's new name."""

    name: str  # What the player is called from now on.


class Anonymization(TypedDict):
    """What anonymizing a player replaces."""

    player: str  # The player's name now.
    name: str  # The name that the player gets.
    ids: dict[str, str]  # New ids of events, matches, fixtures and seasons whose ids mention a name, by id.
    entries: int  # Log entries with a title, a team, an id or another text that mentions a name.
    reasons: int  # Reasons that mention a name; their texts are deleted.


class Moved(TypedDict):
    """What a correction moved."""

    events: int  # Events with a change that moved.
    players: int  # Players who have one.
    largest: float  # The most that the rating after any one change moved; or 0.


class LogRecord(TypedDict):
    """An entry of the log: something that was done to a ladder."""

    seq: int  # Its number: rising, and never used again.
    place: int | None  # Its place in the chain, from 1; null outside it.
    hash: str | None  # Of all up to it, hexadecimal; null outside it.
    kind: str  # What was done: submit, amend, void, restore, register, merge and so on.
    subject: str  # The event, match or season by its name; a player by number.
    player: str | None  # The player whom it is about, as called now; or null.
    into: str | None  # As whom a merged player goes on; null of anything else.
    received_at: datetime  # When it came.
    actor: str  # Who did it: the name of a key, or what a command was given.
    reason: str | None  # Why; null where no reason was given, or it is blanked.
    moved: Moved | None  # What a correction moved; null of anything else, and in an imported pool.


class BoardRow(TypedDict):
    """A player on a board; on a filtered one, or one as of a date, the system's other numbers stand beside these."""

    rank: int  # 1 is best; equal ratings share the best of their ranks.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    provisional: bool  # Whether the rating is not settled yet.
    deviation: float | None  # How uncertain the rating is, in points; null if the system does not say.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class BoardPage(TypedDict):
    """A page of the leaderboard."""

    players: list[BoardRow]  # The players, best first.
    next: str | None  # The cursor of the page after it; null where there is none.


class RatingCount(TypedDict):
    """How many players there are within a point."""

    rating: int  # A whole rating: counted are ratings from it up to the next.
    players: int  # Their number.


class CareerChange(TypedDict):
    """What an event, or the start of a season, did to the rating of one player."""

    event_id: str | None  # The event; null where a season began.
    started_at: datetime | None  # When it started; null in a numbered pool.
    rating_before: float  # The rating before, in points.
    delta: float  # The change, in points.
    rating: float  # The rating after, in points.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class PlayerDetails(TypedDict):
    """A player's rank and history."""

    player: str  # The player's name as it is now.
    rank: int  # 1 is best; equal ratings share the best of their ranks.
    players: int  # How many players have a rating.
    percentile: float  # The share of players who are not rated above, from 0 to 100.
    rating: float  # The rating, in points.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    history: list[CareerChange]  # The newest changes, newest first.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class DailyRank(TypedDict):
    """A player's rank at 00:00 UTC of a day, or in a numbered pool before an event."""

    day: date | None  # The day; null in a numbered pool.
    rank: int  # 1 is best; equal ratings share the best of their ranks.
    rating: float  # The rating, in points.
    sequence: NotRequired[float]  # The event in a numbered pool.


class HindsightPoint(TypedDict):
    """How strong a player was at an event, knowing all since."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    rating: float  # What the rating would be, in points.
    deviation: float  # How uncertain it is, in points.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class BestEver(TypedDict):
    """A player where the curve of hindsight is highest."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    rating: float  # What the rating would be, in points.
    deviation: float  # How uncertain it is, in points.
    player: str  # The player.
    above_next: float | None  # The chance of having truly been above the next; null of the last.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class BestEverBoard(TypedDict):
    """The best ever, in hindsight; no rating that counts."""

    as_of: date  # The day on which it was worked out.
    players: list[BestEver]  # The settled, highest peak first: at most 50.


class ShownChange(TypedDict):
    """A change as people read it; before and change add up to after."""

    before: float  # The rating before.
    change: float  # The change.
    after: float  # The rating after.


class ReasonGroup(TypedDict):
    """Reasons that belong together: a heat, an opponent, a band of strength, or another cause."""

    kind: str  # What they have in common: `heat`, `opponent`, `band` or `cause`.
    label: str  # What it is called.
    result: str  # How the player did in it, in words; empty for a cause.
    duels: int  # Duels in it.
    expected: float  # Duels that the ratings promised.
    won: float  # Duels won; a draw is a half.
    points: float  # What it adds to the change, in points.
    shown: float  # The points as people read them; they add up to the change.


class DuelCount(TypedDict):
    """How many duels a player won, and how many the ratings promised."""

    count: int  # Duels of the player.
    won: float  # Duels won; a draw is a half.
    expected: float  # Duels that the ratings promised.
    headline: str  # The three in a sentence.
    meaning: str  # What a duel is in this event.
    not_compared: str  # Who is not compared, and why; empty where everybody is.


class StandingLine(TypedDict):
    """A player's line in a heat, or in the overall result."""

    heat: str | None  # The heat; null where the event has one only.
    player: str  # The player.
    team: str | None  # The team, if any.
    place: int | None  # The place; ties share the best of theirs.
    status: str  # What became of the player, as it was sent.
    score: float | None  # The score, as it was sent.
    time_s: float | None  # The time in seconds, as it was sent.
    gap_s: float | None  # The seconds behind the first.


class Reason(TypedDict):
    """A part of a change: a comparison with an opponent, or another cause."""

    player: str  # The player whose rating changed.
    opponent: str | None  # The opponent; null for another cause.
    heat: str | None  # The heat; empty where the event has one only.
    result: float | None  # The score against the opponent, from 0 to 1.
    expected: float | None  # The score that was expected, from 0 to 1.
    weight: float | None  # How many times the comparison counts.
    contribution: float  # What it adds to the change, in points.
    cause: str  # `opponent`, or what else moved the rating.
    gap: float | None  # How far above the player the opponent was rated, in points.
    group: int  # The number of its group, from 0.
    shown: float  # The contribution as people read it.


class ExplainedChange(TypedDict):
    """Why an event moved a player's rating."""

    event_id: str  # The event.
    player: str  # The player's name as it is now.
    rating_before: float  # The rating before, in points.
    delta: float  # The change, in points: the sum of the contributions.
    words: str  # The reasons in a few sentences.
    outcome: str  # How the player did; empty where nobody was compared.
    verdict: str  # Place and change in a sentence.
    cause: str  # What moved the rating most, in a sentence; empty where nothing did.
    shown: ShownChange  # The change as people read it.
    groups: list[ReasonGroup]  # The reasons, a few groups of them.
    duels: DuelCount  # Duels won, and expected.
    ranked_by: str  # What decided the event, in a sentence.
    standings: list[StandingLine]  # Who stood where in the event.
    method: str  # How a change is divided that is no sum over duels; else empty.
    shared: str  # What the result was worth to what the player had, or empty.
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
    summary: str  # The most important of it in a sentence.
    reasons: list[ReasonTotal]  # Each kind of reason that there was.


class AlternativeChange(TypedDict):
    """What an event would have done with one thing changed."""

    words: str  # What is changed.
    delta: float  # The change then, in points.
    shown: float  # The change as people read it.
    better: float  # How much more that is than it was, as people read it.


class AlternativeChanges(TypedDict):
    """An event as it was for a player, and as it would have been."""

    event_id: str  # The event.
    player: str  # The player's name as it is now.
    rating_before: float  # The rating before, in points.
    delta: float  # The change as it was, in points.
    shown: float  # The change as people read it.
    alternatives: list[AlternativeChange]  # One thing changed each.


class SharedThing(TypedDict):
    """Something that entrants share, and what the results say of it whoever had it."""

    kind: str  # What it is, as `car`.
    name: str  # Its name as it is now.
    points: float  # What it adds to the rating of whoever has it, in points.
    deviation: float | None  # How uncertain that is, in points.
    events: int  # Rated events in which somebody had it.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class RankedPlayer(TypedDict):
    """A player at 00:00 UTC of a day, or in a numbered pool before an event."""

    rank: int  # 1 is best; equal ratings share the best of their ranks.
    player: str  # The player's name as it is now.
    rating: float  # The rating, in points.
