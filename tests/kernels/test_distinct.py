"""Numbers that are all different are recognised the same in Python and in kernels."""

from itertools import combinations

import numpy as np
import pytest

from podium.kernels.compiled import compile_kernel
from podium.kernels.memory import AT_ONCE, PAIR, are_disjoint

NUMBERS = PAIR * AT_ONCE


def _are_disjoint(pairs, start):
    return are_disjoint(pairs, start)


compiled = compile_kernel(_are_disjoint, cached=False)


@pytest.fixture
def pairs():
    """Different numbers, with others of them before and after."""
    numbers = np.random.default_rng(6).permutation(NUMBERS).astype(np.int32)
    return np.concatenate([numbers[:6], numbers, numbers[:8]]).reshape(-1, PAIR)


def test_numbers_beyond_are_not_looked_at(pairs):
    assert are_disjoint(pairs, 3)
    assert compiled(pairs, 3)


def test_any_two_equal_numbers_are_found(pairs):
    for one, other in combinations(range(NUMBERS), 2):
        with_equal = pairs.copy()
        flat = with_equal.ravel()
        flat[6 + one] = flat[6 + other]
        assert not compiled(with_equal, 3), (one, other)
        assert not are_disjoint(with_equal, 3), (one, other)
