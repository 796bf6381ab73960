"""Pools of an earlier version's arithmetic wait, are recalculated once, and then match the log."""

import signal
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime
from unittest import mock

import pytest
import sqlalchemy as sa
from earlier import DAY, duel, fill, make_earlier_database
from killed import status_of, upgrade_half
from races import calling, event, ratings
from snapshots import snapshot_of

import podium
from podium.log import database
from podium.log.database import StoreError
from podium.log.schema import metadata, pools
from podium.pool.columns import numbers_of
from podium.store import Store, upgrading
from podium.store.upgrading import due_pools, is_due, upgrade_pools
from podium.store.writing import execution
from podium.systems import find
from podium.version import ARITHMETIC

both_kinds = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])


@pytest.fixture
def earlier(empty_url):
    """Return a function that creates a database of the earlier version, and returns its URL."""

    def make(kind):
        url = empty_url(kind)
        make_earlier_database(url)
        return url

    return make


def everything(store):
    """Return every row of every table."""
    with store.engine.begin() as connection:
        return {
            table.name: sorted(map(str, connection.execute(sa.select(table)).all())) for table in metadata.sorted_tables
        }


def former_ledger(store, name):
    """Return the stored rating after each change in an earlier version's pool, by event and player."""
    with store.reading(name) as pool:
        return {(seq, player): rating for seq, player, rating in upgrading.former_ratings(pool).rows()}


def present_ledger(store, name):
    """Return the current rating after each change, by event and player."""
    snapshot = snapshot_of(store, name)
    seqs = snapshot.events.columns.at("seq", snapshot.rows.part("event")).tolist()
    ratings = snapshot.rows.part("state")[:, snapshot.pool.system.column("rating")].tolist()
    numbers = numbers_of(snapshot.rows.part("slot")).tolist()
    return {(seq, number): rating for seq, number, rating in zip(seqs, numbers, ratings, strict=True)}


def arithmetics(store):
    return {each.name: each.arithmetic for each in store.pools()}


@both_kinds
def test_a_marked_pool_waits_for_its_recalculation(kind, earlier, new_url):
    truth = fill(Store(new_url(kind)))
    store = Store(earlier(kind))
    assert arithmetics(store) == {"modern": 1, "sixties": 1}
    before, old = everything(store), former_ledger(store, "sixties")

    findings = store.verify()
    assert len(findings) == 2  # their ratings are not reported as errors
    assert all("must be rated again" in each and "podium db upgrade" in each for each in findings)
    rows = duel(9, "2020-01-01")
    for act in (
        lambda: store.submit("sixties", rows),
        lambda: store.submit("sixties", rows, dry_run=True),
        lambda: store.submit("sixties", duel(0, "1968-01-01", "ben", "ana")),
        lambda: store.amend("sixties", duel(0, "1968-01-01")),
        lambda: store.void("sixties", "d0"),
        lambda: store.merge("sixties", "ana", "ben"),
        lambda: store.begin_season("sixties", "s", datetime(2020, 1, 1, tzinfo=UTC), keep=0.5),
        lambda: store.ranks_on("sixties", DAY),
        lambda: store.explain("sixties", "d3", "ana"),
        lambda: store.event_story("sixties", "d3"),
        lambda: store.event_list("sixties"),
        lambda: store.movers("sixties"),
        lambda: store.history("sixties"),
        lambda: store.leaderboard("sixties"),
        lambda: store.search("ana", ["sixties"]),
        lambda: store.player_card("sixties", "ana"),
        lambda: store.rivalry("sixties", "ana", "ben"),
        lambda: store.stakes("sixties", ["ana", "ben"]),
    ):
        with pytest.raises(StoreError, match="run podium db upgrade"):
            act()
    assert everything(store) == before
    assert [each.name for each in store.pool_summaries()] == ["modern", "sixties"]  # the list of pools needs no ratings
    assert store.search("a") == ()

    modern, sixties = upgrade_pools(store, "test")
    assert str(modern) == "pool modern: 2 events rated again, 0 rating changes affected"
    new = present_ledger(store, "sixties")
    moved = [abs(new[key] - old[key]) for key in old if new[key] != old[key]]
    assert new.keys() == old.keys()
    assert min(moved) > 0.0
    assert f"5 events rated again, {len(moved)} rating changes affected" in str(sixties)
    assert f"the largest by {max(moved):.4g} points" in str(sixties)
    assert store.verify() == []
    assert ratings(store, "sixties") == ratings(truth, "sixties")
    assert store.ranks_on("sixties", DAY) == truth.ranks_on("sixties", DAY)
    assert arithmetics(store) == {"modern": ARITHMETIC, "sixties": ARITHMETIC}
    assert store.log("sixties")[-1].kind == "rerate"  # this entry makes cached pages outdated

    after = everything(store)
    assert list(upgrade_pools(store, "test")) == []
    assert everything(store) == after
    for each in (store, truth):
        assert each.submit("sixties", rows)[0].status == "rated"
    assert ratings(store, "sixties") == ratings(truth, "sixties")
    assert store.verify() == []
    for each in (store, truth):
        each.close()


@both_kinds
def test_a_killed_upgrade_can_be_resumed(kind, earlier):
    url = earlier(kind)
    assert status_of(upgrade_half, url) == -signal.SIGKILL
    store = Store(url)
    assert arithmetics(store) == {"modern": ARITHMETIC, "sixties": 1}
    (finding,) = store.verify()
    assert finding.startswith("sixties: the pool must be rated again")
    assert [each.pool for each in upgrade_pools(store, "test")] == ["sixties"]
    assert store.verify() == []
    store.close()


@both_kinds
def test_one_of_two_processes_recalculates_and_the_other_waits(kind, earlier, monkeypatch):
    """The other process waits longer than SQLite's timeout."""
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=1"))
    url = earlier(kind)
    stores = [Store(url), Store(url)]
    begun, may_end, refused = threading.Event(), threading.Event(), threading.Event()
    plain, plain_busy = execution.record, upgrading.is_busy

    def record(proposal):
        begun.set()
        assert may_end.wait(30)
        return plain(proposal)

    def is_busy(error):
        refused.set()
        return plain_busy(error)

    monkeypatch.setattr(execution, "record", record)
    monkeypatch.setattr(upgrading, "is_busy", is_busy)
    reports = [[], []]

    def run(k):
        reports[k] += upgrade_pools(stores[k], f"process {k}")

    threads = [threading.Thread(target=run, args=(k,)) for k in (0, 1)]
    threads[0].start()
    assert begun.wait(30)
    assert due_pools(stores[1].engine) == ["modern", "sixties"]  # readers still see the old state
    threads[1].start()
    if kind == "sqlite":
        assert refused.wait(30)
    may_end.set()
    for thread in threads:
        thread.join()
    done = sorted((each.pool, each.error) for report in reports for each in report)
    assert done == [("modern", ""), ("sixties", "")]  # each pool once
    assert [each.kind for each in stores[0].log("modern")].count("rerate") == 1
    assert stores[0].verify() == []
    for each in stores:
        each.close()


def test_an_upgrade_continues_after_another_process_ends(earlier, monkeypatch):
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=1"))
    url = earlier("sqlite")
    plain, plain_busy = upgrading.moved_ratings, upgrading.is_busy
    other = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)

    def moves(*ledgers):
        other.execute("BEGIN IMMEDIATE")
        return plain(*ledgers)

    def is_busy(error):
        other.rollback()
        return plain_busy(error)

    monkeypatch.setattr(upgrading, "moved_ratings", moves)
    monkeypatch.setattr(upgrading, "is_busy", is_busy)
    with closing(other), closing(Store(url)) as store:
        modern, sixties = upgrade_pools(store, "test")
    assert modern.sentence.startswith("2 events rated again")
    assert sixties.sentence.startswith("5 events rated again")


def test_a_failing_pool_does_not_stop_the_upgrade_of_others(earlier):
    store, rate = Store(earlier("sqlite")), execution.rated_draft

    def rated_draft(draft):
        if draft.base.pool.name == "modern":
            raise podium.ParameterError("time_s is missing")
        return rate(draft)

    with mock.patch.object(execution, "rated_draft", rated_draft):
        modern, sixties = upgrade_pools(store, "test")
    assert "time_s" in modern.error
    assert str(modern) == f"pool modern is unchanged: {modern.error}"
    assert sixties.error == ""
    assert arithmetics(store) == {"modern": 1, "sixties": ARITHMETIC}
    assert store.log("modern")[-1].kind == "submit"
    store.configure("modern", find("elo")())  # this recalculates it from the first event
    assert list(upgrade_pools(store, "test")) == []
    assert store.verify() == []
    store.close()


def test_a_pool_of_a_newer_version_is_not_changed(store):
    fill(store)
    with store.engine.begin() as connection:
        connection.execute(sa.update(pools).where(pools.c.name == "modern").values(arithmetic=ARITHMETIC + 1))
    with pytest.raises(StoreError, match="update Podium"):
        store.void("modern", "d0")
    assert list(upgrade_pools(store, "test")) == []
    (finding,) = store.verify()
    assert "belongs to a newer version" in finding


def test_the_service_explains_why_a_pool_must_wait(earlier, monkeypatch):
    store = Store(earlier("sqlite"))
    with store.engine.begin() as connection:
        connection.execute(sa.update(pools).values(is_public=True))
    board = "/api/v1/pools/sixties/leaderboard"
    with calling(store) as client:
        answer = client.post("/api/v1/pools/sixties/events", json=event(1, "ab"))
        assert answer.status_code == 409
        assert "podium db upgrade" in answer.json()["detail"]
        pages = [board, "/sixties", "/sixties/events", "/sixties/events/d3", "/sixties/players/ana"]
        for refused in map(client.get, pages):
            assert (refused.status_code, "podium db upgrade" in refused.text) == (409, True)
        assert "sixties" not in client.get("/").text
        assert len(list(upgrade_pools(store, "test"))) == 2
        assert [client.get(page).status_code for page in pages] == [200] * len(pages)
    store.close()


def test_a_pool_from_before_1970_verifies(store):
    """Both events give the ratings of one replay, unlike in an early version of Live."""
    store.create_pool("main", find("glicko")(idle_growth=10.0))
    rows = [duel(1, "1968-01-01"), duel(2, "1969-01-01", "ben", "ana")]
    for each in rows:
        store.submit("main", each)
    history = podium.rate([row for each in rows for row in each], "glicko", idle_growth=10.0).history
    assert history.filter(event_id="d2", player="ana")["delta"][0] == pytest.approx(-277.05, abs=0.005)
    assert store.history("main")["rating"].to_list() == history["rating"].to_list()
    assert store.verify() == []
    store.submit("main", duel(3, "1971-01-01"))
    store.submit("main", duel(4, "1950-05-13"))  # a late event
    store.void("main", "d2")
    assert store.verify() == []


def former_of(store):
    with store.engine.connect() as connection:
        return database.former_tables(connection)


@both_kinds
def test_old_tables_are_dropped_after_a_comparison(kind, earlier):
    store = Store(earlier(kind))
    assert {"event", "change", "standing", "season"} <= {*former_of(store)}
    assert is_due(store.engine)
    assert [each.error for each in upgrade_pools(store, "test")] == ["", ""]
    assert former_of(store) == []
    assert not is_due(store.engine)
    columns = {column["name"] for column in sa.inspect(store.engine).get_columns("pool")}
    assert columns == {*pools.c.keys()}
    assert store.verify() == []
    store.close()


@both_kinds
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE event SET started_at = started_at + 1 WHERE event_id = 'd4'", "event 'd4'"),
        ("DELETE FROM event WHERE event_id = 'd4'", "an event is missing"),
        ("UPDATE season SET keep = 0.25", "seasons"),
    ],
)
def test_tables_that_differ_from_the_log_are_named_and_kept(kind, statement, named, earlier):
    store = Store(earlier(kind))
    with store.engine.begin() as connection:
        connection.exec_driver_sql(statement)
    modern, sixties, refused = upgrade_pools(store, "test")
    assert (modern.pool, modern.error) == ("modern", "")
    assert "5 events rated again" in sixties.sentence
    assert (refused.pool, named in refused.error) == ("sixties", True)
    with store.engine.begin() as connection:
        left = connection.exec_driver_sql("SELECT DISTINCT pool_id FROM event").scalars().all()
    assert left == [store.pool("sixties").id]
    (again,) = upgrade_pools(store, "test")
    assert again.error == refused.error
    assert store.verify() == []
    store.close_pool("sixties")
    store.delete_pool("sixties")
    assert [*upgrade_pools(store, "test")] == []
    assert former_of(store) == []
    store.close()
