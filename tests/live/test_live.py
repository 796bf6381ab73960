"""Live ratings shared by threads, and copies of live ratings."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import podium

THREADS, EVENTS = 8, 50


def event(number, first="ana", second="ben"):
    return [
        {"event_id": str(number), "player": first, "position": 1},
        {"event_id": str(number), "player": second, "position": 2},
    ]


@pytest.fixture
def fast_switching():
    """Let threads switch as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("fast_switching")
def test_threads_lose_no_event():
    live = podium.Live("elo")
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda number: live.rate(event(number)), range(THREADS * EVENTS)))
    assert {seat[1]: state.events for seat, state in live.ratings.items()} == {"ana": 400.0, "ben": 400.0}


@pytest.mark.usefixtures("fast_switching")
def test_newcomers_from_many_threads_have_a_row_each():
    live = podium.Live("elo")
    with ThreadPoolExecutor(THREADS) as threads:
        rated = [threads.submit(live.rate, event(k, f"new{k}", "ben")) for k in range(200)]
        read = [threads.submit(lambda: live.ratings) for _ in range(50)]
        for job in (*rated, *read):
            job.result()
    ratings = {seat[1]: state for seat, state in live.ratings.items()}
    assert len(ratings) == 201
    assert all(state.events == (200.0 if name == "ben" else 1.0) for name, state in ratings.items())


def test_an_event_whose_rating_fails_leaves_no_newcomer(monkeypatch):
    def fail(*_, **__):
        raise podium.RuleError("a rule failed")

    live = podium.Live("elo")
    live.rate(event(1))
    before = live.ratings
    monkeypatch.setattr("podium.live.live.replay", fail)
    with pytest.raises(podium.RuleError):
        live.rate(event(2, "new", "other"))
    assert live.ratings == before


@pytest.mark.usefixtures("fast_switching")
def test_an_event_sent_by_all_threads_is_rated_once():
    live = podium.Live("elo")

    def send(_):
        try:
            live.rate(event("final"))
        except podium.ResultsError as refused:
            return "was rated before" in str(refused)
        return False

    with ThreadPoolExecutor(THREADS) as threads:
        assert sorted(threads.map(send, range(THREADS))) == [False] + [True] * (THREADS - 1)


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda live: pickle.loads(pickle.dumps(live))])  # noqa: S301
def test_a_copy_is_independent(twin):
    live = podium.Live("glicko")
    live.rate(event(1))
    begun = live.ratings
    other = twin(live)
    other.rate(event(2, "cy", "ana"))
    assert live.ratings == begun
    assert len(other.ratings) == 3
    live.rate(event(2, "cy", "ana"))
    assert live.ratings == other.ratings
