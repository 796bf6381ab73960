"""What is to be different from what the tables say: a submission or a correction that nothing is stored of yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from podium.store.log.log import LogEntry
from podium.store.log.pools import OrderKey, Pool
from podium.store.sql.among import among, values
from podium.store.sql.schema import log

FIRST_PLACEHOLDER = 2**61  # for numbers of log entries that are not drawn yet: after every number that is
SELECT_BODIES = sa.select(log.c.seq, log.c.body).where(among(log.c.seq))
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
        """Read an event from its row."""
        return cls(*(getattr(row, name) for name in cls._fields[:-1]))

    @property
    def key(self) -> OrderKey:
        """The event's position in the order of rating."""
        return OrderKey(self.started_at, self.seq)

    @property
    def counts(self) -> bool:
        """Whether the event is to be rated."""
        return self.status not in (VOIDED, SUPERSEDED)


class NewSeason(NamedTuple):
    """A season that is to begin."""

    name: str
    started_at: int  # microseconds since 1970, UTC
    keep: float
    seq: int = FIRST_PLACEHOLDER


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be logged, and what it makes different in the tables; numbers of new entries are placeholders."""

    pool: Pool  # with the system that it is to have
    kind: str
    entries: tuple[LogEntry, ...]
    touched: tuple[OrderKey, ...]  # where ratings may move: from the first of them on; nowhere where there is none
    events: Mapping[str, EventRow] = field(default_factory=dict)  # those that are new or other, by id
    newcomers: Mapping[int, str] = field(default_factory=dict)  # names of players whose numbers are provisional
    names: Mapping[int, str] = field(default_factory=dict)  # that players have now, of those who are known by then
    merged: Mapping[int, int] | None = None  # as `merges` has them; None where they stay
    season: NewSeason | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # of the pool's row, that are to be other
    refuses_unrateable: bool = True  # whether it is refused where an event cannot be rated that could be before

    @property
    def first(self) -> OrderKey:
        """Where rating is to begin."""
        return min(self.touched)

    def counting_events(self, connection: sa.Connection, first: OrderKey, end: OrderKey) -> list[EventRow]:
        """Its events that count, from a key up to another, with their contents."""
        events = [each for each in self.events.values() if each.counts and first <= each.key < end]
        unread = values(each.content_seq for each in events if each.body is None)
        bodies = dict(connection.execute(SELECT_BODIES, {"among": unread}).all())
        return [each if each.body is not None else each._replace(body=bodies[each.content_seq]) for each in events]
