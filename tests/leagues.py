"""Pools for tests of pages: the example season, fields of all sizes, and unusual names."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl

from podium.results.reading import read_results
from podium.store import Store
from podium.systems import find

SEASON = Path(__file__).parents[1] / "examples" / "season.csv"
SYSTEMS = {"bikes": "trials", "karts": "stk", "stunts": "folyami", "dm": "xonstat"}
WORDS = {"bikes": "rider", "karts": "driver", "stunts": "driver"}
START = datetime(2025, 3, 1, 18, tzinfo=UTC)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "{{ 7 * 7 }}{% raw %}",
    "'; DROP TABLE player; --",
    "שרה לוי",
    "مُحَمَّد",
    "Z̷̢̛͎a̴̡̛l̶g̵o̴",
    "👩‍👩‍👧‍👦 🏁",
    "a/b?c=d#e&f%20",
    "javascript:alert(3)",
    "W" * 200,
    "..",
)


def add_season(store, pools=tuple(SYSTEMS)):
    """Add the pools of the example season."""
    frame = read_results(SEASON).frame
    for pool in pools:
        word = WORDS.get(pool, "")
        store.create_pool(
            pool, find(SYSTEMS[pool])(), title=pool.capitalize(), player_word=word, contact="race@club.example",
            public=True,
        )  # fmt: skip
        store.submit(pool, frame.filter(pl.col("pool") == pool), actor="race server 1")


def add_fields(store, pool, system, sizes, heats, events=6):
    """Add a pool with fields of these sizes and this many heats. Entrants have scores, or times in a single heat."""
    store.create_pool(pool, find(system)(), title=f"Field {pool}", public=True)
    dice = random.Random(f"{pool} {sizes} {heats}")  # noqa: S311  (results)
    for number in range(events):
        for size in sizes:
            for count in heats:
                name = f"{pool}-{size}-{count}-{number + 1}"
                started_at = (START + timedelta(days=number, minutes=size * 10 + count)).isoformat()
                store.submit(pool, list(event_rows(dice, name, started_at, size, count)), actor="race server 1")


def event_rows(dice, event_id, started_at, size, heats):
    """Return an event's rows. Entrants with low numbers are better, and each heat has a dnf."""
    for heat in range(1, heats + 1):
        skill = {k: k + dice.gauss(0.0, 0.2 * size) for k in range(size)}
        order = sorted(skill, key=skill.__getitem__)
        missing = dice.choice(order) if size > 2 else None
        for place, k in enumerate(order, start=1):
            row = {"event_id": event_id, "started_at": started_at, "player": f"Entrant {k + 1:02}"}
            ended = {"status": "dnf"} if k == missing else {}
            if heats == 1:
                yield row | ({"time_s": None} if ended else {"time_s": round(4000 + 3.217 * place, 3)}) | ended
            else:
                yield row | ({"score": None} if ended else {"score": 5 * (size - place)}) | {"heat": str(heat)} | ended


def add_names(store):
    """Add a pool with names that are difficult for pages."""
    store.create_pool("names", find("elo")(), title="Names & <b>signs</b>", player_word="player", public=True)
    dice = random.Random(1)  # noqa: S311
    for number in range(8):
        order = dice.sample(HOSTILE, len(HOSTILE))
        rows = [
            {"event_id": f"</title>{number}", "started_at": (START + timedelta(days=number)).isoformat()}
            | {"player": name, "position": place}
            for place, name in enumerate(order, start=1)
        ]
        store.submit("names", rows, actor="<i>server</i>")
    clubs = zip(HOSTILE, [HOSTILE[0], HOSTILE[4], HOSTILE[10]] * len(HOSTILE), strict=False)
    store.set_details("names", [{"player": player, "club": club, "country": "DE"} for player, club in clubs])


def add_states(store):
    """Add an empty pool, and one with corrected, void and unrated events."""
    store.create_pool("empty", find("elo")(), public=True)
    store.create_pool(
        "club", find("elo")(), title="Club", player_word="runner", contact="https://club.example/wrong?a=1", public=True
    )

    def send(number, order, submit=store.submit, **options):
        rows = [
            {"event_id": f"e{number}", "started_at": (START + timedelta(days=number)).isoformat()}
            | {"player": name, "position": place}
            for place, name in enumerate(order, start=1)
        ]
        submit("club", rows, actor="Rosa", **options)

    for number, order in enumerate(("Ana Ben Cleo Dan", "Ben Ana Dan Cleo", "Cleo Ana Ben Dan", "Ana Dan Ben Eve"), 1):
        send(number, order.split())
    send(5, ["Ana"])
    send(6, ["Ben", "Ana"])
    send(2, ["Dan", "Ana", "Ben", "Cleo"], store.amend, reason="The timing board had two lanes swapped")
    store.void("club", "e6", actor="Rosa", reason="False start")


def fill(store):
    """Add all of these pools."""
    add_season(store)
    add_fields(store, "pairs", "elo", (2,), (1, 8))
    add_fields(store, "eights", "elo", (8,), (1, 8))
    add_fields(store, "grid", "elo", (22,), (1, 8))
    add_fields(store, "forty", "trueskill", (40,), (1, 8))
    add_fields(store, "learnt", "adaptive", (8,), (1,), events=12)
    store.keep_hindsight("learnt")
    add_names(store)
    add_states(store)
    add_races(store)


RACES_START = datetime(2199, 6, 1, 18, tzinfo=UTC)  # these races are always upcoming


def add_races(store):
    """Add upcoming races: of six, forty and two entrants, with hostile names, open, and cancelled."""
    for pool, count in (("bikes", 6), ("forty", 40), ("pairs", 2), ("names", len(HOSTILE)), ("karts", 8)):
        field = [row.player for row in store.leaderboard(pool, top=count).players]
        store.plan_fixture(pool, "tonight", starts_at=RACES_START, title="Grand Prix", entrants=field)
    store.plan_fixture("bikes", "open", starts_at=RACES_START + timedelta(days=1))
    store.plan_fixture("bikes", "off", starts_at=RACES_START + timedelta(days=2), title=HOSTILE[0])
    store.cancel_fixture("bikes", "off")
    store.register("club", "lobby", ["Ana", "Eve"])


if __name__ == "__main__":
    import sys

    opened = Store(sys.argv[1])
    fill(opened)
    opened.close()
