"""What a system makes of a match: how far apart its ratings stand for some odds, and how even its sides are."""

import math
from collections.abc import Sequence
from typing import Any

from podium.engine.inputs import PRESENT
from podium.engine.rules import enter, expect
from podium.engine.system import System, log_odds
from podium.engine.tables.teams import Shared, expected_scores, sides_of
from podium.errors import ParameterError

TEN_TO_ONE = 10.0 / 11.0
SETTLED_EVENTS = 1000.0
SETTLED_SHARE = 1e-3  # of a newcomer's deviation: as good as none
MAX_DOUBLINGS, HALVINGS = 1000, 60


def odds_scale(system: System) -> float:
    """The gap in rating at which the system expects odds of 10 to 1 between settled players.

    `System.points_per_logit` is another scale: the slope of the curve at equals, between newcomers, whose doubt
    flattens it (Glicko's would be 745 instead of 400).

    Raises:
        ParameterError: it expects no such odds of any gap.
    """
    params, newcomer = system.params(), system.newcomer()
    known = {"events": SETTLED_EVENTS, "deviation": SETTLED_SHARE * getattr(newcomer, "deviation", 0.0)}
    settled = newcomer._replace(**{name: value for name, value in known.items() if name in newcomer._fields})

    def chance(gap: float) -> float:
        """The expected score of one who stands half the gap above a newcomer's rating, against one as far below."""
        above, below = (
            enter(
                params, settled._replace(**{name: getattr(settled, name) + lead for name in system.with_level}), PRESENT
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
        raise ParameterError(f"{system.name} expects odds of 10 to 1 of no gap in rating: give a scale")
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if chance(middle) >= TEN_TO_ONE else (middle, high)
    return high


def match_quality(system: System, sides: Sequence[Sequence[Any]], things: Sequence[Sequence[Shared]] = ()) -> float:
    """How even the sides of a match are by the system's own expected scores, as `predict` gives them for sides.

    Args:
        sides: each one's players' states.
        things: what each one's players share, where the system rates that.

    Returns:
        The entropy of who wins over its largest, by Plackett and Luce from each side's log-odds against the best:
        1 where all are as likely, towards 0 where one surely does.
    """
    expected = expected_scores(system, sides_of(system, sides, things), len(sides))
    best = 0
    for side in range(1, len(sides)):
        best = side if expected[side, best] > expected[best, side] else best
    leads = [log_odds(expected[side, best], expected[best, side]) for side in range(len(sides))]
    top = max(leads)
    strengths = [math.exp(lead - top) for lead in leads]
    total = sum(strengths)
    weighed = sum(strength * (lead - top) for strength, lead in zip(strengths, leads, strict=True))
    return (math.log(total) - weighed / total) / math.log(len(sides)) if len(sides) > 1 else 1.0
