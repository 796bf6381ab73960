"""Events rated side by side have exactly the results of events rated one by one, and stop at the same errors."""

from datetime import UTC, datetime, timedelta
from unittest import mock

import numpy as np
import polars as pl
import pytest
from bits import same_bits, same_numbers
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.engine import replay as replaying
from podium.engine.heats import MAX_ENTRANTS, are_apart, replay_side_by_side, runs_two_events_at_once
from podium.engine.replay import by_columns, newcomers, replay, scratch_for
from podium.engine.rules import judge_heat
from podium.engine.tables.encoding import encode
from podium.errors import NotFiniteError
from podium.systems import find, names

START = datetime(1949, 12, 30, tzinfo=UTC)
SERVED = {"trueskill"}
pytestmark = pytest.mark.usefixtures("compiled")
SYSTEM = find("trueskill")()


def rate_one_by_one(system, events, states=None):
    """Rate the events with the general kernel."""
    with mock.patch.object(replaying, "runs_two_events_at_once", return_value=False):
        return replay(system, events, states)


def races(fields):
    """Return a results table from each event's players in order of finish."""
    return podium.read_results(
        pl.DataFrame(
            [
                {
                    "event_id": f"e{number}",
                    "started_at": START + timedelta(hours=9 * number),
                    "player": player,
                    "position": place,
                }
                for number, players in enumerate(fields)
                for place, player in enumerate(players, start=1)
            ]
        )
    )


def random_races(count, players, most, seed=3):
    rng = np.random.default_rng(seed)
    names_of_players = [f"p{number}" for number in range(players)]
    return [rng.permutation(names_of_players)[: rng.integers(2, most + 1)].tolist() for _ in range(count)]


@st.composite
def tables(draw):
    """Return a table of single-heat events with ties, quits, teams, parts of a game and weights."""
    players = [f"p{number}" for number in range(draw(st.sampled_from([6, 60])))]
    rows = []
    for number in range(draw(st.integers(1, 12))):
        weight, teams = draw(st.sampled_from([1.0, 0.5])), draw(st.booleans())
        for player in draw(st.lists(st.sampled_from(players), min_size=1, max_size=7, unique=True)):
            finished, place = draw(st.integers(0, 6)) > 0, draw(st.integers(1, 5))
            team = draw(st.sampled_from(["red", "blue", None])) if teams else None
            rows.append(
                {
                    "event_id": f"e{number}",
                    "started_at": START + timedelta(hours=9 * number),
                    "weight": weight,
                    "player": player,
                    "team": team,
                    "status": "finished" if finished else "quit",
                    # Team mates share a score, by which teams are compared.
                    "score": (float(len(team)) if team else float(place)) if finished else None,
                    "played_s": draw(st.sampled_from([60.0, 600.0])),
                    "duration_s": 600.0,
                }
            )
    return pl.DataFrame(rows, schema_overrides={"team": pl.String, "score": pl.Float64})


@settings(max_examples=60)
@given(table=tables())
def test_events_side_by_side_have_the_bits_of_one_by_one(table):
    events = encode(podium.read_results(table), SYSTEM)
    assert runs_two_events_at_once(SYSTEM, events.columns)
    assert same_bits(rate_one_by_one(SYSTEM, events), replay(SYSTEM, events))


@pytest.mark.parametrize(("players", "most"), [(2000, 8), (30, 8), (9, 8), (1000, 2), (1200, MAX_ENTRANTS + 40)])
def test_many_events_side_by_side_have_the_bits_of_one_by_one(players, most):
    events = encode(races(random_races(101 if most > 8 else 901, players, most)), SYSTEM)
    assert same_bits(rate_one_by_one(SYSTEM, events), replay(SYSTEM, events))


def test_a_real_history_side_by_side_has_the_bits_of_one_by_one(shared):
    events = encode(podium.read_results(pl.read_parquet(shared("data/zakstunts.parquet"))), SYSTEM)
    assert runs_two_events_at_once(SYSTEM, events.columns)
    assert same_bits(rate_one_by_one(SYSTEM, events), replay(SYSTEM, events))


def test_plain_python_gives_the_same_bits():
    events = encode(races(random_races(20, 40, 6)), SYSTEM)
    columns, updates = events.columns, events.columns.entrants.size - 1
    states, entrants = newcomers(SYSTEM, events.player_names.len()), int(events.columns.entrants[-1])
    before, after = np.empty(entrants), by_columns(entrants, states.shape[1])
    scratch, other = (scratch_for(SYSTEM, columns, 0, updates, np.empty(0)) for _ in range(2))
    arguments = SYSTEM.params(), SYSTEM.prototypes(), columns, 0, updates, SYSTEM.column("rating"), scratch, other
    stopped = replay_side_by_side[0].py_func(*arguments, np.empty((9, states.shape[1])), states, before, after.T)
    assert stopped == (updates, -1)
    assert same_numbers(states, rate_one_by_one(SYSTEM, events).states)


@pytest.mark.parametrize("wrong", [*range(8)])
def test_both_kernels_name_the_same_non_finite_state(wrong):
    """It may be in the first event of a pair, in the second, or in one that shares a player with the next."""
    fields = [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"], ["a", "b"], ["a", "c"], ["b", "h"]]
    events = encode(races(fields), SYSTEM)
    found = []
    for rate in (replay, rate_one_by_one):
        states = newcomers(SYSTEM, events.player_names.len())
        states[wrong, 0] = np.inf
        with pytest.raises(NotFiniteError) as error:
            rate(SYSTEM, events, states)
        found.append((error.value.update, error.value.entrant, str(error.value)))
    assert found[0] == found[1]


def test_events_without_common_players_are_separate():
    player = np.array([3, 5, 8, 2, 9, 5], np.int32)
    assert are_apart(player, 0, 3, 5)
    assert not are_apart(player, 0, 3, 6)
    assert are_apart(player, 0, 3, 3)
    many = np.arange(2 * MAX_ENTRANTS + 2, dtype=np.int32)
    assert are_apart(many, 0, MAX_ENTRANTS, 2 * MAX_ENTRANTS)
    assert not are_apart(many, 0, MAX_ENTRANTS + 1, MAX_ENTRANTS + 3)


@pytest.mark.parametrize("name", names())
def test_message_passing_systems_rate_events_side_by_side(name):
    system = find(name)()
    columns = encode(races([["a", "b", "c"]] * 2), SYSTEM).columns
    assert runs_two_events_at_once(system, columns) == (name in SERVED)
    assert not runs_two_events_at_once(system, columns._replace(heats=np.array([0, 1, 2])))


def test_systems_with_other_rules_use_the_general_kernel():
    columns = encode(races([["a", "b", "c"]] * 2), SYSTEM).columns
    derived = type("Params", (type(SYSTEM.params()),), {})
    assert not runs_two_events_at_once(mock.Mock(params=lambda: derived(*SYSTEM.params()), pool_fields=0), columns)
    kind = type(SYSTEM.params())
    ours = judge_heat.registry[kind]
    try:
        judge_heat.register(kind, lambda *_: None)
        assert not runs_two_events_at_once(SYSTEM, columns)
    finally:
        judge_heat.register(kind, ours)
