"""Event lists with headlines, neighbouring events and the week's movers match the history."""

import re
import statistics
from datetime import timedelta
from typing import Any

import pytest
from races import START, rows

from podium.errors import ParameterError, UnknownError
from podium.support.words import shown_change
from podium.systems import find

DAY = 24 * 60


def headlines(store, **more):
    return {each.event_id: each.headline for each in store.event_list("main", **more).events}


def scored(number, minute=None, **scores):
    """Return event e`number` with scores by heat. None means the player quit the heat."""
    (row, *_) = rows(number, "x", minute=minute)
    return [
        {key: row[key] for key in ("event_id", "started_at")}
        | {"player": name, "heat": str(heat)}
        | ({"status": "quit"} if score is None else {"score": score})
        for name, each in scores.items()
        for heat, score in enumerate(each, start=1)
    ]


def test_headlines_name_the_winner_and_the_biggest_gain(store):
    store.create_pool("main", find("elo")())
    store.submit("main", [row for number in range(40) for row in rows(number, ["Ana", "Ben", "Cleo"], minute=0)])
    store.submit("main", rows(40, ["Ana", "Dov", "Ben", "Cleo"]))
    store.submit("main", rows(41, ["Ben", "Ana"]))
    store.submit("main", [row | {"position": 1.0} for row in rows(42, ["Ana", "Ben"])])
    store.submit("main", [row | {"position": 1.0} for row in rows(43, ["Ana", "Ben", "Cleo", "Dov", "Eva"])])
    store.submit("main", [row | {"position": min(row["position"], 2)} for row in rows(44, "vwxyz")])
    store.submit("main", [row | {"position": max(row["position"], 4)} for row in rows(45, "vwxyz")])
    found = headlines(store)
    assert found["e0"] == "Ana won and gained most, +12.0."
    assert found["e40"].startswith("Ana won. Dov gained most, +")
    assert re.fullmatch(r"Ben beat Ana and gained [\d.]+ points\.", found["e41"])
    assert found["e42"].startswith("Ana and Ben drew. Ben gained most, +")
    assert found["e43"].startswith("All 5 drew. ")
    assert found["e44"].startswith("v won and gained most")
    assert found["e45"].startswith("v, w and 2 others won. ")
    store.rename("main", "Ana", "Zoë")
    assert headlines(store)["e0"].startswith("Zoë won")


def test_a_winner_who_lost_points_gets_the_explanations_verdict(store):
    """As in the example season, the headline is the first sentence of the explanation."""
    store.create_pool("main", find("folyami")())
    for number in range(12):
        store.submit("main", rows(number, "abcdef"))
    store.submit("main", scored(30, a=[80, None, 91, 90], b=[50, 90, 10, 12], c=[40, 30, 30, 30], d=[1, 2, 3, 4]))
    (event,) = store.event_list("main", top=1).events
    assert event.winners == ("a",)
    change = next(each for each in store.event("main", "e30").changes if each.player == "a")
    shown = float(shown_change(change.rating_before, change.rating, 1))
    assert shown < 0.0
    assert event.headline == f"a won, but lost {-shown} points."
    assert event.headline == store.explain("main", "e30", "a").verdict
    lost = event.most_lost
    assert lost.change == min(each.delta for each in store.event("main", "e30").changes)


UNRATED: list[tuple[list[dict[str, Any]], list[str]]] = [
    ([{"position": 2}, {"position": 1}, {"position": 3}], ["b"]),
    ([{"score": 5}, {"score": 7}, {"score": 7}], ["b", "c"]),
    ([{"time_s": 61.5}, {"time_s": 60.25}, {"status": "dnf"}], ["b"]),
    ([{"status": "quit"}, {"status": "dnf"}, {"status": "quit"}], []),
    ([{"team": "r", "score": 1}, {"team": "g", "score": 2}, {"team": "r", "score": 2}], ["a", "c"]),
    ([{"team": "r", "team_score": 1}, {"team": "g", "team_score": 2}, {"team": "r", "team_score": 1}], ["b"]),
    ([{"status": "disqualified"}, {"score": 1}, {"score": 0}], ["b"]),
]


def test_an_unrated_event_has_a_winner(store):
    store.create_pool("main", find("elo")())
    for number, (sent, _) in enumerate(UNRATED):
        lines = [row | {"ranked": False} | more for row, more in zip(rows(number, "abc"), sent, strict=True)]
        for row, more in zip(lines, sent, strict=True):
            if "position" not in more:
                del row["position"]
        store.submit("main", lines)
    found = store.event_list("main").events
    for event, (sent, winners) in zip(reversed(found), UNRATED, strict=True):
        assert (event.status, [*event.winners], event.most_gained) == ("unrated", winners, None)
        assert event.headline.endswith("It is not rated.")
        assert event.entrants == 3 - sum(each.get("status") == "disqualified" for each in sent)


def test_headlines_follow_voids_replacements_and_corrections(store):
    store.create_pool("main", find("elo")())
    store.register("main", "m", ["a", "b", "c"])
    store.submit("main", rows(1, "ab"), match_ids={"e1": "m"})
    store.submit("main", rows(2, "abc"), match_ids={"e2": "m"})  # it has more of the entrants, so it replaces e1
    store.submit("main", rows(3, "ab"))
    store.void("main", "e3")
    assert headlines(store) == {"e3": "a won. The result is void.", "e2": "a won and gained most, +12.0."}
    store.amend("main", rows(2, "cab"))
    assert headlines(store)["e2"] == "c won and gained most, +12.0."
    heats = scored(5, d=[3, 1], e=[2, 2], f=[1, 1])
    store.submit("main", heats)
    assert headlines(store)["e5"].startswith("d and e won. ")
    store.merge("main", "d", "a")
    assert headlines(store)["e5"].startswith("a and e won. ")


def test_the_event_list_has_pages_and_neighbours(store):
    store.create_pool("main", find("elo")())
    assert store.event_list("main").events == ()
    for number in range(7):
        store.submit("main", rows(number, "ab", minute=number // 3) + rows(10 + number, "ab", minute=-1))
    whole = [each.event_id for each in store.event_list("main").events]
    assert len(whole) == 14
    for top in (1, 3, 7):
        found, before = [], None
        while before is not None or not found:
            page = store.event_list("main", before=before, top=top)
            found += [each.event_id for each in page.events]
            before = page.next
            if before is None:
                break
        assert found == whole
    store.void("main", whole[5])
    rest = [None, *reversed([each for each in whole if each != whole[5]]), None]
    for before, event_id, after in zip(rest, rest[1:], rest[2:], strict=False):
        beside = store.adjacent_events("main", event_id)
        assert [each and each.event_id for each in (beside.previous, beside.next)] == [before, after]
    assert store.adjacent_events("main", whole[5]).next.event_id == whole[4]
    with pytest.raises(UnknownError):
        store.adjacent_events("main", "none")
    for wrong in ("x", "1", "1,2,3", f"{10**30},1", "nan,nan"):
        with pytest.raises(ParameterError, match="next"):
            store.event_list("main", before=wrong)


def test_movers_are_sums_over_a_week(store):
    store.create_pool("main", find("elo")())
    assert store.movers("main").surprise is None
    for number in range(30):
        order = "abcdefg"[number % 5 :] + "abc"[: number % 3] if number % 5 > 2 else "bdaecfg"
        store.submit("main", rows(number, order, minute=number * DAY / 2))
    store.begin_season("main", "spring", START + timedelta(days=13), keep=0.5)
    store.amend("main", rows(3, "gfedcba", minute=3 * DAY / 2))
    history = store.history("main")
    history = history.filter(~history["event_id"].is_null())
    since = history["started_at"].max() - timedelta(days=7)
    week = history.filter(history["started_at"] >= since)
    sums, counts, shown = {}, {}, {}
    for player, before, delta, rating in week.select("player", "rating_before", "delta", "rating").iter_rows():
        sums[player] = sums.get(player, 0.0) + delta
        counts[player] = counts.get(player, 0) + 1
        shown[player] = shown.get(player, 0) + shown_change(before, rating, 1)
    found = store.movers("main", most=3)
    assert found.since == since
    for rows_found, ordered in (
        (found.gained, sorted(sums, key=lambda n: -sums[n])),
        (found.lost, sorted(sums, key=lambda n: sums[n])),
    ):
        best = [name for name in ordered if (sums[name] > 0) == (rows_found is found.gained) and sums[name]][:3]
        assert [row.player for row in rows_found] == best
        for row in rows_found:
            assert row.change == pytest.approx(sums[row.player], abs=1e-9)
            assert (row.events, row.shown) == (counts[row.player], float(shown[row.player]))
    against = []
    for each in store.event_list("main").events:
        if each.started_at >= since:
            details = store.event("main", each.event_id)
            last = max(line.position for line in details.entries)
            place = {line.player: line.position for line in details.entries}
            against += [
                (abs(change.delta), each.event_id, change.player)
                for change in details.changes
                if (place[change.player] == 1 and change.delta < 0)
                or (place[change.player] == last and change.delta > 0)
            ]
    largest = max(against, default=None) or max(
        (abs(delta), name, who) for name, who, delta in week.select("event_id", "player", "delta").iter_rows()
    )
    surprise = found.surprise
    assert (abs(surprise.change), surprise.event_id, surprise.player) == pytest.approx(largest)
    assert surprise.field == len(store.event("main", surprise.event_id).changes)
    assert surprise.established
    ratings = [row.rating for row in store.leaderboard("main").players]
    assert found.spread == pytest.approx(statistics.pstdev(ratings), rel=1e-9)
    store.submit("main", rows(98, "vwxyz", minute=15 * DAY))  # they all change more, but are provisional
    assert store.movers("main", most=3).surprise.established
    before = store.movers("main", most=3)
    store.submit("main", rows(99, "ab", minute=15 * DAY + 1))
    assert store.movers("main", most=3) != before  # the cache lasts until a new entry


def test_a_surprise_comes_from_the_weeks_newest_changes(store, monkeypatch):
    store.create_pool("main", find("elo")())
    for number in range(12):
        store.submit("main", rows(number, "ab", minute=number))
    store.submit("main", rows(12, "ba", minute=12))
    for number in range(13, 20):
        store.submit("main", rows(number, "ab", minute=number))
    assert store.movers("main").surprise.event_id == "e12"
    for most, found in ((15, "e12"), (14, "e13")):  # the changes of e12 are the 15th and 16th newest
        monkeypatch.setattr("podium.views.headlines.MAX_CHANGES", most)
        store.submit("main", rows(100 + most, "ab", minute=20 + 14 - most))  # this clears the cached result
        store.void("main", f"e{100 + most}")
        assert store.movers("main").surprise.event_id == found
