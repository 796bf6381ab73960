"""Submit, repeat, correct, void, restore, merge, in any order: always what a plain replay of the truth makes."""

import random
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import times
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import podium
from podium.store import Store
from podium.store.database import StoreError
from podium.systems import find

START = datetime(2025, 1, 1, tzinfo=UTC)
PLAYERS = ["ana", "ben", "cleo", "dov", "雪"]
SYSTEM = "stk-rd"  # many fields of state, quits remembered, times


def event(number, minute, order, gone=()):
    when = (START + timedelta(minutes=minute)).isoformat()
    return [
        {"event_id": f"e{number}", "started_at": when, "player": name}
        | ({"status": "quit"} if name in gone else {"position": place, "time_s": 60.0 + place})
        for place, name in enumerate(order, start=1)
    ]


ORDERS = st.lists(st.sampled_from(PLAYERS), min_size=1, max_size=4, unique=True)
MINUTES = st.integers(0, 6)


class Model(RuleBasedStateMachine):
    """The store beside a dict."""

    def __init__(self):
        super().__init__()
        self.store = Store(f"sqlite:////tmp/podium-test-{uuid.uuid4().hex}.db")
        self.store.create_pool("main", find(SYSTEM)())
        self.events = {}  # number: [rows, voided], in order of submission
        self.merged = {}

    def teardown(self):
        self.store.close()
        kept = Path(self.store.engine.url.database)
        for path in kept.parent.glob(f"{kept.name}*"):
            path.unlink()

    def resolved(self, name):
        while name in self.merged:
            name = self.merged[name]
        return name

    def possible(self, rows):
        names = [self.resolved(row["player"]) for row in rows]
        return len(set(names)) == len(names)

    def attempted(self, act, *, fine):
        if fine:
            return act()
        with pytest.raises(podium.ResultsError):
            act()
        return None

    @rule(order=ORDERS, minute=MINUTES, gone=st.sets(st.sampled_from(PLAYERS), max_size=1))
    def submit(self, order, minute, gone):
        rows = event(len(self.events), minute, order, gone if len(order) > 1 and order[0] not in gone else ())
        fine = self.possible(rows)
        self.attempted(lambda: self.store.submit("main", rows), fine=fine)
        if fine:
            self.events[len(self.events)] = [rows, False]

    @precondition(lambda self: self.events)
    @rule(data=st.data())
    def submit_again(self, data):
        number = data.draw(st.sampled_from(sorted(self.events)))
        (told,) = self.store.submit("main", self.events[number][0])
        assert told.duplicate

    @precondition(lambda self: self.events)
    @rule(data=st.data(), order=ORDERS, minute=MINUTES)
    def amend(self, data, order, minute):
        number = data.draw(st.sampled_from(sorted(self.events)))
        rows = event(number, minute, order)
        voided = self.events[number][1]
        fine = voided or self.possible(rows)
        self.attempted(lambda: self.store.amend("main", rows), fine=fine)
        if fine:
            self.events[number][0] = rows

    @precondition(lambda self: self.events)
    @rule(data=st.data(), void=st.booleans())
    def void_or_restore(self, data, void):
        number = data.draw(st.sampled_from(sorted(self.events)))
        fine = void or self.possible(self.events[number][0])
        act = self.store.void if void else self.store.restore
        self.attempted(lambda: act("main", f"e{number}"), fine=fine)
        if fine:
            self.events[number][1] = void

    @precondition(lambda self: len(self.events) > 3)
    @rule(name=st.sampled_from(PLAYERS), into=st.sampled_from(PLAYERS))
    def merge(self, name, into):
        before = dict(self.merged)
        try:
            self.store.merge("main", name, into)
        except (StoreError, podium.UnknownError, podium.ResultsError):
            assert before == self.merged
        else:
            self.merged[name] = into

    def truth(self):
        rows = []
        for number, (told, voided) in self.events.items():
            if not voided:
                rows += [row | {"player": self.resolved(row["player"]), "number": number} for row in told]
        rows.sort(key=lambda row: (row["started_at"], row["number"]))
        return [{key: value for key, value in row.items() if key != "number"} for row in rows]

    @invariant()
    def it_is_what_a_replay_makes(self):
        told = {row["player"]: row["rating"] for row in self.store.leaderboard("main")}
        truth = self.truth()
        expected = podium.rate(truth, SYSTEM).ratings if truth else None
        assert told == ({} if expected is None else dict(zip(expected["player"], expected["rating"], strict=True)))
        assert self.store.verify() == []


Model.TestCase.settings = settings(
    max_examples=times(15, 2000), stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestModel = Model.TestCase


def test_the_order_of_arrival_does_not_matter(new_url):
    """Events that start apart, sent in any order, one at a time or together: one final state."""
    rng = random.Random(4)  # noqa: S311
    events = [event(number, number, rng.sample(PLAYERS, rng.randint(2, 4))) for number in range(12)]
    found = set()
    for kind in ("sqlite", "postgresql"):
        for _ in range(times(4, 250)):
            store = Store(new_url(kind))
            store.create_pool("main", find("trials")())
            shuffled = list(events)
            rng.shuffle(shuffled)
            while shuffled:
                some = [shuffled.pop() for _ in range(min(len(shuffled), rng.randint(1, 3)))]
                store.submit("main", [row for rows in some for row in rows])
            assert store.verify() == []
            found.add(tuple((row["player"], row["rating"], row["rank"]) for row in store.leaderboard("main")))
            store.close()
    assert len(found) == 1
