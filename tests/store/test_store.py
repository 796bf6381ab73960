"""The store's log, its ratings and its errors, on SQLite and PostgreSQL."""

import threading
from contextlib import closing, suppress

import polars as pl
import pytest
import sqlalchemy as sa
from extent import times
from killed import PROCESSES, submit_without_end
from races import ratings
from races import rows as race
from snapshots import ledger

import podium
from podium.log.database import StoreError, engine_for, open_database, upgrade
from podium.log.schema import metadata, witness
from podium.store import Store
from podium.store.writing.submission import ConflictError
from podium.systems import find


def replayed(*races, system="folyami"):
    rows = [row for rows in races for row in rows]
    ratings = podium.rate(sorted(rows, key=lambda row: row["started_at"]), system).ratings
    return dict(zip(ratings["player"], ratings["rating"], strict=True))


def fill(store):
    store.create_pool("main", find("folyami")())
    for number in range(6):
        store.submit("main", race(number, "abcd" if number % 3 else "dcba"))


@pytest.fixture(params=["sqlite", "postgresql"])
def filled(request, filled_store):
    with closing(filled_store(request.param, fill)) as opened:
        yield opened


def test_submitted_results_match_a_replay(filled):
    races = [race(number, "abcd" if number % 3 else "dcba") for number in range(6)]
    assert ratings(filled) == replayed(*races)
    assert filled.verify() == []
    (receipt,) = filled.submit("main", race(9, "ab"))
    assert (receipt.status, receipt.reason, receipt.duplicate, receipt.rerated) == ("rated", "", False, 0)
    assert [each.player for each in receipt.changes] == ["a", "b"]
    assert receipt.changes[0].delta > 0.0


def test_a_repeat_gets_the_same_receipt(filled):
    (first,) = filled.submit("main", race(7, "abc"))
    (again,) = filled.submit("main", race(7, "abc"))
    assert again.duplicate
    assert (again.seq, again.changes) == (first.seq, first.changes)
    with pytest.raises(ConflictError, match="different content: it has 2 rows, but had 3"):
        filled.submit("main", race(7, "ab"))
    with pytest.raises(ConflictError, match="row 1 is"):
        filled.submit("main", race(7, "bac"))
    assert filled.verify() == []


def test_a_late_event_and_a_correction_match_a_replay(filled):
    races = [race(number, "abcd" if number % 3 else "dcba") for number in range(6)]
    late = race(10, "cxa", minute=1.5)
    (receipt,) = filled.submit("main", late)
    assert receipt.rerated == 16
    assert ratings(filled) == replayed(*races, late)
    races[2] = race(2, "bd")
    assert [each.player for each in filled.amend("main", races[2]).changes] == ["b", "d"]
    assert ratings(filled) == replayed(*races, late)
    moved = race(2, "bd", minute=30)
    filled.amend("main", moved)
    assert ratings(filled) == replayed(*races[:2], *races[3:], late, moved)
    assert filled.verify() == []


def test_a_corrected_history_equals_a_correct_one(new_url):
    kept = []
    for amended in (True, False):
        store = Store(new_url("sqlite"))
        store.create_pool("main", find("trials")())
        for number in range(5):
            order = "ba" if amended and number == 2 else "abc"
            store.submit("main", race(number, order))
        if amended:
            store.amend("main", race(2, "abc"))
        kept.append(ledger(store))
        assert store.verify() == []
        store.close()
    assert kept[0] == kept[1]


def test_an_event_is_voided_and_restored(filled):
    before = ratings(filled)
    assert filled.void("main", "e2").status == "voided"
    assert filled.void("main", "e2").duplicate
    assert ratings(filled) != before
    (again,) = filled.submit("main", race(2, "abcd"))
    assert (again.duplicate, again.status, again.reason) == (True, "voided", "voided")
    assert filled.verify() == []
    assert filled.unvoid("main", "e2").status == "rated"
    assert ratings(filled) == before
    for each in (filled.void, filled.unvoid):
        with pytest.raises(podium.UnknownError):
            each("main", "e99")


def test_merging_two_accounts_recalculates_ratings(filled):
    filled.submit("main", race(6, "xb"))
    assert filled.merge("main", "x", "c") > 0
    assert "x" not in ratings(filled)
    races = [race(number, "abcd" if number % 3 else "dcba") for number in range(6)]
    assert ratings(filled) == replayed(*races, race(6, "cb"))
    assert filled.merge("main", "x", "c") == 0
    filled.submit("main", race(7, "xd"))
    assert ratings(filled) == replayed(*races, race(6, "cb"), race(7, "cd"))
    assert filled.verify() == []
    with pytest.raises(podium.ResultsError, match="took part in e0 as both"):
        filled.merge("main", "a", "b")
    for name, into in (("a", "a"), ("x", "a"), ("a", "x")):
        with pytest.raises(StoreError):
            filled.merge("main", name, into)
    with pytest.raises(podium.UnknownError):
        filled.merge("main", "nobody", "a")
    assert filled.verify() == []


def test_unrated_events_have_a_reason(filled):
    (alone,) = filled.submit("main", race(7, "a"))
    (fun,) = filled.submit("main", race(8, "ab", ranked=False))
    assert (alone.status, alone.reason) == ("unrated", "too_few_entrants")
    assert filled.event_list("main").events[1].headline == "a was alone. It is not rated."
    assert (fun.status, fun.reason) == ("unrated", "unranked")
    filled.create_pool("ts", find("trueskill")())
    (gone,) = filled.submit("ts", [row | {"status": "quit", "position": None} for row in race(1, "ab")])
    assert (gone.status, gone.reason) == ("unrated", "nobody_finished")
    filled.amend("main", race(7, "ab"))
    assert filled.verify() == []


def test_rejected_results_leave_no_trace(filled):
    filled.create_pool("karts", find("stk")())
    before = ratings(filled)
    for pool, rows, error in (
        ("main", [row | {"position": -1} for row in race(7, "ab")], podium.ResultsError),
        (
            "main",
            [{key: value for key, value in row.items() if key != "started_at"} for row in race(7, "ab")],
            podium.ResultsError,
        ),
        ("main", [row | {"pool": "other"} for row in race(7, "ab")], podium.ResultsError),
        ("main", [*race(7, "ab"), *race(1, "ab")], ConflictError),
        ("karts", race(7, "ab"), podium.ResultsError),
        ("nowhere", race(7, "ab"), podium.UnknownError),
    ):
        with pytest.raises(error):
            filled.submit(pool, rows)
    with pytest.raises(podium.ResultsError, match="one event"):
        filled.amend("main", [*race(1, "ab"), *race(2, "ab")])
    with pytest.raises(StoreError, match="already"):
        filled.create_pool("main", find("elo")())
    assert ratings(filled) == before
    assert filled.results("main").frame["event_id"].n_unique() == 6
    assert filled.verify() == []


def test_ranks_and_pages_agree_with_the_leaderboard(filled):
    for number in range(7, 40):
        filled.submit(
            "main",
            race(
                number,
                f"{chr(97 + number % 26)}{chr(97 + number * 7 % 26)}" if number % 26 != number * 7 % 26 else "az",
            ),
        )
    whole = filled.leaderboard("main", top=1000).players
    by_polars = pl.Series([row.rating for row in whole]).rank("min", descending=True)
    assert [row.rank for row in whole] == by_polars.to_list()
    for row in whole:
        assert filled.rank("main", row.player).rank == row.rank
    page = filled.leaderboard("main", top=4)
    rows = [*page.players]
    while page.next is not None:
        page = filled.leaderboard("main", top=4, after=page.next)
        rows += page.players
    assert tuple(rows) == whole
    career = filled.player("main", "a").history
    assert career[0].rating == ratings(filled)["a"]
    with pytest.raises(podium.UnknownError):
        filled.rank("main", "nobody")


def test_verification_reports_tampering(filled):
    with filled.engine.begin() as connection:
        connection.execute(sa.update(witness).values(digest=b"other"))
    findings = "\n".join(filled.verify())
    assert "a replay gives different changes from the stored ones" in findings


def test_unusual_names_are_accepted(filled):
    names = ["雪", "O'Brien; DROP TABLE log", "<b>", " x ", "x" * 200]
    filled.submit("main", race(7, names))
    assert {name.strip() for name in names} <= set(ratings(filled))
    assert filled.verify() == []


def described(engine):
    """Return a database's description of its tables, except Alembic's."""
    inspector, found = sa.inspect(engine), {}
    for table in set(inspector.get_table_names()) - {"alembic_version"}:
        columns = inspector.get_columns(table)
        constraints = inspector.get_pk_constraint(table), inspector.get_table_options(table)
        several = inspector.get_foreign_keys(table), inspector.get_unique_constraints(table)
        indices = [
            each | {"dialect_options": {name: str(value) for name, value in each["dialect_options"].items()}}
            for each in inspector.get_indexes(table)
        ]
        found[table] = [*map(str, (columns, *constraints)), *(sorted(map(str, each)) for each in (*several, indices))]
    return found


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_migrations_create_the_schema(kind, new_url, empty_url):
    migrated, made = (engine_for(make(kind)) for make in (new_url, empty_url))
    upgrade(migrated)
    upgrade(migrated)  # the second time there is nothing to do
    metadata.create_all(made)
    assert described(migrated) == described(made)
    for each in (migrated, made):
        each.dispose()


def test_the_order_of_columns_does_not_matter(store):
    """Databases from before the first release have some columns in other places."""
    with store.engine.begin() as connection:
        for column, kind in (("match_id", "TEXT"), ("present", "INTEGER")):
            connection.exec_driver_sql(f"ALTER TABLE log DROP COLUMN {column}")
            connection.exec_driver_sql(f"ALTER TABLE log ADD COLUMN {column} {kind}")
    store.create_pool("main", find("elo")())
    store.register("main", "m", ["a", "b", "c"])
    store.submit("main", race(1, "ab"), match_ids={"e1": "m"})
    store.import_pool(list(store.export_pool("main")), name="copy")
    assert [(each.kind, each.subject) for each in store.log("copy")][-1] == ("submit", "e1")
    assert store.verify() == []


def test_opening_an_invalid_store_gives_a_clear_error(tmp_path):
    (tmp_path / "no.db").write_text("this is no database, but long enough to be read as the header of one" * 20)
    for url in (str(tmp_path / "no.db"), f"{tmp_path}/no/such/folder.db", "nosuchkind://x:secret@y/z"):
        with pytest.raises(StoreError) as error:
            open_database(url)
        assert "secret" not in str(error.value)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_eight_writers_can_share_three_pools(kind, new_url):
    """Every event counts once, pools do not mix, and the stored ratings match a replay."""
    url = new_url(kind)
    store = Store(url)
    for pool in "xyz":
        store.create_pool(pool, find("elo")())
    failures = []

    def write(writer):
        own = Store(url)
        try:
            for number in range(12):
                own.submit(
                    "xyz"[number % 3], race(writer * 100 + number, "abc" if writer % 2 else "cab", minute=number)
                )
        except Exception as error:  # noqa: BLE001  (the test checks it)
            failures.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [store.results(pool).frame["event_id"].n_unique() for pool in "xyz"] == [32] * 3
    assert store.verify() == []
    store.close()


def test_concurrent_repeats_are_rated_once(new_url):
    url = new_url("sqlite")
    store = Store(url)
    store.create_pool("main", find("elo")())
    receipts = []

    def send():
        own = Store(url)
        receipts.extend(own.submit("main", race(1, "ab")))
        own.close()

    threads = [threading.Thread(target=send) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.duplicate for each in receipts) == [False] + [True] * 31
    assert store.verify() == []
    store.close()


def test_acknowledged_events_survive_a_kill(new_url):
    url = new_url("sqlite")
    store = Store(url)
    store.create_pool("main", find("elo")())
    number, acknowledged = 0, set()
    for kill in range(times(2, 1000)):
        heard, output = PROCESSES.Pipe(duplex=False)
        writer = PROCESSES.Process(target=submit_without_end, args=(url, number, output))
        writer.start()
        output.close()
        for _ in range(1 + kill % 5):
            acknowledged.add(heard.recv())
        writer.kill()
        writer.join()
        with heard, suppress(EOFError):
            while True:
                acknowledged.add(heard.recv())
        number = max(acknowledged) + 1
        kept = set(store.results("main").frame["event_id"].unique())
        assert {f"e{each}" for each in acknowledged} <= kept
        number = max(number, max(int(each[1:]) for each in kept) + 1)
    assert store.verify() == []
    store.close()
