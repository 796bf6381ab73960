"""The rules that a system writes, found alike by Python and by numba.

A system fills a rule with `@compare.register`. `functools.singledispatch` chooses by the type of `params`
when Python runs a rule (tests, explanations, a debugger); `numba.extending.overload` chooses from the same
registry when the replay is compiled. One source, two ways to run it, the same bits.

A pairwise system is four of them, each with a default but `compare`:

    enter(params, me, entrant)                  -> Form      what I bring: base points, idle growth, factors
    compare(params, a, b, mine, theirs, heat)   -> (Comparison for a, Comparison for b)
    evidence(params, said)                      -> Evidence  numbers that add up over comparisons
    settle(params, me, totals, entrant)         -> State     my state after the event or rating period

`State`, `Form` and `Evidence` are NamedTuples of floats. A system that is no sum over pairs registers
`judge_heat` instead of `compare`, with `rate_heats` as its `rate_event`, or a `rate_event` of its own. The
rest (`credit`, `causes`, `expect`) only explains and predicts.
"""

from collections.abc import Callable
from functools import singledispatch
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from podium.compiled import IN_KERNELS
from podium.compiled import kernel as kernel  # what a system's own helpers are marked with
from podium.tuples import add, plus, read, times, write

OTHER_MODE, TIME_TRIAL, DUEL = 0.0, 1.0, 2.0
MODES = {"time-trial": TIME_TRIAL, "duel": DUEL}


class Entrant(NamedTuple):
    """A player in one event, or in one rating period."""

    events: float  # rated events in the period; 1 where every event settles
    quit: float  # 1 when the player quit a heat, else 0
    idle: float  # whole days (whole periods) missed since the player's last; 0 for a newcomer


class Entry(NamedTuple):
    """A player's line in one heat; NaN where the results do not say."""

    finished: float  # 1, or 0 for a quit
    place: float  # 1 is best; ties share the mean of their places, and so do all who quit: the last ones
    rank: float  # 1 and 1 and 3: ties share the best of their places
    time_s: float
    score: float
    played_s: float
    duration_s: float
    handicap: float  # 1 or 0
    opponents: float  # how many entries this one is compared with


class Heat(NamedTuple):
    """What all entries of a heat share."""

    entries: float
    mode: float  # TIME_TRIAL, DUEL or OTHER_MODE


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


class Columns(NamedTuple):
    """The columns of `Events` that the compiled loop reads. A column of no entries is at its default."""

    entrants: Any  # int64 (groups + 1): the entrants of a group (an event or period) in the arrays below
    player: Any  # int32 (entrants): row of the player's state
    played_events: Any  # float64 (entrants), default 1
    quit: Any  # float64 (entrants), default 0
    idle: Any  # float64 (entrants), default 0
    heats: Any  # int64 (groups + 1): the heats of a group; default: one heat a group
    entries: Any  # int64 (heats + 1): the entries of a heat; default: `entrants`
    entrant: Any  # int32 (entries): which entrant of the group; default: the entry itself
    side: Any  # int32 (entries): equal for team mates; default: nobody has one
    mode: Any  # float64 (heats), default OTHER_MODE
    weight: Any  # float64 (heats), default 1: how many times each comparison counts
    finished: Any  # float64 (entries), default 1
    place: Any  # float64 (entries)
    rank: Any  # float64 (entries), default `place`
    time_s: Any  # the rest: float64 (entries), default NaN
    score: Any
    played_s: Any
    duration_s: Any
    handicap: Any  # default 0
    opponents: Any  # default: all other entries


LINE = 16  # numbers in a line of scratch: a whole Entry, or what a system notes of a team


class Scratch(NamedTuple):
    """Room that `rate_event` may write: a row for each entrant (`lines`: each entry) of the widest group."""

    forms: Any  # float64 (entrants, fields of the form)
    sums: Any  # float64 (entrants, fields of the evidence)
    lines: Any  # float64 (entries, LINE)


@singledispatch
def enter(params: Any, me: Any, entrant: Entrant) -> Any:
    """What a player brings to an event; the state itself unless a system says otherwise."""
    return me


@singledispatch
def compare(params: Any, a: Any, b: Any, mine: Entry, theirs: Entry, heat: Heat) -> Any:
    """What `a` and `b` say about each other: a Comparison for each. `a` stands first in the file."""
    raise NotImplementedError(f"{type(params).__module__} registers neither compare nor rate_event")


@singledispatch
def evidence(params: Any, said: Any) -> Any:
    """What a comparison adds to its player's totals; by default rating points."""
    return Points(said.weight * (said.result - said.expected))


@singledispatch
def settle(params: Any, me: Any, totals: Any, entrant: Entrant) -> Any:
    """A player's new state, from the form it entered with and the summed evidence."""
    raise NotImplementedError(f"{type(params).__module__} registers neither settle nor rate_event")


@singledispatch
def credit(params: Any, me: Any, totals: Any, after: Any, said: Any) -> Credit:
    """How a comparison moved the rating."""
    return Credit(said.weight, said.weight * (said.result - said.expected))


@singledispatch
def causes(params: Any, before: Any, me: Any, totals: Any, after: Any) -> Any:
    """What moved the rating beside the comparisons, points by name: a NamedTuple."""
    return NoCauses()


@singledispatch
def expect(params: Any, a: Any, b: Any) -> float:
    """The expected score of `a` (a Form) against `b` before a heat of two."""
    mine = Entry(1.0, 1.0, 1.0, NEUTRAL_TIME_S, 1.0, WHOLE_GAME_S, WHOLE_GAME_S, 0.0, 1.0)
    theirs = Entry(1.0, 2.0, 2.0, NEUTRAL_TIME_S, 0.0, WHOLE_GAME_S, WHOLE_GAME_S, 0.0, 1.0)
    said: Comparison = compare(params, a, b, mine, theirs, Heat(2.0, TIME_TRIAL))[0]
    return said.expected


@singledispatch
def counts(params: Any, entry: Entry, heat: Heat) -> bool:
    """Whether an entry counts at all; one that does not is left out of its event."""
    return True


NEUTRAL_TIME_S, WHOLE_GAME_S = 120.0, 600.0  # a heat of no particular length, played to its end


@singledispatch
def rate_event(
    params: Any, like: Any, events: Columns, group: int, states: Any, scratch: "Scratch", after: Any, at: int
) -> None:
    """Rate one group (event or period): read `states`, write rows `at`… of `after`, one an entrant.

    By default: evidence by pairs within each heat, summed, then settled.
    """
    if events.entrants[group + 1] - events.entrants[group] == 2 and plain(events):
        rate_duel(params, like, events, group, states, after, at)
        return
    rate_heats(params, like, events, group, states, scratch, after, at)


@kernel
def rate_heats(
    params: Any, like: Any, events: Columns, group: int, states: Any, scratch: "Scratch", after: Any, at: int
) -> None:
    """Everyone enters, each heat is judged from what all brought, everyone settles."""
    newcomer, form, nothing = like
    forms, sums = scratch.forms, scratch.sums
    first = events.entrants[group]
    size = events.entrants[group + 1] - first
    for i in range(size):
        me = read(states, events.player[first + i], newcomer)
        write(forms, i, enter(params, me, entrant_at(events, first + i)))
        write(sums, i, nothing)
    if events.heats.size == 0:
        judge_heat(params, like, events, group, first, first + size, first, scratch)
    else:
        for heat in range(events.heats[group], events.heats[group + 1]):
            start, stop = events.entries[heat], events.entries[heat + 1]
            judge_heat(params, like, events, heat, start, stop, first, scratch)
    for i in range(size):
        state = settle(params, read(forms, i, form), read(sums, i, nothing), entrant_at(events, first + i))
        write(after, at + i, state)


@singledispatch
def judge_heat(
    params: Any,
    like: Any,
    events: Any,
    heat: int,
    start: int,
    stop: int,
    first: int,
    scratch: Any,
) -> None:
    """Add to `scratch.sums` what a heat says of each entrant: entries `start` to `stop`, entrants from `first`.

    By default the evidence of every pair.
    """
    _, form, nothing = like
    forms, sums, lines = scratch
    size = float(stop - start)
    course = Heat(size, mode_at(events, heat))
    blank = entry_at(events, start, size)
    for i in range(start, stop):
        write(lines, i - start, entry_at(events, i, size))
    all_comparable = events.side.size == 0 and events.finished.size == 0
    for i in range(start, stop):
        mine = read(lines, i - start, blank)
        me = slot_at(events, i, first)
        a = read(forms, me, form)
        totals = read(sums, me, nothing)
        for j in range(i + 1, stop):
            if all_comparable or comparable(events, i, j):
                you = slot_at(events, j, first)
                b = read(forms, you, form)
                for_a, for_b = compare(params, a, b, mine, read(lines, j - start, blank), course)
                said_a, said_b = evidence(params, for_a), evidence(params, for_b)
                if events.weight.size:
                    said_a, said_b = times(said_a, events.weight[heat]), times(said_b, events.weight[heat])
                totals = plus(totals, said_a)
                add(sums, you, said_b)
        write(sums, me, totals)


@kernel
def plain(events: Any) -> bool:
    """Whether every event is one heat, settles by itself, and nobody has a team, quits or was idle."""
    heats = events.heats.size + events.weight.size + events.side.size + events.finished.size + events.opponents.size
    entrants = events.played_events.size + events.quit.size + events.idle.size
    return heats + entrants + events.handicap.size + events.rank.size == 0


@kernel
def rate_duel(params: Any, like: Any, events: Any, group: int, states: Any, after: Any, at: int) -> None:
    """Two entrants of a plain table: the default of `rate_event` without its scratch, to the same bits."""
    newcomer, _, _ = like
    i = events.entrants[group]
    j = i + 1
    one = Entrant(1.0, 0.0, 0.0)
    a = enter(params, read(states, events.player[i], newcomer), one)
    b = enter(params, read(states, events.player[j], newcomer), one)
    mine, theirs = plain_entry(events, i), plain_entry(events, j)
    for_a, for_b = compare(params, a, b, mine, theirs, Heat(2.0, mode_at(events, group)))
    write(after, at, settle(params, a, evidence(params, for_a), one))
    write(after, at + 1, settle(params, b, evidence(params, for_b), one))


@kernel
def plain_entry(events: Any, i: int) -> Entry:
    """Entry `i` of a plain table, in a heat of two."""
    return Entry(
        1.0,
        events.place[i],
        events.place[i],
        events.time_s[i] if events.time_s.size else np.nan,
        events.score[i] if events.score.size else np.nan,
        events.played_s[i] if events.played_s.size else np.nan,
        events.duration_s[i] if events.duration_s.size else np.nan,
        0.0,
        1.0,
    )


@kernel
def comparable(events: Any, i: int, j: int) -> bool:
    """Whether two entries of a heat say anything about each other: not team mates, not both unfinished."""
    if events.side.size and events.side[i] == events.side[j]:
        return False
    return not events.finished.size or bool(events.finished[i] or events.finished[j])


@kernel
def slot_at(events: Any, entry: int, first: int) -> int:
    """Which entrant of the group an entry belongs to, counting from 0."""
    return events.entrant[entry] if events.entrant.size else entry - first


@kernel
def mode_at(events: Any, heat: int) -> float:
    """The mode of a heat."""
    return events.mode[heat] if events.mode.size else 0.0


@kernel
def weight_at(events: Any, heat: int) -> float:
    """How many times each comparison of a heat counts."""
    return events.weight[heat] if events.weight.size else 1.0


@kernel
def part_at(events: Any, i: int) -> float:
    """The part of the game that entry `i` was there for."""
    return part_played(
        events.played_s[i] if events.played_s.size else np.nan,
        events.duration_s[i] if events.duration_s.size else np.nan,
    )


@kernel
def part_played(played_s: float, duration_s: float) -> float:
    """The part of the game that a player was there for; all of it where that is not known."""
    if duration_s > 0.0 and played_s >= 0.0:
        return min(1.0, played_s / duration_s)
    return 1.0


@kernel
def entrant_at(events: Any, i: int) -> Entrant:
    """Entrant `i` of all."""
    return Entrant(
        events.played_events[i] if events.played_events.size else 1.0,
        events.quit[i] if events.quit.size else 0.0,
        events.idle[i] if events.idle.size else 0.0,
    )


@kernel
def entry_at(events: Any, i: int, size: float) -> Entry:
    """Entry `i` of all, in a heat of `size`."""
    return Entry(
        events.finished[i] if events.finished.size else 1.0,
        events.place[i],
        events.rank[i] if events.rank.size else events.place[i],
        events.time_s[i] if events.time_s.size else np.nan,
        events.score[i] if events.score.size else np.nan,
        events.played_s[i] if events.played_s.size else np.nan,
        events.duration_s[i] if events.duration_s.size else np.nan,
        events.handicap[i] if events.handicap.size else 0.0,
        events.opponents[i] if events.opponents.size else size - 1.0,
    )


def compiled_as(rule: Any) -> Callable[[types.Type], Callable[..., Any] | None]:
    """What numba asks of a rule: the function registered for the type of `params`."""

    def chosen_for(params: types.Type) -> Callable[..., Any] | None:
        if not isinstance(params, types.NamedTuple | types.NamedUniTuple):
            return None
        chosen = rule.dispatch(params.instance_class)
        # Bare of annotations: numba refuses an implementation whose annotations differ from the slot's.
        return FunctionType(chosen.__code__, chosen.__globals__, chosen.__name__)

    return chosen_for


@overload(enter, jit_options=IN_KERNELS)
def _(params, me, entrant):  # type: ignore[no-untyped-def]
    return compiled_as(enter)(params)


@overload(compare, jit_options=IN_KERNELS)
def _(params, a, b, mine, theirs, heat):  # type: ignore[no-untyped-def]
    return compiled_as(compare)(params)


@overload(evidence, jit_options=IN_KERNELS)
def _(params, said):  # type: ignore[no-untyped-def]
    return compiled_as(evidence)(params)


@overload(settle, jit_options=IN_KERNELS)
def _(params, me, totals, entrant):  # type: ignore[no-untyped-def]
    return compiled_as(settle)(params)


@overload(expect, jit_options=IN_KERNELS)
def _(params, a, b):  # type: ignore[no-untyped-def]
    return compiled_as(expect)(params)


@overload(counts, jit_options=IN_KERNELS)
def _(params, entry, heat):  # type: ignore[no-untyped-def]
    return compiled_as(counts)(params)


@overload(rate_event, jit_options=IN_KERNELS)
def _(params, like, events, group, states, scratch, after, at):  # type: ignore[no-untyped-def]
    return compiled_as(rate_event)(params)


@overload(judge_heat, jit_options=IN_KERNELS)
def _(params, like, events, heat, start, stop, first, scratch):  # type: ignore[no-untyped-def]
    return compiled_as(judge_heat)(params)
