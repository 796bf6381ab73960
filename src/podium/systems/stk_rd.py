"""SuperTuxKart's ranking as its servers run it: finish times, a rating deviation, and a memory of disconnects.

Source: the servers' public source code, restated in our own words.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import TIME_TRIAL, Entrant, Entry, Heat
from podium.engine.rules import causes, compare, enter, evidence, kernel, update_state
from podium.engine.system import System, parameter
from podium.kernels.exponential import exp
from podium.kernels.logarithm import LN_10
from podium.probability.logistic import logistic
from podium.support.arrays import Array, Floats
from podium.systems.stk import Stk, lead

HALF = 0xFFFFFFFF  # 32 bits: a double holds 53 bits, so the bits of 64 events need two doubles
RATING_SHIFT = 300.0
DEVIATIONS_OFF = 3.0
SURE_GAP = 350.0
HANDICAP = 2000.0
MAX_EXPONENT = 300.0  # limit of the exponent of ten


class Params(NamedTuple):
    slope: float  # log-odds per raw point
    item_mode: float
    item_spread: float
    max_time_s: float
    points_per_second: float
    least_deviation: float
    most_deviation: float
    idle_growth: float


class State(NamedTuple):
    raw_rating: float
    deviation: float
    rating: float
    peak: float
    disconnects_old: float  # one bit for each of the events 33 to 64 ago, the newest in the lowest bit
    disconnects_new: float  # the last 32 events
    events: float


class Entering(NamedTuple):
    """A player at the start of an event. `deviation` is the value before the event; the other fields apply after it."""

    raw_rating: float
    deviation: float
    root: float  # square root of the deviation
    rating: float
    peak: float
    disconnects_old: float
    disconnects_new: float
    disconnects: float  # disconnects in the last 64 events, including this one
    penalty: float  # deviation added for quitting again
    inflated: float  # deviation added while idle
    events: float


class Duel(NamedTuple):
    """A comparison, with the change it makes to the deviation."""

    result: float
    expected: float
    weight: float
    deviation: float


class Evidence(NamedTuple):
    points: float
    deviation: float


class Causes(NamedTuple):
    """Other causes of a rating change: the rating is raw - 3 deviations + 300."""

    deviation: float
    quits: float
    idle: float
    floor: float


@dataclass(frozen=True, slots=True)
class StkRd(System):
    """Points for finish times, weighted by the certainty of both ratings."""

    name = "stk-rd"
    title = "SuperTuxKart, as its servers run it"
    for_players = "Finish well ahead of players rated above you, and you gain more."
    source = "SuperTuxKart's public server source, in our own words"
    formulas = (
        "rating = raw - 3 deviation + 300",
        "accuracy = my deviation / (sqrt(theirs) sqrt(100)) * 2 / sqrt(entries), less where the gap is sure",
        "importance = accuracy * mode * 0.25 * min(360, slower time)",
        "expected = 1 / (1 + 10^((opponent - me) / (2000 spread sqrt(120 / faster time))))",
        "raw change = sum of importance * (result - expected)",
        "deviation falls by 0.0016 accuracy of itself, and rises with surprise; three quits in 64 events raise it",
    )
    game = "SuperTuxKart"
    weight_repeats = False  # a later heat depends on who left the previous one
    equals_drift = True  # the deviation is subtracted from the rating, and falls
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    needs = ("time_s",)
    teams = False
    needs_finisher = True
    winning_margin = Stk.winning_margin
    stakes = (
        "The longer the race, the more it counts, up to a maximum time. Modes other than time-trial count less."
        " The more certain both ratings are, the less the race changes them."
    )
    unfinished = (
        "It scores 0 against everyone who finished, with a time of 1.2 times theirs at stake, and its deviation"
        " does not shrink. The quit is recorded in disconnects; with three or more in the last 64 events the deviation"
        " grows, which lowers the rating. Two players who did not finish are not compared."
    )
    takes_periods = False
    whole_numbers = ("events", "disconnects_old", "disconnects_new")
    level = "raw_rating"
    with_level = ("raw_rating", "rating")
    together = ("disconnects_old", "disconnects_new")
    most = MappingProxyType({"disconnects_old": HALF, "disconnects_new": HALF})

    initial: float = parameter(4000.0, "a newcomer's raw rating", unit="points")
    deviation: float = parameter(1000.0, "a newcomer's deviation", unit="points", low=1e-3, high=1e6)
    scale: float = parameter(
        2000.0, "rating gap at which the odds are 10 to 1 over 120 s", unit="points", low=1e-3, high=1e9
    )
    points_per_second: float = parameter(0.25, "importance of a second", unit="points/s", low=0.0, high=1e6)
    max_time_s: float = parameter(360.0, "longest time that counts", unit="s", low=1e-3, high=1e9)
    item_mode: float = parameter(0.75, "importance of any mode except time-trial", low=0.0, high=1e3)
    item_spread: float = parameter(1.25, "spread of results in any mode except time-trial", low=1e-3, high=1e3)
    least_deviation: float = parameter(100.0, "least deviation", unit="points", low=1e-3, high=1e6)
    idle_growth: bool = parameter(False, "the deviation grows with each whole day without an event")

    def params(self) -> Params:
        return Params(
            slope=LN_10 / self.scale,
            item_mode=self.item_mode,
            item_spread=self.item_spread,
            max_time_s=self.max_time_s,
            points_per_second=self.points_per_second,
            least_deviation=self.least_deviation,
            most_deviation=self.deviation,
            idle_growth=float(self.idle_growth),
        )

    def newcomer(self) -> State:
        rating = self.initial - DEVIATIONS_OFF * self.deviation + RATING_SHIFT
        return State(self.initial, self.deviation, rating, rating, 0.0, 0.0, 0.0)

    def widen(self, states: Floats, before: Floats, keep: float) -> None:
        """Raise the deviation, which lowers the rating."""
        System.widen(self, states, before, keep)
        raw, deviation = states[:, self.column("raw_rating")], states[:, self.column("deviation")]
        states[:, self.column("rating")] = raw - DEVIATIONS_OFF * deviation + RATING_SHIFT

    def shown(self, states: Floats) -> dict[str, Array]:
        """Return the columns to display, with the 64 bits of disconnects as one integer."""
        columns = System.shown(self, states)
        old, new = columns.pop("disconnects_old"), columns.pop("disconnects_new")
        bits = (old.astype(np.uint64) << np.uint64(32)) | new.astype(np.uint64)
        order = ("rating", "raw_rating", "deviation", "peak")
        return {name: columns[name] for name in order} | {"disconnects": bits, "events": columns["events"]}

    def unpacked(self, columns: dict[str, npt.NDArray[np.uint64]]) -> dict[str, Floats]:
        """Split the 64 bits of disconnects into two halves."""
        bits = columns["disconnects"]
        halves = {"disconnects_old": bits >> np.uint64(32), "disconnects_new": bits & np.uint64(HALF)}
        return {name: half.astype(np.float64) for name, half in halves.items()}

    def filled_states(self, known: Mapping[str, Floats]) -> Floats:
        """Complete states of which only some columns are known.

        An unknown raw rating follows from the rating and the deviation.
        """
        states = System.filled_states(self, known)
        raw, deviation, rating = (self.column(name) for name in ("raw_rating", "deviation", "rating"))
        unknown = np.isnan(known["raw_rating"]) if "raw_rating" in known else np.ones(len(states), np.bool_)
        states[unknown, raw] = states[unknown, rating] + DEVIATIONS_OFF * states[unknown, deviation] - RATING_SHIFT
        return states


@kernel
def bit_count(bits: int) -> int:
    """Return the number of set bits in a 32-bit number."""
    bits = bits - ((bits >> 1) & 0x55555555)
    bits = (bits & 0x33333333) + ((bits >> 2) & 0x33333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F
    return ((bits * 0x01010101) & 0xFFFFFFFF) >> 24


@enter.register
def remember_quit(params: Params, me: State, entrant: Entrant) -> Entering:
    """Record whether the player quit this event. A third quit within 64 events increases the deviation immediately."""
    deviation, day = me.deviation, 0.0
    if params.idle_growth:
        while day < entrant.idle and deviation != params.most_deviation:
            deviation = min(params.most_deviation, (deviation + 0.277) * 1.001388)
            day += 1.0
    old, new = int(me.disconnects_old), int(me.disconnects_new)
    old = ((old << 1) | (new >> 31)) & HALF
    new = ((new << 1) | int(entrant.quit)) & HALF
    quits = float(bit_count(old) + bit_count(new))
    penalty = 15.0 + 3.0 * (quits - 3.0) if entrant.quit and quits >= 3.0 else 0.0
    return Entering(
        raw_rating=me.raw_rating,
        deviation=deviation,
        root=math.sqrt(deviation),
        rating=me.rating,
        peak=me.peak,
        disconnects_old=float(old),
        disconnects_new=float(new),
        disconnects=quits,
        penalty=penalty,
        inflated=deviation - me.deviation,
        events=me.events,
    )


@compare.register
def duel(params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat) -> tuple[Duel, Duel]:
    """Compare a pair: both sides share the result and the expected score, weighted by each side's own accuracy."""
    raw_a = a.raw_rating - (HANDICAP if mine.handicap > 0.0 else 0.0)
    raw_b = b.raw_rating - (HANDICAP if theirs.handicap > 0.0 else 0.0)
    finishes_a, finishes_b = mine.finished > 0.0, theirs.finished > 0.0
    time_a = mine.time_s if finishes_a else 1.2 * theirs.time_s
    time_b = theirs.time_s if finishes_b else 1.2 * mine.time_s
    result = lead(time_a, time_b) if finishes_a and finishes_b else 1.0 if finishes_a else 0.0
    trial = heat.mode == TIME_TRIAL
    shorter, longer = min(time_a, time_b), max(time_a, time_b)
    spread = (1.0 if trial else params.item_spread) * math.sqrt(120.0 / shorter)
    expected = logistic(params.slope * (raw_a - raw_b) / spread)
    stake = (1.0 if trial else params.item_mode) * params.points_per_second * min(params.max_time_s, longer)
    shared = sureness(raw_a, raw_b, a.deviation, b.deviation) * 2.0 / math.sqrt(heat.entries)
    if mine.handicap or theirs.handicap:
        shared *= 0.25
    accuracy_a, accuracy_b = shared * a.deviation / (b.root * 10.0), shared * b.deviation / (a.root * 10.0)
    surprise = abs(result - expected)
    widen_a = deviation_change(a.deviation, accuracy_a, surprise) if finishes_a else 0.0
    widen_b = deviation_change(b.deviation, accuracy_b, surprise) if finishes_b else 0.0
    return (
        Duel(result, expected, accuracy_a * stake, widen_a),
        Duel(1.0 - result, 1.0 - expected, accuracy_b * stake, widen_b),
    )


@kernel
def sureness(raw_a: float, raw_b: float, deviation_a: float, deviation_b: float) -> float:
    """Return a pair's weight: 1, or as little as 0.05 if one player is so much stronger that results reveal little."""
    if raw_a < raw_b:
        raw_a, raw_b = raw_b, raw_a
        deviation_a, deviation_b = deviation_b, deviation_a
    least = raw_a - SURE_GAP - deviation_a / 2.0
    most = raw_b + SURE_GAP + deviation_b / 2.0
    if most >= least:
        return 1.0
    odds = exp(LN_10 * min((least - most) / 2000.0, MAX_EXPONENT))
    return max(0.05, 2.0 / (1.0 + odds))


@kernel
def deviation_change(deviation: float, accuracy: float, surprise: float) -> float:
    """Return the change in the deviation. Information decreases it, and a surprise above one half increases it."""
    factor = 0.0016 * accuracy
    change = -deviation * factor
    if surprise > 0.5:
        change += 100.0 * factor / max(0.02, 2.0 - 2.0 * surprise)
    return change


@evidence.register
def points_and_deviation(params: Params, comparison: Duel) -> Evidence:
    """Return the terms that a comparison adds to the sums."""
    return Evidence(comparison.weight * (comparison.result - comparison.expected), comparison.deviation)


@update_state.register
def apply(params: Params, me: Entering, totals: Evidence, entrant: Entrant) -> State:
    """Apply both changes. Quits raise the minimum deviation."""
    raw = me.raw_rating + totals.points
    floor = params.least_deviation
    if me.disconnects >= 3.0:
        n = me.disconnects - 3.0
        floor += (me.disconnects - 2.0) * 15.0 + 3.0 * (n * (n + 1.0)) / 2.0
    deviation = max(me.deviation + me.penalty + totals.deviation, floor)
    rating = raw - DEVIATIONS_OFF * deviation + RATING_SHIFT
    return State(
        raw_rating=raw,
        deviation=deviation,
        rating=rating,
        peak=max(me.peak, rating),
        disconnects_old=me.disconnects_old,
        disconnects_new=me.disconnects_new,
        events=me.events + entrant.events,
    )


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Evidence, after: State) -> Causes:
    """Return the effects of the deviation on the rating. A larger deviation lowers the rating."""
    unfloored = me.deviation + me.penalty + totals.deviation
    return Causes(
        deviation=-DEVIATIONS_OFF * totals.deviation,
        quits=-DEVIATIONS_OFF * me.penalty,
        idle=-DEVIATIONS_OFF * me.inflated,
        floor=-DEVIATIONS_OFF * (after.deviation - unfloored),
    )


SYSTEM = StkRd
