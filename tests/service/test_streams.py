"""Streams end when their key becomes invalid, when the service stops, or when there are too many."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from races import calling

from podium.service import watchers
from podium.service.http.requests import Threads
from podium.service.metrics import Metrics
from podium.store.keys import create_key, list_keys, revoke_key
from podium.systems import find

STREAM = "/api/v1/pools/main/stream"


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    return sqlite_store


@pytest.fixture
def client(store, monkeypatch):
    monkeypatch.setattr(watchers, "LOOK_S", 0.01)
    with calling(store) as opened:
        yield opened


def wait_for_listeners(client, count):
    end = time.monotonic() + 20.0
    while len(client.app.state.watchers.listeners()) != count:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_revoking_a_key_ends_only_its_stream(store, client, monkeypatch):
    """It takes at most two seconds, because the service checks keys every second. Here it checks more often."""
    assert watchers.KEY_CHECK_S == 1.0
    monkeypatch.setattr(watchers, "KEY_CHECK_S", 0.01)
    key = create_key(store.engine, "gone", "read")
    number = list_keys(store.engine)[-1].id
    with ThreadPoolExecutor(2) as threads:
        headers = {"Authorization": f"Bearer {key}"}
        gone = threads.submit(client.get, STREAM, params={"seconds": 60.0}, headers=headers)
        stays = threads.submit(client.get, STREAM, params={"seconds": 60.0})
        wait_for_listeners(client, 2)
        revoke_key(store.engine, number)
        assert gone.result(30.0).text.endswith(": the key is no longer valid\n\n")
        assert not stays.done()
        client.app.state.watchers.close()
        assert stays.result(30.0).text.endswith(": the service is stopping\n\n")


def test_deleting_a_pool_ends_its_streams(store, client):
    with ThreadPoolExecutor(1) as threads:
        open_stream = threads.submit(client.get, STREAM, params={"seconds": 60.0})
        wait_for_listeners(client, 1)
        store.close_pool("main")
        store.delete_pool("main")
        assert open_stream.result(30.0).text.endswith(": the pool was deleted\n\n")


def test_a_new_pool_of_a_deleted_pools_name_has_its_own_stream(store, monkeypatch):
    """The old stream stays open until its client has read to the end."""
    monkeypatch.setattr(watchers, "LOOK_S", 0.01)
    monkeypatch.setattr(watchers, "KEY_CHECK_S", 60.0)

    async def listen():
        looks = watchers.Announcements(store, Threads(), Metrics())
        fan_out = watchers.Watchers(store, Threads(), looks)
        async with asyncio.timeout(20.0), looks.running(), fan_out.listening("main", None) as old:
            await fan_out.wait_until_ready("main", 20.0)
            store.close_pool("main")
            store.delete_pool("main")
            while not old.ended:
                await old.wait(1.0)
            store.create_pool("main", find("elo")())
            async with fan_out.listening("main", None) as new:
                await fan_out.wait_until_ready("main", 20.0)
                store.describe_pool("main", title="Again")
                return await new.wait(3.0)

    assert len(asyncio.run(listen())) == 1


def test_the_number_of_streams_is_limited(client, monkeypatch):
    monkeypatch.setattr(watchers, "MAX_LISTENERS", 1)
    with ThreadPoolExecutor(1) as threads:
        open_stream = threads.submit(client.get, STREAM, params={"seconds": 60.0})
        wait_for_listeners(client, 1)
        refused = client.get(STREAM)
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        assert client.get("/readyz").status_code == 200
        client.app.state.watchers.close()
        assert open_stream.result(30.0).status_code == 200
        assert client.get("/readyz").status_code == 503  # it is stopping
        assert client.get(STREAM).text == ": podium\n\n: the service is stopping\n\n"


def test_a_slow_listener_is_disconnected(monkeypatch):
    monkeypatch.setattr(watchers, "MAX_WAITING_ENTRIES", 3)

    async def listen():
        listener = watchers.Listener("main", 1)
        listener.add([(number, b"") for number in range(3)])
        assert not listener.ended
        listener.add([(3, b"")])
        return listener.ended

    assert asyncio.run(listen()) == "more than 3 entries are waiting to be read"
