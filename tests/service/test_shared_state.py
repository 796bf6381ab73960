"""State that processes share through PostgreSQL: announcements, locks and budgets. Two stores act as two processes."""

import asyncio
import logging
import time
from contextlib import ExitStack, closing

import pytest
import sqlalchemy as sa
from races import rows
from starlette.testclient import TestClient
from test_webhooks import receiving

from podium.log.database import UnavailableError, UpkeepLock
from podium.service import app, create_app, watchers, webhooks
from podium.service.http.keys import OwnBudgets, SharedBudgets
from podium.service.http.requests import Threads
from podium.service.metrics import Metrics
from podium.service.watchers import Subscription
from podium.store import Store
from podium.store.keys import create_webhook, draw, forget_budgets
from podium.systems import find

pytestmark = pytest.mark.parametrize("store", ["postgresql"], indirect=True)


@pytest.fixture
def other(store):
    """Return the store as a second process opens it."""
    store.create_pool("main", find("elo")())
    with closing(Store(store.engine.url.render_as_string(hide_password=False))) as opened:
        yield opened


def end_sessions(store, part):
    """End the sessions whose newest statement contains a part, as a database restart would."""
    statement = sa.text(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE query LIKE :part AND pid <> pg_backend_pid()"
    )
    with store.engine.connect() as connection:
        assert connection.execute(statement, {"part": part}).all()


async def until(condition):
    async with asyncio.timeout(30.0):
        while not condition():  # noqa: ASYNC110  (there is no signal to wait for)
            await asyncio.sleep(0.01)


def test_another_processs_entries_are_announced_before_the_next_poll(store, other, monkeypatch):
    monkeypatch.setattr(watchers, "LOOK_S", 0.01)
    monkeypatch.setattr(watchers, "HEARING_LOOK_S", 3_600.0)

    async def hear():
        watching = watchers.Announcements(store, Threads(), Metrics())
        async with watching.running():
            with watching.awaiting("main") as grown:
                await until(lambda: watching.receives)
                async with asyncio.timeout(30.0):
                    for number in range(3):
                        await asyncio.sleep(2 * watchers.LOOK_S)  # a poll that was due before the announcement
                        grown.clear()
                        await asyncio.to_thread(other.submit, "main", rows(number, "ab"))
                        await grown.wait()
                assert not watching._look_at < time.monotonic()  # no poll found the entry

    asyncio.run(hear())


def test_logs_are_polled_when_announcements_do_not_arrive(store, other, monkeypatch, caplog):
    """For example, behind a transaction pooler or after a database restart. Announcements resume when possible."""
    monkeypatch.setattr(watchers, "LOOK_S", 0.01)
    monkeypatch.setattr(watchers, "PROBE_S", 0.2)
    monkeypatch.setattr(watchers, "HEARING_LOOK_S", 0.5)
    deaf = []

    class Deaf(Subscription):
        def receive(self):
            heard = super().receive()  # read the socket, or this would be called again at once
            return [] if deaf else heard

    monkeypatch.setattr(watchers, "Subscription", Deaf)

    async def hear():
        watching = watchers.Announcements(store, Threads(), Metrics())
        async with watching.running(), asyncio.timeout(60.0):
            with watching.awaiting("main") as grown:
                await until(lambda: watching.receives)
                end_sessions(other, "LISTEN%")
                await until(lambda: "no longer arrive" in caplog.text)
                await until(lambda: watching.receives)
                deaf.append(True)
                await until(lambda: not watching.receives)
                await asyncio.sleep(0.1)
                grown.clear()
                await asyncio.to_thread(other.submit, "main", rows(1, "ab"))
                await grown.wait()

    asyncio.run(hear())


def test_one_process_at_a_time_holds_the_lock(store, other):
    one, two = UpkeepLock(store.engine), UpkeepLock(other.engine)
    assert [one.acquire(), two.acquire(), one.acquire()] == [True, False, True]
    end_sessions(other, "SELECT 1%")
    assert [two.acquire(), one.acquire()] == [True, False]
    two.release()
    assert [two.acquire(), one.acquire()] == [False, True]  # a lost lock is not taken again
    one.release()


def test_two_processes_calculate_facts_and_send_webhooks_once(store, other, monkeypatch, caplog):
    for module in (app, webhooks):
        monkeypatch.setattr(module, "CHECK_INTERVAL_S", 0.01)
    caplog.set_level(logging.INFO, "podium")
    with receiving() as (url, sent), ExitStack() as running:
        create_webhook(store.engine, "main", url)
        for each in (store, other):
            running.enter_context(TestClient(create_app(each, daily=True, private_webhooks=True)))
        for number in range(5):
            (store if number % 2 else other).submit("main", rows(number, "ab", minute=10_000_000 + number))
        end = time.monotonic() + 30.0
        while len(sent) < 5 or "facts calculated" not in caplog.text:
            assert time.monotonic() < end
            time.sleep(0.01)
        time.sleep(0.1)  # time for a second process to send
        assert len({headers["webhook-id"] for headers, _ in sent}) == len(sent) == 5
    assert caplog.text.count("facts calculated") == 1


def test_processes_share_budgets_unless_the_database_is_unreachable(store, other, monkeypatch):
    async def take():
        one, two = SharedBudgets(store, Threads()), SharedBudgets(other, Threads())
        began = time.monotonic()
        waits = [await each.take("key 1", 2.0, 10.0) for _ in range(20) for each in (one, two)]
        passed_s = time.monotonic() - began
        granted = waits.count(0)
        assert 10 <= granted <= 10 + 2.0 * passed_s + 1
        assert max(waits) == 1
        assert await two.take("address 192.0.2.1", 1.0, 1.0) == 0
        assert await one.take("address 192.0.2.1", 1.0, 1.0) > 0

        def fail(*_sent):
            raise UnavailableError("away")

        monkeypatch.setattr("podium.service.http.keys.draw", fail)
        assert [await one.take("key 2", 1.0, 2.0) for _ in range(3)] == [0, 0, 1]

    asyncio.run(take())


def test_a_process_draws_a_keys_budget_four_times_a_second(store, other, monkeypatch):
    draws = []

    def counting(*sent):
        draws.append(sent)
        return draw(*sent)

    monkeypatch.setattr("podium.service.http.keys.draw", counting)

    async def take():
        shared = SharedBudgets(store, Threads())
        waits = await asyncio.gather(*(shared.take("key 1", 100.0, 200.0) for _ in range(150)))
        assert waits == [0] * 150
        assert len(draws) == 6  # 25 requests per draw

    asyncio.run(take())


def test_budgets_refill_to_their_size_and_expire(store, other, monkeypatch):
    assert draw(store.engine, "key 1", 1.0, 3.0, 2)[0] == 2
    assert draw(other.engine, "key 1", 1.0, 3.0, 2)[0] == 1
    assert draw(other.engine, "key 1", 1.0, 3.0, 2)[0] == 0
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE request_budget SET counted_at = counted_at - 60"))
    assert draw(other.engine, "key 1", 1.0, 3.0, 9) == (3, 0.0)
    monkeypatch.setattr("podium.store.keys.FORGOTTEN_AFTER_S", -60.0)
    forget_budgets(store.engine)
    with store.engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM request_budget")).scalar() == 0


def test_a_single_process_keeps_budgets_without_the_database(store, other):
    async def take():
        own = OwnBudgets()
        return [await own.take("key 1", 1.0, 2.0) for _ in range(3)]

    assert asyncio.run(take()) == [0, 0, 1]
