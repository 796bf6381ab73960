"""Databases of the first versions: their logs and ledgers are carried over, and every rating with them."""

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa
from races import START, ratings
from races import rows as race

import podium
from podium.results.columns import ALL
from podium.store import Store
from podium.store.sql.database import upgrade
from podium.store.upgrading.filling import FILLED
from podium.store.upgrading.upgrade import upgrade_pools
from podium.systems import find

OLD_LOG = [
    ("submit", "e1", ["ana", "ben", "cleo"], 1),
    ("submit", "e2", ["ben", "old"], 2),
    ("submit", "e3", ["cleo", "ana"], 3),
    ("merge", "old", "ana", 0),
    ("amend", "e3", ["ana", "cleo"], 3),
    ("void", "e1", None, 0),
    ("restore", "e1", None, 0),
]


@pytest.mark.parametrize("revision", ["0001", "0002"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_log_of_an_earlier_version_is_carried_over(kind, revision, empty_url):
    """What the first versions wrote: names in the bodies, `ranked` given though it is as usual."""
    url = empty_url(kind)
    engine = sa.create_engine(url)
    upgrade(engine, revision)
    rows = {}
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO pool (id, name, system, parameters) VALUES (1, 'main', 'elo', '{}')")
        columns = ("pool_id", "kind", "subject", "body", "digest", "received_at", "actor")
        table = sa.table("log", *map(sa.column, columns))
        for what, subject, order, minute in OLD_LOG:
            body = b""
            if isinstance(order, list):
                rows[subject] = race(int(subject[1:]), order, minute)
                kept = [
                    {name: full[name] for name in ALL if name in full}
                    for full in (
                        row | {"ranked": True, "status": "finished", "position": float(row["position"])}
                        for row in rows[subject]
                    )
                ]
                body = "".join(json.dumps(row) + "\n" for row in kept).encode()
            elif order is not None:
                body = str(order).encode()
            connection.execute(sa.insert(table).values(pool_id=1, kind=what, subject=subject, body=body, digest=b"x",
                                                       received_at="2025-01-01", actor="old"))  # fmt: skip
        for seq, event_id, content in ((1, "e1", 1), (2, "e2", 2), (3, "e3", 5)):
            at = int((START + timedelta(minutes=seq)).timestamp() * 1e6)
            connection.exec_driver_sql(
                "INSERT INTO event (pool_id, event_id, seq, content_seq, started_at, status, reason) "  # noqa: S608
                f"VALUES (1, '{event_id}', {seq}, {content}, {at}, 'rated', '')"
            )
    engine.dispose()
    store = Store(url)
    assert store.verify() != []  # the ledger was not carried over with them
    assert [each.error for each in upgrade_pools(store.engine, "test")] == [""]
    store.configure("main", find("elo")())
    assert store.verify() == []
    merged = {"old": "ana"}
    truth = [row | {"player": merged.get(row["player"], row["player"])} for each in rows.values() for row in each]
    expected = podium.rate(truth, "elo").ratings
    assert ratings(store) == dict(zip(expected["player"], expected["rating"], strict=True))
    assert all(store.submit("main", rows[each])[0].duplicate for each in ("e1", "e2", "e3"))
    store.close()


def test_the_ledger_of_an_earlier_version_is_carried_over(tmp_path):
    """A database as the version before wrote it, ratings and all, needs nothing but to be upgraded."""
    url = f"sqlite:///{tmp_path}/old.db"
    store = Store(url)
    store.create_pool("main", find("elo")())
    for number in range(4):
        store.submit("main", race(number, "abc"))
    expected = ratings(store)
    names = {1: "a", 2: "b", 3: "c"}
    with store.engine.begin() as connection:
        tables = {each: connection.exec_driver_sql(f"SELECT * FROM {each}").mappings().all()  # noqa: S608
                for each in ("pool", "player", "log", "event", "change", "standing", "rank_count")}  # fmt: skip
    store.close()
    engine = sa.create_engine(f"sqlite:///{tmp_path}/new.db")
    upgrade(engine, "0002")
    with engine.begin() as connection:
        found = sa.MetaData()
        found.reflect(connection)
        for each, rows in tables.items():
            table = found.tables[each]
            for row in rows:
                if row.get("per_point", 1) > 1:
                    continue
                kept = {
                    column.name: row[column.name if column.name in row else "generation_id"] for column in table.columns
                }
                if each == "log":
                    if row["kind"] == "configure":
                        continue
                    lines = [json.loads(line) for line in row["body"].decode().split("\n") if line]
                    kept["body"] = "".join(
                        json.dumps(line | {"player": names[line["player"]]}) + "\n" for line in lines
                    ).encode()
                connection.execute(sa.insert(table).values(kept))
    engine.dispose()
    carried = Store(f"{tmp_path}/new.db")
    assert ratings(carried) == expected
    (sentence,) = carried.verify()
    assert sentence.startswith("main: the pool waits to be rated again")
    (upgraded,) = upgrade_pools(carried.engine, "test")
    assert upgraded.sentences[1:] == (FILLED, "4 events rated again, 0 changes of ratings moved")
    assert carried.verify() == []
    assert ratings(carried) == expected
    assert carried.submit("main", race(2, "abc"))[0].duplicate
    carried.submit("main", race(9, "cab"))
    assert carried.verify() == []
    carried.close()
