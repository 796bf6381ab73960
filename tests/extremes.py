"""Events at the edges of what the doors let in, and rating them whatever is refused; also every kernel, as a script.

As a script (`python tests/extremes.py elo stk …`) it runs every kernel over such events, for a process of its own
where an index out of bounds is an error: with NUMBA_DISABLE_JIT=1 or with NUMBA_BOUNDSCHECK=1.
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
TOGETHER = 50  # events rated in one go


def extreme_events(count, seed, heats=2):
    """So many events, each a list of rows: some entrants of thirty, so many heats at most, ties, quits, teams."""
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
    """A heat whose sums are taken at once, with ties and quits."""
    size = 2050  # where Folyami's are, too
    return [
        {"event_id": "e", "player": f"p{k}", "time_s": 60.0 + k // 2, "status": "quit" if k % 40 == 0 else "finished"}
        for k in range(1, size + 1)
    ]


def at_bound(name, bound):
    """A system with every number at its `low` or `high` end, or as it comes; None where it refuses that."""
    kind = find(name)
    if bound == "default":
        return kind()
    numbers = [each for each in fields(kind) if {float, int} & set(kinds(kind, each)) and bool not in kinds(kind, each)]
    try:
        return kind(**{each.name: each.metadata[bound] for each in numbers})
    except ParameterError:
        return None


def rate_all(system, events):
    """Rate what can be rated, and leave out what is refused: the states at the end, and how many were refused."""
    live, refused = podium.Live(system), 0
    alone = {"team": None} if system.refuses_teams else {}
    events = [[row | alone for row in event] for event in events]
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
    """Everything of these systems that is compiled, over extreme events, refused or not.

    Args:
        whole: judge the predictions of every system. Without it, those of one are judged where nothing is compiled.
    """
    from podium.analysis.batched import can_share, sums_of_losses
    from podium.analysis.evaluation import evaluate
    from podium.analysis.scores import Window, judged_heats
    from podium.engine.heats import sums_up
    from podium.engine.tables.encoding import encode

    results = podium.read_results([row for event in extreme_events(60, 3) for row in event])
    for name in names:
        # What judges predictions is the engine's: one system shows its indexes. A system's own loop is in the replay
        # too, which fills the rows of all entrants here, and those of one update for an explanation.
        judged = whole or (name == STANDING_FOR_PAIRWISE and bool(config.DISABLE_JIT))
        systems = {bound: at_bound(name, bound) for bound in ("default", "low", "high")}
        if name in ("dwz", "fide"):  # otherwise nobody ever has a rating to look up
            systems["rated"] = find(name)(first_ratings=False)
        for bound, system in systems.items():
            if system is None:
                continue
            ratings, _ = rate_all(system, extreme_events(120 if whole else 60, 2))
            assert ratings or bound == "high"
            # Of one heat each, of which some systems judge two at once; the last is alone.
            rate_all(system, extreme_events(TOGETHER + 1, 4, heats=1))
            try:
                rated = podium.rate(results, system)
                if not rated.history.height:  # nobody has played as long as this bound asks for
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
    """What is compiled beside the systems: drawing fields, choosing and dividing matches, ranks of a field."""
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
    if STANDING_FOR_PAIRWISE in sys.argv and (whole or config.DISABLE_JIT):  # once, in one of the processes
        run_shared_kernels()
