"""An event that would give an infinite rating is rejected when sent, and left out if a log contains it."""

import pytest
import sqlalchemy as sa
from races import calling, ratings
from races import rows as race

import podium
from podium.errors import NotFiniteError
from podium.log.schema import log, witness
from podium.systems import find

PLAYED = {"played_s": 10.0, "duration_s": 10.0}
NO_TIME = {"played_s": 0.5, "duration_s": 0.5}  # scores in less than a second: xonstat-2015 would divide by zero


def scored(number, order, scores, **more):
    return [row | PLAYED | {"score": score} | more for row, score in zip(race(number, order), scores, strict=True)]


def by_score():
    return find("xonstat-2015")(least_played_s=0.0, least_part=0.0)


def season(without=()):
    """Yield the rows of 12 events. In every third one nobody plays a whole second."""
    for number in range(12):
        if number % 3 != 1:
            yield scored(number, "abc", (30.0 + number, 20.0, 10.0))
        elif number not in without:
            yield scored(number, "bcd", (3.0, 2.0, 1.0), **NO_TIME)


def counts(store):
    with store.engine.connect() as connection:
        return [connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() for table in (log, witness)]


@pytest.fixture
def filled(store):
    store.create_pool("main", by_score())
    for rows in season(without=range(12)):
        store.submit("main", rows)
    return store


def test_an_infinite_rating_is_rejected_and_nothing_is_stored(filled):
    before, stored = ratings(filled), counts(filled)
    with pytest.raises(NotFiniteError, match=r"xonstat-2015: event 'e20' would leave 'b'"):
        filled.submit("main", [*scored(19, "ab", (2.0, 1.0)), *scored(20, "bd", (2.0, 1.0), **NO_TIME)])
    with pytest.raises(NotFiniteError, match=r"event 'e3' would leave"):
        filled.amend("main", scored(3, "ab", (2.0, 1.0), **NO_TIME))
    assert (ratings(filled), counts(filled)) == (before, stored)
    assert filled.verify() == []


def test_the_service_answers_422_and_accepts_other_events(filled):
    before = counts(filled)
    bad, good = (
        {"event_id": name, "started_at": "2025-03-01T00:00:00Z",
         "entries": [{"player": "b", "score": 2.0} | played, {"player": "new", "score": 1.0} | played]}
        for name, played in (("bad", NO_TIME), ("good", PLAYED))
    )  # fmt: skip
    with calling(filled) as client:
        answer = client.post("/api/v1/pools/main/events", json=bad)
        assert answer.status_code == 422
        assert "event 'bad' would leave 'b'" in answer.json()["detail"]
        assert counts(filled) == before
        assert client.post("/api/v1/pools/main/events", json=good).status_code in (200, 201)
        assert client.post("/api/v1/pools/main/events", json=good | {"weight": 100.5}).status_code == 422


def test_a_logged_event_with_an_infinite_rating_is_left_out(store):
    store.create_pool("main", find("elo")())
    for rows in season():
        store.submit("main", rows)
    store.configure("main", by_score())
    truth = podium.Live(by_score())
    for rows in season(without=range(12)):
        truth.rate(rows)
    assert ratings(store) == {name: state.rating for (_, name), state in truth.ratings.items()}
    for number in range(12):
        event = store.event("main", f"e{number}")
        assert (event.status, event.reason) == (("unrated", "not_finite") if number % 3 == 1 else ("rated", ""))
    assert store.verify() == []
    late = scored(40, "ab", (3.0, 4.0), started_at="2025-01-01T00:00:30Z")
    assert store.submit("main", late)[0].status == "rated"
    assert store.event("main", "e4").reason == "not_finite"
    assert store.verify() == []
