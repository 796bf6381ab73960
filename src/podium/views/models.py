"""Responses read from a store, for the HTTP API, commands and pages.

Each start is either a time or, in a pool without dates, a number. The other field is None.
"""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from functools import cache
from typing import Any, TypeVar

import polars as pl

from podium.log.pools import Order
from podium.results.columns import SHARED, STATUSES, is_shared
from podium.support.answers import answer, answer_part, described
from podium.views.changes import Change
from podium.views.details import PlayerDetail
from podium.views.names import EVENT_STATUSES

Row = TypeVar("Row")
DETAILS_OF = "Country, club, division and link of a player who has some."
STARTED = "Start time of the event. Null in a pool with numbered events."
SCORE = "The number that decides the rank, as the pool shows it. Many systems rank by the rating itself."
TIER = "Tier of the score. Null if the pool has no tiers, or the score is below the lowest."
LAST_PLAYED = "Start of the player's last rated event. Null in a pool with numbered events."


def either(moment: str, number: str) -> Any:
    """Return the field of a response that has a value: its time or, in a numbered pool, its number."""
    return property(lambda limit: getattr(limit, moment) if getattr(limit, number) is None else getattr(limit, number))


@answer_part
class Started:
    """An object with a start: the time `started_at`, or a number in a pool without dates."""

    __slots__ = ()
    sequence: float | None = described(
        "Number of the event, in a pool with numbered events.", default=None, kw_only=True
    )
    when = either("started_at", "sequence")


@answer_part
class Compared:
    """An object compared with the ranks on a day, `since`, or, in a pool without dates, before an event."""

    __slots__ = ()

    since_sequence: float | None = described(
        "In pools without dates: number of the event at which the comparison starts.",
        default=None,
        kw_only=True,
    )

    since_when = either("since", "since_sequence")  # None if nothing is compared


@answer_part
class LastPlayed:
    """A player with the time of the last event, `last_played_at`, or its number in a pool without dates."""

    __slots__ = ()

    last_sequence: float | None = described(
        "Number of the player's last rated event, in a pool with numbered events.", default=None, kw_only=True
    )

    last_when = either("last_played_at", "last_sequence")


@answer
class PoolSummary:
    """A pool.

    Attributes:
        name: Name of the pool.
        system: The pool's rating system.
        parameters: The system's parameters by name; `none` if switched off.
        notice: A note that names suitable systems if events have too many players for this system. Otherwise null.
        title: Title shown on pages. Empty if pages show the pool's name instead.
        contact: Email address or web page of the person who corrects results, or empty.
        player_word: Word for a single player, such as rider. Empty means player.
        public: True if anyone can read its pages and data without a key.
        time_zone: Time zone of dates on pages and in messages. Empty means UTC.
        points_scheme: Points of the championship, such as `f1 drop=2`. Empty if there is none.
        display: Scale of shown scores, tiers, and `ids=public`, such as `factor=100 tiers=Bronze:0,Silver:1400`, or
            empty.
        reports: When results that players report count, such as `50% 48h`. Empty if players cannot report.
        order: `dated`, or `sequence` for numbered events. Null if not decided yet.
        version: Number of the pool's latest log entry. Other responses have it in the `Pool-Version` header.
    """

    name: str
    system: str
    parameters: Mapping[str, bool | int | float | str | None]
    notice: str | None
    title: str
    contact: str
    player_word: str
    public: bool
    time_zone: str
    points_scheme: str
    display: str
    reports: str
    order: Order | None
    version: int


@answer
class GroupRank:
    """A club, country or division, ranked by its best players.

    Attributes:
        rank: Rank. Null if too few of its players count.
        name: Name of the club, country or division.
        score: Mean score of its best players.
        players: Number of its players who count.
        best: Its best players, best first.
    """

    rank: int | None
    name: str
    score: float
    players: int
    best: tuple[str, ...]


@answer
class KeyDetails:
    """An API key.

    Attributes:
        id: Number of the key.
        name: Name of the program or person that uses the key.
        pool: Pool that the key gives access to. Null means all pools.
        per_second: Number of requests allowed per second. Null means no limit.
        backdating_limit_s: Maximum age of events in seconds. Null means no limit.
        created_at: Time of creation.
        expires_at: Time when the key expires. Null means never.
        revoked_at: Time when the key was revoked or expired. Null while the key is valid.
        last_used_at: Time of the last request, to the minute. Null if there has been no request yet.
        secret: The key itself, returned only in the response that creates it.
    """

    id: int
    name: str
    role: str = described("`read`, `write` or `admin`.", enum=("read", "write", "admin"))
    pool: str | None
    per_second: float | None
    backdating_limit_s: float | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    secret: str | None = None


@answer
class WebhookDetails:
    """A receiver of everything that happens in a pool.

    Attributes:
        id: Number of the webhook.
        url: URL of the receiver. For a chat, only the host and the last four characters are shown.
        delivered_seq: Number of the latest log entry that the receiver has accepted.
        failing_since: Time of the first failure since the last success, or null.
        last_error: The last failure, or empty.
        stopped: True if deliveries have failed for five days or the receiver has refused further messages.
        created_at: Time of creation.
        secret: Signing secret, returned only in the response that creates the webhook.
    """

    id: int
    url: str
    format: str = described("`json`, or the chat service.", enum=("json", "discord", "slack", "matrix", "text"))
    delivered_seq: int
    failing_since: datetime | None
    last_error: str
    stopped: bool
    created_at: datetime
    secret: str | None = None


@answer
class LogEntry:
    """A log entry that a webhook sends. The receiver may get an entry twice, with the same `webhook-id`.

    Attributes:
        pool: Name of the pool.
        seq: The entry's number in the log. Later entries have higher numbers.
        kind: Kind of entry, such as submit, amend, void, restore, register, merge or test.
        event_id: The event that the result or correction belongs to.
        reason: Reason why that event is not rated, or empty.
        changes: Rating changes in that event.
        match_id: The registered match.
        season: The season that began.
    """

    pool: str
    seq: int
    kind: str
    event_id: str | None = None
    status: str | None = described("Status of that event.", default=None, enum=EVENT_STATUSES)
    reason: str | None = None
    changes: tuple[Change, ...] | None = None
    match_id: str | None = None
    season: str | None = None


@answer
class Moved:
    """The effect of a correction.

    Attributes:
        events: Number of events in which a rating change was affected.
        players: Number of players for whom a rating change was affected.
        largest: Largest difference in any rating, in points. 0 if no rating is different.
    """

    events: int
    players: int
    largest: float


@answer
class LogRecord:
    """An entry of the log, for an action on a pool.

    Attributes:
        seq: The entry's number. Later entries have higher numbers, and numbers are never reused.
        place: Position in the hash chain, counting from 1. Null if the entry is not in the chain.
        hash: Hexadecimal hash of the log up to this entry. Null if the entry is not in the chain.
        kind: Kind of entry, such as submit, amend, void, unvoid, register or merge.
        subject: ID of the event or match, name of the season, or number of the player.
        player: Current name of the player concerned, or null.
        into: Player that the account was merged into. Null for other entries.
        received_at: When the entry was received.
        actor: Name of the key, or the name given to the command.
        reason: Reason. Null if no reason was given, or if it was deleted.
        moved: Effect of a correction. Null for other entries and in imported pools.
    """

    seq: int
    place: int | None
    hash: str | None
    kind: str
    subject: str
    player: str | None
    into: str | None
    received_at: datetime
    actor: str
    reason: str | None
    moved: Moved | None


@answer
class BoardRow(LastPlayed):
    """A player on a board. Filtered boards and boards for a past date also include the system's other values.

    Attributes:
        rank: Rank; 1 is the best. Players with equal ratings share the best of their ranks.
        player: The player's name.
        rating: The rating, in points.
        events: Number of rated events in which the player has taken part.
        provisional: True if the rating is provisional.
        deviation: Uncertainty of the rating, in points. Null if the system has no deviation.
    """

    rank: int
    player: str
    rating: float
    events: int
    last_played_at: datetime | None = described(LAST_PLAYED)
    provisional: bool
    deviation: float | None
    score: float = described(SCORE)
    tier: str | None = described(TIER)


@answer
class RatingCount:
    """The number of players whose ratings fall within the same one-point range.

    Attributes:
        rating: A whole number. It stands for all ratings from this number up to the next whole number.
        players: Number of players with such a rating.
    """

    rating: int
    players: int


@answer
class PlayerRank(LastPlayed):
    """The rank of a player.

    Attributes:
        player: The player's current name.
        rank: Rank; 1 is the best. Players with equal ratings share the best of their ranks.
        players: Number of players with a rating.
        percentile: Percentage of players with the same or a lower rating.
        rating: The rating, in points.
        events: Number of rated events in which the player has taken part.
    """

    player: str
    rank: int
    players: int
    percentile: float
    rating: float
    events: int
    last_played_at: datetime | None = described(LAST_PLAYED)


@answer
class CareerChange(Started):
    """The effect of an event, or of the start of a season, on one player's rating.

    Attributes:
        event_id: Event. Null for the start of a season.
        rating_before: The rating before the change, in points.
        delta: The change, in points.
        rating: The rating after the change, in points.
    """

    event_id: str | None
    started_at: datetime | None = described(STARTED)
    rating_before: float
    delta: float
    rating: float


@answer
class PlayerDetails(PlayerRank):
    """A player's rank and history.

    Attributes:
        history: The latest changes, newest first.
    """

    history: tuple[CareerChange, ...]
    details: PlayerDetail | None = described(DETAILS_OF, default=None)


@answer
class DailyRank:
    """A player's rank at 00:00 UTC on a day or, in a numbered pool, before an event.

    Attributes:
        day: Day. Null in a pool without dates.
        rank: Rank; 1 is the best. Players with equal ratings share the best of their ranks.
        rating: The rating, in points.
        sequence: Number of the event, in a pool with numbered events.
    """

    day: date | None
    rank: int
    rating: float
    sequence: float | None = None


@answer
class RankedPlayer:
    """A player's rank and rating at 00:00 UTC on a day or, in a numbered pool, before an event.

    Attributes:
        rank: Rank; 1 is the best. Players with equal ratings share the best of their ranks.
        player: The player's current name.
        rating: The rating, in points.
    """

    rank: int
    player: str
    rating: float


@answer
class ResultRow:
    """An entrant's result in one heat of an event. Fields that the result does not contain are omitted.

    Attributes:
        player: The player's current name.
        mode: The kind of event.
        heat: The heat.
        team: The player's side.
        position: Place; 1 is the best.
        time_s: The time, in seconds.
        score: Score; higher is better.
        team_score: The score of the team.
        played_s: Number of seconds for which the player took part.
        duration_s: Duration of the heat in seconds.
        ranked: True if the event counts towards ratings.
        handicap: Number of handicap stones, or 1 with any other handicap.
        side: `home` for the home side, or `white` for the side that moves first.
        awards: Awards such as the fastest lap, separated by commas.
        age_group: Oldest age in the player's group, such as 18.
        shared: Equipment that the player used, by kind.
        weight: Weight of the event. An event with weight 2 counts like two events.
    """

    player: str
    mode: str | None = None
    heat: str | None = None
    team: str | None = None
    position: float | None = None
    time_s: float | None = None
    score: float | None = None
    team_score: float | None = None
    status: str | None = described("How the heat ended for the player.", default=None, enum=STATUSES)
    played_s: float | None = None
    duration_s: float | None = None
    ranked: bool | None = None
    handicap: float | None = None
    side: str | None = None
    awards: str | None = None
    age_group: float | None = None
    shared: dict[str, str] | None = None
    weight: float | None = None


@answer
class EventDetails(Started):
    """An event with its results and rating changes.

    Attributes:
        event_id: The event.
        seq: Number of the log entry that submitted the event.
        title: Title, if one was submitted.
        url: Address of a page about the event, if one was submitted.
        reason: Reason why the event is not rated. Empty if it is rated.
        match_id: The registered match that this result belongs to, if any.
        corrected: True if the content was changed after submission.
        version: Version of the event (ETag). Send it in the `If-Match` header when you correct the event.
        entries: The rows of the event's result, in the order in which they were submitted.
        changes: The rating changes, in the same order as the rows.
    """

    event_id: str
    seq: int
    started_at: datetime | None = described(STARTED)
    title: str | None
    url: str | None
    status: str = described("Status.", enum=EVENT_STATUSES)
    reason: str
    match_id: str | None
    corrected: bool
    version: str
    entries: tuple[ResultRow, ...]
    changes: tuple[Change, ...]


@answer
class Season:
    """A season.

    Attributes:
        name: Name of the season.
        starts_at: Start time. Null in a pool without dates.
        keep: Share of each lead over a newcomer that is kept, from 0 to 1.
        sequence: Number of the season's first event, in a pool with numbered events.
        widens: True if the uncertainty of each rating grew by as many points as the season deducted from it.
    """

    name: str
    starts_at: datetime | None
    keep: float
    sequence: float | None = None
    widens: bool = False
    when = either("starts_at", "sequence")


def rows_as(kind: type[Row], table: pl.DataFrame) -> tuple[Row, ...]:
    """Return the rows of a table as dataclasses. Fields are columns, and fields without a column have their default."""
    model: Any = kind
    shared = [name for name in table.columns if is_shared(name)]
    if shared:
        cells = table.select(pl.col(name).alias(name.removeprefix(SHARED)) for name in shared).to_dicts()
        given = [{name: value for name, value in row.items() if value is not None} or None for row in cells]
        table = table.with_columns(pl.Series("shared", given, pl.Object))
    present = set(table.columns)
    columns = [name for name in field_names(model) if name in present]
    return tuple(kind(**dict(zip(columns, row, strict=True))) for row in table[columns].rows())


def answer_from(kind: type[Row], source: Any, /, **given: Any) -> Row:
    """Return a response with these values. All other fields are copied from the source's fields of the same names."""
    model: Any = kind
    return kind(**{name: getattr(source, name) for name in field_names(model) if name not in given}, **given)


@cache
def field_names(kind: Any) -> list[str]:
    """Return the names of a dataclass's fields."""
    return [field.name for field in fields(kind)]
