"""Exact comparison of two replays."""

import numpy as np


def same_bits(one, other):
    """Return True if two replays have exactly the same states and records of every change."""
    pairs = ((one.states, other.states), (one.before, other.before), (one.after, other.after))
    return all(same_numbers(a, b) for a, b in pairs)


def same_numbers(one, other):
    """Return True if two arrays have exactly the same numbers."""
    return np.array_equal(one.view(np.int64), other.view(np.int64))
