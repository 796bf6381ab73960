"""What is read from a store, as the HTTP API, commands and pages have it.

A field's `metadata` is what pydantic puts into the OpenAPI document of it. One that is `OPTIONAL` is left out of an
answer where it is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any, TypeVar

import polars as pl

from podium.ledger.forecast import Forecast
from podium.results.columns import SHARED, STATUSES, is_shared
from podium.store.log.order import Order, When
from podium.store.rating.events import EVENT_STATUSES, Change
from podium.store.reading.when import LAST_PLAYED, OPTIONAL, STARTED, LastPlayed, Started, drop_null

Row = TypeVar("Row")


def name_statuses(schema: dict[str, Any]) -> None:
    """Let a schema be that of an entrant's status, if there is one."""
    drop_null(schema)
    schema["enum"] = [*STATUSES]


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """A ladder."""

    name: str = field(metadata={"description": "Its name."})
    system: str = field(metadata={"description": "The system that rates it."})
    parameters: Mapping[str, bool | int | float | str | None] = field(
        metadata={"description": "The system's parameters by name; `none` where one is off."}
    )
    notice: str | None = field(
        metadata={"description": "How many players are beyond what the system can rate, and what suits, if any."}
    )
    title: str = field(metadata={"description": "What pages call it; empty where they use its name."})
    contact: str = field(metadata={"description": "Who corrects results: a mail address, or that of a page; or empty."})
    player_word: str = field(metadata={"description": "What one player is called, like rider; empty for player."})
    public: bool = field(metadata={"description": "Whether its pages and reads need no key."})
    order: Order | None = field(
        metadata={"description": "`dated` where its events have dates, `counted` where numbers; null before the first."}
    )
    version: int = field(
        metadata={"description": "Its newest log entry; other answers name theirs in the header `Pool-Version`."}
    )


@dataclass(frozen=True, slots=True)
class Moved:
    """What a correction moved."""

    events: int = field(metadata={"description": "Events with a change that moved."})
    players: int = field(metadata={"description": "Players who have one."})
    largest: float = field(metadata={"description": "The most that the rating after any one change moved; or 0."})


@dataclass(frozen=True, slots=True)
class LogRecord:
    """An entry of the log: something that was done to a ladder."""

    seq: int = field(metadata={"description": "Its number: rising, and never used again."})
    place: int | None = field(metadata={"description": "Its place in the chain, from 1; null outside it."})
    hash: str | None = field(metadata={"description": "Of all up to it, hexadecimal; null outside it."})
    kind: str = field(
        metadata={"description": "What was done: submit, amend, void, restore, register, merge and so on."}
    )
    subject: str = field(metadata={"description": "The event, match or season by its name; a player by number."})
    player: str | None = field(metadata={"description": "The player whom it is about, as called now; or null."})
    into: str | None = field(metadata={"description": "As whom a merged player goes on; null of anything else."})
    received_at: datetime = field(metadata={"description": "When it came."})
    actor: str = field(metadata={"description": "Who did it: the name of a key, or what a command was given."})
    reason: str | None = field(metadata={"description": "Why; null where no reason was given, or it is blanked."})
    moved: Moved | None = field(
        metadata={"description": "What a correction moved; null of anything else, and in an imported pool."}
    )


@dataclass(frozen=True, slots=True)
class BoardRow(LastPlayed):
    """A player on a board; on a filtered one, or one as of a date, the system's other numbers stand beside these."""

    rank: int = field(metadata={"description": "1 is best; equal ratings share the best of their ranks."})
    player: str = field(metadata={"description": "The player's name."})
    rating: float = field(metadata={"description": "The rating, in points."})
    events: int = field(metadata={"description": "Rated events of the player."})
    last_played_at: datetime | None = field(metadata=LAST_PLAYED)
    provisional: bool = field(metadata={"description": "Whether the rating is not settled yet."})
    deviation: float | None = field(
        metadata={"description": "How uncertain the rating is, in points; null if the system does not say."}
    )


@dataclass(frozen=True, slots=True)
class BoardPage:
    """A page of the leaderboard."""

    players: tuple[BoardRow, ...] = field(metadata={"description": "The players, best first."})
    next: str | None = field(metadata={"description": "The cursor of the page after it; null where there is none."})


@dataclass(frozen=True, slots=True)
class RatingCount:
    """How many players there are within a point."""

    rating: int = field(metadata={"description": "A whole rating: counted are ratings from it up to the next."})
    players: int = field(metadata={"description": "Their number."})


@dataclass(frozen=True, slots=True)
class PlayerRank(LastPlayed):
    """Where a player stands."""

    player: str = field(metadata={"description": "The player's name as it is now."})
    rank: int = field(metadata={"description": "1 is best; equal ratings share the best of their ranks."})
    players: int = field(metadata={"description": "How many players have a rating."})
    percentile: float = field(metadata={"description": "The share of players who are not rated above, from 0 to 100."})
    rating: float = field(metadata={"description": "The rating, in points."})
    events: int = field(metadata={"description": "Rated events of the player."})
    last_played_at: datetime | None = field(metadata=LAST_PLAYED)


@dataclass(frozen=True, slots=True)
class CareerChange(Started):
    """What an event, or the start of a season, did to the rating of one player."""

    event_id: str | None = field(metadata={"description": "The event; null where a season began."})
    started_at: datetime | None = field(metadata=STARTED)
    rating_before: float = field(metadata={"description": "The rating before, in points."})
    delta: float = field(metadata={"description": "The change, in points."})
    rating: float = field(metadata={"description": "The rating after, in points."})


@dataclass(frozen=True, slots=True)
class PlayerDetails(PlayerRank):
    """A player's rank and history."""

    history: tuple[CareerChange, ...] = field(metadata={"description": "The newest changes, newest first."})


@dataclass(frozen=True, slots=True)
class DailyRank:
    """A player's rank at 00:00 UTC of a day, or in a counted pool before an event."""

    day: date | None = field(metadata={"description": "The day; null in a counted pool."})
    rank: int = field(metadata={"description": "1 is best; equal ratings share the best of their ranks."})
    rating: float = field(metadata={"description": "The rating, in points."})
    sequence: float | None = field(default=None, metadata=OPTIONAL | {"description": "The event in a counted pool."})


@dataclass(frozen=True, slots=True)
class RankedPlayer:
    """A player at 00:00 UTC of a day, or in a counted pool before an event."""

    rank: int = field(metadata={"description": "1 is best; equal ratings share the best of their ranks."})
    player: str = field(metadata={"description": "The player's name as it is now."})
    rating: float = field(metadata={"description": "The rating, in points."})


@dataclass(frozen=True, slots=True)
class ComparedPlayer(PlayerRank):
    """Where one of two players stands."""

    expected: float = field(metadata={"description": "The expected score against the other, from 0 to 1."})


@dataclass(frozen=True, slots=True)
class CommonEvent(Started):
    """An event in which two players met. Heats are won, drawn and lost by the first; none between team mates."""

    event_id: str = field(metadata={"description": "The event."})
    started_at: datetime | None = field(metadata=STARTED)
    wins: int = field(metadata={"description": "Heats that the first player won."})
    draws: int = field(metadata={"description": "Heats that were drawn."})
    losses: int = field(metadata={"description": "Heats that the first player lost."})
    delta: float = field(metadata={"description": "The change of the first player's rating by the event, in points."})
    other_delta: float = field(metadata={"description": "The change of the other's."})
    title: str | None = field(metadata={"description": "What people call the event; null where it has no title."})
    rank: int | None = field(metadata={"description": "The first player's rank in it; null where none is known."})
    other_rank: int | None = field(metadata={"description": "The other's."})
    lead: float = field(metadata={"description": "How far above the other the first was rated before it, in points."})
    shown: float = field(metadata={"description": "The first player's change as people read it."})
    other_shown: float = field(metadata={"description": "The other's."})


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two players beside each other."""

    players: tuple[ComparedPlayer, ...] = field(metadata={"description": "Both, in the order of the request."})
    wins: int = field(metadata={"description": "Heats that the first player won, in all their common events."})
    draws: int = field(metadata={"description": "Heats that were drawn."})
    losses: int = field(metadata={"description": "Heats that the first player lost."})
    meetings: tuple[CommonEvent, ...] = field(metadata={"description": "Their newest common events, newest first."})


@dataclass(frozen=True, slots=True)
class Rivalry:
    """Two players beside each other at a glance."""

    players: tuple[ComparedPlayer, ...]  # both, in the order of the request
    meetings: int
    ahead: int  # of them, in how many the first was ahead
    behind: int  # in how many the other was
    mean_lead: float | None  # how far above the other the first was rated before them; None where they have not met
    newest: tuple[CommonEvent, ...]  # newest first
    newest_ahead: tuple[int, ...]  # of each of these, who was ahead: 1 the first, -1 the other, 0 neither


@dataclass(frozen=True, slots=True)
class ResultRow:
    """An entrant's line in one heat of an event; what the result does not say is left out."""

    player: str = field(metadata={"description": "The player's name as it is now."})
    mode: str | None = field(default=None, metadata=OPTIONAL | {"description": "The kind of event."})
    heat: str | None = field(default=None, metadata=OPTIONAL | {"description": "The heat."})
    team: str | None = field(default=None, metadata=OPTIONAL | {"description": "The player's side."})
    position: float | None = field(default=None, metadata=OPTIONAL | {"description": "The place; 1 is best."})
    time_s: float | None = field(default=None, metadata=OPTIONAL | {"description": "The time, in seconds."})
    score: float | None = field(default=None, metadata=OPTIONAL | {"description": "The score; more is better."})
    team_score: float | None = field(default=None, metadata=OPTIONAL | {"description": "The score of the team."})
    status: str | None = field(
        default=None,
        metadata=OPTIONAL | {"description": "How it ended.", "json_schema_extra": name_statuses},
    )
    played_s: float | None = field(
        default=None, metadata=OPTIONAL | {"description": "Seconds that the player took part."}
    )
    duration_s: float | None = field(default=None, metadata=OPTIONAL | {"description": "Seconds that the heat took."})
    ranked: bool | None = field(default=None, metadata=OPTIONAL | {"description": "Whether the event counts."})
    handicap: bool | None = field(
        default=None, metadata=OPTIONAL | {"description": "Whether the player had a handicap."}
    )
    side: str | None = field(default=None, metadata=OPTIONAL | {"description": "home or white: it was at home."})
    shared: dict[str, str] | None = field(
        default=None, metadata=OPTIONAL | {"description": "What the player had or shared with others, by kind."}
    )
    weight: float | None = field(default=None, metadata=OPTIONAL | {"description": "How many events it counts as."})


@dataclass(frozen=True, slots=True)
class EventDetails(Started):
    """An event as it stands, and what it did."""

    event_id: str = field(metadata={"description": "The event."})
    seq: int = field(metadata={"description": "The number of its submission in the log."})
    started_at: datetime | None = field(metadata=STARTED)
    title: str | None = field(metadata={"description": "What people call it, where that was sent."})
    url: str | None = field(metadata={"description": "A page about it, where one was sent."})
    status: str = field(
        metadata={"description": "What became of it.", "json_schema_extra": {"enum": [*EVENT_STATUSES]}}
    )
    reason: str = field(metadata={"description": "Why it is not rated; empty where it is."})
    match_id: str | None = field(metadata={"description": "The registered match whose result it is, if any."})
    corrected: bool = field(metadata={"description": "Whether its content is another than was submitted."})
    version: str = field(metadata={"description": "Its version, which is its ETag: for the If-Match of a correction."})
    entries: tuple[ResultRow, ...] = field(metadata={"description": "Its content, in the order of its rows."})
    changes: tuple[Change, ...] = field(metadata={"description": "The changes of ratings, in the order of its rows."})


@dataclass(frozen=True, slots=True)
class Season:
    """A season."""

    name: str = field(metadata={"description": "Its name."})
    starts_at: datetime | None = field(metadata={"description": "When it begins; null in a counted pool."})
    keep: float = field(metadata={"description": "The share of each lead over a newcomer that stays, from 0 to 1."})
    sequence: float | None = field(
        default=None, metadata=OPTIONAL | {"description": "The number of its first event in a counted pool."}
    )

    @property
    def when(self) -> When:
        """The one of both that there is."""
        when: Any = self.starts_at if self.sequence is None else self.sequence
        return when  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class EntrantChances:
    """An entrant's chances in a field."""

    player: str = field(metadata={"description": "The entrant."})
    rating: float = field(metadata={"description": "The rating, in points."})
    events: int = field(metadata={"description": "Rated events of the player; 0 of a newcomer."})
    win: float = field(metadata={"description": "The chance to win, from 0 to 1."})
    top: float = field(metadata={"description": "The chance to be among the first, from 0 to 1."})
    mean_rank: float = field(metadata={"description": "The mean of the ranks."})


@dataclass(frozen=True, slots=True)
class RankChance:
    """The chance of an entrant to take a rank."""

    player: str = field(metadata={"description": "The entrant."})
    rank: int = field(metadata={"description": "The rank; 1 is best."})
    chance: float = field(metadata={"description": "Its chance, from 0 to 1."})


@dataclass(frozen=True, slots=True)
class PairChance:
    """What is expected of two entrants in a heat of their own."""

    player: str = field(metadata={"description": "One."})
    opponent: str = field(metadata={"description": "The other."})
    expected: float = field(metadata={"description": "The expected score of the one, from 0 to 1."})


@dataclass(frozen=True, slots=True)
class FieldChances:
    """The chances of a field."""

    entrants: tuple[EntrantChances, ...] = field(metadata={"description": "The entrants, the likeliest winner first."})
    newcomers: tuple[str, ...] = field(
        metadata={"description": "Those who have not played, misspelt names among them."}
    )
    ranks: tuple[RankChance, ...] = field(metadata={"description": "Every entrant with every rank."})
    pairs: tuple[PairChance, ...] = field(metadata={"description": "Every entrant with every other."})


def rows_as(kind: type[Row], table: pl.DataFrame) -> tuple[Row, ...]:
    """The rows of a table, each as a dataclass whose fields are columns; those without a column have their default."""
    model: Any = kind
    shared = [name for name in table.columns if is_shared(name)]
    if shared:
        cells = table.select(pl.col(name).alias(name.removeprefix(SHARED)) for name in shared).to_dicts()
        given = [{name: value for name, value in row.items() if value is not None} or None for row in cells]
        table = table.with_columns(pl.Series("shared", given, pl.Object))
    present = set(table.columns)
    columns = [each.name for each in fields(model) if each.name in present]
    return tuple(kind(**dict(zip(columns, row, strict=True))) for row in table[columns].rows())


def extended(kind: type[Row], base: Any, **more: Any) -> Row:
    """A dataclass with all that one of its base class has, and more."""
    return kind(**{each.name: getattr(base, each.name) for each in fields(base)}, **more)


def field_chances(forecast: Forecast) -> FieldChances:
    """The chances of a field, row by row."""
    return FieldChances(
        rows_as(EntrantChances, forecast.entrants),
        forecast.newcomers,
        rows_as(RankChance, forecast.ranks),
        rows_as(PairChance, forecast.pairs),
    )
