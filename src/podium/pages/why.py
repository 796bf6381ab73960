"""The explanation of a rating change, as a picture and as sentences. Displayed numbers add up."""

from decimal import Decimal
from typing import Any

from markupsafe import Markup

from podium.ledger.reasons import Explanation
from podium.ledger.reasons.duels import BAND, CAUSE, HEAT, OPPONENT, Group
from podium.ledger.reasons.wording import DECIDING_SHARE, gap_words, heat_words, met_words, title_of
from podium.pages.drawing import Scale, bar, duel_marks, end
from podium.pages.numbers import change, halves, in_sentence, rating
from podium.support.immutable import immutable
from podium.support.words import shown, signed

MAX_ROWS = 12  # maximum number of rows in a group; in larger groups, the smallest rows are combined
FIRST_ROWS = 5


@immutable
class Step:
    title: str  # the outcome of a duel, such as "Lost to Chidi", or an empty string for several duels
    player: str  # name of the opponent, or an empty string for several
    words: str  # the gap, such as "723 below", or a description of the other rows
    points: Decimal  # rounded; the steps of a group add up to the group's points


def steps_of(explanation: Explanation) -> list[tuple[Step, ...]]:
    """Return the steps of each group of duels. Steps in the direction of the change come first."""
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
        heat = f" in {heat_words(row['heat'])}" if several_heats else ""
        title, words = met_words(row["opponent"], row["result"]), f"{gap_words(row['gap'], digits)}{heat}"
        every.append(Step(title, row["opponent"], words, shown(row["shown"], digits)))
    if len(every) <= MAX_ROWS:
        return tuple(every)
    largest = sorted(range(len(every)), key=lambda k: -abs(every[k].points))[:FIRST_ROWS]
    points = [step.points for k, step in enumerate(every) if k not in largest]
    low, high = min(points), max(points)
    words = f"{signed(low)} each" if low == high else f"{signed(low)} to {signed(high)} each"
    others = Step("", "", f"{len(points)} others, {words}", sum(points, Decimal(0)))
    return (*(every[k] for k in sorted(largest)), others)


MAX_OPEN = 6  # maximum number of steps in a group that is initially expanded
MIN_MISSED = Decimal("0.5")  # smallest difference from the expected wins that deserves a sentence


@immutable
class DrawnGroup:
    """A group with its bar, and the steps below it."""

    label: Markup
    result: str
    points: Decimal
    picture: Markup
    steps: tuple[tuple[Step, Markup], ...]  # steps, each with its bar
    is_open: bool


@immutable
class WhyView:
    player: str
    digits: int
    before: Decimal
    after: Decimal
    change: Decimal
    verdict: Markup
    cause: Markup
    first: Markup  # pictures of the ratings before and after the change
    last: Markup
    groups: tuple[DrawnGroup, ...]
    headline: str  # headline about the duels
    duels: Markup  # picture of the duels
    meaning: Markup  # explanation of a duel
    sentences: tuple[Markup, ...]  # sentences that explain the sum

    @property
    def by_size(self) -> list[DrawnGroup]:
        """The groups, largest first."""
        return sorted(self.groups, key=lambda group: -abs(group.points))

    @property
    def is_far(self) -> bool:
        """True if a change is so large that it needs more space than +99.9."""
        changes = (self.change, *(group.points for group in self.groups))
        return max(len(change(points, self.digits)) for points in changes) > len("+99.9")


def why_view(explanation: Explanation) -> WhyView:
    before, after, digits = explanation.shown_before, explanation.shown_after, explanation.digits
    steps = steps_of(explanation)
    scale = Scale.over(partial_sums(before, explanation.groups, steps))
    opened = opened_group(explanation, steps)
    groups, total = [], before
    for number, (group, inner) in enumerate(zip(explanation.groups, steps, strict=True)):
        groups.append(drawn_group(explanation, group, inner, scale, total, is_open=number == opened))
        total += group.shown
    duels, player = explanation.duels, explanation.player
    opponents = dict.fromkeys(name for name in explanation.rows["opponent"].to_list() if name is not None)
    label = f"{halves(duels.won)} of {duels.count} duels won; {duels.expected:.1f} expected"
    sentences = explanation.shared, duels.not_compared, explanation.method or sum_sentence(explanation)
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
        meaning=in_sentence(duels.meaning, player),
        sentences=tuple(in_sentence(sentence, player) for sentence in sentences if sentence),
    )


def partial_sums(before: Decimal, groups: tuple[Group, ...], steps: list[tuple[Step, ...]]) -> list[Decimal]:
    """Return all numbers at which a bar starts or ends."""
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
    """Return the group that decided the change if it is short enough to expand, otherwise -1."""
    sign = 1 if explanation.shown_change >= 0 else -1
    groups = explanation.groups
    largest = max(range(len(groups)), key=lambda k: sign * groups[k].shown, default=-1)
    if largest < 0 or sign * groups[largest].shown < DECIDING_SHARE * abs(explanation.shown_change):
        return -1
    return largest if 0 < len(steps[largest]) <= MAX_OPEN else -1


def drawn_group(
    explanation: Explanation, group: Group, steps: tuple[Step, ...], scale: Scale, start: Decimal, *, is_open: bool
) -> DrawnGroup:
    inner, running = [], start
    for step in steps:
        inner.append((step, bar(scale, running, step.points)))
        running += step.points
    name = group.label if group.kind == OPPONENT else explanation.player
    picture = bar(scale, start, group.shown, opens=bool(steps))
    return DrawnGroup(in_sentence(title_of(group), name), group.result, group.shown, picture, tuple(inner), is_open)


def sum_sentence(explanation: Explanation) -> str:
    """Return a sentence about a duel's effect, if the change is a sum over duels."""
    duels, groups = explanation.duels, explanation.groups
    missed = shown(duels.expected, 1) - shown(duels.won, 1)
    points = sum((group.shown for group in groups if group.kind != CAUSE), Decimal(0))
    if duels.count < 2 or abs(missed) < MIN_MISSED or (points < 0) != (missed > 0):  # noqa: PLR2004  (duels)
        return ""
    size = abs(points / missed)
    about = f"{size:.1f}".removesuffix(".0") if size >= 1 else f"{size:.1g}"
    each = f"at about {about} point{'' if about == '1' else 's'} each"
    return f"{abs(missed)} {'fewer' if missed > 0 else 'more'} than expected, {each}: {signed(points)}."
