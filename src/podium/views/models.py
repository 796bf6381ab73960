"""Answers read from a store, for the HTTP API, commands and pages.

Each start is a time, or in a pool without dates a number. The other of the two is None.
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
from podium.views.names import EVENT_STATUSES

Row = TypeVar("Row")
STARTED = "When it started; null in a numbered pool."
LAST_PLAYED = "When the player's last rated event started; null in a numbered pool."


def either(moment: str, number: str) -> Any:
    """The one that there is of an answer's two fields: its moment, or in a numbered pool its number."""
    return property(lambda each: getattr(each, moment) if getattr(each, number) is None else getattr(each, number))


@answer_part
class Started:
    """An object with a start: the time `started_at`, or a number in a pool without dates."""

    __slots__ = ()
    sequence: float | None = described("Its number in a numbered pool.", default=None, kw_only=True)
    when = either("started_at", "sequence")


@answer_part
class Compared:
    """An object compared with the ranks of a day, `since`, or, in a pool without dates, before an event."""

    __slots__ = ()

    since_sequence: float | None = described(
        "Number of the event before which the ranks are compared (pools without dates).", default=None, kw_only=True
    )

    since_when = either("since", "since_sequence")  # None where nothing is compared


@answer_part
class LastPlayed:
    """A player with the last event: the time `last_played_at`, or a number in a pool without dates."""

    __slots__ = ()

    last_sequence: float | None = described(
        "The number of the player's last rated event in a numbered pool.", default=None, kw_only=True
    )

    last_when = either("last_played_at", "last_sequence")


@answer
class PoolSummary:
    """A pool."""

    name: str = described("Its name.")
    system: str = described("The system that rates it.")
    parameters: Mapping[str, bool | int | float | str | None] = described(
        "Parameters of the system by name; `none` if one is off."
    )
    notice: str | None = described(
        "Note if events have more players than the system can rate, with suitable systems. Null if there are none."
    )
    title: str = described("Title on pages. Empty if pages use the name.")
    contact: str = described("Email address or page of the person who corrects results, or empty.")
    player_word: str = described("Word for one player, such as rider. Empty for player.")
    public: bool = described("True if its pages and data can be read without a key.")
    order: Order | None = described(
        "`dated` if its events have dates, `sequence` if numbers. Null if neither an event nor the pool says it."
    )
    version: int = described("Number of its newest log entry. Other responses have it in the header `Pool-Version`.")


@answer
class KeyDetails:
    """An API key."""

    id: int = described("Number of the key.")
    name: str = described("Name of the program or person that uses it.")
    role: str = described("`read`, `write` or `admin`.", enum=("read", "write", "admin"))
    pool: str | None = described("Pool that it opens. Null for all pools.")
    per_second: float | None = described("Requests per second. Null for no limit.")
    backdating_limit_s: float | None = described("Maximum age of events in seconds. Null for no limit.")
    created_at: datetime = described("Time of creation.")
    expires_at: datetime | None = described("Time when it expires. Null for never.")
    revoked_at: datetime | None = described("Time when it was revoked or expired. Null while it is valid.")
    last_used_at: datetime | None = described("Time of the last request, to a minute. Null before the first.")
    secret: str | None = described("The key itself, only in the answer that creates it.", default=None)


@answer
class WebhookDetails:
    """A receiver of what happens in a pool."""

    id: int = described("Number of the webhook.")
    url: str = described("Its URL. For a chat only the host and the last four characters.")
    format: str = described(
        "`json`, or the chat that gets messages.", enum=("json", "discord", "slack", "matrix", "text")
    )
    delivered_seq: int = described("Number of the newest log entry that the receiver has taken.")
    failing_since: datetime | None = described("Time of the first failure since the last success, or null.")
    last_error: str = described("The last failure, or empty.")
    stopped: bool = described("True if it failed for five days or the receiver wants no more.")
    created_at: datetime = described("Time of creation.")
    secret: str | None = described("Secret of the signatures, only in the answer that creates it.", default=None)


@answer
class LogEntry:
    """A log entry that a webhook gets. The receiver may get one twice, with the same `webhook-id`."""

    pool: str = described("Name of the pool.")
    seq: int = described("Its number in the log, rising.")
    kind: str = described("Kind of entry: submit, amend, void, restore, register, merge and so on, or test.")
    event_id: str | None = described("The event of a result or correction.", default=None)
    status: str | None = described("Status of that event.", default=None, enum=EVENT_STATUSES)
    reason: str | None = described("Reason why that event is not rated, or empty.", default=None)
    changes: tuple[Change, ...] | None = described("Rating changes of that event.", default=None)
    match_id: str | None = described("The registered match.", default=None)
    season: str | None = described("The season that began.", default=None)


@answer
class Moved:
    """The effect of a correction."""

    events: int = described("Events with a change that moved.")
    players: int = described("Players who have one.")
    largest: float = described("Largest difference in any rating, in points, or 0.")


@answer
class LogRecord:
    """An entry of the log: something that was done to a pool."""

    seq: int = described("Its number: rising, and never used again.")
    place: int | None = described("Position in the hash chain, from 1. Null outside it.")
    hash: str | None = described(
        "Hash of the log up to and including this entry, hexadecimal. Null for entries that are not in the chain."
    )
    kind: str = described("Kind of entry: submit, amend, void, unvoid, register, merge and so on.")
    subject: str = described("Name of the event, match or season, or number of the player.")
    player: str | None = described("Current name of the player concerned, or null.")
    into: str | None = described("Player into whom the account was merged. Null for other entries.")
    received_at: datetime = described("When it came.")
    actor: str = described("Name of the key, or the name given to the command.")
    reason: str | None = described("Reason. Null if none was given, or if it was deleted.")
    moved: Moved | None = described("Effect of a correction. Null for other entries and in imported pools.")


@answer
class BoardRow(LastPlayed):
    """A player on a board. Filtered boards and boards of a past date also have the system's other numbers."""

    rank: int = described("Rank, 1 is the best. Equal ratings share the best of their ranks.")
    player: str = described("The player's name.")
    rating: float = described("The rating, in points.")
    events: int = described("Rated events of the player.")
    last_played_at: datetime | None = described(LAST_PLAYED)
    provisional: bool = described("True if the rating is provisional.")
    deviation: float | None = described("Uncertainty of the rating, in points. Null if the system has none.")


@answer
class RatingCount:
    """The number of players within one point."""

    rating: int = described("A whole rating: counted are ratings from it up to the next.")
    players: int = described("Their number.")


@answer
class PlayerRank(LastPlayed):
    """Where a player stands."""

    player: str = described("The player's name as it is now.")
    rank: int = described("Rank, 1 is the best. Equal ratings share the best of their ranks.")
    players: int = described("Number of players with a rating.")
    percentile: float = described("Percentage of players with the same or a lower rating.")
    rating: float = described("The rating, in points.")
    events: int = described("Rated events of the player.")
    last_played_at: datetime | None = described(LAST_PLAYED)


@answer
class CareerChange(Started):
    """The effect of an event, or of the start of a season, on one player's rating."""

    event_id: str | None = described("Event. Null for the start of a season.")
    started_at: datetime | None = described(STARTED)
    rating_before: float = described("The rating before, in points.")
    delta: float = described("The change, in points.")
    rating: float = described("The rating after, in points.")


@answer
class PlayerDetails(PlayerRank):
    """A player's rank and history."""

    history: tuple[CareerChange, ...] = described("The newest changes, newest first.")


@answer
class DailyRank:
    """A player's rank at 00:00 UTC of a day, or in a numbered pool before an event."""

    day: date | None = described("Day. Null in a pool without dates.")
    rank: int = described("Rank, 1 is the best. Equal ratings share the best of their ranks.")
    rating: float = described("The rating, in points.")
    sequence: float | None = described("The event in a numbered pool.", default=None)


@answer
class RankedPlayer:
    """A player at 00:00 UTC of a day, or in a numbered pool before an event."""

    rank: int = described("Rank, 1 is the best. Equal ratings share the best of their ranks.")
    player: str = described("The player's name as it is now.")
    rating: float = described("The rating, in points.")


@answer
class ComparedPlayer(PlayerRank):
    """Where one of two players stands."""

    expected: float = described("The expected score against the other, from 0 to 1.")


@answer
class CommonEvent(Started):
    """An event in which two players met. Heats are won, drawn and lost by the first; none between team mates."""

    event_id: str = described("The event.")
    started_at: datetime | None = described(STARTED)
    wins: int = described("Heats that the first player won.")
    draws: int = described("Heats that were drawn.")
    losses: int = described("Heats that the first player lost.")
    delta: float = described("Rating change of the first player in the event, in points.")
    other_delta: float = described("Rating change of the other player, in points.")
    title: str | None = described("Title of the event, or null.")
    rank: int | None = described("Rank of the first player in the event. Null if unknown.")
    other_rank: int | None = described("Rank of the other player.")
    lead: float = described("Lead of the first player over the other before the event, in points.")
    shown: float = described("The first player's change as people read it.")
    other_shown: float = described("The other player's change as people read it.")


@answer
class Comparison:
    """A comparison of two players."""

    players: tuple[ComparedPlayer, ...] = described("Both, in the order of the request.")
    wins: int = described("Heats that the first player won, in all their common events.")
    draws: int = described("Heats that were drawn.")
    losses: int = described("Heats that the first player lost.")
    meetings: tuple[CommonEvent, ...] = described("Their newest common events, newest first.")


@answer
class Rivalry:
    """A short comparison of two players."""

    players: tuple[ComparedPlayer, ...]  # both, in the order of the request
    meetings: int
    ahead: int  # of them, in how many the first was ahead
    behind: int  # in how many the other was
    mean_lead: float | None  # how far above the other the first was rated before them; None where they have not met
    newest: tuple[CommonEvent, ...]  # newest first
    newest_ahead: tuple[int, ...]  # of each of these, who was ahead: 1 the first, -1 the other, 0 neither


@answer
class ResultRow:
    """An entrant's line in one heat of an event; what the result does not say is left out."""

    player: str = described("The player's name as it is now.")
    mode: str | None = described("The kind of event.", default=None)
    heat: str | None = described("The heat.", default=None)
    team: str | None = described("The player's side.", default=None)
    position: float | None = described("Place, 1 is the best.", default=None)
    time_s: float | None = described("The time, in seconds.", default=None)
    score: float | None = described("Score; higher is better.", default=None)
    team_score: float | None = described("The score of the team.", default=None)
    status: str | None = described("How it ended.", default=None, enum=STATUSES)
    played_s: float | None = described("Seconds that the player took part.", default=None)
    duration_s: float | None = described("Seconds that the heat took.", default=None)
    ranked: bool | None = described("True if the event counts for ratings.", default=None)
    handicap: bool | None = described("True if the player had a handicap.", default=None)
    side: str | None = described("home or white: it was at home.", default=None)
    shared: dict[str, str] | None = described("Equipment of the player, by kind.", default=None)
    weight: float | None = described("Weight of the event: 2 counts like two events.", default=None)


@answer
class EventDetails(Started):
    """An event with its results and effects."""

    event_id: str = described("The event.")
    seq: int = described("The number of its submission in the log.")
    started_at: datetime | None = described(STARTED)
    title: str | None = described("Title, if one was submitted.")
    url: str | None = described("Address of a page about the event, if one was submitted.")
    status: str = described("Status.", enum=EVENT_STATUSES)
    reason: str = described("Reason why it is not rated. Empty if it is rated.")
    match_id: str | None = described("The registered match whose result it is, if any.")
    corrected: bool = described("True if the content was changed after submission.")
    version: str = described("Version (ETag). Send it as If-Match with a correction.")
    entries: tuple[ResultRow, ...] = described("Its content, in the order of its rows.")
    changes: tuple[Change, ...] = described("The changes of ratings, in the order of its rows.")


@answer
class Season:
    """A season."""

    name: str = described("Its name.")
    starts_at: datetime | None = described("Start time. Null in a pool without dates.")
    keep: float = described("The share of each lead over a newcomer that stays, from 0 to 1.")
    sequence: float | None = described("The number of its first event in a numbered pool.", default=None)
    when = either("starts_at", "sequence")


@answer
class EntrantChances:
    """An entrant's chances in a field."""

    player: str = described("The entrant.")
    rating: float = described("The rating, in points.")
    events: int = described("Rated events of the player; 0 for a newcomer.")
    win: float = described("The chance to win, from 0 to 1.")
    top: float = described("The chance to be among the first, from 0 to 1.")
    mean_rank: float = described("The mean of the ranks.")


@answer
class RankChance:
    """The chance of an entrant to take a rank."""

    player: str = described("The entrant.")
    rank: int = described("Rank, 1 is the best.")
    chance: float = described("Its chance, from 0 to 1.")


@answer
class PairChance:
    """The expected score of two entrants in a heat."""

    player: str = described("The player.")
    opponent: str = described("The opponent.")
    expected: float = described("The player's expected score, from 0 to 1.")


@answer
class FieldChances:
    """The chances of a field."""

    entrants: tuple[EntrantChances, ...] = described("The entrants, the likeliest winner first.")
    newcomers: tuple[str, ...] = described("Those who have not played, misspelt names among them.")
    ranks: tuple[RankChance, ...] = described("Every entrant with every rank.")
    pairs: tuple[PairChance, ...] = described("Every entrant with every other.")


def rows_as(kind: type[Row], table: pl.DataFrame) -> tuple[Row, ...]:
    """The rows of a table, each as a dataclass whose fields are columns; those without a column have their default."""
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
    """Return an answer with the given values, and other fields from a source with the same names."""
    model: Any = kind
    return kind(**{name: getattr(source, name) for name in field_names(model) if name not in given}, **given)


@cache
def field_names(kind: Any) -> list[str]:
    """Return the names of a dataclass's fields."""
    return [each.name for each in fields(kind)]


def field_chances(forecast: Forecast) -> FieldChances:
    """The chances of a field, row by row."""
    return FieldChances(
        rows_as(EntrantChances, forecast.entrants),
        forecast.newcomers,
        rows_as(RankChance, forecast.ranks),
        rows_as(PairChance, forecast.pairs),
    )
