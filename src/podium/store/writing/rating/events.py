"""Events as they stand: their rows and versions, and the changes of ratings of each.

Whoever corrects an event may say which version the correction is of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from podium.engine.replay import States
from podium.errors import UnknownError
from podium.ledger.history import are_settled
from podium.log.database import StoreError
from podium.log.log import CONFIGURE, LogEntry
from podium.log.pools import OrderKey, Pool, PoolView
from podium.log.removed import public_ids
from podium.log.schema import event
from podium.log.statements import among, of_pool
from podium.support.answers import described

FIRST_PLACEHOLDER = 2**61  # for numbers of log entries that are not drawn yet: after every number that is
RATED, UNRATED, VOIDED, SUPERSEDED = EVENT_STATUSES = "rated", "unrated", "voided", "superseded"


class EventRow(NamedTuple):
    """An event as it is to be: the columns of its row, and its content where the log does not have it yet."""

    event_id: str
    seq: int
    content_seq: int
    started_at: int  # microseconds since 1970, UTC
    status: str
    reason: str
    match_id: str | None
    present: int | None
    title: str | None = None
    url: str | None = None
    body: bytes | None = None

    @classmethod
    def from_row(cls, row: Any) -> Self:
        return cls(*(getattr(row, name) for name in cls._fields[:-1]))

    @property
    def key(self) -> OrderKey:
        return OrderKey(self.started_at, self.seq)

    @property
    def counts(self) -> bool:
        return self.status not in (VOIDED, SUPERSEDED)


AGAIN, SKIP = "again", "skip_known"  # store results that look like known ones, or leave them out


class NewSeason(NamedTuple):
    name: str
    started_at: int  # microseconds since 1970, UTC
    keep: float
    seq: int = FIRST_PLACEHOLDER


class BroughtEvent(NamedTuple):
    event_id: str
    own_id: str  # what the sheet calls it
    content_seq: int  # of the log entry with the content that the sheet had last
    is_gone: bool = False  # the sheet has it no more


class Sheet(NamedTuple):
    name: str
    map: str = ""  # what its columns mean, as TOML has it; empty where the headings say all
    prefix: str = ""  # of the ids of its new events, where others have those that it calls them by
    made: Mapping[str, str] = {}  # ids that Podium made: `podium.Results` has them
    has_made_dates: bool = False  # whether its dates were made up, and prove nothing
    answer: str = ""  # AGAIN or SKIP, for results that look like known ones


class SheetRecord(NamedTuple):
    name: str
    map: str  # what its columns mean, as TOML has it; empty where the headings say all
    events: Sequence[BroughtEvent]  # those of which something else is kept, or nothing yet
    changes: Any = None  # what became of the sheet as a whole, where it was compared


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be logged, and what it makes different in the tables; numbers of new entries are placeholders."""

    pool: PoolView  # with the system that it is to have
    kind: str
    entries: tuple[LogEntry, ...] = ()  # none where everything is as it is to be already
    affected: tuple[OrderKey, ...] = ()  # where ratings may move: from the first of them on
    sent: Mapping[str, int] = field(default_factory=dict)  # the events that are answered, with the number of the sender
    known: Mapping[str, OrderKey] = field(default_factory=dict)  # those of them about which nothing is new
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by event
    events: Mapping[str, EventRow] = field(default_factory=dict)  # those that are new or other, by id
    newcomers: Mapping[int, str] = field(default_factory=dict)  # names of players whose numbers are provisional
    names: Mapping[int, str] = field(default_factory=dict)  # that players have now, of those who are known by then
    merged: Mapping[int, int] | None = None  # as `merges` has them; None where they stay
    season: NewSeason | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # of the pool's row, that are to be other
    settles_order: bool = False  # whether its events are the pool's first, or all of them in another order
    sheet: SheetRecord | None = None  # where its events came in one
    refuses_unrateable: bool = True  # whether it is refused where an event cannot be rated that could be before

    @property
    def changes_order(self) -> bool:
        """Whether each event of the pool gets a number in place of its date, or a date."""
        return self.kind == CONFIGURE and self.settles_order

    @property
    def first_affected(self) -> OrderKey:
        return min(self.affected)

    @property
    def keys(self) -> dict[str, OrderKey]:
        return {each: self.known[each] if each in self.known else self.events[each].key for each in self.sent}


SELECT_NEWEST_START = sa.select(sa.func.max(event.c.started_at)).where(of_pool(event))
SELECT_EVENTS = sa.select(event).where(of_pool(event), among(event.c.event_id))


class StaleError(StoreError):
    """The event has changed since the version that a correction is of."""


@dataclass(slots=True)  # not frozen: a large batch has thousands, and each would take five times as long to make
class Change:
    """A change of a player's rating by an event."""

    player: str = described("The player's name as it is now.")
    rating_before: float = described("The rating before, in points.")
    rating: float = described("The rating after, in points.")
    delta: float = described("The change, in points.")
    deviation: float | None = described("How uncertain the rating is then, in points; null if the system does not say.")
    provisional: bool = described("Whether the rating is not settled yet then.")


def get_event(pool: PoolView, event_id: str) -> Any:
    rows = pool.fetch(SELECT_EVENTS, among=[event_id])
    rows = rows or pool.fetch(SELECT_EVENTS, among=public_ids(pool, [event_id]).values())
    if not rows:
        raise UnknownError(f"there is no event {event_id!r} in pool {pool.name!r}")
    return rows[0]


def changes_from(
    pool: Pool, names: Mapping[int, str], numbers: Sequence[int], before: Sequence[float], states: States
) -> list[Change]:
    """Return changes of players' ratings, by the ratings before and the states after."""
    ratings, settled = states[:, pool.system.column("rating")].tolist(), are_settled(pool.system, states).tolist()
    has_deviation = "deviation" in pool.system.state_type._fields
    deviations = states[:, pool.system.column("deviation")].tolist() if has_deviation else repeat(None, len(ratings))
    columns = zip(numbers, before, ratings, deviations, settled, strict=True)
    return [
        Change(names[number], old, rating, rating - old, deviation, not is_settled)
        for number, old, rating, deviation, is_settled in columns
    ]


def version_of(row: Any) -> str:
    """The version of an event's row: it changes with the content, and when the event is voided or restored."""
    return f"{row.content_seq}-voided" if row.status == VOIDED else f"{row.content_seq}"


def require_version(row: Any, versions: Collection[str] | None) -> None:
    """Refuse a correction of another version than the event has."""
    if versions is not None and version_of(row) not in versions:
        raise StaleError(
            f"event {row.event_id!r} has changed since you read it. Read it again, and correct that version."
        )
