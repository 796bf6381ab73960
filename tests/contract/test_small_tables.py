"""Python, which rates small tables, gives the bits of machine code."""

import math

import pytest
from extent import several

import podium
from podium.engine.tables.teams import COMPILED_MIN_MEMBERS, expected_scores, sides_of
from podium.kernels import compiled
from podium.ledger.performance import performances
from podium.ledger.reasons.duels import COMPILED_MIN_ENTRIES
from podium.systems import find, names


@pytest.fixture
def both_ways(monkeypatch):
    """Return a function that runs another in Python and with machine code, and returns both results."""

    def run(function):
        with monkeypatch.context() as patched:
            patched.setattr(compiled, "_interpreted", {})
            patched.setattr(compiled, "is_stored", lambda *_: False)
            patched.setattr(compiled, "MAX_INTERPRETED", math.inf)
            in_python = function()
        with compiled.compiling_at_once():
            return in_python, function()

    return run


@pytest.mark.parametrize("name", several(names()))
def test_expected_scores_of_a_large_field(name, both_ways):
    """All other kernels for predictions use the same rule."""
    system = find(name)()
    state = system.newcomer()
    moved = (
        {field: getattr(state, field) + 9.0 * k for field in system.with_level} for k in range(COMPILED_MIN_MEMBERS)
    )
    sides = sides_of(system, [[state._replace(**level)] for level in moved])
    in_python, with_machine_code = both_ways(lambda: expected_scores(system, sides, COMPILED_MIN_MEMBERS))
    assert in_python.tobytes() == with_machine_code.tobytes()


@pytest.mark.parametrize("name", ["elo", "trueskill"])
def test_predictions_explanations_and_performances(name, both_ways):
    rows = [
        {"event_id": f"e{number}", "player": f"p{k}", "position": 1 + (k + 5 * number) % COMPILED_MIN_ENTRIES}
        for number in range(2)
        for k in range(COMPILED_MIN_ENTRIES)
    ]

    def results():
        rated = podium.rate(rows, name)
        reasons = rated.explain("e1", "p3").rows.rows()
        shown = performances(rated.system, rated.events, rated.replayed, int(rated.events.columns.entrants[1]))
        return rated.predictions().rows(), reasons, shown

    in_python, with_machine_code = both_ways(results)
    assert in_python == with_machine_code


def test_hindsight(both_ways):
    rated = podium.rate(podium.simulate(players=6, events=9, entrants=3, seed=5).results, "adaptive")
    in_python, with_machine_code = both_ways(lambda: rated.hindsight().frame)
    assert in_python.equals(with_machine_code)
