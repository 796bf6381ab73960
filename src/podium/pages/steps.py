"""The steps of a change, as people read them: a group's duels, or the largest few of many and the others together."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from podium.ledger.reasons.duels import BAND, HEAT
from podium.ledger.reasons.explanation import Explanation
from podium.ledger.reasons.wording import gap_words, heat_words
from podium.support.rounding import shown, signed

MOST_ROWS = 12  # of a group; of a larger one the largest few, and the others together
FIRST_ROWS = 5
DRAW = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a group."""

    player: str  # the opponent; empty where there are several
    words: str  # how the duel stood and ended: "723 below, lost"; or who the others are
    points: Decimal  # as shown; a group's steps add up to its points


def steps_of(explanation: Explanation, number: int) -> tuple[Step, ...]:
    """The steps of a group of duels, those first that moved the rating the way of the change.

    Args:
        explanation: of the change.
        number: of the group.

    Returns:
        None where the group is one opponent, or no duels.
    """
    if explanation.groups[number].kind not in {HEAT, BAND}:
        return ()
    rows = explanation.rows_of(number).to_dicts()
    several_heats = len({row["heat"] for row in rows}) > 1
    every = [
        Step(
            row["opponent"],
            duel_words(row, explanation.digits, several_heats=several_heats),
            points_of(row, explanation.digits),
        )
        for row in rows
    ]
    if len(every) <= MOST_ROWS:
        return tuple(every)
    largest = sorted(range(len(every)), key=lambda k: -abs(every[k].points))[:FIRST_ROWS]
    others = [step for k, step in enumerate(every) if k not in largest]
    return (*(every[k] for k in sorted(largest)), others_together(others))


def points_of(row: dict[str, Any], digits: int) -> Decimal:
    """The points of a row, as shown."""
    return shown(row["shown"], digits)


def duel_words(row: dict[str, Any], digits: int, *, several_heats: bool) -> str:
    """How a duel stood before, and how it ended."""
    heat = f" in {heat_words(row['heat'])}" if several_heats else ""
    return f"{gap_words(row['gap'], digits)}, {result_words(row['result'])}{heat}"


def result_words(result: float) -> str:
    """How a duel ended."""
    return "won" if result > DRAW else "lost" if result < DRAW else "drew"


def others_together(others: list[Step]) -> Step:
    """Several steps as one."""
    points = [step.points for step in others]
    low, high = min(points), max(points)
    each = f"{signed(low)} each" if low == high else f"{signed(low)} to {signed(high)} each"
    return Step("", f"{len(others)} others, {each}", sum(points, Decimal(0)))
