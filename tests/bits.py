"""Whether two replays have the same numbers, to the bit."""

import numpy as np


def same_bits(one, other):
    """Whether the states of two replays, and what they kept of every change, are the same."""
    pairs = ((one.states, other.states), (one.before, other.before), (one.after, other.after))
    return all(same_numbers(a, b) for a, b in pairs)


def same_numbers(one, other):
    """Whether two arrays of numbers are the same."""
    return np.array_equal(one.view(np.int64), other.view(np.int64))
