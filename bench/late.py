"""Measure a late event before many others: the delay of posts to another pool, and the memory it takes.

    python bench/late.py [--events 200000] [--kind sqlite|postgresql] [--url URL] [--rate 50] [--kill 0] [--db FILE]

Everything runs in one process, without HTTP. The script fills a pool with events of four players. With FILE it keeps
the pool and uses it again. Then it adds an event before all of them, while it posts to another pool at a steady rate
and reads pages of the first. With `--kill N` a separate process first adds the late event and is killed at N random
times. Each time the pool must be unchanged. The script prints JSON.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from serving import postgres

from podium.store import Store
from podium.systems import find

PLAYERS = 5_000
ENTRIES = 4
BATCH = 5_000
START = datetime(2024, 1, 1, tzinfo=UTC)
RNG = random.Random(8)  # noqa: S311


def event(name, when, players=PLAYERS):
    field = RNG.sample(range(players), ENTRIES)
    return [
        {"event_id": name, "started_at": when, "player": f"player {who}", "position": float(place)}
        for place, who in enumerate(field, start=1)
    ]


def fill(store, events):
    known = {pool.name for pool in store.pools()}
    for name in ("many", "other"):
        if name not in known:
            store.create_pool(name, find("elo")())
    if "many" in known:
        return
    for first in range(0, events, BATCH):
        numbers = range(first, min(first + BATCH, events))
        store.submit(
            "many", [row for number in numbers for row in event(f"e{number}", START + timedelta(seconds=30 * number))]
        )


def latencies(took):
    took = sorted(took)
    return {"posts": len(took)} | {
        name: round(1000 * took[int(share * (len(took) - 1))], 1)
        for name, share in (("p50_ms", 0.5), ("p99_ms", 0.99), ("worst_ms", 1.0))
    }


def repeatedly(act, rate, stop, took):
    """Repeat a call at a steady rate. Each time counts from its due time, or from the end of the call before."""
    due = time.perf_counter()
    while not stop.is_set():
        due = max(due + 1.0 / rate, time.perf_counter())
        time.sleep(max(0.0, due - time.perf_counter()))
        act()
        took.append(time.perf_counter() - due)


def posts_meanwhile(store, args, act):
    """Return the times of an action, and of posts to both pools and of pages during it."""
    stop, took = threading.Event(), {name: [] for name in ("other pool", "own pool", "pages")}
    names, last = count(time.time_ns()), datetime.now(UTC) - timedelta(days=1)
    acts = {
        "other pool": (lambda: store.submit("other", event(f"o{next(names)}", last)), args.rate),
        "own pool": (lambda: store.submit("many", event(f"n{next(names)}", last)), 2),
        "pages": (lambda: store.leaderboard("many", top=100), 20),
    }
    threads = [
        threading.Thread(target=repeatedly, args=(each, rate, stop, took[name])) for name, (each, rate) in acts.items()
    ]
    for thread in threads:
        thread.start()
    time.sleep(args.before)
    while not all(took.values()):
        time.sleep(0.1)
    calm = {name: latencies(each[:]) for name, each in took.items()}
    begun, lengths = time.perf_counter(), {name: len(each) for name, each in took.items()}
    answer = act()
    seconds = time.perf_counter() - begun
    busy = {name: latencies(each[lengths[name] :] or [seconds]) for name, each in took.items()}
    stop.set()
    for thread in threads:
        thread.join()
    return answer, {"s": round(seconds, 1), "before": calm, "meanwhile": busy}


LATE = """
import sys
from datetime import datetime
from podium.store import Store
rows = [{"event_id": sys.argv[2], "started_at": "2023-01-01T00:00:00Z", "player": name, "position": place}
        for place, name in enumerate(("player 1", "player 2", "nobody yet"), start=1)]
Store(sys.argv[1]).submit("many", rows)
"""


def kill(url, times, longest):
    """Add late events in processes that are killed, and return what each process left."""
    outcomes = []
    for number in range(times):
        with subprocess.Popen([sys.executable, "-c", LATE, url, f"killed {number}"]) as process:
            time.sleep(RNG.uniform(2.0, longest))
            process.send_signal(signal.SIGKILL)
        store = Store(url)
        known = {each["subject"] for each in store.log("many", after=store.version("many") - 5, most=100)}
        outcomes.append({"killed": process.returncode == -signal.SIGKILL, "stored": f"killed {number}" in known})
        if number % 5 == 4:  # noqa: PLR2004  (it takes long)
            outcomes[-1]["verify"] = store.verify("many")
        store.close()
    return outcomes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--kind", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--url", help="an empty database of that kind; a file of its own if not given")
    parser.add_argument("--db", type=Path)
    parser.add_argument("--rate", type=float, default=50.0, help="posts a second to the other pool")
    parser.add_argument("--before", type=float, default=5.0, help="seconds of posts before the late event")
    parser.add_argument("--kill", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = args.url or str(args.db or Path(folder) / "podium.db")
        if args.kind == "postgresql" and not args.url:
            url = stack.enter_context(postgres(folder))
        filler = os.fork()  # a separate process, so that filling the pool does not raise the peak memory
        if not filler:
            store = Store(url)
            fill(store, args.events)
            store.close()
            os._exit(0)
        os.waitpid(filler, 0)
        store = Store(url)
        figures = {"events": args.events, "kind": args.kind}
        figures["MB before"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        late = event(f"late {time.time_ns()}", START - timedelta(days=1))
        (dry,), figures["dry run"] = posts_meanwhile(store, args, lambda: store.submit("many", late, dry_run=True))
        figures["dry run"]["effects"] = len(dry.effects)
        figures["MB after the dry run"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        (receipt,), figures["late event"] = posts_meanwhile(store, args, lambda: store.submit("many", late))
        figures["changes"] = receipt.rerated
        figures["MB at most"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        if args.kill:
            figures["kills"] = kill(url, args.kill, 1.2 * figures["late event"]["s"])
        figures["verify"] = store.verify()
        store.close()
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
