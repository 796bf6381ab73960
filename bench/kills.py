"""Kill the service again and again during writes, and check that nothing is lost, stored twice or rated wrongly.

    python bench/kills.py [--kills 150] [--kind sqlite|postgresql] [--workers 3] [--seed 1]

The script starts its own servers on a free port of the loopback address, with a database in a temporary folder. Four
writers send races to two pools, send some of them late, and void some. Players of a third pool report duels with their
links, and their opponents confirm them. One client reads a stream and one receives a webhook. With several workers it
kills one of them, or the process that started them. It prints JSON.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import httpx2
import numpy as np
import polars as pl
from serving import PODIUM, children, free_port, postgres

import podium
from podium.store import Store
from podium.store.keys import list_webhooks
from podium.systems import find

POOLS = {"main": "glicko2", "other": "elo"}
WRITERS, PLAYERS = 4, 60
START = datetime(2025, 1, 1, tzinfo=UTC)
LIVES_S = 0.2, 1.5  # time from a server's start to its kill


class Server:
    """A service that can be killed and started again."""

    def __init__(self, folder, database, workers):
        self.port = free_port()
        self.command = [*PODIUM, "serve", "--port", str(self.port), "--db", database, "--key-file", f"{folder}/key"]
        self.command += ["--workers", str(workers)] if workers > 1 else []
        self.folder, self.workers, self.process, self.starts = folder, workers, None, 0
        self.log = Path(folder) / "log"

    def start(self):
        """Start it unless it runs, and wait until it answers. If it gives up, start it again, as systemd does."""
        until = time.monotonic() + 180.0
        while time.monotonic() < until:
            if self.process is None or self.process.poll() is not None:
                self.starts += 1
                with self.log.open("ab") as log:
                    self.process = subprocess.Popen(
                        self.command, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
                    )
            try:
                if httpx2.get(f"http://127.0.0.1:{self.port}/healthz", timeout=2.0).is_success:
                    return
            except httpx2.TransportError:
                time.sleep(0.05)
        sys.exit(f"the server does not come up: {self.log.read_text(encoding='utf-8')[-2000:]}")

    def kill(self, rng):
        """Kill the service or, with several workers, half of the time one of them."""
        workers = children(self.process.pid)
        if self.workers > 1 and workers and rng.random() < 0.5:  # noqa: PLR2004
            os.kill(rng.choice(workers), signal.SIGKILL)
            return
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Stop it as an administrator does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


class Writers:
    """Writers that send races until the end, and repeat each one until it is acknowledged."""

    def __init__(self, port, key, seed):
        self.url, self.key, self.seed = f"http://127.0.0.1:{port}/api/v1", key, seed
        self.acknowledged = {pool: set() for pool in POOLS}
        self.voided, self.ends, self.unanswered = {pool: set() for pool in POOLS}, threading.Event(), 0
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(WRITERS)]

    def run(self, number):
        """Send one race after another."""
        rng, http = random.Random(self.seed * 100 + number), httpx2.Client(timeout=10.0)  # noqa: S311
        http.headers["Authorization"] = f"Bearer {self.key}"
        count = 0
        while not self.ends.is_set():
            count += 1
            pool, name = rng.choice([*POOLS]), f"w{number}-{count}"
            minutes = count - rng.choice([0] * 9 + [rng.randrange(count)])
            field = rng.sample(range(PLAYERS), 5)
            event = {
                "event_id": name,
                "started_at": (START + timedelta(minutes=minutes, seconds=number)).isoformat(),
                "entries": [{"player": f"p{who}", "position": place} for place, who in enumerate(field, start=1)],
            }
            if self.send(http, "POST", f"/pools/{pool}/events", event):
                self.acknowledged[pool].add(name)
                if rng.random() < 0.05 and self.send(http, "POST", f"/pools/{pool}/events/{name}/void"):  # noqa: PLR2004
                    self.voided[pool].add(name)

    def send(self, http, method, path, body=None):
        """Repeat a request until it is answered, and return True if it was accepted."""
        while not self.ends.is_set():
            try:
                answer = http.request(method, self.url + path, json=body)
            except httpx2.TransportError:
                self.unanswered += 1
                time.sleep(0.02)
                continue
            if answer.is_success:
                return True
            if answer.status_code not in (429, 500, 503):
                sys.exit(f"{path} answered {answer.status_code}: {answer.text[:300]}")
            time.sleep(0.02)
        return False


class Reporters:
    """Players who report duels with their personal links, one after another, and opponents who confirm them."""

    def __init__(self, store, port):
        store.create_pool("ladder", find("elo")(), reports="100%")
        self.names = [f"p{number}" for number in range(PLAYERS)]
        links = store.change_links("ladder", "give", self.names)
        self.addresses = {link.player: f"http://127.0.0.1:{port}{link.path}" for link in links}
        self.store, self.confirmed, self.ends = store, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        """Report and confirm until the end. A player may send 20 reports a day."""
        for number in range(20 * PLAYERS):
            one, other = self.names[number % PLAYERS], self.names[(number + 1) % PLAYERS]
            form = {"event_id": f"form {number}", "lines": 2, "at": datetime.now(UTC).isoformat()}
            for k, name in enumerate((one, other)):
                form |= {f"name-{k}": name, f"place-{k}": k + 1}
            if not self.send(one, form):
                return
            for report in self.store.list_reports("ladder"):
                if self.send(other, {"report": report.report_id, "act": "confirm"}):
                    self.confirmed.append(report.report_id)

    def send(self, player, form):
        """Repeat a form until it is stored, and return True unless the end comes first."""
        while not self.ends.is_set():
            try:
                answer = httpx2.post(self.addresses[player], data=form, timeout=10.0)
            except httpx2.TransportError:
                time.sleep(0.02)
                continue
            if answer.status_code == 303:  # noqa: PLR2004
                return True
            if answer.status_code not in (429, 500, 503):
                sys.exit(f"a link answered {answer.status_code}: {answer.text[:300]}")
            time.sleep(0.02)
        return False

    def judge(self):
        """Compare events with confirmations."""
        events = [entry.subject for entry in self.store.log("ladder", most=10_000) if entry.kind == "submit"]
        return {
            "confirmed": len(self.confirmed), "counted": len(events), "lost": len({*self.confirmed} - {*events}),
            "twice": len(events) - len({*events}), "waiting": len(self.store.list_reports("ladder")),
        }  # fmt: skip


def read_stream(url, key, seen, ends):
    """Read a pool's stream, and continue after each break."""
    while not ends.is_set():
        headers = {"Authorization": f"Bearer {key}", "Last-Event-ID": str(seen[-1] if seen else 0)}
        try:
            with httpx2.stream("GET", f"{url}/pools/main/stream", headers=headers, timeout=5.0) as answer:
                for line in answer.iter_lines():
                    if line.startswith("id: "):
                        seen.append(int(line[4:]))
                    if ends.is_set():
                        break
        except httpx2.TransportError:
            time.sleep(0.05)


def receiver(came):
    """Start a server that receives a webhook."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(json.loads(self.rfile.read(int(self.headers["content-length"])))["seq"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_parts): ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def wait_for_webhook(database, store, seconds=60.0):
    """Wait until the webhook has received everything."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and list_webhooks(store.engine)[0].delivered_seq < store.version("main"):
        time.sleep(0.2)


def judge(store, writers):
    """Return how many events are lost or stored twice, and compare the ratings with a replay."""
    figures = {}
    for pool, system in POOLS.items():
        results = store.results(pool)
        counts = results.frame["event_id"].n_unique()
        kept = set(results.frame["event_id"])
        lost = writers.acknowledged[pool] - writers.voided[pool] - kept
        twice = results.frame.group_by("event_id", "player").len().filter(pl.col("len") > 1).height
        replayed = podium.rate(results.frame, system).history.sort("event_id", "player")
        stored = store.history(pool).sort("event_id", "player")
        same = np.array_equal(replayed["rating"].to_numpy(), stored["rating"].to_numpy())
        figures[pool] = {
            "acknowledged": len(writers.acknowledged[pool]), "voided": len(writers.voided[pool]), "rated": counts,
            "lost": len(lost), "voids lost": len(writers.voided[pool] & kept), "twice": twice,
            "changes": stored.height, "as a replay, to the bit": bool(same),
        }  # fmt: skip
    return figures


def run(args, folder, database):
    rng, came, seen = random.Random(args.seed), [], []  # noqa: S311
    server = Server(folder, database, args.workers)
    server.start()
    key = (Path(folder) / "key").read_text(encoding="ascii").strip()
    url = f"http://127.0.0.1:{server.port}/api/v1"
    for name, system in POOLS.items():
        httpx2.post(f"{url}/pools", json={"name": name, "system": system}, headers={"Authorization": f"Bearer {key}"})
    hooks = receiver(came)
    address = f"http://127.0.0.1:{hooks.server_port}/x"
    subprocess.run(
        [*PODIUM, "webhook", "create", address, "--pool", "main", "--private", "--db", database],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    store = Store(database)
    first = store.version("main")
    seen.append(first)
    writers, ends = Writers(server.port, key, args.seed), threading.Event()
    reader = threading.Thread(target=read_stream, args=(url, key, seen, ends), daemon=True)
    reporters = Reporters(store, server.port)
    for thread in (*writers.threads, reader, reporters.thread):
        thread.start()
    for _ in range(args.kills):
        time.sleep(rng.uniform(*LIVES_S))
        server.kill(rng)
        server.start()
    time.sleep(2.0)
    for sender in (writers, reporters):
        sender.ends.set()
    for thread in (*writers.threads, reporters.thread):
        thread.join()
    wait_for_webhook(database, store)
    time.sleep(2.0)
    ends.set()
    server.end()
    reader.join()
    hooks.shutdown()
    every = [each["seq"] for each in iterate_news(store, first)]
    figures = judge(store, writers)
    distinct = list(dict.fromkeys(came))
    figures |= {
        "kind": args.kind, "workers": args.workers, "kills": args.kills, "starts": server.starts,
        "requests without an answer": writers.unanswered,
        "stream": {"entries": len(seen) - 1, "without a gap": seen[1:] == every},
        "webhook": {
            "entries": len(distinct), "repeated": len(came) - len(distinct), "without a gap": distinct == every,
            "in order": all(b > a for a, b in pairwise(distinct)),
        },
        "reports": reporters.judge(), "verify": store.verify(),
    }  # fmt: skip
    store.close()
    return figures


def iterate_news(store, after):
    while entries := store.news("main", after, 1000):
        yield from entries
        after = entries[-1]["seq"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=150)
    parser.add_argument("--kind", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        database = f"{folder}/podium.db"
        if args.kind == "postgresql":
            database = stack.enter_context(postgres(f"{folder}/pg"))
        figures = run(args, folder, database)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
