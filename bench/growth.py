"""Measure how speed and memory grow with players, entrants and events."""

import tempfile
import time
from pathlib import Path

from contenders import LIMITS, Ready, podium_kernel
from events import fields
from pipeline import SOURCES, WHOLE, run_child

PLAYERS = (100, 1_000, 10_000, 100_000, 1_000_000)
DUELS = 1_000_000
ENTRANTS = (2, 4, 8, 16, 32, 100, 316, 1_000, 3_162, 10_000)
ENTRIES = 20_000  # entrants in all races of one size together, or in one race
EVENTS = (10_000, 100_000, 1_000_000, 10_000_000)
ROUNDS = 5
WARM_RUNS = 3
LONGEST_S = 1.0  # longest run: a curve ends before a size that would take much longer

BY_PLAYERS: dict[str, Ready] = {name: ready for name, (ready, _) in LIMITS.items()} | {
    system: podium_kernel(system) for system in ("elo", "openskill-bt", "glicko2", "trueskill")
}
BY_ENTRANTS = ("elo", "folyami", "glicko2", "openskill-pl", "openskill-bt", "trueskill", "elo-mmr")


def seconds_of(run) -> float:
    """Return the seconds of processor time that a run takes."""
    started = time.process_time()
    run()
    return time.process_time() - started


def growth_by_players() -> list[dict]:
    """Return duels per second by the number of players. All sizes of one contender take turns."""
    points = []
    for players in PLAYERS:
        duels = fields(DUELS, 2, players)
        runs = {name: ready(duels) for name, ready in BY_PLAYERS.items()}
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(ROUNDS):
            for name, run in runs.items():
                best[name] = min(best[name], seconds_of(run))
        points += [{"series": name, "x": players, "y": DUELS / s} for name, s in best.items()]
    return points


def growth_by_entrants() -> list[dict]:
    """Return nanoseconds per entry by the number of entrants in a race."""
    points, ended = [], set()
    for entrants in ENTRANTS:
        races = fields(max(1, ENTRIES // entrants), entrants)
        runs = {name: podium_kernel(name)(races) for name in BY_ENTRANTS if name not in ended}
        for run in runs.values():
            run()  # the first race of a size may compile a kernel
        best = {name: seconds_of(run) for name, run in runs.items()}
        for _ in range(ROUNDS):
            for name, run in runs.items():
                if best[name] < LONGEST_S:
                    best[name] = min(best[name], seconds_of(run))
        ended |= {name for name, s in best.items() if s > LONGEST_S}
        points += [{"series": name, "x": entrants, "y": 1e9 * s / races.player.size} for name, s in best.items()]
    return points


def end_to_end(events: int) -> dict[str, float]:
    """Rate a Parquet file of duels to ratings and history in a separate process, and return the best warm run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "duels.parquet"
        table = fields(events, 2).table().drop("time_s")
        table_mb = table.estimated_size() / 1e6
        table.write_parquet(path)
        del table
        runs = [run_child(SOURCES, WHOLE, path) for _ in range(1 + WARM_RUNS)][1:]
        seconds, peak_mb = (min(figures[name] for figures in runs) for name in ("wall_s", "peak_mb"))
        return {"table_mb": table_mb, "seconds": seconds, "peak_mb": peak_mb}


def growth_by_events() -> list[dict]:
    """Return seconds and memory from a file to ratings and history, by the number of duels."""
    return [{"events": events} | end_to_end(events) for events in EVENTS]
