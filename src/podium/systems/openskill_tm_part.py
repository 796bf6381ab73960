"""Weng and Lin's Thurstone-Mosteller model with partial pairing: each team against its neighbours in the ranking."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from podium.engine.rules import rate_two
from podium.engine.steps import rate_in_steps
from podium.engine.system import parameter
from podium.systems import _weng_lin as shared
from podium.systems import openskill_tm


class Params(openskill_tm.Params):
    """What the rules read."""


@dataclass(frozen=True, slots=True)
class OpenskillTmPart(shared.WengLin):
    """Thurstone-Mosteller over neighbours in the ranking."""

    name: ClassVar[str] = "openskill-tm-part"
    title: ClassVar[str] = "Weng-Lin, Thurstone-Mosteller, partial pairing"
    formulas: ClassVar[tuple[str, ...]] = (
        "c = 2 sqrt(sigma_i^2 + sigma_q^2 + 2 beta^2); the rest as in openskill-tm",
        "Omega and Delta are means over the neighbours within the window",
    )
    limits: ClassVar[tuple[str, ...]] = openskill_tm.OpenskillTm.limits
    instead: ClassVar[str] = openskill_tm.OpenskillTm.instead
    params_type = Params
    ties_in_file_order: ClassVar[bool] = True
    spread: ClassVar[float] = 2.0

    draw_margin: float = parameter(0.1, "half-width of a draw", unit="points", low=0.0, high=1e6)
    neighbours: int = parameter(4, "teams on either side that each is compared with", unit="teams", low=1, high=10000)

    def at_limit(self, states: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which players' results against a newcomer are cut off."""
        return openskill_tm.beyond_cut_off(self, states)


rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillTmPart
