"""The order of a pool's events: chosen at creation, by the first event, or changed while there are few events."""

from datetime import UTC, datetime, timedelta

import pytest

from podium.errors import ResultsError
from podium.log.database import StoreError
from podium.log.statements import now
from podium.store import Store
from podium.store.writing.proposals import Sheet
from podium.store.writing.submission import UndatedError
from podium.systems import find

DAY = datetime(2026, 10, 2, 19, tzinfo=UTC)
PAIRS = ("ab", "ba", "bc", "ca", "ac", "cb")


def undated(event_id, *players):
    return [{"event_id": event_id, "player": each, "position": place} for place, each in enumerate(players, 1)]


def dated(event_id, day, *players):
    return [row | {"started_at": (DAY + timedelta(days=day)).isoformat()} for row in undated(event_id, *players)]


def standings(store, pool="main"):
    return {each.player: (each.rating, each.deviation) for each in store.leaderboard(pool, top=9).players}


def whens(store, pool="main"):
    """Return the date or number of each event that counts, in rating order."""
    ids = store.results(pool).frame["event_id"].unique(maintain_order=True)
    return {event_id: store.event(pool, event_id).when for event_id in ids}


@pytest.fixture
def store(tmp_path):
    opened = Store(str(tmp_path / "podium.db"))
    opened.create_pool("main", find("glicko2")())
    yield opened
    opened.close()


def test_the_first_result_sets_the_order_only_explicitly(store):
    with pytest.raises(UndatedError, match="--started-at 2026-01-31, or number the events with --order sequence"):
        store.submit("main", undated("w1", "a", "b"))
    assert (store.order("main"), store.pool_summary("main").order) == (None, None)
    (receipt,) = store.submit("main", undated("w1", "a", "b"), received=now())
    assert (store.order("main"), receipt.notice) == ("dated", "")
    assert store.event("main", "w1").started_at is not None
    store.submit("main", dated("s1", 0, "a", "b"))
    for order, sent, notice in (
        ("sequence", {"order": "sequence"}, "instead of dates"),
        ("dated", {"order": "dated", "received": now()}, ""),
    ):
        store.create_pool(order, find("elo")())
        (receipt,) = store.submit(order, undated("w1", "a", "b"), **sent, dry_run=True)
        assert (store.order(order), notice in receipt.notice) == (None, True)
        store.submit(order, undated("w1", "a", "b"), **sent)
        assert store.order(order) == order
    with pytest.raises(ResultsError, match="podium pool order sequence dated"):
        store.submit("sequence", dated("w2", 1, "a", "b"))
    (receipt,) = store.submit("sequence", undated("w2", "b", "a"), received=now())
    assert (store.event("sequence", "w2").sequence, receipt.notice) == (2, "")


@pytest.mark.parametrize("order", ["dated", "sequence"])
def test_a_pool_keeps_its_initial_order(store, order):
    store.create_pool("own", find("elo")(), order=order)
    assert (store.order("own"), store.pool_summary("own").order) == (order, order)
    store.configure("own", find("glicko2")())
    assert store.order("own") == order
    copied = store.import_pool([*store.export_pool("own")], name="copy").pool
    assert store.order(copied) == order
    if order == "sequence":
        with pytest.raises(ResultsError, match="numbers instead of dates"):
            store.submit("own", dated("w1", 0, "a", "b"))
        store.submit("own", undated("w1", "a", "b"), received=now())
        assert store.event("own", "w1").sequence == 1
        store.begin_season("own", "two", 2.0, keep=0.5)
    else:
        with pytest.raises(UndatedError, match="have dates"):
            store.submit("own", undated("w1", "a", "b"))
        with pytest.raises(ResultsError):
            store.submit("own", [row | {"sequence": 1} for row in undated("w1", "a", "b")])
        store.submit("own", dated("w1", 0, "a", "b"))
    assert not store.verification("own").findings


def test_events_get_numbers_and_then_their_dates_again(store):
    for day, pair in enumerate(PAIRS):
        store.submit("main", dated(f"w{day}", day, *pair))
    store.void("main", "w4")
    store.create_pool("same", find("glicko2")(), order="sequence")
    for day, pair in enumerate(PAIRS):
        store.submit("same", undated(f"w{day}", *pair))
    store.void("same", "w4")
    before, dates = standings(store), whens(store)
    assert store.set_order("main", "sequence", dry_run=True).rerated > 0
    assert (standings(store), store.order("main"), len(store.log("main"))) == (before, "dated", 8)
    store.set_order("main", "sequence", actor="ana")
    assert store.order("main") == "sequence"
    assert standings(store) == standings(store, "same")
    assert whens(store) == whens(store, "same") == {f"w{number}": number + 1 for number in range(6) if number != 4}
    entries = store.log("main")[8:]
    assert [each.kind for each in entries] == ["configure", *["amend"] * 6]
    assert {each.actor for each in entries} == {"ana"}
    assert (store.event("main", "w4").status, store.event("main", "w4").sequence) == ("voided", 5)
    assert store.set_order("main", "sequence") == 0  # it already has this order
    store.submit("main", undated("w6", "a", "c"))
    store.set_order("main", "dated")
    assert whens(store).items() > dates.items()
    assert whens(store)["w6"].date() == datetime.now(UTC).date()
    store.void("main", "w6")
    assert standings(store) == before
    copy = store.import_pool([*store.export_pool("main")], name="copy").pool
    assert (store.order(copy), standings(store, copy)) == ("dated", before)
    assert not store.verification().findings


def test_made_up_dates_keep_the_order(store):
    store.create_pool("own", find("glicko2")(), order="sequence")
    for number, pair in ((1, "ab"), (2, "bc"), (1.5, "ca")):
        store.submit("own", [row | {"sequence": number} for row in undated(f"n{number}", *pair)])
    store.set_order("own", "dated", start=DAY, every="1w")
    expected = {f"n{each}": DAY + timedelta(weeks=week) for week, each in enumerate((1, 1.5, 2))}
    assert whens(store, "own") == expected
    assert store.ranks_of("own", "a")[0].day == (DAY + timedelta(days=1)).date()
    store.set_order("own", "sequence")
    store.set_order("own", "dated", start=DAY)
    moments = whens(store, "own")
    assert [*moments] == sorted(moments, key=moments.get) == ["n1", "n1.5", "n2"]
    assert {each.date() for each in moments.values()} == {DAY.date()}
    assert not store.verification("own").findings


def test_an_impossible_change_of_order_is_rejected(store):
    store.submit("main", [row for number in range(49) for row in dated(f"w{number}", number - 60, "a", "b")])
    store.set_order("main", "sequence")
    store.submit("main", undated("w49", "a", "b"))
    entries = len(store.log("main", most=200))
    for dry_run in (True, False):
        with pytest.raises(StoreError, match="50 events or more"):
            store.set_order("main", "dated", dry_run=dry_run)
    store.create_pool("season", find("elo")())
    store.begin_season("season", "one", DAY, keep=0.5)
    with pytest.raises(StoreError, match="has a season"):
        store.set_order("season", "sequence")
    store.set_order("season", "dated")
    store.create_pool("closed", find("elo")())
    store.close_pool("closed")
    with pytest.raises(StoreError, match="closed"):
        store.set_order("closed", "sequence")
    assert len(store.log("main", most=200)) == entries


def test_repeats_are_recognised_after_a_change_of_order(store):
    sheet = Sheet("night.csv")
    rows = [row for number, pair in enumerate(PAIRS) for row in undated(f"r{number}", *pair)]
    store.submit("main", rows, sheet=sheet, order="sequence")
    store.submit("main", undated("game", "a", "b"), received=now())
    store.set_order("main", "dated", start=DAY, every="1d")
    assert all(each.duplicate for each in store.submit("main", rows, sheet=sheet))
    assert store.submit("main", undated("game", "a", "b"), received=now())[0].duplicate
    changes = store.amend_sheet("main", rows[:4] + undated("r2", "c", "b") + rows[6:], sheet=sheet)
    assert ([each.event_id for each in changes.other], changes.kept, changes.same) == (["r2"], (), 5)
    assert not store.verification("main").findings
