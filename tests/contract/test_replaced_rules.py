"""A rule that is registered again takes effect at once, everywhere, and is never cached on disk."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple
from unittest import mock

import pytest

import podium
from podium.analysis.evaluation import evaluate
from podium.engine import replay, rules
from podium.engine.rules import Comparison, compare, expect, judge_result, judge_two_heats, update_state
from podium.engine.system import System, parameter
from podium.kernels.compiled import RULES
from podium.systems import find
from podium.systems.trueskill import Verdict

ROWS = [
    {"event_id": event, "player": player, "position": place}
    for event in ("first", "second")
    for place, player in enumerate("xy", start=1)
]


class Own(NamedTuple):
    k: float


class State(NamedTuple):
    rating: float
    events: float


@dataclass(frozen=True, slots=True)
class Duel(System):
    name: ClassVar[str] = "duel"
    state_type: ClassVar[type] = State
    entering_type: ClassVar[type] = State
    k: float = parameter(1.0, "points of a win")

    def params(self):
        return Own(self.k)

    def newcomer(self):
        return State(100.0, 0.0)


@update_state.register
def _(params: Own, me, totals, entrant):
    return State(me.rating + totals.points, me.events + 1.0)


def register(chance, points):
    """Register a win's points, as running a notebook cell again would."""

    @compare.register(Own)
    def _(params, a, b, mine, theirs, heat):
        stake = points * params.k
        return (
            Comparison(1.0 if mine.place < theirs.place else 0.0, chance, stake),
            Comparison(1.0 if mine.place > theirs.place else 0.0, 1.0 - chance, stake),
        )


def ratings(system):
    return podium.rate(ROWS[:2], system).ratings["rating"].to_list()


def test_a_rule_registered_again_takes_effect_at_once():
    register(0.5, 2.0)
    live = podium.Live(Duel())
    live.rate(ROWS[:2])
    assert ratings(Duel()) == [101.0, 99.0]
    register(0.5, 200.0)
    assert ratings(Duel()) == [200.0, 0.0]
    assert podium.rate(ROWS[:2], Duel()).explain("first", "x").delta == 100.0
    live.rate(ROWS[2:])
    assert {seat[1]: state.rating for seat, state in live.ratings.items()} == {"x": 201.0, "y": -1.0}


def test_a_rule_registered_after_the_first_rating_affects_predictions():
    register(0.5, 2.0)
    (before,) = evaluate(ROWS, [Duel()]).scores["brier"].to_list()

    @expect.register(Own)
    def _(params, a, b):
        return 0.9 if a.rating >= b.rating else 0.1

    (after,) = evaluate(ROWS, [Duel()]).scores["brier"].to_list()
    assert before == 0.25
    assert after != before


def test_a_users_rule_for_a_shipped_system_is_not_cached_and_can_be_removed():
    elo = find("elo")()
    kind = type(elo.params())
    shipped = rules.compare.dispatch(kind)
    assert elo.shipped
    begun = ratings(elo)

    @compare.register(kind)
    def _(params, a, b, mine, theirs, heat):
        return Comparison(1.0, 0.0, 7.0), Comparison(0.0, 1.0, 7.0)

    try:
        assert not elo.shipped  # otherwise other processes would load its machine code
        assert ratings(elo) == [1507.0, 1493.0]
    finally:
        compare.register(kind, shipped)
    assert elo.shipped
    assert ratings(elo) == begun
    assert podium.rate(ROWS[:2], elo).explain("first", "x").delta == pytest.approx(begun[0] - 1500.0)


@pytest.mark.parametrize("rule", RULES)
def test_every_kind_of_user_rule_is_noticed(rule):
    elo = find("elo")()
    kind = type(elo.params())
    shipped = rule.dispatch(kind)
    rule.register(kind, lambda *_: None)
    try:
        assert not elo.shipped
    finally:
        rule.register(kind, shipped)
    assert elo.shipped


def nobody_moves(params, prototypes, columns, heat, start, middle, stop, scratch, other):
    """Rate two heats without any effect."""


def even(params, difference):
    """Return the value of a result without any effect."""
    return Verdict(0.0, 0.0)


@pytest.mark.parametrize(("rule", "strange"), [(judge_two_heats, nobody_moves), (judge_result, even)])
def test_a_users_rule_for_speed_is_not_cached_and_can_be_removed(rule, strange):
    trueskill = find("trueskill")()
    kind = type(trueskill.params())
    shipped = rule.dispatch(kind)
    with mock.patch.object(replay, "MIN_DUELS", 1 if rule is judge_result else 1 << 60):
        begun = ratings(trueskill)
        rule.register(kind, strange)
        try:
            assert not trueskill.shipped
            assert ratings(trueskill) == [25.0, 25.0]
        finally:
            rule.register(kind, shipped)
        assert trueskill.shipped
        assert ratings(trueskill) == begun != [25.0, 25.0]


def test_a_users_system_does_not_affect_types_of_shipped_systems():
    """Both states are called `State`. Numba treats equal type names as one type, and stores them in the cache."""
    program = """
import numba
from numba.core.serialize import dumps
from podium.systems import find
from test_replaced_rules import Duel
stranger = numba.typeof(Duel().arguments())
shipped = numba.typeof(find("elo")().arguments())
print(b"test_replaced_rules" in dumps(stranger), b"test_replaced_rules" in dumps(shipped))
"""
    run = [sys.executable, "-c", program]
    printed = subprocess.run(run, check=True, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert printed.stdout.split() == ["True", "False"]
