"""Weng and Lin's Thurstone-Mosteller model with partial pairing, which compares each team only with its neighbours."""

from dataclasses import dataclass
from typing import ClassVar

from podium.engine.rules import rate_in_steps, rate_two
from podium.engine.system import parameter
from podium.systems import openskill_tm


class Params(openskill_tm.Params):
    """Parameters of the rules."""


@dataclass(frozen=True, slots=True)
class OpenskillTmPart(openskill_tm.OpenskillTm):
    """Thurstone-Mosteller over neighbours in the ranking."""

    name = "openskill-tm-part"
    title = "Weng-Lin, Thurstone-Mosteller, partial pairing"
    formulas = (
        "c = 2 sqrt(sigma_i^2 + sigma_q^2 + 2 beta^2); the rest as in openskill-tm",
        "Omega and Delta are means over the neighbours within the window",
    )
    params_type = Params
    better_in_fields = ""
    equals_drift = False
    ties_in_file_order = True
    spread: ClassVar[float] = 2.0

    neighbours: int = parameter(
        4,
        "number of neighbouring teams above and below that each team is compared with",
        unit="teams",
        low=1,
        high=10000,
    )


rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillTmPart
