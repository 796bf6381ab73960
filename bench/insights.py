"""Measure what pages read from a store, one read model after the other: p50 and p99 for a large pool.

    python bench/insights.py [--players 100000] [--events 200000] [--kind sqlite|postgresql] [--url URL] [--db FILE]
                             [--copy FILE] [--rounds 300] [--only NAME …]

The script fills a pool by posts of 5,000 events of twelve. A few players play often, most play little. With FILE it
keeps the pool and uses it again. `--copy` copies the rows of an SQLite file that was filled before. Everything runs in
one process, without HTTP, with random names, pages and events. Each reading is timed after others at the same version
of the pool. Readings that are kept by version are also timed after an entry in the log ("new version"). The script
prints JSON, in milliseconds. "cpu" is the CPU time of this process, which a busy machine does not change. With
PostgreSQL it leaves out the database server.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

from serving import postgres

from podium.log.schema import metadata
from podium.store import Store, pool_facts
from podium.systems import find
from podium.views.player_models import Listing
from podium.views.reader import Answers

POOL = "many"
FIELD = 12
BATCH = 5_000
START = datetime(2022, 1, 1, tzinfo=UTC)
BETWEEN = timedelta(minutes=5)  # events, so that a week has 2,000
RNG = random.Random(16)  # noqa: S311
SYLLABLES = [
    "ba",
    "chi",
    "da",
    "el",
    "fo",
    "gra",
    "hu",
    "in",
    "jo",
    "ka",
    "li",
    "mo",
    "nu",
    "o",
    "pe",
    "ra",
    "si",
    "tu",
    "va",
    "wen",
    "xi",
    "yo",
    "ze",
]
YEAR, ESTABLISHED, EVERYBODY = timedelta(days=365), Listing(), Listing(provisional=True)
LISTINGS = {
    "established": ESTABLISHED,
    "all": EVERYBODY,
    "active in a year": Listing(active_within=YEAR),
    "active in a week, 50 events": Listing(50, timedelta(days=7)),
}


def name_of(number):
    """Return a name of two words, different for each number, in no order."""
    first, second = divmod(number * 7919 % 1_000_003, 1013)
    words = ("".join(SYLLABLES[part // base % len(SYLLABLES)] for base in (1, 23, 529)) for part in (first, second))
    return f"{' '.join(each.title() for each in words)} {number % 97}"


def fill(store, players, events):
    if POOL in {pool.name for pool in store.pools()}:
        return
    store.create_pool(POOL, find("trials")())
    names = [name_of(number) for number in range(players)]
    weights = list(accumulate(1.0 / (50.0 + rank) for rank in range(players)))
    for first in range(0, events, BATCH):
        rows = []
        for number in range(first, min(first + BATCH, events)):
            field = dict.fromkeys(RNG.choices(range(players), cum_weights=weights, k=FIELD - 1))
            field[number % players] = None  # everybody plays at least once
            order = sorted(field, key=lambda who: who + RNG.gauss(0.0, players / 3.0))
            when = START + BETWEEN * number
            rows += [
                {"event_id": f"race {number}", "started_at": when, "player": names[who], "position": float(place)}
                for place, who in enumerate(order, start=1)
            ]
        store.submit(POOL, rows)
        sys.stderr.write(f"{first + BATCH} events\r")


def copy(file, store):
    """Copy the rows of every table of an SQLite database into an empty one of PostgreSQL."""
    source = Store(str(file))
    raw = store.engine.raw_connection()
    with source.engine.connect() as connection, raw.cursor() as cursor:
        for table in metadata.sorted_tables:
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            with cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as into:
                for row in connection.execution_options(yield_per=10_000).execute(table.select()):
                    into.write_row(row)
    raw.commit()
    raw.close()
    with store.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    source.close()


def readings(store, players, events):
    """Return each reading by name: a function that reads random items, and True if its answer is kept by version."""

    def someone():
        return name_of(RNG.randrange(players))

    def some_event():
        return f"race {RNG.randrange(events)}"

    found = {}
    for listed, listing in LISTINGS.items():
        cursors = [None]
        while cursors[-1] is not None or len(cursors) == 1:
            cursors.append(store.leaderboard(POOL, listing, after=cursors[-1], top=200).next)
            if len(cursors) > 100:  # noqa: PLR2004
                break
        some = [each for each in cursors[1:] if each] or [None]
        is_kept = bool(listing.min_events or listing.active_within)
        found |= {
            f"first page, {listed}": (lambda listing=listing: store.leaderboard(POOL, listing), is_kept),
            f"any page, {listed}": (
                lambda listing=listing, some=some: store.leaderboard(POOL, listing, after=RNG.choice(some)),
                is_kept,
            ),
            f"page of a player, {listed}": (lambda listing=listing: store.page_of(POOL, listing, someone()), is_kept),
        }
    return found | {
        "newest entrants": (lambda: store.newest_entrants(POOL, ESTABLISHED), False),
        "search, three letters": (lambda: store.search(someone()[:3], [POOL]), False),
        "search, whole name": (lambda: store.search(someone(), [POOL]), False),
        "search, second word": (lambda: store.search(someone().split()[1], [POOL]), False),
        "search, nobody": (lambda: store.search("q" + someone()[1:6][::-1], [POOL]), False),
        "newest events": (lambda: store.event_list(POOL, top=20), False),
        "50 events, any page": (
            lambda: store.event_list(
                POOL, before=f"{int((START + BETWEEN * RNG.randrange(events)).timestamp())}000000,0"
            ),
            False,
        ),
        "adjacent events": (lambda: store.adjacent_events(POOL, some_event()), False),
        "movers of a week": (lambda: store.movers(POOL), True),
        **readings_of_careers(store, someone, some_event),
    }


def readings_of_careers(store, someone, some_event):
    """Return such readings of one player, one event and the pool, with random players and one of about 400 events."""
    regular = next(
        name
        for name in (name_of(number) for number in range(0, 100_000, 10))
        if store.player_card(POOL, name).events <= 400  # noqa: PLR2004
    )
    store.rivals(POOL, regular)
    return {
        "card": (lambda: store.player_card(POOL, someone()), False),
        "card of 400 events": (lambda: store.player_card(POOL, regular), False),
        "curve": (lambda: store.rating_curve(POOL, someone()), False),
        "curve of 400 events": (lambda: store.rating_curve(POOL, regular), False),
        "50 changes": (lambda: store.player_changes(POOL, regular), False),
        "rivals over 100 events": (lambda: store.rivals(POOL, regular), False),
        "field of an event": (lambda: store.event_field(POOL, some_event()), False),
        "record of an event": (lambda: store.event_record(POOL, some_event()), False),
        "facts": (lambda: store.pool_facts(POOL), False),
    }


def once(store):
    """Return the seconds of slow tasks: rivals of players with at least 100 events, and the facts of a pool."""
    figures = {}
    for what, read in (
        ("rivals of five players, each for the first time", lambda k: store.rivals(POOL, name_of(20 + k))),
        ("facts when they are read", lambda _: find_facts(store, pool_facts.WHEN_READ)),
        ("facts at night", lambda _: find_facts(store, pool_facts.AT_NIGHT)),
    ):
        took = []
        for k in range(5 if "five" in what else 1):
            begun = time.perf_counter()
            read(k)
            took.append(round(time.perf_counter() - begun, 2))
        figures[f"{what}, s"] = took
    store.keep_facts(POOL)
    return figures


def find_facts(store, effort):
    with store.reading(POOL) as pool:
        return pool_facts.find_facts(pool, effort)


def milliseconds(read, rounds, before=lambda: None):
    took, worked = [], []
    for _ in range(rounds):
        before()
        begun, idle = time.perf_counter(), time.process_time()
        read()
        took.append(1000.0 * (time.perf_counter() - begun))
        worked.append(1000.0 * (time.process_time() - idle))
    figures = {}
    for name, several in (("", sorted(took)), ("cpu ", sorted(worked))):
        figures |= {f"{name}p{share}": round(several[int(share / 100 * (rounds - 1))], 2) for share in (50, 99)}
    return figures


def measure(store, args):
    def forget():
        store.answers = store.snapshots.answers = Answers(store.answers.most_bytes)

    figures = {}
    for name, (read, is_kept) in readings(store, args.players, args.events).items():
        if args.only and name not in args.only:
            continue
        milliseconds(read, 20)
        figures[name] = milliseconds(read, args.rounds)
        if is_kept:
            figures[f"{name}, new version"] = milliseconds(read, max(10, args.rounds // 10), forget)
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--players", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--kind", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--url", help="a database of that kind; a file of its own if not given")
    parser.add_argument("--db", type=Path)
    parser.add_argument("--copy", type=Path)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = args.url or str(args.db or Path(folder) / "podium.db")
        if args.kind == "postgresql" and not args.url:
            url = stack.enter_context(postgres(args.db or folder))
        store = Store(url)
        begun = time.perf_counter()
        if args.copy is None:
            fill(store, args.players, args.events)
        elif not store.pools():
            copy(args.copy, store)
        figures = {"kind": args.kind, "players": args.players, "events": args.events}
        figures["filled in s"] = round(time.perf_counter() - begun)
        if not args.only:
            figures |= once(store)
        figures |= measure(store, args)
        store.close()
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
