"""Several processes on one PostgreSQL: what one writes the others show, what is done once is, and kills lose nothing."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from extent import FULL, times
from proxies import proxying
from races import event

from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]
POOL = "/api/v1/pools/main"
LONG_S = 120.0


@contextmanager
def serving(folder, url, *options):
    """The process that watches two workers, its port, and its log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "log"
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


def until(find_it):
    """What is found, once it is anything."""
    end = time.monotonic() + LONG_S
    while not (found := find_it()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def workers_of(server):
    """The numbers of the workers' processes."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text(encoding="ascii").rpartition(")")[2].split()[1])
            if parent == server.pid and b"spawn_main" in (stat.parent / "cmdline").read_bytes():
                found.add(int(stat.parent.name))
    return found


def name_of_worker(answer):
    """What a worker's ids of requests begin with."""
    return answer.headers["x-request-id"].partition("-")[0]


def client_of_each(port, key, stack):
    """A client of each worker: one connection stays with whoever took it."""
    clients = {}

    def connect():
        client = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=LONG_S
        )
        try:
            worker = name_of_worker(client.get("/healthz"))
        except httpx2.TransportError:
            client.close()
            return None
        if worker in clients:
            client.close()
        else:
            clients[worker] = stack.enter_context(client)
        return clients if len(clients) == 2 else None

    return [*until(connect).values()]


def test_sqlite_has_one_worker(podium_command, tmp_path):
    status, _, error = podium_command("serve", "--workers", "2", "--db", tmp_path / "podium.db")
    assert status == 2
    assert "--workers 2 takes PostgreSQL" in error
    assert "one writer at a time" in error
    assert "--db postgresql+psycopg://" in error
    assert not (tmp_path / "podium.db").exists()


@pytest.fixture
def url(request, new_url):
    return new_url("postgresql")


def listen(client, entries, ended):
    """Take what a stream sends until it ends."""
    with client.stream("GET", f"{POOL}/stream") as stream:
        entries.append(name_of_worker(stream))
        assert stream.headers["x-accel-buffering"] == "no"
        for line in stream.iter_lines():
            if line.startswith("data: "):
                entries.append(json.loads(line[6:])["event_id"])
    ended.set()


@pytest.mark.skipif(sys.platform != "linux", reason="it finds the workers in /proc")
def test_two_workers_are_one_service(tmp_path, url):
    """Boards, streams, limits, metrics and daily ranks; behind a proxy, with kills in the midst of posts."""
    store = Store(url)
    store.create_pool("main", find("elo")())
    key, limited = create_key(store.engine, "all", "admin"), create_key(store.engine, "few", "read", None, 4.0)
    with ExitStack() as stack:
        server, port, log = stack.enter_context(serving(tmp_path, url, "--trusted-proxy", "127.0.0.1"))
        one, other = client_of_each(port, key, stack)

        # What one writes, the board and a stream of the other have.
        board = f"{POOL}/leaderboard"
        assert other.get(board).json()["players"] == []
        entries, ended = [], threading.Event()
        proxy = stack.enter_context(proxying(port))
        through = stack.enter_context(
            httpx2.Client(base_url=f"http://127.0.0.1:{proxy}", headers=one.headers, timeout=LONG_S)
        )
        listener = threading.Thread(target=listen, args=(through, entries, ended))
        listener.start()
        until(lambda: entries)
        assert one.post(f"{POOL}/events", json=event(1)).status_code == 201
        assert other.post(f"{POOL}/events", json=event(2)).status_code == 201
        until(lambda: entries[1:] == ["e1", "e2"])
        assert until(lambda: other.get(board).json()["players"]) == one.get(board).json()["players"]
        with httpx2.Client(base_url=through.base_url) as client:
            client.get("/healthz").raise_for_status()
        until(lambda: '"client": "192.0.2.9"' in log.read_text(encoding="utf-8"))  # whom the proxy named

        # Limits are of the key, whichever worker is asked.
        statuses = []
        headers = {"Authorization": f"Bearer {limited}"}
        began = time.monotonic()
        for each in (one, other) * 15:
            statuses.append(each.get(board, headers=headers).status_code)
        passed_s = time.monotonic() - began
        assert {*statuses} == {200, 429}
        assert statuses.count(200) <= 8 + 4.0 * passed_s + 1

        # A scrape of either has the requests of both.
        route = f'route="{POOL.replace("main", "{pool}")}/leaderboard",status="429"'
        counted = f"{float(statuses.count(429))}"
        for each in (one, other):
            text = each.get("/metrics").text
            assert re.search(rf"podium_requests_total\{{.*{re.escape(route)}\}} {re.escape(counted)}", text)
            assert "podium_streams 1.0" in text

        # What is answered is there once, though workers are killed.
        answered, stop = set(), threading.Event()
        numbers = iter(range(100, 100_000))

        def send():
            for number in numbers:
                sent = event(number, "abc" if number % 2 else "cab", minute=number % 50)
                while number not in answered:
                    with suppress(httpx2.TransportError):
                        answer = httpx2.post(f"{one.base_url}{POOL}/events", json=sent, headers=one.headers, timeout=30)
                        if answer.is_success:
                            answered.add(number)
                if stop.is_set():
                    return

        senders = [threading.Thread(target=send) for _ in range(3)]
        for each in senders:
            each.start()
        for _ in range(times(1, 30)):
            enough = len(answered) + 3
            until(lambda enough=enough: len(answered) >= enough)
            killed = min(until(lambda: workers if len(workers := workers_of(server)) == 2 else None))
            os.kill(killed, signal.SIGKILL)
            enough = len(answered) + 3
            until(lambda enough=enough: len(answered) >= enough)
        stop.set()
        for each in senders:
            each.join()
        until(lambda: len(workers_of(server)) == 2)  # another takes the place of the one that was killed

        if FULL:
            server.kill()  # workers end with the process that watches them
            until(lambda: not workers_of(server))
        server.terminate()
        until(ended.is_set)  # streams end as the service stops, if their worker was not killed before
        listener.join()
        assert server.wait(30.0) in {0, -signal.SIGKILL}
    until(lambda: refuses(port))
    stored = store.results("main").frame
    assert {f"e{number}" for number in answered} <= {*stored["event_id"]}
    assert stored.group_by("event_id").len()["len"].unique().to_list() == [3]
    assert store.verify() == []
    store.close()


def refuses(port):
    """Whether nobody listens at a port any more."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
