"""Extreme events, a function that rates them, and a script that runs every kernel on them.

The script (`python tests/extremes.py elo stk …`) runs every kernel over such events. In a separate process with
NUMBA_DISABLE_JIT=1 or NUMBA_BOUNDSCHECK=1, an index out of bounds is an error.
"""

import os
import sys
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import numpy as np
from numba import config

import podium
from podium.engine.system import kinds
from podium.errors import NotFiniteError, ParameterError
from podium.results.columns import MAX_WEIGHT
from podium.systems import find

TIMES = (5e-324, 1e-200, 1e-3, 60.0, 61.0, 1e9, 1e200, 1.7e308)
SCORES = (-1.7e308, -1e9, -1.0, 0.0, 5e-324, 1.0, 1e9, 1.7e308)
SECONDS = (0.0, 1e-300, 1.0, 130.0, 600.0, 1e300)
WEIGHTS = (MAX_WEIGHT, MAX_WEIGHT, 1.0, 0.5, 5e-324)
STANDING_FOR_PAIRWISE = "elo"
TOGETHER = 50  # events rated together


def extreme_events(count, seed, heats=2):
    """Return events as lists of rows: some of thirty entrants, up to `heats` heats, ties, quits and teams."""
    rng = np.random.default_rng(seed)
    started = datetime(1900, 1, 1, tzinfo=UTC)
    for number in range(count):
        started += timedelta(days=float(rng.choice([0.0, 0.1, 1.0, 10.0])))
        players = rng.permutation(30)[: rng.integers(2, 9)]
        shared = {
            "event_id": f"e{number}",
            "started_at": started.isoformat(),
            "mode": str(rng.choice(["duel", "time-trial", "other"])),
            "weight": float(rng.choice(WEIGHTS)),
        }
        teams = rng.random() < 0.2
        duration_s = float(rng.choice(SECONDS))
        yield [
            shared
            | {
                "heat": str(heat) if heats > 1 else None,
                "player": f"p{player}",
                "team": f"t{place % 2}" if teams else None,
                "status": str(rng.choice(["finished", "finished", "finished", "quit"])),
                "time_s": float(rng.choice(TIMES)),
                "score": float(rng.choice(SCORES)),
                "played_s": float(rng.choice(SECONDS)),
                "duration_s": duration_s,
            }
            for heat in range(rng.integers(1, heats + 1))
            for place, player in enumerate(players)
        ]


def large_heat():
    """Return a heat that is large enough for summing at once, with ties and quits."""
    size = 2050  # large enough for Folyami's sums also
    return [
        {"event_id": "e", "player": f"p{k}", "time_s": 60.0 + k // 2, "status": "quit" if k % 40 == 0 else "finished"}
        for k in range(1, size + 1)
    ]


def at_bound(name, bound):
    """Return a system with every number at its `low` or `high` bound, or the default. Return None if it is invalid."""
    kind = find(name)
    if bound == "default":
        return kind()
    numbers = [each for each in fields(kind) if {float, int} & set(kinds(kind, each)) and bool not in kinds(kind, each)]
    try:
        return kind(**{each.name: each.metadata[bound] for each in numbers})
    except ParameterError:
        return None


def fit_teams(system, events):
    """Return the events, with everybody alone if the system refuses teams."""
    alone = {"team": None} if system.refuses_teams else {}
    return [[row | alone for row in event] for event in events]


def rate_all(system, events):
    """Rate events without the rejected ones, and return the final ratings and the number of rejections."""
    live, refused = podium.Live(system), 0
    events = fit_teams(system, events)
    while events:
        some, events = events[:TOGETHER], events[TOGETHER:]
        while some:
            try:
                history = live.rate([row for event in some for row in event])
            except NotFiniteError as error:
                named = [{(row["event_id"], row["player"]) for row in event} for event in some]
                at = next(k for k, rows in enumerate(named) if (error.event_id, error.player) in rows)
                refused += 1
                if at:
                    live.rate([row for event in some[:at] for row in event])
                some = some[at + 1 :]
            else:
                assert np.isfinite(history["rating"].to_numpy()).all()
                break
    return live.ratings, refused


def run_kernels(names, *, whole):
    """Run every compiled function of these systems on extreme events, rejected or not.

    Args:
        whole: judge the predictions of every system. Without it, judge those of one system, where nothing is compiled.
    """
    from podium.analysis.batched import can_share, sums_of_losses
    from podium.analysis.evaluation import evaluate
    from podium.analysis.scores import Window, judged_heats
    from podium.engine.heats import sums_up
    from podium.engine.tables.encoding import encode

    count = 60 if whole else 20
    for name in names:
        events = fit_teams(find(name), extreme_events(count, 3))
        results = podium.read_results([row for event in events for row in event])
        # The engine judges predictions, so one system covers its indexes. A system's own loop also runs in the replay,
        # which fills the rows of all entrants here, and those of one update for an explanation.
        judged = whole or (name == STANDING_FOR_PAIRWISE and bool(config.DISABLE_JIT))
        systems = {bound: at_bound(name, bound) for bound in ("default", "low", "high")}
        if name in ("dwz", "fide"):  # otherwise no player ever has a rating in the table
            systems["rated"] = find(name)(first_ratings=False)
        for bound, system in systems.items():
            if system is None:
                continue
            ratings, _ = rate_all(system, extreme_events(2 * count, 2))
            assert ratings or bound == "high"
            # Events of one heat: some systems rate two at once, so the last one is alone.
            rate_all(system, extreme_events(count + 1, 4, heats=1))
            try:
                rated = podium.rate(results, system)
                if not rated.history.height:  # nobody has played long enough for this bound
                    continue
                if judged:
                    evaluate(results, [system])
                event_id, player = rated.history.select("event_id", "player").row(-1)
                rated.explain(event_id, player)
            except NotFiniteError:
                pass
            if judged and can_share(system):
                events = encode(results, system)
                sums_of_losses([system] * 3, events, judged_heats(events, Window()))
        if whole and sums_up(system):
            podium.rate(large_heat(), name)


def run_shared_kernels():
    """Run the compiled functions outside the systems: drawing fields, forming and splitting matches, and ranks."""
    from podium.analysis.simulation import Scenario, simulate
    from podium.cli.commands import build
    from podium.probability.gamma import performances
    from podium.probability.ranks import rank_distribution

    simulate(Scenario(events=200))
    rank_distribution(performances([1500.0, 9000.0, -9000.0, 1500.0]))
    crowd = ["--population", "20,60", "--target", "20,60", "--minutes", "5"]
    build()(["lab", "matchmaking", *crowd], standalone_mode=False)


if __name__ == "__main__":
    np.seterr(all="ignore")
    whole = bool(os.environ.get("PODIUM_SOAK"))
    run_kernels(sys.argv[1:], whole=whole)
    if STANDING_FOR_PAIRWISE in sys.argv and (whole or config.DISABLE_JIT):  # once, in one process
        run_shared_kernels()
