"""Events as they stand, their versions, the changes of ratings of each, and proposals of other ones.

Whoever corrects an event may say which version the correction is of.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podium.errors import UnknownError
from podium.log.database import StoreError
from podium.log.log import LogEntry
from podium.log.removed import public_ids
from podium.pool.columns import NONE
from podium.pool.snapshot import Event
from podium.store.following import PoolReader

FIRST_PLACEHOLDER = 2**61  # for numbers of log entries that are not drawn yet: after every number that is
RATED, UNRATED, VOIDED, SUPERSEDED = EVENT_STATUSES = "rated", "unrated", "voided", "superseded"


AGAIN, SKIP = "again", "skip_known"  # store results that look like known ones, or leave them out


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
    """Log entries to append, and what is stored beside the log; numbers of new entries are placeholders."""

    pool: PoolReader  # with the system that it is to have
    kind: str
    entries: tuple[LogEntry, ...] = ()  # none if everything is as it is to be already
    sent: Mapping[str, int] = field(default_factory=dict)  # the events that are answered, with the number of the sender
    known: Collection[str] = ()  # those of them about which nothing is new
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by event
    newcomers: Mapping[int, str] = field(default_factory=dict)  # names of players whose numbers are provisional
    names: Mapping[int, str] = field(default_factory=dict)  # that players have now, of those who are known by then
    columns: Mapping[str, Any] = field(default_factory=dict)  # new values of the pool's row
    settles_order: bool = False  # whether its events are the pool's first, or all of them in another order
    sheet: SheetRecord | None = None  # where its events came in one
    refuses_unrateable: bool = True  # whether it is refused where an event cannot be rated that could be before


class StaleError(StoreError):
    """The event has changed since the version that a correction is of."""


def find_event(pool: PoolReader, event_id: str) -> Event:
    """Find an event by its id, or by the one that it had before it was anonymized.

    Raises:
        UnknownError: no such event.
    """
    events = pool.snapshot.events
    uid = events.find(event_id)
    if uid < 0:
        uid = max(map(events.find, public_ids(pool, [event_id]).values()), default=NONE)
    if uid < 0 or uid in events.seasons:
        raise UnknownError(f"there is no event {event_id!r} in pool {pool.name!r}")
    return events.event_of(uid)


def find_events(pool: PoolReader, event_ids: Iterable[str]) -> list[Event]:
    """Return the events that have these ids now, in their order; ids that no event has are skipped."""
    events = pool.snapshot.events
    return events.of_uids([uid for uid in events.ids.find_all([*event_ids]) if uid >= 0])


def version_of(event: Event) -> str:
    """Return the version of an event: it changes with the content, and when the event is voided or restored."""
    return f"{event.content_seq}-voided" if event.status == VOIDED else f"{event.content_seq}"


def require_version(event: Event, versions: Collection[str] | None) -> None:
    """Refuse a correction of another version than the event has."""
    if versions is not None and version_of(event) not in versions:
        raise StaleError(
            f"event {event.event_id!r} has changed since you read it. Read it again, and correct that version."
        )
