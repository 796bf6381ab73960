"""The scale of odds, and the quality of a match, according to a system's own expected scores."""

import math
from collections.abc import Sequence
from typing import Any

from podium.engine.inputs import PRESENT
from podium.engine.rules import enter, expect
from podium.engine.system import System, log_odds
from podium.engine.tables.teams import Shared, expected_scores, sides_of
from podium.errors import ParameterError

TEN_TO_ONE = 10.0 / 11.0
ESTABLISHED_EVENTS = 1000.0
ESTABLISHED_SHARE = 1e-3  # share of a newcomer's deviation that is negligible
MAX_DOUBLINGS, HALVINGS = 1000, 60


def odds_scale(system: System) -> float:
    """Return the rating difference at which the odds between experienced players are 10 to 1.

    `System.points_per_logit` is a different scale: the slope of the curve at equal ratings between newcomers. Their
    uncertainty flattens the curve (745 instead of 400 for Glicko).

    Raises:
        ParameterError: No rating difference leads to such odds in this system.
    """
    params, newcomer = system.params(), system.newcomer()
    known = dict.fromkeys(system.deviations, ESTABLISHED_SHARE * getattr(newcomer, "deviation", 0.0))
    known["events"] = ESTABLISHED_EVENTS
    veteran = newcomer._replace(**{name: value for name, value in known.items() if name in newcomer._fields})

    def chance(gap: float) -> float:
        """Return the expected score of a player rated `gap` / 2 above a newcomer against one rated `gap` / 2 below."""
        above, below = (
            enter(
                params,
                veteran._replace(**{name: getattr(veteran, name) + lead for name in system.with_level}),
                PRESENT,
            )
            for lead in (0.5 * gap, -0.5 * gap)
        )
        return float(expect(params, above, below))

    low, high = 0.0, 1.0
    for _ in range(MAX_DOUBLINGS):
        if chance(high) >= TEN_TO_ONE:
            break
        low, high = high, 2.0 * high
    else:
        raise ParameterError(f"{system.name} does not expect odds of 10 to 1 for any rating difference. Give a scale.")
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if chance(middle) >= TEN_TO_ONE else (middle, high)
    return high


def match_quality(system: System, sides: Sequence[Sequence[Any]], equipment: Sequence[Sequence[Shared]] = ()) -> float:
    """Return how even a match is, using the system's own expected scores for sides, as in `predict`.

    Args:
        sides: The states of each side's players.
        equipment: The equipment that each side's players share, if the system rates equipment.

    Returns:
        The winner's entropy divided by its maximum, using a Plackett-Luce model of each side's log-odds against the
        best side. It is 1 if all sides are equally likely to win, and close to 0 if one side is almost certain to win.
    """
    expected = expected_scores(system, sides_of(system, sides, equipment), len(sides))
    best = 0
    for side in range(1, len(sides)):
        best = side if expected[side, best] > expected[best, side] else best
    leads = [log_odds(expected[side, best], expected[best, side]) for side in range(len(sides))]
    top = max(leads)
    strengths = [math.exp(lead - top) for lead in leads]
    total = sum(strengths)
    weighed = sum(strength * (lead - top) for strength, lead in zip(strengths, leads, strict=True))
    return (math.log(total) - weighed / total) / math.log(len(sides)) if len(sides) > 1 else 1.0
