"""Measure how many bytes of memory a change takes in a pool that is held in memory, for each system.

    python bench/held.py [--events 10000] [--entrants 4] [SYSTEM …]

Each system has its own pool in a temporary folder, with one player for every eight events. The bytes are those of the
arrays in a snapshot, including the encoded results, as `podium_held_bytes` counts them. `learnt` is the part that the
system has learnt from the pool. The script prints JSON.
"""

import argparse
import json
import random
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from podium.store import Store
from podium.systems import find

START = datetime(2024, 1, 1, tzinfo=UTC)
BATCH = 5_000
SYSTEMS = ("elo", "glicko2", "trueskill", "adaptive", "elo-mmr")


def rows(number, field):
    when = (START + timedelta(minutes=number)).isoformat()
    return [
        {"event_id": f"e{number}", "started_at": when, "player": f"p{who}", "position": place}
        for place, who in enumerate(field, start=1)
    ]


def measure(store, system, events, entrants):
    rng, players = random.Random(3), max(events // 8, entrants)  # noqa: S311
    store.create_pool(system, find(system)())
    for first in range(0, events, BATCH):
        fields = [rng.sample(range(players), entrants) for _ in range(min(BATCH, events - first))]
        store.submit(system, [row for number, field in enumerate(fields, start=first) for row in rows(number, field)])
    with store.reading(system) as pool:
        snapshot = pool.snapshot
    changes, parts = snapshot.rows.size, {"all": snapshot, "ledger": snapshot.rows, "results": snapshot.contents}
    parts |= {"events": snapshot.events.columns, "ids": snapshot.events.ids, "learnt": snapshot.learnt}
    return {"changes": changes} | {name: round(sum(each.memory().values()) / changes) for name, each in parts.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--entrants", type=int, default=4)
    parser.add_argument("systems", nargs="*", default=SYSTEMS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(str(Path(folder) / "podium.db"))
        print(json.dumps({each: measure(store, each, args.events, args.entrants) for each in args.systems}, indent=2))
        store.close()


if __name__ == "__main__":
    main()
