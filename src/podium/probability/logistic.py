"""Expected scores from log-odds: the logistic curve that Elo and most after it share."""

from podium.kernels.compiled import kernel
from podium.kernels.elementary import exp

LARGEST = 300.0  # strengths stay within e^300, so that a sum of two is finite and a ratio keeps its digits


@kernel
def logistic(log_odds: float) -> float:
    """1 / (1 + e^-x), finite for any x."""
    return 1.0 / (1.0 + exp(-log_odds))


@kernel
def both_chances(log_odds: float) -> tuple[float, float]:
    """The logistic of `log_odds` and of its negative: they sum to 1, and each has all its digits."""
    against = exp(-log_odds)
    mine = 1.0 / (1.0 + against)
    return mine, against * mine


@kernel
def bradley_terry(log_odds: float) -> float:
    """e^x, the strength of a player in Bradley and Terry's model; 0 out of range.

    With it a field of n takes n exponentials, not n (n - 1) / 2.
    """
    return exp(log_odds) if abs(log_odds) <= LARGEST else 0.0


@kernel
def win_share(mine: float, theirs: float, log_odds: float) -> float:
    """The logistic of `log_odds`, from the strengths of both where they have one."""
    return mine / (mine + theirs) if mine * theirs > 0.0 else logistic(log_odds)


@kernel
def score(mine: float, theirs: float) -> float:
    """The result by places: 1 for the better (lower), 0 for the worse, 0.5 for a tie; without a branch."""
    return 0.5 * (1.0 + (mine < theirs) - (mine > theirs))
