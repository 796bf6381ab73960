"""Podium's version and the revision of its arithmetic. Saved data contain both."""

__version__ = "0.1.0"

# Increase this whenever the same results give different ratings, even if only in the last digit. Pools and files from
# an earlier revision are then rated again.
ARITHMETIC = 11
