"""Acts in any order always give the same result as a plain replay of the events."""

import random
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from extent import times
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from model import Truth
from races import ratings

import podium
from podium.engine.system import System
from podium.log.database import StoreError
from podium.store import Store
from podium.store.writing import proposals
from podium.store.writing.accounts import set_starting_ratings
from podium.systems import find, make_system

START = datetime(2025, 1, 1, tzinfo=UTC)
PLAYERS = ["ana", "ben", "cleo", "dov", "雪"]
SYSTEM = "stk-rd"  # it uses many state fields, quits and times


def event(number, minute, order, gone=(), *, undated=False):
    when = {"sequence": minute} if undated else {"started_at": (START + timedelta(minutes=minute)).isoformat()}
    return [
        {"event_id": f"e{number}", "player": name}
        | when
        | ({"status": "quit"} if name in gone else {"position": place, "time_s": 60.0 + place})
        for place, name in enumerate(order, start=1)
    ]


@pytest.fixture(autouse=True, scope="module")
def small_parts():
    """Split small ledgers into several digests."""
    with mock.patch.object(proposals, "PART_ROWS", 3):
        yield


ORDERS = st.lists(st.sampled_from(PLAYERS), min_size=1, max_size=4, unique=True)
CARS = ["red", "blue", "grey"]
MINUTES = st.integers(0, 6)


class Model(RuleBasedStateMachine):
    """The store and a plain Python model."""

    system: str | System = SYSTEM
    is_undated = False

    def event(self, number, minute, order, gone=()):
        return event(number, minute, order, gone, undated=self.is_undated)

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="podium-test-")
        self.store = Store(f"sqlite:///{self.folder.name}/podium.db")
        self.store.create_pool("main", make_system(self.system, {}))
        self.truth = Truth(self.system, is_undated=self.is_undated)
        self.unmerged = set()

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    def attempt(self, become, act):
        """Apply an act to both, or expect the store's error if a player would be in an event twice."""
        after = self.truth.copied()
        become(after)
        if after.possible():
            self.truth = after
            return act()
        with pytest.raises(podium.ResultsError):
            act()
        return None

    def any_event(self, data):
        return data.draw(st.sampled_from(sorted(self.truth.events)))

    @rule(order=ORDERS, minute=MINUTES, gone=st.sets(st.sampled_from(PLAYERS), max_size=1))
    def submit(self, order, minute, gone):
        number = len(self.truth.events)
        rows = self.event(number, minute, order, gone if len(order) > 1 and order[0] not in gone else ())
        self.attempt(lambda truth: truth.upsert(f"e{number}", rows), lambda: self.store.submit("main", rows))

    @precondition(lambda self: self.truth.events)
    @rule(data=st.data())
    def submit_again(self, data):
        known = self.truth.events[self.any_event(data)]
        sent = [row for row in known["rows"] if "position" in row or known["match"] is None]
        (receipt,) = self.store.submit("main", sent)
        assert receipt.duplicate

    @rule(entrants=st.lists(st.sampled_from(PLAYERS), min_size=2, max_size=4, unique=True))
    def register(self, entrants):
        number = f"m{len(self.truth.matches)}"
        if len({self.truth.resolved(name) for name in entrants}) == len(entrants):
            self.truth.matches[number] = entrants
            self.store.register("main", number, entrants)
        else:
            with pytest.raises(podium.ResultsError):
                self.store.register("main", number, entrants)

    @precondition(lambda self: self.truth.matches)
    @rule(data=st.data(), order=ORDERS, minute=MINUTES)
    def report(self, data, order, minute):
        number, match = len(self.truth.events), data.draw(st.sampled_from(sorted(self.truth.matches)))
        rows = self.event(number, minute, order)
        self.attempt(
            lambda truth: truth.upsert(f"e{number}", rows, match),
            lambda: self.store.submit("main", rows, match_ids={f"e{number}": match}),
        )

    @precondition(lambda self: self.truth.events)
    @rule(data=st.data(), order=ORDERS, minute=MINUTES, dry_run=st.booleans())
    def amend(self, data, order, minute, dry_run):
        event_id = self.any_event(data)
        rows = self.event(event_id[1:], minute, order)
        if dry_run:
            before = self.truth.copied()
            self.attempt(
                lambda truth: truth.upsert(event_id, rows), lambda: self.store.amend("main", rows, dry_run=True)
            )
            self.truth = before
        else:
            self.attempt(lambda truth: truth.upsert(event_id, rows), lambda: self.store.amend("main", rows))

    @precondition(lambda self: self.truth.events)
    @rule(data=st.data(), void=st.booleans())
    def void_or_restore(self, data, void):
        event_id = self.any_event(data)
        act = self.store.void if void else self.store.unvoid
        self.attempt(lambda truth: truth.events[event_id].update(voided=void), lambda: act("main", event_id))

    @precondition(lambda self: len(self.truth.seasons) < 3)
    @rule(minute=MINUTES, keep=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    def season(self, minute, keep):
        starts = minute if self.is_undated else START + timedelta(minutes=minute)
        before = minute - 1e-6 if self.is_undated else starts.isoformat()  # a season includes its first event
        season = before, self.truth.next(), keep
        try:
            self.store.begin_season("main", f"s{len(self.truth.seasons)}", starts, keep=keep)
        except podium.ParameterError:  # an undated pool has no such event
            assert self.is_undated
            assert not self.truth.events or minute > self.truth.following
        else:
            self.truth.seasons.append(season)

    @rule(
        name=st.sampled_from([*PLAYERS, "new"]),
        rating=st.sampled_from([900.0, 1800.1]),
        deviation=st.sampled_from([None, 60.0]),
    )
    def starting_rating(self, name, rating, deviation):
        self.truth.start(name, rating, deviation)
        row = {"player": name, "rating": rating, "deviation": deviation}
        self.store.run("main", set_starting_ratings([row]))

    @precondition(lambda self: len(self.truth.events) > 3)
    @rule(name=st.sampled_from(PLAYERS), into=st.sampled_from(PLAYERS))
    def merge(self, name, into):
        after = self.truth.copied()
        after.merged[name] = into
        try:
            self.store.merge("main", name, into)
        except podium.ResultsError:
            assert not after.possible()
        except (StoreError, podium.UnknownError):
            pass
        else:
            self.truth = after
            assert self.truth.possible()

    @precondition(lambda self: self.truth.events)
    @rule(name=st.sampled_from(PLAYERS))
    def unmerge(self, name):
        if name in self.truth.merged:
            del self.truth.merged[name]
            self.store.unmerge("main", name)
            self.unmerged.add(name)
        elif name in self.unmerged:
            assert self.store.unmerge("main", name) == 0
        else:
            with pytest.raises((StoreError, podium.UnknownError)):
                self.store.unmerge("main", name)

    @invariant()
    def matches_a_replay(self):
        assert ratings(self.store) == self.truth.ratings()
        assert self.store.verify() == []


Model.TestCase.settings = settings(
    max_examples=times(8, 2000), stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestModel = Model.TestCase


class LearningModel(Model):
    """The same acts in a pool with a pool state."""

    system: str | System = "adaptive"


LearningModel.TestCase.settings = settings(Model.TestCase.settings, max_examples=times(3, 1000))
TestLearningModel = LearningModel.TestCase


class CountedModel(LearningModel):
    """The same acts with numbered, undated events."""

    is_undated = True


CountedModel.TestCase.settings = settings(Model.TestCase.settings, max_examples=times(4, 1000))
TestCountedModel = CountedModel.TestCase


class CarModel(LearningModel):
    """The same acts with cars, some of them shared, tyres and a home side. Cars are renamed and merged."""

    system = make_system("adaptive", {"shared": "car/tyres"})

    def event(self, number, minute, order, gone=()):
        rows = []
        for place, row in enumerate(super().event(number, minute, order, gone)):
            car = (minute + place // 2) % (len(CARS) + 1)
            more = {"shared:car": CARS[car]} if car < len(CARS) else {}
            more |= {"shared:tyres": "雪"} if place == minute else {}
            rows.append(row | more | ({"side": "home"} if place == minute % 3 else {}))
        return rows

    @precondition(lambda self: self.truth.events)
    @rule(car=st.sampled_from(CARS), into=st.sampled_from(CARS))
    def merge_cars(self, car, into):
        try:
            self.store.merge("main", car, into, kind="car")
        except (StoreError, podium.UnknownError):
            return
        if self.truth.resolved(car) != self.truth.resolved(into):
            self.truth.equipment[self.truth.resolved(car)] = self.truth.resolved(into)

    @precondition(lambda self: self.truth.events)
    @rule(car=st.sampled_from(CARS))
    def rename_car(self, car):
        new = f"new {len(self.truth.equipment)}"
        with suppress(podium.UnknownError):
            self.store.rename("main", car, new, kind="car")
            self.truth.equipment[self.truth.resolved(car)] = new


CarModel.TestCase.settings = settings(Model.TestCase.settings, max_examples=times(5, 1000))
TestCarModel = CarModel.TestCase


def test_the_order_of_arrival_does_not_matter(new_url):
    """Events with different start times give one final state, sent in any order, alone or together."""
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
            found.add(tuple((row.player, row.rating, row.rank) for row in store.leaderboard("main").players))
            store.close()
    assert len(found) == 1
