"""The rules that a system defines. Python and numba select their implementations in the same way.

A system implements a rule with `@compare.register`. When Python runs a rule (tests, explanations, a debugger),
`functools.singledispatch` selects the implementation by the type of `params`. When the replay is compiled,
`kernels.compiled.rule` lets numba select it from the same registry. Thus the same source runs both ways, with exactly
the same results.

A pairwise system needs four rules. All except `compare` have a default:

    enter(params, me, entrant)                  -> Entering  the state at the start: base points, idle growth, factors
    compare(params, a, b, mine, theirs, heat)   -> (Comparison for a, Comparison for b)
    evidence(params, comparison)                -> Evidence  numbers that are summed over comparisons
    update_state(params, me, totals, entrant)   -> State     the state after the event or rating period

`State`, `Entering` and `Evidence` are NamedTuples of floats. A system that does not sum over pairs registers
`judge_heat` instead of `compare`, with `rate_heats` as its `rate_event`, or it registers its own `rate_event`. The
other rules (`credit`, `causes`, `expect`, `expect_side`) are used only for explanations and predictions.

A system whose pools have a state needs two more rules. `in_pool` adds the pool's numbers to the parameters before each
event. The system's own `rate_event` updates `Scratch.pool` at the end of the event.
"""

from typing import Any, NamedTuple

from podium.engine.inputs import (
    PRESENT,
    TIME_TRIAL,
    Columns,
    Entrant,
    Entry,
    Heat,
    Occasion,
    comparable,
    entrant_at,
    entry_at,
    finisher,
    mode_at,
    occasion_at,
    plain,
    plain_entry,
    slot_at,
)
from podium.engine.large_heats import compare_all as compare_all  # a rule, like the ones below
from podium.engine.large_heats import judge_in_bulk
from podium.engine.large_heats import judge_large_heat as judge_large_heat
from podium.kernels.compiled import kernel as kernel  # the decorator of a system's helper functions
from podium.kernels.compiled import rule
from podium.kernels.records import add, alike, plus, read, times, write


class Comparison(NamedTuple):
    """The evidence that one opponent gives about a player. A system may define a type with more fields."""

    result: float  # from 1 (won) to 0 (lost)
    expected: float
    weight: float  # rating points at stake


class Points(NamedTuple):
    """The evidence in systems that change only the rating."""

    points: float


class Credit(NamedTuple):
    """The effect of a comparison on the rating, in points: `contribution` is `weight` times the surprise."""

    weight: float
    contribution: float


class NoCauses(NamedTuple):
    """The causes in systems in which comparisons alone change the rating."""


@rule
def in_pool(params: Any, pool: Any, occasion: Occasion) -> Any:
    """Return the rules' parameters for a pool in this state (a float64 array). By default, they ignore the state."""
    return params


@rule
def enter(params: Any, me: Any, entrant: Entrant) -> Any:
    """Return the state with which a player enters an event. By default, it is the player's state, unchanged."""
    return me


def entering_state(params: Any, columns: Columns, entrant: int, me: Any) -> Any:
    """Return the entering state of a player who is one of the events' entrants."""
    return enter(params, me, Entrant(*map(float, entrant_at(columns, entrant))))


@rule
def compare(params: Any, a: Any, b: Any, mine: Entry, theirs: Entry, heat: Heat) -> Any:
    """Compare `a` and `b`, and return a Comparison for each. `a` comes first in the file."""
    raise NotImplementedError(f"{type(params).__module__} registers neither compare nor rate_event")


@rule
def evidence(params: Any, comparison: Any) -> Any:
    """Return the evidence that a comparison adds to the player's sum: by default, rating points."""
    return Points(comparison.weight * (comparison.result - comparison.expected))


@rule
def update_state(params: Any, me: Any, totals: Any, entrant: Entrant) -> Any:
    """Return a player's new state from the entering state and the summed evidence."""
    raise NotImplementedError(f"{type(params).__module__} registers neither update_state nor rate_event")


@rule
def credit(params: Any, me: Any, totals: Any, after: Any, comparison: Any) -> Credit:
    """Return the points that a comparison contributed."""
    return Credit(comparison.weight, comparison.weight * (comparison.result - comparison.expected))


@rule
def causes(params: Any, before: Any, me: Any, totals: Any, after: Any) -> Any:
    """Return the points from all other causes, as a NamedTuple with one field per cause."""
    return NoCauses()


@rule
def expect(params: Any, a: Any, b: Any) -> float:
    """Return the expected score of `a` (an entering state) against `b` before a heat of two."""
    mine = finisher(1.0, NEUTRAL_TIME_S, 1.0, WHOLE_GAME_S, WHOLE_GAME_S)
    theirs = finisher(2.0, NEUTRAL_TIME_S, 0.0, WHOLE_GAME_S, WHOLE_GAME_S)
    comparison: Comparison = compare(params, a, b, mine, theirs, Heat(2.0, TIME_TRIAL))[0]
    return comparison.expected


@rule
def expect_side(params: Any, entering: Any, sides: Any, a: int, b: int) -> float:
    """Return the expected score of side `a` of `sides` against side `b`, before a heat of two.

    The default is the mean of `expect` over all pairs of opponents, which is consistent with summing over pairs.
    `entering` is an example of an entering state.
    """
    expected = 0.0
    for i in range(sides.start[a], sides.start[a + 1]):
        mine = read(sides.members, i, entering)
        for j in range(sides.start[b], sides.start[b + 1]):
            expected += expect(params, mine, read(sides.members, j, entering))
    return expected / ((sides.start[a + 1] - sides.start[a]) * (sides.start[b + 1] - sides.start[b]))


@rule
def compare_sides(params: Any, entering: Any, sides: Any, a: int, b: int) -> Any:
    """Return the entering states for comparing sides `a` and `b`, in systems that rate a side as one unit."""


@rule
def counts(params: Any, entry: Entry, heat: Heat) -> bool:
    """Return True if an entry counts. Other entries are left out of the event."""
    return True


@kernel
def params_in_pool(params: Any, columns: Columns, update: int, pool: Any) -> Any:
    """Return the rules' parameters for a rating update of a pool in this state (a float64 array)."""
    return alike(in_pool(params, pool, occasion_at(columns, update)), params)


NEUTRAL_TIME_S, WHOLE_GAME_S = 120.0, 600.0  # for a typical heat without quits


@rule
def rate_event(
    params: Any, prototypes: Any, columns: Columns, update: int, states: Any, scratch: Any, after: Any, at: int
) -> None:
    """Rate one update (an event or a rating period): read `states`, and write rows from `at` on into `after`.

    The default sums the evidence of all pairs within each heat, and then updates all states.
    """
    if columns.entrants[update + 1] - columns.entrants[update] == 2 and plain(columns):
        rate_duel(params, prototypes, columns, update, states, after, at)
        return
    rate_heats(params, prototypes, columns, update, states, scratch, after, at)


@kernel
def rate_heats(
    params: Any, prototypes: Any, columns: Columns, update: int, states: Any, scratch: Any, after: Any, at: int
) -> None:
    """Enter all players, judge each heat using their entering states, and then update all states."""
    judge_heats(params, prototypes, columns, update, states, scratch)
    first, stop = columns.entrants[update], columns.entrants[update + 1]
    update_all(params, prototypes, columns, first, stop, scratch, after, at)


@kernel
def judge_heats(params: Any, prototypes: Any, columns: Columns, update: int, states: Any, scratch: Any) -> None:
    """Enter all players, and judge each heat using their entering states."""
    first, stop = columns.entrants[update], columns.entrants[update + 1]
    enter_all(params, prototypes, columns, first, stop, states, scratch)
    if columns.heats.size == 0:  # the loop could handle this case, but this is faster
        judge_heat(params, prototypes, columns, update, first, stop, first, scratch)
    else:
        for heat in range(columns.heats[update], columns.heats[update + 1]):
            judge_heat(
                params, prototypes, columns, heat, columns.entries[heat], columns.entries[heat + 1], first, scratch
            )


@kernel
def enter_all(params: Any, prototypes: Any, columns: Any, first: int, stop: int, states: Any, scratch: Any) -> None:
    """Enter entrants `first` to `stop` from `states`, with zero evidence."""
    newcomer, _, zero_evidence = prototypes
    for i in range(first, stop):
        me = read(states, columns.player[i], newcomer)
        write(scratch.entering_states, i - first, enter(params, me, entrant_at(columns, i)))
        write(scratch.sums, i - first, zero_evidence)


@kernel
def update_all(
    params: Any, prototypes: Any, columns: Any, first: int, stop: int, scratch: Any, after: Any, at: int
) -> None:
    """Update the states of entrants `first` to `stop`, and write them into rows from `at` on in `after`."""
    _, entering, zero_evidence = prototypes
    for i in range(first, stop):
        me, totals = read(scratch.entering_states, i - first, entering), read(scratch.sums, i - first, zero_evidence)
        write(after, at + i - first, update_state(params, me, totals, entrant_at(columns, i)))


@rule
def judge_heat(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> None:
    """Add the evidence of a heat to `scratch.sums`.

    Args:
        start: First entry of the heat. `stop` is the entry after the last one.
        first: First entrant of the update.

    The default adds the evidence of every pair.
    """
    judge_pairs(params, prototypes, columns, heat, start, stop, first, scratch)


@kernel
def judge_pairs(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> None:
    """Add the evidence of every pair of a heat to `scratch.sums`."""
    lines, size = scratch.lines, float(stop - start)
    for i in range(start, stop):
        write(lines, i - start, entry_at(columns, i, size))
    if not judge_in_bulk(scratch, params, prototypes, columns, heat, start, stop, first):
        compare_among(params, prototypes, columns, heat, start, stop, start, stop, first, scratch)


@kernel
def compare_among(
    params: Any,
    prototypes: Any,
    columns: Any,
    heat: int,
    start: int,
    stop: int,
    begin: int,
    end: int,
    first: int,
    scratch: Any,
) -> None:
    """Add the evidence of all pairs of entries `begin` to `end` of a heat. The entries are in `scratch.lines`."""
    _, entering, zero_evidence = prototypes
    entering_states, sums, lines = scratch.entering_states, scratch.sums, scratch.lines
    size = float(stop - start)
    course = Heat(size, mode_at(columns, heat))
    example = entry_at(columns, start, size)
    all_comparable = columns.side.size == 0 and columns.finished.size == 0
    for i in range(begin, end):
        mine = read(lines, i - start, example)
        me = slot_at(columns, i, first)
        a = read(entering_states, me, entering)
        totals = read(sums, me, zero_evidence)
        for j in range(i + 1, end):
            if all_comparable or comparable(columns, i, j):
                you = slot_at(columns, j, first)
                b = read(entering_states, you, entering)
                for_a, for_b = compare(params, a, b, mine, read(lines, j - start, example), course)
                evidence_a, evidence_b = evidence(params, for_a), evidence(params, for_b)
                if columns.weight.size:
                    weight = columns.weight[heat]
                    evidence_a, evidence_b = times(evidence_a, weight), times(evidence_b, weight)
                totals = plus(totals, evidence_a)
                add(sums, you, evidence_b)
        write(sums, me, totals)


@rule
def rate_two(params: Any, a: Any, b: Any, mine: Entry, theirs: Entry, heat: Heat) -> Any:
    """Return the new states of two players in a duel. `a` comes first in the file.

    The result is exactly the same as that of `rate_event`.

    The default computes them from the evidence of the pair. A system with its own `rate_event` may also have its own
    `rate_two`. It is then used for long runs of duels in a plain table without playing times.
    """
    x, y = enter(params, a, PRESENT), enter(params, b, PRESENT)
    for_x, for_y = compare(params, x, y, mine, theirs, heat)
    evidence_x, evidence_y = evidence(params, for_x), evidence(params, for_y)
    return update_state(params, x, evidence_x, PRESENT), update_state(params, y, evidence_y, PRESENT)


@kernel
def rate_duel(params: Any, prototypes: Any, columns: Any, update: int, states: Any, after: Any, at: int) -> None:
    """Rate two entrants of a plain table exactly as the default `rate_event` does, but without scratch memory."""
    newcomer, _, _ = prototypes
    i = columns.entrants[update]
    a, b = read(states, columns.player[i], newcomer), read(states, columns.player[i + 1], newcomer)
    heat = Heat(2.0, mode_at(columns, update))
    new_a, new_b = rate_two(params, a, b, plain_entry(columns, i), plain_entry(columns, i + 1), heat)
    write(after, at, new_a)
    write(after, at + 1, new_b)


def overrides(rule: Any, system: Any) -> bool:
    """Return True if a system registers its own version of a rule."""
    own: bool = rule.dispatch(type(system.params())) is not rule.dispatch(object)
    return own


def is_from_author(rule: Any, kind: type[Any], *others: Any) -> bool:
    """Return True if a faster version of a rule was written for exactly these parameters.

    The rule must come from the author of the other rules, or from Podium. A system may rate differently if it is
    derived from one with such a rule, or replaces another rule.
    """
    if kind not in rule.registry:
        return False
    packages = rule.registry[kind].__module__.partition(".")[0], "podium"
    return all(other.dispatch(kind).__module__.partition(".")[0] in packages for other in others)


def is_by_pairs(system: Any) -> bool:
    """Return True if rating changes are sums of credits over pairs, even if the system has its own `rate_event`."""
    return overrides(credit, system) or not overrides(rate_event, system)


# Rules for two single players, in models that do not sum over pairs: `rate_two` in three steps
#
#     face_off(params, a, b, place, other_place)     -> Difference   both enter; the difference that the result judges
#     judge_result(params, difference)              -> Verdict      v and w of the papers
#     update_two(params, a, b, difference, verdict) -> (State of a, State of b)
#
# `Difference` and `Verdict` are NamedTuples of floats, which the system lists in `duel_types`. The first and the last
# step have no branches and do not call the C library, so that a processor handles several duels at once. `judge_result`
# may have both. The steps omit operations that cannot change a bit without teams, parts of a game and weights: the root
# of a square, a number divided by itself, a second sweep equal to the first.


@rule
def face_off(params: Any, a: Any, b: Any, place: float, other_place: float) -> Any:
    """Return the difference that decides the result. Lower places are better, and equal places mean a tie."""
    raise NotImplementedError(f"{type(params).__module__} registers no face_off")


@rule
def judge_result(params: Any, difference: Any) -> Any:
    """Return the result's verdict on the difference: v and w in the papers."""
    raise NotImplementedError(f"{type(params).__module__} registers no judge_result")


@rule
def update_two(params: Any, a: Any, b: Any, difference: Any, verdict: Any) -> Any:
    """Return the new states of both players."""
    raise NotImplementedError(f"{type(params).__module__} registers no update_two")


def rate_in_steps(params: Any, a: Any, b: Any, mine: Entry, theirs: Entry, heat: Heat) -> Any:
    """Rate two single players, and return both new states."""
    difference = face_off(params, a, b, mine.place, theirs.place)
    return update_two(params, a, b, difference, judge_result(params, difference))


@rule
def judge_two_heats(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, middle: int, stop: int, scratch: Any, other: Any
) -> None:
    """Judge two heats exactly as `judge_heat` would, one in `scratch` and one in `other`. No player may be in both.

    Each heat is a complete event. The first heat has the entries and entrants from `start` to `middle`. The second has
    those from `middle` to `stop`, and may be empty.
    """
    raise NotImplementedError(f"{type(params).__module__} registers no judge_two_heats")
