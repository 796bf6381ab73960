"""Shared equipment in pools has its own numbers, a rating and no rank. Entries without it stay the same."""

import json
import re
from contextlib import closing

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from races import calling, event, ratings, rows

import podium
from podium.log import database
from podium.log.database import StoreError
from podium.log.schema import equipment, log, metadata, player
from podium.log.statements import FIRST_EQUIPMENT
from podium.store import Store
from podium.systems import make_system

both_kinds = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
RATED_CARS = make_system("adaptive", {"shared": "car"})


def drive(number, drivers, cars, **more):
    """Return the rows of a race: drivers with their cars, in finishing order."""
    return [row | {"shared:car": car} for row, car in zip(rows(number, drivers, **more), cars, strict=True)]


def season(store, system=RATED_CARS):
    """Store four races with two cars, one of which has two drivers."""
    store.create_pool("main", system)
    for number, (drivers, cars) in enumerate([("abc", "rrs"), ("bac", "rsr"), ("cab", "srr"), ("bca", "rss")]):
        store.submit("main", drive(number, drivers, cars))
    return store


def column(store, what):
    with store.engine.connect() as connection:
        return connection.execute(sa.select(what).order_by(what)).scalars().all()


@both_kinds
def test_cars_have_their_own_numbers_and_no_rank(kind, new_url):
    with closing(season(Store(new_url(kind)))) as store:
        assert column(store, player.c.id) == [1, 2, 3]
        assert column(store, equipment.c.id) == [FIRST_EQUIPMENT + 1, FIRST_EQUIPMENT + 2]
        found = store.equipment("main")
        assert sorted(each.name for each in found) == ["r", "s"]
        assert [each.points for each in found] == sorted((each.points for each in found), reverse=True)
        assert {each.kind: each.events for each in found} == {"car": 4}
        assert sorted(row.player for row in store.leaderboard("main").players) == ["a", "b", "c"]
        assert sum(each.players for each in store.distribution("main")) == store.rank("main", "a").players == 3
        assert {each.player for each in store.event("main", "e0").changes} == {"a", "b", "c"}
        assert store.event("main", "e0").entries[0].shared == {"car": "r"}
        assert set(store.history("main")["player"]) == {"a", "b", "c"}
        assert store.search("r") == ()
        assert store.verify() == []


@both_kinds
def test_a_car_is_renamed_and_merged_like_a_player(kind, new_url):
    with closing(season(Store(new_url(kind)))) as store:
        store.rename("main", "r", "Rot", kind="car")
        store.submit("main", drive(4, "ab", "rs"))  # with the former name
        one = {each.name: each.points for each in store.equipment("main")}
        assert set(one) == {"Rot", "s"}
        with pytest.raises(StoreError, match=r"there is already a car 'Rot'. Merge the two"):
            store.rename("main", "s", "Rot", kind="car")
        with pytest.raises(podium.UnknownError, match="there is no car 'x' in pool 'main'"):
            store.merge("main", "x", "Rot", kind="car")
        assert store.merge("main", "s", "Rot", kind="car") > 0
        assert store.merge("main", "s", "Rot", kind="car") == 0
        with pytest.raises(StoreError, match=r"'s \(car\)' was merged into 'Rot \(car\)'"):
            store.merge("main", "s", "t", kind="car")
        assert [each.name for each in store.equipment("main")] == ["Rot"]
        assert store.verify() == []
        assert ratings(store) == {**ratings(store), **replayed(store)}
        store.unmerge("main", "s", kind="car")
        assert {each.name: each.points for each in store.equipment("main")} == one
        assert [(each.kind, each.player, each.into) for each in store.log("main")][-3:] == [
            ("submit", None, None), ("merge", "s (car)", "Rot (car)"), ("unmerge", "s (car)", None),
        ]  # fmt: skip


def replayed(store):
    rated = podium.rate(store.results("main"), RATED_CARS)
    return dict(rated.ratings.select("player", "rating").iter_rows())


def test_results_without_cars_have_the_same_log_entries(store):
    """The bytes are those of a version without cars."""
    store.create_pool("main", make_system("elo", {}))
    store.submit("main", rows(1, "ab"))
    (body,) = (each for each in column(store, log.c.body) if b'"player"' in each)
    assert body == (
        b'{"event_id":"e1","started_at":"2025-01-01T00:01:00+00:00","position":1.0,"status":"finished","player":1}\n'
        b'{"event_id":"e1","started_at":"2025-01-01T00:01:00+00:00","position":2.0,"status":"finished","player":2}\n'
    )


@both_kinds
def test_cars_are_ignored_until_the_system_rates_them(kind, new_url):
    """Cars always get numbers, so a change to a system that rates them needs no new results."""
    with closing(season(Store(new_url(kind)), make_system("elo", {}))) as store:
        assert store.equipment("main") == ()
        assert column(store, equipment.c.id) == [FIRST_EQUIPMENT + 1, FIRST_EQUIPMENT + 2]
        store.merge("main", "s", "r", kind="car")
        store.configure("main", RATED_CARS)
        assert [each.name for each in store.equipment("main")] == ["r"]
        store.unmerge("main", "s", kind="car")
        with closing(season(Store(new_url(kind)))) as other:
            assert ratings(store) == ratings(other)
        store.configure("main", make_system("elo", {}))
        assert store.equipment("main") == ()
        assert store.verify() == []


def test_another_car_is_another_result(store):
    season(store)
    assert store.submit("main", drive(0, "abc", "rrs"))[0].duplicate
    with pytest.raises(StoreError, match=r"row 1 is player a, shared:car s \(car\), and was player a, shared:car r"):
        store.submit("main", drive(0, "abc", "srs"))
    store.rename("main", "r", "Rot", kind="car")
    assert store.submit("main", drive(0, "abc", ["Rot", "Rot", "s"]))[0].duplicate
    receipt = store.amend("main", drive(0, "abc", "srs"), dry_run=True)
    assert {each.player for each in receipt.effects} >= {"a", "Rot (car)", "s (car)"}
    store.amend("main", drive(0, "abc", "srt"), reason="it was")
    changed = store.event_record("main", "e0")[-1].lines
    assert [(each.player, each.before, each.after) for each in changed] == [
        ("a", "car Rot", "car s"), ("c", "car s", "car t"),
    ]  # fmt: skip
    assert store.verify() == []


def test_the_service_accepts_and_lists_cars(store):
    store.create_pool("main", RATED_CARS)
    with calling(store) as client:
        for number in range(2):
            sent = event(number, "ab")
            for entry, car in zip(sent["entries"], "rs", strict=True):
                entry |= {"shared": {"car": car}, "side": "home" if car == "r" else "away"}
            assert client.post("/api/v1/pools/main/events", json=sent).status_code == 201
        assert client.post("/api/v1/pools/main/events", json=sent).json()[0]["duplicate"]
        answer = client.get("/api/v1/pools/main/events/e0").json()["entries"]
        assert answer[0] == {
            "player": "a", "position": 1.0, "status": "finished", "side": "home", "shared": {"car": "r"}
        }  # fmt: skip
        found = client.get("/api/v1/pools/main/equipment").json()
        assert [(each["kind"], each["name"]) for each in found] == [("car", "r"), ("car", "s")]
        path = "/api/v1/pools/main/players/r/rename"
        assert client.post(path, params={"kind": "car"}, json={"name": "Rot"}).status_code == 200
        merged = client.post("/api/v1/pools/main/merge", params={"kind": "car"}, json={"player": "s", "into": "Rot"})
        assert merged.json()["rerated"] > 0
        too_many = event(9, "ab")
        too_many["entries"][0]["shared"] = dict.fromkeys("vwxyz", "?")
        assert client.post("/api/v1/pools/main/events", json=too_many).status_code == 422
    assert store.verify() == []


def test_cars_have_a_page_and_leaderboards_mention_them(store):
    season(store)
    store.describe_pool("main", public=True)
    store.create_pool("other", make_system("adaptive", {}), public=True)
    with calling(store) as client:
        page = client.get("/main/equipment")
        assert page.status_code == 200
        assert "<h1>Cars</h1>" in page.text
        assert re.findall(r"<bdi>([rs])</bdi>", page.text) == [each.name for each in store.equipment("main")]
        assert "Only players are rated" in client.get("/main").text
        assert "Only players are rated" not in client.get("/other").text
        assert client.get("/other/equipment").status_code == 404
        why = client.get("/main/events/e3/a").text
        assert "The result was worth" in why
        assert client.get("/api/v1/pools/main/events/e3/players/a").json()["shared"].startswith("The result was worth")


def test_a_pool_is_exported_with_its_cars(new_url):
    with closing(season(Store(new_url("sqlite")))) as store, closing(Store(new_url("postgresql"))) as other:
        store.rename("main", "r", "Rot", kind="car")
        lines = list(store.export_pool("main"))
        assert json.loads(lines[0])["things"] == 2
        exported = [json.loads(each) for each in lines[4:6]]
        assert all(isinstance(each.pop("rating"), float) for each in exported)
        assert exported == [
            {"player": FIRST_EQUIPMENT + 1, "name": "Rot", "former": ["r"], "kind": "car"},
            {"player": FIRST_EQUIPMENT + 2, "name": "s", "former": [], "kind": "car"},
        ]
        other.import_pool(iter(lines))
        assert ratings(other) == ratings(store)
        assert other.submit("main", drive(0, "abc", "rrs"))[0].duplicate
        broken = [each.replace('"kind":"car"', '"kind":null') for each in lines]
        with pytest.raises(StoreError, match=f"{FIRST_EQUIPMENT + 1} is not the number of a player"):
            other.import_pool(iter(broken), name="again")


@both_kinds
def test_an_upgrade_keeps_names_and_merges(kind, empty_url, new_url):
    """The test copies the rows of a current database into one of revision 0015."""
    engine = sa.create_engine(empty_url(kind))
    config = Config()
    config.set_main_option("script_location", str(database.MIGRATIONS))
    with closing(Store(new_url(kind))) as store:
        store.create_pool("main", make_system("elo", {}))
        for number, order in enumerate(("abc", "bdc")):
            store.submit("main", rows(number, order))
        store.rename("main", "a", "ana")
        store.merge("main", "d", "ana")
        with engine.begin() as connection, store.engine.connect() as filled:
            config.attributes["connection"] = connection
            command.upgrade(config, "0015")
            for table in sorted(metadata.sorted_tables, key=lambda each: each.name == "alias"):
                found = [dict(row) for row in filled.execute(sa.select(table)).mappings()]
                if found and table.name not in ("compatibility", "witness"):
                    earlier = sa.Table(table.name, sa.MetaData(), autoload_with=connection)
                    rows_then = [{c.name: row[c.name] for c in earlier.c if c.name in row} for row in found]
                    connection.execute(sa.insert(earlier), rows_then)
            if kind == "postgresql":
                connection.exec_driver_sql("SELECT setval('log_seq_seq', 1000)")
        known = ratings(store)
    url = engine.url.render_as_string(hide_password=False)
    engine.dispose()
    with closing(Store(url)) as store:
        assert database.is_current(store.engine)
        assert store.verify() == []
        assert ratings(store) == known
        assert store.submit("main", rows(0, "abc"))[0].duplicate
        store.rename("main", "b", "ben")
        store.submit("main", drive(5, "ab", "rs"))
        store.unmerge("main", "d")
        assert store.verify() == []
