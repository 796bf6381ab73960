"""The chance of a draw in a duel: Davidson's model, based on a system's expected score.

A draw has the probability nu * sqrt(win * loss), and win + draw / 2 is the expected score. Nu is learnt from a pool's
duels, of which the newest count most.

Source: R. R. Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
Journal of the American Statistical Association 65 (1970).
"""

import math
from typing import Any

import numpy as np

from podium.kernels.compiled import compile_kernel, kernel
from podium.support.arrays import Floats

DRAW = 0.5  # the score of a draw
START = math.log(0.5)  # initial ln nu: a fifth of even duels are drawn
BOUND = 7.0  # of ln nu, in both directions
MAX_STEP = 0.5  # of ln nu, for one duel
MEMORY = 1_000.0  # number of duels after which a duel has lost two thirds of its weight
MIN_EXPECTED = 1e-6  # lower limit of an expected score


@kernel
def draw_chance(expected: float, nu: float) -> float:
    """Return the probability of a draw, given the expected score of either side."""
    spread = expected * (1.0 - expected)
    if spread == 0.0:
        return 0.0
    return 4.0 * nu * spread / (nu + math.sqrt(nu * nu * (1.0 - 4.0 * spread) + 16.0 * spread))


def learn_draws(expected: Floats, results: Floats) -> tuple[Floats, float]:
    """Learn nu from duels, in the order in which they were played.

    Args:
        expected: the expected score of one side of each duel.
        results: that side's score: 1, 0 or 0.5.

    Returns:
        The probability of each result, based on the duels before it, and nu after the last duel.
    """
    chances = np.empty(expected.size)
    return chances, float(_learn(expected, results, chances))


def _learn_nu(expected: Any, results: Any, chances: Any) -> float:
    """Write the probability of each result. Return nu."""
    log_nu, information = START, 1.0
    for k in range(expected.size):
        score = min(max(expected[k], MIN_EXPECTED), 1.0 - MIN_EXPECTED)
        draw = draw_chance(score, math.exp(log_nu))
        win, loss = score - 0.5 * draw, 1.0 - score - 0.5 * draw
        slope = 1.0 / (1.0 / draw + 0.25 / win + 0.25 / loss)  # of the draw by ln nu: also the information in a duel
        if results[k] == DRAW:
            chances[k], surprise = draw, 1.0 / draw
        elif results[k] > DRAW:
            chances[k], surprise = win, -0.5 / win
        else:
            chances[k], surprise = loss, -0.5 / loss
        information = information * (1.0 - 1.0 / MEMORY) + slope
        step = surprise * slope / information
        log_nu = min(max(log_nu + min(max(step, -MAX_STEP), MAX_STEP), -BOUND), BOUND)
    return math.exp(log_nu)


_learn = compile_kernel(_learn_nu)
