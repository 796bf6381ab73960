"""The curves that the published texts draw, from the very rules that rate: the numbers behind each picture."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from podium.engine.inputs import PRESENT, TIME_TRIAL, Entry, Heat
from podium.engine.rules import compare, enter, expect
from podium.engine.system import System
from podium.errors import ParameterError
from podium.probability.gamma import ALPHA, incomplete_beta, matched_slope
from podium.systems import find
from podium.systems._folyami_field import agnesi
from podium.systems.stk import lead

GAPS = np.arange(-800.0, 801.0, 20.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """One picture: who it is about, what it says, and how its points are computed."""

    system: str
    title: str
    x: str
    y: str
    points: Callable[[Any], list[tuple[float, float, str]]]


def curve(kind: str, system: System | None = None) -> tuple[Curve, pl.DataFrame]:
    """A curve and its points: columns `x`, `y`, `series`.

    Args:
        kind: a name in `CURVES`.
        system: the system whose curve it is; with its defaults where None.

    Returns:
        The curve's titles, and its points as a frame.

    Raises:
        ParameterError: there is no such curve, or it is about another system.
    """
    if kind not in CURVES:
        raise ParameterError(f"there is no curve {kind!r} (there are {', '.join(CURVES)})")
    chosen = CURVES[kind]
    instance = find(chosen.system)() if system is None else system
    if instance.name != chosen.system:
        raise ParameterError(f"the curve {kind} is {chosen.system}'s, not {instance.name}'s")
    return chosen, pl.DataFrame(chosen.points(instance), schema=["x", "y", "series"], orient="row")


def remoteness(system: Any) -> list[tuple[float, float, str]]:
    """K of a pair by how many places lie between."""
    closeness = system.params().closeness
    return [(float(gap), system.k * agnesi(closeness * gap), "K") for gap in range(21)]


def provisional(system: Any) -> list[tuple[float, float, str]]:
    """K of a newcomer and of a settled opponent, by the newcomer's event."""
    params, newcomer = system.params(), system.newcomer()
    settled = enter(params, newcomer._replace(events=1e6), PRESENT)
    points = []
    for event in range(1, system.provisional_events + 4):
        new = enter(params, newcomer._replace(events=event - 1.0), PRESENT)
        for_new, for_settled = compare(params, new, settled, entry(1.0), entry(2.0), Heat(2.0, TIME_TRIAL))
        side_by_side = agnesi(params.closeness)
        points.append((float(event), for_new.weight / side_by_side, "newcomer"))
        points.append((float(event), for_settled.weight / side_by_side, "settled opponent"))
    return points


def entry(place: float) -> Entry:
    """A finisher."""
    return Entry(1.0, place, place, 60.0, 0.0, math.nan, math.nan, 0.0, 1.0)


def expected(system: Any) -> list[tuple[float, float, str]]:
    """Elo's expected score, Folyami's, and the gamma model's without the factor c."""
    shape = system.gamma_shape
    curves = {
        "Elo": (1, ALPHA),
        f"Folyami, shape {shape}": (shape, matched_slope(shape)),
        f"shape {shape} without c": (shape, ALPHA),
    }
    return [
        (float(gap), incomplete_beta(1.0 / (1.0 + math.exp(-slope * gap)), float(g)), name)
        for name, (g, slope) in curves.items()
        for gap in GAPS
    ]


def gamma_densities(system: Any) -> list[tuple[float, float, str]]:
    """How performances of some ratings spread; 0 is a perfect race."""
    shape = system.gamma_shape
    slope = matched_slope(shape)
    points = []
    for rating in (1200, 1350, 1500, 1650, 1800):
        rate = math.exp(slope * (rating - system.initial))
        for x in np.linspace(0.0, 3.0 * shape, 121):
            density = rate**shape * x ** (shape - 1) * math.exp(-rate * x) / math.gamma(shape)
            points.append((float(x), density, str(rating)))
    return points


def win_expectancy(system: Any) -> list[tuple[float, float, str]]:
    """The chance to win by how far one is rated above the other."""
    params, even = system.params(), system.newcomer()
    points = []
    for gap in GAPS:
        a, b = (enter(params, each, PRESENT) for each in (even._replace(rating=even.rating + gap), even))
        points.append((float(gap), float(expect(params, a, b)), "win expectancy"))
    return points


def result_by_time(system: Any) -> list[tuple[float, float, str]]:
    """The result of a pair by how much longer one took, in hundredths of the faster time."""
    return [(0.1 * k, lead(100.0, 100.0 + 0.1 * k), "the faster") for k in range(41)] + [
        (0.1 * k, lead(100.0 + 0.1 * k, 100.0), "the slower") for k in range(41)
    ]


def importance_by_time(system: Any) -> list[tuple[float, float, str]]:
    """The points at stake by the length of a race, for two newcomers."""
    params = system.params()
    me = enter(params, system.newcomer(), PRESENT)
    points = []
    for time_s in range(20, 701, 20):
        a, b = entry(1.0)._replace(time_s=float(time_s)), entry(2.0)._replace(time_s=float(time_s))
        for mode, name in ((TIME_TRIAL, "time trial"), (0.0, "other modes")):
            points.append((float(time_s), compare(params, me, me, a, b, Heat(2.0, mode))[0].weight, name))
    return points


CURVES = {
    "remoteness": Curve("folyami", "K by remoteness", "places apart", "points at stake", remoteness),
    "provisional": Curve("folyami", "K in a newcomer's events", "newcomer's event", "points at stake", provisional),
    "expected": Curve("folyami", "Expected scores", "rating difference", "expected score", expected),
    "gamma": Curve("folyami", "Performances by rating", "performance (0 is perfect)", "density", gamma_densities),
    "win-expectancy": Curve("trials", "Win expectancy", "rating difference", "chance to win", win_expectancy),
    "result": Curve("stk", "Result by time", "longer by % of the faster time", "result", result_by_time),
    "importance": Curve("stk", "Importance by time", "time of the slower, s", "points at stake", importance_by_time),
}
