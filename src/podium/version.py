"""Podium's version and the revision of its arithmetic. Saved data contain both."""

__version__ = "0.1.0"

# Increase this whenever the same results give different ratings or deviations, even if only in the last digit. Pools
# from an earlier revision are then rated again.
ARITHMETIC = 13
# Files of `podium.Live` are accepted from this revision on. Revision 13 only corrected errors in rare events: margins
# and quits in events that are rated alone, and deviations above 1000 in `stk-rd`.
SAME_RATINGS = 11
