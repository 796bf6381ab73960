"""Snapshots that readers share: each answer is of the log as its transaction sees it."""

import shutil
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from races import rows

from podium.store import Store
from podium.store.following import MOST_EARLIER
from podium.systems import find

sys.path.insert(0, str(Path(__file__).parents[1] / "pool"))
from folded import differences


def ids_of(snapshot):
    return [snapshot.events.ids[uid] for uid in range(snapshot.events.size)]


def snapshot_of(store, name="main"):
    with store.reading(name) as pool:
        return pool.snapshot


@pytest.fixture
def path(tmp_path):
    return tmp_path / "podium.db"


@pytest.fixture
def store(path):
    with closing(Store(str(path))) as store:
        store.create_pool("main", find("elo")())
        yield store


def test_a_pool_without_events_has_an_empty_snapshot(store):
    assert snapshot_of(store).events.size == 0
    assert snapshot_of(store).standings.rows.size == 0


def test_readers_share_the_snapshot_of_one_entry(store):
    store.submit("main", rows(0, "abc"))
    assert snapshot_of(store) is snapshot_of(store)
    first = snapshot_of(store)
    store.submit("main", rows(1, "acb"))
    assert snapshot_of(store) is not first
    assert ids_of(first) == ["e0"]
    assert differences(store, "main", snapshot_of(store)) == []


def test_a_transaction_keeps_its_snapshot_while_others_follow_the_log(store):
    store.submit("main", rows(0, "abc"))
    with store.at_one_moment() as view:
        before = snapshot_of(view)
        for number in range(1, MOST_EARLIER + 3):
            store.submit("main", rows(number, "abc"))
            snapshot_of(store)
        with view.reading("main") as pool:
            assert ids_of(store.snapshots.at(pool)) == ids_of(before) == ["e0"]
    assert snapshot_of(store).events.size == MOST_EARLIER + 3


def test_a_database_that_was_put_back_to_an_earlier_state_is_folded_again(store, path, tmp_path):
    store.submit("main", rows(0, "abc"))
    store.close()
    shutil.copyfile(path, tmp_path / "earlier.db")
    store.submit("main", rows(1, "abc"))
    assert ids_of(snapshot_of(store)) == ["e0", "e1"]
    store.close()
    shutil.copyfile(tmp_path / "earlier.db", path)
    assert ids_of(snapshot_of(store)) == ["e0"]
    store.submit("main", rows(2, "cba"))  # its entry has the number of the lost one
    assert ids_of(snapshot_of(store)) == ["e0", "e2"]
    assert differences(store, "main", snapshot_of(store)) == []


def test_a_pool_that_was_deleted_and_created_again_has_none_of_the_old_events(store):
    store.submit("main", rows(0, "abc"))
    snapshot_of(store)
    with closing(Store(str(store.engine.url.database))) as other:
        other.close_pool("main")
        other.delete_pool("main")
        other.create_pool("main", find("glicko2")())
    assert ids_of(snapshot_of(store)) == []
    store.submit("main", rows(5, "ba"))
    assert ids_of(snapshot_of(store)) == ["e5"]
    assert differences(store, "main", snapshot_of(store)) == []


def test_readers_find_every_event_while_others_write(store):
    acknowledged, faults, over = [], [], threading.Event()

    def read():
        while not over.is_set():
            known = [*acknowledged]
            snapshot = snapshot_of(store)
            faults.extend(each for each in known if snapshot.events.find(each) < 0)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(30):
        store.submit("main", rows(number, "abcd", minute=-number % 7))
        acknowledged.append(f"e{number}")
    over.set()
    for reader in readers:
        reader.join()
    assert faults == []
    assert differences(store, "main", snapshot_of(store)) == []
