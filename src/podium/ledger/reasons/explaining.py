"""Explanations of rating changes, using the same compiled rules as the replay."""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from podium.engine.replay import Replayed, States, newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.equipment import kind_and_name
from podium.engine.tables.selection import UNFINISHED_STATUS
from podium.errors import UnknownError
from podium.ledger.history import system_at
from podium.ledger.reasons import SCHEMA, DuelCount, EquipmentPart, Explanation, wording
from podium.ledger.reasons.duels import (
    BAND,
    CAUSE,
    HEAT,
    MARGIN,
    OPPONENT,
    Account,
    Duel,
    Group,
    Heading,
    Partition,
    partition,
)
from podium.ledger.reasons.shares import affordable_parts, shown_table
from podium.ledger.reasons.standings import WORDS, Standings, ranked_by, standings
from podium.results.derived_heats import OVERALL
from podium.results.names import normalise
from podium.support.words import capitalised, shown, shown_change, shown_parts, suggestion

WHOLE_FIELD = (
    "{title} judges a whole field at once. Each part gets its fair share of the change (the Shapley"
    " value): its average effect over all orders in which the parts could be added."
)
UNLIMITED = 10**9  # largest number of parts if the change is a sum over duels


def explain(system: System, events: Events, replayed: Replayed, event_id: str, player: str) -> Explanation:
    """Explain a player's rating change in an event.

    Within a rating period, the change belongs to the player's last event, and the explanation lists the duels of the
    whole period.
    """
    _, player, entrant, ends_period = find_entrant(events, event_id, player)
    if not ends_period:
        before = float(replayed.before[entrant])
        text = f"{player}'s rating is updated at the end of the rating period, with the last event in it."
        empty = pl.DataFrame(schema=SCHEMA)
        return Explanation(event_id, player, before, 0.0, empty, "", text, before, system.digits, text)
    found = Breakdown(system, events, replayed, event_id, player)
    explanation = found.explanation()
    equipment = equipment_parts(found.account, replayed, found.after)
    by_margin = explanation.rows.filter(pl.col("cause") == MARGIN)["group"].to_list()
    of_result = [group for k, group in enumerate(explanation.groups) if group.kind != CAUSE or k in by_margin]
    own = sum((group.shown for group in of_result), Decimal(0))
    words = wording.shared_words(player, own, [(use.kind, use.name, use.shown) for use in equipment])
    return replace(explanation, equipment=equipment, shared=words)


def equipment_parts(account: Account, replayed: Replayed, after: Any) -> tuple[EquipmentPart, ...]:
    """Return the change of each piece of the player's equipment, if both are rated as one unit and play only once."""
    columns, system, heats = account.columns, account.system, [*account.heats()]
    if not columns.shared.size or len(heats) != 1 or system.has_offsets:
        return ()
    ((_, start, stop, entry),) = heats
    if columns.side.size and (columns.side[start:stop] == columns.side[entry]).sum() > 1:
        return ()
    moved = float(after.rating - account.me.rating)
    parts, kinds = [], len(system.kinds)
    for slot in columns.shared[entry * kinds : (entry + 1) * kinds].tolist():
        if slot >= 0:
            item = account.update.entrants[0] + slot
            item_after = system.state_type(*replayed.after[item].tolist())
            points = system.equipment_points(moved, account.me, after, account.entering(item), item_after)
            parts.append(EquipmentPart(*kind_and_name(account.name(item)), points, shown(points, system.digits)))
    return tuple(parts)


def find_entrant(events: Events, event_id: str, player: str) -> tuple[list[int], str, int, bool]:
    """Return an event's rows, the player's name and entrant number, and True if the change belongs to this event."""
    frame = events.results.frame
    is_of_event = frame["event_id"] == event_id
    rows = np.flatnonzero(is_of_event.to_numpy())
    if not rows.size:
        hint = suggestion(event_id, frame["event_id"].unique().to_list())
        raise UnknownError(f"event {event_id!r} is not in {events.results.source}{hint}")
    players = frame["player"].filter(is_of_event).to_list()
    player = player if player in players else normalise(player)
    own = [row for row, name in zip(rows.tolist(), players, strict=True) if name == player]
    if not own:
        hint = suggestion(player, players)
        raise UnknownError(f"{player!r} did not take part in event {event_id!r}{hint}")
    found = np.flatnonzero(np.isin(events.ledger.row.array, own))
    if not found.size:
        raise UnknownError(
            f"{player!r} is not rated in event {event_id!r}: it was not ranked, did not start, was disqualified, "
            "or the event had fewer than two entries that count"
        )
    ends_period = events.ledger.ends_period
    entrant = events.ledger.entrant.at(int(found[0]))
    return rows.tolist(), player, entrant, ends_period is None or bool(ends_period[found[0]])


def update_number(events: Events, entrant: int) -> int:
    return int(np.searchsorted(events.columns.entrants, entrant, side="right")) - 1


def account_of(system: System, events: Events, replayed: Replayed, entrant: int) -> Account:
    update = update_number(events, entrant)
    states = states_before(system, events, update, replayed)
    return Account(system_at(system, events, replayed, update), events, update, entrant, states)


def states_before(system: System, events: Events, update: int, replayed: Replayed) -> States:
    """Return the states before a rating update, as an array of shape (players, fields).

    The rows of players who do not take part are undefined.
    """
    columns = events.columns
    pool = next(pool for pool in events.pools if pool.first <= update < pool.last)
    first, now, stop = (int(columns.entrants[row]) for row in (pool.first, update, update + 1))
    last = np.full(events.player_names.len(), -1)
    last[columns.player[first:now]] = np.arange(first, now)
    players = columns.player[now:stop]
    played = players[last[players] >= 0]
    states = newcomers(system, last.size) if replayed.start is None else replayed.start.copy()
    states[played] = replayed.after[last[played]]
    return states


class Breakdown:
    """One rating change, divided into parts, with each part's effect and description."""

    def __init__(self, system: System, events: Events, replayed: Replayed, event_id: str, player: str) -> None:
        self.event_rows, self.player, entrant, _ = find_entrant(events, event_id, player)
        self.account = account_of(system, events, replayed, entrant)
        self.system, self.events, self.event_id = self.account.system, events, event_id
        self.after = system.state_type(*replayed.after[entrant].tolist())
        self.before = float(replayed.before[entrant])  # for a newcomer, the starting rating
        self.delta = float(self.after.rating - self.before)
        self.change = shown_change(self.before, float(self.after.rating), system.digits)
        self.entry_in = {heat: i for heat, _, _, i in self.account.heats()}
        ids = {self.event_of(heat) for heat in self.entry_in}
        self.several_events = len(ids) > 1
        duels = self.account.duels()
        self.leads = {duel.opponent: self.account.lead(duel.opponent) for duel in duels}
        if self.account.by_pairs:
            self.duels, self.causes = self.account.credited(duels, self.after)
            self.parts = self.partition(self.duels, UNLIMITED)
        else:
            parts = self.partition(duels, affordable_parts(self.account.update))
            heats = [list(heading.heats) for heading in parts.headings]
            self.duels, self.causes = self.account.shared(duels, parts.members, heats, self.delta)
            self.parts = parts.among([duel.theirs for duel in duels], [duel.theirs for duel in self.duels])

    @cached_property
    def table(self) -> Standings:
        """The results of the event."""
        frame = self.events.results.frame[self.event_rows]
        return standings(self.events, self.account.update, frame, self.event_rows)

    def event_of(self, heat: int) -> str:
        return str(self.events.results.frame["event_id"][self.events.entry_row.at(self.entry_in[heat])])

    def name_of(self, heat: int) -> str:
        """Return the name of one of the player's heats, or an empty string."""
        return "" if self.events.entry_heat is None else str(self.events.entry_heat[self.entry_in[heat]])

    def words_of(self, heat: int) -> str:
        """Return the name of one of the player's heats for sentences."""
        return wording.heat_words(self.name_of(heat), self.event_of(heat) if self.several_events else None)

    def status_in(self, heat: int) -> str:
        """Return the player's status after a heat, as in the results."""
        i = self.entry_in[heat]
        finished = self.events.columns.finished
        if not finished.size or finished[i]:
            return "finished"
        if self.name_of(heat) == OVERALL:
            return "dnf"
        sent = str(self.events.results.frame["status"][self.events.entry_row.at(i)])
        return sent if sent in UNFINISHED_STATUS else "quit"  # a quit that the system carries over to later heats

    def explanation(self) -> Explanation:
        groups, phrases, rows = self.grouped(self.parts, self.duels, self.causes)
        result = self.outcome(self.duels)
        return Explanation(
            event_id=self.event_id,
            player=self.player,
            rating_before=self.before,
            delta=self.delta,
            rows=rows,
            outcome=result,
            summary=wording.summary(self.player, result, phrases, self.change),
            rating_after=float(self.after.rating),
            digits=self.system.digits,
            verdict=wording.verdict(self.player, result, self.change),
            cause=wording.cause(phrases, self.change),
            decisive=wording.deciding(phrases, self.change),
            groups=groups,
            duels=self.duels_in_words(self.duels),
            ranked_by=ranked_by(self.table, self.player),
            standings=self.table.frame(),
            method=WHOLE_FIELD.format(title=self.system.title) if len(groups[1:]) and not self.account.by_pairs else "",
        )

    def partition(self, duels: Sequence[Duel], most: int) -> Partition:
        """Divide the duels into at most `most` parts of the change."""
        overall = {heat for heat in self.entry_in if self.name_of(heat) == OVERALL}
        return partition(duels, self.leads, overall, self.system, most)

    def grouped(
        self, parts: Partition, duels: Sequence[Duel], causes: dict[str, float]
    ) -> tuple[tuple[Group, ...], list[wording.Phrases], pl.DataFrame]:
        """Return the groups of the change, the phrases for each group, and the rows of all groups."""
        digits = self.system.digits
        points = [math.fsum(duels[k].contribution for k in members) for members in parts.members]
        visible = shown_parts([*points, *causes.values()], self.change, digits)
        cells = self.shown_duels(parts, duels, visible)
        groups, phrases = [], []
        rows: list[tuple[Any, ...]] = [()] * len(duels)
        for number, (heading, members) in enumerate(zip(parts.headings, parts.members, strict=True)):
            mine = [duels[k] for k in members]
            label, result, subjects = self.words_for(heading, mine, visible[number])
            expected, won = math.fsum(duel.expected for duel in mine), math.fsum(duel.result for duel in mine)
            groups.append(Group(heading.kind, label, result, len(mine), expected, won, points[number], visible[number]))
            phrases.append(wording.Phrases(heading.kind, visible[number], *subjects))
            for k, duel, cell in zip(members, mine, cells[number], strict=True):
                who = self.player, self.account.name(duel.opponent), self.name_of(duel.heat)
                numbers = duel.result, duel.expected, duel.weight, duel.contribution
                rows[k] = *who, *numbers, OPPONENT, self.leads[duel.opponent], number, float(cell)
        for number, (cause, amount) in enumerate(causes.items(), start=len(groups)):
            words = subject = wording.cause_words(cause)
            if cause == MARGIN:
                words = wording.margin_words(self.account.margins(list(duels)))
                subject = f"{subject} ({words})"
            cell = visible[number]
            groups.append(Group(CAUSE, capitalised(words), "", 0, 0.0, 0.0, amount, cell))
            phrases.append(wording.Phrases(CAUSE, cell, subject, subject))
            rows.append((self.player, None, None, None, None, None, amount, cause, None, number, float(cell)))
        return tuple(groups), phrases, pl.DataFrame(rows, schema=SCHEMA, orient="row")

    def shown_duels(self, parts: Partition, duels: Sequence[Duel], visible: Sequence[Decimal]) -> list[list[Decimal]]:
        """Return the displayed points of the duels in each part.

        They add up to the displayed points of each part and of each opponent.
        """
        digits = self.system.digits
        points = [[duels[k].contribution for k in members] for members in parts.members]
        opponents = [{duels[k].opponent: number for number, k in enumerate(members)} for members in parts.members]
        is_table = len(opponents) > 1 and all(opponent.keys() == opponents[0].keys() for opponent in opponents)
        if not is_table or any(len(heading.heats) != 1 for heading in parts.headings):
            return [shown_parts(row, total, digits) for row, total in zip(points, visible, strict=False)]
        columns = list(visible[: len(opponents)])
        table = [[part[of[who]] for part, of in zip(points, opponents, strict=True)] for who in opponents[0]]
        rows = shown_parts([math.fsum(row) for row in table], sum(columns, Decimal(0)), digits)
        cells = dict(zip(opponents[0], shown_table(table, rows, columns, digits), strict=True))
        return [[cells[who][k] for who in of] for k, of in enumerate(opponents)]

    def words_for(self, heading: Heading, duels: Sequence[Duel], points: Decimal) -> tuple[str, str, tuple[str, str]]:
        """Return a group's label and outcome, and its name in sentences about the player and to the player."""
        against, digits = wording.tally([duel.result for duel in duels]), self.system.digits
        if heading.kind == HEAT:
            names = [self.words_of(heat) for heat in heading.heats]
            status = self.status_in(heading.heats[0]) if len(names) == 1 else "finished"
            result = wording.heat_result(against, status)
            return wording.heats_label(names), result, wording.heat_subject(names, status)
        opponent = duels[0].opponent
        name, lead = self.account.name(opponent), self.leads[opponent]
        subjects = wording.opponent_subject(name, against, lead, points, digits)
        if heading.kind == BAND:
            label = wording.band_label(heading, digits)
            if len(duels) > 1:
                subjects = wording.band_subject(heading, against, points, digits)
            return label, wording.band_result(against), subjects
        return name, wording.gap_words(lead, digits), subjects

    def outcome(self, duels: Sequence[Duel]) -> str:
        """Return the player's outcome in the overall result or the only heat, or else over all duels."""
        if self.several_events:
            return ""
        place = {line.player: line.place or 0 for line in self.table.deciding}
        opponents = {duel.opponent: self.account.name(duel.opponent) for duel in duels}
        if self.player not in place:
            return wording.duels_outcome(wording.tally([duel.result for duel in duels]))
        mine = place[self.player]
        results = [
            1.0 if mine < place[name] else 0.0 if mine > place[name] else 0.5
            for name in opponents.values()
            if name in place
        ]
        status = next((line.status for line in self.table.deciding if line.player == self.player), "finished")
        sides = {line.team for line in self.table.lines if line.contested_by_teams}
        return wording.outcome(wording.tally(results), status, two_teams=len(sides) == 2)  # noqa: PLR2004  (two)

    def duels_in_words(self, duels: Sequence[Duel]) -> DuelCount:
        """Describe how many duels were won, what a duel means, and which players are not compared."""
        results = [duel.result for duel in duels]
        graded = any(result not in (0.0, 0.5, 1.0) for result in results)
        won, expected = math.fsum(results), math.fsum(duel.expected for duel in duels)
        left_out: list[tuple[str, str | None, str]] = [
            (self.account.name(entrant), self.words_of(heat), reason) for heat, entrant, reason in self.account.left_out
        ]
        ranked = {line.player for line in self.table.lines if line.place is not None}
        ranked |= {self.player, *(self.account.name(duel.opponent) for duel in duels)}  # even if they did not start
        unranked = [line for line in self.table.lines if line.place is None and line.player not in ranked]
        left_out += [(line.player, None, WORDS[line.status]) for line in unranked]
        heats = [self.name_of(heat) for heat in dict.fromkeys(duel.heat for duel in duels)]
        opponents = len({duel.opponent for duel in duels})
        draws = wording.tally(results).drew > 0
        return DuelCount(
            count=len(duels),
            won=won,
            expected=expected,
            headline=wording.duels_headline(len(duels), won, expected, graded=graded),
            meaning=wording.duel_meaning(self.player, heats, opponents, draws=draws, graded=graded) if duels else "",
            not_compared=wording.not_compared_words(left_out, len(self.entry_in)),
        )
