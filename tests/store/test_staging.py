"""Long work, staged or written in place, is the same to the bit as one transaction's; whatever happens meanwhile."""

import functools
import random
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
import sqlalchemy as sa
from extent import in_turn, times
from races import calling, event, ratings
from races import rows as race

import podium
from podium.log import pools as log_pools
from podium.log.database import StoreError, write_transaction
from podium.log.schema import change, generation, metadata, staged_status, standing
from podium.store import Store
from podium.store.writing import execution, staging
from podium.store.writing import planned as small_correction
from podium.store.writing.execution import Receipt
from podium.store.writing.rating import generations, rerating
from podium.store.writing.rating.events import StaleError
from podium.systems import find

START = datetime(2025, 1, 1, tzinfo=UTC)
NAMES = "abcdefgh"
ALL_STAGED, SOME_STAGED, NONE_STAGED = -1, 25, 10**6  # if so many rows at most may be written in place
SHORT, LONG = 2, 10**6  # so many rated again: the rest is planned anew, or rated in the transaction that ends it
WAYS = [(short, few) for short in (SHORT, LONG) for few in (ALL_STAGED, NONE_STAGED)]
each_way = pytest.mark.parametrize("few", [ALL_STAGED, NONE_STAGED], ids=["staged", "in place"])


@contextmanager
def planned(few=ALL_STAGED):
    """Whatever rates more than two events again is planned first; what moves more rows is staged, in small parts."""
    with (
        mock.patch.multiple(rerating, SHORT_EVENTS=2, SPAN_EVENTS=3),
        mock.patch.object(small_correction, "SMALL_CORRECTION_ROWS", few),
        mock.patch.multiple(generations, PART_ROWS=7, MIN_REST_S=0.0, REST=0.0),
    ):
        yield


def outcome(act):
    """What an act answers, or how it is refused; numbers of entries may be skipped, and heads have the time in them."""
    try:
        answer = act()
    except (podium.PodiumError, StoreError) as error:
        return type(error), str(error)
    receipts = answer if isinstance(answer, list) else [answer]
    return [replace(each, seq=0, head=None) if isinstance(each, Receipt) else each for each in receipts]


def without_effects(each):
    """A receipt of a dry run as one that was done."""
    return replace(each, totals=None, effects=(), next=None) if isinstance(each, Receipt) else each


def state(store, pool="main"):
    """Everything that a pool shows."""
    with store.engine.connect() as connection:
        event_rows = connection.execute(
            sa.text("SELECT event_id, started_at, status, reason FROM event ORDER BY event_id")
        ).all()
    board = store.leaderboard(pool, top=100).players
    ranks = [store.rank(pool, row.player) for row in board]
    days = [store.ranks_of(pool, row.player) for row in board]
    return board, ranks, store.history(pool).rows(), store.distribution(pool), event_rows, days


def random_act(rng, number):
    """Something that may be done to a pool, as a function of a store that takes `dry_run` or not."""
    minute = rng.choice([number, rng.randrange(max(number, 1))])
    order = rng.sample(NAMES, rng.randint(2, 4))
    some = f"e{rng.randrange(max(number, 1))}"
    one, two = rng.sample(NAMES, 2)
    starts = START + timedelta(minutes=minute)
    match = f"m{rng.randrange(3)}"
    return rng.choice(
        [
            lambda store, **more: store.submit("main", race(number, order, minute), **more),
            lambda store, **more: store.submit(
                "main", [*race(number, order, minute), *race(f"{number}b", [f"new{number}", *order], minute)], **more
            ),
            lambda store, **more: store.submit(
                "main", race(number, order, minute), match_ids={f"e{number}": match}, **more
            ),
            lambda store, **more: store.void("main", some, **more),
            lambda store, **more: store.restore("main", some, **more),
            lambda store, **more: store.amend("main", race(some[1:], [*order, f"late{number}"], minute), **more),
            lambda store: store.merge("main", one, two),
            lambda store: store.unmerge("main", one),
            lambda store: store.begin_season("main", f"s{number}", starts, keep=0.5),
            lambda store: store.configure("main", find(("elo", "glicko2")[number % 2])()),
            lambda store: store.rename("main", one, f"{one}'"),
        ]
    )


def fill(store):
    store.create_pool("main", find("glicko")())
    rng = random.Random(7)  # noqa: S311
    with mock.patch.object(rerating, "SHORT_EVENTS", 10**6):
        for number in range(12):
            store.submit("main", race(number, rng.sample(NAMES, 3)))
        for number in range(3):
            store.register("main", f"m{number}", rng.sample(NAMES, 3))


@pytest.fixture
def filled(filled_store):
    """A function that opens a filled store of a kind."""
    return functools.partial(filled_store, fill=fill)


@pytest.mark.parametrize(
    ("few", "history"),
    in_turn(
        [ALL_STAGED, SOME_STAGED, NONE_STAGED],
        [("sqlite", 0), ("postgresql", 99), *(("sqlite", seed) for seed in range(1, times(2, 200)))],
    ),
)
def test_a_planned_rating_is_that_of_one_transaction(few, history, filled):
    kind, seed = history
    plain, parted = filled(kind), filled(kind)
    rng = random.Random(seed)  # noqa: S311
    plans = stagings = 0
    number = 11
    while number < 25 or plans <= 3:  # some acts rate few events again, whatever they are
        number += 1
        act = random_act(rng, number)
        expected = outcome(lambda act=act: act(plain))
        with planned(few), counted_plans() as planning, counted_stagings() as stage:
            if act.__code__.co_flags & 0x08:  # it takes `dry_run`
                forecast = outcome(lambda act=act: act(parted, dry_run=True))
                assert list(map(without_effects, forecast)) == list(map(without_effects, expected))
            assert outcome(lambda act=act: act(parted)) == expected
            plans += planning.call_count
            stagings += stage.call_count
        assert state(parted) == state(plain)
    assert {ALL_STAGED: stagings == plans, SOME_STAGED: stagings <= plans, NONE_STAGED: stagings < plans}[few]
    assert parted.verify() == plain.verify() == []
    assert parted.clear_unread() == min(stagings, 1)  # the generation before the last that was staged
    assert rows_by_generation(parted) == {parted.pools()[0].generation}
    assert parted.verify() == []
    for store in (plain, parted):
        store.close()


def counted_plans():
    """Count what is planned first."""
    return mock.patch.object(staging, "run_in_background", wraps=staging.run_in_background)


def counted_stagings():
    """Count what is staged."""
    return mock.patch.object(staging, "stage", wraps=staging.stage)


def rows_by_generation(store):
    """The generations that have rows."""
    with store.engine.connect() as connection:
        tables = (change, standing, staged_status)
        found = [connection.execute(sa.select(table.c.generation_id).distinct()).scalars().all() for table in tables]
        assert connection.execute(sa.select(sa.func.count()).select_from(generation)).scalar() == len(store.pools())
    return {number for numbers in found for number in numbers}


class Killed(BaseException):
    """The end of a process: nothing runs after it."""


def killed_at(count):
    """Transactions of which the one after so many is never committed, nor any later."""
    done = 0

    @contextmanager
    def transaction(engine):
        nonlocal done
        with write_transaction(engine) as connection:
            yield connection
            if done >= count:
                raise Killed
            done += 1

    return transaction


@pytest.mark.parametrize(("few", "kind"), in_turn([ALL_STAGED, NONE_STAGED], ["sqlite", "postgresql"]))
def test_a_kill_at_any_step_leaves_the_pool_as_it_was(kind, few, filled, monkeypatch):
    store, expected = filled(kind), filled(kind)
    late = [*race(50, "abx", 2), *race(51, ["y", "c"], 30)]
    before, log = state(store), store.log("main")
    monkeypatch.setattr(generations, "ABANDONED_US", -1_000_000)  # who was killed does not come back
    steps = 0
    while True:
        transaction = killed_at(steps)
        try:
            with (
                planned(few),
                mock.patch.object(log_pools, "write_transaction", transaction),
                mock.patch.object(generations, "write_transaction", transaction),
            ):
                store.submit("main", late)
            break
        except Killed:
            assert (state(store), store.log("main")) == (before, log)
            assert store.verify() == []
        steps += times(3, 1)
        if steps % 2:  # at other steps the next staging clears
            store.clear_unread()
            assert rows_by_generation(store) == {store.pools()[0].generation}
    assert steps > (15 if few == ALL_STAGED else 5)
    expected.submit("main", late)
    assert state(store) == state(expected)
    assert store.verify() == []
    for each in (store, expected):
        each.close()


@contextmanager
def interrupted(meanwhile, short=2):
    """Let something happen once, between the planning and the transaction that ends it, which rates so many again.

    It yields what has not happened yet.
    """
    finish_staging, write_moves, pending = staging.finish_staging, small_correction.write_moves, [meanwhile]

    def after_meanwhile(finish, *arguments):
        if pending:
            with mock.patch.object(rerating, "SHORT_EVENTS", 10**6):
                pending.pop()()
        with mock.patch.object(rerating, "SHORT_EVENTS", short):
            return finish(*arguments)

    with (
        mock.patch.object(staging, "finish_staging", functools.partial(after_meanwhile, finish_staging)),
        mock.patch.object(staging, "write_moves", functools.partial(after_meanwhile, write_moves)),
    ):
        yield pending


MEANWHILE = [
    (lambda store: store.submit("main", race(60, "ab", 40)), 0),  # after everything: rated again in the end
    (lambda store: store.submit("main", race(60, ["x", "b"], 40)), 1),  # the newcomer is none any more
    (lambda store: store.submit("main", race(60, "ab", 3)), 0),  # far back: more is staged
    (lambda store: store.submit("main", race(60, "ab", 0.5)), 0),  # before everything that was staged
    (lambda store: store.void("main", "e8"), 0),
    (lambda store: store.begin_season("main", "s", START + timedelta(minutes=4), keep=0.5), 0),
    (lambda store: store.merge("main", "g", "h"), 1),  # who plays in the late event is another
    (lambda store: store.rename("main", "a", "anna"), 0),
    (lambda store: store.configure("main", find("elo")()), 1),
    (lambda store: generations.begin(store.engine, "main"), 1),  # another process begins to stage
    (lambda store: store.void("main", "e8") and generations.clear_unread(store.engine), 0),
]


# What comes before everything staged, too much for the last transaction, is in no other case.
@pytest.mark.parametrize(
    ("case", "way"), [*in_turn(MEANWHILE * times(2, 1), WAYS), (MEANWHILE[3], (SHORT, ALL_STAGED))]
)
def test_what_comes_while_a_rating_is_planned_is_rated_too(case, way, filled):
    (meanwhile, restarts), (short, few) = case, way
    store, expected = filled("sqlite"), filled("sqlite")
    store.create_pool("other", find("elo")())
    late = race(50, "abxg", 2)
    outcome(lambda: meanwhile(expected))
    (receipt,) = expected.submit("main", late)
    with planned(few), counted_plans() as planning:
        with interrupted(lambda: (meanwhile(store), store.submit("other", race(1, "ab"))), short):
            (answer,) = store.submit("main", late)
        assert planning.call_count == 1 + restarts
    assert replace(answer, rerated=receipt.rerated, seq=receipt.seq, head=receipt.head) == receipt
    assert state(store)[:4] == state(expected)[:4]
    assert ratings(store, "other").keys() == {"a", "b"}
    assert store.verify() == []
    for each in (store, expected):
        each.close()


@pytest.mark.parametrize(("seed", "way"), in_turn(range(times(4, 100)), WAYS))
def test_whatever_comes_while_anything_is_planned_is_as_if_it_came_before(seed, way, filled):
    short, few = way
    store, expected = filled("sqlite"), filled("sqlite")
    rng = random.Random(seed)  # noqa: S311
    for number in range(12, 26, 2):
        act, meanwhile = random_act(rng, number), random_act(rng, number + 1)
        with planned(few), interrupted(lambda meanwhile=meanwhile: outcome(lambda: meanwhile(store)), short) as pending:
            answer = outcome(lambda act=act: act(store))
        if pending:  # nothing was planned
            outcome(lambda meanwhile=meanwhile: meanwhile(store))
        else:
            outcome(lambda meanwhile=meanwhile: meanwhile(expected))
        assert without_counts(answer) == without_counts(outcome(lambda act=act: act(expected)))
        if pending:
            outcome(lambda meanwhile=meanwhile: meanwhile(expected))
        assert state(store)[:5] == state(expected)[:5]
    assert store.verify() == []
    for each in (store, expected):
        each.close()


def without_counts(answer):
    """What an act answers, but for how many rows it wrote: some may have been written twice."""
    if isinstance(answer, tuple):
        return answer
    return [replace(each, rerated=0) if isinstance(each, Receipt) else None for each in answer]


@each_way
def test_an_event_that_changes_while_its_correction_is_planned_is_stale(few, filled):
    store = filled("sqlite")
    versions = [store.event("main", "e2").version]
    amended, other = (race(2, order, 2) for order in ("abx", "bax"))
    with planned(few), interrupted(lambda: store.amend("main", other)), pytest.raises(StaleError, match="has changed"):
        store.amend("main", amended, versions=versions)
    versions = [store.event("main", "e2").version]
    with (
        planned(few),
        interrupted(lambda: store.amend("main", amended)),
        pytest.raises(StaleError, match="has changed"),
    ):
        store.amend("main", amended, versions=versions)
    assert [each.kind for each in store.log("main")].count("amend") == 2
    assert store.verify() == []
    store.close()


@each_way
def test_what_is_refused_while_it_is_planned_leaves_nothing(few, filled):
    store = filled("sqlite")
    before = state(store)
    error = podium.ResultsError("results", [])
    passed = 2 if few == ALL_STAGED else 1  # one of them before it is found that so much is to be staged
    refusing = mock.patch.object(execution, "refuse_unrateable", side_effect=[*[None] * passed, error])
    with planned(few), refusing, pytest.raises(podium.ResultsError):
        store.submit("main", race(50, "abxg", 2))
    assert state(store) == before
    assert store.clear_unread() == 1
    assert rows_by_generation(store) == {store.pools()[0].generation}
    assert store.verify() == []
    store.close()


def test_a_bulk_of_new_events_is_one_transaction(filled):
    store = filled("sqlite")
    with planned(), counted_plans() as planning:
        store.submit("main", [row for number in range(70, 80) for row in race(number, "ab", number / 10)])
    assert planning.call_count == 0
    assert store.verify() == []
    store.close()


def test_a_dry_run_reads_alone_and_pages_by_size(filled, monkeypatch):
    store = filled("sqlite")
    before = {table.name: rows_of(store, table) for table in metadata.sorted_tables}
    late = race(50, ["a", "b", "new"], 2)
    with store.engine.connect() as held:  # has the write lock all along
        held.execute(sa.text("SELECT 1"))
        whole = store.submit("main", late, dry_run=True)[0]
        monkeypatch.setattr(rerating, "MAX_EFFECTS", 5)
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
    store.close()


def size(effect):
    return float("inf") if effect.rating_was is None else abs(effect.rating - effect.rating_was)


def rows_of(store, table):
    with store.engine.connect().execution_options(podium_reads=True) as connection:
        return sorted(map(str, connection.execute(sa.select(table)).all()))


def test_a_key_reaches_back_only_so_far(new_url):
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
            anybody.post(f"{base}/events/e1/restore"),
            anybody.post(f"{base}/seasons", json={"name": "s", "starts_at": old["started_at"], "keep": 0.5}),
            anybody.post(f"{base}/merge", json={"player": "a", "into": "b"}),
            anybody.post(f"{base}/players/a/unmerge"),
            anybody.put(f"{base}/system", json={"system": "glicko"}),
        ]
        assert [each.status_code for each in refused] == [403] * len(refused)
        assert "this key reaches back 30 days" in refused[0].json()["detail"]
        assert len(store.log("main")) == 5
    store.close()
