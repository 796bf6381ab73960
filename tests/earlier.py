"""Databases as an earlier version left them: ledgers of its arithmetic."""

from contextlib import closing, contextmanager
from datetime import UTC, datetime
from unittest import mock

import numpy as np
import sqlalchemy as sa

from podium.engine.replay import NEVER, with_idle_before
from podium.log.schema import pools
from podium.pool import roster
from podium.store import Store
from podium.store.writing.rating import plan
from podium.store.writing.rating.facts import day_of
from podium.systems import find

DAY = day_of(datetime(1969, 6, 1, tzinfo=UTC).date())


def duel(number, date, winner="ana", loser="ben"):
    """Event d`number` of a day at noon."""
    return [
        {"event_id": f"d{number}", "started_at": f"{date}T12:00:00Z", "player": player, "position": place}
        for place, player in enumerate((winner, loser), start=1)
    ]


@contextmanager
def first_arithmetic():
    """Rating as the first version had it: a last event before 1970 counts as of 1970-01-01."""

    def with_idle(events, system, period, seen):
        return with_idle_before(events, system, period, np.where(seen == NEVER, NEVER, np.maximum(seen, 0)))

    with (
        mock.patch.object(roster, "with_idle_before", with_idle),
        mock.patch.object(plan, "only_event", return_value=None),  # which it did not rate by itself
    ):
        yield


def fill(store):
    """Two pools: `sixties`, whose numbers the second revision moves, and `modern`, whose numbers stay."""
    store.create_pool("modern", find("elo")())
    store.create_pool("sixties", find("glicko")(idle_growth=10.0))
    for number, date in enumerate(("2025-01-01", "2025-03-01")):
        store.submit("modern", duel(number, date))
    for number, date in enumerate(("1968-01-01", "1968-12-31", "1969-12-01", "1970-03-01", "2019-05-01")):
        store.submit("sixties", duel(number, date, *(("ana", "ben") if number % 2 else ("ben", "ana"))))
    store.begin_season("sixties", "second", datetime(1969, 1, 15, tzinfo=UTC), keep=0.5)
    return store


def make_earlier_database(url):
    """Fill a database with what the first arithmetic makes of `fill`."""
    with first_arithmetic(), closing(fill(Store(url))) as store, store.engine.begin() as connection:
        connection.execute(sa.update(pools).values(arithmetic=1))
