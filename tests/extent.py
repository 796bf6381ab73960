"""How much of a long test runs: `make soak` runs its full form."""

import os
from itertools import product

FULL = bool(os.environ.get("PODIUM_SOAK"))


# By sums over pairs, with a deviation, with many fields of state, of teams at once, and with a state of the pool.
DIFFERENT = {"elo", "glicko2", "stk-rd", "trueskill", "adaptive"}


def several(systems):
    """Those of the systems that differ most, for what goes one way with all of them; all in `make soak`."""
    return [name for name in systems if FULL or name in DIFFERENT]


def times(short, full):
    """How often: in every run of the tests, and in `make soak`."""
    return full if FULL else short


def in_turn(*choices):
    """Combinations of one of each list, so few that each choice is in one; all combinations in `make soak`."""
    longest = max(map(len, choices))
    return list(product(*choices)) if FULL else [tuple(each[i % len(each)] for each in choices) for i in range(longest)]
