"""The parameters that a pool has learnt, a small chart each, with what the newest value says of the sport."""

import textwrap
from typing import Any

import numpy as np
import polars as pl

from podium.engine.pool_state import LearntParameter
from podium.engine.system import System
from podium.ledger.history import thinned
from podium.reporting.style import MAIN, NARROW_WIDTH, QUIET, altair, canvas, dates, whole_numbers

PANEL_HEIGHT = 110  # pixels
POINTS = 600  # that a curve is drawn with
CHARACTERS = 44  # of a line above a panel


def learnt_curves(history: pl.DataFrame, system: System, title: str) -> Any:
    """Every learnt parameter over time, beside the dashed line of where it began.

    Args:
        history: as `podium.ledger.forecast.learnt_history` gives it, of one pool.
        system: the one that learnt.
        title: what stands above.
    """
    alt = altair()
    start = dict(zip(type(system.new_pool())._fields, system.new_pool(), strict=True))
    panels = [panel(history, each, each.convert(start[each.name])) for each in system.learnt_parameters]
    return alt.concat(*panels, columns=2, title=alt.TitleParams(title, offset=12), spacing=24)


def panel(history: pl.DataFrame, parameter: LearntParameter, start: float) -> Any:
    """One parameter: its curve, where it began, and what its newest value says."""
    alt = altair()
    dated = bool(history.height) and not history["started_at"].null_count()
    values = history[parameter.name].to_numpy()
    times = history["started_at"].cast(pl.Int64).to_numpy() if dated else np.arange(1, history.height + 1)
    shown = thinned(times, values, POINTS)
    moments = history["started_at"].dt.strftime("%Y-%m-%dT%H:%M:%SZ") if dated else pl.Series(times)
    points = pl.DataFrame({"when": moments[shown], "value": values[shown]})
    if dated:
        axis = dates(history["started_at"].min(), history["started_at"].max())  # type: ignore[arg-type]
        x = alt.X("when:T", title="", axis=axis)
    else:
        x = alt.X("when:Q", title="event", axis=whole_numbers(), scale=alt.Scale(nice=False))
    y = alt.Y("value:Q", title=parameter.unit, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    sentence = textwrap.wrap(parameter.describe(float(values[-1])), CHARACTERS) if values.size else []
    heading = alt.TitleParams(parameter.title, subtitle=sentence, anchor="start", frame="group")
    curve = canvas(points, "").mark_line(color=MAIN, interpolate="step-after").encode(x=x, y=y)
    began = canvas(pl.DataFrame({"value": [start]}), "").mark_rule(strokeDash=[4, 4], color=QUIET).encode(y=y)
    return (began + curve).properties(title=heading, width=NARROW_WIDTH, height=PANEL_HEIGHT)
