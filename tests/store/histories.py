"""Random histories of a pool: each act runs on a store and on a model of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from model import Truth

from podium.engine.system import System
from podium.store import Store
from podium.systems import make_system

START = datetime(2025, 1, 1, tzinfo=UTC)
PLAYERS = ["ana", "ben", "cleo", "dov", "eva", "雪"]
CARS = ["red", "blue", "grey"]
SYSTEMS = (  # one with many state fields, quits and times; one with a pool state and rated cars
    "stk-rd",
    make_system("adaptive", {"shared": "car"}),
)
POOL = "main"
DAYS = range(20_089, 20_092)  # days since 1970 on which the events start, and the next day


@dataclass(frozen=True)
class Act:
    """An act on a pool."""

    name: str
    model: Callable[[Truth], None]  # applies the act to the model
    run: Callable[[Store], Any]  # applies the act to the store
    is_repeatable: bool  # the act can be repeated without checking its outcome


def system_of(seed: int) -> str | System:
    """Return the rating system for a seed: two seeds for each in turn."""
    return SYSTEMS[seed // 2 % len(SYSTEMS)]


def is_undated(seed: int) -> bool:
    """Return True if a seed's events have numbers instead of dates: four seeds for each in turn."""
    return seed // 4 % 2 == 1


def truth_of(seed: int) -> Truth:
    """Return the model at the start of a seed's history."""
    return Truth(system_of(seed), is_undated=is_undated(seed))


def new_store(url: str, seed: int) -> Store:
    """Return a store with an empty pool."""
    store = Store(url)
    store.create_pool(POOL, make_system(system_of(seed), {}), order="sequence" if is_undated(seed) else None)
    return store


def event(
    number: int, minute: int, order: list[str], quitter: str = "", *, undated: bool = False
) -> list[dict[str, Any]]:
    """Return the rows of a race in finishing order. A player who quits has no time."""
    date = {"started_at": (START + timedelta(minutes=minute)).isoformat()}
    when: dict[str, Any] = {"sequence": float(minute)} if undated else date
    return [
        {"event_id": f"e{number}", **when, "player": name}
        | ({"status": "quit"} if name == quitter else {"position": place, "time_s": 60.0 + place})
        for place, name in enumerate(order, start=1)
    ]


def next_act(rng: Random, truth: Truth) -> Act:
    """Return a random act that is possible now."""
    kinds: list[Callable[[Random, Truth], Act]] = [submit, submit, submit, submit_many, begin_season]
    if truth.events:
        kinds += [amend, amend, void, try_out, submit_late]
    if len(truth.events) > 3:
        kinds += [merge, unmerge]
        kinds += [rename_car, merge_cars]
    return rng.choice(kinds)(rng, truth)


def any_rows(rng: Random, truth: Truth, number: int, minute: int) -> list[dict[str, Any]]:
    """Return the rows of a race between some of the players."""
    order = rng.sample(PLAYERS, rng.randint(2, 5))
    rows = event(number, minute, order, rng.choice(["", "", order[-1]]), undated=truth.is_undated)
    return [row | rng.choice([{}, *({"shared:car": car} for car in CARS)]) for row in rows]


def submit(rng: Random, truth: Truth) -> Act:
    """Submit the newest race. In an undated pool it has no number."""
    number = len(truth.events)
    rows = any_rows(rng, truth, number, 2 * number)
    sent = rows
    if truth.is_undated:
        sent = [{name: value for name, value in row.items() if name != "sequence"} for row in rows]
        rows = [row | {"sequence": truth.following} for row in rows]
    return Act("submit", lambda model: model.upsert(f"e{number}", rows), lambda store: store.submit(POOL, sent), True)


def submit_late(rng: Random, truth: Truth) -> Act:
    """Submit a race that took place before others."""
    number = len(truth.events)
    rows = any_rows(rng, truth, number, rng.randint(0, 2 * number))
    return Act("late", lambda model: model.upsert(f"e{number}", rows), lambda store: store.submit(POOL, rows), True)


def submit_many(rng: Random, truth: Truth) -> Act:
    """Submit several races at once."""
    first = len(truth.events)
    batch = {
        f"e{number}": any_rows(rng, truth, number, 2 * number) for number in range(first, first + rng.randint(2, 5))
    }

    def model(model: Truth) -> None:
        for event_id, rows in batch.items():
            model.upsert(event_id, rows)

    every = [row for rows in batch.values() for row in rows]
    return Act("batch", model, lambda store: store.submit(POOL, every), True)


def amend(rng: Random, truth: Truth) -> Act:
    """Correct a race's result, and perhaps its time."""
    event_id = rng.choice(sorted(truth.events))
    number = int(event_id[1:])
    rows = any_rows(rng, truth, number, rng.choice([2 * number, rng.randint(0, 20)]))
    return Act("amend", lambda model: model.upsert(event_id, rows), lambda store: store.amend(POOL, rows), False)


def void(rng: Random, truth: Truth) -> Act:
    """Void or restore a race."""
    event_id = rng.choice(sorted(truth.events))
    voided = not truth.events[event_id]["voided"]

    def run(store: Store) -> Any:
        return (store.void if voided else store.unvoid)(POOL, event_id)

    return Act("void", lambda model: model.events[event_id].update(voided=voided), run, True)


def try_out(rng: Random, truth: Truth) -> Act:
    """Run a dry run of another result."""
    rows = any_rows(rng, truth, int(rng.choice(sorted(truth.events))[1:]), rng.randint(0, 20))
    return Act("dry run", lambda _: None, lambda store: store.amend(POOL, rows, dry_run=True), True)


def begin_season(rng: Random, truth: Truth) -> Act:
    """Start a season, perhaps before existing races."""
    minute, keep = rng.randint(0, 20), rng.choice([0.0, 0.25, 0.5])
    date = START + timedelta(minutes=minute)
    starts = float(minute) if truth.is_undated else date
    name, before = f"s{len(truth.seasons)}", minute - 1e-6 if truth.is_undated else date.isoformat()
    return Act(
        "season",
        lambda model: model.seasons.append((before, model.next(), keep)),
        lambda store: store.begin_season(POOL, name, starts, keep=keep, widens=truth.widens),
        True,
    )


def merge(rng: Random, _truth: Truth) -> Act:
    """Merge two accounts of one player."""
    name, into = rng.sample(PLAYERS, 2)
    return Act(
        "merge", lambda model: model.merged.update({name: into}), lambda store: store.merge(POOL, name, into), True
    )


def merge_cars(rng: Random, _truth: Truth) -> Act:
    """Merge two names of one car."""
    car, into = rng.sample(CARS, 2)

    def model(model: Truth) -> None:
        ends = model.resolved(car), model.resolved(into)
        model.equipment.update([ends] if ends[0] != ends[1] else [])

    return Act("merge", model, lambda store: store.merge(POOL, car, into, kind="car"), True)


def rename_car(rng: Random, truth: Truth) -> Act:
    """Rename a car. Later results still use its old names."""
    car, new = rng.choice(CARS), f"car {len(truth.equipment)}"

    def model(model: Truth) -> None:
        model.equipment[model.resolved(car)] = new

    return Act("rename", model, lambda store: store.rename(POOL, car, new, kind="car"), False)


def unmerge(rng: Random, truth: Truth) -> Act:
    """Separate a merged account."""
    name = rng.choice(sorted(truth.merged) or PLAYERS)
    return Act("unmerge", lambda model: model.merged.pop(name, None), lambda store: store.unmerge(POOL, name), True)
