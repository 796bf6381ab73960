"""Rate an event again with one thing changed, starting from the states before it."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import median_high
from typing import Any

import numpy as np
import polars as pl

from podium.engine import rules
from podium.engine.heats import sums_up
from podium.engine.inputs import Columns
from podium.engine.replay import Replayed, replay
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode, frozen, in_pools
from podium.engine.tables.selection import UNFINISHED_STATUS
from podium.ledger.hypothetical_race import check_margin
from podium.ledger.reasons.duels import Account
from podium.ledger.reasons.explaining import account_of, find_entrant
from podium.ledger.reasons.wording import heat_words
from podium.results.derived_heats import OVERALL, number_column
from podium.results.reading import Results
from podium.support.arrays import Floats
from podium.support.immutable import immutable
from podium.support.words import counted, lines_html, ordinal, shown_change, signed

MAX_ALTERNATIVES = 8
MAX_IMAGINED = 2_500  # largest event to rate again, pair by pair, while somebody waits
MAX_PAIRS = 8e6  # pairs in all alternatives together, which take about 0.4 s
NUMBERS = ("position", "score", "time_s", "team_score")
Numbers = dict[str, Floats]


@immutable
class Alternative:
    """One change to an event, and the effect that the event would then have had."""

    words: str  # "won heat 2 instead of quitting"
    delta: float
    shown: Decimal  # the change as displayed
    better: Decimal  # the difference from the actual change, as displayed


@dataclass(frozen=True, slots=True, repr=False)
class WhatIf:
    """A player's actual event, and how it would have been with one thing different."""

    event_id: str
    player: str
    rating_before: float
    delta: float  # the actual change
    shown: Decimal
    alternatives: tuple[Alternative, ...]  # quit heats first, then the other heats in order, then winning all heats

    def __repr__(self) -> str:
        alternatives = counted(len(self.alternatives), "alternative")
        return f"WhatIf({self.player} in {self.event_id}: {signed(self.shown)}, {alternatives})"

    def _repr_html_(self) -> str:
        """Return the actual change and the alternatives as a table for notebooks."""
        lines = [
            ("as it was", signed(self.shown)),
            *((alternative.words, signed(alternative.shown)) for alternative in self.alternatives),
        ]
        return lines_html(f"What if {self.player} had …", lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values.

        Returns:
            The actual change, and `alternatives`, each with `words, delta, shown, better`.
        """
        alternatives = [
            {
                "words": alternative.words,
                "delta": alternative.delta,
                "shown": float(alternative.shown),
                "better": float(alternative.better),
            }
            for alternative in self.alternatives
        ]
        plain = {name: getattr(self, name) for name in ("event_id", "player", "rating_before", "delta")}
        return plain | {"shown": float(self.shown), "alternatives": alternatives}


@immutable
class OwnHeat:
    """The player's own result in one heat of the event."""

    name: str
    row: int  # of the results
    side: int  # equal for team mates; negative if everybody competes individually
    rank: int  # place among the finishers, counting each side once; 0 if the player did not finish
    place: float  # ties share the mean of their places
    tied: bool
    status: str
    expected: int  # the expected place of a player who quit
    rivals: list[tuple[int, float, int]]  # the other finishers, best first: row, place, side
    mates: list[tuple[int, float, int]]  # the team mates who finished


def side_of(finisher: tuple[int, float, int]) -> int:
    """Return the number of a finisher's side: a team or an individual player."""
    row, _, side = finisher
    return side if side >= 0 else -1 - row


@immutable
class Altered:
    """One change to try: the player's new places in heats."""

    words: str
    places: list[tuple[OwnHeat, int]]


def is_quickly_imagined(system: System, events: Events) -> bool:
    """Return True if the event can be rated again during a request."""
    return len(events.columns.player) <= MAX_IMAGINED or sums_up(system)


def what_if(
    system: System,
    events: Events,
    replayed: Replayed,
    event_id: str,
    player: str,
    period: str = "event",
    *,
    margin: float | None = None,
) -> WhatIf:
    """Return the rating changes for winning a lost heat, for finishing a quit heat, and for winning every heat.

    In a quit heat, the player is assumed to finish in the median place of the player's other heats, or in the expected
    place if there are no others. The other players keep their order. Everyone behind the player takes the next
    submitted result (score and time). In team events, the player's team wins by its team score. Within a rating period,
    the change is the change over the whole period.

    If the system rates margins, heats between two sides are won by `margin` or, by default, by the pool's usual margin.
    If `margin` is set, heats that the player won are changed as well.
    """
    check_margin(system, margin)
    _, player, entrant, _ = find_entrant(events, event_id, player)
    account = account_of(system, events, replayed, entrant)
    field = int((account.update.stop - account.update.start).max())
    most = max(1, min(MAX_ALTERNATIVES, int(MAX_PAIRS / field**2)))
    assumed = account.system.usual_margin if margin is None else margin
    by = "" if assumed is None else f" by {assumed:.3g}{' (the usual margin)' * (margin is None)}"
    altered = alterations(own_heats(account, event_id), most, by, wins=margin is not None)
    before, after = float(replayed.before[entrant]), float(replayed.after[entrant, system.column("rating")])
    changes = changes_with(account, altered, period, assumed)
    was = shown_change(before, after, system.digits)
    alternatives = []
    for alternative, delta in zip(altered, changes, strict=True):
        would = shown_change(before, before + delta, system.digits)
        alternatives.append(Alternative(alternative.words, delta, would, would - was))
    return WhatIf(event_id, player, before, after - before, was, tuple(alternatives))


def own_heats(account: Account, event_id: str) -> list[OwnHeat]:
    """Return the player's heats with their own results, and the rivals who finished."""
    events, columns = account.events, account.columns
    frame = events.results.frame
    heats = []
    for _, start, stop, i in account.heats():
        row = events.entry_row.at(i)
        name = "" if events.entry_heat is None else str(events.entry_heat[i])
        if frame["event_id"][row] != event_id or (name and (frame["heat"][row] or "") != name):
            continue
        status = str(frame["status"][row])
        finished = not columns.finished.size or bool(columns.finished[i])
        if not finished and status not in UNFINISHED_STATUS:
            continue  # a quit that the system carries over from an earlier heat
        side, place = side_at(columns, i), float(columns.place[i])
        others = [j for j in range(start, stop) if j != i]
        finishers = [
            (events.entry_row.at(j), float(columns.place[j]), side_at(columns, j))
            for j in others
            if not columns.finished.size or columns.finished[j]
        ]
        rivals = sorted(
            (finisher for finisher in finishers if side < 0 or finisher[2] != side),
            key=lambda heat_and_place: (heat_and_place[1], heat_and_place[0]),
        )
        mates = [finisher for finisher in finishers if 0 <= side == finisher[2]]
        if rivals:
            rank = 1 + len({side_of(rival) for rival in rivals if rival[1] < place}) if finished else 0
            tied = any(rival[1] == place for rival in rivals)
            entering = [] if finished else [account.entering(account.entrant_of(j)) for j in others]
            ahead = sum(rules.expect(account.params, entrant, account.me) for entrant in entering)
            expected = 0 if finished else 1 + round(float(ahead))
            heats.append(OwnHeat(name, row, side, rank, place, tied, status, expected, rivals, mates))
    return heats


def side_at(columns: Columns, i: int) -> int:
    """Return the side of an entry, which is negative for a player who competes individually."""
    return int(columns.side[i]) if columns.side.size else -1


def alterations(heats: list[OwnHeat], most: int, by: str, *, wins: bool) -> list[Altered]:
    """Return at most `most` changes to try: first the quits, then the lost heats, then every heat.

    Args:
        heats: the player's heats.
        most: the largest number of changes.
        by: words for the margin by which heats between two sides are won.
        wins: True to also change heats between two sides that the player won, to wins by this margin.
    """
    quits, won = [], []
    for heat in heats:
        where = f" {heat_words(heat.name)}" if len(heats) > 1 else ""
        others = [other.rank for other in heats if other.rank and other is not heat and other.name != OVERALL]
        by_margin = by if is_duel(heat) else ""
        if heat.rank == 1 and not heat.tied and not (wins and by_margin):
            continue
        if not heat.rank:
            place, words = finish_of(heat, others)
            finished = f"not quit{where} but finished" if heat.status == "quit" else f"finished{where}"
            quits.append(Altered(f"{finished} {words}", [(heat, place)]))
            if place == 1:
                continue
        won.append((heat, Altered(f"won{where}{by_margin} {instead(heat)}", [(heat, 1)])))
    lost = [heat for heat in heats if heat.rank != 1 or heat.tied]
    count = sum(heat.name != OVERALL for heat in heats)
    every = [Altered(f"won all {count} heats", [(heat, 1) for heat in lost])] if len(lost) > 1 else []
    quits = quits[:most]
    room = max(0, most - len(quits) - len(every))
    if len(won) > room:  # keep the worst heats, in order
        worst = sorted(won, key=lambda win: win[0].rank or len(win[0].rivals) + 1, reverse=True)[:room]
        won = [win for win in won if win in worst]
    return [*quits, *(win for _, win in won), *every][:most]


def finish_of(heat: OwnHeat, others: list[int]) -> tuple[int, str]:
    """Return the place to assume for a player who quit a heat, and the reason for it in words.

    `others` are the player's places in other heats.
    """
    if heat.mates:
        return 1 + len({side_of(rival) for rival in heat.rivals if rival[1] < heat.mates[0][1]}), "with the team"
    sides = len({side_of(rival) for rival in heat.rivals})
    place = min(median_high(others) if others else heat.expected, sides + 1)
    return place, f"{ordinal(place)}, as {'usual' if others else 'expected'}"


def is_duel(heat: OwnHeat) -> bool:
    """Return True if the heat was between two sides."""
    return len({side_of(rival) for rival in heat.rivals}) == 1


def instead(heat: OwnHeat) -> str:
    """Return the actual outcome that the change replaces."""
    if not heat.rank:
        return "instead of quitting" if heat.status == "quit" else "instead of not finishing"
    if is_duel(heat):
        return "instead of drawing" if heat.tied else "instead of losing" if heat.rank > 1 else "instead"
    return f"instead of {'sharing' if heat.tied else 'finishing'} {ordinal(heat.rank)}{' place' if heat.tied else ''}"


def changes_with(account: Account, altered: Sequence[Altered], period: str, margin: float | None) -> list[float]:
    """Return the player's change with each alteration. One call rates them all, each in a separate pool.

    `margin` is the margin by which heats between two sides are won, if margins count.
    """
    if not altered:
        return []
    system, events = account.system, account.events
    first, stop = account.update.entrants
    number = {account.name(entry): entry - first for entry in range(first, stop)}
    imagined = encode(altered_results(account, altered, margin), system, period)
    seats = np.array([number[name] for name in imagined.player_names.to_list()])
    entrants = seats[imagined.columns.player]
    if imagined.columns.idle.size:
        idle = frozen(events.columns.idle[first:stop][entrants])
        imagined = replace(imagined, columns=imagined.columns._replace(idle=idle))
    start = account.states[events.columns.player[first:stop]][seats]
    pools = np.tile(system.standing[0], (len(imagined.pools), 1))
    moved = replay(system, imagined, start, pool_start=pools)
    mine = np.flatnonzero(entrants == account.entrant - first)
    changes: list[float] = (moved.after[mine, system.column("rating")] - moved.before[mine]).tolist()
    return changes


def altered_results(account: Account, altered: Sequence[Altered], margin: float | None) -> Results:
    """Return a table that repeats the update's results for each alteration, each copy in its own pool."""
    events, update = account.events, account.update
    rows = np.unique(events.entry_row[int(update.start[0]) : int(update.stop[-1])])
    once = events.results.frame[rows]
    copies = pl.concat([in_pools(once, pl.lit(f"{k}")) for k in range(len(altered))])
    numbers = {name: number_column(copies, name) for name in NUMBERS}
    finishes = np.zeros(copies.height, np.bool_)  # rows of a player who quit and is assumed to have finished
    for k, alternative in enumerate(altered):
        place_of = {int(row): k * once.height + number for number, row in enumerate(rows)}
        for heat, place in alternative.places:
            finishes[place_of[heat.row]] = not heat.rank
            if heat.side >= 0:
                take_place_of_team(numbers, heat, place, place_of)
            else:
                take_place(numbers, heat, place, place_of)
            if margin is not None and is_duel(heat):
                set_margin(numbers, heat, margin, place_of)
    changed = copies.with_columns(
        event_id=pl.col("pool") + "/" + pl.col("event_id"),
        status=pl.when(pl.Series(finishes)).then(pl.lit("finished")).otherwise("status"),
        **{name: pl.Series(values, nan_to_null=True) for name, values in numbers.items()},
    )
    if {"played_s", "duration_s"} <= set(once.columns):
        whole = pl.when(pl.Series(finishes)).then("duration_s").otherwise("played_s")
        changed = changed.with_columns(played_s=whole)
    return Results(changed, events.results.source)


def set_margin(numbers: Numbers, heat: OwnHeat, margin: float, place_of: dict[int, int]) -> None:
    """Set the scores of a heat between two sides so that it is won by this margin. The places must be known."""
    rows = [place_of[heat.row], *(place_of[row] for row, _, _ in [*heat.rivals, *heat.mates])]
    if heat.side >= 0:
        numbers["team_score"][rows] *= margin
    else:
        numbers["score"][rows] = -margin * numbers["position"][rows]


def take_place(numbers: Numbers, heat: OwnHeat, place: int, place_of: dict[int, int]) -> None:
    """Move the player to a place in a heat without teams. Scores and times stay with the places."""
    behind = len(heat.rivals) if not heat.rank else sum(rival[1] < heat.place for rival in heat.rivals)
    lines = [place_of[row] for row, _, _ in heat.rivals]
    lines.insert(behind, place_of[heat.row] if heat.rank else lines[-1])  # an additional finisher gets the last result
    order = [place_of[row] for row, _, _ in heat.rivals]
    order.insert(place - 1, place_of[heat.row])
    for name in ("score", "time_s"):
        numbers[name][order] = numbers[name][lines]
    places = sorted(theirs for _, theirs, _ in heat.rivals)
    for k, (row, theirs, _) in enumerate(heat.rivals):
        ahead = bisect_left(places, theirs)
        numbers["position"][place_of[row]] = ahead + 1 + (k >= place - 1)
    numbers["position"][place_of[heat.row]] = place


def take_place_of_team(numbers: Numbers, heat: OwnHeat, place: int, place_of: dict[int, int]) -> None:
    """Move the player's team to a place in a heat with teams, by team scores.

    Individual scores and times do not change.
    """
    places = {side_of(rival): rival[1] for rival in heat.rivals}
    order = sorted(places, key=lambda side: places[side])
    sorted_places = [places[side] for side in order]
    numbers_of_sides = {side: k for k, side in enumerate(order)}
    for rival in heat.rivals:
        side = side_of(rival)
        ahead = bisect_left(sorted_places, places[side])
        numbers["team_score"][place_of[rival[0]]] = -(ahead + 1.0 + (numbers_of_sides[side] >= place - 1))
    for row in (heat.row, *(mate for mate, _, _ in heat.mates)):
        numbers["team_score"][place_of[row]] = -float(place)
    if not heat.rank:
        like = place_of[(heat.mates or heat.rivals[-1:])[0][0]]
        for name in ("position", "score", "time_s"):
            numbers[name][place_of[heat.row]] = numbers[name][like]
