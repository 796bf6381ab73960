"""Current places of a race: they are outside the log, replaced by each post, and removed with the result."""

import signal
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
import sqlalchemy as sa
from killed import post_places_half, status_of
from races import rows

import podium
from podium.log.database import StoreError
from podium.log.schema import log, running
from podium.store import Store
from podium.store.backup import back_up, restore
from podium.systems import find

NOW = datetime.now(UTC)


@pytest.fixture
def pool(store):
    store.create_pool("main", find("elo")())
    for number, order in enumerate(("abcd", "bacd", "cabd")):
        store.submit("main", rows(number, order))
    store.plan_fixture("main", "e9", starts_at=NOW, entrants=["a", "b", "c", "d"])
    return store


def entries(store):
    with store.engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(log)).scalar_one()


def kept(store):
    with store.engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(running)).scalar_one()


def test_current_places_are_replaced_and_never_logged(pool):
    logged, before = entries(pool), pool.history("main")
    assert pool.places("main", "e9") is None
    first = pool.post_places("main", "e9", ["b", "a"], out=["d"])
    assert (first.places, first.out) == (("b", "a"), ("d",))
    assert timedelta(0) <= datetime.now(UTC) - first.posted_at < timedelta(minutes=1)
    with pytest.raises(StoreError, match="one update per second"):
        pool.post_places("main", "e9", ["a"])
    second = pool.post_places("main", "e9", ["a"], by_hand=True)
    assert pool.places("main", "e9") == second
    assert kept(pool) == 1
    assert entries(pool) == logged
    assert pool.history("main").equals(before)
    assert pool.verify() == []


@pytest.mark.portable
def test_a_kill_during_a_post_leaves_the_old_or_the_new_places(pool):
    logged = entries(pool)
    before = pool.post_places("main", "e9", ["b", "a"])
    url = pool.engine.url.render_as_string(hide_password=False)
    for step in count(1):
        died = status_of(post_places_half, url, step) == -signal.SIGKILL
        stands = pool.places("main", "e9")
        if not died:
            break
        assert stands == before or stands.places == ("c", "a")
    assert step > 3
    assert stands.places == ("c", "a")
    assert (kept(pool), entries(pool), pool.verify()) == (1, logged, [])


def test_changes_if_the_race_ended_now_match_that_result(pool):
    pool.post_places("main", "e9", ["c", "a", "b", "d"])
    moved = pool.running_race("main", "e9").changes
    rated = pool.rated("main")
    result = [
        {"event_id": "x", "pool": "main", "started_at": NOW.isoformat(), "player": name, "position": place}
        for place, name in enumerate("cabd", 1)
    ]
    after = podium.rate(result, "elo", start=rated)
    for name, delta in after.history.select("player", "delta").iter_rows():
        assert moved[name] == pytest.approx(delta, abs=1e-9)
    pool.post_places("main", "e9", ["c"], out=["a"], by_hand=True)
    partly = pool.running_race("main", "e9").changes  # b and d follow in order of rating; a has quit
    assert partly["c"] > 0.0 > partly["a"]
    rating = dict(rated.ratings.select("player", "rating").iter_rows())
    assert [*partly] == ["c", *sorted("bd", key=lambda name: -rating[name]), "a"]
    stands = pool.running_race("main", "e9")
    assert stands.changes == partly
    assert stands.likely == dict(zip(sorted("bd", key=lambda name: -rating[name]), (2, 3), strict=True))
    pool.post_places("main", "e9", ["c", "d"], out=["a"], by_hand=True)
    assert pool.running_race("main", "e9").likely == {"b": 3}


def test_a_result_or_a_cancellation_removes_the_places(pool):
    pool.post_places("main", "e9", ["b", "a"])
    pool.submit("main", rows(9, "ba"))
    assert pool.places("main", "e9") is None
    with pytest.raises(StoreError, match="already has a result"):
        pool.post_places("main", "e9", ["a"], by_hand=True)
    pool.plan_fixture("main", "off", starts_at=NOW, entrants=["a", "b"])
    pool.post_places("main", "off", ["a"])
    assert kept(pool) == 1  # places of finished races are removed
    pool.cancel_fixture("main", "off")
    assert pool.places("main", "off") is None
    assert kept(pool) == 0
    with pytest.raises(StoreError, match="is cancelled"):
        pool.post_places("main", "off", ["a"])


def test_invalid_places_are_rejected(pool):
    with pytest.raises(podium.UnknownError, match="is not entered"):
        pool.post_places("main", "e9", ["stranger"])
    with pytest.raises(podium.ParameterError, match="twice"):
        pool.post_places("main", "e9", ["a"], out=["a"])
    with pytest.raises(podium.UnknownError, match="no fixture"):
        pool.post_places("main", "nothing", ["a"])
    assert kept(pool) == 0


def test_a_restored_copy_has_no_current_places(tmp_path):
    source = Store(str(tmp_path / "one.db"))
    source.create_pool("main", find("elo")())
    source.submit("main", rows(0, "ab"))
    source.plan_fixture("main", "gp", starts_at=NOW, entrants=["a", "b"])
    source.post_places("main", "gp", ["b"])
    back_up(str(tmp_path / "one.db"), tmp_path / "copy.db")
    restore(tmp_path / "copy.db", str(tmp_path / "two.db"))
    other = Store(str(tmp_path / "two.db"))
    assert other.fixture("main", "gp").fixture_id == "gp"
    assert other.places("main", "gp") is None
    source.close()
    other.close()


def test_every_process_shows_the_same_places(pool):
    url = pool.engine.url.render_as_string(hide_password=False)
    other = Store(url)
    posted = pool.post_places("main", "e9", ["b", "a"])
    assert other.places("main", "e9") == posted
    assert other.running_race("main", "e9").changes == pool.running_race("main", "e9").changes
    pool.submit("main", rows(9, "ba"))
    assert other.places("main", "e9") is None
    other.close()
