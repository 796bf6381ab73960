"""The `serve` command: first key, concurrent writers, kills, and no lost results."""

import json
import random
import socket
import subprocess
import threading
import time
from contextlib import closing, contextmanager

import httpx2
import pytest
from earlier import make_earlier_database
from extent import times
from races import event
from servers import PODIUM, client_of, free_port, listens, until

from podium.log.files import files_of
from podium.store import Store
from podium.store.keys import create_key


@contextmanager
def serving(folder, *options):
    """Start a server in a folder, and yield the process, its port and its first lines."""
    port = free_port()
    command = [*PODIUM, "serve", "--port", str(port), *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            first = server.stdout.readline()
            until(lambda: listens(port) or server.poll() is not None)
            with client_of(port) as client:
                client.get("/healthz").raise_for_status()
            yield server, port, first
        finally:
            server.kill()


def in_threads(count, act):
    """Call a function in many threads at once, and return the exceptions."""
    failures = []

    def run(k):
        try:
            act(k)
        except Exception as error:  # noqa: BLE001  (the test shows it)
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def race_and_write(port, key):
    """Send one event from many threads, which must count once, and write to three pools from eight."""
    gate, answers = threading.Barrier(32), []

    def send(_):
        with client_of(port, key) as client:
            gate.wait()
            answers.append(client.post("/api/v1/pools/main/events", json=event(1)).status_code)

    def write(writer):
        with client_of(port, key) as client:
            for number in range(12):
                sent = event(writer * 100 + number, "abc" if writer % 2 else "cab", minute=number)
                client.post(f"/api/v1/pools/{'xyz'[number % 3]}/events", json=sent).raise_for_status()

    assert in_threads(32, send) == []
    assert in_threads(8, write) == []
    assert sorted(answers) == [200] * 31 + [201]


def kill_while_writing(server, port, key, numbers, rest_s):
    """Kill a server some time after its first response to four writers, and return the events it confirmed."""
    answered = set()

    def write(_):
        with client_of(port, key) as client:
            for each in numbers:
                try:
                    answer = client.post("/api/v1/pools/main/events", json=event(each, "abc", minute=each % 60))
                except httpx2.TransportError:
                    return
                if answer.is_success:
                    answered.add(f"e{each}")

    def kill():
        end = time.monotonic() + 30.0
        while not answered and server.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(rest_s)
        server.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    assert in_threads(4, write) == []
    killer.join()
    assert answered
    return answered


def stop_while_receiving(server, port, key):
    """Stop a server during a stream and a request. It must accept the event and end the stream."""
    with client_of(port, key) as client, client.stream("GET", "/api/v1/pools/main/stream") as stream:
        chunks = stream.iter_bytes()
        assert next(chunks).startswith(b":")
        body = json.dumps(event(9)).encode()
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(
                f"POST /api/v1/pools/main/events HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {key}\r\n"
                f"content-length: {len(body)}\r\nexpect: 100-continue\r\n\r\n".encode()
            )
            assert sender.recv(100).startswith(b"HTTP/1.1 100")  # the service is reading the request
            server.terminate()
            assert b"".join(chunks) == b": the service is stopping\n\n"  # the stream ends properly
            sender.sendall(body)
            assert sender.recv(100).startswith(b"HTTP/1.1 201")
    assert server.wait(60.0) in (0, -15)


@pytest.mark.parametrize("kind", times(["sqlite"], ["sqlite", "postgresql"]))  # test_workers covers PostgreSQL
def test_every_confirmed_event_is_stored_once_despite_kills(kind, tmp_path, request):
    """With SQLite, the only options are the port and the file for the first key."""
    url = request.getfixturevalue("new_url")(kind) if kind == "postgresql" else str(tmp_path / "podium.db")
    options = ("--db", url) if kind == "postgresql" else ()
    numbers, answered, key = iter(range(1000, 10**9)), {"e1", "e9"}, ""
    rng = random.Random(8)  # noqa: S311
    for _ in range(times(1, 1000)):
        with serving(tmp_path, "--key-file", "admin.key", *options) as (server, port, _):
            if not key:
                key = (tmp_path / "admin.key").read_text(encoding="utf-8").strip()
                with client_of(port, key) as client:
                    for pool in ("main", *"xyz"):
                        client.post("/api/v1/pools", json={"name": pool, "system": "elo"}).raise_for_status()
                    assert client.get("/api/openapi.json").json()["info"]["title"] == "Podium"
                race_and_write(port, key)
            answered |= kill_while_writing(server, port, key, numbers, rng.uniform(0.0, 0.3))
    with serving(tmp_path, *options) as (server, port, _):
        stop_while_receiving(server, port, key)
    if kind == "sqlite":
        assert files_of(tmp_path / "podium.db") == [tmp_path / "podium.db"]  # copying this file copies everything
    with closing(Store(url)) as store:
        kept = store.results("main").frame.group_by("event_id").len()
        assert answered <= {*kept["event_id"]}
        assert kept["len"].unique().to_list() == [3]
        assert {pool: store.results(pool).frame["event_id"].n_unique() for pool in "xyz"} == dict.fromkeys("xyz", 32)
        assert store.verify() == []


def test_serve_recalculates_pools_of_an_earlier_version(tmp_path):
    """Of two servers, one recalculates and says so, and both serve."""
    url = f"sqlite:///{tmp_path}/podium.db"
    make_earlier_database(url)
    with closing(Store(url)) as opened:
        create_key(opened.engine, "server", "write")
        with serving(tmp_path) as (one, _, first), serving(tmp_path) as (other, _, second):
            for server in (one, other):
                server.terminate()
            output = first + one.stdout.read() + second + other.stdout.read()
        for expected in (
            "modern: 2 events rated again, 0 rating changes affected\n",
            "sixties: 5 events rated again, ",
        ):
            assert output.count(f"pool {expected}") == 1
        assert output.count("Podium listens on") == 2
        assert opened.verify() == []
