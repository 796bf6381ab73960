"""Starting ratings: exact at any time, and kept through merges, seasons, other systems, files and renames."""

import json
from datetime import timedelta

import polars as pl
import pytest
from races import START, rows

import podium
from podium.store import Store
from podium.store.writing.accounts import set_starting_ratings
from podium.systems import find

EVENTS = "ana ben", "cleo ana ben", "ben cleo", "ana cleo dov"


@pytest.fixture
def pool(store):
    store.create_pool("main", find("glicko2")())
    for number, order in enumerate(EVENTS):
        store.submit("main", rows(number, order.split()))
    return store


def start(store, player="cleo", rating=1800.25, deviation=90.0, **options):
    row = {"player": player, "rating": rating, "deviation": deviation}
    return store.run("main", set_starting_ratings([row]), **options)


def rated(*starts):
    """Return the library's ratings of the same results."""
    given = [
        {"player": player, "rating": rating} | ({} if deviation is None else {"deviation": deviation})
        for player, rating, deviation in starts
    ]
    results = [row for number, order in enumerate(EVENTS) for row in rows(number, order.split())]
    return podium.rate(results, "glicko2", start=given or None)


def states(store, system="glicko2"):
    names = ["ana", "ben", "cleo", "dov"]
    return dict(zip(names, store.system_and_states("main", names)[1], strict=True))


def states_of(library):
    names = library.ratings["player"].to_list()
    columns = library.ratings.select(library.system.state_type._fields)
    found = dict(zip(names, map(library.system.state_type._make, columns.rows()), strict=True))
    return {name: found[name] for name in ("ana", "ben", "cleo", "dov")}


def test_starting_ratings_match_the_library(pool):
    before = states(pool)
    planned = start(pool, dry_run=True)
    assert start(pool) == planned.rerated == 8
    assert states(pool) == states_of(rated(("cleo", 1800.25, 90.0)))
    assert pool.rated("main").ratings.equals(rated(("cleo", 1800.25, 90.0)).ratings.with_columns(pool=pl.lit("main")))
    assert start(pool) == 0
    assert len([entry for entry in pool.log("main", most=1000) if entry.kind == "start"]) == 1
    assert start(pool, rating=2000.0, deviation=None) == 8
    assert states(pool) == states_of(rated(("cleo", 2000.0, None)))
    start(pool, rating=1500.0, deviation=None)  # the rating of every new player
    assert states(pool) == before
    assert pool.verify() == []


def test_an_unknown_player_gets_the_rating_in_the_first_event(pool):
    before = states(pool)
    assert start(pool, "eva", 2100.0, 50.0) == 0
    assert states(pool) == before
    assert "eva" not in [row.player for row in pool.leaderboard("main").players]
    assert pool.predict("main", ["ana", "eva"]).entrants["player"][0] == "eva"  # the favourite
    (receipt,) = pool.submit("main", rows(4, ["eva", "ana"]))
    assert receipt.changes[0].rating_before == 2100.0
    assert pool.verify() == []


def test_voids_seasons_and_renames_keep_the_starting_rating(pool):
    start(pool)
    pool.begin_season("main", "s", START + timedelta(minutes=0, seconds=30), keep=0.0)
    pool.void("main", "e1")
    pool.rename("main", "cleo", "cléo")
    first = next(change for change in pool.event("main", "e2").changes if change.player == "cléo")
    assert first.rating_before == 1800.25
    pool.anonymize("main", "cléo")
    assert 1800.25 in [start.rating for start in pool.starting_ratings("main")]
    pool.unvoid("main", "e1")
    assert pool.verify() == []


def test_a_merged_accounts_starting_rating_counts_until_the_merge_is_undone(pool):
    start(pool, "dov", 1700.0, None)
    alone = states(pool)
    pool.merge("main", "dov", "ben")
    assert pool.event("main", "e0").changes[1].rating_before == 1700.0
    start(pool, "dov", 1650.0, None)  # the player's own start replaces the account's
    assert pool.event("main", "e0").changes[1].rating_before == 1650.0
    pool.unmerge("main", "dov")
    start(pool, "ben", 1500.0, None)
    assert states(pool) == alone
    assert pool.verify() == []


def test_only_systems_with_deviations_accept_a_starting_deviation(pool):
    start(pool)
    before = states(pool)
    pool.configure("main", find("elo")())
    assert pool.starting_ratings("main") == ()
    with pytest.raises(podium.ResultsError, match="deviation: is not a column of elo's ratings"):
        start(pool)
    start(pool, "ana", 1700.0, None)
    assert pool.event("main", "e0").changes[0].rating_before == 1700.0
    pool.configure("main", find("glicko2")())
    assert states(pool) == before
    assert pool.verify() == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"rating": float("nan")}, "rating"),
        ({"rating": float("inf")}, "rating"),
        ({"rating": 1800.0, "deviation": -1.0}, "above 0"),
        ({"rating": 1800.0, "deviation": 0.0}, "above 0"),
        ({"rating": "high"}, "rating"),
        ({"player": "", "rating": 1800.0}, "player"),
    ],
)
def test_invalid_starting_ratings_are_rejected(pool, row, message):
    before = pool.version("main")
    with pytest.raises(podium.PodiumError, match=message):
        pool.run("main", set_starting_ratings([{"player": "eva"} | row]))
    with pytest.raises(podium.PodiumError, match="appears twice"):
        pool.run("main", set_starting_ratings([{"player": name, "rating": 1.0} for name in ("eva", "eva")]))
    assert pool.version("main") == before


def test_exports_caches_and_other_processes_keep_starting_ratings(pool, new_url):
    start(pool)
    start(pool, "eva", 1900.0, 70.0)
    other, again = Store(new_url("sqlite")), Store(pool.engine.url.render_as_string(hide_password=False))
    imported = other.import_pool([*pool.export_pool("main")])
    assert imported.moved == 0
    assert other.starting_ratings("main") == again.starting_ratings("main") == pool.starting_ratings("main")
    assert pool.keep_snapshot("main", entries=0)
    assert states(other) == states(again) == states(pool)
    submitted = [one.submit("main", rows(4, ["eva", "ana"])) for one in (other, again)]
    assert submitted[0][0].changes == submitted[1][0].changes
    assert pool.verify() == other.verify() == []
    for one in (other, again):
        one.close()


def test_the_same_starting_rating_is_logged_once_although_a_cache_was_read(pool):
    start(pool)
    assert pool.keep_snapshot("main", entries=0)
    again = Store(pool.engine.url.render_as_string(hide_password=False))
    assert start(again) == 0
    assert [entry.kind for entry in again.log("main")].count("start") == 1
    again.close()


def test_the_last_starting_rating_of_two_merged_accounts_counts_each_time(pool):
    pool.submit("main", rows(4, ["old", "eva"]))
    pool.merge("main", "old", "cleo")
    given = [{"player": player, "rating": rating} for player, rating in {"old": 1500.0, "cleo": 1800.0}.items()]
    for logged in (True, False):
        assert (pool.run("main", set_starting_ratings(given)) > 0) == logged
        assert [each.rating for each in pool.starting_ratings("main")] == [1800.0]


def test_the_first_events_explanation_mentions_the_starting_rating(pool):
    start(pool)
    assert pool.explain("main", "e1", "cleo").summary.endswith("You started at 1800.2, set by the organiser.")
    assert "organiser" not in pool.explain("main", "e2", "cleo").summary
    assert pool.event_story("main", "e1", "cleo").has_start
    assert json.loads([*pool.export_pool("main")][-1])["kind"] == "start"
