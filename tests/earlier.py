"""Databases as an earlier version left them: its schema, and ledgers of its arithmetic."""

import hashlib
from contextlib import contextmanager
from datetime import UTC, datetime
from unittest import mock

import numpy as np
import sqlalchemy as sa

from podium.engine.idle import NEVER, with_idle_before
from podium.store import Store
from podium.store.derive import plan, roster
from podium.store.derive.snapshots import day_of
from podium.store.log import content, players
from podium.store.sql.database import engine_for, upgrade
from podium.store.sql.schema import metadata, player
from podium.systems import find

COUNTED_UP = {"pool": "id", "player": "id", "log": "seq", "api_key": "id"}
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


@contextmanager
def first_log():
    """Players numbered over all pools, and digests without a key."""

    def newest_number(connection, _pool):
        return connection.execute(sa.select(sa.func.coalesce(sa.func.max(player.c.id), 0))).scalar_one()

    def digest(text, _secret):
        return hashlib.blake2b(text, digest_size=16).digest()

    with (
        mock.patch.object(players, "newest_number", newest_number),
        mock.patch.object(content, "keyed_digest", digest),
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
    store.snapshot("sixties", DAY)
    return store


def make_earlier_database(url, scratch, revision="0003"):
    """Fill a database of an earlier schema with what the arithmetic of its time makes of `fill`.

    Args:
        url: of an empty database.
        scratch: of another, which the rows are copied from.
    """
    with first_arithmetic(), first_log():
        source = fill(Store(scratch))
    target = engine_for(url)
    upgrade(target, revision)
    known = sa.MetaData()
    with source.engine.begin() as reading, target.begin() as writing:
        known.reflect(writing)
        for table in known.sorted_tables:
            if table.name not in metadata.tables:
                continue
            each = metadata.tables[table.name]
            rows = [
                {column.name: row[column.name if column.name in row else "generation_id"] for column in table.columns}
                for row in reading.execute(sa.select(each)).mappings()
            ]
            if rows:
                writing.execute(sa.insert(table), rows)
            if rows and target.dialect.name == "postgresql" and each.name in COUNTED_UP:
                column = COUNTED_UP[each.name]
                writing.execute(
                    sa.text(
                        f"SELECT setval(pg_get_serial_sequence('{each.name}', '{column}'), {rows[-1][column] + 99})"
                    )
                )
    source.close()
    target.dispose()
