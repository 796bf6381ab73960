"""Weng and Lin's Bradley-Terry model with partial pairing, which compares each team only with its neighbours."""

from dataclasses import dataclass

from podium.engine.rules import rate_in_steps, rate_two
from podium.engine.system import parameter
from podium.systems import openskill_bt


class Params(openskill_bt.Params):
    """Parameters of the rules."""


@dataclass(frozen=True, slots=True)
class OpenskillBtPart(openskill_bt.OpenskillBt):
    """Bradley-Terry over neighbours in the ranking."""

    name = "openskill-bt-part"
    title = "Weng-Lin, Bradley-Terry, partial pairing"
    formulas = (
        *openskill_bt.OpenskillBt.formulas,
        "Omega and Delta are means over the neighbours within the window",
    )
    params_type = Params
    better_in_fields = ""
    ties_in_file_order = True

    neighbours: int = parameter(
        4,
        "number of neighbouring teams above and below that each team is compared with",
        unit="teams",
        low=1,
        high=10000,
    )


rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillBtPart
