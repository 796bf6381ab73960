"""The service as an admin starts it: no arguments, a first key, results in from many sides, kills, nothing lost."""

import json
import random
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx2
import pytest
from earlier import make_earlier_database
from extent import times
from races import event

from podium.store import Store
from podium.store.keys import create_key
from podium.store.sql.files import files_of
from podium.systems import find

PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # shared: a client would make one of its own, which takes long


def client_of(base, key):
    """A client of a server, with a key."""
    return httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {key}"}, timeout=60.0, verify=NO_TLS)


@contextmanager
def serving(folder, *options):
    """A server in a folder, its base address, and what it printed first."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [*PODIUM, "serve", "--port", str(port), *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            first = server.stdout.readline()
            base = f"http://127.0.0.1:{port}"
            for _ in range(600):
                try:
                    httpx2.get(f"{base}/healthz", verify=NO_TLS).raise_for_status()
                    break
                except httpx2.TransportError:
                    time.sleep(0.02)
            yield server, base, first
        finally:
            server.kill()


def in_threads(count, act):
    """Run something in many threads at once; what went wrong in them."""
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


def test_serve_works_with_no_arguments_but_a_port(tmp_path):
    with serving(tmp_path) as (server, base, first):
        key = re.findall(r"podium_\S+", first)[0]
        with client_of(base, key) as client:
            client.post("/api/v1/pools", json={"name": "main", "system": "elo"}).raise_for_status()
            for number in range(5):
                assert client.post("/api/v1/pools/main/events", json=event(number, minute=number)).status_code == 201
            assert client.get("/api/openapi.json").json()["info"]["title"] == "Podium"
            with client.stream("GET", "/api/v1/pools/main/stream") as stream:
                chunks = stream.iter_bytes()
                assert next(chunks).startswith(b":")
                body = json.dumps(event(9)).encode()
                with socket.create_connection((client.base_url.host, client.base_url.port)) as sender:
                    sender.sendall(
                        f"POST /api/v1/pools/main/events HTTP/1.1\r\nauthorization: Bearer {key}\r\n"
                        f"content-length: {len(body)}\r\nexpect: 100-continue\r\n\r\n".encode()
                    )
                    assert sender.recv(100).startswith(b"HTTP/1.1 100")  # the service is at it
                    stopped = time.monotonic()
                    server.terminate()
                    assert [*chunks] == []  # the stream ends, and is not cut off
                    sender.sendall(body)
                    assert sender.recv(100).startswith(b"HTTP/1.1 201")
            assert server.wait(10) in (0, -15)
            assert time.monotonic() - stopped < 5.0
    assert files_of(tmp_path / "podium.db") == [tmp_path / "podium.db"]  # a plain copy of it has everything
    store = Store(str(tmp_path / "podium.db"))
    assert store.results("main").frame["event_id"].n_unique() == 6
    assert store.verify() == []
    store.close()


def test_serve_rates_the_pools_of_an_earlier_version_again(tmp_path):
    """Two at once: one does it and says so, both serve."""
    url = f"sqlite:///{tmp_path}/podium.db"
    make_earlier_database(url, f"sqlite:///{tmp_path}/scratch.db")
    opened = Store(url)
    create_key(opened.engine, "server", "write")
    with serving(tmp_path) as (one, _, first), serving(tmp_path) as (other, _, second):
        for server in (one, other):
            server.terminate()
        output = first + one.stdout.read() + second + other.stdout.read()
    for expected in (  # of the two one may take one step of a pool, and the other the next
        r"pool modern: .*its log of 3 entries is chained",
        r"pool modern: (.*; )?2 events rated again, 0 changes of ratings moved\n",
        r"pool sixties: .*its log of 7 entries is chained",
        r"pool sixties: (.*; )?5 events rated again, ",
    ):
        assert len(re.findall(expected, output)) == 1
    assert output.count("Podium listens on") == 2
    assert opened.verify() == []
    opened.close()


@pytest.mark.parametrize("kind", times(["sqlite"], ["sqlite", "postgresql"]))  # test_workers serves the other
def test_many_clients_race_with_one_event_and_eight_write_to_three_pools(kind, tmp_path, request):
    url = str(tmp_path / "podium.db") if kind == "sqlite" else request.getfixturevalue("new_url")("postgresql")
    store = Store(url)
    for pool in ("main", *"xyz"):
        store.create_pool(pool, find("elo")())
    key = create_key(store.engine, "server", "write")
    answers = []
    with serving(tmp_path, "--db", url) as (_, base, _):
        gate = threading.Barrier(32)

        def send(_):
            with client_of(base, key) as client:
                gate.wait()
                answers.append(client.post("/api/v1/pools/main/events", json=event(1)).status_code)

        def write(writer):
            with client_of(base, key) as client:
                for number in range(12):
                    sent = event(writer * 100 + number, "abc" if writer % 2 else "cab", minute=number)
                    client.post(f"/api/v1/pools/{'xyz'[number % 3]}/events", json=sent).raise_for_status()

        assert in_threads(32, send) == []
        assert in_threads(8, write) == []
    assert sorted(answers) == [200] * 31 + [201]
    counts = {"main": 1, "x": 32, "y": 32, "z": 32}
    assert {pool: store.results(pool).frame["event_id"].n_unique() for pool in counts} == counts
    assert store.verify() == []
    store.close()


def test_what_was_answered_is_there_once_however_often_the_server_is_killed(tmp_path):
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("elo")())
    key = create_key(store.engine, "server", "write")
    rng = random.Random(8)  # noqa: S311
    answered, number = set(), iter(range(10**9))
    kills = times(2, 1000)
    for kill in range(kills):
        with serving(tmp_path) as (server, base, _):

            def write(_, base=base):
                with client_of(base, key) as client:
                    for each in number:
                        try:
                            answer = client.post("/api/v1/pools/main/events", json=event(each, "abc", minute=each % 60))
                        except httpx2.TransportError:
                            return
                        if answer.is_success:
                            answered.add(f"e{each}")

            before = len(answered)

            def kill_in_the_midst(server=server, before=before):
                end = time.monotonic() + 30.0
                while len(answered) == before and server.poll() is None and time.monotonic() < end:
                    time.sleep(0.001)
                time.sleep(rng.uniform(0.0, 0.3))
                server.kill()

            killer = threading.Thread(target=kill_in_the_midst)
            killer.start()
            assert in_threads(4, write) == []
            killer.join()
        if kill % 50 == 0 or kill == kills - 1:
            assert answered <= set(store.results("main").frame["event_id"])
    assert len(answered) >= kills
    assert store.results("main").frame.group_by("event_id").len()["len"].unique().to_list() == [3]
    assert store.verify() == []
    store.close()
