"""Events as they stand, their versions, the changes of ratings of each, and proposals of other ones.

Whoever corrects an event may say which version the correction is of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podium.log.database import StoreError
from podium.log.log import LogEntry
from podium.pool.snapshot import Event
from podium.store.following import PoolReader
from podium.views.names import version_of

FIRST_PLACEHOLDER = 2**61  # for numbers of log entries that are not drawn yet: after every number that is


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


def require_version(event: Event, versions: Collection[str] | None) -> None:
    """Refuse a correction of another version than the event has."""
    if versions is not None and version_of(event) not in versions:
        raise StaleError(
            f"event {event.event_id!r} has changed since you read it. Read it again, and correct that version."
        )
