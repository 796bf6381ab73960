"""An explanation as text: the rating before, what each part did, the rating after; and what might have been."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podium.ledger.reasons.explanation import Explanation
    from podium.ledger.reasons.what_if import WhatIf


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
    from podium.pages.why import steps_of
    from podium.support.rounding import signed

    yield "Before", str(explanation.shown_before)
    for number, group in enumerate(explanation.groups):
        yield ", ".join(filter(None, (group.label, group.result))), signed(group.shown)
        for step in steps_of(explanation, number):
            yield f"    {', '.join(filter(None, (step.player, step.words)))}", signed(step.points)
    yield "After", f"{explanation.shown_after}  ({signed(explanation.shown_change)})"


def what_if_text(imagined: "WhatIf") -> str:
    """What a change would have been, a line for each thing changed."""
    from podium.support.rounding import signed

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
