"""What a system expected before it knew: every event predicted from the ratings before it, then learnt."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.engine.encoding import Events
from podium.engine.inputs import comparable, entrant_at, entry_at, slot_at
from podium.engine.replay import newcomers, scratch_for, with_names
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import enter, expect, rate_event
from podium.engine.system import System
from podium.errors import NotFiniteError
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.records import finite, plus, read, write

BINS = 10  # of the reliability table
MIN_PROBABILITY = 1e-15  # no prediction counts as surer, so that one upset costs a finite loss


class Judged(NamedTuple):
    """Sums over the pairs of a heat; `settled_` over those of two players with a record."""

    pairs: float
    log_loss: float
    brier: float
    correct: float  # a tie in prediction, and a drawn pair, is half right
    settled_pairs: float
    settled_log_loss: float
    settled_brier: float
    settled_correct: float
    concordant: float
    discordant: float
    tied_predicted: float
    tied_actual: float
    fields: float  # 1 where there is a winner to name
    winner_log_loss: float
    winner_correct: float
    clipped: float  # predictions as sure as may count
    clipped_log_loss: float


NOTHING = Judged(*(0.0,) * len(Judged._fields))


@dataclass(frozen=True, slots=True)
class Predictions:
    """What became of a system's predictions."""

    heats: npt.NDArray[np.float64]  # (heats, fields of Judged)
    event_row: npt.NDArray[np.int64]  # (heats): a row of the results table that belongs to the heat's event
    states: npt.NDArray[np.float64]  # (players, fields): after the last event
    bins: npt.NDArray[np.float64]  # (BINS, 3): pairs seen from both sides, sum of expected, sum of results


@dataclass(frozen=True, slots=True)
class HeatSelection:
    """Which predictions to judge."""

    heats: npt.NDArray[np.bool_]  # (heats)
    min_events: int = 0  # both players' rated events before, for a pair to be judged
    settled_events: int = 10  # both players' rated events before, for a pair to be one of settled players


@kernel
def tenth(chance: float) -> int:
    """The row of the reliability table for a chance; the first for what is no chance at all."""
    return min(int(chance * BINS), BINS - 1) if 0.0 < chance <= 1.0 else 0


def _judge(
    params: Any,
    prototypes: Any,
    events: Any,
    first: int,
    last: int,
    played: int,
    selection: Any,
    least: tuple[float, float],
    scratch: Any,
    lean: Any,
    states: Any,
    after: Any,
    judged: Any,
    bins: Any,
) -> tuple[int, int]:
    """Judge and rate groups; the group and entrant with a chance or state that is not finite, or `last` and -1."""
    newcomer, entering, _ = prototypes
    for settlement in range(first, last):
        start, stop = events.entrants[settlement], events.entrants[settlement + 1]
        entering_states = scratch.entering_states
        for i in range(start, stop):
            me = read(states, events.player[i], newcomer)
            write(entering_states, i - start, enter(params, me, entrant_at(events, i)))
        first_heat = events.heats[settlement] if events.heats.size else settlement
        last_heat = events.heats[settlement + 1] if events.heats.size else settlement + 1
        for heat in range(first_heat, last_heat):
            if not selection[heat]:
                continue
            begin = events.entries[heat] if events.entries.size else start
            end = events.entries[heat + 1] if events.entries.size else stop
            size = float(end - begin)
            sums = NOTHING
            for i in range(begin, end):
                lean[i - begin] = 0.0
            for i in range(begin, end):
                slot = slot_at(events, i, start)
                a = read(entering_states, slot, entering)
                place = entry_at(events, i, size).place
                known = states[events.player[start + slot], played]
                for j in range(i + 1, end):
                    if not comparable(events, i, j):
                        continue
                    slot = slot_at(events, j, start)
                    chance = expect(params, a, read(entering_states, slot, entering))
                    if not 0.0 <= chance <= 1.0:
                        return settlement, start + slot_at(events, i, start)
                    p = min(max(chance, MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)
                    odds = math.log(p) - math.log(1.0 - p)
                    lean[i - begin] += odds
                    lean[j - begin] -= odds
                    record = min(known, states[events.player[start + slot], played])
                    if record < least[0]:
                        continue
                    theirs = entry_at(events, j, size).place
                    s = 1.0 if place < theirs else 0.0 if place > theirs else 0.5
                    loss = -(s * math.log(p) + (1.0 - s) * math.log(1.0 - p))
                    miss = (s - p) * (s - p)
                    right = 0.5 if p == 0.5 or s == 0.5 else 1.0 if (p > 0.5) == (s > 0.5) else 0.0
                    settled = 1.0 if record >= least[1] else 0.0
                    tied_p, tied_s = 1.0 if p == 0.5 else 0.0, 1.0 if s == 0.5 else 0.0
                    both = 1.0 if tied_p + tied_s == 0.0 else 0.0
                    clipped = 1.0 if p <= MIN_PROBABILITY or p >= 1.0 - MIN_PROBABILITY else 0.0
                    comparison = Judged(
                        1.0,
                        loss,
                        miss,
                        right,
                        settled,
                        settled * loss,
                        settled * miss,
                        settled * right,
                        both * right,
                        both * (1.0 - right),
                        tied_p,
                        tied_s,
                        0.0,
                        0.0,
                        0.0,
                        clipped,
                        clipped * loss,
                    )
                    sums = plus(sums, comparison)
                    near, far = tenth(p), tenth(1.0 - p)
                    bins[near, 0] += 1.0
                    bins[near, 1] += p
                    bins[near, 2] += s
                    bins[far, 0] += 1.0
                    bins[far, 1] += 1.0 - p
                    bins[far, 2] += 1.0 - s
            if sums.pairs > 0.0:
                # The mean log-odds over the field is each one's strength where strengths explain all pairs
                # (Bradley-Terry), and the chance to win is then Luce's: its share of the strengths.
                best, total = -math.inf, 0.0
                for i in range(begin, end):
                    lean[i - begin] /= size
                    best = max(best, lean[i - begin])
                for i in range(begin, end):
                    total += math.exp(lean[i - begin] - best)
                won, favourites, hits = 0.0, 0.0, 0.0
                for i in range(begin, end):
                    entry = entry_at(events, i, size)
                    winner = 1.0 if entry.rank == 1.0 and entry.finished else 0.0
                    favourite = 1.0 if lean[i - begin] == best else 0.0
                    won += winner * math.exp(lean[i - begin] - best) / total
                    favourites += favourite
                    hits += favourite * winner
                if won > 0.0:
                    loss = -math.log(max(min(won, 1.0), MIN_PROBABILITY))
                    right = hits / favourites
                    sums = plus(
                        sums,
                        Judged(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, loss, right, 0.0, 0.0),
                    )
            write(judged, heat, sums)
        rate_event(params, prototypes, events, settlement, states, scratch, after, 0)
        for i in range(stop - start):
            state = read(after, i, newcomer)
            if not finite(state):
                return settlement, start + i
            write(states, events.player[start + i], state)
    return last, -1


_judge_cached = compile_kernel(_judge)
_judge_uncached = compile_kernel(_judge, cached=False)


def predict(system: System, events: Events, selection: HeatSelection) -> Predictions:
    """Predict every selected event from the ratings before it, and learn every event.

    Raises:
        NotFiniteError: a chance, or a player's new state, is not a finite number.
    """
    columns = events.columns
    entries = columns.entries if columns.entries.size else columns.entrants
    states = newcomers(system, events.player_names.len())
    settlements = columns.entrants.size - 1
    scratch = scratch_for(system, columns, 0, settlements)
    after = np.empty((scratch.entering_states.shape[0], states.shape[1]))
    judged = np.zeros((entries.size - 1, len(Judged._fields)))
    bins = np.zeros((BINS, 3))
    judge = _judge_cached if system.shipped else _judge_uncached
    stopped, entrant = run_kernel(
        system,
        judge,
        *system.arguments(),
        columns,
        0,
        settlements,
        system.state_type._fields.index("events"),
        selection.heats,
        (float(selection.min_events), float(selection.settled_events)),
        scratch,
        np.empty(scratch.lines.shape[0]),
        states,
        after,
        judged,
        bins,
    )
    if stopped < settlements:
        raise with_names(NotFiniteError(system.name, stopped, entrant), events)
    return Predictions(judged, events.entry_row[entries[:-1]], states, bins)
