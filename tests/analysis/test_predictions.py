"""Compiled judging of predictions gives exactly the results of a definition in plain Python."""

import functools
import math
import operator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import histories

from podium.analysis.predictions import MIN_PROBABILITY, HeatSelection, PairScores, WinnerScores, predict
from podium.engine import inputs, rules
from podium.engine.replay import replay
from podium.engine.tables.encoding import encode
from podium.ledger.history import states_brought
from podium.results.reading import read_results
from podium.systems import find

MIN_EVENTS, ESTABLISHED_EVENTS = 1, 3


def add(numbers):
    """Add numbers in order and round each sum. From Python 3.12 on, `sum` is more precise."""
    return functools.reduce(operator.add, numbers, 0.0)


def judge(system, events):
    """Yield each heat's pairs as (chance, result, least record), the winners' chance, and their share of the
    favourites.
    """
    columns, params, newcomer = events.columns, system.params(), system.newcomer()
    known = [type(newcomer)(*state) for state in states_brought(system, events, replay(system, events)).tolist()]
    entries = columns.entries if columns.entries.size else columns.entrants
    heats = columns.heats if columns.heats.size else range(columns.entrants.size)
    for update, first in enumerate(columns.entrants[:-1].tolist()):
        for heat in range(heats[update], heats[update + 1]):
            field = range(int(entries[heat]), int(entries[heat + 1]))
            who = {i: first + int(inputs.slot_at(columns, i, first)) for i in field}
            entering = {i: rules.entering_state(params, columns, who[i], known[who[i]]) for i in field}
            pairs, lean = [], dict.fromkeys(field, 0.0)
            for i, j in combinations(field, 2):
                if inputs.comparable(columns, i, j):
                    chance = float(rules.expect(params, entering[i], entering[j]))
                    p = min(max(chance, MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)
                    odds = math.log(p) - math.log(1.0 - p)
                    lean[i], lean[j] = lean[i] + odds, lean[j] - odds
                    mine, theirs = columns.place[i], columns.place[j]
                    s = 0.5 * (1 + int(mine < theirs) - int(mine > theirs))
                    pairs.append((p, s, min(known[who[i]].events, known[who[j]].events)))
            lean = {i: lean[i] / len(field) for i in field}
            best = max(lean.values())
            total = add(math.exp(each - best) for each in lean.values())
            firsts = [i for i in field if (e := inputs.entry_at(columns, i, len(field))).rank == 1.0 and e.finished]
            won = add(math.exp(lean[i] - best) / total for i in firsts)
            favourites = [i for i in field if lean[i] == best]
            yield (
                [pair for pair in pairs if pair[2] >= MIN_EVENTS],
                won,
                len({*firsts} & {*favourites}) / len(favourites),
            )


def pair_scores(pairs):
    """Return the sums of a heat as PairScores."""
    losses = [-(s * math.log(p) + (1.0 - s) * math.log(1.0 - p)) for p, s, _ in pairs]
    misses = [(s - p) * (s - p) for p, s, _ in pairs]
    right = [0.5 if 0.5 in (p, s) else float((p > 0.5) == (s > 0.5)) for p, s, _ in pairs]
    established = [record >= ESTABLISHED_EVENTS for *_, record in pairs]
    strict = [0.5 not in (p, s) for p, s, _ in pairs]
    clipped = [not MIN_PROBABILITY < p < 1.0 - MIN_PROBABILITY for p, *_ in pairs]

    def only(values, chosen):
        return add(value for value, counts in zip(values, chosen, strict=True) if counts)

    return PairScores(
        pairs=len(pairs),
        log_loss=only(losses, [True] * len(pairs)),
        brier=only(misses, [True] * len(pairs)),
        correct=only(right, [True] * len(pairs)),
        established_pairs=sum(established),
        established_log_loss=only(losses, established),
        established_correct=only(right, established),
        concordant=only(right, strict),
        discordant=only([1.0 - each for each in right], strict),
        tied_predicted=sum(p == 0.5 for p, *_ in pairs),
        tied_actual=sum(s == 0.5 for _, s, _ in pairs),
        clipped=sum(clipped),
        clipped_log_loss=only(losses, clipped),
    )


@pytest.mark.parametrize("name", ["elo", "glicko", "folyami"])
@given(rows=histories(heats=2))
@settings(max_examples=30, deadline=None)
def test_predictions_are_judged_as_defined(name, rows):
    system = find(name)()
    events = encode(read_results(rows), system)
    heats = list(judge(system, events))
    predictions = predict(system, events, HeatSelection(np.ones(len(heats), np.bool_), MIN_EVENTS, ESTABLISHED_EVENTS))
    for (pairs, won, correct), scores, winner in zip(heats, predictions.pairs, predictions.winners, strict=True):
        assert PairScores(*scores.tolist()) == pair_scores(pairs)
        named = bool(pairs) and won > 0.0
        loss = -math.log(max(min(won, 1.0), MIN_PROBABILITY)) if named else 0.0
        assert WinnerScores(*winner.tolist()) == (float(named), loss, correct if named else 0.0)
    assert predictions.bins[:, 0].sum() == 2.0 * predictions.pairs[:, 0].sum()
