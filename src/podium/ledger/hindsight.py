"""How strong everybody was at every event, knowing all since: a smoother on the model of the system `podium`.

A skill is a random walk, and an event says of it what the filter's pairs say. Every visit of a player to an event has a
site, a Gaussian that stands for what the event says: it is taken at the smoothed mean, against what all other events
say of the opponents. Sites and walks are worked out in turn until they agree.

Source: H. Rauch, F. Tung and C. Striebel, "Maximum likelihood estimates of linear dynamic systems" (1965), for walks;
T. Minka, "Expectation propagation for approximate Bayesian inference" (2001), for sites and cavities; D. Anderson,
"Iterative procedures for nonlinear integral equations" (1965), for how sweeps gain on each other.
"""

import math
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.inputs import heats_of, weight_at
from podium.engine.replay import Replayed, scratch_for
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.errors import ParameterError
from podium.kernels.compiled import compile_kernel, kernel
from podium.ledger.history import named_rows
from podium.probability.logistic import logistic, score
from podium.systems import _podium_state
from podium.systems._podium_entering import CEILING, DECADE, GROWTH_DAYS, MOST_DECADES, MOST_YEARS, YEAR
from podium.systems._podium_units import FINISHED, PLACE, SIDE, UNIT, heat_at, line_up
from podium.systems.podium import Podium

CLOSE, MOST_SWEEPS = 3e-4, 100  # log-odds of the mean change within heats at which it ends
MEMORY = 4  # sweeps that the next means are drawn from
LEAST_PRECISION = 1e-9


class Visits(NamedTuple):
    """What is known of each entrant of each settlement, (entrants) float64."""

    mean: Any  # smoothed
    variance: Any
    cavity_mean: Any  # without what the event itself says
    cavity_variance: Any
    precision: Any  # the site's
    shift: Any
    surprise: Any  # sums over opponents, of a sweep
    information: Any
    expected_mean: Any  # before the event, by the past alone
    expected_variance: Any
    drift: Any  # of the mean since the visit before, or the mean of a newcomer
    growth: Any  # of the variance by the event, or that of a newcomer
    days: Any  # share of the way to the ceiling since the visit before
    ceiling: Any


class Heats(NamedTuple):
    """Every heat as lines of units."""

    start: Any  # int64 (heats + 1)
    unit: Any  # int64 (lines)
    result: Any  # float64 (lines, 4): as `podium`'s lines from PLACE on
    weight: Any  # float64 (heats)
    numbers: Any  # float64 (heats, 3): noise of a day, what a pair counts of which one did not finish, reach
    parts: Any  # int64 (units + 1)
    part: Any  # int64 (parts): the visit
    share: Any  # float64 (parts)
    ahead: Any  # float64 (units): what the side that begins is worth


@dataclass(frozen=True, slots=True)
class Hindsight:
    """Where everybody stood at every event, knowing all since."""

    frame: pl.DataFrame  # player, pool, event_id, at, rating, deviation; in the order of rating
    sweeps: int

    def at(self, moment: datetime) -> pl.DataFrame:
        """Where everybody stood at a moment, by the event before it, best first: of those who had played."""
        if self.frame["at"].null_count():
            raise ParameterError("a date needs the column started_at in the results")
        known = self.frame.filter(pl.col("at") <= moment).group_by("pool", "player", maintain_order=True).last()
        return known.sort("pool", "rating", descending=[False, True], maintain_order=True)


def hindsight(system: System, events: Events, replayed: Replayed) -> Hindsight:
    """How strong everybody was at every event, knowing all since, by the parameters that each pool has learnt.

    Results say who is above whom, and nothing of the level of all: it is that of the ratings at a pool's last events.

    Raises:
        ParameterError: the system is another than podium, or podium with modes.
    """
    visits, sweeps = smoothed(system, events, replayed)
    rows = events.ledger
    taken = named_rows(events.results)[rows.row.array]
    skills = _podium_state.SCALE * visits.mean + level(events, replayed, visits)
    frame = taken.select("player", "pool", "event_id", at="started_at").with_columns(
        rating=pl.Series(skills[rows.entrant.array]),
        deviation=_podium_state.SCALE * pl.Series(np.sqrt(visits.variance[rows.entrant.array])),
    )
    return Hindsight(frame, sweeps)


def level(events: Events, replayed: Replayed, visits: Visits) -> Any:
    """What each entrant's skill counts from, (entrants) points.

    Nothing has come since the last event, so that there hindsight and ratings know the same: over the appearances of a
    pool's players, each by how sure its skill still is on the last day, their mean is one.
    """
    columns, state = events.columns, replayed.after
    pool, ends = pool_of(events), replayed.pools
    days = days_between(state[:, _podium_state.LAST], ends[pool, _podium_state.DAY], ends[pool, _podium_state.GAP])
    idle = np.exp(ends[:, _podium_state.THETA + 2])[pool] * days
    worth = 1.0 / ((state[:, 1] / _podium_state.SCALE) ** 2 + idle)
    if columns.kind.size:
        worth *= columns.kind == 0
    return (np.bincount(pool, worth * (state[:, 0] - _podium_state.SCALE * visits.mean)) / np.bincount(pool, worth))[
        pool
    ]


def smoothed(
    system: System, events: Events, replayed: Replayed, silent: npt.NDArray[np.bool_] | None = None
) -> tuple[Visits, int]:
    """The visits of all entrants, and how many sweeps it took; settlements that are `silent` say nothing."""
    if not isinstance(system, Podium) or lack_of(system):
        raise ParameterError(lack_of(system))
    visits = visits_of(system, events, replayed)
    heats = heats_in(system, events, replayed)
    if silent is not None:
        of_heat = np.repeat(np.arange(silent.size), np.diff(heat_bounds(events)))
        heats.weight[silent[of_heat]] = 0.0
    order = np.argsort(events.columns.player, kind="stable")
    start = np.flatnonzero(np.diff(events.columns.player[order], prepend=-1, append=np.iinfo(np.int32).max))
    event = np.repeat(np.arange(events.columns.entrants.size - 1), np.diff(events.columns.entrants))
    return visits, settle(heats, visits, order, start, event)


def lack_of(system: System) -> str:
    """Why a system has no hindsight; empty where it has."""
    if isinstance(system, Podium) and system.modes is None:
        return ""
    name = f"{system.name} with modes" if isinstance(system, Podium) else system.name
    return f"hindsight is for podium, on whose model it rests; {name} has none"


def heat_bounds(events: Events) -> npt.NDArray[np.int64]:
    """The heats of each settlement: (settlements + 1)."""
    heats = events.columns.heats
    return heats if heats.size else np.arange(events.columns.entrants.size)


def pool_of(events: Events) -> npt.NDArray[np.int64]:
    """The pool of each entrant of each settlement: (entrants)."""
    return np.repeat(of_settlements(events, np.arange(len(events.pools))), np.diff(events.columns.entrants))


def of_settlements(events: Events, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A value a pool, as one a settlement."""
    counts = [pool.last - pool.first for pool in events.pools]
    return np.repeat(values, counts, axis=0)


def visits_of(system: Podium, events: Events, replayed: Replayed) -> Visits:
    """The visits before the first sweep: as the filter left everybody."""
    columns, after, learnt, pool = events.columns, replayed.after, replayed.pools, pool_of(events)
    kind = columns.kind.astype(np.int64) if columns.kind.size else np.zeros(after.shape[0], np.int64)
    column = _podium_state.THETA + np.where(kind > 0, _podium_state.OWN + _podium_state.OF_THINGS * (kind - 1), 0)
    spread, a_day = np.exp(learnt[pool, column]), np.exp(learnt[pool, column + np.where(kind > 0, 1, 2)])
    order = np.argsort(columns.player, kind="stable")
    again = np.concatenate([[False], columns.player[order][1:] == columns.player[order][:-1]])
    before = np.full(kind.size, -1)
    before[order[1:]] = np.where(again[1:], order[:-1], -1)
    seen, today = after[before, _podium_state.LAST], after[:, _podium_state.LAST]
    gap = learnt[pool, _podium_state.GAP]
    days, here = days_between(seen, today, gap), days_between(after[:, _podium_state.FIRST], today, gap)
    years = np.minimum(days / YEAR, MOST_YEARS) * (kind == 0) * float(system.growth)
    drift = years * (
        learnt[pool, _podium_state.THETA + 4] * np.exp(-here / GROWTH_DAYS)
        - learnt[pool, _podium_state.THETA + 5] * np.minimum(here / DECADE, MOST_DECADES)
    )
    is_first = before < 0
    mean, variance = (after[:, 0] - system.initial) / _podium_state.SCALE, (after[:, 1] / _podium_state.SCALE) ** 2
    first_mean = np.where(kind == 0, (replayed.before - system.initial) / _podium_state.SCALE, 0.0)
    numbers = (
        mean.copy(),
        variance.copy(),
        mean.copy(),
        variance.copy(),
        *(np.zeros(kind.size) for _ in Visits._fields[4:10]),
        np.where(is_first, first_mean, drift),
        np.where(is_first, spread, np.exp(learnt[:, _podium_state.THETA + 1])[pool] * (kind == 0)),
        np.where(is_first, 0.0, a_day * days / (CEILING * spread)),
        CEILING * spread,
    )
    return Visits._make(numbers)


def days_between(one: Any, other: Any, gap: Any) -> Any:
    """How many days passed, by the pace of the pool where events have numbers; none from a number to a date."""
    days = (other - one) * np.where(
        other < _podium_state.COUNTED, _podium_state.OWN_GAP_DAYS / _podium_state.TICK * np.exp(-gap), 1.0
    )
    return np.where((one < _podium_state.COUNTED) == (other < _podium_state.COUNTED), days, 0.0)


def heats_in(system: Podium, events: Events, replayed: Replayed) -> Heats:
    """Every heat's units, as the filter lines them up."""
    columns, kinds = events.columns, len(system.kinds)
    last, entries = columns.entrants.size - 1, columns.place.size
    scratch = scratch_for(system, columns, 0, last, np.array(system.new_pool()))
    bounds = heat_bounds(events)
    numbers = np.exp(replayed.pools[:, [_podium_state.THETA + 3, _podium_state.THETA + 6, _podium_state.THETA + 7]])
    heats = Heats(
        np.zeros(bounds[-1] + 1, np.int64),
        np.zeros(entries, np.int64),
        np.zeros((entries, 4)),
        np.ones(bounds[-1]),
        np.repeat(of_settlements(events, numbers), np.diff(bounds), axis=0),
        np.zeros(entries + 1, np.int64),
        np.zeros(entries * (1 + kinds), np.int64),
        np.zeros(entries * (1 + kinds)),
        np.zeros(entries),
    )
    _line_up(columns, last, scratch, replayed.pool_history[:, _podium_state.SIDE_MEAN], system.prototypes()[1], heats)
    return heats


@compile_kernel
def _line_up(columns: Any, last: int, scratch: Any, side: Any, entering: Any, heats: Any) -> None:
    at, unit = 0, 0
    for settlement in range(last):
        first = columns.entrants[settlement]
        units = line_up(columns, settlement, first, 1, entering, scratch)
        first_heat, after_last = heats_of(columns, settlement)
        for heat in range(first_heat, after_last):
            start, stop = heat_at(columns, settlement, heat, scratch.lines)
            heats.weight[heat] = weight_at(columns, heat)
            for i in range(start, stop):
                heats.unit[at] = unit + int(scratch.lines[i, UNIT]) - 1
                for k in range(4):
                    heats.result[at, k] = scratch.lines[i, PLACE + k]
                at += 1
            heats.start[heat + 1] = at
        sides = scratch.sides
        for number in range(units):
            part = heats.parts[unit]
            for k in range(sides.start[number], sides.start[number + 1]):
                heats.part[part], heats.share[part] = first + sides.slot[k], sides.share[k]
                part += 1
            heats.ahead[unit] = side[settlement] if sides.home[number] else 0.0
            unit += 1
            heats.parts[unit] = part


def settle(heats: Heats, visits: Visits, order: Any, start: Any, event: npt.NDArray[np.int64]) -> int:
    """Sweep until the gaps within events hardly change; how many sweeps it took.

    Results say nothing of the level of all who meet, which may drift for long: it does not count. The next means are
    those of the last sweeps, mixed so that their changes, mixed alike, are the least.
    """
    means: deque[Any] = deque(maxlen=MEMORY)
    changes: deque[Any] = deque(maxlen=MEMORY)
    size = np.maximum(np.bincount(event), 1)
    for sweep in range(1, MOST_SWEEPS + 1):
        change = -visits.mean
        _sweep(heats, visits, order, start)
        change += visits.mean
        level = np.bincount(event, change) / size
        if np.abs(change - level[event]).mean() < CLOSE:
            return sweep
        means.append(visits.mean.copy())
        changes.append(change)
        if sweep > 1:
            ahead = np.zeros(change.size)
            for share, mean in zip(least_mix(changes), means, strict=True):
                ahead += share * (mean - visits.mean)
            visits.mean[:] += ahead
            visits.cavity_mean[:] += ahead
    return MOST_SWEEPS


def least_mix(changes: deque[Any]) -> Any:
    """The shares, together 1, of changes whose mix is the least by the sum of squares."""
    products = np.array([[np.einsum("i,i", one, other) for other in changes] for one in changes])
    steps = np.diff(np.eye(len(changes)), axis=0)
    back = np.linalg.lstsq(steps @ products @ steps.T, steps @ products[-1], rcond=1e-10)[0]
    return np.diff(np.concatenate([[0.0], back, [1.0]]))


@compile_kernel
def _sweep(heats: Any, visits: Any, order: Any, start: Any) -> None:
    for heat in range(heats.start.size - 1):
        judge_heat(heats, visits, heat)
    for player in range(start.size - 1):
        walk(visits, order, start[player], start[player + 1])


@kernel
def unit_mean(heats: Any, visits: Any, unit: int) -> tuple[float, float]:
    """A unit's mean and variance by all other events."""
    mean, variance = heats.ahead[unit], 0.0
    for part in range(heats.parts[unit], heats.parts[unit + 1]):
        share, visit = heats.share[part], heats.part[part]
        mean += share * visits.cavity_mean[visit]
        variance += share * share * visits.cavity_variance[visit]
    return mean, variance


@kernel
def judge_heat(heats: Any, visits: Any, heat: int) -> None:
    """Add what every pair of a heat says of all who are in one of both units."""
    begin, end = heats.start[heat], heats.start[heat + 1]
    noise, unfinished, reach = heats.numbers[heat, 0], heats.numbers[heat, 1], heats.numbers[heat, 2]
    for i in range(begin, end):
        mean, variance = unit_mean(heats, visits, heats.unit[i])
        for j in range(i + 1, end):
            finished = heats.result[i, FINISHED - PLACE], heats.result[j, FINISHED - PLACE]
            if heats.result[i, SIDE - PLACE] == heats.result[j, SIDE - PLACE] or finished == (0.0, 0.0):
                continue
            places = heats.result[i, 0], heats.result[j, 0]
            apart = max(abs(places[0] - places[1]) - 1.0, 0.0) / (reach * (end - begin))
            worth = heats.weight[heat] / (1.0 + math.pi * math.pi * apart * apart)
            if finished[0] == 0.0 or finished[1] == 0.0:
                worth *= unfinished
            other_mean, other_variance = unit_mean(heats, visits, heats.unit[j])
            spread, result = variance + other_variance + 2.0 * noise, score(places[0], places[1])
            say(heats, visits, heats.unit[i], heats.unit[j], mean - other_mean, spread, result, worth)
            say(heats, visits, heats.unit[j], heats.unit[i], other_mean - mean, spread, 1.0 - result, worth)


@kernel
def say(heats: Any, visits: Any, unit: int, other: int, gap: float, spread: float, result: float, worth: float) -> None:
    """Add what a duel says of each of a unit's parts, which are uncertain all but the one it is about."""
    for part in range(heats.parts[unit], heats.parts[unit + 1]):
        share, visit = heats.share[part], heats.part[part]
        is_common = False
        for theirs in range(heats.parts[other], heats.parts[other + 1]):
            is_common = is_common or heats.part[theirs] == visit
        if is_common:
            continue
        own = share * share * visits.cavity_variance[visit]
        g = 1.0 / math.sqrt(1.0 + _podium_state.C * (spread - own))
        expected = logistic(g * (gap + share * (visits.mean[visit] - visits.cavity_mean[visit])))
        visits.surprise[visit] += worth * share * g * (result - expected)
        visits.information[visit] += worth * share * share * g * g * expected * (1.0 - expected)


@kernel
def walk(visits: Any, order: Any, start: int, stop: int) -> None:
    """Go along a player's visits, forth and back."""
    mean, variance = 0.0, 0.0
    for k in range(start, stop):
        v = order[k]
        visits.precision[v] = visits.information[v]
        visits.shift[v] = visits.information[v] * visits.mean[v] + visits.surprise[v]
        visits.surprise[v], visits.information[v] = 0.0, 0.0
        mean, variance = mean + visits.drift[v], variance + visits.growth[v]
        if visits.days[v] > 0.0 and variance < visits.ceiling[v]:
            variance = visits.ceiling[v] - (visits.ceiling[v] - variance) * math.exp(-visits.days[v])
        visits.expected_mean[v], visits.expected_variance[v] = mean, variance
        precision = 1.0 / variance + visits.precision[v]
        mean = (mean / variance + visits.shift[v]) / precision
        variance = 1.0 / precision
        visits.cavity_mean[v], visits.cavity_variance[v] = mean, variance  # of the past and the event, for now
    for k in range(stop - 1, start - 1, -1):
        v = order[k]
        if k < stop - 1:
            after = order[k + 1]
            pull = visits.cavity_variance[v] / visits.expected_variance[after]
            mean = visits.cavity_mean[v] + pull * (mean - visits.expected_mean[after])
            left = variance - visits.expected_variance[after]
            variance = visits.cavity_variance[v] + pull * pull * left
        visits.mean[v], visits.variance[v] = mean, variance
        rest = max(1.0 / variance - visits.precision[v], LEAST_PRECISION)
        visits.cavity_mean[v] = (mean / variance - visits.shift[v]) / rest
        visits.cavity_variance[v] = 1.0 / rest
