"""Podium's version and the revision of its arithmetic. Saved data contain both."""

__version__ = "0.1.0"

# Increase this whenever the same results give different ratings or deviations, even if only in the last digit. Pools
# from an earlier revision are then rated again.
ARITHMETIC = 13
SAME_RATINGS = 13  # earliest revision with the same ratings: files of `podium.Live` are accepted from this one on
