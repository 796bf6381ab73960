"""Rate an upcoming race for any finishing order, starting from the entrants' current states."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl

from podium.engine.inputs import (
    ABSENT,
    ENTRANT_COLUMNS,
    ENTRY_COLUMNS,
    HEAT_COLUMNS,
    SHARED_COLUMNS,
    UPDATE_COLUMNS,
    Columns,
    entries_of,
    heats_of,
)
from podium.engine.replay import NEVER, States, replay, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import Events, Pool, encode, frozen, place_columns
from podium.engine.tables.equipment import called
from podium.engine.tables.placing import Reported, place_heats
from podium.engine.tables.selection import EVENT, MEASURES
from podium.engine.tables.teams import expected_scores, sides_of
from podium.errors import NotFiniteError, ParameterError
from podium.kernels.records import read
from podium.ledger.forecast import Member, equipment_of, line_up, performances_of
from podium.probability.ranks import Performances, rank_distribution
from podium.results.columns import SHARED
from podium.results.reading import read_results
from podium.support.arrays import Floats, Integers
from podium.support.words import ordinal_number, shown, shown_change

DUEL = {1.0: "a win", 1.5: "a draw", 2.0: "a loss"}
DUEL_SIDES = 2


def place_words(place: float | None, sides: int) -> str:
    """Return a place as text: "3rd", "win", "draw" or "quit"."""
    if place is None:
        return "quit"
    return DUEL[place].removeprefix("a ") if sides == DUEL_SIDES else ordinal_number(int(place))


def headline(lines: Sequence[Mapping[str, Any]], sides: int, digits: int) -> str:
    """Return a sentence about the places that gain points, given the changes from first place to last."""
    places = [line for line in lines if line["place"] is not None]
    gains = [shown_change(line["rating"] - line["delta"], line["rating"], digits) > 0 for line in places]
    count = gains.index(False) if False in gains else len(gains)
    if count == len(gains):
        return "Every place gains points." if sides > DUEL_SIDES else "Any result gains points."
    if count == 0:
        return "No place gains points." if sides > DUEL_SIDES else "No result gains points."
    if sides == DUEL_SIDES:
        return f"{' or '.join(DUEL[line['place']] for line in places[:count])} gains points.".capitalize()
    return "Only a win gains points." if count == 1 else f"A place in the top {count} gains points."


def outlook(line: Mapping[str, Any], sides: int, rank: int | None, whom: str) -> str:
    """Return a sentence about the effect of a place on the rank: "Finishing 6th drops you to 8th on the board."."""
    place, after = line["place"], ordinal_number(line["rank"])
    if place is None:
        result = "Quitting"
    elif sides == DUEL_SIDES:
        result = DUEL[place].capitalize()
    else:
        result = "Winning" if place == 1 else f"Finishing {ordinal_number(int(place))}"
    if rank is None:
        effect = f"puts {whom} {after}"
    elif line["rank"] == rank:
        effect = f"keeps {whom} {after}"
    elif line["rank"] < rank:
        effect = f"lifts {whom} from {ordinal_number(rank)} to {after}"
    else:
        effect = f"drops {whom} to {after}"
    return f"{result} {effect} on the board."


def method(draws: int, error: float, digits: int, assumption: str, *, is_exact: bool) -> str:
    if draws == 1:
        how = "Each result is rated exactly, because nobody else's place is open."
    elif is_exact:
        how = f"The mean over all {draws:,} possible orders of the others, weighted by their probability in the system."
    else:
        how = (
            f"The mean over {draws:,} orders of the others, sampled as the system predicts them,"
            f" ±{shown(error, digits)}."
        )
    return f"{how} {assumption}".rstrip()


IMAGINED = "the upcoming race"
TILED = (*ENTRANT_COLUMNS, *HEAT_COLUMNS, *UPDATE_COLUMNS, *ENTRY_COLUMNS, *SHARED_COLUMNS)


@dataclass(frozen=True, slots=True)
class Lines:
    """The times or scores to assume, best first: from the finishers of an earlier heat, or from a margin."""

    event_id: str | None
    mode: str | None
    measures: pl.DataFrame  # time_s, score, played_s, duration_s
    assumption: str  # a sentence about them


@dataclass(frozen=True)
class Race:
    """An upcoming race: its entrants, and the data from the pool that are needed to rate its result."""

    system: System  # bound to the pool's state
    pool: str
    sides: tuple[tuple[str, ...], ...]
    states: States  # (players of all sides, fields): their states at the start
    period: str = EVENT
    started_at: datetime | None = None
    seen: Integers = field(default_factory=lambda: np.empty(0, np.int64))  # (players): when they last played; or empty
    lines: Lines | None = None  # results of an earlier heat whose times or scores are assumed, if any
    given: Mapping[str, Member] = field(default_factory=dict)  # the entrants as requested, by name
    equipment: Mapping[str, Any] = field(default_factory=dict)  # states of the shared equipment, by its stored name
    heats: int = 1  # number of heats, all with the same result

    @classmethod
    def of(
        cls,
        system: System,
        pool: str,
        field: Sequence[Sequence[Member]],
        states: Mapping[str, Any],
        seen: Mapping[str, int],
        started_at: datetime | None,
        recent: Events | None,
        period: str = EVENT,
        margin: float | None = None,
    ) -> Self:
        """Return a race between the entrants of a field.

        Args:
            system: the system, bound to the pool's state.
            pool: the name of the pool.
            field: each side's members.
            states: states of all players and equipment, by name. The names of equipment come from `equipment_of`.
            seen: time at which each player last played, in microseconds since 1970.
            started_at: start time of the race, if it has a date.
            recent: recent events of the pool. If the system rates times or scores, the race uses the times or scores of
                these events.
            period: the rating period.
            margin: the margin of a win, if the system rates margins. Default: the pool's usual margin.
        """
        lines = margin_lines(system, len(field), margin)
        players = [entrant for side in field for entrant in side]
        return cls(
            system=system,
            pool=pool,
            sides=tuple(tuple(entrant.player for entrant in side) for side in field),
            states=np.array([states[entrant.player] for entrant in players], np.float64),
            period=period,
            started_at=started_at,
            seen=np.array([seen.get(entrant.player, NEVER) for entrant in players], np.int64),
            lines=lines if lines or recent is None else last_lines(system, recent, pool, len(field)),
            given={entrant.player: entrant for entrant in players if entrant.shared or entrant.side},
            equipment={name: states[name] for name in equipment_of(field, system.kinds)},
        )

    @cached_property
    def players(self) -> tuple[str, ...]:
        """The names of all players, one side after the other."""
        return tuple(name for side in self.sides for name in side)

    @cached_property
    def side_of(self) -> Integers:
        return np.repeat(np.arange(len(self.sides)), [len(side) for side in self.sides])

    @cached_property
    def before(self) -> Floats:
        """The current rating of each player."""
        return self.states[:, self.system.column("rating")]

    def performances(self, sides: Sequence[int]) -> Performances:
        """Return the performances of the given sides, according to the system's own model."""
        newcomer = self.system.newcomer()
        states = {name: read(self.states, k, newcomer) for k, name in enumerate(self.players)} | dict(self.equipment)
        chosen = [[self.given.get(name) or Member(name) for name in self.sides[side]] for side in sides]
        members, equipment, home = line_up(self.system, chosen, states)
        standing = sides_of(self.system, members, equipment, home)
        are_alone = standing.start[len(chosen)] == len(chosen)
        expected = np.full((len(chosen), len(chosen)), 0.5)  # not needed for single players
        return performances_of(
            self.system, standing, expected if are_alone else expected_scores(self.system, standing, len(chosen))
        )

    @cached_property
    def whole(self) -> Events:
        """Return the encoded race, in which everybody finishes."""
        return self.ended()

    @cached_property
    def ranks(self) -> Floats:
        """Return the probability of each place, as an array of shape (sides, places)."""
        return rank_distribution(self.performances(range(len(self.sides))))

    def ended(self, *quits: int) -> Events:
        """Return the encoded race in which the given sides quit. `changes` fills in the places."""
        lines = self.lines
        marks_quits = lines is None and not self.equipment and self.heats == 1 and not self.system.rates_absent
        if 0 < len(quits) < len(self.sides) and marks_quits:
            out = np.isin(self.side_of[self.seats(self.whole)], quits)
            return replace(self.whole, columns=self.whole.columns._replace(finished=frozen(~out), quit=frozen(out)))
        last = 0 if lines is None else lines.measures.height - 1
        are_teams = any(len(side) > 1 for side in self.sides)
        given: dict[str, dict[str, str | None]] = {
            name: {"side": entrant.side} | {f"{SHARED}{kind}": equipment for kind, equipment in entrant.shared.items()}
            for name, entrant in self.given.items()
        }
        rows: list[dict[str, Any]] = []  # rows of the first heat
        for side, members in enumerate(self.sides):
            measures = {} if lines is None else lines.measures.row(min(side, last), named=True)
            of_side: dict[str, Any] = {"status": "quit"} if side in quits else {"position": side + 1} | measures
            rows += [
                {"event_id": IMAGINED, "pool": self.pool, "player": name}
                | of_side
                | ({"team": f"{side}"} if are_teams else {})
                | ({} if self.started_at is None else {"started_at": self.started_at})
                | ({} if lines is None or lines.mode is None else {"mode": lines.mode})
                | given.get(name, {})
                for name in members
            ]
        if self.heats > 1:
            rows = [row | {"heat": str(heat)} for heat in range(1, self.heats + 1) for row in rows]
        events = encode(read_results(rows), self.system, self.period)
        if not self.seen.size:
            return events
        known = dict(zip(self.players, self.seen.tolist(), strict=True))
        seen = np.array([known.get(name, NEVER) for name in events.player_names.to_list()], np.int64)
        return with_idle_before(events, self.system, self.period, seen)

    def seats(self, ended: Events) -> Integers:
        """Return the player's index for each entrant of the encoded race. Equipment comes after the players."""
        number = {name: k for k, name in enumerate((*self.players, *self.equipment))}
        numbers = np.array([number[name] for name in ended.player_names.to_list()], np.int64)
        seats: Integers = numbers[ended.columns.player]
        return seats

    def changes(self, ended: Events, places: Floats) -> Floats:
        """Return the changes for each finishing order: an array of shape (races, players), with NaN if unrated.

        Players who quit in the encoded race also quit here. `places` has shape (races, sides) and starts at 1; equal
        places are ties.
        """
        seats, columns, count = self.seats(ended), ended.columns, len(places)
        size, entries = seats.size, columns.place.size
        alone = size - int(np.count_nonzero(columns.kind))  # the players are followed by the equipment they share
        seat = seats[columns.entrant] if columns.entrant.size else seats[:entries]  # (entries)
        sizes = np.diff(columns.entries) if columns.entries.size else np.array([entries])  # entries of each heat
        tiled = {name: np.tile(getattr(columns, name), count) for name in TILED if getattr(columns, name).size}
        position = places[:, self.side_of[seat]].ravel()
        if self.lines is not None:
            measures = self.lines.measures
            line = np.minimum(np.nan_to_num(position, nan=1.0), measures.height).astype(np.int64) - 1
            for name in MEASURES:
                if name in tiled:
                    known = measures[name].to_numpy().astype(np.float64)[line]
                    tiled[name] = np.where(np.isnan(position), np.nan, known)
        finished, started = tiled.get("finished", ABSENT), None
        if self.system.rates_absent:  # the columns mark players who did not start, and nobody is absent from this race
            finished, started = ~np.isnan(position), np.ones(position.size, np.bool_)
        reported = Reported(
            heats=frozen(np.concatenate([[0], np.cumsum(np.tile(sizes, count))]), np.int64),
            finished=frozen(finished, np.bool_),
            position=frozen(position),
            score=frozen(tiled.get("score", ABSENT)),
            time_s=frozen(tiled.get("time_s", ABSENT)),
            team=frozen(tiled.get("side", ABSENT), np.int32),
            team_score=frozen(ABSENT),
        )
        whole = {name: frozen(values, values.dtype.type) for name, values in tiled.items()}
        whole |= place_columns(place_heats(reported, teams=self.system.teams, started=started), reported)
        whole |= {"entrants": frozen(np.arange(count + 1) * size, np.int64)}
        if columns.entries.size:
            whole |= {"heats": frozen(np.arange(count + 1) * sizes.size, np.int64), "entries": reported.heats}
        whole |= {"player": frozen(np.arange(count * size), np.int32)}
        apart = [(k, k + 1) for k in range(count)] if self.system.pool_fields else [(0, count)]
        imagined = replace(
            ended,
            columns=columns._replace(**whole),
            pools=tuple(Pool(IMAGINED, first, last, first * size, last * size) for first, last in apart),
        )
        start = np.tile(np.concatenate([self.states, *map(np.atleast_2d, self.equipment.values())])[seats], (count, 1))
        try:
            replayed = replay(
                self.system, imagined, start, pool_start=np.tile(self.system.standing[0], (len(apart), 1))
            )
        except NotFiniteError as error:
            name = called((*self.players, *self.equipment)[seats[error.entrant % size]])
            raise NotFiniteError(self.system.name, error.update, error.entrant, IMAGINED, name) from None
        changes = np.full((count, len(self.players)), np.nan)
        moved = replayed.after[:, self.system.column("rating")] - replayed.before
        changes[:, seats[:alone]] = moved.reshape(count, size)[:, :alone]
        return changes


def last_lines(system: System, events: Events, pool: str, sides: int) -> Lines | None:
    """Return the results of the pool's latest heat with enough finishers, or else of the latest of its largest heats.

    Entries that the system does not rate are ignored. Return None if the pool has no heats.
    """
    span = next((part for part in events.pools if part.name == pool), None)
    columns, best, chosen = events.columns, 0, None
    if span is None or not system.needs:
        return None
    for update in range(span.last - 1, span.first - 1, -1):
        first, stop = heats_of(columns, update)
        for heat in range(stop - 1, first - 1, -1):
            start, end = entries_of(columns, heat)
            finished = [i for i in range(start, end) if not columns.finished.size or columns.finished[i]]
            if min(len(finished), sides) > best:
                best, chosen = min(len(finished), sides), sorted(finished, key=lambda i: (columns.place[i], i))
        if best == sides:
            break
    if chosen is None:
        return None
    known = {name: getattr(columns, name) for name in MEASURES}
    measures = pl.DataFrame(
        {name: values[chosen] if values.size else np.full(len(chosen), np.nan) for name, values in known.items()}
    )
    row = events.results.frame[events.entry_row.at(chosen[0])]
    event_id, mode = str(row["event_id"][0]), row["mode"][0] if "mode" in row.columns else None
    source = f"Each place gets the time or score of the same place in {event_id}."
    return Lines(event_id, mode, measures.fill_nan(None), source)


def margin_lines(system: System, sides: int, margin: float | None) -> Lines | None:
    """Return the scores of a duel that is won by a margin, or None if margins do not count."""
    check_margin(system, margin)
    if sides != DUEL_SIDES:
        if margin is not None:
            raise ParameterError("margin: only a result between two sides has a margin. Leave it out.")
        return None
    assumed = system.usual_margin if margin is None else margin
    if assumed is None:
        return None
    measures = pl.DataFrame(
        {name: [assumed, 0.0] if name == "score" else [None, None] for name in MEASURES},
        dict.fromkeys(MEASURES, pl.Float64),
    )
    usual = ", this pool's usual margin" if margin is None else ""
    return Lines(None, None, measures, f"Assumes a win by {assumed:.3g}{usual}.")


def check_margin(system: System, margin: float | None) -> None:
    """Raise ParameterError if a margin is negative or not a number, or if the system does not rate margins."""
    if margin is None:
        return
    if not system.rates_margins:
        raise ParameterError(
            f"margin: {system.label} does not rate margins. Leave it out, or rate with adaptive:margin=true or"
            " elo:margin=goals."
        )
    if not 0.0 <= margin < math.inf:
        raise ParameterError(f"margin: {margin} is not a valid winning margin. Use a number of at least 0.")


def entries_of_pool(columns: Columns, pool: Pool) -> slice:
    """Return the range of a pool's entries."""
    first, last = heats_of(columns, pool.first)[0], heats_of(columns, pool.last - 1)[1]
    return slice(entries_of(columns, first)[0], entries_of(columns, last - 1)[1])


def has_draws(events: Events, pool: str) -> bool:
    """Return True if two finishers have drawn in any heat of the pool."""
    columns = events.columns
    span = next((part for part in events.pools if part.name == pool), None)
    if span is None or not columns.rank.size:
        return False
    entries = entries_of_pool(columns, span)
    tied = columns.rank[entries] != columns.place[entries]
    return bool((tied & (columns.finished[entries] > 0.0)).any() if columns.finished.size else tied.any())
