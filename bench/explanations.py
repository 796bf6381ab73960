"""Measure what an explanation and a what-if cost in each system: `python bench/explanations.py`.

Times are CPU milliseconds of warm calls, for a field of 22 in one heat and in eight, after twelve events. Each figure
is the median over every fourth entrant.
"""

import random
import statistics
import time
from collections.abc import Callable

import podium
from podium.systems import names

FIELD, EVENTS, REPEATS = 22, 12, 3
LAST = f"e{EVENTS - 1:02}"


def history(heats: int) -> podium.Results:
    """Return events of one field in a new order in each heat, with one quit in each."""
    rng = random.Random(3)  # noqa: S311  (a game's dice)
    players = [f"player {k:02}" for k in range(FIELD)]
    rows = []
    for event in range(EVENTS):
        for heat in range(1, heats + 1):
            order = sorted(players, key=lambda name: players.index(name) + rng.gauss(0.0, 6.0))
            shared = {"event_id": f"e{event:02}", "started_at": f"2025-01-{event + 1:02}", "duration_s": 300.0}
            for place, name in enumerate(order, 1):
                row = shared | {"heat": f"{heat}", "player": name, "played_s": 300.0}
                finish = {"position": place, "time_s": 60.0 + place, "score": 99.0 - place}
                rows.append(row | (finish if place < FIELD else {"status": "quit"}))
    return podium.read_results(rows)


def median_ms(act: Callable[[str, str], object], players: list[str]) -> float:
    """Return the median CPU time of a call over some players, for each after one call that is not counted."""
    spent = []
    for player in players:
        act(LAST, player)
        for _ in range(REPEATS):
            begun = time.process_time()
            act(LAST, player)
            spent.append(1e3 * (time.process_time() - begun))
    return statistics.median(spent)


if __name__ == "__main__":
    print("| system | explanation, 1 heat | 8 heats | what-if, 1 heat | 8 heats |")
    print("|---|---|---|---|---|")
    one_heat, eight_heats = history(1), history(8)
    for name in names():
        every = [podium.rate(results, name) for results in (one_heat, eight_heats)]
        players = every[0].history.filter(event_id=LAST)["player"].to_list()[::4]
        costs = [median_ms(rated.explain, players) for rated in every]
        costs += [median_ms(rated.what_if, players) for rated in every]
        print(f"| {name} | {' | '.join(f'{cost:.1f}' for cost in costs)} |")
