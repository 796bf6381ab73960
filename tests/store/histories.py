"""Random histories of a pool, act by act, of a store and of the model beside it."""

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
SYSTEMS = (  # many fields of state, quits remembered, times; a pool with a state of its own, in which cars are rated
    "stk-rd",
    make_system("adaptive", {"shared": "car"}),
)
POOL = "main"
DAYS = range(20_089, 20_092)  # since 1970: those on which the events start, and the day after


@dataclass(frozen=True)
class Act:
    """Something done to a pool."""

    name: str
    model: Callable[[Truth], None]  # does it to the model
    run: Callable[[Store], Any]  # does it to the store
    is_repeatable: bool  # it may be sent again without a look at what became of it


def system_of(seed: int) -> str | System:
    """The system that rates the history of a seed: two seeds each in turn."""
    return SYSTEMS[seed // 2 % len(SYSTEMS)]


def is_undated(seed: int) -> bool:
    """Whether the events of the history of a seed have numbers and no dates: those of four seeds each in turn."""
    return seed // 4 % 2 == 1


def truth_of(seed: int) -> Truth:
    """What the history of a seed begins with."""
    return Truth(system_of(seed), is_undated=is_undated(seed))


def new_store(url: str, seed: int) -> Store:
    """A store with an empty pool."""
    store = Store(url)
    store.create_pool(POOL, make_system(system_of(seed), {}), order="sequence" if is_undated(seed) else None)
    return store


def event(
    number: int, minute: int, order: list[str], quitter: str = "", *, undated: bool = False
) -> list[dict[str, Any]]:
    """The rows of a race, in the order of arrival; who quit has no time."""
    date = {"started_at": (START + timedelta(minutes=minute)).isoformat()}
    when: dict[str, Any] = {"sequence": float(minute)} if undated else date
    return [
        {"event_id": f"e{number}", **when, "player": name}
        | ({"status": "quit"} if name == quitter else {"position": place, "time_s": 60.0 + place})
        for place, name in enumerate(order, start=1)
    ]


def next_act(rng: Random, truth: Truth) -> Act:
    """Something that may be done next, by what there is."""
    kinds: list[Callable[[Random, Truth], Act]] = [submit, submit, submit, submit_many, begin_season]
    if truth.events:
        kinds += [amend, amend, void, try_out, submit_late]
    if len(truth.events) > 3:
        kinds += [merge, unmerge]
        kinds += [rename_car, merge_cars]
    return rng.choice(kinds)(rng, truth)


def any_rows(rng: Random, truth: Truth, number: int, minute: int) -> list[dict[str, Any]]:
    """A race of some of the players."""
    order = rng.sample(PLAYERS, rng.randint(2, 5))
    rows = event(number, minute, order, rng.choice(["", "", order[-1]]), undated=truth.is_undated)
    return [row | rng.choice([{}, *({"shared:car": car} for car in CARS)]) for row in rows]


def submit(rng: Random, truth: Truth) -> Act:
    """The newest race; in a pool without dates it says no number."""
    number = len(truth.events)
    rows = any_rows(rng, truth, number, 2 * number)
    sent = rows
    if truth.is_undated:
        sent = [{name: value for name, value in row.items() if name != "sequence"} for row in rows]
        rows = [row | {"sequence": truth.following} for row in rows]
    return Act("submit", lambda model: model.upsert(f"e{number}", rows), lambda store: store.submit(POOL, sent), True)


def submit_late(rng: Random, truth: Truth) -> Act:
    """A race that was before others."""
    number = len(truth.events)
    rows = any_rows(rng, truth, number, rng.randint(0, 2 * number))
    return Act("late", lambda model: model.upsert(f"e{number}", rows), lambda store: store.submit(POOL, rows), True)


def submit_many(rng: Random, truth: Truth) -> Act:
    """Several races at once."""
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
    """Another result of a race, perhaps of another time."""
    event_id = rng.choice(sorted(truth.events))
    number = int(event_id[1:])
    rows = any_rows(rng, truth, number, rng.choice([2 * number, rng.randint(0, 20)]))
    return Act("amend", lambda model: model.upsert(event_id, rows), lambda store: store.amend(POOL, rows), False)


def void(rng: Random, truth: Truth) -> Act:
    """A race that counts for nothing, or again."""
    event_id = rng.choice(sorted(truth.events))
    voided = not truth.events[event_id]["voided"]

    def run(store: Store) -> Any:
        return (store.void if voided else store.unvoid)(POOL, event_id)

    return Act("void", lambda model: model.events[event_id].update(voided=voided), run, True)


def try_out(rng: Random, truth: Truth) -> Act:
    """What would come of another result."""
    rows = any_rows(rng, truth, int(rng.choice(sorted(truth.events))[1:]), rng.randint(0, 20))
    return Act("dry run", lambda _: None, lambda store: store.amend(POOL, rows, dry_run=True), True)


def begin_season(rng: Random, truth: Truth) -> Act:
    """A season, perhaps before races that are known."""
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
    """Two accounts that are one player's."""
    name, into = rng.sample(PLAYERS, 2)
    return Act(
        "merge", lambda model: model.merged.update({name: into}), lambda store: store.merge(POOL, name, into), True
    )


def merge_cars(rng: Random, _truth: Truth) -> Act:
    """Two names of one car."""
    car, into = rng.sample(CARS, 2)

    def model(model: Truth) -> None:
        ends = model.resolved(car), model.resolved(into)
        model.equipment.update([ends] if ends[0] != ends[1] else [])

    return Act("merge", model, lambda store: store.merge(POOL, car, into, kind="car"), True)


def rename_car(rng: Random, truth: Truth) -> Act:
    """Another name of a car, which is still sent under the names that it had."""
    car, new = rng.choice(CARS), f"car {len(truth.equipment)}"

    def model(model: Truth) -> None:
        model.equipment[model.resolved(car)] = new

    return Act("rename", model, lambda store: store.rename(POOL, car, new, kind="car"), False)


def unmerge(rng: Random, truth: Truth) -> Act:
    """An account that is a player of its own again."""
    name = rng.choice(sorted(truth.merged) or PLAYERS)
    return Act("unmerge", lambda model: model.merged.pop(name, None), lambda store: store.unmerge(POOL, name), True)
