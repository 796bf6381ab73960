"""The rules that a system writes, chosen alike by Python and by numba.

A system fills a rule with `@compare.register`. `functools.singledispatch` chooses by the type of `params`
when Python runs a rule (tests, explanations, a debugger); `kernels.compiled.rule` lets numba choose from the same
registry when the replay is compiled. One source, two ways to run it, the same bits.

A pairwise system is four of them, each with a default but `compare`:

    enter(params, me, entrant)                  -> Entering  what I bring: base points, idle growth, factors
    compare(params, a, b, mine, theirs, heat)   -> (Comparison for a, Comparison for b)
    evidence(params, comparison)                -> Evidence  numbers that add up over comparisons
    settle(params, me, totals, entrant)         -> State     my state after the event or rating period

`State`, `Entering` and `Evidence` are NamedTuples of floats. A system that is no sum over pairs registers
`judge_heat` instead of `compare`, with `rate_heats` as its `rate_event`, or a `rate_event` of its own. The
rest (`credit`, `causes`, `expect`, `expect_side`) only explains and predicts.

A system whose pools have a state has two things more: `in_pool` puts the pool's numbers into the parameters before
each event enters, and its own `rate_event` moves `Scratch.pool` once the event has settled.
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
from podium.engine.large_heats import compare_all as compare_all  # rules as those below
from podium.engine.large_heats import judge_in_bulk
from podium.engine.large_heats import judge_large_heat as judge_large_heat
from podium.kernels.compiled import kernel as kernel  # what a system's own helpers are marked with
from podium.kernels.compiled import rule
from podium.kernels.records import add, alike, plus, read, times, write


class Comparison(NamedTuple):
    """What one opponent says about a player; a system may have a longer one of its own."""

    result: float  # 1 won, 0 lost, or between
    expected: float
    weight: float  # rating points at stake


class Points(NamedTuple):
    """The evidence of a system that only moves rating points."""

    points: float


class Credit(NamedTuple):
    """What a comparison did to the rating, in points: `contribution` is `weight` times the surprise."""

    weight: float
    contribution: float


class NoCauses(NamedTuple):
    """Nothing but comparisons moved the rating."""


@rule
def in_pool(params: Any, pool: Any, occasion: Occasion) -> Any:
    """What the rules read in a pool in this state (float64 array); the parameters alone by default."""
    return params


@rule
def enter(params: Any, me: Any, entrant: Entrant) -> Any:
    """What a player brings to an event; the state itself unless a system says otherwise."""
    return me


def entering_state(params: Any, columns: Columns, entrant: int, me: Any) -> Any:
    """What a player in this state brings as one of the events' entrants."""
    return enter(params, me, Entrant(*map(float, entrant_at(columns, entrant))))


@rule
def compare(params: Any, a: Any, b: Any, mine: Entry, theirs: Entry, heat: Heat) -> Any:
    """What `a` and `b` say about each other: a Comparison for each. `a` stands first in the file."""
    raise NotImplementedError(f"{type(params).__module__} registers neither compare nor rate_event")


@rule
def evidence(params: Any, comparison: Any) -> Any:
    """What a comparison adds to its player's totals; by default rating points."""
    return Points(comparison.weight * (comparison.result - comparison.expected))


@rule
def settle(params: Any, me: Any, totals: Any, entrant: Entrant) -> Any:
    """A player's new state, from what it brought and the summed evidence."""
    raise NotImplementedError(f"{type(params).__module__} registers neither settle nor rate_event")


@rule
def credit(params: Any, me: Any, totals: Any, after: Any, comparison: Any) -> Credit:
    """How a comparison moved the rating."""
    return Credit(comparison.weight, comparison.weight * (comparison.result - comparison.expected))


@rule
def causes(params: Any, before: Any, me: Any, totals: Any, after: Any) -> Any:
    """What moved the rating beside the comparisons, points by name: a NamedTuple."""
    return NoCauses()


@rule
def expect(params: Any, a: Any, b: Any) -> float:
    """The expected score of `a` (an Entering) against `b` before a heat of two."""
    mine = finisher(1.0, NEUTRAL_TIME_S, 1.0, WHOLE_GAME_S, WHOLE_GAME_S)
    theirs = finisher(2.0, NEUTRAL_TIME_S, 0.0, WHOLE_GAME_S, WHOLE_GAME_S)
    comparison: Comparison = compare(params, a, b, mine, theirs, Heat(2.0, TIME_TRIAL))[0]
    return comparison.expected


@rule
def expect_side(params: Any, entering: Any, sides: Any, a: int, b: int) -> float:
    """The expected score of side `a` against side `b` of `sides` before a heat of two.

    By default the mean of `expect` over all pairs of opponents, which is what a sum over pairs compares. `entering` is
    a record of what members bring.
    """
    expected = 0.0
    for i in range(sides.start[a], sides.start[a + 1]):
        mine = read(sides.members, i, entering)
        for j in range(sides.start[b], sides.start[b + 1]):
            expected += expect(params, mine, read(sides.members, j, entering))
    return expected / ((sides.start[a + 1] - sides.start[a]) * (sides.start[b + 1] - sides.start[b]))


@rule
def compare_sides(params: Any, entering: Any, sides: Any, a: int, b: int) -> Any:
    """What side `a` and side `b` bring to their duel, of a system that rates a side as one."""


@rule
def counts(params: Any, entry: Entry, heat: Heat) -> bool:
    """Whether an entry counts at all; one that does not is left out of its event."""
    return True


@kernel
def params_in_pool(params: Any, columns: Columns, settlement: int, pool: Any) -> Any:
    """What the rules read at a settlement of a pool in this state (float64 array)."""
    return alike(in_pool(params, pool, occasion_at(columns, settlement)), params)


NEUTRAL_TIME_S, WHOLE_GAME_S = 120.0, 600.0  # a heat of no particular length, played to its end


@rule
def rate_event(
    params: Any, prototypes: Any, columns: Columns, settlement: int, states: Any, scratch: Any, after: Any, at: int
) -> None:
    """Rate one settlement (an event or a period): read `states`, write rows `at`… of `after`, one an entrant.

    By default: evidence by pairs within each heat, summed, then settled.
    """
    if columns.entrants[settlement + 1] - columns.entrants[settlement] == 2 and plain(columns):
        rate_duel(params, prototypes, columns, settlement, states, after, at)
        return
    rate_heats(params, prototypes, columns, settlement, states, scratch, after, at)


@kernel
def rate_heats(
    params: Any, prototypes: Any, columns: Columns, settlement: int, states: Any, scratch: Any, after: Any, at: int
) -> None:
    """Everyone enters, each heat is judged from what all brought, everyone settles."""
    first, stop = columns.entrants[settlement], columns.entrants[settlement + 1]
    enter_all(params, prototypes, columns, first, stop, states, scratch)
    if columns.heats.size == 0:  # apart from the loop, which `heats_of` would do for both: it is quicker so
        judge_heat(params, prototypes, columns, settlement, first, stop, first, scratch)
    else:
        for heat in range(columns.heats[settlement], columns.heats[settlement + 1]):
            judge_heat(
                params, prototypes, columns, heat, columns.entries[heat], columns.entries[heat + 1], first, scratch
            )
    settle_all(params, prototypes, columns, first, stop, scratch, after, at)


@kernel
def enter_all(params: Any, prototypes: Any, columns: Any, first: int, stop: int, states: Any, scratch: Any) -> None:
    """Entrants `first` to `stop` enter from `states`, with no evidence yet."""
    newcomer, _, zero_evidence = prototypes
    for i in range(first, stop):
        me = read(states, columns.player[i], newcomer)
        write(scratch.entering_states, i - first, enter(params, me, entrant_at(columns, i)))
        write(scratch.sums, i - first, zero_evidence)


@kernel
def settle_all(
    params: Any, prototypes: Any, columns: Any, first: int, stop: int, scratch: Any, after: Any, at: int
) -> None:
    """Entrants `first` to `stop` settle from what they brought and the evidence: rows `at`… of `after`."""
    _, entering, zero_evidence = prototypes
    for i in range(first, stop):
        me, totals = read(scratch.entering_states, i - first, entering), read(scratch.sums, i - first, zero_evidence)
        write(after, at + i - first, settle(params, me, totals, entrant_at(columns, i)))


@rule
def judge_heat(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> None:
    """Add to `scratch.sums` what a heat says of each entrant: entries `start` to `stop`, entrants from `first`.

    By default the evidence of every pair.
    """
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
    """Add the evidence of every pair of entries `begin` to `end` of a heat, whose entries stand in `scratch.lines`."""
    _, entering, zero_evidence = prototypes
    entering_states, sums, lines = scratch.entering_states, scratch.sums, scratch.lines
    size = float(stop - start)
    course = Heat(size, mode_at(columns, heat))
    blank = entry_at(columns, start, size)
    all_comparable = columns.side.size == 0 and columns.finished.size == 0
    for i in range(begin, end):
        mine = read(lines, i - start, blank)
        me = slot_at(columns, i, first)
        a = read(entering_states, me, entering)
        totals = read(sums, me, zero_evidence)
        for j in range(i + 1, end):
            if all_comparable or comparable(columns, i, j):
                you = slot_at(columns, j, first)
                b = read(entering_states, you, entering)
                for_a, for_b = compare(params, a, b, mine, read(lines, j - start, blank), course)
                evidence_a, evidence_b = evidence(params, for_a), evidence(params, for_b)
                if columns.weight.size:
                    weight = columns.weight[heat]
                    evidence_a, evidence_b = times(evidence_a, weight), times(evidence_b, weight)
                totals = plus(totals, evidence_a)
                add(sums, you, evidence_b)
        write(sums, me, totals)


@rule
def rate_two(params: Any, a: Any, b: Any, mine: Entry, theirs: Entry, heat: Heat) -> Any:
    """The new states of two players who meet alone, to the bits of `rate_event`; `a` stands first in the file.

    By default a pair's evidence. A system with a `rate_event` of its own may have a `rate_two`, too: runs of duels of
    a plain table, in which nobody's time played is known, then go by it.
    """
    x, y = enter(params, a, PRESENT), enter(params, b, PRESENT)
    for_x, for_y = compare(params, x, y, mine, theirs, heat)
    return settle(params, x, evidence(params, for_x), PRESENT), settle(params, y, evidence(params, for_y), PRESENT)


@kernel
def rate_duel(params: Any, prototypes: Any, columns: Any, settlement: int, states: Any, after: Any, at: int) -> None:
    """Two entrants of a plain table: the default of `rate_event` without its scratch, to the same bits."""
    newcomer, _, _ = prototypes
    i = columns.entrants[settlement]
    a, b = read(states, columns.player[i], newcomer), read(states, columns.player[i + 1], newcomer)
    heat = Heat(2.0, mode_at(columns, settlement))
    new_a, new_b = rate_two(params, a, b, plain_entry(columns, i), plain_entry(columns, i + 1), heat)
    write(after, at, new_a)
    write(after, at + 1, new_b)


def overrides(rule: Any, system: Any) -> bool:
    """Whether a system registers a rule of its own in place of the default."""
    own: bool = rule.dispatch(type(system.params())) is not rule.dispatch(object)
    return own


def is_from_author(rule: Any, kind: type[Any], *others: Any) -> bool:
    """Whether a rule for speed alone is for exactly these parameters, and from whoever wrote the others, or Podium did.

    A system derived from one with such a rule, or one of whose rules is replaced, may rate otherwise.
    """
    if kind not in rule.registry:
        return False
    packages = rule.registry[kind].__module__.partition(".")[0], "podium"
    return all(other.dispatch(kind).__module__.partition(".")[0] in packages for other in others)


def is_by_pairs(system: Any) -> bool:
    """Whether a change is a sum over pairs, each with its credit: also of a system that rates events in its own way."""
    return overrides(credit, system) or not overrides(rate_event, system)
