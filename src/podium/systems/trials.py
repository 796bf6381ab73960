"""Trials Fusion's multiplayer ranking: Glicko-2 over heats, with each match as one rating period.

Source: F. Sundvik, "Multiplayer Ranking Explained" (RedLynx). The rules are the same as for `glicko2`.
"""

from dataclasses import dataclass

from podium.engine.rules import expect
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10
from podium.probability.logistic import logistic
from podium.support.arrays import Floats, Mask
from podium.systems import glicko2


class Params(glicko2.Params):
    """The parameters of Glicko-2. This is a separate type, because the win expectancy displayed to users differs."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Trials(System):
    """Every heat is a game between each pair of riders, and the overall result is one more game."""

    name = "trials"
    title = "Trials Fusion"
    for_players = "Beat players rated above you, heat by heat, and you gain more."
    source = "Sundvik, Multiplayer Ranking Explained; Glickman, Example of the Glicko-2 system (2013)"
    formulas = (
        *glicko2.Glicko2.formulas[:-1],
        "win expectancy shown to people = 1 / (1 + 10^((opponent - me) / 400))",
    )
    game = "Trials Fusion"
    weight_repeats = False  # the overall result is one more comparison
    state_type = glicko2.State
    limits = (
        f"the volatility is capped at {glicko2.MAX_VOLATILITY:g}, or at a newcomer's if that is higher",
        (
            "the text does not limit a change: with its rules, one upset in a field of 60 can cost a"
            " favourite thousands of points"
        ),
    )
    instead = glicko2.Glicko2.instead
    entering_type = glicko2.Entering
    evidence_type = glicko2.Evidence
    idles_by = "period"
    established_deviation = 100.0
    unfinished = (
        "It loses only that heat, to everyone who finished it. In the overall result, the heat scores 0; if times"
        " decide, all players who finished every heat are ahead. With quit_policy=remaining, a quit (but not a"
        " dnf) also loses every later heat."
    )

    tau: float = parameter(0.3, "how fast volatility may change", low=1e-3, high=10.0)
    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    deviation: float = parameter(350.0, "a newcomer's deviation", unit="points", low=1e-3, high=1e6)
    volatility: float = parameter(0.06, "a newcomer's volatility", low=1e-6, high=10.0)
    idle_growth: bool = parameter(False, "the deviation grows once for each rating period missed")
    overall: bool = parameter(True, "the overall result of a match counts as one more set of games")
    quit_policy: str = parameter(
        "heat", "what a quit loses: only that heat, or the remaining heats as well", choices=("heat", "remaining")
    )

    @property
    def overall_set(self) -> bool:
        return self.overall

    @property
    def quits_later_heats(self) -> bool:
        """True to reproduce the early behaviour, which the source calls a bug."""
        return self.quit_policy == "remaining"

    @property
    def highest_volatility(self) -> float:
        """The cap on the volatility, which is at least a newcomer's volatility."""
        return max(glicko2.MAX_VOLATILITY, self.volatility)

    def at_limit(self, states: Floats) -> Mask:
        return glicko2.at_volatility(states, self.highest_volatility)

    def params(self) -> Params:
        shared = glicko2.glicko2_params(
            self.initial,
            self.tau,
            idle_growth=self.idle_growth,
            max_deviation=None,
            max_volatility=self.highest_volatility,
        )
        return Params(*shared)

    def newcomer(self) -> glicko2.State:
        return glicko2.State(self.initial, self.deviation, self.volatility, 0.0)


@expect.register
def win_expectancy(params: Params, a: glicko2.Entering, b: glicko2.Entering) -> float:
    """Return Elo's expected score, as the source shows it: 400 points mean odds of 10 to 1."""
    return logistic((a.rating - b.rating) * LN_10 / 400.0)


SYSTEM = Trials
