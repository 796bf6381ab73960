"""A slow post does not delay others in its pool, and it changes the same ratings as it would alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from races import calling, event, ratings, rows
from servers import until

from podium.store import Store
from podium.store.writing import execution
from podium.systems import find

PATH = "/api/v1/pools/main/events"


@pytest.fixture
def gate(monkeypatch):
    """Return an event that holds up long work outside the lock, and counts how many tasks arrive."""
    opened, came = threading.Event(), threading.Semaphore(0)
    prepare = execution.Prepared

    def wait(*rated):
        came.release()
        assert opened.wait(30.0)
        return prepare(*rated)

    monkeypatch.setattr(execution, "Prepared", wait)
    opened.came = came
    return opened


@pytest.fixture
def filled(store):
    store.create_pool("main", find("glicko2")())
    for number in range(10, 20):
        store.submit("main", rows(number, "abcd"))
    return store


def alone(tmp_path, *sent):
    """Return the ratings after the same events are sent in chronological order."""
    other = Store(str(tmp_path / "alone.db"))
    other.create_pool("main", find("glicko2")())
    for each in sent:
        other.submit("main", each)
    found = ratings(other)
    other.close()
    return found


def test_other_posts_continue_while_a_late_result_is_rated(filled, gate, monkeypatch, tmp_path):
    monkeypatch.setattr(execution, "SHORT_EVENTS", 5)
    with calling(filled, "write") as client, ThreadPoolExecutor(3) as threads:
        late = [threads.submit(client.post, PATH, json=event(number, "dcba")) for number in (1, 2)]
        assert gate.came.acquire(timeout=30.0)
        until(lambda: client.app.state.intake.waiting_events() == {"main": 2})
        assert client.post(PATH, json=event(20, "abcd")).status_code == 201
        assert client.post(PATH, json={"events": [event(21, "abx"), event(22, "bx")]}).status_code == 201
        assert not any(each.done() for each in late)
        assert client.app.state.intake.waiting_events() == {"main": 2}
        assert not gate.came.acquire(blocking=False)  # one at a time per pool
        gate.set()
        answers = [each.result() for each in late]
        assert client.post(PATH, json=event(1, "dcba")).json()[0]["duplicate"]
        assert client.app.state.intake.waiting_events() == {}
    assert [(each.status_code, each.json()[0]["status"]) for each in answers] == [(201, "rated")] * 2
    assert answers[0].json()[0]["rerated"] > 30
    history = [
        rows(1, "dcba"),
        rows(2, "dcba"),
        *(rows(k, "abcd") for k in range(10, 21)),
        rows(21, "abx"),
        rows(22, "bx"),
    ]
    assert ratings(filled) == alone(tmp_path, *history)
    assert filled.verify() == []


def test_other_posts_continue_while_a_large_event_is_rated(filled, gate, monkeypatch, tmp_path):
    monkeypatch.setattr(execution, "LARGE_EVENT_ROWS", 4)
    with calling(filled, "write") as client, ThreadPoolExecutor(1) as threads:
        large = threads.submit(client.post, PATH, json=event(20, "fedcba"))
        assert gate.came.acquire(timeout=30.0)
        assert client.post(PATH, json=event(21, "ab")).status_code == 201
        gate.set()
        assert large.result().status_code == 201
    history = [*(rows(k, "abcd") for k in range(10, 20)), rows(20, "fedcba"), rows(21, "ab")]
    assert ratings(filled) == alone(tmp_path, *history)
    assert filled.verify() == []


def test_an_invalid_late_result_gets_its_error(filled, gate, monkeypatch):
    monkeypatch.setattr(execution, "SHORT_EVENTS", 5)
    gate.set()
    with calling(filled, "write") as client:
        assert client.post(PATH, json=event(1, "aa")).status_code == 422
        assert client.post(PATH, json=event(1, "ab")).status_code == 201
        assert client.post(PATH, json=event(1, "ba")).status_code == 409
    assert filled.verify() == []


def test_editing_a_large_events_title_is_not_long_work(filled, gate, monkeypatch):
    monkeypatch.setattr(execution, "LARGE_EVENT_ROWS", 3)
    with calling(filled) as client:
        for title in ("one", "another"):
            sent = event(12, "abcd", title=title)
            assert client.put(f"{PATH}/e12", json=sent).status_code == 200
        assert client.get(f"{PATH}/e12").json()["title"] == "another"
    assert not gate.came.acquire(blocking=False)
