"""Events by their ids, and their versions."""

from collections.abc import Iterable

from podium.errors import UnknownError
from podium.log.removed import public_ids
from podium.pool.columns import NONE
from podium.pool.snapshot import SEASON, STATUSES, Event
from podium.views.reader import PoolAt

RATED, UNRATED, VOIDED, SUPERSEDED = EVENT_STATUSES = STATUSES[:SEASON]


def find_event(pool: PoolAt, event_id: str) -> Event:
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


def find_events(pool: PoolAt, event_ids: Iterable[str]) -> list[Event]:
    """Return the events that have these ids now, in their order; ids that no event has are skipped."""
    events = pool.snapshot.events
    return events.of_uids([uid for uid in events.ids.find_all([*event_ids]) if uid >= 0])


def version_of(event: Event) -> str:
    """Return the version of an event: it changes with the content, and when the event is voided or restored."""
    return f"{event.content_seq}-voided" if event.status == VOIDED else f"{event.content_seq}"
