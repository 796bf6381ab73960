"""Events for tests, in finishing order, and a service to send them to."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from starlette.testclient import TestClient

from podium.log.players import equipment_of
from podium.service import create_app
from podium.store.keys import create_key

START = datetime(2025, 1, 1, tzinfo=UTC)


def rows(number, order, minute=None, **more):
    """Return event e`number` as rows of a results table, which starts this many minutes after `START`."""
    when = (START + timedelta(minutes=number if minute is None else minute)).isoformat()
    return [
        {"event_id": f"e{number}", "started_at": when, "player": name, "position": place} | more
        for place, name in enumerate(order, start=1)
    ]


def event(number=1, order="abc", minute=None, **more):
    """Return the same event as JSON for the service."""
    when = (START + timedelta(minutes=number if minute is None else minute)).isoformat()
    entries = [{"player": name, "position": place} for place, name in enumerate(order, start=1)]
    return {"event_id": f"e{number}", "started_at": when, "entries": entries} | more


def ratings(store, pool="main"):
    """Return all ratings of a leaderboard, and of shared equipment with its kind before the name."""
    rated = {row.player: row.rating for row in store.leaderboard(pool, top=1000).players}
    with store.reading(pool) as known:
        standings, equipment = known.snapshot.standings, equipment_of(known)
    entries = {name.replace("\x1f", "/"): standings.find(number) for number, name in equipment.items()}
    return rated | {name: float(standings.ratings[entry]) for name, entry in entries.items() if entry >= 0}


@contextmanager
def calling(store, role="admin", per_second=None, **options):
    """Yield a client of the service over a store, with a new key."""
    key = create_key(store.engine, role, role, None, per_second)
    with TestClient(create_app(store, **options), headers={"Authorization": f"Bearer {key}"}) as client:
        yield client
