"""Why a rating moved: the evidence listed instead of added, by the very rules that the replay compiled."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from podium.engine import inputs, rules
from podium.engine.encoding import Events
from podium.engine.replay import Replayed, States, newcomers, states_after
from podium.engine.system import System, blank
from podium.errors import UnknownError
from podium.kernels.records import read, times
from podium.ledger.forecast import suggestion
from podium.ledger.leave_one_out import contributions
from podium.ledger.wording import explain_in_words, outcome
from podium.results.names import normalise

SCHEMA = {
    "player": pl.String,
    "opponent": pl.String,
    "heat": pl.String,
    "result": pl.Float64,
    "expected": pl.Float64,
    "weight": pl.Float64,
    "contribution": pl.Float64,
    "cause": pl.String,
}
OPPONENT = "opponent"  # the cause of a comparison's row
JOINT = "joint"  # the cause of what no opponent alone explains


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every reason for one change; the contributions add up to `delta`, in points."""

    event_id: str
    player: str
    rating_before: float
    delta: float
    rows: pl.DataFrame  # player, opponent, heat, result, expected, weight, contribution, cause
    outcome: str  # "won", "drew", "lost", "came last" or "beat 2 of 5"; empty where nobody was compared
    summary: str  # a sentence or two to the player


@dataclass(frozen=True, slots=True)
class Meeting:
    """One comparison, seen from the player."""

    opponent: str
    gap: float  # opponent's rating less the player's, before
    heat: str
    comparison: Any
    weight: float  # how many times it counts


def explain(system: System, events: Events, replayed: Replayed, event_id: str, player: str) -> Explanation:
    """Why `player`'s rating moved in an event.

    Within a rating period a player's change stands at the last event of the period, and its explanation
    lists the comparisons of them all.

    Raises:
        UnknownError: there is no such event, or the player is not rated in it.
    """
    player = player if (events.results.frame["player"] == player).any() else normalise(player)
    entrant, settles = find_entrant(events, event_id, player)
    before = float(replayed.before[entrant])
    if not settles:
        summary = f"{player}'s change is settled at the end of the rating period, with the last event in it."
        return Explanation(event_id, player, before, 0.0, pl.DataFrame(schema=SCHEMA), "", summary)
    settlement = int(np.searchsorted(events.columns.entrants, entrant, side="right")) - 1
    states = states_before(system, events, settlement, replayed.start)
    account = Account(system, events, settlement, entrant, states)
    after = system.state_type(*replayed.after[entrant].tolist())
    delta = float(after.rating - before)
    rows = pl.DataFrame(list(account.rows(player, after)), schema=SCHEMA, orient="row")
    summary = explain_in_words(player, delta, rows, account.gaps(), system.digits)
    return Explanation(event_id, player, before, delta, rows, outcome(rows), summary)


def find_entrant(events: Events, event_id: str, player: str) -> tuple[int, bool]:
    """The entrant that a player was in an event, and whether the change stands there."""
    frame = events.results.frame
    rows = events.ledger.row
    matches = frame.select(
        (pl.col("event_id") == event_id).alias("event"), (pl.col("player") == player).alias("player")
    )
    both = (matches["event"] & matches["player"]).to_numpy()[rows]
    if both.any():
        row = int(np.argmax(both))
        settles = events.ledger.settles
        return int(events.ledger.entrant[row]), settles is None or bool(settles[row])
    if not matches["event"].any():
        hint = suggestion(event_id, frame["event_id"].unique().to_list())
        raise UnknownError(f"there is no event {event_id!r} in {events.results.source}{hint}")
    if not (matches["event"] & matches["player"]).any():
        hint = suggestion(player, frame.filter(event_id=event_id)["player"].to_list())
        raise UnknownError(f"{player!r} did not take part in event {event_id!r}{hint}")
    raise UnknownError(
        f"{player!r} is not rated in event {event_id!r}: it was not ranked, did not start, was disqualified, "
        "or the event had fewer than two entries that count"
    )


def states_before(system: System, events: Events, settlement: int, start: States | None) -> States:
    """Every player's state before a group of the events."""
    pool = next(pool for pool in events.pools if pool.first <= settlement < pool.last)
    states = newcomers(system, events.player_names.len()) if start is None else start.copy()
    return states_after(system, events.columns, pool.first, settlement, states)


class Account:
    """One entrant's comparisons in a group, and what else moved it."""

    def __init__(self, system: System, events: Events, settlement: int, entrant: int, states: Any) -> None:
        self.system, self.events, self.settlement, self.entrant = system, events, settlement, entrant
        self.params = system.params()
        self.states = states
        self.columns = events.columns
        self.first = int(events.columns.entrants[settlement])
        self.me = self.entering(entrant)
        self.by_pairs = not rules.overrides(rules.rate_event, system)
        self.meetings = list(self.comparisons())

    def state(self, entrant: int) -> Any:
        """What the replay knew of an entrant before."""
        return read(self.states, int(self.columns.player[entrant]), self.system.newcomer())

    def entering(self, entrant: int) -> Any:
        """What an entrant brought."""
        return rules.entering_state(self.params, self.columns, entrant, self.state(entrant))

    def name(self, entrant: int) -> str:
        """An entrant's name."""
        return str(self.events.player_names[int(self.columns.player[entrant])])

    def comparisons(self) -> Iterator[Meeting]:
        """Each comparison of the entrant, heat by heat, in the order in which the replay adds them."""
        if not self.by_pairs:
            return
        columns, settlement = self.columns, self.settlement
        if not columns.heats.size:
            yield from self.in_heat(settlement, self.first, int(columns.entrants[settlement + 1]))
            return
        for heat in range(columns.heats[settlement], columns.heats[settlement + 1]):
            yield from self.in_heat(heat, int(columns.entries[heat]), int(columns.entries[heat + 1]))

    def in_heat(self, heat: int, start: int, stop: int) -> Iterator[Meeting]:
        """The entrant's comparisons in one heat: entries `start` to `stop`."""
        columns = self.columns
        size = float(stop - start)
        course = inputs.Heat(size, float(inputs.mode_at(columns, heat)))
        slots = [self.first + int(inputs.slot_at(columns, i, self.first)) for i in range(start, stop)]
        if self.entrant not in slots:
            return
        i = start + slots.index(self.entrant)
        mine = inputs.Entry(*map(float, inputs.entry_at(columns, i, size)))
        names = self.events.entry_heat
        for j in range(start, stop):
            if j == i or not inputs.comparable(columns, i, j):
                continue
            you = slots[j - start]
            theirs = inputs.Entry(*map(float, inputs.entry_at(columns, j, size)))
            entering = self.entering(you)
            if i < j:  # whoever stands first in the file is `a`, as in the replay
                comparison = rules.compare(self.params, self.me, entering, mine, theirs, course)[0]
            else:
                comparison = rules.compare(self.params, entering, self.me, theirs, mine, course)[1]
            gap = self.state(you).rating - self.state(self.entrant).rating
            yield Meeting(
                self.name(you),
                gap,
                "" if names is None else str(names[i]),
                comparison,
                float(inputs.weight_at(columns, heat)),
            )

    def totals(self) -> Any:
        """The evidence added up."""
        sums = list(blank(self.system.evidence_type))
        for meetings in self.meetings:
            comparison = times(rules.evidence(self.params, meetings.comparison), meetings.weight)
            sums = [a + b for a, b in zip(sums, comparison, strict=True)]
        return self.system.evidence_type(*sums)

    def rows(self, player: str, after: Any) -> Iterator[tuple[Any, ...]]:
        """The explanation's rows: comparisons, then other causes."""
        if not self.by_pairs:
            yield from self.left_out_rows(player, after)
            return
        totals, before = self.totals(), self.state(self.entrant)
        for meetings in self.meetings:
            credit_of = times(rules.credit(self.params, self.me, totals, after, meetings.comparison), meetings.weight)
            if credit_of.weight != 0.0:
                comparison = meetings.comparison
                yield (
                    player,
                    meetings.opponent,
                    meetings.heat,
                    comparison.result,
                    comparison.expected,
                    credit_of.weight,
                    credit_of.contribution,
                    OPPONENT,
                )
        causes = rules.causes(self.params, before, self.me, totals, after)
        for cause, points in causes._asdict().items():
            if points != 0.0:
                yield player, None, None, None, None, None, points, cause

    def left_out_rows(self, player: str, after: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a system that is no sum over pairs: each opponent left out, then what only all explain."""
        change = after.rating - self.state(self.entrant).rating
        explained = 0.0
        for out in contributions(self.system, self.columns, self.settlement, self.entrant, self.states, change):
            expected = float(rules.expect(self.params, self.me, self.entering(out.entrant)))
            explained += out.contribution
            yield player, self.name(out.entrant), None, out.result, expected, None, out.contribution, OPPONENT
        if change != explained:
            yield player, None, None, None, None, None, change - explained, JOINT

    def gaps(self) -> dict[str, float]:
        """How far above the player each opponent was rated before, in points."""
        if self.by_pairs:
            return {meetings.opponent: meetings.gap for meetings in self.meetings}
        mine = self.state(self.entrant).rating
        others = range(self.first, int(self.columns.entrants[self.settlement + 1]))
        return {self.name(other): self.state(other).rating - mine for other in others}
