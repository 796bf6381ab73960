"""The duels of an event and their effects on the rating. A duel is a player against one opponent in one heat."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from podium.engine import inputs, rules
from podium.engine.kernel_calls import run_kernel
from podium.engine.large_heats import finishes
from podium.engine.system import ELO_SCALE, System, zeros
from podium.engine.tables.encoding import Events
from podium.engine.tables.sides import empty_sides, gather_sides
from podium.kernels.compiled import compile_twice
from podium.kernels.records import plus, read, times, write
from podium.ledger.reasons.shares import MAX_PARTS, Part, RatingUpdate, fair_shares, update_of
from podium.support.immutable import immutable
from podium.support.words import shown

TIME = "time"  # the cause for the effect that a player's entry has without any opponent
MARGIN = "margin"  # the cause for the effect of margins that were larger or smaller than expected
SAME_TEAM, NEITHER_FINISHED, WITHOUT_WEIGHT = "in the same team", "did not finish either", "counts for nothing"

COMPILED_MIN_ENTRIES = 40  # with this many entries or more, ten events are faster with a kernel than in plain Python


def _list_compared(
    params: Any, prototypes: Any, columns: Any, heat: int, first: int, span: Any, i: int, states: Any, table: Any
) -> None:
    """Compare the entries of a heat with entry `i`, and write the comparisons to `table`, one row per entry.

    `first` is the first entrant of the update. `span` contains the heat's first entry and the entry after the last one.
    `states` holds the states before the event, with shape (players, fields of a state).
    """
    newcomer, _, _ = prototypes
    start, stop = span
    size, me = float(stop - start), first + inputs.slot_at(columns, i, first)
    course, mine = inputs.Heat(size, inputs.mode_at(columns, heat)), inputs.entry_at(columns, i, size)
    a = rules.enter(params, read(states, columns.player[me], newcomer), inputs.entrant_at(columns, me))
    for j in range(start, stop):
        if i == j or not inputs.comparable(columns, i, j):
            continue
        you, theirs = first + inputs.slot_at(columns, j, first), inputs.entry_at(columns, j, size)
        b = rules.enter(params, read(states, columns.player[you], newcomer), inputs.entrant_at(columns, you))
        # As in the replay, the entrant who comes first in the file is `a`.
        one = (
            rules.compare(params, a, b, mine, theirs, course)[0]
            if i < j
            else rules.compare(params, b, a, theirs, mine, course)[1]
        )
        write(table, j - start, one)


def _credit_all(
    params: Any, prototypes: Any, me: Any, after: Any, example: Any, table: Any, weights: Any, given: Any
) -> Any:
    """Write the credit for each comparison in `table` to `given`, and return the sum of the evidence."""
    totals = prototypes[2]
    for k in range(len(weights)):
        totals = plus(totals, times(rules.evidence(params, read(table, k, example)), float(weights[k])))
    for k in range(len(weights)):
        one = rules.credit(params, me, totals, after, read(table, k, example))
        write(given, k, times(one, float(weights[k])))
    return totals


LIST_COMPARED, CREDIT_ALL = compile_twice(_list_compared), compile_twice(_credit_all)


@immutable
class Duel:
    """One opponent in one heat, seen from the player's side."""

    heat: int  # number of the heat in the events' columns
    theirs: int  # the opponent's entry
    opponent: int  # the opponent's number among all entrants
    result: float  # 1 for a win, 0 for a loss, or in between
    expected: float
    weight: float | None = None  # rating points at stake; None if the system has no such number
    contribution: float = 0.0  # effect on the rating, in points
    comparison: Any = None


class ComparedHeat(NamedTuple):
    """The comparisons of a player with the opponents in a heat, one per opponent."""

    number: int  # number of the heat in the events' columns
    mine: int  # the player's entry
    theirs: Any  # int64: the opponents' entries
    kind: type[Any]  # the type of a comparison
    table: Any  # float64 (opponents, fields of a comparison)
    shares: Any  # float64: each opponent's share of the side


class Account:
    """One entrant's duels in a rating update, and the other causes of the change."""

    def __init__(self, system: System, events: Events, number: int, entrant: int, states: Any) -> None:
        self.system, self.events, self.entrant = system, events, entrant
        self.update: RatingUpdate = update_of(events.columns, number)
        self.params = system.params()
        self.states, self.columns = states, events.columns
        self.brought: dict[int, Any] = {}  # entering state by entrant, cached for several heats
        self.names: dict[int, str] = {}
        self.me = self.entering(entrant)
        self.by_pairs = rules.is_by_pairs(system)
        self.left_out: list[tuple[int, int, str]] = []  # heat, entrant and reason, for entrants who are not compared

    def state(self, entrant: int) -> Any:
        """Return an entrant's state before the update."""
        return read(self.states, int(self.columns.player[entrant]), self.system.newcomer())

    def entering(self, entrant: int) -> Any:
        if entrant not in self.brought:
            self.brought[entrant] = rules.entering_state(self.params, self.columns, entrant, self.state(entrant))
        return self.brought[entrant]

    def name(self, entrant: int) -> str:
        if entrant not in self.names:
            self.names[entrant] = str(self.events.player_names[int(self.columns.player[entrant])])
        return self.names[entrant]

    def lead(self, entrant: int) -> float:
        """Return the opponent's rating minus the player's before the event, in points."""
        them, me = self.columns.player[entrant], self.columns.player[self.entrant]
        rating = self.system.column("rating")
        return float(self.states[them, rating] - self.states[me, rating])

    def heats(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the player's heats: the number, first entry, entry after the last, and player's entry of each."""
        start, stop, entrant = self.update.start, self.update.stop, self.update.entrant
        mine = np.flatnonzero(entrant == self.entrant) + int(start[0])
        for i, heat in zip(mine.tolist(), (np.searchsorted(start, mine, side="right") - 1).tolist(), strict=True):
            yield self.update.first_heat + heat, int(start[heat]), int(stop[heat]), i

    def entrant_of(self, entry: int) -> int:
        return int(self.update.entrant[entry - int(self.update.start[0])])

    def duels(self) -> list[Duel]:
        """Return every duel, heat by heat, in the replay's order, without contributions."""
        if not self.by_pairs:
            return list(self.ranked())
        return [
            Duel(heat.number, j, self.entrant_of(j), one.result, one.expected, comparison=one)
            for heat in self.compared
            for j, one in zip(heat.theirs.tolist(), map(heat.kind._make, heat.table.tolist()), strict=True)
        ]

    @functools.cached_property
    def compared(self) -> list[ComparedHeat]:
        """The comparisons in each heat of the player, in a system that sums over pairs."""
        columns = self.columns
        in_sides = self.system.rates_sides and columns.side.size + columns.home.size + columns.shared.size > 0
        return [*(self.faced() if in_sides else self.met())]

    def met(self) -> Iterator[ComparedHeat]:
        """Yield the comparisons in each heat, in a system that compares players with players."""
        for heat, start, stop, i in self.heats():
            theirs = self.opponents(heat, start, stop, i)
            if theirs.size:
                kind, table = self.comparisons(heat, start, stop, i, theirs)
                yield ComparedHeat(heat, i, theirs, kind, table, np.ones(theirs.size))

    def opponents(self, heat: int, start: int, stop: int, i: int) -> Any:
        """Return the entries of a heat that are compared with the player's entry. Note the others as left out."""
        columns, others = self.columns, np.arange(start, stop)
        mates = columns.side[start:stop] == columns.side[i] if columns.side.size else others == i
        compared = ~mates
        if not self.by_pairs:
            compared |= columns.place[start:stop] != columns.place[i]
        elif not finishes(columns, i):
            compared &= columns.finished[start:stop] != 0.0
        for j in others[~compared & (others != i)].tolist():
            self.left_out.append((heat, self.entrant_of(j), SAME_TEAM if mates[j - start] else NEITHER_FINISHED))
        return others[compared]

    def comparisons(self, heat: int, start: int, stop: int, i: int, theirs: Any) -> tuple[type[Any], Any]:
        """Compare the player's entry with opponents in a heat.

        Returns:
            The type of a comparison, and an array with one row of its fields per opponent.
        """
        columns, size, first = self.columns, float(stop - start), self.update.entrants[0]
        course = inputs.Heat(size, float(inputs.mode_at(columns, heat)))
        mine = inputs.Entry(*map(float, inputs.entry_at(columns, i, size)))

        def with_entry(j: int) -> Any:
            theirs = inputs.Entry(*map(float, inputs.entry_at(columns, j, size)))
            them = self.entering(self.entrant_of(j))
            if i < j:  # as in the replay, the player who comes first in the file is `a`
                return rules.compare(self.params, self.me, them, mine, theirs, course)[0]
            return rules.compare(self.params, them, self.me, theirs, mine, course)[1]

        kind = type(with_entry(int(theirs[0])))
        if stop - start < COMPILED_MIN_ENTRIES:
            return kind, np.array([with_entry(j) for j in theirs.tolist()])
        table, place = np.empty((stop - start, len(kind._fields))), (heat, first, (start, stop), i)
        run_kernel(
            self.system, LIST_COMPARED, stop - start, *self.system.arguments(), columns, *place, self.states, table
        )
        return kind, table[theirs - start]

    def faced(self) -> Iterator[ComparedHeat]:
        """Yield the comparisons in each heat, in a system that rates a side as a single player.

        The members of an opposing side have equal shares.
        """
        columns, first = self.columns, int(self.columns.entrants[self.update.number])
        prototype = zeros(self.system.entering_type)
        entering = np.array([self.entering(k) for k in range(first, int(columns.entrants[self.update.number + 1]))])
        for heat, start, stop, i in self.heats():
            sides = empty_sides(stop - start, len(prototype), len(self.system.kinds))
            count = gather_sides(columns, start, stop, first, entering, prototype, sides)
            members = [[*dict.fromkeys(sides.entry[a:b])] for a, b in pairwise(sides.start[: count + 1].tolist())]
            mine = next(number for number, entries in enumerate(members) if i in entries)
            ranks = np.array([float(inputs.rank_at(columns, entries[0])) for entries in members])
            lines = []
            for entries, rank in zip(members, ranks, strict=True):
                ahead, level = float((ranks < rank).sum()), float((ranks == rank).sum())
                line = inputs.Entry(*map(float, inputs.entry_at(columns, entries[0], float(count))))
                lines.append(line._replace(place=ahead + 0.5 * (level + 1.0), rank=ahead + 1.0))
            course, theirs, table, shares = inputs.Heat(float(count), float(inputs.mode_at(columns, heat))), [], [], []
            for other, entries in enumerate(members):
                if other == mine or not inputs.comparable(columns, i, entries[0]):
                    same = other == mine or (columns.side.size and columns.side[i] == columns.side[entries[0]])
                    why = SAME_TEAM if same else NEITHER_FINISHED
                    self.left_out += [(heat, self.entrant_of(j), why) for j in entries if j != i]
                    continue
                a, b = (mine, other) if mine < other else (other, mine)  # the player who comes first in the file is `a`
                whole = rules.compare_sides(self.params, prototype, sides, a, b)
                both = rules.compare(self.params, whole[0], whole[1], lines[a], lines[b], course)
                comparison = both[0] if mine < other else both[1]
                theirs += entries
                table += [comparison] * len(entries)
                shares += [1.0 / len(entries)] * len(entries)
            if theirs:
                yield ComparedHeat(heat, i, np.array(theirs), type(table[0]), np.array(table), np.array(shares))

    def ranked(self) -> Iterator[Duel]:
        """Yield the duels in a system that rates whole fields, without team mates who share the player's place."""
        columns, chances = self.columns, dict[int, float]()
        for heat, start, stop, i in self.heats():
            for j in self.opponents(heat, start, stop, i).tolist():
                opponent, lead = self.entrant_of(j), float(columns.place[j] - columns.place[i])
                if opponent not in chances:
                    chances[opponent] = float(rules.expect(self.params, self.me, self.entering(opponent)))
                result = 1.0 if lead > 0.0 else 0.0 if lead < 0.0 else 0.5
                yield Duel(heat, j, opponent, result, chances[opponent])

    def credited(self, duels: list[Duel], after: Any) -> tuple[list[Duel], dict[str, float]]:
        """Return the contributions of the duels, and the points from other causes, if the system sums over pairs."""
        given, causes = self.credit(after)
        counting = []
        for duel, (weight, contribution) in zip(duels, given.tolist(), strict=True):
            if weight == 0.0:
                self.left_out.append((duel.heat, duel.opponent, WITHOUT_WEIGHT))
                continue
            counting.append(replace(duel, weight=weight, contribution=contribution))
        return counting, causes

    def credit(self, after: Any) -> tuple[Any, dict[str, float]]:
        """Return the weight and the points of each comparison, as an array, and the points from each other cause."""
        heats = self.compared
        weights = [inputs.weight_at(self.columns, heat.number) * heat.shares for heat in heats]
        given = np.empty((sum(map(len, weights)), 2))
        totals = zeros(self.system.evidence_type)
        if heats:
            example = zeros(heats[0].kind)
            numbers = (
                self.me,
                after,
                example,
                np.concatenate([heat.table for heat in heats]),
                np.concatenate(weights),
                given,
            )
            if len(given) < COMPILED_MIN_ENTRIES:
                totals = _credit_all(self.params, self.system.prototypes(), *numbers)
            else:
                totals = run_kernel(self.system, CREDIT_ALL, len(given), *self.system.arguments(), *numbers)
        causes = rules.causes(self.params, self.state(self.entrant), self.me, totals, after)._asdict()
        return given, {cause: float(points) for cause, points in causes.items() if points != 0.0}

    def margins(self, duels: list[Duel]) -> list[tuple[float, float]]:
        """Return the margin and the expected margin of each heat in which the margin counted."""
        score, found = self.columns.score, {}
        for duel in duels:
            expected = self.system.expected_margin(duel.comparison)
            if expected is not None:
                found[duel.heat] = float(score[self.entry_in(duel.heat)] - score[duel.theirs]), expected
        return list(found.values())

    def shared(
        self, duels: list[Duel], parts: list[list[int]], whole_heats: list[list[int]], change: float
    ) -> tuple[list[Duel], dict[str, float]]:
        """Return the duels with their fair shares of the change, and the effect of the player's entry by itself."""
        by_part = []
        for numbers, heats in zip(parts, whole_heats, strict=True):
            members = [duels[number].theirs for number in sorted(numbers, key=lambda k: self.lead(duels[k].opponent))]
            spans = [range(*self.span(heat)) for heat in heats]
            by_part.append(Part([entry for span in spans for entry in span] or members, members, alone=bool(heats)))
        alone, of_members = fair_shares(self.system, self.update, self.entrant, self.states, change, by_part)
        of_entry = {
            entry: points
            for part, shares in zip(by_part, of_members, strict=True)
            for entry, points in zip(part.members, shares, strict=True)
        }
        counting = []
        for duel in duels:
            points = of_entry[duel.theirs]
            if points == 0.0 and not inputs.comparable(self.columns, self.entry_in(duel.heat), duel.theirs):
                self.left_out.append((duel.heat, duel.opponent, NEITHER_FINISHED))
                continue
            counting.append(replace(duel, contribution=points))
        return counting, {TIME: alone} if alone != 0.0 else {}

    def span(self, heat: int) -> tuple[int, int]:
        """Return the range of entries in a heat: the first entry, and the entry after the last one."""
        number = heat - self.update.first_heat
        return int(self.update.start[number]), int(self.update.stop[number])

    def entry_in(self, heat: int) -> int:
        start, stop = self.span(heat)
        base = int(self.update.start[0])
        return start + int(np.argmax(self.update.entrant[start - base : stop - base] == self.entrant))


HEAT, OPPONENT, BAND, CAUSE = "heat", "opponent", "band", "cause"  # the row of a duel has the cause OPPONENT
NEAR_GAP, FAR_GAP = 50.0, 200.0  # gaps between bands, on Elo's scale; converted for other scales


@immutable
class Group:
    kind: str  # HEAT, OPPONENT, BAND or CAUSE
    label: str  # "Heat 2", "Overall", "Chidi", "200+ below", "Base points"
    result: str  # the player's result: "quit, lost all 5"; of an opponent, the gap "723 below"; empty for a cause
    duels: int
    expected: float  # expected wins
    won: float  # duels won; a draw is a half
    points: float
    shown: Decimal  # the displayed points; those of all groups add up to the displayed change


@immutable
class Heading:
    """The properties shared by all duels in a part."""

    kind: str
    heats: tuple[int, ...] = ()  # numbers in the events' columns
    edges: tuple[Decimal | None, Decimal | None] = (None, None)  # of a band: first inclusive, second exclusive


@immutable
class Partition:
    headings: list[Heading]
    members: list[list[int]]  # the indices of each heading's duels

    def among(self, before: Sequence[int], after: Sequence[int]) -> "Partition":
        """Return the partition restricted to the duels with these entries.

        Parts without duels are removed.
        """
        number_of = {entry: number for number, entry in enumerate(after)}
        members = [[number_of[before[k]] for k in member if before[k] in number_of] for member in self.members]
        pairs = [(heading, group) for heading, group in zip(self.headings, members, strict=True) if group]
        return Partition([heading for heading, _ in pairs], [group for _, group in pairs])


def partition(
    duels: Sequence[Duel], leads: dict[int, float], overall: set[int], system: System, most: int
) -> Partition:
    """Divide the duels by heat.

    Within a single heat, divide them by opponent if there are few, or else by band of strength.
    """
    heats = sorted({duel.heat for duel in duels})
    if len(heats) > 1:
        headings = [Heading(HEAT, heats=run) for run in runs_of_heats(heats, overall, most)]
        part_of = {heat: k for k, heading in enumerate(headings) for heat in heading.heats}
        return Partition(headings, members_of([part_of[duel.heat] for duel in duels], len(headings)))
    if len(duels) <= min(MAX_PARTS, most):
        headings = [Heading(OPPONENT) for _ in duels]
        return Partition(headings, [[k] for k in range(len(duels))])
    edges = band_edges(system, most)
    limits = [None, *edges, None]
    digits = system.digits - 1
    gaps = [shown(leads[duel.opponent], digits) for duel in duels]
    members = members_of([sum(gap >= edge for edge in edges) for gap in gaps], len(edges) + 1)
    bands = [(Heading(BAND, edges=(limits[k], limits[k + 1])), group) for k, group in enumerate(members) if group]
    return Partition([heading for heading, _ in bands], [group for _, group in bands])


def runs_of_heats(heats: list[int], overall: set[int], most: int) -> list[tuple[int, ...]]:
    """Return up to `most` runs of consecutive heats. The overall result gets its own run if possible."""
    if len(heats) <= most:
        return [(heat,) for heat in heats]
    last = [heats[-1:]] if heats[-1] in overall and most > 1 else []
    rest = heats[: len(heats) - len(last)]
    count = most - len(last)
    cuts = [len(rest) * k // count for k in range(count + 1)]
    return [tuple(run) for run in [*(rest[cuts[k] : cuts[k + 1]] for k in range(count)), *last]]


def members_of(parts: Sequence[int], count: int) -> list[list[int]]:
    """Return the indices of the members of each part."""
    members: list[list[int]] = [[] for _ in range(count)]
    for number, part in enumerate(parts):
        members[part].append(number)
    return members


def band_edges(system: System, most: int) -> list[Decimal]:
    """Return the gaps at which bands begin, lowest first. There are five bands, or `most` if that is smaller."""
    scale, digits = system.points_per_logit / ELO_SCALE, system.digits - 1
    unit = Decimal(1).scaleb(-digits)
    near, far = (shown(float(f"{gap * scale:.2g}"), digits) for gap in (NEAR_GAP, FAR_GAP))
    if most >= 5:  # noqa: PLR2004  (bands)
        return [unit - far, unit - near, near, far]
    return [unit - near, near] if most >= 3 else [Decimal(0)]  # noqa: PLR2004  (bands)
