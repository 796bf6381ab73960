"""Where a player is going, by what the newest events moved."""

from typing import Literal

from podium.engine.system import ELO_SCALE, System

Trend = Literal["climbing", "falling", "steady", "settling"]
FORM_EVENTS = 10  # of which the form and the trend speak
FINDING_EVENTS = 5  # that find a rating: no record is made in them
STEADY_ELO = 25.0  # points within which ten events move a steady player, where ratings have no interval


def trend(system: System, events: int, moved: float, deviation: float | None) -> Trend:
    """Where a player is going, by what the newest events moved."""
    if events < FINDING_EVENTS:
        return "settling"
    scale = system.points_per_logit / ELO_SCALE
    interval = STEADY_ELO * scale if deviation is None else system.shown_deviations * deviation
    return "climbing" if moved > interval else "falling" if moved < -interval else "steady"
