"""Predict every event from the ratings before it, and score the predictions."""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import comparable, entrant_at, entries_of, entry_at, heats_of, slot_at
from podium.engine.kernel_calls import run_kernel
from podium.engine.pool_state import sharpness
from podium.engine.replay import Replayed, newcomers, pairs_compared, replay, with_names
from podium.engine.rules import enter, expect_side, params_in_pool
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.sides import Sides, empty_sides, gather_sides
from podium.errors import NotFiniteError
from podium.kernels.compiled import compile_twice, kernel
from podium.kernels.records import plus, read, times, write
from podium.ledger.history import pools_brought
from podium.support.arrays import Floats, Integers, Mask
from podium.support.immutable import immutable

BINS = 10  # rows of the reliability table
MIN_PROBABILITY = 1e-15  # lower limit of a probability, so that an upset causes a finite loss


class PairScores(NamedTuple):
    """The scores of a pair of sides, or their sums over a heat.

    Fields that begin with `established_` count only pairs in which both sides have played enough events.
    """

    pairs: float
    log_loss: float
    brier: float
    correct: float  # a tied prediction or a draw counts as half right
    established_pairs: float
    established_log_loss: float
    established_correct: float
    concordant: float
    discordant: float
    tied_predicted: float
    tied_actual: float
    clipped: float  # predictions at the limit of certainty
    clipped_log_loss: float


class WinnerScores(NamedTuple):
    """Scores of the prediction of a heat's winner."""

    fields: float  # 1 if there is a winner to predict
    winner_log_loss: float
    winner_correct: float


NO_PAIRS = PairScores(*(0.0,) * len(PairScores._fields))
NO_WINNER = WinnerScores(*(0.0,) * len(WinnerScores._fields))


@immutable
class Predictions:
    """The scores of a system's predictions."""

    pairs: Floats  # (heats, fields of PairScores)
    winners: Floats  # (heats, fields of WinnerScores)
    event_row: Integers  # (heats): a row of the results table from the heat's event
    replayed: Replayed
    bins: Floats  # (BINS, 3): pairs seen from both sides, sum of expected, sum of results


class HeatSelection(NamedTuple):
    """The predictions to judge."""

    heats: Mask  # (heats)
    min_events: float = 0.0  # number of previous rated events that each player needs for a pair to be judged
    established_events: float = 10.0  # the same, for a pair to count as established
    by_player: float = 0.0  # 1 if a pair of sides counts once per pair of players, 0 if it counts only once


class Tables(NamedTuple):
    """The arrays that the kernel reads and writes."""

    states: Any  # float64 (players, fields of the state): before each update
    entering_states: Any  # float64 (entrants of the widest update, fields of the entering state)
    lean: Any  # float64 (entries of the widest heat): sum of each side's log-odds against all other sides
    record: Any  # float64 (entries of the widest heat): rated events of the least experienced member of each side
    sides: Sides
    pairs: Any  # float64 (heats, fields of PairScores)
    winners: Any  # float64 (heats, fields of WinnerScores)
    bins: Any  # float64 (BINS, 3)


def _judge(
    params: Any, prototypes: Any, events: Any, pools: Any, after: Any, selection: Any, events_field: int, tables: Any
) -> tuple[int, int]:
    """Judge every update. Return the update and entrant that have a non-finite probability, or -1 for both."""
    newcomer, entering, _ = prototypes
    for update in range(events.entrants.size - 1):
        start, stop = events.entrants[update], events.entrants[update + 1]
        own = params_in_pool(params, events, update, pools[update])
        enter_all(own, newcomer, events, start, stop, tables.states, tables.entering_states)
        first_heat, last_heat = heats_of(events, update)
        for heat in range(first_heat, last_heat):
            if selection.heats[heat]:
                begin, end = entries_of(events, heat)
                scores, winner, fault = judge_heat(
                    own, entering, events, begin, end, start, selection, events_field, tables
                )
                if fault >= 0:
                    return update, fault
                write(tables.pairs, heat, scores)
                write(tables.winners, heat, winner)
        for i in range(start, stop):
            for k in range(len(newcomer)):
                tables.states[events.player[i], k] = after[i, k]
    return -1, -1


@kernel
def enter_all(
    params: Any, newcomer: Any, events: Any, start: int, stop: int, states: Any, entering_states: Any
) -> None:
    """Write the entering states of entrants `start` to `stop`."""
    for i in range(start, stop):
        me = read(states, events.player[i], newcomer)
        write(entering_states, i - start, enter(params, me, entrant_at(events, i)))


@kernel
def judge_heat(
    params: Any,
    entering: Any,
    events: Any,
    begin: int,
    end: int,
    start: int,
    selection: Any,
    events_field: int,
    tables: Any,
) -> tuple[PairScores, WinnerScores, int]:
    """Judge the pairs of sides among entries `begin` to `end`, and the winner. Return a non-finite entrant, or -1."""
    scores, size, sides = NO_PAIRS, float(end - begin), tables.sides
    count = gather_sides(events, begin, end, start, tables.entering_states, entering, sides)
    for a in range(count):
        tables.lean[a], tables.record[a] = 0.0, math.inf
        for member in range(sides.start[a], sides.start[a + 1]):
            player = events.player[start + slot_at(events, sides.entry[member], start)]
            tables.record[a] = min(tables.record[a], tables.states[player, events_field])
    for a in range(count):
        i = sides.entry[sides.start[a]]
        place = entry_at(events, i, size).place
        for b in range(a + 1, count):
            j = sides.entry[sides.start[b]]
            if not comparable(events, i, j):
                continue
            chance = expect_side(params, entering, sides, a, b)
            if not 0.0 <= chance <= 1.0:
                return scores, NO_WINNER, start + slot_at(events, i, start)
            p = min(max(chance, MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)
            log_odds = math.log(p) - math.log(1.0 - p)
            tables.lean[a] += log_odds
            tables.lean[b] -= log_odds
            record = min(tables.record[a], tables.record[b])
            if record >= selection.min_events:
                theirs = entry_at(events, j, size).place
                s = 1.0 if place < theirs else 0.0 if place > theirs else 0.5
                established = 1.0 if record >= selection.established_events else 0.0
                pairs = float(members_of(sides, a) * members_of(sides, b)) if selection.by_player else 1.0
                scores = plus(scores, times(judge_pair(p, s, established), pairs))
                count_in_bin(tables.bins, p, s)
                count_in_bin(tables.bins, 1.0 - p, 1.0 - s)
    sharp = sharpness(params) if count > 2 else 1.0  # a duel is the same as its pair
    return scores, judge_winner(tables.lean, events, sides, count, sharp) if scores.pairs > 0.0 else NO_WINNER, -1


@kernel
def members_of(sides: Sides, side: int) -> int:
    """Return the number of players on a side."""
    count = 0
    for k in range(sides.start[side], sides.start[side + 1]):
        count += 1 - sides.shared[k]
    return count


@kernel
def judge_pair(p: float, s: float, established: float) -> PairScores:
    """Score the prediction that a pair's first side wins with probability `p`, given the result `s` (1, 0 or 0.5)."""
    loss = -(s * math.log(p) + (1.0 - s) * math.log(1.0 - p))
    miss = (s - p) * (s - p)
    right = 0.5 if p == 0.5 or s == 0.5 else 1.0 if (p > 0.5) == (s > 0.5) else 0.0
    tied_p, tied_s = 1.0 if p == 0.5 else 0.0, 1.0 if s == 0.5 else 0.0
    both = 1.0 if tied_p + tied_s == 0.0 else 0.0
    clipped = 1.0 if p <= MIN_PROBABILITY or p >= 1.0 - MIN_PROBABILITY else 0.0
    return PairScores(
        1.0,
        loss,
        miss,
        right,
        established,
        established * loss,
        established * right,
        both * right,
        both * (1.0 - right),
        tied_p,
        tied_s,
        clipped,
        clipped * loss,
    )


@kernel
def count_in_bin(bins: Any, expected: float, result: float) -> None:
    """Count one side of a pair in the reliability table. NaN goes into the first row."""
    row = min(int(expected * BINS), BINS - 1) if 0.0 < expected <= 1.0 else 0
    bins[row, 0] += 1.0
    bins[row, 1] += expected
    bins[row, 2] += result


@kernel
def judge_winner(lean: Any, events: Any, sides: Any, count: int, sharp: float) -> WinnerScores:
    """Score the prediction of a heat's winner, using the sum of each side's log-odds.

    If strengths explain all pairs (Bradley-Terry), the logarithm of a side's strength is its mean log-odds over the
    field. By Luce's rule, the probability of winning is then the side's share of all strengths, each raised to the
    power of the pool's sharpness.
    """
    best, total = -math.inf, 0.0
    for a in range(count):
        lean[a] = sharp * (lean[a] / float(count))
        best = max(best, lean[a])
    for a in range(count):
        total += math.exp(lean[a] - best)
    won, favourites, hits = 0.0, 0.0, 0.0
    for a in range(count):
        entry = entry_at(events, sides.entry[sides.start[a]], 0.0)
        winner = 1.0 if entry.rank == 1.0 and entry.finished else 0.0
        favourite = 1.0 if lean[a] == best else 0.0
        won += winner * math.exp(lean[a] - best) / total
        favourites += favourite
        hits += favourite * winner
    return (
        WinnerScores(1.0, -math.log(max(min(won, 1.0), MIN_PROBABILITY)), hits / favourites) if won > 0.0 else NO_WINNER
    )


_judge_kernels = compile_twice(_judge)


def predict(system: System, events: Events, selection: HeatSelection, replayed: Replayed | None = None) -> Predictions:
    """Predict every selected event from the ratings before it.

    Args:
        replayed: The system's replay of the events, if you already have it.

    Raises:
        NotFiniteError: A probability or a new state is not finite.
    """
    if replayed is None:
        replayed = replay(system, events)
    columns, (params, prototypes) = events.columns, system.arguments()
    entries = columns.entries if columns.entries.size else columns.entrants
    heats, widest = entries.size - 1, int(np.diff(entries).max(initial=0))
    brings, start = len(prototypes[1]), replayed.start
    tables = Tables(
        states=newcomers(system, events.player_names.len()) if start is None else start.copy(),
        entering_states=np.empty((int(np.diff(columns.entrants).max(initial=0)), brings)),
        lean=np.empty(widest),
        record=np.empty(widest),
        sides=empty_sides(widest, brings, len(system.kinds)),
        pairs=np.zeros((heats, len(PairScores._fields))),
        winners=np.zeros((heats, len(WinnerScores._fields))),
        bins=np.zeros((BINS, 3)),
    )
    update, entrant = run_kernel(
        system,
        _judge_kernels,
        pairs_compared(columns, 0, columns.entrants.size - 1),
        params,
        prototypes,
        columns,
        pools_brought(system, events, replayed),
        np.asfortranarray(replayed.after),
        HeatSelection(selection.heats, *map(float, selection[1:])),
        system.column("events"),
        tables,
    )
    if entrant >= 0:
        raise with_names(NotFiniteError(system.name, update, entrant), events)
    return Predictions(tables.pairs, tables.winners, events.entry_row[entries[:-1]], replayed, tables.bins)
