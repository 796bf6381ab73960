"""Pools of a system with a pool state: every rating starts from exactly the right state."""

import random
from datetime import timedelta
from itertools import combinations
from unittest import mock

import numpy as np
import pytest
from races import START, rows
from snapshots import learnt as states
from snapshots import snapshot_of
from test_overtaken import prepared

import podium
from podium.ledger.reasons import what_if
from podium.store import Store
from podium.systems import find

NAMES = "abcdefgh"
SYSTEM = "adaptive"
both_kinds = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])


def season(events=9, seed=5):
    """Return events of three and four players, one per day."""
    rng = random.Random(seed)  # noqa: S311
    return [rows(number, rng.sample(NAMES, rng.randint(3, 4)), 1440 * number) for number in range(events)]


def filled(url, events, system=SYSTEM):
    store = Store(url)
    store.create_pool("main", find(system)())
    for each in events:
        store.submit("main", each)
    return store


def history(store):
    return store.history("main").drop("pool").rows()


def live_states(events):
    """Return the state after each event of a live rating."""
    live, found = podium.Live(SYSTEM), []
    for each in events:
        live.rate(each)
        found.append(live._ratings.pool_states["default"].astype("<f8").tobytes())
    return found


@both_kinds
def test_states_after_each_event_match_live_rating(kind, new_url):
    events = season()
    store = filled(new_url(kind), [*events[:4], [row for each in events[4:] for row in each]])
    assert states(store) == live_states(events)
    assert store.verify() == []
    store.close()


@both_kinds
def test_a_late_result_changes_later_states_with_a_notice(kind, new_url):
    events = season()
    late, others = events[3], [*events[:3], *events[4:]]
    store = filled(new_url(kind), others)
    before = states(store)
    (dry,) = store.submit("main", late, dry_run=True)
    assert states(store) == before
    (receipt,) = store.submit("main", late)
    assert receipt.notice == dry.notice
    assert "all 5 later events are rated again" in receipt.notice
    after = states(store)
    assert after == live_states(events)
    assert after[:3] == before[:3]
    assert not set(after[4:]) & set(before[3:])
    (again,) = store.submit("main", late)
    assert (again.duplicate, again.notice) == (True, "")
    (newest,) = store.submit("main", rows(20, "ab", 1440 * 20))
    assert newest.notice == ""
    assert store.verify() == []
    store.close()


@both_kinds
def test_corrections_seasons_and_merges_match_a_full_recalculation(kind, new_url):
    events = season()
    store = filled(new_url(kind), events)
    store.void("main", "e2")
    store.amend("main", rows(4, "abcd", 1440 * 4))
    store.begin_season("main", "two", START + timedelta(days=5, minutes=1), keep=0.5)
    store.merge("main", *strangers(events))
    assert len(states(store)) == len(events) - 1
    found = states(store), history(store)
    assert store.verify() == []
    store.configure("main", find("elo")())
    assert states(store) == []
    assert store.verify() == []
    store.configure("main", find(SYSTEM)())
    assert (states(store), history(store)) == found
    assert store.verify() == []
    store.close()


@both_kinds
def test_corrected_scores_match_a_full_recalculation(kind, new_url):
    """With margins and reversion, there is a late result, a wider win, a new season and a merge."""
    rng, system = random.Random(3), find(SYSTEM)(margin=True, reversion=0.1)  # noqa: S311
    events = []
    for number in range(24):
        scores = rng.randint(5, 9), rng.randint(0, 4)
        duel = rows(number, rng.sample(NAMES, 2), 1440 * number)
        events.append([row | {"score": score} for row, score in zip(duel, scores, strict=True)])
    store = Store(new_url(kind))
    store.create_pool("main", system)
    for each in [*events[:13], *events[14:], events[13]]:
        store.submit("main", each)
    wider = [events[15][0] | {"score": 40}, events[15][1]]
    store.amend("main", wider)
    truth = [row for each in [*events[:15], wider, *events[16:]] for row in each]
    whole, live = podium.rate(truth, system), podium.Live(system)
    live.rate(truth)
    assert store.history("main")["rating"].to_list() == whole.history["rating"].to_list()
    assert states(store)[-1] == np.array(whole.pool_state()).tobytes() == np.array(live.pool_state()).tobytes()
    assert store.explain("main", "e15", wider[0]["player"]).delta == whole.explain("e15", wider[0]["player"]).delta
    close, usual = (store.stakes("main", ["a", "b"], "a", margin=margin) for margin in (0.5, None))
    assert close.frame["delta"][0] < usual.frame["delta"][0]
    assert usual.method == whole.stakes(["a", "b"], "a").method
    store.begin_season("main", "two", START + timedelta(days=5, minutes=1), keep=0.5)
    store.merge("main", *strangers(events))
    assert store.verify() == []
    store.close()


def strangers(events):
    """Return two players who never met."""
    fields = [{row["player"] for row in each} for each in events]
    return next(pair for pair in combinations(NAMES, 2) if not any(field.issuperset(pair) for field in fields))


@both_kinds
def test_states_rated_before_the_lock_match_one_transaction(kind, new_url):
    events = season(14)
    late, others = events[3], [*events[:3], *events[4:]]
    plain, parted = filled(new_url(kind), others), filled(new_url(kind), others)
    plain.submit("main", late)
    with prepared() as preparation:
        (receipt,) = parted.submit("main", late)
        assert "all 10 later events" in receipt.notice
        assert states(parted) == states(plain) == live_states(events)
        parted.configure("main", find("elo")())
        parted.configure("main", find(SYSTEM)())
        parted.submit("main", rows("late", "abcnew", 1440 * 2 + 5))
        assert preparation.call_count == 4
    plain.submit("main", rows("late", "abcnew", 1440 * 2 + 5))
    assert (states(parted), history(parted)) == (states(plain), history(plain))
    assert parted.verify() == plain.verify() == []
    for store in (plain, parted):
        store.close()


@both_kinds
def test_forecasts_and_explanations_use_the_state_at_their_time(kind, new_url):
    events = season()
    store, live = filled(new_url(kind), events), podium.Live(SYSTEM)
    for each in events[:-1]:
        live.rate(each)
    who = events[-1][0]["player"]
    named = [row | {"pool": "default"} for row in events[-1]]
    expected, explained = live.explain(named, "e8", who), store.explain("main", "e8", who)
    assert (explained.rating_before, explained.delta) == (expected.rating_before, expected.delta)
    assert explained.rows.drop("opponent").equals(expected.rows.drop("opponent"))
    assert store.what_if("main", "e8", who).delta == live.what_if(named, "e8", who).delta
    with mock.patch.object(what_if, "MAX_IMAGINED", len(events[-1])):
        imagined = store.event_story("main", "e8", who).imagined
        assert imagined is not None
        assert imagined.delta == explained.delta
    with mock.patch.object(what_if, "MAX_IMAGINED", len(events[-1]) - 1):
        assert store.event_story("main", "e8", who).imagined is None
        with pytest.raises(podium.ParameterError, match="entrants, and what-if changes are limited to"):
            store.what_if("main", "e8", who)
    live.rate(events[-1])
    chances, forecast = live.predict(["a", "b", "nobody"]), store.predict("main", ["a", "b", "nobody"])
    assert chances.pairs.equals(forecast.pairs)
    system, _ = store.system_and_states("main", ["a", "b"])
    assert system.standing[0].tobytes() == states(store)[-1]
    beside = store.compare("main", "a", "b").players
    assert (beside[0].expected, beside[1].expected) == (live.expected("a", "b"), live.expected("b", "a"))
    store.close()


def test_an_imported_pool_has_the_states_of_its_log(new_url):
    store = filled(new_url("sqlite"), season())
    found, lines = states(store), [*store.export_pool("main")]
    store.close_pool("main")
    store.delete_pool("main")
    store.import_pool(lines)
    assert states(store) == found
    store.close()


def test_a_system_without_states_stores_none(new_url):
    store = filled(new_url("sqlite"), season(3), "elo")
    store.submit("main", rows("late", "abc", 5))
    assert states(store) == []
    assert snapshot_of(store).learnt.size == 0
    store.close()


@both_kinds
def test_a_pool_can_name_modes(kind, new_url):
    system, store = find(SYSTEM)(modes="clay/grass"), Store(new_url(kind))
    store.create_pool("main", system)
    events = [
        [row | {"mode": ["clay", "grass", "hard"][number % 3]} for row in each] for number, each in enumerate(season())
    ]
    for each in [*events[:3], *events[4:], events[3]]:
        store.submit("main", each)
    whole = podium.rate([row for each in events for row in each], system)
    assert store.history("main")["rating"].to_list() == whole.history["rating"].to_list()
    assert store.pool("main").system == system
    assert store.verify() == []
    store.close()


@pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
def test_draw_probabilities_follow_from_the_log(store):
    """They are exactly the same live, after corrections, in another process and in the library."""
    store.create_pool("main", find("glicko2")())
    rng = random.Random(8)  # noqa: S311

    def duel(number, places=(1, 1)):
        both = rng.sample("abcd", 2)
        return [row | {"position": place} for row, place in zip(rows(number, both, 1440 * number), places, strict=True)]

    for number in (0, 1, 3, 4, 5, 2):  # one event is late
        store.submit("main", duel(number, rng.choice([(1, 1), (1, 2), (2, 1)])))
    store.submit("main", duel(6))
    before = store.predict("main", ["a", "b"]).draw
    store.void("main", rows(6, "ab", 0)[0]["event_id"])
    found = store.predict("main", ["a", "b"])
    assert 0.0 < found.draw < before
    again = Store(store.engine.url.render_as_string(hide_password=False))
    for other in (again.predict("main", ["a", "b"]), store.rated("main").predict(["a", "b"])):
        assert other.draw == found.draw
        assert other.entrants["win"].to_list() == found.entrants["win"].to_list()
    again.close()
