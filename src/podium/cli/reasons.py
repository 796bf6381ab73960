"""An explanation as text: the rating before, what each part did, the rating after; and what might have been."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.ledger.explanation import Explanation
    from podium.ledger.what_if import WhatIf

MOST_ROWS = 12  # of a group; of a larger one the first few, and the others together
FIRST_ROWS = 5
DRAW = 0.5


def explanation_text(explanation: "Explanation") -> str:
    """A change with its parts, which add up as they stand, and the sentences about it."""
    sentences = (
        explanation.duels.headline,
        explanation.duels.meaning,
        explanation.duels.not_compared,
        explanation.ranked_by,
        explanation.method,
    )
    lines = [explanation.verdict, *filter(None, (explanation.cause,))]
    if explanation.groups:
        lines += ["", *columns(list(waterfall(explanation)))]
    if any(sentences):
        lines += ["", *filter(None, sentences)]
    return "\n".join(lines)


def waterfall(explanation: "Explanation") -> Iterator[tuple[str, str]]:
    """The lines of a change: what, and how many points."""
    from podium.ledger.groups import BAND, HEAT
    from podium.rounding import signed

    yield "Before", str(explanation.shown_before)
    for number, group in enumerate(explanation.groups):
        yield ", ".join(filter(None, (group.label, group.result))), signed(group.shown)
        rows = explanation.rows_of(number).to_dicts()
        if group.kind in {HEAT, BAND}:
            yield from group_lines(rows, explanation.digits, several_heats=len({row["heat"] for row in rows}) > 1)
    yield "After", f"{explanation.shown_after}  ({signed(explanation.shown_change)})"


def group_lines(rows: list[dict[str, Any]], digits: int, *, several_heats: bool) -> Iterator[tuple[str, str]]:
    """The duels of a group, or the first few of many."""
    from podium.ledger.wording import gap_words, heat_words
    from podium.rounding import shown, signed

    shown_rows = rows if len(rows) <= MOST_ROWS else rows[:FIRST_ROWS]
    for row in shown_rows:
        heat = f" in {heat_words(row['heat'])}" if several_heats else ""
        ended = "won" if row["result"] > DRAW else "lost" if row["result"] < DRAW else "drew"
        yield (
            f"    {row['opponent']}{heat}, {gap_words(row['gap'], digits)}, {ended}",
            signed(shown(row["shown"], digits)),
        )
    if len(shown_rows) < len(rows):
        others = rows[len(shown_rows) :]
        points = sum((shown(row["shown"], digits) for row in others), Decimal(0))
        yield f"    {len(others)} others", signed(points)


def what_if_text(imagined: "WhatIf") -> str:
    """What a change would have been, a line for each thing changed."""
    from podium.rounding import signed

    if not imagined.alternatives:
        return f"{imagined.player} won all there was to win."
    lines = [("As it was", signed(imagined.shown))]
    for each in imagined.alternatives:
        difference = (
            f"{abs(each.better)} {'better' if each.better >= 0 else 'worse'}" if each.better else "no different"
        )
        lines.append((each.words, f"{signed(each.shown)}  ({difference})"))
    return "\n".join([f"What if {imagined.player} had …", "", *columns(lines)])


def columns(lines: list[tuple[str, str]]) -> list[str]:
    """Words and numbers side by side: the words to the left, the numbers' last digits in line."""
    from rich.cells import cell_len

    width = max(cell_len(words) for words, _ in lines)
    whole = max(len(numbers.split("  ")[0]) for _, numbers in lines)
    aligned = []
    for words, numbers in lines:
        number, _, more = numbers.partition("  ")
        aligned.append(f"  {words}{' ' * (width - cell_len(words))}  {number.rjust(whole)}  {more}".rstrip())
    return aligned
