"""Python and kernels agree if numbers are all different."""

from itertools import combinations

import numpy as np
import pytest

from podium.kernels.compiled import compile_kernel
from podium.kernels.memory import AT_ONCE, PAIR, are_apart, are_disjoint

NUMBERS = PAIR * AT_ONCE


def _are_disjoint(pairs, start):
    return are_disjoint(pairs, start)


def _are_apart(pairs, start, later):
    return are_apart(pairs, start, later)


compiled = compile_kernel(_are_disjoint, cached=False)
compiled_apart = compile_kernel(_are_apart, cached=False)


@pytest.fixture
def pairs():
    """Return different numbers, with copies of some of them before and after."""
    numbers = np.random.default_rng(6).permutation(NUMBERS).astype(np.int32)
    return np.concatenate([numbers[:6], numbers, numbers[:8]]).reshape(-1, PAIR)


def test_numbers_outside_the_batch_are_ignored(pairs):
    assert are_disjoint(pairs, 3)
    assert compiled(pairs, 3)


def test_any_two_equal_numbers_are_found(pairs):
    for one, other in combinations(range(NUMBERS), 2):
        with_equal = pairs.copy()
        flat = with_equal.ravel()
        flat[6 + one] = flat[6 + other]
        assert not compiled(with_equal, 3), (one, other)
        assert not are_disjoint(with_equal, 3), (one, other)


def test_a_common_number_of_two_batches_is_found():
    """Numbers within one batch may be equal, because only numbers of different batches are compared."""
    pairs = np.arange(3 * NUMBERS, dtype=np.int32).reshape(-1, PAIR)
    pairs[:AT_ONCE] = 7
    pairs[2 * AT_ONCE :] = 8
    assert are_apart(pairs, 0, 2 * AT_ONCE)
    assert compiled_apart(pairs, 0, 2 * AT_ONCE)
    for one in range(NUMBERS):
        for other in range(NUMBERS):
            with_equal = pairs.copy()
            flat = with_equal.ravel()
            flat[one] = flat[2 * NUMBERS + other] = 9
            assert not compiled_apart(with_equal, 0, 2 * AT_ONCE), (one, other)
    assert not are_apart(with_equal, 0, 2 * AT_ONCE)
