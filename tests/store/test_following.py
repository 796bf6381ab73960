"""Shared snapshots: each answer matches the log as its transaction sees it."""

import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from gates import TIMEOUT_S, Gate
from races import rows

from podium.errors import UnknownError
from podium.log.database import StoreError, UnavailableError
from podium.log.log import newest_seq
from podium.pool.columns import CHUNK_ROWS
from podium.store import Store, following
from podium.store.following import MAX_EARLIER, NEWEST
from podium.systems import find
from podium.views.reader import Answers

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


def test_readers_of_one_version_share_a_snapshot(store):
    store.submit("main", rows(0, "abc"))
    assert snapshot_of(store) is snapshot_of(store)
    first = snapshot_of(store)
    store.submit("main", rows(1, "acb"))
    assert snapshot_of(store) is not first
    assert ids_of(first) == ["e0"]
    assert differences(store, "main", snapshot_of(store)) == []


def test_a_transaction_keeps_its_snapshot_while_the_log_grows(store):
    store.submit("main", rows(0, "abc"))
    with store.at_one_moment() as view:
        before = snapshot_of(view)
        for number in range(1, MAX_EARLIER + 3):
            store.submit("main", rows(number, "abc"))
            snapshot_of(store)
        with view.reading("main") as pool:
            assert ids_of(store.snapshots.at(pool)) == ids_of(before) == ["e0"]
    assert snapshot_of(store).events.size == MAX_EARLIER + 3


def test_a_restored_database_is_read_again(store, path, tmp_path):
    store.submit("main", rows(0, "abc"))
    store.close()
    shutil.copyfile(path, tmp_path / "earlier.db")
    store.submit("main", rows(1, "abc"))
    assert ids_of(snapshot_of(store)) == ["e0", "e1"]
    store.close()
    shutil.copyfile(tmp_path / "earlier.db", path)
    assert ids_of(snapshot_of(store)) == ["e0"]
    store.submit("main", rows(2, "cba"))  # its entry reuses the number of the lost one
    assert ids_of(snapshot_of(store)) == ["e0", "e2"]
    assert differences(store, "main", snapshot_of(store)) == []


def test_a_restored_database_does_not_get_cached_responses(store, path, tmp_path):
    store.submit("main", rows(0, "abc"))
    store.close()
    shutil.copyfile(path, tmp_path / "earlier.db")
    store.submit("main", rows(1, "abc"))
    version, edition, lost = store.version("main"), store.edition("main"), responses(store)
    assert responses(store) == lost
    store.close()
    shutil.copyfile(tmp_path / "earlier.db", path)
    store.submit("main", rows(2, "cba"))
    assert store.version("main") == version
    assert store.edition("main") != edition
    with closing(Store(str(path))) as other:
        assert responses(store) == responses(other) != lost


def responses(store):
    """Read cached values, namely rivals, movers and the sum of reasons."""
    return store.rivals("main", "a"), store.movers("main"), store.reasons("main", "a")


def test_a_recreated_pool_has_none_of_the_old_events(store):
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


NAMES = "abcdefgh"


@pytest.fixture
def filled(store):
    for number in range(12):
        store.submit("main", rows(number, NAMES[number % 3 :][:4]))
    return store


@pytest.fixture
def other(filled):
    """Return the same database's store in another process."""
    with closing(Store(str(filled.engine.url.database))) as other:
        snapshot_of(other)
        yield other


@pytest.fixture
def gate(filled, other, monkeypatch):
    with Gate(monkeypatch) as gate:
        yield gate


def board_of(store):
    return [(row.player, row.rating) for row in store.leaderboard("main").players]


def look(view):
    """Read two values of one version."""
    return board_of(view), view.version("main")


def test_readers_get_the_older_version_during_a_long_correction(filled, other, gate):
    board, version = board_of(filled), filled.version("main")
    other.amend("main", rows(1, "dcba", minute=1))
    assert board_of(filled) == board
    assert gate.has_come()
    assert filled.read_view(look) == (board, version)
    assert gate.count == 1  # one thread reads the log for all
    gate.opened.set()
    with filled.reading("main") as pool:
        newest = newest_seq(pool)
    found = filled.read_view(look, newest)
    assert found == (board_of(other), version + 1)
    assert gate.count == 1
    assert differences(filled, "main", snapshot_of(filled)) == []


def test_readers_get_the_newest_version_after_a_short_correction(filled, other, gate):
    other.amend("main", rows(10, "dcba", minute=10))
    assert filled.read_view(look) == (
        board_of(other), other.version("main"),
    )  # fmt: skip
    assert gate.count == 0


def test_a_reader_waits_for_a_requested_version(filled, other, gate):
    other.amend("main", rows(1, "dcba", minute=1))
    newest = other.version("main")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(filled.read_view, look, newest)
        assert gate.has_come()
        assert filled.read_view(look, newest - 1)[1] == newest - 1
        assert not waiting.done()
        gate.opened.set()
        assert waiting.result() == (board_of(other), newest)
        assert filled.read_view(look, newest + 100)[1] == newest  # the log has no such entry


def test_the_older_version_keeps_its_rating_system(filled, other, gate):
    card, summary = filled.player_card("main", "a"), filled.pool_summary("main")
    other.configure("main", find("glicko2")())
    assert filled.player_card("main", "a") == card
    assert filled.pool_summary("main") == summary
    assert gate.has_come()
    gate.opened.set()
    filled.follow("main")
    filled.snapshots.follow("main", NEWEST)
    assert filled.pool_summary("main").system == "glicko2"
    assert board_of(filled) == board_of(other)


def test_the_older_version_keeps_its_merges(filled, other, gate):
    def read():
        reasons = filled.explain("main", "e2", "f").rows.to_dicts()
        return reasons, filled.event("main", "e2"), filled.player_card("main", "f")

    before = read()
    other.merge("main", "f", "a")
    assert read() == before
    gate.opened.set()
    filled.snapshots.follow("main", NEWEST)
    assert [each.player for each in filled.event("main", "e2").changes if each.player in "af"] == ["a"]


def test_new_names_show_at_once_during_a_long_correction(filled, other, gate):
    other.configure("main", find("glicko2")())
    other.rename("main", "a", "anna")
    pseudonym = other.anonymize("main", "b")
    players = [name for name, _ in board_of(filled)]
    assert gate.has_come()
    assert {"anna", pseudonym} < {*players}
    assert not {"a", "b"} & {*players}


def test_readers_never_see_removed_texts(store, path, monkeypatch):
    for number in range(12):
        store.submit("main", [row | {"event_id": f"ada {number}"} for row in rows(number, ["ada", "ben", "cy"])])
    with closing(Store(str(path))) as other:
        snapshot_of(store)
        Gate(monkeypatch).opened.set()
        other.configure("main", find("glicko2")())
        other.anonymize("main", "ada")
        found = store.event_list("main").events
        assert found == other.event_list("main").events
        assert not any("ada" in each.event_id for each in found)


def test_news_wait_until_the_snapshot_contains_them(filled, other, gate):
    version = filled.version("main")
    other.amend("main", rows(1, "dcba", minute=1))
    other.submit("main", rows(20, "ab"))
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(filled.news, "main", version)
        assert gate.has_come()
        assert not waiting.done()
        gate.opened.set()
        assert waiting.result() == other.news("main", version)
    assert [each["event_id"] for each in waiting.result()] == ["e1", "e20"]


def test_a_writer_waits_for_a_long_correction(filled, other, gate):
    other.amend("main", rows(1, "dcba", minute=1))
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(filled.submit, "main", rows(20, "ab"))
        assert gate.has_come()
        other.submit("main", rows(21, "cd", minute=19))  # the waiting writer does not hold the pool's lock
        gate.opened.set()
        assert waiting.result()[0].status == "rated"
    assert filled.verify() == other.verify() == []
    assert differences(filled, "main", snapshot_of(filled)) == []


def test_a_write_is_visible_once_committed_and_read_once(filled, monkeypatch):
    folded = []
    monkeypatch.setattr(following, "rate", folded.append)  # only readers of the log call this
    seen = []
    filled.observe_write = lambda *_: seen.append([filled.version("main"), snapshot_of(filled).seq])
    filled.submit("main", rows(20, "ab"))
    filled.amend("main", rows(1, "dcba", minute=1))
    filled.configure("main", find("glicko2")())
    assert len(seen) == 3
    assert all(version == seq for version, seq in seen)
    assert folded == []


def test_uncommitted_snapshots_are_released(filled):
    def fail(_connection):
        raise sa.exc.OperationalError("COMMIT", {}, Exception("disk full"))

    held = snapshot_of(filled)
    sa.event.listen(filled.engine, "commit", fail)
    for number in range(2 * MAX_EARLIER):
        with pytest.raises(UnavailableError):
            filled.submit("main", rows(20 + number, "ab"))
    sa.event.remove(filled.engine, "commit", fail)
    assert snapshot_of(filled) is held
    assert all(each.seq <= held.seq for each in filled.snapshots._pools["main"].snapshots.values())


def test_a_hundred_readers_and_a_writer_share_one_read(filled, other, gate):
    other.amend("main", rows(1, "dcba", minute=1))
    newest, start = other.version("main"), threading.Barrier(101)

    def read():
        start.wait(TIMEOUT_S)
        return filled.read_view(look, newest)[1]

    def write():
        start.wait(TIMEOUT_S)
        return filled.submit("main", rows(20, "ab"))[0].status

    with ThreadPoolExecutor(101) as threads:
        writer, *readers = (threads.submit(each) for each in (write, *[read] * 100))
        assert gate.has_come()
        assert filled.read_view(look)[1] < newest  # waiting threads hold none of the 15 connections
        gate.opened.set()
        assert writer.result(TIMEOUT_S) == "rated"
        assert all(each.result(TIMEOUT_S) >= newest for each in readers)
    assert gate.count == 1
    assert filled.verify() == []


def test_the_next_reader_retries_after_a_failed_read(filled, other, gate):
    board = board_of(filled)
    other.amend("main", rows(1, "dcba", minute=1))
    assert board_of(filled) == board
    assert gate.has_come()
    fold = filled.snapshots._pools["main"].fold
    gate.error = StoreError("its log cannot be read")
    gate.opened.set()
    with pytest.raises(StoreError, match="cannot be read"):
        fold.result.result(TIMEOUT_S)
    with pytest.raises(StoreError, match="cannot be read"):
        board_of(filled)
    gate.error = None
    assert board_of(filled) == board_of(other)


def test_a_restored_database_never_serves_a_lost_version(filled, other, gate, path, tmp_path):
    gate.opened.set()
    for each in (filled, other):
        each.close()
    shutil.copyfile(path, tmp_path / "earlier.db")
    before = board_of(filled)
    filled.submit("main", rows(30, "ha"))
    lost = board_of(filled)
    filled.close()
    shutil.copyfile(tmp_path / "earlier.db", path)
    other.amend("main", rows(1, "dcba", minute=1))
    assert board_of(filled) in (before, board_of(other))
    assert lost not in (before, board_of(other))
    assert filled.read_view(look, NEWEST) == look(other)


def test_memory_shared_by_snapshots_counts_once(store):
    store.submit("main", [row for number in range(3_000) for row in rows(number, "abcdef")])
    one, snapshot = store.held_bytes()["main"], snapshot_of(store)
    assert one == pytest.approx(snapshot.rows.size * 90 + snapshot.events.size * 110, rel=0.5)
    for number in range(3_000, 3_010):
        store.submit("main", rows(number, "ab"))
    chunks = 5 * CHUNK_ROWS * 90  # each write copies the last chunk
    assert one < store.held_bytes()["main"] < one + chunks


def test_the_least_recently_read_pool_is_released_first(store):
    for name in ("one", "two"):
        store.create_pool(name, find("elo")())
        store.submit(name, rows(0, "abc"))
    store.submit("main", rows(0, "abc"))
    store.submit("one", [row for number in range(1, 500) for row in rows(number, "abc")])
    with store.reading("one") as reading:
        before = reading.snapshot
        board_of(store)
        snapshot_of(store, "two")
        store.snapshots.most_bytes = sum(store.held_bytes().values()) - 10_000
        store.submit("two", rows(1, "cba"))
        assert {"main", "two"} < store.held_bytes().keys()
        assert "one" not in store.held_bytes()
        assert reading.snapshot is before  # a reader keeps its snapshot until it ends
    assert snapshot_of(store, "one") is not before
    assert differences(store, "one", snapshot_of(store, "one")) == []


def test_a_pool_over_the_limit_is_held_alone(store):
    store.create_pool("one", find("elo")())
    store.limit_memory(1)
    for name in ("main", "one"):
        store.submit(name, rows(0, "abc"))
    assert {*store.held_bytes()} - {""} == {"one"}
    assert snapshot_of(store, "one") is snapshot_of(store, "one")
    assert store.player_card("main", "a").events == 1
    assert store.held_bytes()[""] == 0  # no answer is cached


def test_cached_answers_are_limited_and_the_oldest_are_removed_first():
    answers, found = Answers(10_000), []

    def find_text(key, size=3_000):
        def find():
            found.append(key)
            return "x" * size

        return answers.value(key, 1, find)

    for key in ("a", "b", "c", "a", "d", "a", "c"):
        assert find_text(key) == "x" * 3_000
    assert found == ["a", "b", "c", "d"]
    assert 9_000 < answers.nbytes <= 10_000
    assert find_text("b") == "x" * 3_000
    assert found.pop() == "b"
    find_text("large", 20_000)
    find_text("b")
    assert found.pop() == "large"  # it is not cached, and removes nothing
    assert answers.value("b", 2, lambda: "y") == answers.value("b", 2, lambda: "z") == "y"


def test_unknown_pool_names_take_no_memory(filled):
    for number in range(300):
        with pytest.raises(UnknownError):
            filled.submit(f"pool {number}", rows(0, "ab"))
        with pytest.raises(UnknownError):
            filled.leaderboard(f"pool {number}")
    assert {*filled.held_bytes()} == {"main", ""}
