"""Undated pools have exactly the library's ratings of the same results, however they were sent."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from races import ratings

import podium
from podium.ledger.leaderboard import Eligibility
from podium.log.pools import earlier
from podium.log.statements import microseconds
from podium.results.derived_heats import with_made_dates
from podium.store import Store
from podium.systems import find
from podium.views.player_models import Listing

SYSTEMS = ("elo", "adaptive", "glicko:idle_growth=1", "elo-mmr:drift=1")


def race(number, order, **more):
    """Return the rows of an undated event."""
    return [{"event_id": f"e{number}", "player": name, "position": place} | more for place, name in enumerate(order, 1)]


def season(events):
    """Return undated events."""
    orders = ["abcd", "bacd", "cab", "dcba", "ad", "bcd"]
    return [race(number, orders[number % len(orders)]) for number in range(events)]


def bits(store, pool="main"):
    """Return the exact ledger, without columns that the library lacks."""
    return store.history(pool).drop("pool").rows()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, new_url):
    with closing(Store(new_url(request.param))) as opened:
        yield opened


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.portable
def test_every_way_of_submitting_gives_the_librarys_ratings(store, system):
    events = season(14)
    every = [row for rows in events for row in rows]
    expected = podium.rate(every, system).history.drop("pool").rows()
    name, _, setting = system.partition(":")
    made = find(name)(**({setting.split("=")[0]: float(setting.split("=")[1])} if setting else {}))
    for pool in ("whole", "single", "late"):
        store.create_pool(pool, made, order="sequence")
    store.submit("whole", every)
    for rows in events:
        store.submit("single", rows)
    numbered = [[row | {"sequence": number} for row in rows] for number, rows in enumerate(events)]
    store.submit("late", [row for rows in (*numbered[:5], *numbered[6:]) for row in rows])
    store.submit("late", [row | {"sequence": 4.5} for row in events[5]])  # between two events
    assert store.verify() == []
    for pool in ("whole", "single", "late"):
        assert bits(store, pool) == expected
        assert store.order(pool) == "sequence"


def test_renumbering_an_event_matches_a_full_recalculation(store):
    events = season(8)
    store.create_pool("main", find("elo-mmr")(), order="sequence")
    store.submit("main", [row for rows in (*events[1:], events[0]) for row in rows])
    store.amend("main", [row | {"sequence": 0.5} for row in events[0]])
    assert bits(store) == podium.rate([row for rows in events for row in rows], "elo-mmr").history.drop("pool").rows()
    assert store.amend("main", events[0]).duplicate  # without a number it keeps its place
    assert store.event("main", "e0").sequence == 0.5
    assert store.verify() == []


def test_a_repeat_is_recognised_with_and_without_its_number(store):
    store.create_pool("main", find("elo")(), order="sequence")
    (first,) = store.submit("main", race(1, "ab"))
    store.submit("main", race(2, "ba", sequence=7))
    store.submit("main", race(3, "ba"))
    assert [store.event("main", f"e{k}").sequence for k in (1, 2, 3)] == [1.0, 7.0, 8.0]
    for rows in (race(1, "ab"), race(1, "ab", sequence=1), race(2, "ba"), race(2, "ba", sequence=7), race(3, "ba")):
        assert store.submit("main", rows)[0].duplicate
    store.amend("main", race(1, "ab", sequence=9))
    assert store.submit("main", race(1, "ab"))[0].duplicate  # the original submission
    with pytest.raises(podium.PodiumError, match="known with different content"):
        store.submit("main", race(1, "ab", sequence=8))
    assert not first.duplicate
    assert store.verify() == []


def test_a_result_without_a_date_gets_its_time_of_receipt(store):
    store.create_pool("main", find("elo")())
    noon, later = (microseconds(datetime(2025, 1, 1, hour, tzinfo=UTC)) for hour in (12, 13))
    store.submit("main", race(1, "ab", started_at="2025-01-01T12:30:00Z"))
    store.submit("main", race(2, "ba"), received=noon)
    store.submit("main", race(3, "ab"), received=later)
    starts = [store.event("main", f"e{k}").started_at for k in (1, 2, 3)]
    assert starts == sorted(starts)
    assert starts[1] == starts[0]  # never before the newest event
    assert microseconds(starts[2]) == later
    assert store.submit("main", race(2, "ba"), received=later)[0].duplicate
    with pytest.raises(podium.ResultsError, match=r"have dates.*--started-at"):
        store.submit("main", race(4, "ab"))
    with pytest.raises(podium.ResultsError, match="have dates"):
        store.submit("main", race(4, "ab", sequence=4), received=later)
    assert store.order("main") == "dated"
    assert store.verify() == []


def test_real_events_of_1970_stay_dated(store):
    store.create_pool("main", find("elo")())
    store.submit("main", race(1, "ab", started_at="1970-01-01T00:00:17Z"))
    assert store.order("main") == "dated"
    assert store.event("main", "e1").started_at == datetime(1970, 1, 1, 0, 0, 17, tzinfo=UTC)


@pytest.mark.parametrize("number", [float("nan"), 1e300, 0.000001, 3e9, "first"])
def test_unusable_numbers_are_rejected(store, number):
    store.create_pool("main", find("elo")())
    with pytest.raises(podium.PodiumError):
        store.submit("main", race(1, "ab", sequence=number))
    assert store.order("main") is None


def test_numbered_pools_reject_dates(store):
    store.create_pool("main", find("elo")(), order="sequence")
    store.submit("main", race(1, "ab"))
    with pytest.raises(podium.ResultsError, match="instead of dates"):
        store.submit("main", race(2, "ab", started_at="2025-01-01"))
    with pytest.raises(podium.ParameterError, match="number of its first event"):
        store.begin_season("main", "s", datetime(2025, 1, 1, tzinfo=UTC), keep=0.5)
    with pytest.raises(podium.ParameterError, match="later than the next"):
        store.begin_season("main", "s", 3.0, keep=0.5)


def test_a_season_starts_with_the_event_of_its_number(store):
    events = season(9)
    store.create_pool("main", find("elo")(), order="sequence")
    store.submit("main", [row for rows in events for row in rows])
    store.begin_season("main", "second", 5.0, keep=0.5)
    live = podium.Live("elo")
    for number, rows in enumerate(events, 1):
        if number == 5:
            live.reset(0.5, widens=True)
        live.rate(rows)
    assert ratings(store) == {name: state.rating for (_, name), state in live.ratings.items()}
    (found,) = store.seasons("main")
    assert (found.starts_at, found.sequence) == (None, 5.0)
    assert store.verify() == []


@pytest.mark.parametrize("step", [1, 10, 0.5])
@pytest.mark.parametrize("events", [1, 2, 3, 90])
def test_a_span_counts_events_with_any_numbers(step, events):
    """Nine duels have different players, and a voided duel does not count."""
    duels = [race(n, (f"a{n}", f"b{n}"), sequence=1 + n * step) for n in range(10)]
    with closing(Store("sqlite://")) as store:
        store.create_pool("main", find("elo")())
        store.submit("main", [row for rows in duels for row in rows])
        store.void("main", "e8")
        rated = [9, 7, 6, 5, 4, 3, 2, 1, 0]
        listed = {f"{side}{n}" for n in rated[:events] for side in "ab"}
        within = timedelta(days=events)
        board = store.board("main", Eligibility(active_within=within, min_events=0))
        assert set(board["player"]) == listed
        page = store.leaderboard("main", Listing(active_within=within, min_events=0), top=100)
        assert {row.player for row in page.players} == listed
        earlier_board = store.board("main", Eligibility(active_within=within, min_events=0), at=1 + 5 * step)
        assert set(earlier_board["player"]) == {f"{side}{n}" for n in (5, 4, 3, 2, 1, 0)[:events] for side in "ab"}
        assert len(store.movers("main", days=events, most=100).gained) == len(rated[:events])


def test_stored_ranks_are_those_before_an_event(store):
    store.create_pool("main", find("elo")(), order="sequence")
    assert store.snapshot_days("main") == []
    store.submit("main", [row for rows in season(6) for row in rows])
    assert store.snapshot_days("main") == [*range(2, 8)]
    assert [(each.day, each.sequence) for each in store.ranks_of("main", "a")] == [(None, each) for each in range(2, 8)]
    for number in (4, 7):
        board = store.board("main", Eligibility(), at=number - 1.0)
        assert {(each.player, each.rank) for each in store.ranks_on("main", number)} == {
            *board.select("player", "rank").iter_rows()
        }
    for number in (1, 8):
        with pytest.raises(podium.UnknownError, match="no ranks for"):
            store.ranks_on("main", number)
    store.submit("main", race(98, "ab", sequence=1_000_000_000))
    assert store.snapshot_days("main") == [*range(2, 8), 1_000_000_001]


def test_an_undated_pool_is_exported_and_imported(store, new_url):
    store.create_pool("main", find("adaptive")(), order="sequence")
    store.submit("main", [row for rows in season(6) for row in rows])
    store.begin_season("main", "second", 4.0, keep=0.5)
    with closing(Store(new_url("sqlite"))) as other:
        other.import_pool(list(store.export_pool("main")))
        assert other.order("main") == "sequence"
        assert bits(other) == bits(store)
        assert other.submit("main", race(3, "dcba"))[0].duplicate
        assert other.ranks_on("main", 5) == store.ranks_on("main", 5)
        assert other.verify() == []


def test_dates_never_precede_the_calendar():
    assert earlier(datetime(3, 1, 1, tzinfo=UTC), timedelta(days=2000)) == datetime(1, 1, 1, tzinfo=UTC)
    assert earlier(datetime(2003, 1, 1, tzinfo=UTC), timedelta(days=365)) == datetime(2002, 1, 1, tzinfo=UTC)


def test_made_up_dates_follow_the_order_of_the_file():
    frame = podium.read_results([row for rows in season(3) for row in rows]).frame
    dated = with_made_dates(frame, datetime(2001, 1, 31, tzinfo=UTC), "1mo")
    starts = dated.group_by("event_id", maintain_order=True).agg(pl.col("started_at").first())
    assert [f"{each:%Y-%m-%d}" for each in starts["started_at"]] == ["2001-01-31", "2001-02-28", "2001-03-31"]
    for start, every, match in (
        (datetime(2001, 1, 1, tzinfo=UTC), "monthly", "for example 1w"),
        (datetime(2001, 1, 1, tzinfo=UTC), "90y", "future"),
        (datetime(2001, 1, 1, tzinfo=UTC), "9999y", "thousands of years in the future"),
        (datetime(1, 1, 1, tzinfo=UTC), "59993mo", "thousands of years in the future"),
    ):
        with pytest.raises(podium.ParameterError, match=match):
            with_made_dates(frame, start, every)
    with pytest.raises(podium.ParameterError, match="have dates"):
        with_made_dates(dated, datetime(2001, 1, 1, tzinfo=UTC), "1mo")


@pytest.mark.parametrize("system", ["adaptive", "elo"])
def test_an_undated_pool_of_zakstunts_matches_the_library(new_url, shared, system):
    table = pl.read_parquet(shared("data/zakstunts.parquet"))
    whole = podium.rate(table, system).history.drop("pool")
    ids = table["event_id"].unique(maintain_order=True)
    late = ids[len(ids) // 2]
    numbers = pl.col("event_id").replace_strict(ids, range(1, len(ids) + 1), return_dtype=pl.Float64)
    with closing(Store(new_url("sqlite"))) as store:
        store.create_pool("zakstunts", find(system)(), order="sequence")
        store.submit("zakstunts", table)
        assert bits(store, "zakstunts") == whole.rows()
        store.create_pool("late", find(system)(), order="sequence")
        numbered = table.drop("pool").with_columns(sequence=numbers)
        store.submit("late", numbered.filter(pl.col("event_id") != late))
        store.submit("late", numbered.filter(pl.col("event_id") == late))
        assert bits(store, "late") == whole.rows()
        assert store.verify() == []
