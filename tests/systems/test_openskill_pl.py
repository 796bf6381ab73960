"""PlackettLuce compared with the openskill package after each event."""

from contextlib import contextmanager

import numpy as np
import pytest
from bits import same_numbers
from hypothesis import given, settings
from hypothesis import strategies as st
from openskill.models import PlackettLuce
from strategies import histories
from weng_lin import assert_agrees_with_the_package

import podium
from podium.engine.replay import by_columns, newcomers, replay, replay_each, scratch_for
from podium.engine.rules import judge_heat
from podium.engine.tables.encoding import encode
from podium.kernels.compiled import compiling_at_once
from podium.systems import find
from podium.systems._weng_lin import judge_teams_of_heat


@pytest.mark.parametrize("seed", range(6))
def test_ratings_equal_the_openskill_package(seed):
    assert_agrees_with_the_package("openskill-pl", PlackettLuce(), seed)


def test_idle_days_widen_the_deviation():
    rows = [
        {"event_id": day, "started_at": day, "player": player, "position": place}
        for day in ("2025-01-01", "2025-07-01")
        for place, player in enumerate("ab", 1)
    ]
    steady = podium.rate(rows, "openskill-pl").ratings["deviation"][0]
    assert podium.rate(rows, "openskill-pl", idle_growth=0.5).ratings["deviation"][0] > steady


def in_python(system, events):
    """Return the states after the events from the kernel's loop in plain Python."""
    columns, updates = events.columns, events.columns.entrants.size - 1
    states = newcomers(system, events.player_names.len())
    scratch = scratch_for(system, columns, 0, updates, np.empty(0))
    scratch.workspace.fill(np.finfo(float).max)  # values without a place may be anything, and would overflow here
    room = np.empty((len(scratch.sums), states.shape[1])), states, np.empty(0), by_columns(0, 3).T, np.empty((0, 0))
    arguments = *system.arguments(), columns, 0, updates, system.column("rating"), scratch, *room
    assert replay_each[0].py_func(*arguments) == (updates, -1)
    return states


@contextmanager
def judged_as_teams(system):
    kind = type(system.params())
    ours = judge_heat.registry[kind]
    judge_heat.register(kind, judge_teams_of_heat)
    try:
        yield
    finally:
        judge_heat.register(kind, ours)


def assert_players_have_the_bits_of_teams(rows, system):
    events = encode(podium.read_results(rows), system)
    with judged_as_teams(system):
        wanted = in_python(system, events)
    assert same_numbers(in_python(system, events), wanted)
    with compiling_at_once():
        assert same_numbers(replay(system, events).states, wanted)


@settings(max_examples=40, deadline=None)
@given(rows=histories(heats=2), parts=st.booleans(), scale=st.sampled_from([1.0, 1e-6]))
def test_players_in_lanes_have_the_bits_of_teams_of_one(rows, parts, scale):
    """The rows have ties, quits, weights and parts of a game, and some strengths are too far apart for lanes."""
    rows = [{name: value for name, value in row.items() if parts or name != "played_s"} for row in rows]
    assert_players_have_the_bits_of_teams(rows, find("openskill-pl")(beta=scale, deviation=2.0 * scale, tau=0.5))


@pytest.mark.parametrize("ties", [1, 3, 40])
@pytest.mark.parametrize("size", [15, 16, 17, 40])
def test_fields_of_several_lanes_have_the_bits_of_teams_of_one(size, ties):
    rows = [
        {"event_id": f"e{event}", "player": f"p{7 * k % 41}", "position": 1 + (k + 5 * event) % size // ties}
        for event in range(3)
        for k in range(size)
    ]
    assert_players_have_the_bits_of_teams(rows, find("openskill-pl")())
