"""What the parameters that a pool of the system `podium` has learnt say of its sport, for people."""

import functools
import math

from podium.engine.pool_state import LearntParameter
from podium.systems._podium_entering import GROWTH_DAYS, YEAR
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

LEARNT_OF_ENTRY = LearntParameter(
    "entry",
    "Newcomers' level",
    "points",
    lambda level: SCALE * level,
    lambda points: f"Newcomers are {abs(points):.0f} points {'better' if points >= 0.0 else 'weaker'} than the first.",
)

LEARNT_OF_MODES = LearntParameter(
    "mode",
    "Modes",
    "points",
    deviation,
    lambda points: f"In one mode a player is some {points:.0f} points better or worse than over all.",
)


def learnt_with(modes: int, things: tuple[str, ...]) -> tuple[LearntParameter, ...]:
    """What pools with so many modes and these kinds of things learn."""
    of_things = [
        each
        for number, kind in enumerate(things, start=1)
        for each in (
            LearntParameter(
                f"thing_{number}_spread",
                f"What a {kind} is worth",
                "points",
                deviation,
                functools.partial("Two of three are within {1:.0f} points by their {0}.".format, kind),
            ),
            LearntParameter(
                f"thing_{number}_day",
                f"What a year changes of a {kind}",
                "points",
                lambda logarithm: deviation(logarithm) * math.sqrt(YEAR),
                functools.partial("In a year what a {0} is worth moves by some {1:.0f} points.".format, kind),
            ),
        )
    ]
    return (*LEARNT, LEARNT_OF_ENTRY, *([LEARNT_OF_MODES] if modes else []), *of_things)
