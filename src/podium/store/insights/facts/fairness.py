"""What would have been fair to expect, had a pool's promises come true as often as they do."""

import numpy as np

from podium.ledger.reasons.explanation import Explanation
from podium.store.insights.fact_models import FairExpectation, PoolFacts

MIN_DUELS = 100  # of a bin that says something


def fair_expectation(facts: PoolFacts, explanation: Explanation) -> FairExpectation:
    """Correct each duel's promise by what comes of such promises in the pool.

    Between the means of two bins the correction goes in a straight line; beyond all of them it stays as it is. Nothing
    is fair to say without a duel, or where a bin on either side of one has fewer than 100.
    """
    promised = explanation.rows["expected"].drop_nulls().to_numpy()
    count, total = promised.size, float(promised.sum())
    if not count or not facts.reliability:
        return FairExpectation(count, total, None, None)
    means = np.array([each.expected for each in facts.reliability])
    surplus = np.array([each.observed - each.expected for each in facts.reliability])
    enough = np.array([each.duels >= MIN_DUELS for each in facts.reliability])
    above = np.minimum(np.searchsorted(means, promised), means.size - 1)
    below = np.maximum(np.searchsorted(means, promised, side="right") - 1, 0)
    if not (enough[above].all() and enough[below].all()):
        return FairExpectation(count, total, None, None)
    fair = np.clip(promised + np.interp(promised, means, surplus), 0.0, 1.0)
    nearest = np.abs(promised[:, None] - means).argmin(axis=1)
    example = facts.reliability[int(np.bincount(nearest).argmax())]
    return FairExpectation(count, total, float(fair.sum()), example)
