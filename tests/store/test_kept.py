"""Caches of a pool: they can be deleted, damaged or outdated at any time, and no answer changes."""

import shutil
import sys
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
import sqlalchemy as sa
from races import rows

from podium.errors import PodiumError
from podium.log.schema import kept as table
from podium.store import Store, following, kept
from podium.store.backup import back_up, restore
from podium.systems import find

sys.path.insert(0, str(Path(__file__).parents[1] / "pool"))
from folded import contents_of, differences, load

EVENTS = 12


@pytest.fixture(autouse=True)
def few_entries(monkeypatch):
    """Keep snapshots of small pools."""
    monkeypatch.setattr(kept, "ENTRIES", 10)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "podium.db"


@pytest.fixture
def store(path):
    """Return a store with a pool whose snapshot is cached."""
    with closing(Store(str(path))) as store:
        store.create_pool("main", find("adaptive")())
        for number in range(EVENTS):
            store.submit("main", rows(number, "abcd" if number % 2 else "dbca"))
        assert store.keep_snapshot("main", entries=10)
        yield store


def stored(store):
    """Return the rows of all caches by name and part."""
    with store.engine.connect() as connection:
        return {(row.name, row.part): row for row in connection.execute(sa.select(table))}


def change(store, part, **values):
    with store.engine.begin() as connection:
        connection.execute(sa.update(table).where(table.c.part == part).values(values))


def read_first(path):
    """Return how many entries of its log a process reads when it first needs a pool, and the snapshot."""
    read, every = [], following.entries_after

    def entries_after(pool, seq):
        for entry in every(pool, seq):
            read.append(entry)
            yield entry

    with mock.patch.object(Store, "keep_large_snapshots"), closing(Store(str(path))) as store:
        with mock.patch.object(following, "entries_after", entries_after), store.reading("main") as pool:
            snapshot = pool.snapshot
        assert differences(store, "main", snapshot) == []
        return len(read), snapshot


def test_starting_reads_only_entries_after_the_cached_snapshot(store, path):
    assert read_first(path)[0] == 0
    store.submit("main", rows(20, "ba"))
    store.submit("main", rows(21, "abd", minute=-5))
    store.void("main", "e3")
    assert read_first(path)[0] == 3


def test_a_snapshot_is_cached_again_only_if_starting_would_be_slow(store):
    assert not store.keep_snapshot("main", entries=1)
    store.void("main", "e11")
    assert not store.keep_snapshot("main", entries=10)
    store.void("main", "e0")  # this recalculates 11 events
    assert store.keep_snapshot("main", entries=10)
    for number in range(30, 41):
        store.submit("main", rows(number, "ab"))
    assert store.keep_snapshot("main", entries=10)


def test_unchanged_parts_stay_stored(path):
    with closing(Store(str(path))) as store:
        store.create_pool("main", find("elo")())
        store.submit("main", rows(0, "ab"))
        assert store.keep_snapshot("main", entries=0)
        before = stored(store)
        store.describe_pool("main", title="Main")
        assert store.keep_snapshot("main", entries=0)
        after = stored(store)
        assert before.keys() == after.keys()
        assert {key for key in before if before[key] != after[key]} == {("snapshot", 0)}
        store.amend("main", rows(0, "ba"))
        assert store.keep_snapshot("main", entries=0)
        assert len(stored(store)) == len(before)


def test_closing_a_store_caches_slow_reads(path):
    with closing(Store(str(path))) as store:
        store.create_pool("main", find("elo")())
        for number in range(EVENTS):
            store.submit("main", rows(number, "abc"))
    assert read_first(path)[0] == 0
    with closing(Store(str(path))) as store:
        assert load(store, "main").events.size == EVENTS


def test_nothing_is_read_from_damaged_parts(store, path):
    every, before = stored(store), contents_of(read_first(path)[1])
    others = [row.body for row in every.values()]
    for (_, part), row in every.items():
        middle = len(row.body) // 2
        flipped = row.body[:middle] + bytes([row.body[middle] ^ 1]) + row.body[middle + 1 :]
        other = next(body for body in others if body != row.body)
        for body in (flipped, row.body[:-1], b"", other):
            change(store, part, body=body)
            entries, snapshot = read_first(path)
            assert entries > EVENTS
            assert contents_of(snapshot) == before
        change(store, part, body=row.body)
    for stamp in ("", "[]", "null", "{}", "7", '["x"]', every["snapshot", 0].stamp.replace("[", "[1", 1)):
        change(store, 0, stamp=stamp)
        assert read_first(path)[0] > EVENTS


def test_all_rows_can_be_deleted(store, path):
    store.keep_facts("main")
    store.keep_hindsight("main")
    before = store.leaderboard("main"), store.history("main"), store.event_list("main"), store.pool_facts("main").events
    with store.engine.begin() as connection:
        connection.execute(sa.delete(table))
    with closing(Store(str(path))) as again:
        after = again.leaderboard("main"), again.history("main"), again.event_list("main")
        assert after[0] == before[0]
        assert after[1].equals(before[1])
        assert after[2:] == before[2:3]
        assert again.pool_facts("main").events == before[3]
        assert again.verify() == []


@pytest.mark.parametrize(("name", "value"), [("ARITHMETIC", 10_000), ("LAYOUT", 10_000)])
def test_a_cache_of_another_version_is_ignored(store, path, monkeypatch, name, value):
    monkeypatch.setattr(kept, name, value)
    assert read_first(path)[0] > EVENTS


def test_a_cache_of_another_version_of_a_package_is_ignored(store, path, monkeypatch):
    monkeypatch.setattr(kept, "package_version", lambda _name: "stakes 1.1")
    assert read_first(path)[0] > EVENTS
    with closing(Store(str(path))) as again:
        assert again.keep_snapshot("main", entries=10)
    assert read_first(path)[0] == 0


def test_a_restored_database_ignores_a_later_cache(store, path, tmp_path):
    store.close()
    shutil.copyfile(path, tmp_path / "earlier.db")
    store.submit("main", rows(30, "ab"))
    assert store.keep_snapshot("main", entries=0)
    later = stored(store)
    store.close()
    shutil.copyfile(tmp_path / "earlier.db", path)
    store.submit("main", rows(31, "ba"))  # its entry reuses the number of the lost one
    with store.engine.begin() as connection:
        connection.execute(sa.delete(table))
        connection.execute(sa.insert(table), [row._asdict() for row in later.values()])
    entries, snapshot = read_first(path)
    assert entries > EVENTS
    assert snapshot.events.find("e30") < 0 <= snapshot.events.find("e31")


def test_postgresql_also_stores_snapshots(new_url):
    url = new_url("postgresql")
    with closing(Store(url)) as store:
        store.create_pool("main", find("adaptive")())
        store.submit("main", [row for number in range(EVENTS) for row in rows(number, "abc")])
        store.void("main", "e0")
        assert store.keep_snapshot("main", entries=10)
    entries, snapshot = read_first(url)
    assert entries == 0
    assert snapshot.events.size == EVENTS


def test_a_pool_that_waits_for_an_upgrade_is_not_cached(store, monkeypatch):
    monkeypatch.setattr(kept, "ARITHMETIC", 10_000)
    assert not store.keep_snapshot("main", entries=0)


def test_a_recreated_pool_has_no_cache(store, path):
    store.close_pool("main")
    store.delete_pool("main")
    assert stored(store) == {}
    store.create_pool("main", find("elo")())
    assert read_first(path)[1].events.size == 0


def interrupt(count, act):
    """Return a function that packs parts, and calls `act` before the part with this number."""
    packed, number = kept.packed, iter(range(1000))

    def interrupted(part):
        if next(number) == count:
            act()
        return packed(part)

    return interrupted


class Killed(BaseException):
    """The end of a process."""


def kill(*_):
    raise Killed


@pytest.mark.parametrize("killed", [{"packed": interrupt(0, kill)}, {"packed": interrupt(5, kill)}, {"publish": kill}])
def test_the_old_cache_stays_until_the_new_one_is_complete(store, path, killed):
    store.void("main", "e0")
    whole = stored(store)
    with mock.patch.multiple(kept, **killed), pytest.raises(Killed):
        store.keep_snapshot("main", entries=0)
    assert stored(store).items() >= whole.items()
    assert read_first(path)[0] == 1
    assert store.keep_snapshot("main", entries=0)
    assert len(stored(store)) == len(whole)  # nothing is left over
    assert read_first(path)[0] == 0


def test_the_next_write_removes_a_killed_writers_parts(store, path):
    whole = stored(store)
    store.void("main", "e0")
    with mock.patch.object(kept, "delete_others", kill), pytest.raises(Killed):
        store.keep_snapshot("main", entries=0)
    assert read_first(path)[0] == 0
    assert len(stored(store)) > len(whole)
    store.unvoid("main", "e0")
    assert store.keep_snapshot("main", entries=0)
    assert len(stored(store)) == len(whole)


def test_one_of_two_writers_wins(store, path, monkeypatch):
    store.void("main", "e0")
    with closing(Store(str(path))) as other:

        def overtake():
            other.void("main", "e5")
            assert other.keep_snapshot("main", entries=0)

        monkeypatch.setattr(kept, "packed", interrupt(5, overtake))
        store.keep_snapshot("main", entries=0)
    assert read_first(path)[0] <= 2


@pytest.mark.parametrize("act", ["anonymize", "delete"])
def test_an_overtaken_writer_leaves_no_removed_name(store, monkeypatch, act):
    store.submit("main", rows(30, "ab", title="x") + rows(31, ["Zebedee Quux", "b"]))
    store.submit("main", [row | {"event_id": "zebedee quux wins"} for row in rows(32, "ab")])

    def overtake():
        if act == "delete":
            store.close_pool("main")
            store.delete_pool("main")
        else:
            store.anonymize("main", "Zebedee Quux")

    monkeypatch.setattr(kept, "packed", interrupt(4, overtake))
    assert not store.keep_snapshot("main", entries=0)
    assert stored(store) == {}


def test_copies_have_no_caches(store, path, tmp_path):
    change(store, 0, body=b"x" * 100_000)
    back_up(str(path), tmp_path / "copy.db")
    with closing(Store(str(tmp_path / "copy.db"))) as copy:
        assert stored(copy) == {}
        assert copy.verify() == []
        assert copy.leaderboard("main") == store.leaderboard("main")
    assert stored(store)
    store.close()
    assert (tmp_path / "copy.db").stat().st_size < path.stat().st_size - 90_000
    restore(path, str(tmp_path / "restored.db"))
    with closing(Store(str(tmp_path / "restored.db"))) as restored:
        assert stored(restored) == {}


def test_a_read_only_database_can_be_read(store, path, monkeypatch):
    with store.engine.begin() as connection:
        connection.execute(sa.delete(table))

    def fail(*_):
        raise PodiumError("read-only")

    monkeypatch.setattr(kept, "write_snapshot", fail)
    with closing(Store(str(path))) as again:
        assert len(again.leaderboard("main").players) == 4
