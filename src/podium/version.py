"""Podium's version, and the revision of its arithmetic, which are recorded with saved data."""

__version__ = "0.1.0"

# Raised where the same results get other ratings than before, if only in a last digit; pools and files of an earlier
# revision are rated again.
ARITHMETIC = 11
