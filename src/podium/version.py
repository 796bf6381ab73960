"""Podium's version and the revision of its arithmetic, both of which are recorded with saved data."""

__version__ = "0.1.0"

# Increase this whenever the same results give different ratings, even if only in the last digit. Pools and files from
# an earlier revision are then rated again.
ARITHMETIC = 11
