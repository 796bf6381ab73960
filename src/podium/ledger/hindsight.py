"""Estimate strengths at every event in hindsight, using later results as well.

For the `adaptive` system, each skill follows the walk of its model, and each event adds information from the same pairs
as in the filter. `smoothing.propagation` calculates the strengths. This module prepares its input and returns the
result as a frame. For systems on the Elo scale, `smoothing.whole_history` does the work.
"""

import math
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.inputs import heats_of, weight_at
from podium.engine.replay import Replayed, scratch_for
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.selection import DAY_US
from podium.errors import ParameterError
from podium.kernels.compiled import compile_kernel, kernel, run_by_steps
from podium.ledger.history import SURE_DEVIATIONS, named_rows
from podium.ledger.smoothing.propagation import DUEL, Appearances, Heats, SmootherState, learn, sizes, widen
from podium.ledger.smoothing.whole_history import CHESS_SYSTEMS, W2, scale_of, whole_history
from podium.probability.normal import distribution
from podium.support.arrays import Integers
from podium.support.immutable import immutable
from podium.systems._adaptive_entering import CEILING, DECADE, GROWTH_DAYS, MAX_DECADES, MAX_YEARS, YEAR
from podium.systems._adaptive_state import (
    AGEING,
    COUNTED,
    DAY,
    ENTRY,
    EVENT,
    FILTERED,
    FIRST,
    GAP,
    GROWTH,
    IDLE_DAY,
    LAST,
    MATURITY,
    NOISE,
    OF_EQUIPMENT,
    OWN,
    OWN_GAP_DAYS,
    RATING,
    REACH,
    SCALE,
    SIDE_MEAN,
    SPREAD,
    THETA,
    TICK,
    UNFINISHED,
)
from podium.systems._adaptive_units import FINISHED, PLACE, SIDE, UNIT, heat_at, line_up
from podium.systems.adaptive import Adaptive

ENTRY_AT = THETA + ENTRY - 1  # position in a pool's state
NUMBERS_AT = [THETA + parameter - 1 for parameter in (NOISE, UNFINISHED, REACH)]


@immutable
class Hindsight:
    """The strengths of all players at every event, in hindsight."""

    frame: pl.DataFrame  # player, pool, event_id, at, rating, deviation; in the order of rating
    sweeps: int  # number of sweeps before sites and walks agreed, at most

    def at(self, moment: datetime) -> pl.DataFrame:
        """Return the strengths of players after the last event before a time, best first."""
        if self.frame["at"].null_count():
            raise ParameterError("at: a date requires the started_at column. Add it to the results.")
        known = self.frame.filter(pl.col("at") <= moment).group_by("pool", "player", maintain_order=True).last()
        return known.sort("pool", "rating", descending=[False, True], maintain_order=True)

    def best(self) -> pl.DataFrame:
        """Return every player's peak relative to its year, best first, and the confidence in that order.

        Returns:
            The columns of `frame`, with one row per player and pool. `ahead` is the rating minus the mean of all
            entries in that calendar year (in any year, without dates), and the order is by `ahead` minus two
            deviations. `above_next` is the probability that the player was further ahead than the next one, assuming
            independent errors. It is null for the last player of a pool.
        """
        year = pl.col("rating").mean().over("pool", pl.col("at").dt.year())
        peaks = self.frame.with_columns(ahead=pl.col("rating") - year)
        surely = pl.col("ahead") - SURE_DEVIATIONS * pl.col("deviation")
        peaks = peaks.sort("pool", surely, descending=[False, True], maintain_order=True)
        peaks = peaks.unique(["pool", "player"], keep="first", maintain_order=True)
        after = peaks.select(pl.col("ahead", "deviation").shift(-1).over("pool")).rows()
        chances = [
            None if other[0] is None else chance_above(one, other)
            for one, other in zip(peaks.select("ahead", "deviation").rows(), after, strict=True)
        ]
        return peaks.with_columns(above_next=pl.Series(chances, dtype=pl.Float64))


def chance_above(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the probability that one normal variable exceeds another. Each is given by a mean and a deviation."""
    return float(distribution((one[0] - other[0]) / math.hypot(one[1], other[1])))


def hindsight(system: System, events: Events, replayed: Replayed, w2: float | None = None) -> Hindsight:
    """Return the strengths at every event, in hindsight.

    Results determine only differences, so the overall level is arbitrary. It is chosen to match the ratings at the
    pool's last events.

    Args:
        system: the rating system.
        events: the encoded events.
        replayed: the replay of these events.
        w2: the variance of a skill per day, in points squared. Default: what each pool of `adaptive` has learnt, and
            300 for other systems.

    Raises:
        ParameterError: the system has no hindsight, or `w2` is not allowed.
    """
    if lack := why_unavailable(system):
        raise ParameterError(lack)
    rows, taken, way = events.ledger, named_rows(events.results), visits_by_player(events)
    if not rows.row.are_all(taken.height):
        taken = taken[rows.row.array]
    rating, deviation = np.empty(way.order.size), np.empty(way.order.size)
    if isinstance(system, Adaptive):
        if w2 is not None:
            raise ParameterError("w2: adaptive learns how fast skills change. Omit w2.")
        visits, heats = visits_of(system, events, replayed, way), heats_in(system, events, replayed, way)
        sweeps = learn(heats, visits, way, replayed.pools[:, THETA:])
        widen(heats, visits, way)
        rating[way.order] = SCALE * visits.mean + level(replayed, visits, way)
        deviation[way.order] = SCALE * np.sqrt(visits.variance)
    else:
        day = way.event.astype(np.float64)
        if not taken["started_at"].null_count():
            of_entrant = np.empty(way.order.size)
            of_entrant[rows.entrant.array] = taken["started_at"].to_physical() / DAY_US
            day = of_entrant[way.order]
        found = whole_history(system, events, replayed, way, day, W2 if w2 is None else w2)
        rating[way.order], deviation[way.order], sweeps = found
    named = taken.select("player", "pool", "event_id", at="started_at")
    shown = {"rating": rows.entrant.take(rating), "deviation": rows.entrant.take(deviation)}
    return Hindsight(named.with_columns(**{name: pl.Series(values) for name, values in shown.items()}), sweeps)


def level(replayed: Replayed, visits: Appearances, way: SmootherState) -> Any:
    """Return the level in points relative to which each visit's skill is measured: an array of shape (visits,).

    After the last event, ratings and hindsight are based on the same information, so their means must agree. The mean
    is taken over all appearances of a pool's players, weighted by the certainty of their skills on the last day.
    """
    off = np.zeros((len(replayed.pools), 2))
    run_by_steps(_add_levels, way.order.size, replayed.after, replayed.pools, way, visits, off)
    return (off[:, 0] / off[:, 1])[way.pool]


@compile_kernel
def _add_levels(after: Any, learnt: Any, way: Any, visits: Any, off: Any) -> None:
    for v in range(way.order.size):
        if way.kind.size and way.kind[v] != 0.0:
            continue
        entrant, ends = way.order[v], learnt[way.pool[v]]
        days = days_between(after[entrant, LAST], ends[DAY], ends[GAP])
        idle = math.exp(ends[THETA + IDLE_DAY - 1]) * days
        worth = 1.0 / ((after[entrant, FILTERED] / SCALE) ** 2 + idle)
        off[way.pool[v], 0] += worth * (after[entrant, RATING] - SCALE * visits.mean[v])
        off[way.pool[v], 1] += worth


def visits_by_player(events: Events) -> SmootherState:
    """Return the order of the visits."""
    columns = events.columns
    order = np.argsort(columns.player, kind="stable").astype(np.int32)
    start = np.flatnonzero(np.diff(columns.player[order], prepend=-1, append=np.iinfo(np.int32).max))
    event = np.repeat(np.arange(columns.entrants.size - 1, dtype=np.int32), np.diff(columns.entrants))
    kind = columns.kind[order] if columns.kind.size else columns.kind
    return SmootherState(order, start, event[order], pool_of(events, columns.entrants)[order], kind)


def why_unavailable(system: System) -> str:
    """Return the reason why a system does not support hindsight, or an empty string if it does."""
    if (isinstance(system, Adaptive) and system.modes is None) or scale_of(system) is not None:
        return ""
    name = f"{system.name} with modes" if isinstance(system, Adaptive) else system.name
    others = ", ".join(["elo", *CHESS_SYSTEMS])
    return f"hindsight is for adaptive and for systems on the Elo scale ({others}); {name} has none"


def heat_bounds(events: Events) -> Integers:
    """Return the bounds of each update's heats: an array of shape (updates + 1,)."""
    heats = events.columns.heats
    return heats if heats.size else np.arange(events.columns.entrants.size)


def pool_of(events: Events, bounds: Integers) -> npt.NDArray[np.int32]:
    """Return the pool of each entrant or heat, given the bounds of each update."""
    counts = [pool.last - pool.first for pool in events.pools]
    return np.repeat(np.repeat(np.arange(len(counts), dtype=np.int32), counts), np.diff(bounds))


def visits_of(system: Adaptive, events: Events, replayed: Replayed, way: SmootherState) -> Appearances:
    """Return the visits before the first sweep, using the filter's states."""
    visits = Appearances._make(np.zeros(way.order.size) for _ in Appearances._fields)
    run_by_steps(
        _set_out, way.order.size, replayed.after, replayed.pools, way, float(system.growth), system.initial, visits
    )
    first = way.start[:-1] if way.kind.size == 0 else way.start[:-1][way.kind[way.start[:-1]] == 0.0]
    visits.drift[first] = (replayed.before[way.order[first]] - system.initial) / SCALE
    if replayed.start is None:  # uses the pool's present knowledge about newcomers, not its knowledge at that time
        pool, before = way.pool[first], way.event[first] - 1
        is_later = before >= np.array([pool.first for pool in events.pools])[pool]
        maturity = replayed.pool_history[before, MATURITY] * is_later
        visits.drift[first] += maturity * (replayed.pools[pool, ENTRY_AT] - replayed.pool_history[before, ENTRY_AT])
    return visits


@kernel
def days_between(one: float, other: float, gap: float) -> float:
    """Return the number of days between two events.

    For numbered events, the pool's pace is used. Between a numbered and a dated event, the result is 0.
    """
    counted = other < COUNTED
    if counted != (one < COUNTED):
        return 0.0
    return (other - one) * (OWN_GAP_DAYS / TICK * math.exp(-gap) if counted else 1.0)


@compile_kernel
def _set_out(after: Any, learnt: Any, way: Any, growth: float, initial: float, visits: Any) -> None:
    of_players, of_equipment, player = THETA - 1, THETA + OWN, 0
    for v in range(way.order.size):
        entrant, kind = way.order[v], int(way.kind[v]) if way.kind.size else 0
        ends = learnt[way.pool[v]]
        of_kind = of_equipment + OF_EQUIPMENT * (kind - 1)
        spread = math.exp(ends[of_kind if kind else of_players + SPREAD])
        visits.mean[v] = (after[entrant, RATING] - initial) / SCALE
        visits.variance[v] = (after[entrant, FILTERED] / SCALE) ** 2
        visits.cavity_mean[v], visits.cavity_variance[v] = visits.mean[v], visits.variance[v]
        visits.ceiling[v], visits.growth[v] = CEILING * spread, spread
        if v == way.start[player]:
            player += 1
            continue
        seen, today = after[way.order[v - 1], LAST], after[entrant, LAST]
        days = days_between(seen, today, ends[GAP])
        visits.drawn[v] = math.exp(ends[of_kind + 1 if kind else of_players + IDLE_DAY]) * days
        visits.growth[v] = 0.0 if kind else math.exp(ends[of_players + EVENT])
        if kind == 0:
            here = days_between(after[entrant, FIRST], today, ends[GAP])
            visits.drift[v] = (growth * min(days / YEAR, MAX_YEARS)) * (
                ends[of_players + GROWTH] * math.exp(-here / GROWTH_DAYS)
                - ends[of_players + AGEING] * min(here / DECADE, MAX_DECADES)
            )


def heats_in(system: Adaptive, events: Events, replayed: Replayed, way: SmootherState) -> Heats:
    """Return the units of every heat, in the filter's order."""
    columns, kinds = events.columns, len(system.kinds)
    last, entries = columns.entrants.size - 1, columns.place.size
    scratch = scratch_for(system, columns, 0, last, np.array(system.new_pool()))
    bounds = heat_bounds(events)
    heats = Heats(
        np.zeros(bounds[-1] + 1, np.int64),
        np.zeros(entries, np.int32),
        np.zeros(entries),
        np.zeros(entries, np.int32),
        np.zeros(entries, np.bool_),
        np.ones(bounds[-1]),
        np.ones(bounds[-1]),
        pool_of(events, bounds),
        np.exp(replayed.pools[:, NUMBERS_AT]),
        np.zeros(entries + 1, np.int32),
        np.zeros(entries * (1 + kinds), np.int32),
        np.zeros(entries * (1 + kinds)),
        np.zeros(entries),
        np.zeros(bounds[-1]),
    )
    side = replayed.pool_history[:, SIDE_MEAN]
    visit = np.empty_like(way.order)
    visit[way.order] = np.arange(visit.size, dtype=np.int32)
    run_by_steps(_line_up, entries, columns, last, scratch, side, visit, heats)
    heats.weight[:] *= np.sqrt(DUEL / sizes(heats))  # the same weight as when the pool learns
    heats.worth[:] = heats.weight
    return heats


@compile_kernel
def _line_up(columns: Any, last: int, scratch: Any, side: Any, visit: Any, heats: Any) -> None:
    at, unit = 0, 0
    for update in range(last):
        first = columns.entrants[update]
        units = line_up(columns, update, first, 1, scratch)
        first_heat, after_last = heats_of(columns, update)
        for heat in range(first_heat, after_last):
            start, stop = heat_at(columns, update, heat, scratch.lines)
            heats.weight[heat] = weight_at(columns, heat)
            for i in range(start, stop):
                heats.unit[at] = unit + int(scratch.lines[i, UNIT]) - 1
                heats.place[at], heats.side[at] = scratch.lines[i, PLACE], int(scratch.lines[i, SIDE])
                heats.finished[at] = scratch.lines[i, FINISHED] != 0.0
                at += 1
            heats.start[heat + 1] = at
        sides = scratch.sides
        for number in range(units):
            part = heats.parts[unit]
            for k in range(sides.start[number], sides.start[number + 1]):
                heats.part[part], heats.share[part] = visit[first + sides.slot[k]], sides.share[k]
                part += 1
            heats.ahead[unit] = side[update] if sides.home[number] else 0.0
            unit += 1
            heats.parts[unit] = part
