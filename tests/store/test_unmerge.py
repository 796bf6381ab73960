"""Undoing a merge gives the same ratings, names and leaderboards as a pool without the merge."""

from datetime import UTC, datetime

import pytest
from races import START, calling, ratings, rows
from snapshots import snapshot_of

import podium
from podium.log.database import StoreError
from podium.log.pools import day_of
from podium.store import Store
from podium.systems import find

DAY = day_of(datetime(2025, 1, 3, tzinfo=UTC).date())


def race(number, order, minute=None):
    """Return rows with times for a race."""
    return [row | {"time_s": 60.0 + row["position"]} for row in rows(number, order, minute)]


@pytest.fixture
def twin(tmp_path):
    """Return a store in which nobody is ever merged."""
    opened = Store(str(tmp_path / "twin.db"))
    opened.create_pool("main", find("stk-rd")())
    yield opened
    opened.close()


@pytest.fixture
def pool(store):
    store.create_pool("main", find("stk-rd")())
    return store


def fill(store):
    """Store ten events and a season, in which `old`, `older` and `ana` never meet each other."""
    for number, order in enumerate(("ana ben", "old ben", "cleo old", "ana cleo dov", "older dov", "ben older")):
        store.submit("main", race(number, order.split()))
    store.begin_season("main", "s", START.replace(minute=4, second=30), keep=0.5)
    for number, order in enumerate(("ben ana", "dov old", "older cleo", "dov cleo"), start=6):
        store.submit("main", race(number, order.split()))


def assert_equal_pools(store, twin):
    """Check that two pools are exactly the same, apart from the numbers of log entries and players."""
    assert store.history("main").equals(twin.history("main"))
    assert store.leaderboard("main", top=1000) == twin.leaderboard("main", top=1000)
    for player in (row.player for row in store.leaderboard("main", top=1000).players):
        assert store.ranks_of("main", player) == twin.ranks_of("main", player)
    assert store.verify() == []


def stored_merges(store):
    """Return each merged account and its current account."""
    return [*snapshot_of(store).merged.items()]


def test_undoing_a_merge_restores_the_pool(pool, twin):
    fill(pool)
    fill(twin)
    assert pool.merge("main", "old", "ana") > 0
    assert ratings(pool) != ratings(twin)
    assert pool.unmerge("main", "old") > 0
    assert_equal_pools(pool, twin)
    assert stored_merges(pool) == []


@pytest.mark.portable
def test_later_results_belong_to_the_name_they_were_sent_with(pool, twin):
    fill(pool)
    fill(twin)
    pool.merge("main", "old", "ana")
    for each in (pool, twin):
        each.submit("main", [*race(20, ["old", "dov"]), *race(21, ["ana", "ben"])])
        each.submit("main", race(22, ["old", "cleo"], minute=0))
        each.amend("main", race(7, ["old", "dov", "cleo"]))
        each.void("main", "e2")
    pool.unmerge("main", "old")
    assert_equal_pools(pool, twin)
    for each in (pool, twin):
        assert each.submit("main", race(20, ["old", "dov"]))[0].duplicate
        each.submit("main", race(23, ["old", "ana"]))  # now the two can meet
        each.unvoid("main", "e2")
    assert_equal_pools(pool, twin)


@pytest.mark.portable
def test_chained_merges_can_be_undone_in_any_order(pool, twin):
    fill(pool)
    fill(twin)
    pool.merge("main", "older", "old")
    twin.merge("main", "older", "old")
    pool.merge("main", "old", "ana")
    pool.unmerge("main", "old")
    assert_equal_pools(pool, twin)
    with pytest.raises(StoreError, match="'older' was merged into 'old'"):
        pool.merge("main", "older", "ana")
    twin.unmerge("main", "older")
    pool.merge("main", "old", "ana")
    pool.unmerge("main", "older")
    twin.merge("main", "old", "ana")
    assert_equal_pools(pool, twin)
    for each in (pool, twin):
        each.unmerge("main", "old")
    assert_equal_pools(pool, twin)


@pytest.mark.portable
def test_an_account_can_be_merged_again_and_elsewhere(pool, twin):
    fill(pool)
    fill(twin)
    for into in ("ana", "older", "ana"):
        pool.merge("main", "old", into)
        pool.unmerge("main", "old")
    assert_equal_pools(pool, twin)
    for each in (pool, twin):
        each.merge("main", "old", "older")
    assert_equal_pools(pool, twin)


def test_only_a_merged_account_can_be_separated(pool):
    fill(pool)
    before = pool.version("main")
    with pytest.raises(StoreError, match="'ana' was never merged into another player"):
        pool.unmerge("main", "ana")
    with pytest.raises(podium.UnknownError, match="no rated player 'nobody'"):
        pool.unmerge("main", "nobody")
    assert pool.version("main") == before
    pool.merge("main", "old", "ana")
    with pytest.raises(StoreError, match="'ana' was never merged"):
        pool.unmerge("main", "ana")  # the account that remained
    assert pool.unmerge("main", "old") > 0
    before = pool.version("main")
    assert pool.unmerge("main", "old") == 0  # a repeat
    assert pool.version("main") == before


def test_names_stay_with_their_accounts(pool):
    fill(pool)
    before = ratings(pool)
    pool.rename("main", "old", "former")
    pool.merge("main", "former", "ana")
    pool.rename("main", "ana", "anna")
    assert pool.rank("main", "old").player == "anna"
    pool.unmerge("main", "old")  # with its former name
    assert ratings(pool) == {
        {"old": "former", "ana": "anna"}.get(name, name): rating for name, rating in before.items()
    }
    assert pool.rank("main", "old").player == "former"
    assert pool.rank("main", "ana").player == "anna"


def test_a_separated_account_does_not_regain_a_removed_name(pool):
    fill(pool)
    before = ratings(pool)
    pool.merge("main", "old", "ana")
    forgotten = pool.anonymize("main", "ana")
    with pytest.raises(podium.UnknownError):
        pool.unmerge("main", "old")
    ((number, _),) = stored_merges(pool)
    pool.unmerge("main", f"player {number}")
    after = ratings(pool)
    assert (after[forgotten], after[f"player {number}"]) == (before["ana"], before["old"])
    assert pool.verify() == []


@pytest.mark.portable
def test_a_voided_meeting_counts_after_undoing_the_merge(pool, twin):
    fill(pool)
    fill(twin)
    for each in (pool, twin):
        each.submit("main", race(30, ["old", "ana"]))
        each.void("main", "e30")
    pool.merge("main", "old", "ana")
    with pytest.raises(podium.ResultsError, match="took part in e30 as both"):
        pool.unvoid("main", "e30")
    pool.unmerge("main", "old")
    for each in (pool, twin):
        assert each.unvoid("main", "e30").status == "rated"
    assert_equal_pools(pool, twin)


@pytest.mark.portable
def test_undoing_a_merge_keeps_results_of_registered_matches(pool):
    """The result recorded the missing players, and a merged account was not missing."""
    fill(pool)
    pool.register("main", "m", ["old", "ana", "ben"])
    pool.merge("main", "old", "ana")
    pool.submit("main", race(40, ["ana", "ben"]), match_ids={"e40": "m"})
    pool.unmerge("main", "old")
    assert [each.player for each in pool.event("main", "e40").entries] == ["ana", "ben"]
    assert pool.verify() == []
    pool.amend("main", race(40, ["ana", "ben"]))
    assert [each.player for each in pool.event("main", "e40").entries] == ["ana", "ben", "old"]
    assert pool.verify() == []


def test_an_account_without_results_can_be_separated(pool):
    fill(pool)
    pool.merge("main", "old", "ana")
    for event_id in ("e1", "e2", "e7"):
        pool.void("main", event_id)
    assert pool.unmerge("main", "old") == 0
    assert "old" not in ratings(pool)
    assert pool.unvoid("main", "e1").status == "rated"
    assert "old" in ratings(pool)
    assert pool.verify() == []


def test_merges_can_be_undone_over_http(pool):
    fill(pool)
    before = ratings(pool)
    address = "/api/v1/pools/main/players"
    with calling(pool) as client:
        pool.merge("main", "old", "ana")
        assert client.post(f"{address}/old/unmerge").json()["rerated"] > 0
        assert ratings(pool) == before
        assert client.post(f"{address}/old/unmerge").json() == {"rerated": 0}
        assert client.post(f"{address}/ben/unmerge").status_code == 409
        assert client.post(f"{address}/nobody/unmerge").status_code == 404
        assert [each["kind"] for each in client.get("/api/v1/pools/main/log").json()].count("unmerge") == 1


def test_an_account_that_did_not_start_cannot_be_merged_with_a_starter(pool):
    fill(pool)
    starters = race(30, ["ana", "ben"])
    absent = starters[0] | {"player": "old", "position": None, "time_s": None, "status": "did_not_start"}
    pool.submit("main", [*starters, absent])
    with pytest.raises(podium.ResultsError, match="took part in e30 as both"):
        pool.merge("main", "old", "ana")
    pool.merge("main", "old", "older")
    assert pool.verify() == []
