"""How much of a long test runs: `make soak` runs its full form."""

import os

FULL = bool(os.environ.get("PODIUM_SOAK"))


def times(short, full):
    """How often: in every run of the tests, and in `make soak`."""
    return full if FULL else short
