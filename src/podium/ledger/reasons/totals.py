"""Add up the reasons for a player's changes over several events, by kind."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from podium.engine.replay import Replayed
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.selection import UNFINISHED_STATUS
from podium.ledger.reasons import shares
from podium.ledger.reasons.duels import TIME, Account
from podium.ledger.reasons.explaining import account_of, find_entrant
from podium.probability.draws import DRAW
from podium.support.answers import answer, described
from podium.support.words import counted, shown, shown_parts

DIGITS = 1
WON, DRAWN, LOST, BEAT_QUITTERS = "won", "drawn", "lost", "ahead of quitters"
QUIT, MARGINS, TIME_AWAY, BONUS, SEASON, OTHER = "quit", "margins", "time away", "bonus", "season", "other"
KINDS = (WON, DRAWN, LOST, BEAT_QUITTERS, QUIT, MARGINS, TIME_AWAY, BONUS, SEASON, OTHER)
KIND_OF_CAUSE = {
    "margin": MARGINS, "idle": TIME_AWAY, "time": TIME_AWAY, "base_points": BONUS, "bonus_points": BONUS,
    "quits": QUIT, "did_not_start": QUIT,
}  # fmt: skip
LABELS = {
    WON: "Duels won", DRAWN: "Duels drawn", LOST: "Duels lost", BEAT_QUITTERS: "Opponents who quit", QUIT: "Quit",
    MARGINS: "Margins", TIME_AWAY: "Time away", BONUS: "Bonus points", SEASON: "New season", OTHER: "Other",
}  # fmt: skip
NAMED_EVENTS = 3  # maximum number of events to name next to a reason
SUBJECTS = {
    BEAT_QUITTERS: "opponents who quit", QUIT: "quitting", MARGINS: "margins", TIME_AWAY: "time away",
    BONUS: "bonus points", SEASON: "new seasons", OTHER: "other causes",
}  # fmt: skip


@answer
class ReasonTotal:
    """The points due to one kind of reason.

    Attributes:
        points: Points due to reasons of this kind.
        shown: These points, rounded to one decimal place. All kinds add up to the displayed change.
        count: Number of duels or causes of this kind.
        events: The events in which these reasons occurred, oldest first.
    """

    reason: str = described("The kind of reason.", enum=KINDS)
    points: float
    shown: float
    count: int
    events: tuple[str, ...]


@answer
class ReasonTotals:
    """The reasons why a player's rating changed over several events.

    Attributes:
        player: The player's name.
        events: Number of events.
        won: Number of these events that the player won.
        change: The change in the rating over these events, in points.
        shown: The sum of the displayed changes, to one decimal place.
        summary: The main reasons, in a sentence.
        reasons: The kinds of reasons behind the change.
    """

    player: str
    events: int
    won: int
    change: float
    shown: float
    summary: str
    reasons: tuple[ReasonTotal, ...]

    @property
    def labelled(self) -> list[tuple[str, ReasonTotal]]:
        """The reasons with their labels, largest first."""
        return [(LABELS[row.reason], row) for row in sorted(self.reasons, key=lambda row: -abs(row.shown))]


class Part(NamedTuple):
    """The part of a change that comes from reasons of one kind."""

    kind: str
    points: float
    reasons: int  # number of duels or causes
    event_id: str | None


def total_reasons(
    player: str,
    changes: Sequence[Sequence[Part]],
    won: int,
    shown_change: float,
    seasons: float = 0.0,
    shown_seasons: float = 0.0,
) -> ReasonTotals:
    """Add up the reasons for a player's changes.

    Args:
        changes: the parts of the change in each event, oldest first.
        won: the number of these events that the player won.
        shown_change: the sum of the displayed changes in these events.
        seasons: the change in points caused by new seasons between these events.
        shown_seasons: the sum of these changes as displayed.

    Returns:
        A total for each kind of reason. The totals add up to the change in the rating, both exactly and as displayed.
    """
    every = [part for parts in changes for part in parts] + [Part(SEASON, seasons, 1, None)] * bool(seasons)
    change = math.fsum(part.points for part in every)
    present = {part.kind for part in every}
    kinds = {kind: [part for part in every if part.kind == kind] for kind in KINDS if kind in present}
    sums = [math.fsum(part.points for part in parts) for parts in kinds.values()]
    in_events = {kind: value for kind, value in zip(kinds, sums, strict=True) if kind != SEASON}
    parts_shown = shown_parts([*in_events.values()], shown(shown_change, DIGITS), DIGITS)
    rounded = dict(zip(in_events, parts_shown, strict=True))
    if seasons:
        rounded[SEASON] = shown(shown_seasons, DIGITS)
    total = sum(rounded.values(), Decimal(0))
    reasons = tuple(
        ReasonTotal(
            kind,
            value,
            float(rounded[kind]),
            sum(part.reasons for part in parts),
            tuple(dict.fromkeys(part.event_id for part in parts if part.event_id is not None)),
        )
        for (kind, parts), value in zip(kinds.items(), sums, strict=True)
    )
    text = summary(player, len(changes), won, total, rounded)
    return ReasonTotals(player, len(changes), won, change, float(total), text, reasons)


def divide_change(system: System, events: Events, replayed: Replayed, event_id: str, player: str) -> list[Part]:
    """Divide a player's change in an event by kind of reason, much faster than `explain` lists the reasons.

    In systems that rate a whole field at once, each kind of opponent has its fair share of the change.
    """
    _, _, entrant, ends_period = find_entrant(events, event_id, player)
    if not ends_period:
        return []
    account = account_of(system, events, replayed, entrant)
    after = system.state_type(*replayed.after[entrant].tolist())
    if account.by_pairs:
        parts, causes = credited_parts(account, after)
    else:
        parts, causes = shared_parts(account, float(after.rating - replayed.before[entrant]))
    of_causes = [(KIND_OF_CAUSE.get(cause, OTHER), points, 1) for cause, points in causes.items()]
    return [Part(*part, event_id) for part in parts + of_causes]


Divided = tuple[list[tuple[str, float, int]], dict[str, float]]


def credited_parts(account: Account, after: Any) -> Divided:
    """Return the kinds, and the points from other causes, if the change is a sum over pairs."""
    given, causes = account.credit(after)
    kinds = [kinds_of(account, heat.mine, heat.theirs, heat.table[:, 0]) for heat in account.compared]
    every = np.concatenate([np.empty(0, np.str_), *kinds])
    parts = []
    for kind in KINDS:
        points = given[(every == kind) & (given[:, 0] != 0.0), 1]
        if points.size:
            parts.append((kind, float(points.sum()), points.size))
    return parts, causes


def shared_parts(account: Account, change: float) -> Divided:
    """Return each kind's fair share of a change that is not a sum over pairs, and the effect of the entry by itself."""
    place = account.columns.place
    faced = [(mine, account.opponents(heat, start, stop, mine)) for heat, start, stop, mine in account.heats()]
    every = [kinds_of(account, mine, theirs, DRAW + np.sign(place[theirs] - place[mine])) for mine, theirs in faced]
    entries = np.concatenate([np.empty(0, np.int64), *(theirs for _, theirs in faced)])
    kinds = np.concatenate([np.empty(0, np.str_), *every])
    members = {kind: entries[kinds == kind] for kind in dict.fromkeys(kinds.tolist())}
    # A single member receives each kind's share, so that the share is not divided.
    parts = [shares.Part(of_kind, of_kind[:1], alone=False) for of_kind in members.values()]
    alone, found = shares.fair_shares(account.system, account.update, account.entrant, account.states, change, parts)
    divided = [(kind, points, members[kind].size) for kind, (points,) in zip(members, found, strict=True)]
    return divided, {TIME: alone} if alone != 0.0 else {}


def kinds_of(account: Account, mine: int, theirs: Any, result: Any) -> Any:
    """Return the kind of reason that each opponent in a heat is for a player, as an array of strings."""
    if has_quit(account, np.array([mine]))[0]:
        return np.full(theirs.size, QUIT)
    return np.select([has_quit(account, theirs), result > DRAW, result < DRAW], [BEAT_QUITTERS, WON, LOST], DRAWN)


def has_quit(account: Account, entries: Any) -> Any:
    """Return True for each entry of a player who started and did not finish."""
    finished = account.columns.finished
    if account.system.rates_absent:  # its columns count everyone who started as a finisher
        status = account.events.results.frame["status"][account.events.entry_row[entries]]
        return status.is_in(UNFINISHED_STATUS).to_numpy()
    return finished[entries] == 0.0 if finished.size else np.zeros(len(entries), np.bool_)


def summary(player: str, events: int, won: int, total: Decimal, parts: dict[str, Decimal]) -> str:
    """Return a sentence with the number of events won, the points gained or lost, and the main reason.

    If the results against opponents moved the rating most, it has no other reason.
    """
    moved = f"{'gained' if total > 0 else 'lost'} {abs(total)} points" if total else "kept the rating"
    against = (2 * won > events and total < 0) or (won == 0 and total > 0)
    text = f"{player} won {won} of the last {counted(events, 'event')} and {'still ' if against else ''}{moved}"
    sign = 1 if total > 0 else -1
    duels = sum(parts[kind] for kind in (WON, DRAWN, LOST) if kind in parts)
    others = [kind for kind in SUBJECTS if kind in parts]
    most = max(others, key=lambda kind: sign * parts[kind], default=None)
    if not total or most is None or sign * parts[most] < max(sign * duels, 0):
        return f"{text}."
    return f"{text}: {SUBJECTS[most]} {'brought' if total > 0 else 'cost'} {abs(parts[most])}."
