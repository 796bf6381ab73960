"""The duels of an event: one player against one opponent in one heat, and what each did to the rating."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.engine import rules
from podium.engine.system import System, blank
from podium.engine.tables import inputs
from podium.engine.tables.encoding import Events
from podium.kernels.records import read, times
from podium.ledger.reasons.shares import Part, Settlement, fair_shares, settlement_of

TIME = "time"  # the cause of what a player's entry does without any opponent
SAME_TEAM, NEITHER_FINISHED, WITHOUT_WEIGHT = "in the same team", "did not finish either", "counts for nothing"


@dataclass(frozen=True, slots=True)
class Duel:
    """One opponent in one heat, seen from the player."""

    heat: int  # of the events' columns
    theirs: int  # the opponent's entry
    opponent: int  # the opponent's number among all entrants
    result: float  # 1 won, 0 lost, or between
    expected: float
    weight: float | None = None  # rating points at stake; None where a system has no such number
    contribution: float = 0.0  # what it did to the rating, in points
    comparison: Any = None


class Account:
    """One entrant's duels in a settlement, and what else moved its rating."""

    def __init__(self, system: System, events: Events, number: int, entrant: int, states: Any) -> None:
        self.system, self.events, self.entrant = system, events, entrant
        self.settlement: Settlement = settlement_of(events.columns, number)
        self.params = system.params()
        self.states, self.columns = states, events.columns
        self.me = self.entering(entrant)
        self.by_pairs = rules.is_by_pairs(system)
        self.left_out: list[tuple[int, int, str]] = []  # heat, entrant and why: who stood in a heat but is no opponent

    def state(self, entrant: int) -> Any:
        """What was known of an entrant before."""
        return read(self.states, int(self.columns.player[entrant]), self.system.newcomer())

    def entering(self, entrant: int) -> Any:
        """What an entrant brought."""
        return rules.entering_state(self.params, self.columns, entrant, self.state(entrant))

    def name(self, entrant: int) -> str:
        """An entrant's name."""
        return str(self.events.player_names[int(self.columns.player[entrant])])

    def lead(self, entrant: int) -> float:
        """How far above the player an opponent was rated before, in points."""
        return float(self.state(entrant).rating - self.state(self.entrant).rating)

    def heats(self) -> Iterator[tuple[int, int, int, int]]:
        """Each heat that the player entered: its number, its first entry, the one after the last, the player's."""
        start, stop, entrant = self.settlement.start, self.settlement.stop, self.settlement.entrant
        mine = np.flatnonzero(entrant == self.entrant) + int(start[0])
        for i, heat in zip(mine.tolist(), (np.searchsorted(start, mine, side="right") - 1).tolist(), strict=True):
            yield self.settlement.first_heat + heat, int(start[heat]), int(stop[heat]), i

    def entrant_of(self, entry: int) -> int:
        """Whose entry it is."""
        return int(self.settlement.entrant[entry - int(self.settlement.start[0])])

    def duels(self) -> list[Duel]:
        """Every duel, heat by heat, in the order in which the replay adds them; no contribution is known yet."""
        duels = self.compared() if self.by_pairs else self.ranked()
        return list(duels)

    def compared(self) -> Iterator[Duel]:
        """The duels of a system that is a sum over pairs."""
        columns = self.columns
        for heat, start, stop, i in self.heats():
            size = float(stop - start)
            course = inputs.Heat(size, float(inputs.mode_at(columns, heat)))
            mine = inputs.Entry(*map(float, inputs.entry_at(columns, i, size)))
            for j in range(start, stop):
                if j == i:
                    continue
                opponent = self.entrant_of(j)
                if not inputs.comparable(columns, i, j):
                    why = SAME_TEAM if columns.side.size and columns.side[i] == columns.side[j] else NEITHER_FINISHED
                    self.left_out.append((heat, opponent, why))
                    continue
                theirs = inputs.Entry(*map(float, inputs.entry_at(columns, j, size)))
                entering = self.entering(opponent)
                if i < j:  # whoever stands first in the file is `a`, as in the replay
                    comparison = rules.compare(self.params, self.me, entering, mine, theirs, course)[0]
                else:
                    comparison = rules.compare(self.params, entering, self.me, theirs, mine, course)[1]
                yield Duel(
                    heat, j, opponent, float(comparison.result), float(comparison.expected), comparison=comparison
                )

    def ranked(self) -> Iterator[Duel]:
        """The duels of a system that judges a whole field: all but with team mates who share the player's place."""
        columns = self.columns
        for heat, start, stop, i in self.heats():
            for j in range(start, stop):
                if j == i:
                    continue
                opponent, lead = self.entrant_of(j), float(columns.place[j] - columns.place[i])
                if columns.side.size and columns.side[i] == columns.side[j] and lead == 0.0:
                    self.left_out.append((heat, opponent, SAME_TEAM))
                    continue
                expected = float(rules.expect(self.params, self.me, self.entering(opponent)))
                yield Duel(heat, j, opponent, 1.0 if lead > 0.0 else 0.0 if lead < 0.0 else 0.5, expected)

    def credited(self, duels: list[Duel], after: Any) -> tuple[list[Duel], dict[str, float]]:
        """The duels with what each did, by the rules of a sum over pairs, and other causes in points."""
        weights = [float(inputs.weight_at(self.columns, duel.heat)) for duel in duels]
        sums = list(blank(self.system.evidence_type))
        for duel, weight in zip(duels, weights, strict=True):
            evidence = times(rules.evidence(self.params, duel.comparison), weight)
            sums = [a + b for a, b in zip(sums, evidence, strict=True)]
        totals = self.system.evidence_type(*sums)
        counting = []
        for duel, weight in zip(duels, weights, strict=True):
            credit = times(rules.credit(self.params, self.me, totals, after, duel.comparison), weight)
            if credit.weight == 0.0:
                self.left_out.append((duel.heat, duel.opponent, WITHOUT_WEIGHT))
                continue
            counting.append(replace(duel, weight=float(credit.weight), contribution=float(credit.contribution)))
        causes = rules.causes(self.params, self.state(self.entrant), self.me, totals, after)._asdict()
        return counting, {cause: float(points) for cause, points in causes.items() if points != 0.0}

    def shared(
        self, duels: list[Duel], parts: list[list[int]], whole_heats: list[list[int]], change: float
    ) -> tuple[list[Duel], dict[str, float]]:
        """The duels with what each did, as fair shares of the change, and what the player's entry does alone.

        Args:
            parts: numbers of the duels that share a part.
            whole_heats: of each part, the heats that are gone without it; none where only opponents are.
        """
        by_part = []
        for numbers, heats in zip(parts, whole_heats, strict=True):
            members = [duels[number].theirs for number in sorted(numbers, key=lambda k: self.lead(duels[k].opponent))]
            spans = [range(*self.span(heat)) for heat in heats]
            by_part.append(Part([entry for span in spans for entry in span] or members, members, alone=bool(heats)))
        shares = fair_shares(self.system, self.settlement, self.entrant, self.states, change, by_part)
        of_entry = {
            entry: points
            for part, each in zip(by_part, shares.of_members, strict=True)
            for entry, points in zip(part.members, each, strict=True)
        }
        counting = []
        for duel in duels:
            points = of_entry[duel.theirs]
            if points == 0.0 and not inputs.comparable(self.columns, self.entry_in(duel.heat), duel.theirs):
                self.left_out.append((duel.heat, duel.opponent, NEITHER_FINISHED))
                continue
            counting.append(replace(duel, contribution=points))
        return counting, {TIME: shares.alone} if shares.alone != 0.0 else {}

    def span(self, heat: int) -> tuple[int, int]:
        """The entries of a heat: the first, and the one after the last."""
        number = heat - self.settlement.first_heat
        return int(self.settlement.start[number]), int(self.settlement.stop[number])

    def entry_in(self, heat: int) -> int:
        """The player's entry in a heat."""
        start, stop = self.span(heat)
        base = int(self.settlement.start[0])
        return start + int(np.argmax(self.settlement.entrant[start - base : stop - base] == self.entrant))
