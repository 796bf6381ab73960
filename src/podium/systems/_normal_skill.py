"""A player's skill as TrueSkill and the systems of Weng and Lin know it: normal, and less certain before each event."""

from typing import Any, NamedTuple

from podium.engine.inputs import Entrant
from podium.probability.normal import inflated


class State(NamedTuple):
    """What is known of a player."""

    rating: float
    deviation: float
    events: float


def add_uncertainty(params: Any, me: State, entrant: Entrant) -> State:
    """Every event adds tau^2 to the variance, every idle day its own up to a newcomer's deviation."""
    deviation = inflated(me.deviation, params.tau_squared, entrant.idle * params.idle_variance, params.max_deviation)
    return State(me.rating, deviation, me.events)
