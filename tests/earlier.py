"""Databases as an earlier version left them: ledgers of its arithmetic."""

from contextlib import closing, contextmanager
from datetime import UTC, datetime
from unittest import mock

import numpy as np
import sqlalchemy as sa

from podium.engine.replay import NEVER, with_idle_before
from podium.log.schema import change, pools
from podium.pool import roster
from podium.pool.rating import Rater
from podium.pool.slots import numbers_of
from podium.store import Store
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
        mock.patch.object(Rater, "rate_single", return_value=False),  # it rated no event by itself
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
    with first_arithmetic(), closing(fill(Store(url))) as store:
        for pool in store.pools():
            store_changes(store, pool.name)
        with store.engine.begin() as connection:
            connection.execute(sa.update(pools).values(arithmetic=1))


def store_changes(store, name):
    """Store the ledger of a pool as earlier versions did, in the table `change`."""
    with store.reading(name) as pool:
        snapshot, generation = pool.snapshot, pool.generation
    rows, events = snapshot.rows, snapshot.events
    uids, states = rows.part("event"), rows.part("state")
    fields = np.repeat(events.order.part("field"), np.diff(events.order.part("stop"), prepend=0))
    columns = {
        "started_at": events.columns.at("started_at", uids), "seq": events.columns.at("seq", uids),
        "player_id": numbers_of(rows.part("slot")), "place": rows.part("place"), "rating_before": rows.part("before"),
        "rating": states[:, snapshot.pool.system.column("rating")], "rank": rows.part("rank"), "field": fields,
    }  # fmt: skip
    cells = zip(*(column.tolist() for column in columns.values()), strict=True)
    stored = [
        {"generation_id": generation, **dict(zip(columns, each, strict=True)), "state": state.astype("<f8").tobytes()}
        for each, state in zip(cells, states, strict=True)
    ]
    for row in stored:
        row["rank"] = row["rank"] or None
    with store.engine.begin() as connection:
        connection.execute(sa.insert(change), stored)
