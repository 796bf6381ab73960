"""Podium's self-tuning system: a Gaussian filter that learns its parameters from the results of its pool.

A player has a skill in log-odds with mean m and variance V. Evidence is pairwise and logistic, and each update rates
one event.

The filter's parameters, theta, describe the sport, and every pool learns its own. After each event, one damped Newton
step improves the predictions of similar events. To make this possible, every state carries its derivatives with respect
to theta and its reading x. To first order, the reading is the amount by which the state would differ if today's theta
had applied from the start. Ratings do not move when theta moves. Predictions, and thus the learning of theta, use m + x
and V + x.

Sources: M. E. Glickman, "Parameter estimation in large dynamic paired comparison experiments" (1999), for the form of
the update. A. Ebtekar and P. Liu, "Elo-MMR" (2021), for the daily noise. The learning is Podium's own.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from podium.engine.inputs import Columns, Scratch, entrant_at, entries_of, heats_of
from podium.engine.rules import kernel, rate_event
from podium.engine.system import System, conservatism, log_odds, parameter
from podium.engine.tables.sides import Sides
from podium.errors import ParameterError
from podium.kernels.exponential import exp
from podium.kernels.records import read, write
from podium.probability.ranks import GumbelPerformances, Performances
from podium.probability.uncertain import uncertain_performances
from podium.support.arrays import Floats
from podium.systems._adaptive_entering import (
    NEWCOMER_DEVIATION,
    Entering,
    Params,
    entered,
    extras_of,
    full_of,
    is_new,
    modal_of,
    params_with,
    read_pool,
    seen,
    time_passed,
)
from podium.systems._adaptive_learnt import (
    begin_event,
    judge_pairs,
    learn_sharpness,
    learnt_with,
    pairs_counted,
    take_step,
)
from podium.systems._adaptive_rules import NO_EVIDENCE, Evidence, expected_log_odds, unit_of
from podium.systems._adaptive_state import (
    COUNTED,
    DAY,
    DEVIATION,
    FILTERED,
    FIRST,
    LAST,
    MARGIN_SQUARE,
    MEANS,
    MEMORY,
    RATING,
    SCALE,
    block_at,
    count_entry,
    extras_at,
    learn_gap,
    learn_level,
    new_pool,
    pool_states_with,
    states_with,
)
from podium.systems._adaptive_units import (
    EXTRA_ROWS,
    Derivatives,
    Layout,
    clear_row,
    derivatives_of,
    enter_offset,
    enter_pool_states,
    enter_row,
    form_units,
    line_up,
    workspace_for,
)
from podium.systems._adaptive_update import field_luck, find_modes, update_units, write_pool_states, write_state

MIN_VARIANCE = 1e-6  # lower limit for the variance of a skill in forecasts
MAX_KINDS = 4  # kinds of equipment that entrants can share
WITH_MARGINS = (  # the effect of a margin in pools that have the setting `margin`
    "In a duel, yes: the more your winning margin exceeds the expected margin, the more you gain. If you win by less"
    " than expected, you can lose points. The pool's results decide how much margins count."
)


@dataclass(frozen=True, slots=True)
class Adaptive(System):
    """A filter that learns its parameters from the pool."""

    name = "adaptive"
    title = "Adaptive"
    for_players = "Beat players you were not expected to beat, and you gain more."
    source = "Podium's own; the update follows Glickman (1999), and the day-to-day noise follows Elo-MMR (2021)"
    formulas = (
        "C = 3 / pi^2, rating = initial + 173.7178 m",
        "deviation = 173.7178 sqrt(V + mean of 0.11 (1 - 2 / n)^2 over the last 10 events, with fields of n)",
        "a newcomer has m = entry maturity, V = spread; maturity: the share of known players in the last 500 entries",
        "time: V += event, then V = 2 spread - (2 spread - V) e^(-day days / (2 spread)), if V is below 2 spread",
        "m += years idle, at most 3, times (growth e^(-days since first / 800) - ageing min(decades, 2))",
        "a unit: mu = sum of c m, U = sum of c^2 V; c = 1 / n in a side of n, 1 of what it shares and where it is",
        "p(i beats j) = sigma((mu_i - mu_j) / sqrt(1 + C (U_i + U_j + 2 noise))), without the U of what both share",
        "g = 1 / sqrt(1 + C (U_j + noise)), e = sigma(g (mu_i - mu_j))",
        "w = unfinished^[one did not finish] / (1 + (pi (places apart - 1) / (reach n))^2)",
        "for a player who did not finish: unfinished is at least 1, and the place is behind the last finisher",
        "S = sum of w g (s - e), J = sum of w g^2 e (1 - e), A = U + noise; step d = A S / (1 + A J)",
        "or to the mode, d = A S(d), or to 4, if that is nearer: then J = S / d - 1 / A",
        "m += c V S / (1 + A J), V -= c^2 V^2 J / (1 + A J); what is in several units moves by the sums of its shares",
        "theta += clip(M^-1 (sum of c (s - p) u + pull to the start), 0.2), u = d logit p / d theta, c = sqrt(2 / n)",
        "in a field of three or more, luck is 1 / sharpness of that in a duel; learnt from winners, affects no rating",
        "M = memory M + (1 - memory) M_0 + sum of c p (1 - p) u u', memory = e^(-sum of c / 20000)",
    )
    state_type = states_with(0, 0, 0)
    entering_type = Entering
    evidence_type = Evidence
    pool_state_type = pool_states_with(0, 0, 0)
    learnt_parameters = learnt_with(0, ())
    reads_days = True
    rates_sides = True
    workspace = workspace_for(0, 0, 0)
    takes_periods = False
    winning_margin = (
        "Not by time. But the further apart two players finish, the less their duel counts. The pool's results"
        " decide how much less."
    )
    stakes = (
        "Every event counts the same, unless it was sent with a weight. It changes ratings more if less is known"
        " about the player."
    )
    unfinished = (
        "It loses to everyone who finished the heat, and costs at least as much as finishing last."
        " For those who finished, such a duel counts less. The pool's results decide how much less. Two players"
        " who did not finish are not compared."
    )
    displayed = 3  # without days and derivatives
    deviations = ("deviation", "filtered")
    signed = states_with(0, 0, 0)._fields[MEANS:]

    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    growth: bool = parameter(
        True, "newcomers improve and veterans decline with time, as much as the pool's results have shown"
    )
    modes: str | None = parameter(
        None, "modes in which a player has an offset, such as clay/grass/hard; all others count as one more mode"
    )
    shared: str | None = parameter(
        None,
        "equipment to rate, such as car/tyres for the columns shared:car and shared:tyres, or team",
    )
    margin: bool = parameter(
        False, "the margin of a duel (the difference in score or time) also counts; its weight is learnt"
    )
    reversion: float = parameter(
        0.0,
        "how far from 0 the yearly reversion to the mean of active players is likely to be before any results; 0: none",
        unit="per year",
        low=0.0,
        high=1.0,
        search=(),
    )
    size: bool = parameter(
        False, "the size of each side counts; its effect is learnt. Only for sizes known at the start"
    )
    conservative: float = conservatism()

    def __new__(
        cls,
        *_: Any,
        modes: Any = None,
        shared: Any = None,
        margin: Any = False,
        reversion: Any = 0.0,
        size: Any = False,
        **__: Any,
    ) -> Self:
        """Create an instance of the subclass whose states have the columns that these settings need."""
        named = names_of(modes) if isinstance(modes, str) else ()
        equipment = names_of(shared)[:MAX_KINDS] if isinstance(shared, str) else ()
        extras = ("reversion",) * bool(reversion) + ("margin",) * bool(margin) + ("size",) * bool(size)
        kind = with_states(len(named) + 1 if named else 0, equipment, extras)
        return object.__new__(kind)  # type: ignore[return-value]

    def __post_init__(self) -> None:
        for name in ("modes", "shared"):
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, "/".join(names_of(value)) or None)
        System.__post_init__(self)
        if len(self.kinds) > MAX_KINDS:
            raise ParameterError(f"adaptive: shared names {len(self.kinds)} kinds. Name at most {MAX_KINDS}.")

    def __reduce__(self) -> Any:
        """Rebuild copies and pickles with the constructor, which selects the subclass for their modes and equipment."""
        return functools.partial(
            Adaptive, **{setting.name: getattr(self, setting.name) for setting in fields(self)}
        ), ()

    @property
    def kinds(self) -> tuple[str, ...]:
        return names_of(self.shared or "")

    def mode_number(self, mode: str) -> float:
        """Return the number of a mode, counting from 1, or 0 for a mode that is not listed in `modes`."""
        names = names_of(self.modes or "")
        return names.index(mode.casefold()) + 1.0 if mode.casefold() in names else 0.0

    def params(self) -> Any:
        """Return the rules' parameters for the pool that the system is bound to."""
        names, kind = names_of(self.modes or ""), params_with(self.modal, len(self.kinds), self.extras)
        blank = kind._make([0.0] * len(kind._fields))
        own = {"initial": self.initial, "timely": float(self.growth), "modes": len(names) + 1.0 if names else 0.0}
        own |= {"margins": float(self.margin), "reversion": self.reversion, "sizes": float(self.size)}
        return read_pool(blank._replace(**own), *self.standing)

    @property
    def modal(self) -> int:
        """1 if the system lists modes, otherwise 0."""
        return int(self.modes is not None)

    @property
    def extras(self) -> int:
        """1 if the pool has the parameters for margins and reversion, otherwise 0."""
        return int(self.margin or self.size or self.reversion > 0.0)

    @property
    def rates_margins(self) -> bool:
        return self.margin

    @property
    def rates_sizes(self) -> bool:
        return self.size

    @property
    def usual_margin(self) -> float | None:
        """The root mean square of the pool's margins, or None if the pool does not know their scale yet."""
        params, (pool, _) = self.params(), self.standing
        return math.sqrt(pool[extras_at(full_of(params)) + MARGIN_SQUARE]) if params.margin_scale > 0.0 else None

    def expected_margin(self, comparison: Any) -> float | None:
        """Return the expected margin d / lambda. The expected score, sigma(g d), gives d."""
        if comparison.margin_weight == 0.0:
            return None
        expected: float = comparison.expected
        return float(log_odds(expected, 1.0 - expected) / (comparison.g * self.params().margin_scale))

    def newcomer(self) -> Any:
        newcomer = self.state_type._make([0.0] * len(self.state_type._fields))
        return newcomer._replace(rating=self.initial, deviation=NEWCOMER_DEVIATION, filtered=NEWCOMER_DEVIATION)

    def new_pool(self) -> Any:
        """Return the initial state of a pool, which is the same for all pools."""
        return new_pool(self.modal, len(self.kinds), self.extras, self.reversion)

    def as_one(self, sides: Sides, number: int) -> Any:
        """Return a side as one player: the mean of its members, plus their shared equipment and the home advantage."""
        params, (_, entering, _) = self.arguments()
        return unit_of(params, entering, sides, number)

    def equipment_points(self, moved: float, me: Any, after: Any, item: Any, item_after: Any) -> float:
        """Return the equipment's points, V' R / (1 + B J), from the entrant's V S / (1 + A J) and V^2 J / (1 + A J)."""
        left, item_left = ((state.filtered / SCALE) ** 2 for state in (after, item_after))
        information = (me.variance - left) / (me.variance * me.variance)
        return float(moved * item_left / (me.variance * (1.0 - item.variance * information)))

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return logistic performances around uncertain skills, using today's theta.

        Two players have the same odds as in `expect`.
        """
        params = self.params()
        if len(entering_states) == 2:
            lead = expected_log_odds(params, *entering_states)
            return GumbelPerformances(np.array([-lead, 0.0]), np.ones(2))
        variances = [me.variance + me.variance_reading + params.noise for me in entering_states]
        means = [me.mean + me.mean_reading for me in entering_states]
        deviations = [math.sqrt(max(variance, MIN_VARIANCE)) for variance in variances]
        return uncertain_performances(means, deviations, 1.0 / params.sharpness)

    def season_begins(self, states: Floats, keep: float) -> Floats:
        """Return the states after a soft reset, which shrinks the means and their derivatives with respect to theta."""
        moved = System.season_begins(self, states, keep)
        full = full_of(self.params())
        blocks = [slice(MEANS, MEANS + full + 1)]
        for mode in range(len(names_of(self.modes or "")) + 1 if self.modes else 0):
            start = block_at(full, float(mode))
            blocks += [slice(start, start + 1), slice(start + 2, start + 3 + full)]
        for block in blocks:
            moved[:, block] *= keep
        return moved

    def widen(self, states: Floats, before: Floats, keep: float) -> None:
        """Increase V by ((1 - keep) m)^2, and its derivatives accordingly unless V is now a newcomer's."""
        System.widen(self, states, before, keep)
        columns = full_of(self.params()) + 1
        grows = states[:, FILTERED] < NEWCOMER_DEVIATION
        factors = 2.0 * (1.0 - keep) ** 2 * (before[grows, RATING] - self.initial) / SCALE
        states[grows, MEANS + columns : MEANS + 2 * columns] += (
            factors[:, None] * before[grows, MEANS : MEANS + columns]
        )

    def filled_states(self, known: Mapping[str, Floats]) -> Floats:
        """Complete states of which only some columns are known. A player with a known rating is not a newcomer."""
        states = System.filled_states(self, known)
        if "filtered" not in known:
            states[:, FILTERED] = states[:, DEVIATION]
        states[(states[:, LAST] == 0.0) & (states[:, RATING] != self.initial), FIRST] = 1.0
        return states


def names_of(modes: str) -> tuple[str, ...]:
    """Split a string of names at commas or slashes."""
    return tuple(dict.fromkeys(filter(None, (name.strip().casefold() for name in modes.replace(",", "/").split("/")))))


@functools.cache
def with_states(modes: int, equipment: tuple[str, ...], extras: tuple[str, ...]) -> type[Adaptive]:
    """Return the class for this many modes, and these kinds of equipment and parameters of `PRIOR_OF_EXTRAS`."""
    if not (modes or equipment or extras):
        return Adaptive
    size = modes, len(equipment), int(bool(extras))
    states = states_with(*size)
    facts = {
        "__slots__": (),
        "__module__": __name__,
        "__qualname__": Adaptive.__qualname__,
        "__doc__": Adaptive.__doc__,
        "state_type": states,
        "has_offsets": modes > 0,
        "signed": states._fields[MEANS:],
        "pool_state_type": pool_states_with(min(modes, 1), *size[1:]),
        "learnt_parameters": learnt_with(modes, equipment, extras),
        "workspace": workspace_for(*size),
        "winning_margin": WITH_MARGINS if "margin" in extras else Adaptive.winning_margin,
    }
    return type(Adaptive.__name__, (Adaptive,), facts)


@rate_event.register(Params)
def rate_and_learn(
    params: Any, prototypes: Any, columns: Columns, update: int, states: Any, scratch: Scratch, after: Any, at: int
) -> None:
    """Rate an event: enter all states, compare all pairs of units and update all states. Then update theta."""
    newcomer, _, _ = prototypes
    work, pool, full, first = scratch.workspace, scratch.pool, full_of(params), columns.entrants[update]
    learner, d = work.shape[0] - EXTRA_ROWS, derivatives_of(full)
    sided, sized = appears(columns.home, columns, update), appears(columns.surplus, columns, update)
    modal = modal_of(params) if params.mode >= 0.0 else 0
    size = columns.entrants[update + 1] - first
    enter_all(params, newcomer, columns, first, size, states, scratch, modal, d)
    base = 0
    if columns.side.size + columns.shared.size + modal + sided > 0:
        base = size * (1 + modal) + sided + sized
    enter_pool_states(params, scratch, base, sided, sized, d)
    units = line_up(columns, update, first, base, scratch)
    layout = Layout(first, size, modal, sided, sized, base, units, d, full)
    if base:
        form_units(params, layout, scratch)
    for row in range(base, base + units):
        write(scratch.sums, row, NO_EVIDENCE)
    keep = exp(-pairs_counted(columns, update, scratch.lines) / MEMORY)
    begin_event(params, pool, work, learner, keep)
    first_heat, after_last = heats_of(columns, update)
    for heat in range(first_heat, after_last):
        judge_pairs(params, columns, update, heat, scratch, learner, layout)
        learn_sharpness(params, columns, update, heat, scratch)
    find_modes(params, columns, update, scratch, layout)
    update_units(params, scratch, layout)
    luck = field_luck(columns, update, scratch.lines)
    for i in range(size):
        me = read(states, columns.player[first + i], newcomer)
        write_state(params, me, columns, scratch, layout, luck, i, after, at + i)
        if entrant_at(columns, first + i).kind == 0.0:
            count_entry(pool, 0.0 if is_new(me) else 1.0)
            if params.today < COUNTED and me.last > 0.0:
                learn_gap(pool, params.today - me.last)
    write_pool_states(params, scratch, layout)
    take_step(params, pool, work, learner, keep)
    pool[DAY] = params.today


@kernel
def appears(column: Any, columns: Columns, update: int) -> int:
    """Return 1 if a column of entries has a number above 0 in the event, otherwise 0."""
    found = 0
    if column.size:
        first_heat, after_last = heats_of(columns, update)
        for heat in range(first_heat, after_last):
            start, stop = entries_of(columns, heat)
            for i in range(start, stop):
                found = max(found, int(column[i] > 0.0))
    return found


@kernel
def enter_all(
    params: Any,
    newcomer: Any,
    columns: Columns,
    first: int,
    size: int,
    states: Any,
    scratch: Scratch,
    modal: int,
    d: Derivatives,
) -> None:
    """Write the entering state of each entrant and, if there are modes, its offset for the event's mode."""
    for i in range(size):
        me, kind = read(states, columns.player[first + i], newcomer), entrant_at(columns, first + i).kind
        passed = time_passed(params, me, kind)
        brought = entered(params, me, passed, kind)
        if passed.new:  # a newcomer's starting level is not a rating change
            states[columns.player[first + i], RATING] = brought.rating
            states[columns.player[first + i], FIRST] = params.today
        write(scratch.entering_states, i, brought)
        if extras_of(params) and kind == 0.0:
            learn_level(scratch.pool, full_of(params), brought.mean, i + 1.0)
        enter_row(params, me, brought, passed, kind, scratch.workspace, i, d)
        if modal and kind == 0.0:
            enter_offset(params, me, scratch, size + i, d)
        elif modal:  # equipment has no offset
            write(scratch.entering_states, size + i, seen(params, 0.0, 0.0, 0.0, 0.0, 0.0))
            clear_row(scratch.workspace, size + i, d)


SYSTEM = Adaptive
