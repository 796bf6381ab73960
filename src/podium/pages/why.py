"""Why a rating moved, as a picture and sentences: every number adds up as it is shown."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from podium.ledger.reasons import Explanation
from podium.ledger.reasons.duels import BAND, CAUSE, HEAT, OPPONENT, Group
from podium.ledger.reasons.wording import gap_words, heat_words
from podium.pages.drawing import StepScale, bar, duel_marks, end
from podium.pages.numbers import change, halves, in_sentence, rating
from podium.support.words import shown, signed

MOST_ROWS = 12  # of a group; of a larger one the largest few, and the others together
FIRST_ROWS = 5
DRAW = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    player: str  # the opponent; empty where there are several
    words: str  # how the duel stood and ended: "723 below, lost"; or who the others are
    points: Decimal  # as shown; a group's steps add up to its points


def steps_of(explanation: Explanation) -> list[tuple[Step, ...]]:
    """The steps of each group of duels, those first that moved the rating the way of the change."""
    gained = explanation.delta >= 0.0
    rows = sorted(explanation.rows.to_dicts(), key=lambda row: float(row["contribution"]), reverse=gained)
    return [
        steps_from([row for row in rows if row["group"] == number and group.kind in {HEAT, BAND}], explanation.digits)
        for number, group in enumerate(explanation.groups)
    ]


def steps_from(rows: list[dict[str, Any]], digits: int) -> tuple[Step, ...]:
    several_heats = len({row["heat"] for row in rows}) > 1
    every = []
    for row in rows:
        ended = "won" if row["result"] > DRAW else "lost" if row["result"] < DRAW else "drew"
        heat = f" in {heat_words(row['heat'])}" if several_heats else ""
        words = f"{gap_words(row['gap'], digits)}, {ended}{heat}"
        every.append(Step(row["opponent"], words, shown(row["shown"], digits)))
    if len(every) <= MOST_ROWS:
        return tuple(every)
    largest = sorted(range(len(every)), key=lambda k: -abs(every[k].points))[:FIRST_ROWS]
    points = [step.points for k, step in enumerate(every) if k not in largest]
    low, high = min(points), max(points)
    words = f"{signed(low)} each" if low == high else f"{signed(low)} to {signed(high)} each"
    others = Step("", f"{len(points)} others, {words}", sum(points, Decimal(0)))
    return (*(every[k] for k in sorted(largest)), others)


MOST_OPEN = 6  # steps of a group that is open at first
LEAST_SHORT = Decimal("0.5")  # duels by which the promise was missed that are worth a sentence


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """A group with its bar, and its steps below it."""

    label: Markup
    result: str
    points: Decimal
    picture: Markup
    steps: tuple[tuple[Step, Markup], ...]  # each with its bar
    is_open: bool


@dataclass(frozen=True, slots=True)
class WhyView:
    player: str
    digits: int
    before: Decimal
    after: Decimal
    change: Decimal
    verdict: Markup
    cause: Markup
    first: Markup  # the pictures of the rating before and after
    last: Markup
    groups: tuple[DrawnGroup, ...]
    headline: str  # of the duels
    duels: Markup  # their picture
    sentences: tuple[Markup, ...]  # what a duel is, and what the sum comes to

    @property
    def is_far(self) -> bool:
        """Whether a change takes more room than +99.9 does."""
        changes = (self.change, *(group.points for group in self.groups))
        return max(len(change(each, self.digits)) for each in changes) > len("+99.9")


def why_view(explanation: Explanation) -> WhyView:
    before, after, digits = explanation.shown_before, explanation.shown_after, explanation.digits
    steps = steps_of(explanation)
    scale = StepScale.over(partial_sums(before, explanation.groups, steps))
    opened = opened_group(explanation, steps)
    groups, total = [], before
    for number, (group, inner) in enumerate(zip(explanation.groups, steps, strict=True)):
        groups.append(drawn_group(explanation, group, inner, scale, total, is_open=number == opened))
        total += group.shown
    duels, player = explanation.duels, explanation.player
    opponents = dict.fromkeys(each for each in explanation.rows["opponent"].to_list() if each is not None)
    label = f"{halves(duels.won)} of {duels.count} duels won; {duels.expected:.1f} expected"
    sentences = explanation.shared, duels.meaning, duels.not_compared, explanation.method or sum_sentence(explanation)
    return WhyView(
        player=player,
        digits=digits,
        before=before,
        after=after,
        change=explanation.shown_change,
        verdict=in_sentence(explanation.verdict, player),
        cause=in_sentence(explanation.cause, player, *opponents),
        first=end(scale, before, rating(before, digits), is_first=True),
        last=end(scale, after, rating(after, digits), is_first=False),
        groups=tuple(groups),
        headline=duels.headline,
        duels=duel_marks(duels.count, duels.won, duels.expected, label),
        sentences=tuple(in_sentence(each, player) for each in sentences if each),
    )


def partial_sums(before: Decimal, groups: tuple[Group, ...], steps: list[tuple[Step, ...]]) -> list[Decimal]:
    """Every number that a bar begins or ends at."""
    sums, total = [before], before
    for group, inner in zip(groups, steps, strict=True):
        running = total
        for step in inner:
            running += step.points
            sums.append(running)
        total += group.shown
        sums.append(total)
    return sums


def opened_group(explanation: Explanation, steps: list[tuple[Step, ...]]) -> int:
    """The largest group in the direction of the change, if it is short enough to be open; else -1."""
    sign = 1 if explanation.shown_change >= 0 else -1
    groups = explanation.groups
    largest = max(range(len(groups)), key=lambda k: sign * groups[k].shown, default=-1)
    return largest if largest >= 0 and 0 < len(steps[largest]) <= MOST_OPEN else -1


def drawn_group(
    explanation: Explanation, group: Group, steps: tuple[Step, ...], scale: StepScale, start: Decimal, *, is_open: bool
) -> DrawnGroup:
    inner, running = [], start
    for step in steps:
        inner.append((step, bar(scale, running, step.points)))
        running += step.points
    name = group.label if group.kind == OPPONENT else explanation.player
    picture = bar(scale, start, group.shown, opens=bool(steps))
    return DrawnGroup(in_sentence(group.label, name), group.result, group.shown, picture, tuple(inner), is_open)


def sum_sentence(explanation: Explanation) -> str:
    """What a duel moved the rating by, where the change is a sum over duels: no product is written out."""
    duels, groups = explanation.duels, explanation.groups
    missed = shown(duels.expected, 1) - shown(duels.won, 1)
    points = sum((group.shown for group in groups if group.kind != CAUSE), Decimal(0))
    if duels.count < 2 or abs(missed) < LEAST_SHORT or (points < 0) != (missed > 0):  # noqa: PLR2004  (duels)
        return ""
    each = abs(points / missed)
    about = f"{each:.0f}" if each >= 1 else f"{each:.1g}"
    result = f"{missed} short of the promise" if missed > 0 else f"{-missed} more than promised"
    return f"That is {result}: a duel moved {explanation.player} about {about} point{'' if about == '1' else 's'}."
