"""Where a player is going, by what the newest events moved."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from podium.engine.system import ELO_SCALE, System

Trend = Literal["climbing", "falling", "steady", "settling"]
FORM_EVENTS = 10  # of which the form and the trend speak
FINDING_EVENTS = 5  # that find a rating: no record is made in them
SURE_DEVIATIONS = 2.0  # below a rating, for a peak that is no stroke of luck
STEADY_ELO = 25.0  # points within which ten events move a steady player, where ratings have no interval


def can_be_unsettled(system: System) -> bool:
    """Whether a system has a rule of its own for ratings that are not settled yet, which take no rank."""
    return system.min_events > 0 or system.settled_deviation is not None


def are_settled(system: System, states: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which players' ratings are settled: by the system's rule, or else from the fifth event on; (players, fields)."""
    if can_be_unsettled(system):
        return ~system.unsettled(states)
    found: npt.NDArray[np.bool_] = states[:, system.column("events")] >= FINDING_EVENTS
    return found


def is_provisional(system: System, by_rule: object, events: int) -> bool:
    """Whether a rating in the database is not settled: by the answer of the system's own rule, or by its events."""
    return bool(by_rule) if can_be_unsettled(system) else events < FINDING_EVENTS


def own_interval(system: System, deviation: float | None) -> float:
    """How many points may be chance: the interval of the rating, or what is steady where it has none."""
    scale = system.points_per_logit / ELO_SCALE
    return STEADY_ELO * scale if deviation is None else system.shown_deviations * deviation


def trend(system: System, moved: float, deviation: float | None, *, settled: bool) -> Trend:
    """Where a player is going, by what the newest events moved, without those that found the rating."""
    interval = own_interval(system, deviation)
    return (
        "settling" if not settled else "climbing" if moved > interval else "falling" if moved < -interval else "steady"
    )
