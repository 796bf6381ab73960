"""A snapshot that follows a log exactly matches a replay, and the ledgers of an earlier store."""

import json
import sys
import tempfile
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from digests import HISTORIES, digests_of_history, ledger_of
from extent import times
from folded import begin, contents_of, differences, follow, keep, load
from hypothesis import settings
from hypothesis.stateful import invariant

sys.path.insert(0, str(Path(__file__).parents[1] / "store"))
import histories
from test_any_order import Model

from podium.errors import PodiumError
from podium.pool import columns, contents, fold, rating, states, texts
from podium.store import Store, following
from podium.systems import make_system

ACTS = times(12, 40)
KEPT_SHARE, KEPT_EACH = 0.3, 4  # the share of stored and loaded snapshots, and their interval
LEDGERS = Path(__file__).with_name("ledgers.golden.json")  # recorded with the commit before-fold


@pytest.fixture(autouse=True, scope="module")
def small_parts():
    """Make chunks, levels, parts and spans so small that small pools fill them."""
    with (
        mock.patch.multiple(columns, CHUNK_BITS=2, CHUNK_ROWS=4, PART_CHUNKS=2),
        mock.patch.multiple(contents, MAX_OPEN=3, STORED_ROWS=9),
        mock.patch.multiple(texts, MAX_OPEN=3, PART_TEXTS=2),
        mock.patch.multiple(fold, FEW_EVENTS=1, PART_ENTRIES=7),
        mock.patch.multiple(states, BLOCK_EVENTS=3, PART_BYTES=4_000),
        mock.patch.object(rating, "SPAN_EVENTS", 4),
        mock.patch.object(rating, "SPAN_ROWS", 8),
    ):
        yield


@pytest.mark.parametrize("seed", range(times(8, 60)))
def test_random_histories_exactly_match_a_replay(tmp_path, seed):
    store, truth, rng = (
        histories.new_store(f"sqlite:///{tmp_path}/podium.db", seed),
        histories.truth_of(seed),
        Random(seed),  # noqa: S311
    )
    snapshot = first = begin(store, histories.POOL)
    for _ in range(ACTS):
        act = histories.next_act(rng, truth)
        try:
            act.run(store)
        except PodiumError:
            continue
        act.model(truth)
        snapshot = follow(store, histories.POOL, snapshot)
        assert differences(store, histories.POOL, snapshot) == [], act.name
        if rng.random() < KEPT_SHARE:
            keep(store, histories.POOL, snapshot)
            loaded = load(store, histories.POOL)
            assert contents_of(loaded) == contents_of(snapshot)
            snapshot = loaded
    assert differences(store, histories.POOL, follow(store, histories.POOL, first)) == []
    store.close()


@pytest.mark.parametrize("seed", range(times(6, HISTORIES)))
def test_random_histories_match_the_ledgers_of_an_earlier_store(tmp_path, seed):
    def ledger(store):
        with store.reading(histories.POOL) as pool:
            return ledger_of(pool.snapshot)

    found = digests_of_history(tmp_path / "podium.db", seed, ledger)
    assert found == json.loads(LEDGERS.read_text(encoding="utf-8"))[str(seed)]


class FoldModel(Model):
    """Random acts with registered matches, followed by a snapshot."""

    def __init__(self):
        super().__init__()
        self.snapshot_of_pool = begin(self.store, "main")

    @invariant()
    def matches_a_replay(self):
        self.snapshot_of_pool = follow(self.store, "main", self.snapshot_of_pool)
        assert differences(self.store, "main", self.snapshot_of_pool) == []
        if self.snapshot_of_pool.seq % KEPT_EACH == 0:
            keep(self.store, "main", self.snapshot_of_pool)
            self.snapshot_of_pool = load(self.store, "main")


FoldModel.TestCase.settings = settings(Model.TestCase.settings, max_examples=times(6, 500))
TestFoldModel = FoldModel.TestCase


class SequenceFoldModel(FoldModel):
    """The same acts in an undated pool."""

    is_undated = True


SequenceFoldModel.TestCase.settings = settings(Model.TestCase.settings, max_examples=times(3, 300))
TestSequenceFoldModel = SequenceFoldModel.TestCase


def test_another_system_recalculates_everything():
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/podium.db")
        store.create_pool("main", make_system("elo", {}))
        snapshot = begin(store, "main")
        for number in range(9):
            rows = histories.event(number, number, ["ana", "ben", "cleo"])
            store.submit("main", rows)
        snapshot = follow(store, "main", snapshot)
        old = snapshot.rows.part("state")
        store.configure("main", make_system("adaptive", {}))
        after = follow(store, "main", snapshot)
        assert differences(store, "main", after) == []
        assert snapshot.rows.part("state").tobytes() == old.tobytes()
        store.close()


def test_a_change_of_order_is_followed():
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/podium.db")
        store.create_pool("main", make_system("stk-rd", {}))
        first = snapshot = begin(store, "main")
        for number in range(5):
            store.submit("main", histories.event(number, 2000 * number, ["ana", "ben", "cleo"]))
        snapshot = follow(store, "main", snapshot)
        for order in ("sequence", "dated"):
            store.set_order("main", order)
            snapshot = follow(store, "main", snapshot)
            assert differences(store, "main", snapshot) == []
            assert differences(store, "main", follow(store, "main", first)) == []
        store.close()


def test_a_merge_is_applied_while_all_events_are_void(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/podium.db")
    store.create_pool("main", make_system("elo", {}))
    store.submit("main", histories.event(0, 0, ["ana", "ben", "cleo"]))
    store.submit("main", histories.event(1, 1, ["ana", "dov"]))
    store.merge("main", "dov", "ben")
    for event_id in ("e0", "e1"):
        store.void("main", event_id)
    assert differences(store, "main", follow(store, "main", begin(store, "main"))) == []
    store.close()


def test_new_events_leave_earlier_events_of_the_same_time_as_they_are(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/podium.db")
    store.create_pool("main", make_system("elo", {}))
    for number in range(3):
        store.submit("main", histories.event(number, 0, ["ana", "ben"]))
    before = follow(store, "main", begin(store, "main"))
    for number in range(3, 9):
        store.submit("main", histories.event(number, 0, ["cleo", "ben"]))
    with store.reading("main") as pool:
        draft = following.drafted(pool, before)
    assert draft.first == draft.key(3)
    assert differences(store, "main", follow(store, "main", before)) == []
    store.close()
