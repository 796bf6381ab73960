"""Long work is rated before the lock, and gives the result of one transaction whatever happens meanwhile."""

import functools
import random
import shutil
import sqlite3
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest import mock

import numpy as np
import pytest
import sqlalchemy as sa
from extent import in_turn, times
from faults import Killed, at_step
from races import calling, event
from races import rows as race
from snapshots import learnt, ledger, rated_players, snapshot_of, statuses

import podium
from podium.log.database import StoreError, UnavailableError
from podium.log.schema import metadata
from podium.store import Store
from podium.store.writing import execution, receipts
from podium.store.writing.proposals import StaleError
from podium.store.writing.receipts import Receipt
from podium.systems import find

START = datetime(2025, 1, 1, tzinfo=UTC)
NAMES = "abcdefgh"
FEW, MANY = 2, 10**6  # values of `SHORT_EVENTS`: with FEW almost all work is long, with MANY none is


@contextmanager
def prepared(few=FEW):
    """Rate acts on more than two events outside the lock, and yield a mock that counts these ratings."""
    with (
        mock.patch.object(execution, "SHORT_EVENTS", few),
        mock.patch.object(execution, "Prepared", wraps=execution.Prepared) as preparation,
    ):
        yield preparation


@contextmanager
def overtaken(*meanwhile, few=FEW):
    """Run other acts between each rating outside the lock and the lock, and yield the remaining ones.

    Args:
        meanwhile: functions without arguments; the first runs after the first rating, and so on.
        few: `SHORT_EVENTS` under the lock, after the first act.
    """
    pending = [*meanwhile]

    with ExitStack() as stack, prepared() as preparation:

        def prepare(*arguments):
            if pending:
                with mock.patch.object(execution, "SHORT_EVENTS", MANY):
                    pending.pop(0)()
                execution.SHORT_EVENTS = few
            return preparation(*arguments)

        stack.enter_context(mock.patch.object(execution, "Prepared", prepare))
        prepare.pending, prepare.preparation = pending, preparation
        yield prepare


def outcome(act):
    """Return an act's answer or error, without times and numbers of log entries."""
    try:
        answer = act()
    except (podium.PodiumError, StoreError) as error:
        return type(error), str(error)
    receipts = answer if isinstance(answer, list) else [answer]
    return [replace(each, head=None) if isinstance(each, Receipt) else each for each in receipts]


def without_effects(each):
    """Return a dry run's receipt in the form of a real one."""
    return replace(each, seq=0, totals=None, effects=(), next=None) if isinstance(each, Receipt) else each


def state(store, pool="main"):
    """Return everything about a pool's ratings and events."""
    events = snapshot_of(store, pool).events
    starts = {each.event_id: each.started_at for each in events.at(np.arange(events.size))}
    return ledger(store, pool), learnt(store, pool), statuses(store, pool), rated_players(store, pool), starts


def random_act(rng, number):
    """Return a possible act on a pool as a function of a store. Some acts accept `dry_run`."""
    minute = rng.choice([number, rng.randrange(max(number, 1))])
    order = rng.sample(NAMES, rng.randint(2, 4))
    some = f"e{rng.randrange(max(number, 1))}"
    one, two = rng.sample(NAMES, 2)
    starts = START + timedelta(minutes=minute)
    match = f"m{rng.randrange(3)}"
    titled = {"title": f"Race {number}", "url": "https://example.org/1"}
    return rng.choice(
        [
            lambda store, **more: store.submit("main", race(number, order, minute), **more),
            lambda store, **more: store.submit("main", race(number, order), **more),
            lambda store, **more: store.submit(
                "main", [*race(number, order, minute), *race(f"{number}b", [f"new{number}", *order], minute)], **more
            ),
            lambda store, **more: store.submit(
                "main", race(number, order, minute), match_ids={f"e{number}": match}, **more
            ),
            lambda store, **more: store.void("main", some, **more),
            lambda store, **more: store.unvoid("main", some, **more),
            lambda store, **more: store.amend("main", race(some[1:], [*order, f"late{number}"], minute), **more),
            lambda store, **more: store.amend("main", race(some[1:], order, minute, **titled), **more),
            lambda store: store.merge("main", one, two),
            lambda store: store.unmerge("main", one),
            lambda store: store.begin_season("main", f"s{number}", starts, keep=0.5),
            lambda store: store.configure("main", find(("adaptive", "glicko2")[number % 2])()),
            lambda store: store.rename("main", one, f"{one}'"),
        ]
    )


def fill(store, system="glicko"):
    store.create_pool("main", find(system)())
    rng = random.Random(7)  # noqa: S311
    for number in range(12):
        store.submit("main", race(number, rng.sample(NAMES, 3)))
    for number in range(3):
        store.register("main", f"m{number}", rng.sample(NAMES, 3))


@pytest.fixture
def filled(filled_store):
    """Return a function that opens a filled store of a kind."""
    return functools.partial(filled_store, fill=fill)


@pytest.fixture
def learning(filled_store):
    """Return a function that opens a filled store whose system learns from its pool."""
    return functools.partial(filled_store, fill=fill_learning)


def fill_learning(store):
    fill(store, "adaptive")


@contextmanager
def another(store):
    """Return a second store on the same database, as another process has it."""
    with closing(Store(store.engine.url.render_as_string(hide_password=False))) as other:
        yield other


@pytest.mark.parametrize(
    ("kind", "seed"), [("sqlite", 0), ("postgresql", 99), *(("sqlite", seed) for seed in range(1, times(4, 300)))]
)
def test_acts_rated_before_the_lock_match_one_transaction(kind, seed, filled, learning):
    open_one = learning if seed % 2 else filled
    rng = random.Random(seed)  # noqa: S311
    number = 11
    count = 0
    with closing(open_one(kind)) as plain, closing(open_one(kind)) as parted:
        while number < 25 or count <= 3:  # some acts always rate few events
            number += 1
            act = random_act(rng, number)
            expected = outcome(lambda act=act: act(plain))
            if act.__code__.co_flags & 0x08:  # it accepts `dry_run`
                forecast = outcome(lambda act=act: act(parted, dry_run=True))
                done = [without_effects(each) for each in expected]
                assert [without_effects(each) for each in forecast] == done
            with prepared() as preparation:
                assert outcome(lambda act=act: act(parted)) == expected
            assert preparation.call_count <= 1
            count += preparation.call_count
            assert state(parted) == state(plain)
        assert parted.verify() == plain.verify() == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_kill_at_any_step_leaves_all_or_nothing_of_an_act(kind, filled):
    late = [*race(50, "abx", 2), *race(51, ["y", "c"], 30)]
    with closing(filled(kind)) as store, closing(filled(kind)) as expected:
        before, log = state(store), store.log("main")
        expected.submit("main", late)
        after = state(expected)
        step = 0
        while len(store.log("main")) == len(log):
            assert state(store) == before
            assert store.verify() == []
            step += times(3, 1)
            with prepared(), at_step(store.engine, step, strike), suppress(Killed):
                store.submit("main", late)
        assert step > 15
        assert state(store) == after
        assert store.verify() == []


def strike(connection):
    """End the process as far as the store can tell. A server also ends the connection."""
    if not isinstance(connection, sqlite3.Connection):
        connection.close()
    raise Killed


def correct(store):
    return store.amend("main", race(2, "abx", 2))


def send_late(store):
    return store.submit("main", race(50, "abxg", 2))


def send(number, order, minute, **more):
    return lambda store: store.submit("main", race(number, order, minute, **more))


def send_several(store):
    """Submit events at the end. One is not rated, and one has a new player."""
    several = [race(60, "ab", 40), race(61, "cd", 41, ranked=False), race(62, ["z", "h"], 41), race(63, "zc", 42)]
    return store.submit("main", [row for each in several for row in each])


NEW_EVENTS = {
    "one": send(60, "ab", 40),
    "several": send_several,
    "with the newest start that there is": send(60, "ab", 11),
    "not rated": send(60, "ab", 40, ranked=False),
    "two senders": lambda store: (send(60, "ab", 40)(store), send(61, "bc", 40)(store)),
}
CORRECTIONS = {
    "amend": lambda store: store.amend("main", race(2, "abc", 2)),
    "amend and move": lambda store: store.amend("main", race(2, "abc", 7)),
    "amend and move behind the newest": lambda store: store.amend("main", race(2, "abc", 50)),
    "amend its title too": lambda store: store.amend("main", race(2, "abc", 2, title="Final")),
    "void": lambda store: store.void("main", "e2"),
    "unvoid": lambda store: store.unvoid("main", "e1"),
    "merge": lambda store: store.merge("main", "g", "h"),
    "configure": lambda store: store.configure("main", find("glicko2")()),
}


@pytest.mark.parametrize("system", ["glicko", "adaptive"])
@pytest.mark.parametrize(("what", "others"), in_turn([*CORRECTIONS] * times(1, 5), [*NEW_EVENTS] * times(2, 8)))
def test_a_correction_is_rated_once_despite_new_events(what, others, system, new_url):
    correction, meanwhile = CORRECTIONS[what], NEW_EVENTS[others]
    with ExitStack() as stack:
        store, expected = (stack.enter_context(closing(Store(new_url("sqlite")))) for _ in range(2))
        other = stack.enter_context(another(store))
        for each in (store, expected):
            each.create_pool("main", find(system)())
            for number in range(12):
                each.submit("main", race(number, ["abc", "cdb", "efg", "gda", "hbe", "fh"][number % 6]))
            each.void("main", "e1")
            each.rename("main", "g", "gil") if what != "merge" else None
        if what == "merge":
            correction = CORRECTIONS["merge"]
            for each in (store, expected):
                for number in (2, 3, 8, 9, 4, 5, 10, 11):  # the two players never meet
                    each.amend("main", race(number, "gab" if number % 2 else "hcd"))
        meanwhile(expected)
        answer = outcome(lambda: correction(expected))
        with overtaken(lambda: meanwhile(other)) as acts:
            assert outcome(lambda: correction(store)) == answer
            assert acts.preparation.call_count == 1
        assert state(store) == state(expected)
        assert store.verify() == other.verify() == []
        assert state(other) == state(expected)
        send(70, "abc", 60)(store)
        send(70, "abc", 60)(expected)
        assert state(store) == state(expected)


MEANWHILE = {  # and how often a late result and a correction with a newcomer are rated outside the lock again
    "an event after all others": (send(60, "ab", 40), 1, 0),
    "the same newcomer": (send(60, ["x", "b"], 40), 1, 0),
    "another newcomer": (send(60, ["w", "b"], 40), 1, 1),
    "an event far back": (send(60, "ab", 3), 1, 1),
    "an event before all others": (send(60, "ab", -1), 1, 1),
    "a voided event": (lambda store: store.void("main", "e8"), 1, 1),
    "a correction of the next event": (lambda store: store.amend("main", race(3, "hga", 3)), 1, 1),
    "a season": (lambda store: store.begin_season("main", "s", START + timedelta(minutes=4), keep=0.5), 1, 1),
    "a merge": (lambda store: store.merge("main", "g", "h"), 1, 1),
    "a new name": (lambda store: store.rename("main", "a", "anna"), 1, 1),
    "another system": (lambda store: store.configure("main", find("elo")()), 1, 1),
    "a result of a match": (lambda store: store.submit("main", race(60, "ab", 40), match_ids={"e60": "m1"}), 1, 1),
    "a title": (lambda store: store.describe_pool("main", title="Cup"), 1, 1),
    "nothing new": (lambda store: store.submit("main", race(11, [*store_order(store, "e11")])), 0, 0),
}


def store_order(store, event_id):
    return [each.player for each in store.event("main", event_id).entries]


@pytest.mark.parametrize("few", [FEW, MANY], ids=["long", "short"])
@pytest.mark.parametrize("act", [send_late, correct])
@pytest.mark.parametrize("case", MEANWHILE)
def test_an_act_is_rated_after_the_acts_that_overtook_it(case, act, few, filled):
    meanwhile, of_late, of_correction = MEANWHILE[case]
    again = of_late if act is send_late else of_correction
    with closing(filled("sqlite")) as store, closing(filled("sqlite")) as expected, another(store) as other:
        outcome(lambda: meanwhile(expected))
        answer = outcome(lambda: act(expected))
        with overtaken(lambda: outcome(lambda: meanwhile(other)), few=few) as acts:
            assert outcome(lambda: act(store)) == answer
            assert acts.preparation.call_count == 1 + (again if few == FEW else 0)
        assert state(store) == state(expected)
        assert store.verify() == []


def test_an_act_overtaken_twice_is_rated_under_the_lock(filled):
    with closing(filled("sqlite")) as store, closing(filled("sqlite")) as expected, another(store) as other:
        meanwhile = [send(60, "ab", 3), send(61, ["x", "c"], 5)]
        for each in meanwhile:
            each(expected)
        answer = outcome(lambda: send_late(expected))
        steps, rate, record = [], execution.rated_draft, execution.record

        def noting(name, step):
            def noted(*arguments):
                steps.append(name)
                return step(*arguments)

            return noted

        with (
            overtaken(*(functools.partial(each, other) for each in meanwhile)) as acts,
            mock.patch.object(execution, "rated_draft", noting("rate", rate)),
            mock.patch.object(execution, "record", noting("record", record)),
        ):
            assert outcome(lambda: send_late(store)) == answer
            assert acts.preparation.call_count == execution.ATTEMPTS == 2
            assert acts.pending == []
        # The meanwhile acts are rated and recorded in the same process.
        assert steps == ["rate", "record", "rate", "rate", "record", "rate", "record", "rate"]
        assert state(store) == state(expected)
        assert store.verify() == []


@pytest.mark.parametrize("seed", range(times(8, 300)))
def test_random_acts_overtake_random_acts(seed, filled, learning):
    open_one, few = learning if seed % 2 else filled, (FEW, MANY)[seed // 2 % 2]
    rng = random.Random(seed)  # noqa: S311
    with closing(open_one("sqlite")) as store, closing(open_one("sqlite")) as expected, another(store) as other:
        for number in range(12, 26, 2):
            act, meanwhile = random_act(rng, number), random_act(rng, number + 1)
            with overtaken(lambda meanwhile=meanwhile: outcome(lambda: meanwhile(other)), few=few) as acts:
                answer = outcome(lambda act=act: act(store))
            if not acts.pending:
                outcome(lambda meanwhile=meanwhile: meanwhile(expected))
            assert answer == outcome(lambda act=act: act(expected))
            if acts.pending:  # nothing was rated outside the lock
                outcome(lambda meanwhile=meanwhile: meanwhile(store))
                outcome(lambda meanwhile=meanwhile: meanwhile(expected))
            assert state(store) == state(expected)
            assert store.verify() == []
        assert state(other) == state(expected)


def test_a_correction_of_an_event_that_changed_meanwhile_is_rejected(filled):
    with closing(filled("sqlite")) as store, another(store) as other:
        versions = [store.event("main", "e2").version]
        amended, another_order = (race(2, order, 2) for order in ("abx", "bax"))
        meanwhile = functools.partial(other.amend, "main", another_order)
        with overtaken(meanwhile), pytest.raises(StaleError, match="has changed"):
            store.amend("main", amended, versions=versions)
        versions = [store.event("main", "e2").version]
        meanwhile = functools.partial(other.amend, "main", amended)
        with overtaken(meanwhile), pytest.raises(StaleError, match="has changed"):
            store.amend("main", amended, versions=versions)
        assert [each.kind for each in store.log("main")].count("amend") == 2
        assert store.verify() == []


def test_an_act_is_rejected_if_its_pool_was_closed_meanwhile(filled):
    with closing(filled("sqlite")) as store, another(store) as other:
        before = state(store)
        with overtaken(lambda: other.close_pool("main")), pytest.raises(StoreError, match="closed"):
            send_late(store)
        assert state(store) == before


def test_a_merge_is_rejected_if_the_two_met_meanwhile(new_url):
    with closing(Store(new_url("sqlite"))) as store, another(store) as other:
        store.create_pool("main", find("elo")())
        for number in range(9):
            store.submit("main", race(number, "abc" if number % 2 else "dbc"))
        before = rated_players(store)
        with (
            overtaken(functools.partial(send(60, "ad", 40), other)),
            pytest.raises(podium.ResultsError, match="took part in e60 as both"),
        ):
            store.merge("main", "a", "d")
        assert before.keys() == rated_players(store).keys()
        assert [each.kind for each in store.log("main")].count("merge") == 0
        assert store.verify() == []


def test_a_correction_applies_to_a_pool_that_was_replaced_meanwhile(filled):
    """The new pool has the same number, name and number of events as the old one."""
    with closing(filled("sqlite")) as store, closing(filled("sqlite")) as expected, another(store) as other:

        def replace_pool(each):
            each.close_pool("main")
            each.delete_pool("main")
            each.create_pool("main", find("elo")())
            for number in range(12):
                each.submit("main", race(number, "abcd"))

        replace_pool(expected)
        correct(expected)
        with overtaken(functools.partial(replace_pool, other)):
            correct(store)
        assert ledger(store) == ledger(expected)
        assert store.verify() == []


def test_a_correction_applies_to_a_database_that_was_restored_meanwhile(new_url, tmp_path):
    """Its newest entry has the same number as before, but other content."""
    with closing(Store(new_url("sqlite"))) as store:
        path = str(store.engine.url.database)
        store.create_pool("main", find("elo")())
        for number in range(8):
            store.submit("main", race(number, "abcd"))
        store.close()
        shutil.copyfile(path, tmp_path / "earlier.db")
        store.submit("main", race(8, "abcd"))

        def put_back():
            store.close()
            shutil.copyfile(tmp_path / "earlier.db", path)
            store.submit("main", race(8, "dcba"))

        with overtaken(put_back):
            store.amend("main", race(2, "bacd"))
        replayed = store.rated("main").history
        assert store.verify() == []
        assert store.history("main").equals(replayed)


def test_an_act_rejected_after_its_rating_leaves_no_trace(filled):
    with closing(filled("sqlite")) as store:
        before = state(store)
        refusing = mock.patch.object(execution, "refuse_unrateable", side_effect=podium.ResultsError("results", []))
        with prepared() as preparation, refusing, pytest.raises(podium.ResultsError):
            send_late(store)
        assert preparation.call_count == 1
        assert state(store) == before
        assert store.verify() == []
        with prepared():
            assert send_late(store)[0].status == "rated"
        assert store.verify() == []


def test_a_failed_commit_leaves_nothing_in_snapshots(filled):
    def fail(_connection):
        raise sa.exc.OperationalError("COMMIT", {}, Exception("disk full"))  # like a driver's error

    with closing(filled("sqlite")) as store:
        before, held = state(store), snapshot_of(store)
        sa.event.listen(store.engine, "commit", fail)
        with prepared(), pytest.raises(UnavailableError):
            send_late(store)
        sa.event.remove(store.engine, "commit", fail)
        assert state(store) == before
        assert snapshot_of(store) is held
        send_late(store)
        assert store.verify() == []


def test_many_new_events_at_once_are_one_transaction(filled):
    with closing(filled("sqlite")) as store, prepared() as preparation:
        store.submit("main", [row for number in range(70, 80) for row in race(number, "ab", number / 10)])
        assert preparation.call_count == 0
        assert store.verify() == []


def test_a_dry_run_only_reads_and_its_pages_start_with_large_changes(filled, monkeypatch):
    with closing(filled("sqlite")) as store:
        before = {table.name: rows_of(store, table) for table in metadata.sorted_tables}
        late = race(50, ["a", "b", "new"], 2)
        with store.engine.connect() as held:  # holds the write lock
            held.execute(sa.text("SELECT 1"))
            whole = store.submit("main", late, dry_run=True)[0]
            monkeypatch.setattr(receipts, "MAX_EFFECTS", 5)
            pages, after = [], None
            while not pages or after is not None:
                (page,) = store.submit("main", late, dry_run=True, effects_after=after)
                after = page.next
                pages.append(page)
                assert (page.totals, page.changes, page.rerated) == (whole.totals, whole.changes, whole.rerated)
        assert [len(each.effects) for each in pages[:-1]] == [5] * (len(pages) - 1) != []
        assert sorted(map(str, [each for page in pages for each in page.effects])) == sorted(map(str, whole.effects))
        smallest = [min(size(each) for each in page.effects) for page in pages]
        assert smallest == sorted(smallest, reverse=True)
        assert whole.totals.changes == len(whole.effects)
        assert whole.totals.players == len({each.player for each in whole.effects})
        own = max(abs(each.rating - each.rating_before) for each in whole.changes)
        moved = max(size(each) for each in whole.effects if each.rating_was is not None)
        assert whole.totals.largest == max(own, moved)
        assert {table.name: rows_of(store, table) for table in metadata.sorted_tables} == before
        with pytest.raises(podium.ParameterError, match="page of effects"):
            store.submit("main", late, dry_run=True, effects_after="x")
        (done,) = store.submit("main", late)
        assert (done.changes, done.rerated) == (whole.changes, whole.rerated)


def size(effect):
    return float("inf") if effect.rating_was is None else abs(effect.rating - effect.rating_was)


def rows_of(store, table):
    with store.engine.connect().execution_options(podium_reads=True) as connection:
        return sorted(map(str, connection.execute(sa.select(table)).all()))


def test_a_backdating_limit_applies_to_every_change(new_url):
    store = Store(new_url("sqlite"))
    store.create_pool("main", find("elo")())
    base, now = "/api/v1/pools/main", datetime.now(UTC)
    old, new = ({"started_at": (now - timedelta(days=days)).isoformat()} for days in (31, 1))
    with calling(store) as anybody:
        assert anybody.post(f"{base}/events", json=event(1) | old).status_code == 201
        with store.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_key SET reach_s = :reach"), {"reach": 30 * 86_400.0})
        anybody.app.state.key_guard._cache.clear()
        sent = [
            anybody.post(f"{base}/events", json=event(2) | new),
            anybody.put(f"{base}/events/e2", json=event(2, "ba") | new),
            anybody.post(f"{base}/events/e2/void"),
        ]
        assert [each.status_code for each in sent] == [201, 200, 200]
        refused = [
            anybody.post(f"{base}/events", json={"events": [event(3) | new, event(4) | old]}),
            anybody.post(f"{base}/events?dry_run=true", json=event(4) | old),
            anybody.put(f"{base}/events/e1", json=event(1, "ba") | new),
            anybody.put(f"{base}/events/e2", json=event(2, "ba") | old),
            anybody.post(f"{base}/events/e1/void"),
            anybody.post(f"{base}/events/e1/unvoid"),
            anybody.post(f"{base}/seasons", json={"name": "s", "starts_at": old["started_at"], "keep": 0.5}),
            anybody.post(f"{base}/merge", json={"player": "a", "into": "b"}),
            anybody.post(f"{base}/players/a/unmerge"),
            anybody.put(f"{base}/system", json={"system": "glicko"}),
        ]
        assert [each.status_code for each in refused] == [403] * len(refused)
        assert "the backdating limit of this key is 30 days" in refused[0].json()["detail"]
        assert len(store.log("main")) == 5
    store.close()
