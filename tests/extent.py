"""The extent of long tests, which `make soak` runs in full."""

import os
from itertools import product

FULL = bool(os.environ.get("PODIUM_SOAK"))


# With sums over pairs, a deviation, many state fields, whole teams, and a pool state.
DIFFERENT = {"elo", "glicko2", "stk-rd", "trueskill", "adaptive"}


def several(systems):
    """Return the most different systems, for behaviour that is the same in all systems. `make soak` tests all."""
    return [name for name in systems if FULL or name in DIFFERENT]


def times(short, full):
    """Return how often to repeat: `short` in every run, and `full` in `make soak`."""
    return full if FULL else short


def in_turn(*choices):
    """Return the fewest combinations that contain each choice of each list. `make soak` tests all combinations."""
    longest = max(map(len, choices))
    return list(product(*choices)) if FULL else [tuple(each[i % len(each)] for each in choices) for i in range(longest)]
