"""Entrants and entries of a heat, for testing rules."""

import math

from podium.engine.inputs import Entrant, Entry

ONCE = Entrant(events=1.0, quit=0.0, idle=0.0)


def entry(place, **known):
    return Entry(1.0, place, place, 60.0, 1.0, math.nan, math.nan, 0.0, 1.0)._replace(**known)
