"""Databases as an earlier version left them, with ledgers of its arithmetic."""

from contextlib import closing, contextmanager
from datetime import UTC, datetime
from unittest import mock

import numpy as np
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from podium.engine.replay import NEVER, with_idle_before
from podium.log.database import MIGRATIONS, engine_for
from podium.log.pools import day_of
from podium.log.schema import pools
from podium.pool import roster
from podium.pool.columns import numbers_of
from podium.pool.rating import Rater
from podium.store import Store
from podium.systems import find

DAY = day_of(datetime(1969, 6, 1, tzinfo=UTC).date())


def duel(number, date, winner="ana", loser="ben"):
    """Return event d`number` at noon on a day."""
    return [
        {"event_id": f"d{number}", "started_at": f"{date}T12:00:00Z", "player": player, "position": place}
        for place, player in enumerate((winner, loser), start=1)
    ]


@contextmanager
def first_arithmetic():
    """Rate like the first version, which moved last events before 1970 to 1970-01-01."""

    def with_idle(events, system, period, seen):
        return with_idle_before(events, system, period, np.where(seen == NEVER, NEVER, np.maximum(seen, 0)))

    with (
        mock.patch.object(roster, "with_idle_before", with_idle),
        mock.patch.object(Rater, "rate_single", return_value=False),  # it rated no single events
    ):
        yield


def fill(store):
    """Store two pools: `sixties`, whose ratings the second revision changes, and `modern`, whose ratings stay."""
    store.create_pool("modern", find("elo")())
    store.create_pool("sixties", find("glicko")(idle_growth=10.0))
    for number, date in enumerate(("2025-01-01", "2025-03-01")):
        store.submit("modern", duel(number, date))
    for number, date in enumerate(("1968-01-01", "1968-12-31", "1969-12-01", "1970-03-01", "2019-05-01")):
        store.submit("sixties", duel(number, date, *(("ana", "ben") if number % 2 else ("ben", "ana"))))
    store.begin_season("sixties", "second", datetime(1969, 1, 15, tzinfo=UTC), keep=0.5)
    return store


def make_earlier_database(url):
    """Run `fill` with the first arithmetic, and add the tables of earlier versions."""
    engine = engine_for(url)
    migrate(engine, "0021")
    with engine.begin() as connection:  # so that the newest migration keeps the tables
        connection.exec_driver_sql("INSERT INTO pool (id, name, system, parameters) VALUES (99, 'x', 'elo', '{}')")
    with first_arithmetic(), closing(Store(url)) as store:
        with engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM pool WHERE id = 99")
        fill(store)
        for pool in store.pools():
            store_former(store, pool.name)
        with store.engine.begin() as connection:
            connection.execute(sa.update(pools).values(arithmetic=1))
            for name in ("format", "leader", "announced_until"):
                connection.exec_driver_sql(f"ALTER TABLE webhook DROP COLUMN {name}")
            for name in ("time_zone", "points_scheme", "display", "reports"):
                connection.exec_driver_sql(f"ALTER TABLE pool DROP COLUMN {name}")
            for name in ("player_link", "report"):
                connection.exec_driver_sql(f"DROP TABLE {name}")
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0021'")
            connection.exec_driver_sql("UPDATE compatibility SET earliest = '0021'")
    engine.dispose()


def migrate(engine, revision):
    """Bring a new database to the schema of an earlier version."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def store_former(store, name):
    """Store a pool's events, seasons and ledger as earlier versions did."""
    with store.reading(name) as pool:
        snapshot, number = pool.snapshot, pool.id
    rows, events = snapshot.rows, snapshot.events
    uids, states = rows.part("event"), rows.part("state")
    changes = zip(
        events.columns.at("started_at", uids).tolist(), events.columns.at("seq", uids).tolist(),
        numbers_of(rows.part("slot")).tolist(), rows.part("place").tolist(), rows.part("before").tolist(),
        states[:, snapshot.pool.system.column("rating")].tolist(), strict=True,
    )  # fmt: skip
    known = [(uid, events.event_of(uid)) for uid in range(events.size)]
    with store.engine.begin() as connection:
        (generation,) = connection.execute(
            sa.text("INSERT INTO generation (pool_id) VALUES (:pool) RETURNING id"), {"pool": number}
        ).scalars()
        connection.execute(sa.text("UPDATE pool SET generation_id = :g WHERE id = :p"), {"g": generation, "p": number})
        for each in changes:
            names = "started_at", "seq", "player_id", "place", "rating_before", "rating"
            add(connection, "change", generation_id=generation, state=b"", **dict(zip(names, each, strict=True)))
        for uid, each in known:
            if uid in events.seasons:
                season = events.seasons[uid]
                cells = {"seq": each.seq, "started_at": each.started_at, "keep": season.keep}
                add(connection, "season", pool_id=number, name=season.name, **cells)
            else:
                cells = {
                    name: getattr(each, name) for name in ("event_id", "seq", "content_seq", "started_at", "status")
                }
                add(connection, "event", pool_id=number, reason=each.reason, **cells)


def add(connection, table, **cells):
    """Insert a row."""
    names, values = ", ".join(cells), ", ".join(f":{name}" for name in cells)
    connection.execute(sa.text(f"INSERT INTO {table} ({names}) VALUES ({values})"), cells)  # noqa: S608
