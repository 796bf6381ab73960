"""Add up the reasons for a player's changes over several events, by kind."""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal

from podium.engine.tables.selection import UNFINISHED_STATUS
from podium.ledger.reasons import Explanation
from podium.probability.draws import DRAW
from podium.support.answers import answer, described
from podium.support.words import counted, shown_change, shown_parts

DIGITS = 1
WINS = ("won", "shared first place")
WON, DRAWN, LOST, BEAT_QUITTERS = "won", "drawn", "lost", "ahead of quitters"
QUIT, MARGINS, TIME_AWAY, BONUS, SEASON, OTHER = "quit", "margins", "time away", "bonus", "season", "other"
KINDS = (WON, DRAWN, LOST, BEAT_QUITTERS, QUIT, MARGINS, TIME_AWAY, BONUS, SEASON, OTHER)
KIND_OF_CAUSE = {
    "margin": MARGINS, "idle": TIME_AWAY, "time": TIME_AWAY, "base_points": BONUS, "bonus_points": BONUS,
    "quits": QUIT, "did_not_start": QUIT,
}  # fmt: skip
DUELS = "duels"  # won, drawn and lost duels are combined, so that wins offset losses
SUBJECTS = {
    DUELS: "results against those who finished", BEAT_QUITTERS: "opponents who quit", QUIT: "quitting",
    MARGINS: "margins", TIME_AWAY: "time away", BONUS: "bonus points", SEASON: "new seasons", OTHER: "other causes",
}  # fmt: skip


@answer
class ReasonTotal:
    """The points of one kind of reason."""

    reason: str = described("The kind of reason.", enum=KINDS)
    points: float = described("Number of points from reasons of this kind.")
    shown: float = described("These points, rounded to one decimal place. All kinds add up to the displayed change.")
    count: int = described("Number of duels or causes of this kind.")
    events: tuple[str, ...] = described("The events in which these reasons occurred, oldest first.")


@answer
class ReasonTotals:
    """The reasons why a player's rating changed over several events."""

    player: str = described("The player's name.")
    events: int = described("Number of events.")
    won: int = described("Number of these events that the player won.")
    change: float = described("The change in the rating over these events, in points.")
    shown: float = described("The change, rounded to one decimal place.")
    summary: str = described("The main reasons, in a sentence.")
    reasons: tuple[ReasonTotal, ...] = described("The kinds of reasons behind the change.")


def total_reasons(player: str, explanations: Sequence[Explanation], seasons: float = 0.0) -> ReasonTotals:
    """Add up the reasons for a player's changes.

    Args:
        explanations: one for each event, oldest first.
        seasons: the change in points caused by new seasons between these events.

    Returns:
        A total for each kind of reason. The totals add up to the change in the rating, both exactly and as displayed.
    """
    points: dict[str, list[float]] = {kind: [] for kind in KINDS}
    events: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    for explanation in explanations:
        for kind, contribution in kinds_in(explanation):
            points[kind].append(contribution)
            events[kind][explanation.event_id] = None
    if seasons:
        points[SEASON].append(seasons)
    kinds = [kind for kind in KINDS if points[kind]]
    sums = [math.fsum(points[kind]) for kind in kinds]
    change = math.fsum(explanation.delta for explanation in explanations) + seasons
    total = shown_change(0.0, change, DIGITS)
    rounded = shown_parts(sums, total, DIGITS)
    reasons = tuple(
        ReasonTotal(kind, value, float(part), len(points[kind]), tuple(events[kind]))
        for kind, value, part in zip(kinds, sums, rounded, strict=True)
    )
    won = sum(explanation.outcome in WINS for explanation in explanations)
    parts = dict(zip(kinds, rounded, strict=True))
    text = summary(player, len(explanations), won, total, parts)
    return ReasonTotals(player, len(explanations), won, change, float(total), text, reasons)


def kinds_in(explanation: Explanation) -> Iterable[tuple[str, float]]:
    """Yield the kind and the points of each row of an explanation."""
    lines = explanation.standings.select("heat", "player", "status").rows()
    unfinished = {(heat or "", player) for heat, player, status in lines if status in UNFINISHED_STATUS}
    rows = explanation.rows.select("heat", "opponent", "result", "cause", "contribution").rows()
    for heat, opponent, result, cause, contribution in rows:
        if opponent is None and result is None:
            kind = KIND_OF_CAUSE.get(cause, OTHER)
        elif (heat, explanation.player) in unfinished:
            kind = QUIT
        elif result is None or opponent is None:
            kind = OTHER
        elif (heat, opponent) in unfinished:
            kind = BEAT_QUITTERS
        else:
            kind = WON if result > DRAW else LOST if result < DRAW else DRAWN
        yield kind, contribution


def summary(player: str, events: int, won: int, total: Decimal, parts: dict[str, Decimal]) -> str:
    """Return a sentence with the number of events won, the points gained or lost, and the main reasons."""
    moved = f"{'gained' if total > 0 else 'lost'} {abs(total)} points" if total else "kept the rating"
    against = (2 * won > events and total < 0) or (won == 0 and total > 0)
    text = f"{player} won {won} of the last {counted(events, 'event')} and {'still ' if against else ''}{moved}"
    sums: dict[str, Decimal] = {}
    for kind, part in parts.items():
        subject = DUELS if kind in (WON, DRAWN, LOST) else kind
        sums[subject] = sums.get(subject, Decimal(0)) + part
    most = max(sums, key=lambda subject: sums[subject] * (1 if total > 0 else -1), default="")
    if not total or not most or not sums[most]:
        return f"{text}."
    return f"{text}: {SUBJECTS[most]} {'brought' if total > 0 else 'cost'} {abs(sums[most])}."
