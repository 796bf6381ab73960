"""Several processes on one PostgreSQL: each shows the others' changes, and kills lose nothing."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from extent import FULL, times
from proxies import proxying
from races import event
from servers import PODIUM, client_of, free_port, listens, until

from podium.service.server import HEALTH_CHECK_S
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

POOL = "/api/v1/pools/main"


@contextmanager
def serving(folder, url, *options):
    """Start a server with two workers, and yield the parent process, its port and its log."""
    port, log = free_port(), folder / "log"
    command = [*PODIUM, "serve", "--db", url, "--port", str(port), "--workers", "2", *options]
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors) as server,
    ):
        try:
            yield server, port, log
        finally:
            server.terminate()
            try:
                server.wait(30.0)
            except subprocess.TimeoutExpired:
                server.kill()


def workers_of(server):
    """Return the process IDs of the workers."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text(encoding="ascii").rpartition(")")[2].split()[1])
            if parent == server.pid and b"spawn_main" in (stat.parent / "cmdline").read_bytes():
                found.add(int(stat.parent.name))
    return found


def name_of_worker(answer):
    """Return the prefix of a worker's request IDs."""
    return answer.headers["x-request-id"].partition("-")[0]


def client_of_each(port, key, stack):
    """Return a client for each worker; a connection stays with the worker that accepted it."""
    clients = {}

    def connect():
        client = client_of(port, key)
        try:
            worker = name_of_worker(client.get("/healthz"))
        except httpx2.TransportError:
            client.close()
            return None
        if worker in clients:
            client.close()
        else:
            clients[worker] = client
            stack.callback(client.close)
        return clients if len(clients) == 2 else None

    return [*until(connect).values()]


def test_sqlite_has_one_worker(podium_command, tmp_path):
    status, _, error = podium_command("serve", "--workers", "2", "--db", tmp_path / "podium.db")
    assert status == 2
    assert "--workers 2 needs PostgreSQL" in error
    assert "one writer at a time" in error
    assert "--db postgresql+psycopg://" in error
    assert not (tmp_path / "podium.db").exists()


@pytest.fixture
def store(new_url):
    with closing(Store(new_url("postgresql"))) as opened:
        yield opened


def listen(client, entries, ended):
    """Collect a stream's entries until it ends or its worker is killed."""
    with suppress(httpx2.TransportError), client.stream("GET", f"{POOL}/stream") as stream:
        entries.append(stream.headers["x-accel-buffering"])
        for line in stream.iter_lines():
            if line.startswith("data: "):
                entries.append(json.loads(line[6:]).get("event_id"))
    ended.set()


def check_that_both_show_new_results(one, other, entries):
    """Check that each worker's leaderboard and a stream have the results sent to either worker."""
    board = f"{POOL}/leaderboard"
    assert other.get(board).json()["players"] == []
    assert one.post(f"{POOL}/events", json=event(1)).status_code == 201
    assert other.post(f"{POOL}/events", json=event(2)).status_code == 201
    until(lambda: entries[1:] == ["e1", "e2"])
    until(lambda: other.get(board).json()["players"] == one.get(board).json()["players"] != [])


def check_that_both_show_the_same_places(one, other):
    """Check that both workers show the same places of a race as soon as one confirms them."""
    race = f"{POOL}/fixtures/tonight"
    planned = {"fixture_id": "tonight", "starts_at": "2035-01-01T00:00:00Z", "entrants": [{"player": x} for x in "abc"]}
    assert one.post(f"{POOL}/fixtures", json=planned).status_code == 201
    assert other.put(f"{race}/places", json={"places": ["c", "a"]}).status_code == 200
    assert one.get(f"{race}/places").json()["places"] == ["c", "a"]
    assert one.get(f"{race}/places").json() == other.get(f"{race}/places").json()


def check_that_limits_are_shared(one, other, key):
    """Check that both workers share a key's limit, and that each reports the metrics of both."""
    began, statuses = time.monotonic(), []
    for each in (one, other) * 15:
        statuses.append(each.get(f"{POOL}/leaderboard", headers={"Authorization": f"Bearer {key}"}).status_code)
    passed_s = time.monotonic() - began
    assert {*statuses} <= {200, 429}
    assert 8 <= statuses.count(200) <= 8 + 4.0 * passed_s + 1
    route = re.escape('route="/api/v1/pools/{pool}/leaderboard",status="200"')
    for each in (one, other):
        text = each.get("/metrics").text
        answered = float(re.search(rf"podium_requests_total{{method=\"GET\",{route}}} (.*)", text)[1])
        assert answered > statuses.count(200)
        assert "podium_streams 1.0" in text
    assert one.get("/metrics").text.count(route) == other.get("/metrics").text.count(route)


def kill_workers_during_posts(server, port, key, kills):
    """Repeat each post until it is confirmed, kill workers meanwhile, and return the confirmed events."""
    answered, stop, numbers = set(), threading.Event(), iter(range(100, 100_000))

    def send(number):
        sent = event(number, "abc" if number % 2 else "cab", minute=number % 50)
        with suppress(httpx2.TransportError), client_of(port, key) as client:
            return client.post(f"{POOL}/events", json=sent).is_success
        return False

    def send_all():
        for number in numbers:
            while not send(number):
                pass
            answered.add(number)
            if stop.is_set():
                return

    def wait_for_more():
        enough = len(answered) + 3
        until(lambda: len(answered) >= enough)

    senders = [threading.Thread(target=send_all) for _ in range(3)]
    for each in senders:
        each.start()
    for _ in range(kills):
        wait_for_more()
        worker = min(until(lambda: both_workers(server)))
        os.kill(worker, signal.SIGSTOP)
        time.sleep(1.0)  # by now the parent waits for a health check
        os.kill(worker, signal.SIGKILL)
        killed = time.monotonic()
        until(lambda: both_workers(server))  # a new worker replaces it
        assert time.monotonic() - killed < HEALTH_CHECK_S / 2
        wait_for_more()
    stop.set()
    for each in senders:
        each.join()
    return answered


def both_workers(server):
    """Return the process IDs of the workers if there are two."""
    workers = workers_of(server)
    return workers if len(workers) == 2 else None


@pytest.mark.skipif(sys.platform != "linux", reason="it finds the workers in /proc")
def test_two_workers_behind_a_proxy_are_one_service(tmp_path, store):
    url = store.engine.url.render_as_string(hide_password=False)
    store.create_pool("main", find("elo")())
    key, limited = create_key(store.engine, "all", "admin"), create_key(store.engine, "few", "read", None, 4.0)
    with ExitStack() as stack:
        server, port, log = stack.enter_context(serving(tmp_path, url, "--trusted-proxy", "127.0.0.1"))
        one, other = client_of_each(port, key, stack)
        proxy = stack.enter_context(proxying(port))
        through = stack.enter_context(client_of(proxy, key))
        entries, ended = [], threading.Event()
        listener = threading.Thread(target=listen, args=(through, entries, ended))
        listener.start()
        until(lambda: entries)
        check_that_both_show_new_results(one, other, entries)
        check_that_both_show_the_same_places(one, other)
        check_that_limits_are_shared(one, other, limited)
        with client_of(proxy) as client:
            client.get("/healthz").raise_for_status()
        until(lambda: '"client": "192.0.2.9"' in log.read_text(encoding="utf-8"))  # the address that the proxy reported
        answered = kill_workers_during_posts(server, port, key, times(1, 30))
        if FULL:
            server.kill()  # workers end with their parent, so the port is free below
        server.terminate()
        until(ended.is_set)  # streams end with the service, unless their worker was killed
        listener.join()
        assert server.wait(30.0) in {0, -signal.SIGKILL}
    until(lambda: not listens(port))
    stored = store.results("main").frame
    assert {f"e{number}" for number in answered} <= {*stored["event_id"]}
    assert stored.group_by("event_id").len()["len"].unique().to_list() == [3]
    assert store.verify() == []
