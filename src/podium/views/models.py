"""Responses read from a store, for the HTTP API, commands and pages.

Each start is either a time or, in a pool without dates, a number. The other field is None.
"""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from functools import cache
from typing import Any, TypeVar

import polars as pl

from podium.ledger.forecast import Forecast
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
    """A pool."""

    name: str = described("Name of the pool.")
    system: str = described("The pool's rating system.")
    parameters: Mapping[str, bool | int | float | str | None] = described(
        "The system's parameters by name; `none` if switched off."
    )
    notice: str | None = described(
        "A note that names suitable systems if events have too many players for this system. Otherwise null."
    )
    title: str = described("Title shown on pages. Empty if pages show the pool's name instead.")
    contact: str = described("Email address or web page of the person who corrects results, or empty.")
    player_word: str = described("Word for a single player, such as rider. Empty means player.")
    public: bool = described("True if anyone can read its pages and data without a key.")
    time_zone: str = described("Time zone of dates on pages and in messages. Empty means UTC.")
    points_scheme: str = described("Points of the championship, such as `f1 drop=2`. Empty if there is none.")
    display: str = described(
        "Scale of shown scores, tiers, and `ids=public`, such as `factor=100 tiers=Bronze:0,Silver:1400`, or empty."
    )
    reports: str = described(
        "When results that players report count, such as `50% 48h`. Empty if players cannot report."
    )
    order: Order | None = described("`dated`, or `sequence` for numbered events. Null if not decided yet.")
    version: int = described(
        "Number of the pool's latest log entry. Other responses have it in the `Pool-Version` header."
    )


@answer
class GroupRank:
    """A club, country or division, ranked by its best players."""

    rank: int | None = described("Rank. Null if too few of its players count.")
    name: str = described("Name of the club, country or division.")
    score: float = described("Mean score of its best players.")
    players: int = described("Number of its players who count.")
    best: tuple[str, ...] = described("Its best players, best first.")


@answer
class KeyDetails:
    """An API key."""

    id: int = described("Number of the key.")
    name: str = described("Name of the program or person that uses the key.")
    role: str = described("`read`, `write` or `admin`.", enum=("read", "write", "admin"))
    pool: str | None = described("Pool that the key gives access to. Null means all pools.")
    per_second: float | None = described("Number of requests allowed per second. Null means no limit.")
    backdating_limit_s: float | None = described("Maximum age of events in seconds. Null means no limit.")
    created_at: datetime = described("Time of creation.")
    expires_at: datetime | None = described("Time when the key expires. Null means never.")
    revoked_at: datetime | None = described("Time when the key was revoked or expired. Null while the key is valid.")
    last_used_at: datetime | None = described(
        "Time of the last request, to the minute. Null if there has been no request yet."
    )
    secret: str | None = described("The key itself, returned only in the response that creates it.", default=None)


@answer
class WebhookDetails:
    """A receiver of everything that happens in a pool."""

    id: int = described("Number of the webhook.")
    url: str = described("URL of the receiver. For a chat, only the host and the last four characters are shown.")
    format: str = described("`json`, or the chat service.", enum=("json", "discord", "slack", "matrix", "text"))
    delivered_seq: int = described("Number of the latest log entry that the receiver has accepted.")
    failing_since: datetime | None = described("Time of the first failure since the last success, or null.")
    last_error: str = described("The last failure, or empty.")
    stopped: bool = described(
        "True if deliveries have failed for five days or the receiver has refused further messages."
    )
    created_at: datetime = described("Time of creation.")
    secret: str | None = described(
        "Signing secret, returned only in the response that creates the webhook.", default=None
    )


@answer
class LogEntry:
    """A log entry that a webhook sends. The receiver may get an entry twice, with the same `webhook-id`."""

    pool: str = described("Name of the pool.")
    seq: int = described("The entry's number in the log. Later entries have higher numbers.")
    kind: str = described("Kind of entry, such as submit, amend, void, restore, register, merge or test.")
    event_id: str | None = described("The event that the result or correction belongs to.", default=None)
    status: str | None = described("Status of that event.", default=None, enum=EVENT_STATUSES)
    reason: str | None = described("Reason why that event is not rated, or empty.", default=None)
    changes: tuple[Change, ...] | None = described("Rating changes in that event.", default=None)
    match_id: str | None = described("The registered match.", default=None)
    season: str | None = described("The season that began.", default=None)


@answer
class Moved:
    """The effect of a correction."""

    events: int = described("Number of events in which a rating change was affected.")
    players: int = described("Number of players for whom a rating change was affected.")
    largest: float = described("Largest difference in any rating, in points. 0 if no rating is different.")


@answer
class LogRecord:
    """An entry of the log, for an action on a pool."""

    seq: int = described("The entry's number. Later entries have higher numbers, and numbers are never reused.")
    place: int | None = described("Position in the hash chain, counting from 1. Null if the entry is not in the chain.")
    hash: str | None = described("Hexadecimal hash of the log up to this entry. Null if the entry is not in the chain.")
    kind: str = described("Kind of entry, such as submit, amend, void, unvoid, register or merge.")
    subject: str = described("ID of the event or match, name of the season, or number of the player.")
    player: str | None = described("Current name of the player concerned, or null.")
    into: str | None = described("Player that the account was merged into. Null for other entries.")
    received_at: datetime = described("When the entry was received.")
    actor: str = described("Name of the key, or the name given to the command.")
    reason: str | None = described("Reason. Null if no reason was given, or if it was deleted.")
    moved: Moved | None = described("Effect of a correction. Null for other entries and in imported pools.")


@answer
class BoardRow(LastPlayed):
    """A player on a board. Filtered boards and boards for a past date also include the system's other values."""

    rank: int = described("Rank; 1 is the best. Players with equal ratings share the best of their ranks.")
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    events: int = described("Number of rated events in which the player has taken part.")
    last_played_at: datetime | None = described(LAST_PLAYED)
    provisional: bool = described("True if the rating is provisional.")
    deviation: float | None = described("Uncertainty of the rating, in points. Null if the system has no deviation.")
    score: float = described(SCORE)
    tier: str | None = described(TIER)


@answer
class RatingCount:
    """The number of players whose ratings fall within the same one-point range."""

    rating: int = described("A whole number. It stands for all ratings from this number up to the next whole number.")
    players: int = described("Number of players with such a rating.")


@answer
class PlayerRank(LastPlayed):
    """The rank of a player."""

    player: str = described("The player's current name.")
    rank: int = described("Rank; 1 is the best. Players with equal ratings share the best of their ranks.")
    players: int = described("Number of players with a rating.")
    percentile: float = described("Percentage of players with the same or a lower rating.")
    rating: float = described("The rating, in points.")
    events: int = described("Number of rated events in which the player has taken part.")
    last_played_at: datetime | None = described(LAST_PLAYED)


@answer
class CareerChange(Started):
    """The effect of an event, or of the start of a season, on one player's rating."""

    event_id: str | None = described("Event. Null for the start of a season.")
    started_at: datetime | None = described(STARTED)
    rating_before: float = described("The rating before the change, in points.")
    delta: float = described("The change, in points.")
    rating: float = described("The rating after the change, in points.")


@answer
class PlayerDetails(PlayerRank):
    """A player's rank and history."""

    history: tuple[CareerChange, ...] = described("The latest changes, newest first.")
    details: PlayerDetail | None = described(DETAILS_OF, default=None)


@answer
class DailyRank:
    """A player's rank at 00:00 UTC on a day or, in a numbered pool, before an event."""

    day: date | None = described("Day. Null in a pool without dates.")
    rank: int = described("Rank; 1 is the best. Players with equal ratings share the best of their ranks.")
    rating: float = described("The rating, in points.")
    sequence: float | None = described("Number of the event, in a pool with numbered events.", default=None)


@answer
class RankedPlayer:
    """A player's rank and rating at 00:00 UTC on a day or, in a numbered pool, before an event."""

    rank: int = described("Rank; 1 is the best. Players with equal ratings share the best of their ranks.")
    player: str = described("The player's current name.")
    rating: float = described("The rating, in points.")


@answer
class ComparedPlayer(PlayerRank):
    """The rank and rating of one of the two players who are compared."""

    expected: float = described("Expected score against the other player, from 0 to 1.")


@answer
class CommonEvent(Started):
    """An event in which two players met. Heats in which they were team mates are not counted."""

    event_id: str = described("The event.")
    started_at: datetime | None = described(STARTED)
    wins: int = described("Number of heats that the first player won.")
    draws: int = described("Number of heats that were drawn.")
    losses: int = described("Number of heats that the first player lost.")
    delta: float = described("The first player's rating change in the event, in points.")
    other_delta: float = described("Rating change of the other player, in points.")
    title: str | None = described("Title of the event, or null.")
    rank: int | None = described("Rank of the first player in the event. Null if unknown.")
    other_rank: int | None = described("Rank of the other player in the event.")
    lead: float = described("Lead of the first player over the other before the event, in points.")
    shown: float = described("The first player's change, rounded for display.")
    other_shown: float = described("The other player's change, rounded for display.")


@answer
class Comparison:
    """A comparison of two players."""

    players: tuple[ComparedPlayer, ...] = described("Both players, in the order of the request.")
    wins: int = described("Number of heats that the first player won, in all events in which both took part.")
    draws: int = described("Number of heats that were drawn.")
    losses: int = described("Number of heats that the first player lost.")
    meetings: tuple[CommonEvent, ...] = described("The latest events in which both players took part, newest first.")
    draw: float | None = described(
        "The chance that a duel of the two is drawn, from 0 to 1. Only in pools with drawn duels.", default=None
    )


@answer
class Rivalry:
    """A short comparison of two players."""

    players: tuple[ComparedPlayer, ...]  # both players, in the order of the request
    meetings: int
    ahead: int  # number of them in which the first player was ahead
    behind: int  # number of them in which the other player was ahead
    mean_lead: float | None  # the first player's lead in rating before the meetings; None if there are none
    newest: tuple[CommonEvent, ...]  # newest first
    newest_ahead: tuple[int, ...]  # player ahead in each of these: 1 the first, -1 the other, 0 neither
    draw: float | None  # the chance that a duel is drawn; None in pools without drawn duels


@answer
class ResultRow:
    """An entrant's result in one heat of an event. Fields that the result does not contain are omitted."""

    player: str = described("The player's current name.")
    mode: str | None = described("The kind of event.", default=None)
    heat: str | None = described("The heat.", default=None)
    team: str | None = described("The player's side.", default=None)
    position: float | None = described("Place; 1 is the best.", default=None)
    time_s: float | None = described("The time, in seconds.", default=None)
    score: float | None = described("Score; higher is better.", default=None)
    team_score: float | None = described("The score of the team.", default=None)
    status: str | None = described("How the heat ended for the player.", default=None, enum=STATUSES)
    played_s: float | None = described("Number of seconds for which the player took part.", default=None)
    duration_s: float | None = described("Duration of the heat in seconds.", default=None)
    ranked: bool | None = described("True if the event counts towards ratings.", default=None)
    handicap: float | None = described("Number of handicap stones, or 1 with any other handicap.", default=None)
    side: str | None = described("`home` for the home side, or `white` for the side that moves first.", default=None)
    awards: str | None = described("Awards such as the fastest lap, separated by commas.", default=None)
    age_group: float | None = described("Oldest age in the player's group, such as 18.", default=None)
    shared: dict[str, str] | None = described("Equipment that the player used, by kind.", default=None)
    weight: float | None = described(
        "Weight of the event. An event with weight 2 counts like two events.", default=None
    )


@answer
class EventDetails(Started):
    """An event with its results and rating changes."""

    event_id: str = described("The event.")
    seq: int = described("Number of the log entry that submitted the event.")
    started_at: datetime | None = described(STARTED)
    title: str | None = described("Title, if one was submitted.")
    url: str | None = described("Address of a page about the event, if one was submitted.")
    status: str = described("Status.", enum=EVENT_STATUSES)
    reason: str = described("Reason why the event is not rated. Empty if it is rated.")
    match_id: str | None = described("The registered match that this result belongs to, if any.")
    corrected: bool = described("True if the content was changed after submission.")
    version: str = described(
        "Version of the event (ETag). Send it in the `If-Match` header when you correct the event."
    )
    entries: tuple[ResultRow, ...] = described(
        "The rows of the event's result, in the order in which they were submitted."
    )
    changes: tuple[Change, ...] = described("The rating changes, in the same order as the rows.")


@answer
class Season:
    """A season."""

    name: str = described("Name of the season.")
    starts_at: datetime | None = described("Start time. Null in a pool without dates.")
    keep: float = described("Share of each lead over a newcomer that is kept, from 0 to 1.")
    sequence: float | None = described(
        "Number of the season's first event, in a pool with numbered events.", default=None
    )
    widens: bool = described(
        "True if the uncertainty of each rating grew by as many points as the season deducted from it.",
        default=False,
    )
    when = either("starts_at", "sequence")


@answer
class EntrantChances:
    """An entrant's chances against the other entrants."""

    player: str = described("The entrant.")
    rating: float = described("The rating, in points.")
    events: int = described("Number of rated events in which the player has taken part. 0 for a newcomer.")
    win: float = described("The chance of winning, from 0 to 1.")
    top: float = described("The chance of finishing in a top place, from 0 to 1.")
    mean_rank: float = described("The player's average predicted rank.")
    draw: float | None = described(
        "The chance of a draw, from 0 to 1. Only for two sides, in pools with drawn duels.", default=None
    )


@answer
class RankChance:
    """The chance that an entrant takes a given rank."""

    player: str = described("The entrant.")
    rank: int = described("Rank; 1 is the best.")
    chance: float = described("The chance of this rank, from 0 to 1.")


@answer
class PairChance:
    """The expected score of one entrant against another in a heat."""

    player: str = described("The player.")
    opponent: str = described("The opponent.")
    expected: float = described("The player's expected score, from 0 to 1.")


@answer
class FieldChances:
    """Each entrant's chances against the others."""

    entrants: tuple[EntrantChances, ...] = described("The entrants, most likely winner first.")
    newcomers: tuple[str, ...] = described("Entrants who have not played before, including misspelt names.")
    ranks: tuple[RankChance, ...] = described("The chance of every rank, for each entrant.")
    pairs: tuple[PairChance, ...] = described("The expected score of each entrant against each other entrant.")


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


def field_chances(forecast: Forecast) -> FieldChances:
    """Return each entrant's chances against the others, row by row."""
    return FieldChances(
        rows_as(EntrantChances, forecast.entrants),
        forecast.newcomers,
        rows_as(RankChance, forecast.ranks),
        rows_as(PairChance, forecast.pairs),
    )
