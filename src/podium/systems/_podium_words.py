"""What the parameters that `podium` learns say of a sport, in points, shares and words."""

import math

from podium.engine.pool_state import LearntParameter
from podium.systems._podium_rules import GROWTH_DAYS, YEAR
from podium.systems._podium_state import SCALE

FIRST_YEAR = GROWTH_DAYS / YEAR * (1.0 - math.exp(-YEAR / GROWTH_DAYS))  # years of growth that the first one holds


def deviation(logarithm: float) -> float:
    """A variance's logarithm as a deviation in points."""
    return SCALE * math.exp(0.5 * logarithm)


def direction(points: float, up: str, down: str) -> str:
    """One verb or another, by the sign, and the points."""
    return f"{up if points >= 0.0 else down} {abs(points):.0f} points"


LEARNT = (
    LearntParameter(
        "spread",
        "Newcomers",
        "points",
        deviation,
        lambda points: f"Two of three newcomers turn out to be within {points:.0f} points of where all begin.",
    ),
    LearntParameter(
        "event",
        "What an event changes",
        "points",
        deviation,
        lambda points: f"From one event to the next a skill moves by some {points:.1f} points, however soon it is.",
    ),
    LearntParameter(
        "idle_day",
        "What a year changes",
        "points",
        lambda logarithm: deviation(logarithm) * math.sqrt(YEAR),
        lambda points: f"In a year a skill moves by some {points:.0f} points, up or down.",
    ),
    LearntParameter(
        "noise",
        "A day's form",
        "points",
        deviation,
        lambda points: f"On the day a player is some {points:.0f} points better or worse than the skill.",
    ),
    LearntParameter(
        "growth",
        "Growth",
        "points",
        lambda a_year: SCALE * FIRST_YEAR * a_year,
        lambda points: f"Newcomers {direction(points, 'gain', 'lose')} in the first year, beside their results.",
    ),
    LearntParameter(
        "ageing",
        "Ageing",
        "points",
        lambda a_year: SCALE * a_year,
        lambda points: f"After ten years a year {direction(points, 'takes', 'brings')}.",
    ),
    LearntParameter(
        "unfinished",
        "Breakdowns",
        "%",
        lambda logarithm: 100.0 * math.exp(logarithm),
        lambda percent: f"A duel that one did not finish counts {percent:.0f} % of another.",
    ),
    LearntParameter(
        "reach",
        "Reach",
        "%",
        lambda logarithm: 100.0 / (1.0 + (math.pi * math.exp(-logarithm)) ** 2),
        lambda percent: f"First and last of a field say {percent:.0f} % as much of each other as neighbours.",
    ),
)

LEARNT_OF_MODES = LearntParameter(
    "mode",
    "Modes",
    "points",
    deviation,
    lambda points: f"In one mode a player is some {points:.0f} points better or worse than over all.",
)
