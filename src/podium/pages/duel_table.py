"""Every duel of a change, in points: opponents down, heats across; rows and columns add up as they are shown."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from podium.ledger.reasons.duels import CAUSE
from podium.ledger.reasons.explanation import Explanation
from podium.ledger.reasons.wording import gap_words
from podium.pages.result_table import heat_head
from podium.support.rounding import shown

MOST_HEATS = 7  # columns of heats, the overall result among them
MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class DuelRow:
    """An opponent, or another cause."""

    opponent: str  # empty of another cause
    label: str  # of the cause
    rated: str  # "475 below"
    expected: float | None
    cells: tuple[Decimal | None, ...]  # one a heat; None where there was no duel
    total: Decimal


@dataclass(frozen=True, slots=True)
class DuelTable:
    """All duels."""

    heats: tuple[str, ...]  # none where there is one heat
    rows: tuple[DuelRow, ...]
    totals: tuple[Decimal, ...]  # of the heats
    total: Decimal


def duel_table(explanation: Explanation) -> DuelTable | None:
    """The table of an explanation; None where it would be too large to read, or where its parts are no single heats."""
    groups, digits = explanation.groups, explanation.digits
    rows = explanation.rows.to_dicts()
    duels = [row for row in rows if row["opponent"] is not None]
    heats = list(dict.fromkeys(row["heat"] for row in duels))
    by_opponent: dict[str, list[dict[str, Any]]] = {}
    for row in duels:
        by_opponent.setdefault(row["opponent"], []).append(row)
    parts = [group for group in groups if group.kind != CAUSE]
    are_cells = all(len({row["heat"] for row in each}) == len(each) for each in by_opponent.values())
    are_heats = len(heats) < 2 or len(parts) == len(heats)  # noqa: PLR2004  (heats)
    if not duels or len(heats) > MOST_HEATS or len(by_opponent) > MOST_ROWS or not are_cells or not are_heats:
        return None
    lines = [opponent_row(name, each, heats, digits) for name, each in by_opponent.items()]
    sign = 1 if explanation.shown_change < 0 else -1
    lines.sort(key=lambda line: sign * line.total)
    several = len(heats) > 1
    causes = [
        DuelRow("", group.label, "", None, tuple(None for _ in heats) if several else (), group.shown)
        for group in groups
        if group.kind == CAUSE
    ]
    names = tuple(map(heat_head, heats)) if several else ()
    totals = tuple(group.shown for group in parts) if several else ()
    return DuelTable(names, (*lines, *causes), totals, explanation.shown_change)


def opponent_row(name: str, rows: list[dict[str, Any]], heats: list[str], digits: int) -> DuelRow:
    """The row of an opponent."""
    in_heat = {row["heat"]: shown(row["shown"], digits) for row in rows}
    expected = sum(row["expected"] for row in rows) / len(rows)
    cells = tuple(in_heat.get(heat) for heat in heats) if len(heats) > 1 else ()
    return DuelRow(name, "", gap_words(rows[0]["gap"], digits), expected, cells, sum(in_heat.values(), Decimal(0)))
