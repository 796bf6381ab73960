"""Events for tests: who came first, second, …"""

from datetime import UTC, datetime, timedelta

START = datetime(2025, 1, 1, tzinfo=UTC)


def rows(number, order, minute=None, **more):
    """Event e`number` as rows of a results table, started so many minutes after `START`."""
    when = (START + timedelta(minutes=number if minute is None else minute)).isoformat()
    return [
        {"event_id": f"e{number}", "started_at": when, "player": name, "position": place} | more
        for place, name in enumerate(order, start=1)
    ]


def event(number=1, order="abc", minute=None, **more):
    """The same as the service takes it."""
    when = (START + timedelta(minutes=number if minute is None else minute)).isoformat()
    entries = [{"player": name, "position": place} for place, name in enumerate(order, start=1)]
    return {"event_id": f"e{number}", "started_at": when, "entries": entries} | more


def ratings(store, pool="main"):
    """The rating of everyone on a board."""
    return {row["player"]: row["rating"] for row in store.leaderboard(pool, top=1000)}
