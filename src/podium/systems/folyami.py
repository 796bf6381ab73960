"""Folyami, from the Southern Cross Stunts Trophy: Elo for races, in which close finishers reveal most about each other.

Source: D. Mlot, "The Folyami Rating System" (2023).
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Entrant, Entry, Heat, slot_at, weight_at
from podium.engine.large_heats import finishes
from podium.engine.rules import Comparison, Points, compare, enter, judge_large_heat, kernel, update_state
from podium.engine.system import System, parameter
from podium.kernels.exponential import LARGEST, exp
from podium.kernels.logarithm import log
from podium.kernels.records import add, read
from podium.probability import ranks
from podium.probability.gamma import incomplete_beta, matched_slope, performances
from podium.probability.logistic import bradley_terry, score, win_share
from podium.systems import _folyami_field as field
from podium.systems.elo import State, add_points

SMOOTH, LINEAR, FIXED = 1.0, 2.0, 3.0
CURVES = {"smooth": SMOOTH, "linear": LINEAR, "fixed": FIXED}
NEWCOMER, ESTABLISHED, UNFINISHED = 0, 1, 2  # kinds of players in a large race; UNFINISHED is added
TOLERANCE, RELATIVE_TOLERANCE = 1e-15, 1e-14  # of a root
KNOWN_BASES = {(12, 1.5): 1.0609684097400773}  # for the defaults, so that ratings stay exactly the same


class Params(NamedTuple):
    k: float
    slope: float  # c * alpha, log-odds of W per point
    centre: float
    shape: float
    closeness: float  # pi / span, per place; 0 if all pairs have weight 1
    curve: float  # SMOOTH, LINEAR, FIXED, or 0 for none
    window: float
    growth: float  # ln b, slope of the line, or the fixed factor
    both: float  # 1 if two newcomers each use their own factor


class Entering(NamedTuple):
    rating: float
    events: float
    newcomer: float  # 1 within the provisional window, else 0
    factor: float  # the provisional factor; 1 for an established player
    strength: float  # e^(slope (rating - initial))


@dataclass(frozen=True, slots=True)
class Folyami(System):
    """Elo over every pair of entrants, weighted by remoteness and by how new both entrants are."""

    name = "folyami"
    title = "Folyami"
    for_players = "Beat players rated above you, and you gain more, especially while you are new."
    source = "Mlot, The Folyami Rating System (2023)"
    formulas = (
        "change = sum over opponents of K q_remote q_prov (result - expected)",
        "q_remote = 1 / ((pi / 22)^2 (my place - their place)^2 + 1)",
        "q_prov: newcomer b^(12 - n), established against a newcomer 1 / b^(12 - n), else 1; mean 1.5 over 12 events",
        "expected = I(W; g, g), W = 1 / (1 + exp(-c alpha (me - opponent))), alpha = ln 10 / 400; g = 3",
    )
    game = "Stunts"
    state_type = State
    entering_type = Entering
    min_events = 5
    winning_margin = (
        "Not by time. But the further apart two players finish, the less their duel counts, because players who"
        " finish next to each other were in direct competition."
    )
    stakes = (
        "Every event counts the same for an established player. A newcomer's first events change the newcomer's"
        " rating more, and the opponents' ratings less."
    )
    unfinished = (
        "It loses to everyone who finished the heat. Its place is the mean of the places that are left, so the"
        " finishers nearest to the end gain most from it; two players who did not finish are not compared."
    )

    k: float = parameter(
        18.0, "points at stake for a pair that finishes side by side", unit="points", low=0.0, high=1e6
    )
    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    remoteness: float | None = parameter(
        22.0, "pi times the number of places at which the weight is half", unit="places", low=1e-3, high=1e9
    )
    provisional: str | None = parameter(
        "smooth", "how quickly a newcomer's K-factor decreases", choices=("smooth", "linear", "fixed")
    )
    provisional_events: int = parameter(
        12, "number of events during which a player is a newcomer", unit="events", low=1, high=10000
    )
    provisional_factor: float = parameter(1.5, "mean factor over those events", low=1.0, high=100.0)
    both_provisional: bool = parameter(True, "two newcomers each use their own factor")
    gamma_shape: int = parameter(3, "shape of the performance model; 1 is plain Elo", low=1, high=20)

    def params(self) -> Params:
        window, factor = self.provisional_events, self.provisional_factor
        growth = {
            "smooth": lambda: log(smooth_base(window, factor)),
            "linear": lambda: 2.0 * (factor - 1.0) / (window + 1.0),
            "fixed": lambda: factor,
        }
        return Params(
            k=self.k,
            slope=matched_slope(self.gamma_shape),
            centre=self.initial,
            shape=float(self.gamma_shape),
            closeness=0.0 if self.remoteness is None else math.pi / self.remoteness,
            curve=0.0 if self.provisional is None else CURVES[self.provisional],
            window=float(window),
            growth=0.0 if self.provisional is None else growth[self.provisional](),
            both=float(self.both_provisional),
        )

    def large_heat_workspace(self, size: int) -> field.RaceWorkspace:
        return field.race_workspace(size)

    def performances(self, entering_states: Sequence[Any]) -> ranks.Performances:
        """Return the performances of the gamma model."""
        return performances([me.rating for me in entering_states], self.gamma_shape)

    def newcomer(self) -> State:
        return State(self.initial, 0.0)


@enter.register
def provisional_factor(params: Params, me: State, entrant: Entrant) -> Entering:
    """Compute a player's provisional factor from the number of earlier events."""
    mine = bradley_terry(params.slope * (me.rating - params.centre))
    left = params.window - me.events
    if params.curve == 0.0 or left <= 0.0:
        return Entering(me.rating, me.events, 0.0, 1.0, mine)
    factor = params.growth
    if params.curve == SMOOTH:
        factor = exp(params.growth * left)
    elif params.curve == LINEAR:
        factor = 1.0 + params.growth * left
    return Entering(me.rating, me.events, 1.0, factor, mine)


@compare.register
def points_from_pair(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compare two players, who share the expected score and the remoteness, but not the provisional factor."""
    w = win_share(a.strength, b.strength, params.slope * (a.rating - b.rating))
    expected = incomplete_beta(w, params.shape)
    result = score(mine.place, theirs.place)
    weight = params.k * field.agnesi(params.closeness * (mine.place - theirs.place))
    weight_a, weight_b = weight * factor_against(params, a, b), weight * factor_against(params, b, a)
    return Comparison(result, expected, weight_a), Comparison(1.0 - result, 1.0 - expected, weight_b)


@kernel
def factor_against(params: Params, me: Entering, opponent: Entering) -> float:
    """Return the provisional factor for one side of a pair."""
    if me.newcomer:
        return me.factor if params.both or not opponent.newcomer else 1.0
    return 1.0 / opponent.factor


@judge_large_heat.register
def points_from_race(
    params: Params, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> bool:
    """Sum all pairs of a large race at once.

    Opponents differ only in their weight. A newcomer uses their own factor, so all of their opponents have weight 1.
    For an established player, each opponent's weight is one divided by that opponent's factor. Players who did not
    finish are compared only with finishers.
    """
    _, entering, _ = prototypes
    work, size = scratch.large, stop - start
    table = work.table
    for i in range(start, stop):
        me, at = read(scratch.entering_states, slot_at(columns, i, first), entering), i - start
        here = finishes(columns, i)
        if me.newcomer and not params.both:
            return False
        table[field.RATING, at], table[field.PLACE, at] = me.rating, columns.place[i]
        work.indices[field.KIND, at] = (NEWCOMER if me.newcomer else ESTABLISHED) + (0 if here else UNFINISHED)
        table[field.WEIGHT + NEWCOMER, at], table[field.WEIGHT + ESTABLISHED, at] = 1.0, 1.0 / me.factor
        for kind in (NEWCOMER, ESTABLISHED):
            table[field.WEIGHT + UNFINISHED + kind, at] = table[field.WEIGHT + kind, at] if here else 0.0
    if not field.add_up_race(work, size, params.slope, params.shape, params.closeness):
        return False
    weight = params.k * weight_at(columns, heat)
    for i in range(start, stop):
        slot, at = slot_at(columns, i, first), i - start
        me = read(scratch.entering_states, slot, entering)
        factor = me.factor if me.newcomer else 1.0
        add(scratch.sums, slot, Points(weight * factor * table[field.TOTAL + work.indices[field.KIND, at], at]))
    return True


update_state.register(Params, add_points)


@functools.cache
def smooth_base(window: int, factor: float) -> float:
    """Return the b for which b (b^w - 1) / (b - 1) = w f, so that the mean of b^(w - n) over n = 0 ... w - 1 is f."""
    return KNOWN_BASES[window, factor] if (window, factor) in KNOWN_BASES else solve_base(window, factor)


def solve_base(window: int, factor: float) -> float:
    """Find the base of the smooth provisional curve."""
    if factor == 1.0:
        return 1.0
    powers = np.arange(1, window + 1)
    # The mean is at least b^w / w. That bound is used if factor^w overflows.
    most = factor if window * log(factor) < LARGEST else (window * factor) ** (1.0 / window)
    return find_root(lambda b: float(np.mean(b**powers)) - factor, 1.0, most)


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a root of a continuous function, using Brent's method. Its signs must differ at the two given points.

    Source: R. Brent, "Algorithms for Minimization without Derivatives" (1973), chapter 4, following the steps of
    SciPy's `brentq`, so that both give exactly the same root.
    """
    before, here, other = low, high, low
    at_before, at_here = function(low), function(high)
    at_other = at_before
    step = last_step = high - low
    if at_before == 0.0:
        return low
    while at_here != 0.0:
        if at_before * at_here < 0.0:
            other, at_other = before, at_before
            step = last_step = here - before
        if abs(at_other) < abs(at_here):
            before, here, other = here, other, here
            at_before, at_here, at_other = at_here, at_other, at_here
        tolerance, half = 0.5 * (TOLERANCE + RELATIVE_TOLERANCE * abs(here)), 0.5 * (other - here)
        if abs(half) < tolerance:
            break
        wanted = half
        if abs(last_step) > tolerance and abs(at_here) < abs(at_before):
            if before == other:  # the secant
                wanted = -at_here * (here - before) / (at_here - at_before)
            else:  # inverse quadratic extrapolation
                slope_before = (at_before - at_here) / (before - here)
                slope_other = (at_other - at_here) / (other - here)
                change = at_other * slope_other - at_before * slope_before
                wanted = -at_here * change / (slope_other * slope_before * (at_other - at_before))
            if 2.0 * abs(wanted) >= min(abs(last_step), 3.0 * abs(half) - tolerance):
                wanted = last_step = half
            else:
                last_step = step
        else:
            last_step = half
        step = wanted
        before, at_before = here, at_here
        here += step if abs(step) > tolerance else (tolerance if half > 0.0 else -tolerance)
        at_here = function(here)
    return here


SYSTEM = Folyami
