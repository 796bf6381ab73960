"""Measure the store in a large pool: an old correction, ranks, a backup, a verification.

    python bench/store.py [--events 1000000] [--players 100000] [--db FILE]

The script fills an SQLite database, measures, and prints JSON. With FILE it keeps the database and uses it again.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from podium.store import Store
from podium.systems import find

ENTRIES = 8
BATCH = 5_000
START = datetime(2024, 1, 1, tzinfo=UTC)
PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]


def events(first, last, players, rng):
    rows = []
    for number in range(first, last):
        when = START + timedelta(seconds=30 * number)
        field = rng.sample(range(players), ENTRIES)
        rows += [
            {"event_id": f"e{number}", "started_at": when, "player": f"player {who}", "position": float(place)}
            for place, who in enumerate(field, start=1)
        ]
    return rows


def timed(act):
    started = time.perf_counter()
    result = act()
    return result, time.perf_counter() - started


def p99_ms(act, arguments):
    took = sorted(timed(lambda each=each: act(each))[1] for each in arguments)
    return {"p50_ms": round(1000 * took[len(took) // 2], 2), "p99_ms": round(1000 * took[int(0.99 * len(took))], 2)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--players", type=int, default=100_000)
    parser.add_argument("--system", default="elo")
    parser.add_argument("--db", type=Path)
    args = parser.parse_args()
    rng = random.Random(6)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        path = args.db or Path(folder) / "podium.db"
        store = Store(str(path))
        figures = {"events": args.events, "players": args.players}
        if not store.pools():
            store.create_pool("main", find(args.system)())
            filling = 0.0
            for first in range(0, args.events, BATCH):
                rows = events(first, min(first + BATCH, args.events), args.players, rng)
                filling += timed(lambda rows=rows: store.submit("main", rows))[1]
            figures["events a second, filling"] = round(args.events / filling)
        back = f"e{args.events - 10_000}"
        for what, act in (("void", store.void), ("restore", store.restore)):
            receipt, seconds = timed(lambda act=act: act("main", back))
            figures[f"{what} 10,000 events back"] = {"s": round(seconds, 2), "changes": receipt.rerated}
        names = [f"player {rng.randrange(args.players)}" for _ in range(500)]
        figures["rank of a player"] = p99_ms(lambda name: store.rank("main", name), names)
        figures["top 100"] = p99_ms(lambda _: store.leaderboard("main", top=100), names)
        _, seconds = timed(lambda: store.submit("main", events(10**7, 10**7 + 1, args.players, rng)))
        figures["one more event, ms"] = round(1000 * seconds, 1)
        store.close()
        copy = Path(folder) / "copy.db"
        run = lambda *words: subprocess.run([*PODIUM, *map(str, words)], check=True, capture_output=True, text=True)  # noqa: E731
        figures["backup, s"] = round(timed(lambda: run("db", "backup", copy, "--db", path))[1], 1)
        figures["size, MB"] = round(path.stat().st_size / 1e6)
        there = Path(folder) / "restored.db"
        restored, seconds = timed(lambda: run("db", "restore", copy, "--db", there))
        figures["restore and verify, s"] = round(seconds, 1)
        figures["verify"] = restored.stdout.strip().rsplit(": ", 1)[-1]
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
