"""Player cards, curves, changes and rivals match the library's history of the same results."""

import math
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import polars as pl
import pytest
from extent import in_turn

from podium.errors import ParameterError, UnknownError
from podium.ledger.history import thinned
from podium.store import Store
from podium.support.words import shown
from podium.systems import find
from podium.views import rivals as rivals_room

START = datetime(2025, 1, 1, tzinfo=UTC)
PLAYERS = ["ana", "ben", "cleo", "dov", "eva", "雪"]


def race(number, order, *, heats=1, tied=(), quitter="", **more):
    """Return the rows of an event in finishing order, reversed in every other heat."""
    when = START + timedelta(days=number)
    rows = []
    for heat in range(heats):
        names = order if heat % 2 == 0 else order[::-1]
        for place, name in enumerate(names, start=1):
            row = {"event_id": f"e{number:02d}", "started_at": when, "player": name} | more
            if heats > 1:
                row |= {"heat": f"{heat + 1}", "score": 100.0 - 7.0 * place}
            elif name != quitter:
                row["position"] = float(1 if name in tied else place)
            rows.append(row | ({"status": "quit"} if name == quitter else {}))
    return rows


def fill(store, system, *, events=24, seed=3):
    """Create a pool with ties, quits, heats, an unrated event and every kind of correction."""
    store.create_pool("main", system)
    rng = Random(seed)  # noqa: S311
    for number in range(events):
        order = sorted(rng.sample(PLAYERS, rng.randint(2, 6)), key=lambda name: PLAYERS.index(name) + rng.gauss(0, 2))
        rows = race(
            number, order, heats=1 + 2 * (number % 5 == 4), tied=order[:2] if number % 6 == 1 else (),
            quitter=order[-1] if number % 7 == 2 and len(order) > 2 else "", ranked=number % 9 != 8,
        )  # fmt: skip
        store.submit("main", rows)
    store.amend("main", race(3, ["eva", "dov", "ana"]), reason="a wrong order")
    store.void("main", "e06")
    store.submit("main", race(-1, ["ana", "zoe", "ben"]))
    store.submit("main", race(events, ["old eva", "ben"]))
    store.merge("main", "old eva", "eva")
    store.rename("main", "dov", "dave")


def by_player(store):
    """Return the library's changes of each player, oldest first, and the library's result."""
    rated = store.rated("main")
    rows = rated.history.to_dicts()
    names = {row["player"] for row in rows}
    return rated, {name: [row for row in rows if row["player"] == name] for name in names}


def is_established(system, row):
    enough = row["events"] >= system.min_events
    return enough and (system.established_deviation is None or row["deviation"] <= system.established_deviation)


def placed(results, event_id, player):
    """Return the rank in the overall result, or None if the event does not rank the player."""
    rows = [row for row in results.frame.to_dicts() if row["event_id"] == event_id]
    if any(row.get("heat") for row in rows):
        totals = {row["player"]: 0.0 for row in rows}
        for row in rows:
            totals[row["player"]] += row["score"]
        return 1 + sum(total > totals[player] for total in totals.values())
    place = {row["player"]: math.inf if row["status"] == "quit" else row["position"] for row in rows}
    return 1 + sum(each < place[player] for each in place.values())


def longest(flags):
    runs = "".join("x" if flag else " " for flag in flags)
    return max(map(len, runs.split(" "))), len(runs) - len(runs.rstrip("x"))


@pytest.mark.parametrize(
    ("store", "name"),
    [*in_turn(["postgresql", "sqlite"], ["trials", "trueskill"]), ("sqlite", "elo")],
    indirect=["store"],
)
def test_a_player_card_matches_the_history(store, name):
    system = find(name)()
    fill(store, system)
    rated, careers = by_player(store)
    assert {"dave", "zoe", "eva"} <= careers.keys()
    newest = [rows[-1] for rows in careers.values()]
    ranked = sorted((row["rating"] for row in newest if is_established(system, row)), reverse=True)
    assert len({is_established(system, row) for row in newest}) == (2 if name == "trials" else 1)
    for player, rows in careers.items():
        card, last = store.player_card("main", player), rows[-1]
        assert (card.player, card.rating, card.events) == (player, last["rating"], len(rows))
        assert card.deviation == last.get("deviation")
        assert (card.first_played_at, card.last_played_at) == (rows[0]["started_at"], last["started_at"])
        rank = 1 + sum(rating > card.rating for rating in ranked)
        has_rule = system.min_events > 0 or system.established_deviation is not None
        assert card.provisional is not (is_established(system, last) if has_rule else len(rows) >= 5)
        assert (card.rank, card.would_be_rank) == ((None, rank) if card.provisional and has_rule else (rank, None))
        assert card.listed == len(ranked)
        gains = [row["delta"] for row in rows]
        sums = sum(gains[5:][-10:]), len(gains[5:][-10:]), sum(gains[:5])
        assert (card.last_ten, card.last_ten_events, card.finding) == pytest.approx(sums, abs=1e-9)
        points = [shown(r["rating"], system.digits) - shown(r["rating_before"], system.digits) for r in rows]
        assert card.last_ten_shown == float(sum(points[5:][-10:]))
        assert [(line.event_id, line.change, line.rating) for line in card.form] == [
            (row["event_id"], row["rating"] - row["rating_before"], row["rating"]) for row in rows[:-11:-1]
        ]
        assert [line.rank for line in card.form] == [placed(rated.results, each.event_id, player) for each in card.form]
        assert [line.shown for line in card.form] == [float(each) for each in points[:-11:-1]]
        wins = [placed(rated.results, row["event_id"], player) == 1 for row in rows]
        runs = *longest(wins), *longest([gain > 0.0 for gain in gains])
        assert astuple(card.streaks) == runs
        after = rows[5:]
        best = sorted((r for r in after if r["delta"] > 0.0), key=lambda r: -r["delta"])[:5]
        worst = sorted((r for r in after if r["delta"] < 0.0), key=lambda r: r["delta"])[:5]
        days = [[line.event_id for line in each] for each in (card.best_days, card.worst_days)]
        assert days == [[row["event_id"] for row in each] for each in (best, worst)]
        peaks = [row for row in after if is_established(system, row)]
        highest = max(peaks, key=lambda row: row["rating"] - 2.0 * row.get("deviation", 0.0), default=None)
        assert card.is_highest <= (bool(peaks) and card.rating == max(row["rating"] for row in peaks))
        assert (card.peak is None) is (highest is None)
        if highest is not None:
            assert (card.peak.rating, card.peak.event_id) == (highest["rating"], highest["event_id"])
        interval = 25.0 * system.points_per_logit / (400.0 / math.log(10.0))
        if card.deviation is not None:
            interval = 2.0 * card.deviation
        assert card.chance == pytest.approx(interval)
        trend = "climbing" if card.last_ten > interval else "falling" if card.last_ten < -interval else "steady"
        assert card.trend == ("provisional" if card.provisional else trend)
        beside = [(row.rank, row.rating) for row in card.nearby if row.player != player]
        near = [
            *[each for each in ranked if each > card.rating][-2:],
            *[e for e in ranked if e < card.rating][:2],
        ]
        assert beside == [(1 + sum(each > rating for each in ranked), rating) for rating in near]
        assert all(row.ahead == row.rating - card.rating for row in card.nearby)


def test_a_player_card_lists_former_names(store):
    fill(store, find("elo")())
    assert store.player_card("main", "dov").former_names == ("dov",)
    assert store.player_card("main", "old eva") == store.player_card("main", "eva")
    assert store.player_card("main", "eva").former_names == ("old eva",)
    with pytest.raises(UnknownError):
        store.player_card("main", "nobody")


def test_a_season_is_not_an_event_and_equal_ratings_share_ranks(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    sqlite_store.submit("main", race(0, ["ana", "ben", "cleo"]))
    assert sqlite_store.player_card("main", "ana").best_days == ()
    sqlite_store.begin_season("main", "spring", START + timedelta(days=5), keep=0.0)
    card = sqlite_store.player_card("main", "ana")
    assert (card.trend, card.events, card.last_ten) == ("provisional", 1, 0.0)
    assert [(row.rank, row.ahead) for row in card.nearby] == [(1, 0.0)] * 3
    assert card.peak is None
    assert [point.event_id for point in sqlite_store.rating_curve("main", "ana")] == ["e00", None]
    page = sqlite_store.player_changes("main", "ana")
    assert [(row.event_id, row.rank, row.field) for row in page.rows] == [(None, None, None), ("e00", 1, 3)]
    assert sqlite_store.rating_curve("main", "ana", START + timedelta(days=1))[0].event_id is None
    assert sqlite_store.rating_curve("main", "ana", START + timedelta(days=9)) == ()
    sqlite_store.submit("main", race(3_000, ["ben", "ana"]))
    moves = {name: sqlite_store.player_card("main", name).move for name in ("ana", "ben", "cleo")}
    assert moves == {"ana": -2, "ben": 0, "cleo": -1}
    assert sqlite_store.player_card("main", "ana").since is not None


def test_changes_are_split_into_pages(sqlite_store):
    fill(sqlite_store, find("elo")(), events=12)
    whole = sqlite_store.player_changes("main", "ben", top=100)
    assert whole.next is None
    assert [row.event_id for row in whole.rows] == [
        each.event_id for each in sqlite_store.player("main", "ben").history
    ]
    pages, cursor = [], None
    while cursor is not None or not pages:
        page = sqlite_store.player_changes("main", "ben", before=cursor, top=3)
        assert len(page.rows) <= 3
        pages.extend(page.rows)
        cursor = page.next
    assert tuple(pages) == whole.rows
    for cursor in ("", "x", "1", "1,2,3", f"{2**70},1", "nan,1"):
        with pytest.raises(ParameterError, match="next"):
            sqlite_store.player_changes("main", "ben", before=cursor)


def test_a_thinned_curve_keeps_the_ends_and_the_extremes():
    rng = np.random.default_rng(4)
    times = np.sort(rng.integers(0, 10**15, 5_000))
    ratings = rng.normal(size=5_000).cumsum()
    rows = thinned(times, ratings, 300)
    assert rows.size <= 300
    assert (np.diff(rows) > 0).all()
    assert {0, 4_999, int(ratings.argmax()), int(ratings.argmin())} <= set(rows.tolist())
    column = np.minimum((times - times[0]) / (times[-1] - times[0]) * 75, 74).astype(int)
    for number in range(75):
        inside = np.flatnonzero(column == number)
        low, high = inside[ratings[inside].argmin()], inside[ratings[inside].argmax()]
        assert {inside[0], inside[-1], low, high} <= set(rows.tolist())
    assert thinned(np.zeros(500, np.int64), ratings[:500], 300).size <= 4  # all at one time
    centuries = np.linspace(-6e16, 2.5e17, 1_000).astype(np.int64)  # from year 1 to year 9999
    assert 100 < thinned(centuries, ratings[:1_000], 300).size <= 300
    assert thinned(times[:4], ratings[:4], 4).tolist() == [0, 1, 2, 3]


def expected_rivals(rated, rows, player):
    """Sum the explanations by opponent: events, duels, won, drawn, lost, score, expected and points."""
    sums = {}
    for row in rows:
        duels = rated.explain(row["event_id"], player).rows.filter(pl.col("opponent").is_not_null())
        for opponent in duels["opponent"].unique():
            mine = duels.filter(pl.col("opponent") == opponent)
            result = mine["result"]
            new = (
                1, mine.height, (result > 0.5).sum(), (result == 0.5).sum(), (result < 0.5).sum(), result.sum(),
                mine["expected"].sum(), mine["contribution"].sum(),
            )  # fmt: skip
            sums[opponent] = tuple(map(sum, zip(sums.get(opponent, (0,) * 8), new, strict=True)))
    return sums


@pytest.mark.parametrize(("pool", "event_id"), [("time-trial", "e03"), ("main", "time-trial")])
def test_a_mode_comes_from_the_name_of_the_pool_and_not_from_the_event(tmp_path, pool, event_id):
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool(pool, find("stk")())
    for number in range(4):
        rows = race(number, PLAYERS[: number + 2])
        last = {"event_id": event_id} if number == 3 else {}
        store.submit(pool, [row | last | {"time_s": 60.0 + 3.0 * row["position"]} for row in rows])
    rated, found = store.rated(pool), store.explain(pool, event_id, "ana")
    assert found.rows["contribution"].to_list() == rated.explain(event_id, "ana").rows["contribution"].to_list()
    assert found.rows["contribution"].sum() == pytest.approx(found.delta, abs=1e-9)
    events = rated.history.filter(pl.col("player") == "ana")["event_id"]
    rows = [row for each in events for row in rated.explain(each, "ana").rows.to_dicts()]
    met = [row["contribution"] for row in rows if row["opponent"] == "ben"]
    assert next(row.points for row in store.rivals(pool, "ana").opponents if row.opponent == "ben") == pytest.approx(
        sum(met), abs=1e-9
    )
    store.close()


@pytest.mark.parametrize(
    ("store", "name"), in_turn(["postgresql", "sqlite"], ["glicko2", "trueskill"]), indirect=["store"]
)
def test_rivals_are_sums_of_the_explanations(store, name, monkeypatch):
    fill(store, find(name)(), events=12)
    rated, careers = by_player(store)
    explained, divide = [], rivals_room.Breakdown

    def counted(system, events, replayed, event_id, player):
        explained.append(event_id)
        return divide(system, events, replayed, event_id, player)

    monkeypatch.setattr(rivals_room, "Breakdown", counted)
    for player in ("ana", "dave"):
        found = store.rivals("main", player)
        wanted = expected_rivals(rated, careers[player], player)
        assert found.events == len(careers[player])
        assert {row.opponent for row in found.opponents} == wanted.keys()
        for row in found.opponents:
            numbers = (row.events, row.met, row.won, row.drawn, row.lost, row.score, row.expected, row.points)
            assert numbers == pytest.approx(wanted[row.opponent], abs=1e-6)
        assert found.duels == sum(row.met for row in found.opponents) > 0
        assert found.won == sum(row.score for row in found.opponents)
        assert [row.met for row in found.opponents] == sorted((row.met for row in found.opponents), reverse=True)
    upsets = [
        (row["expected"], row["opponent"], each["event_id"])
        for each in careers["ana"]
        for row in rated.explain(each["event_id"], "ana").rows.to_dicts()
        if row["opponent"] is not None and row["result"] > 0.5 > row["expected"]
    ]
    best = store.rivals("main", "ana").best_win
    assert (pytest.approx(best.expected), best.opponent, best.event_id) == min(upsets)
    known = len(explained)
    assert known == len(careers["ana"]) + len(careers["dave"])
    store.submit("main", race(40, ["ana", "ben"]))
    store.rename("main", "ben", "benno")
    after = store.rivals("main", "ana")
    assert explained[known:] == ["e40"]  # known events are not explained again
    assert "benno" in {row.opponent for row in after.opponents}
    store.amend("main", race(40, ["ben", "ana"]))
    again = store.rivals("main", "ana")
    assert again.won == after.won - 1
    with pytest.raises(UnknownError):
        store.rivals("main", "nobody")


def test_rivals_take_a_late_event_into_account(tmp_path):
    """A late event without the player changes the opponents' expected results."""
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("elo")())
    store.submit("main", race(5, ["ana", "ben"]))
    before = store.rivals("main", "ana")
    store.submit("main", race(1, ["ben", "cleo"]))
    after = store.rivals("main", "ana")
    fresh = Store(str(tmp_path / "podium.db"))
    assert after == fresh.rivals("main", "ana") != before
    assert after.best_win.opponent == "ben"
    assert before.best_win is None  # there was no underdog
    fresh.close()
    store.close()


def test_players_who_met_only_in_heats_are_compared_by_heats(store):
    store.create_pool("main", find("elo")())
    table = [
        {"event_id": "h", "started_at": "2031-01-01T00:00:00Z", "heat": heat, "player": name, "position": place}
        for heat, places in (("1", (1, 2)), ("2", (1, 2)), ("3", (2, 1)), ("4", (1, 1)))
        for name, place in zip("ab", places, strict=True)
    ]
    store.submit("main", table)
    found = store.rivalry("main", "a", "b", newest=1)
    assert found.newest_ahead == (1,)
    assert (found.newest[0].wins, found.newest[0].draws, found.newest[0].losses) == (2, 1, 1)
