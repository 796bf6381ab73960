"""Upcoming races: each act is an entry of the log, and none changes a rating."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
import sqlalchemy as sa
from races import START, ratings, rows

import podium
from podium.log.database import StoreError
from podium.log.log import CANCEL, PLAN
from podium.log.schema import log
from podium.systems import find

SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)


@pytest.fixture
def pool(store):
    """Store six events of four players."""
    store.create_pool("main", find("elo")())
    for number, order in enumerate(("abcd", "bacd", "cabd", "abdc", "badc", "acbd")):
        store.submit("main", rows(number, order))
    return store


def entries(store, *kinds):
    with store.engine.connect() as connection:
        return list(connection.execute(sa.select(log.c.kind, log.c.subject).where(log.c.kind.in_(kinds))))


def test_every_act_is_logged_and_none_changes_a_rating(pool):
    before = pool.history("main"), ratings(pool)
    planned = pool.plan_fixture("main", "gp", starts_at=SOON, title="Grand Prix", entrants=["a", "b"])
    assert (planned.fixture_id, planned.title, planned.starts_at, planned.status) == (
        "gp",
        "Grand Prix",
        SOON,
        "planned",
    )
    assert planned.sides == [["a"], ["b"]]
    assert pool.plan_fixture("main", "gp", starts_at=SOON, entrants=["a", "b"]) == planned  # unchanged, so no entry
    moved = pool.plan_fixture("main", "gp", starts_at=SOON + timedelta(hours=2))
    assert (moved.starts_at, moved.title, moved.sides) == (SOON + timedelta(hours=2), "Grand Prix", planned.sides)
    late = pool.plan_fixture("main", "gp", entrants=["a", "b", "nobody yet"])
    assert late.sides == [["a"], ["b"], ["nobody yet"]]
    assert pool.plan_fixture("main", "gp", anybody=True).entrants is None
    assert pool.plan_fixture("main", "gp", title="").title is None
    assert pool.cancel_fixture("main", "gp").status == "cancelled"
    assert pool.cancel_fixture("main", "gp").status == "cancelled"
    assert pool.plan_fixture("main", "gp").status == "planned"  # the race is planned again
    assert [row.kind for row in entries(pool, PLAN, CANCEL)] == [PLAN] * 5 + [CANCEL, PLAN]
    assert pool.history("main").equals(before[0])
    assert ratings(pool) == before[1]
    assert pool.verify() == []


def test_an_event_with_a_races_id_is_its_result(pool):
    pool.plan_fixture("main", "e9", starts_at=START + timedelta(minutes=9), entrants=["a", "b", "c"])
    assert pool.fixture("main", "e9").status == "no result"
    pool.submit("main", rows(9, "ba"))
    assert pool.fixture("main", "e9").status == "reported"
    assert {change.player for change in pool.event("main", "e9").changes} == {"a", "b"}
    for act in (pool.plan_fixture, pool.cancel_fixture):
        with pytest.raises(StoreError, match="already has a result"):
            act("main", "e9")
    assert pool.fixtures("main", ahead=True) == ()


def test_invalid_plans_are_rejected(pool):
    with pytest.raises(podium.ParameterError, match="needs a start"):
        pool.plan_fixture("main", "gp")
    with pytest.raises(StoreError, match="an event with that ID"):
        pool.plan_fixture("main", "e1", starts_at=SOON)
    pool.register("main", "lobby", ["a", "b"])
    with pytest.raises(StoreError, match="a match with that ID"):
        pool.plan_fixture("main", "lobby", starts_at=SOON)
    with pytest.raises(podium.ParameterError, match="'a' is entered twice"):
        pool.plan_fixture("main", "gp", starts_at=SOON, entrants=["a", "b", "a"])
    pool.submit("main", rows(7, ["old", "d"]))
    pool.merge("main", "old", "c")
    with pytest.raises(podium.ResultsError, match="are the same player"):
        pool.plan_fixture("main", "gp", starts_at=SOON, entrants=["c", "old"])
    for act in (pool.fixture, pool.cancel_fixture):
        with pytest.raises(podium.UnknownError, match="no fixture 'gp'"):
            act("main", "gp")
    assert pool.fixtures("main") == ()
    pool.plan_fixture("main", "gp", starts_at=SOON)
    with pytest.raises(StoreError, match="already a fixture with that ID"):
        pool.register("main", "gp", ["a", "b"])
    pool.close_pool("main")
    with pytest.raises(StoreError, match="closed"):
        pool.cancel_fixture("main", "gp")


def test_the_calendar_is_in_order_of_start_times(pool):
    for number in (3, 1, 2, 4):
        pool.plan_fixture("main", f"f{number}", starts_at=SOON + timedelta(days=number))
    pool.cancel_fixture("main", "f2")
    assert [each.fixture_id for each in pool.fixtures("main")] == ["f1", "f2", "f3", "f4"]
    assert [each.fixture_id for each in pool.fixtures("main", ahead=True, most=2)] == ["f1", "f3"]
    assert [each.fixture_id for each in pool.fixtures("main", since=SOON + timedelta(days=3))] == ["f3", "f4"]


def test_entrants_have_their_current_names(pool):
    pool.submit("main", rows(7, ["old", "d"]))
    pool.plan_fixture("main", "gp", starts_at=SOON, entrants=["a", "old", "b"])
    pool.merge("main", "old", "a")
    pool.rename("main", "b", "Béla")
    assert pool.fixture("main", "gp").sides == [["a"], ["Béla"]]
    forgotten = pool.anonymize("main", "Béla")
    assert pool.fixture("main", "gp").sides == [["a"], [forgotten]]
    assert pool.verify() == []


@pytest.mark.parametrize("name", ["elo", "adaptive", "glicko2"])
def test_a_pools_stakes_match_the_library(pool, name):
    pool.configure("main", find(name)())
    rated = pool.rated("main")
    pool.plan_fixture("main", "gp", starts_at=SOON, entrants=["a", "b", "c"])
    found = pool.stakes("main", fixture="gp", player="b")
    expected = rated.stakes(["a", "b", "c"], "b", at=SOON)
    assert found.frame.drop("rank").equals(expected.frame.drop("rank"))
    assert found is pool.stakes("main", fixture="gp", player="b")
    joined = pool.stakes("main", fixture="gp", player="d")
    assert joined.sides == 4
    assert pool.stakes("main", ["a", "b"], "a").frame["place"].to_list() == [1.0, 2.0]
    established = {row.player: row.rating for row in pool.leaderboard("main", top=10).players if not row.provisional}
    for line in found.lines("b"):
        others = sum(rating > line["rating"] for player, rating in established.items() if player == "d")
        assert line["rank"] >= 1 + others


def test_stakes_before_an_event_follow_corrections(pool):
    names = ["a", "b", "c", "d"]
    pool.submit("main", rows(8, "dcba"))
    before = podium.rate(pool.results("main").frame.filter(pl.col("event_id") != "e8"), "elo")
    found = pool.event_story("main", "e8", "c").stakes_before
    expected = before.stakes(names, "c")
    assert found.frame["delta"].to_list() == pytest.approx(expected.frame["delta"].to_list(), abs=1e-9)
    came = pool.explain("main", "e8", "c").delta
    assert found.frame.filter(place=2.0)["delta"].item() == pytest.approx(came, abs=1e-9)  # elo sums in any order
    pool.amend("main", rows(0, "dcba"))
    assert pool.event_story("main", "e8", "c").stakes_before.frame["delta"].to_list() != found.frame["delta"].to_list()
    assert pool.newest_heats("main") == 0
    heats = [row | {"heat": heat} for heat in "12" for row in rows(10, "ab")]
    pool.submit("main", heats)
    assert pool.event_story("main", "e10", "a").stakes_before is None
    assert pool.newest_heats("main") == len("12")


def test_an_undated_pools_race_has_a_start_and_stakes_without_a_date(store):
    store.create_pool("main", find("adaptive")(), order="sequence")
    for number in range(5):
        order = "abcd" if number % 2 else "bacd"
        rows_of_event = [{"event_id": f"e{number}", "player": name, "position": k} for k, name in enumerate(order, 1)]
        store.submit("main", rows_of_event)
    assert store.pool("main").is_undated
    store.plan_fixture("main", "gp", starts_at=SOON, entrants=["a", "b", "c"])
    found, expected = store.stakes("main", fixture="gp", player="b"), store.rated("main").stakes(["a", "b", "c"], "b")
    assert found.frame["delta"].to_list() == pytest.approx(expected.frame["delta"].to_list(), abs=1e-9)
    before = store.event_story("main", "e4", "a").stakes_before
    assert before.frame.filter(place=2.0).height == 1
    assert store.verify() == []
