"""Davidson's chance of a draw for an expected score, and how it is learnt from a pool's duels."""

import math

import numpy as np
import pytest

from podium.probability.draws import DRAW, draw_chance, learn_draws


@pytest.mark.parametrize("nu", [0.001, 0.7, 2.0, 40.0])
@pytest.mark.parametrize("expected", [1e-6, 0.2, 0.5, 0.93])
def test_a_draw_keeps_the_expected_score_and_follows_davidson(expected, nu):
    """With strengths x and 1 / x, win, draw and loss have the shares x, nu and 1 / x."""
    root = math.sqrt((nu * (0.5 - expected)) ** 2 + 4.0 * expected * (1.0 - expected))
    x = (root - nu * (0.5 - expected)) / (2.0 * (1.0 - expected))
    draw = draw_chance(expected, nu)
    assert draw == pytest.approx(nu / (x + 1.0 / x + nu), rel=1e-5)
    win, loss = expected - draw / 2.0, 1.0 - expected - draw / 2.0
    assert (win, loss) >= (0.0, 0.0)
    assert draw == pytest.approx(nu * math.sqrt(win * loss), rel=0.05)


def test_certain_results_are_never_draws():
    assert draw_chance(0.0, 1.0) == draw_chance(1.0, 1.0) == draw_chance(0.0, 0.0) == 0.0
    assert draw_chance(0.5, 2.0) == 0.5


def test_the_frequency_of_draws_is_learnt_and_older_duels_count_less():
    rng = np.random.default_rng(4)
    expected = rng.uniform(0.1, 0.9, 12_000)
    nu = np.where(np.arange(expected.size) < 6_000, 0.3, 1.5)
    draw = np.array([draw_chance(*pair) for pair in zip(expected, nu, strict=True)])
    chance = rng.uniform(size=expected.size)
    results = np.where(chance < draw, DRAW, np.where(chance < expected + draw / 2.0, 1.0, 0.0))
    assert learn_draws(expected[:6_000], results[:6_000])[1] == pytest.approx(0.3, rel=0.15)
    chances, learnt = learn_draws(expected, results)
    assert learnt == pytest.approx(1.5, rel=0.15)
    truth = np.where(results == DRAW, draw, np.where(results == 1.0, expected, 1.0 - expected) - draw / 2.0)
    assert -np.log(chances).mean() == pytest.approx(-np.log(truth).mean(), abs=0.01)


def test_extreme_expectations_and_pools_without_draws_stay_finite():
    expected = np.tile([0.0, 1.0, 1e-12, 0.5], 5_000)
    for result in (0.0, DRAW, 1.0):
        chances, nu = learn_draws(expected, np.full(expected.size, result))
        assert np.isfinite(chances).all()
        assert (chances > 0.0).all()
        assert 1e-4 < nu < 2_000.0
