"""Events with their content, changes and reasons, players' changes, encounters, and replays of the newest events."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.replay import NEVER, Replayed, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode, in_pools
from podium.engine.tables.selection import EVENT, unrated_status
from podium.errors import ParameterError, UnknownError
from podium.kernels.records import read
from podium.ledger.hypothetical_race import has_draws
from podium.ledger.pair_predictions import NEWEST_ENTRANTS, NEWEST_EVENTS, count_newest, learnt_nu, pairs_in
from podium.ledger.reasons import Explanation
from podium.ledger.reasons.explaining import explain
from podium.ledger.reasons.totals import Part, ReasonTotals, divide_change, total_reasons
from podium.ledger.reasons.what_if import MAX_IMAGINED, WhatIf, is_quickly_imagined, what_if
from podium.log.log import REGISTER, SEASON, UNVOID, VOID, WITH_CONTENT, current_kind, entries_after, titles_in
from podium.log.players import names_of, unrated_error
from podium.pool.columns import slot_of, slots_of
from podium.pool.contents import rows_of
from podium.pool.rating import numbers_in, positions_of, results_of, roster_before
from podium.pool.roster import as_results, entering_states
from podium.pool.snapshot import RATED, STATUSES, Event, Snapshot
from podium.pool.snapshot import SEASON as SEASON_STATUS
from podium.probability.draws import draw_chance
from podium.results.columns import UTC
from podium.results.derived_heats import OVERALL, overall_rows
from podium.results.reading import Results
from podium.support.arrays import Array
from podium.views.changes import Change, Changes, career_of
from podium.views.models import CareerChange, EventDetails, ResultRow, rows_as
from podium.views.names import find_event, name_of, number_of, public_numbers, version_of
from podium.views.player_models import Encounters
from podium.views.reader import PoolAt
from podium.views.results import event_results

EVENT_KINDS = (*WITH_CONTENT, VOID, UNVOID)


class Titles(NamedTuple):
    """An event's title and web address."""

    title: str | None
    url: str | None


NO_TITLES = Titles(None, None)


def titles_of(pool: PoolAt, seqs: Collection[int]) -> dict[int, Titles]:
    """Return the titles of events, by the number of the log entry that holds their content."""
    found = titles_in(pool, seqs) if seqs else {}
    return {seq: NO_TITLES._replace(**found.get(seq, {})) for seq in seqs}


def event_details(pool: PoolAt, event_id: str) -> EventDetails:
    """Return an event with its content and changes.

    Returns:
        The event's content, status and changes.

    Raises:
        UnknownError: there is no such pool or event.
    """
    event = find_event(pool, event_id)
    return details_of(pool, event, event_results(pool, [event]), changes_by(pool, event))


def details_of(pool: PoolAt, event: Event, results: Results, changes: Sequence[Change]) -> EventDetails:
    (titles,) = titles_of(pool, [event.content_seq]).values()
    return EventDetails(
        event.event_id, event.seq, pool.moment(event.started_at), *titles,
        event.status, event.reason, event.match_id, event.content_seq != event.seq, version_of(event),
        rows_as(ResultRow, results.frame), tuple(changes), sequence=pool.sequence(event.started_at),
    )  # fmt: skip


def changes_by(pool: PoolAt, event: Event) -> list[Change]:
    """Return the rating changes from an event, in the order of the event's rows."""
    found = Changes.by_event(pool.snapshot, event).of_players
    return found.answers(names_of(pool, found.numbers.tolist()))


def news(pool: PoolAt, after: int, most: int = 100) -> list[dict[str, Any]]:
    """List everything that has happened since a log entry.

    Args:
        after: the sequence number of that entry.
        most: maximum number of entries.

    Returns:
        One dict per entry, oldest first.
    """
    entries = []
    for row in entries_after(pool, after, most):
        one: dict[str, Any] = {"seq": row.seq, "kind": current_kind(row.kind)}
        if row.kind in EVENT_KINDS:
            event = find_event(pool, row.subject)
            one |= {"event_id": row.subject, "status": event.status, "reason": event.reason}
            one["changes"] = [asdict(change) for change in changes_by(pool, event)]
        elif row.kind == REGISTER:
            one["match_id"] = row.subject
        elif row.kind == SEASON:
            one["season"] = row.subject
        entries.append(one)
    return entries


def explanation(pool: PoolAt, event_id: str, name: str) -> Explanation:
    """Return the exact reasons why a player's rating changed in an event.

    Returns:
        The change in points, one row per reason, and the reasons as a sentence.

    Raises:
        UnknownError: there is no such pool or event, or the player is not rated in it.
    """
    (event, replay), number = rated_event(pool, event_id), number_of(pool, name)
    found = explain(pool.system, *replay, name_of(pool, name))
    if number not in pool.snapshot.starts or not is_first(pool, number, event):
        return found
    return replace(found, summary=f"{found.summary} You started at {found.shown_before}, set by the organiser.")


def is_first(pool: PoolAt, number: int, event: Event) -> bool:
    """Return True if an event was a player's first rated event."""
    changes = Changes.by_event(pool.snapshot, event)
    previous = changes.cells("previous")[changes.slots == slot_of(number)]
    return bool(pool.snapshot.played_at(previous)[0] == NEVER)


def reasons(pool: PoolAt, name: str, events: int = 10) -> ReasonTotals:
    """Add up the reasons for a player's changes in the latest events.

    Args:
        events: number of events to include.

    Returns:
        The points for each kind of reason. They add up to the total change in the rating, including changes at the
        start of seasons.

    Raises:
        UnknownError: there is no such pool or player.
    """
    snapshot, number = pool.snapshot, number_of(pool, name)
    career, player = career_of(snapshot, number), name_of(pool, name)
    if not len(career):
        raise unrated_error(pool, name)
    is_season = career.cells("place") == 0
    played = np.flatnonzero(~is_season)[-events:]
    begun = np.flatnonzero(is_season[played[0] :]) + played[0]
    seasons, of_events = career.at(begun), career.at(played)
    positions = of_events.positions
    changes = [Changes(snapshot, range(*snapshot.span(position))) for position in positions.tolist()]
    won = sum(
        bool(own == 1 and every.rank.max() > 1) for own, every in zip(of_events.rank.tolist(), changes, strict=True)
    )
    versions = [  # later events do not affect the parts
        (event_id, content_seq, hash((every.before.tobytes(), every.states.tobytes())))
        for event_id, content_seq, every in zip(of_events.event_ids, of_events.content_seqs, changes, strict=True)
    ]
    key = pool.id, "parts", number, events
    known = pool.answers.value(key, pool.system, dict[Any, list[Part]])
    unknown = [k for k, version in enumerate(versions) if version not in known]
    divided = (divide_change(pool.system, *replay, player) for replay in replays_of(pool, positions[unknown]))
    parts = known | {versions[k]: of_event for k, of_event in zip(unknown, divided, strict=True)}
    found = [parts[version] for version in versions]
    pool.answers.keep(key, pool.system, dict(zip(versions, found, strict=True)))
    gained = math.fsum(seasons.gain.tolist())
    return total_reasons(player, found, won, of_events.shown_sum, gained, seasons.shown_sum)


def alternatives(pool: PoolAt, event_id: str, name: str, *, margin: float | None = None) -> WhatIf:
    """Return how an event would have changed a player's rating if one thing had been different.

    `margin` is the margin by which heats between two sides are won, in systems that rate margins. Default: the usual
    margin.

    Returns:
        The actual change, and the changes if the player had won a lost heat, finished a quit heat, or won every heat.

    Raises:
        UnknownError: there is no such pool or event, or the player is not rated in it.
        ParameterError: the field is too large to be rated again during a request.
    """
    _, (events, replayed, event_id) = rated_event(pool, event_id)
    if not is_quickly_imagined(pool.system, events):
        raise ParameterError(
            f"event {event_id!r} has {len(replayed.before):,} entrants, and what-if changes are limited to "
            f"{MAX_IMAGINED:,} here. `podium explain --what-if` has no such limit."
        )
    return what_if(pool.system, events, replayed, event_id, name_of(pool, name), margin=margin)


def system_and_states_before(
    pool: PoolAt, names: Sequence[str], position: int
) -> tuple[System, dict[str, Any], dict[str, int]]:
    """Return the system with what it had learnt before a position, and players' states and latest events by name.

    Newcomers have the starting state, and `NEVER` as the time of their latest event.
    """
    snapshot, known = pool.snapshot, public_numbers(pool, names)
    present = [snapshot.merged.get(number, number) for number in (known.get(name, 0) for name in names)]
    numbers = np.array(present, np.int64)
    roster = roster_before(snapshot, position, slots_of(np.unique(numbers)))
    rows, newcomer = roster.rows_of(numbers), roster.system.newcomer()
    states = [read(roster.states, row, newcomer) for row in rows.tolist()]
    seen = dict(zip(names, roster.played_at[rows].tolist(), strict=True))
    return roster.system.within(roster.pool[0]), dict(zip(names, states, strict=True)), seen


def system_and_states(pool: PoolAt, names: Sequence[str]) -> tuple[System, list[Any]]:
    """Return a pool's system and the states of players at the same point in time.

    Args:
        names: the names of the players.

    Returns:
        The system, and the state for each name in the same order, as the system's NamedTuple. Newcomers have the
        starting state.
    """
    system, states, _ = system_and_states_before(pool, names, pool.snapshot.events.order.size)
    return system, [states[name] for name in names]


Replay = tuple[Events, Replayed, str]  # the arguments with which `explain` and similar functions find an event


def rated_event(pool: PoolAt, event_id: str) -> tuple[Event, Replay]:
    """Return a rated event and its replay, which is the same for every player, and cached.

    Raises:
        UnknownError: the event does not exist, or it is not rated.
    """
    event = find_event(pool, event_id)
    if event.status != STATUSES[RATED]:
        raise UnknownError(f"event {event_id!r} is not rated: {event.reason}")
    return event, replay_at(pool, event.position)


def replay_at(pool: PoolAt, position: int) -> Replay:
    return pool.value(("replay", position), lambda: replays_together(pool, np.array([position]))[0])


MAX_TOGETHER = 1_000  # number of entrants up to which several events are encoded together


def replays_of(pool: PoolAt, positions: Array) -> Iterator[Replay]:
    """Yield the replays of the rated events at these positions. Small events are encoded together."""
    portion = np.cumsum(pool.snapshot.events.order.at("field", positions)) // MAX_TOGETHER
    for number in np.unique(portion).tolist():
        some = positions[portion == number]
        yield from replays_together(pool, some) if some.size > 1 else [replay_at(pool, int(some[0]))]


def replays_together(pool: PoolAt, positions: Array) -> list[Replay]:
    """Encode rated events together, each as a pool of its own. Their changes in the ledger are the replay."""
    snapshot, events = pool.snapshot, pool.snapshot.events.at(positions)
    results = event_results(pool, events)
    encoded = encode(Results(in_pools(results.frame, pl.col("event_id")), results.source), pool.system)
    columns = encoded.columns
    begins, lengths = snapshot.spans(positions)
    every = Changes(snapshot, rows_of(begins, lengths))
    numbers = {name: number for number, name in names_of(pool, every.numbers.tolist()).items()}
    of_player = np.array([numbers[name] for name in encoded.player_names.to_list()])
    ledger_keys = np.repeat(positions, lengths) << 32 | every.slots
    entrant_keys = np.repeat(positions, np.diff(columns.entrants)) << 32 | slots_of(of_player)[columns.player]
    found = every.at(positions_of(entrant_keys, ledger_keys))
    previous = found.cells("previous").astype(np.int64)
    known, seen = previous >= 0, np.full(of_player.size, NEVER)
    states = entering_states(pool.system, of_player, snapshot.starts)
    states[columns.player[known]] = snapshot.rows.at("state", previous[known])
    seen[columns.player] = snapshot.played_at(previous)
    encoded = with_idle_before(encoded, pool.system, EVENT, seen)
    pools = np.concatenate([*map(snapshot.pool_state, positions.tolist())])
    replayed = Replayed(states, found.before, found.states, states, pools, pools[:0], pools)
    return [(encoded, replayed, event.event_id) for event in events]


def career(pool: PoolAt, name: str, top: int = 1000) -> tuple[CareerChange, ...]:
    """Return a player's latest changes.

    Args:
        top: number of changes to return.

    Returns:
        The changes, newest first. Changes at the start of a season have no event.

    Raises:
        UnknownError: there is no such pool or player.
    """
    found = career_of(pool.snapshot, number_of(pool, name)).at(slice(None, None, -1)).at(slice(top))
    if not len(found):
        raise unrated_error(pool, name)
    columns = (column.tolist() for column in (found.started_at, found.before, found.gain, found.rating))
    return tuple(
        CareerChange(event_id, pool.moment(time), *cells, sequence=pool.sequence(time))
        for event_id, time, *cells in zip(found.event_ids, *columns, strict=True)
    )


def history(pool: PoolAt) -> pl.DataFrame:
    """Return every change in the ledger.

    Returns:
        One row per player and event, as in `podium.rate(…).history`.
    """
    return ledger(pool).drop("sequence", "rank")


def ledger(pool: PoolAt) -> pl.DataFrame:
    """Return every change in the ledger, with ranks, and with event numbers if the pool has no dates.

    Returns:
        One row per player for each event and season, in the order in which they were rated. Seasons have no `event_id`.
    """
    snapshot = pool.snapshot
    found = Changes(snapshot, range(snapshot.rows.size)).of_players
    uids, times = found.uids.tolist(), pl.Series(found.started_at)
    nothing = pl.repeat(None, len(found), dtype=pl.Int64, eager=True)
    numbers = times.unique().to_list() if pool.is_undated else []
    names, ids = names_of(pool), {uid: snapshot.events.id_of(uid) for uid in {*uids}}
    return pl.DataFrame(
        {
            "event_id": pl.Series(map(ids.get, uids), dtype=pl.String),
            "pool": pl.repeat(pool.name, len(found), dtype=pl.String, eager=True),
            "started_at": (nothing if pool.is_undated else times).cast(UTC),
            "sequence": (times if pool.is_undated else nothing).replace_strict(
                numbers, [pool.sequence(number) for number in numbers], default=None, return_dtype=pl.Float64
            ),
            "player": pl.Series(map(names.get, found.numbers.tolist()), dtype=pl.String),
            "rank": pl.Series(found.rank).replace(0, None),
            "rating_before": found.before,
            "delta": found.gain,
            **{name: pl.Series(column) for name, column in pool.system.shown(found.states).items()},
        }
    )


Line = dict[str, Any]


class Winners(NamedTuple):
    names: tuple[str, ...]
    entrants: int


def sent_winners(pool: PoolAt, events: Sequence[Event]) -> dict[str, Winners]:
    """Return the winners of these events, by event ID. An event without a single deciding result has no winners."""
    if not events:
        return {}
    frame = event_results(pool, events).frame
    counting = frame.with_row_index("row").filter(~pl.col("status").is_in(unrated_status(pool.system)))
    if "heat" in counting.columns:
        counting = pl.concat([counting, overall_rows(counting)], how="diagonal")
    lines: dict[str, list[Line]] = {event.event_id: [] for event in events}
    for line in counting.iter_rows(named=True):
        lines[line["event_id"]].append(line)
    return {
        event_id: Winners(winners(every), len({line["player"] for line in every})) for event_id, every in lines.items()
    }


def winners(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the winners of an event, based on its overall result or its only heat."""
    heats = {line.get("heat") or "" for line in lines}
    deciding = heats & {OVERALL} or (heats if len(heats) == 1 else set())
    finishers = [line for line in lines if (line.get("heat") or "") in deciding and line["status"] == "finished"]
    results = sent_results(finishers)
    best = min(results, default=None)
    return tuple(line["player"] for line, result in zip(finishers, results, strict=False) if result == best)


def sent_results(finishers: Sequence[Line]) -> list[Decimal]:
    """Return each finisher's result, where lower is better: the team's score, the place, the score or the time.

    If a team has no score, its members' scores are added up. If any result is missing, no results are returned.
    """
    for name, sign in (("team_score", -1), ("position", 1), ("score", -1), ("time_s", 1)):
        sent = [line.get(name) for line in finishers]
        if all(value is not None for value in sent):
            results = [sign * Decimal(str(value)) for value in sent]
            return team_sums(finishers, results) if name == "score" else results
    return []


def team_sums(finishers: Sequence[Line], results: Sequence[Decimal]) -> list[Decimal]:
    """Return the results after adding up each team's results. A player without a team counts individually."""
    sides = [(line.get("team"), line["player"] if line.get("team") is None else None) for line in finishers]
    sums = dict.fromkeys(sides, Decimal(0))
    for side, result in zip(sides, results, strict=True):
        sums[side] += result
    return [sums[side] for side in sides]


MAX_EVENTS, MAX_MET = 100, 4_000  # maximum numbers of events to examine, and of entrants in them
MAX_NAMED = 3


def encounters(pool: PoolAt, number: int, career: Changes) -> tuple[Encounters, ...]:
    """Return up to three opponents whom the player beat most clearly, and the one who beat the player most clearly.

    The opponent whom the player beat most clearly comes first. Opponents whom the player met only once are left out.

    Args:
        number: the player's number.
        career: the player's changes from events, oldest first.
    """
    fields = pool.snapshot.events.order.at("field", career.positions[::-1][:MAX_EVENTS])
    top = int(np.searchsorted(np.cumsum(fields), MAX_MET, "right"))
    own = np.flatnonzero(career.rank)[::-1][:top]
    others, event = Changes.by_events(pool.snapshot, career.positions[own])
    met = np.flatnonzero((others.rank > 0) & (others.numbers != number))
    mine, theirs = career.rank[own][event[met]], others.rank[met]
    found, which, counts = np.unique(others.numbers[met], return_inverse=True, return_counts=True)
    ahead, behind = (
        np.bincount(which, condition, found.size).astype(np.int64) for condition in (theirs > mine, theirs < mine)
    )
    again = np.flatnonzero(counts > 1)
    order = again[np.lexsort((found[again], -counts[again], (behind - ahead)[again]))]
    chosen = [k for k in order[:MAX_NAMED].tolist() if ahead[k] > behind[k]]
    chosen += [k for k in order[-1:].tolist() if behind[k] > ahead[k]]
    numbers = found[chosen].tolist()
    names = names_of(pool, numbers)
    columns = (column[chosen].tolist() for column in (counts, ahead, behind))
    return tuple(Encounters(names[number], *cells) for number, *cells in zip(numbers, *columns, strict=True))


def newest_rated_positions(snapshot: Snapshot, most_events: int, most_rows: int) -> Array:
    """Return the positions of the newest rated events, up to a maximum number of events and of changes in them."""
    order = snapshot.events.order
    rated = np.flatnonzero(snapshot.events.columns.at("status", order.part("uid")) == RATED)
    lengths = np.diff(order.part("stop"), prepend=0)[rated]
    return rated[rated.size - count_newest(lengths, most_events, most_rows) :]


def replays(pool: PoolAt, positions: Array, table: pl.DataFrame, largest: int) -> Iterator[tuple[Events, Replayed]]:
    """Yield the events at these positions, run by run, as they were rated. Leave out events with only large heats.

    Args:
        table: the results of these events.
        largest: the number of entrants above which a heat is large.
    """
    snapshot, order = pool.snapshot, pool.snapshot.events.order
    position_of = dict(zip(order.at("uid", positions).tolist(), positions.tolist(), strict=True))
    is_season = snapshot.events.columns.at("status", order.part("uid")) == SEASON_STATUS
    seasons_before = np.cumsum(is_season)[positions]
    for season in np.unique(seasons_before).tolist():  # no lead shrinks within a season
        uids = order.at("uid", positions[seasons_before == season])
        for run in runs_to_replay(table.filter(pl.col("uid").is_in(uids.tolist())), largest):
            start = position_of[run["uid"][0]]
            roster = roster_before(snapshot, start, slots_of(np.unique(numbers_in(run))))
            yield roster.advance(as_results(pool, run), run["started_at"])


def runs_to_replay(table: pl.DataFrame, largest: int) -> list[pl.DataFrame]:
    """Return the rows of consecutive events, run by run, without events that have only large heats."""
    heats = [name for name in ("uid", "heat") if name in table.columns]
    smallest = table.select("uid", pl.len().over(heats)).select(pl.col("len").min().over("uid")).to_series()
    run = (smallest > largest).rle_id().alias("run")
    return table.with_columns(run).filter(smallest <= largest).partition_by("run", include_key=False)


def draw_now(pool: PoolAt, expected: float) -> float | None:
    """Return the current chance of a draw, given an expected score, or None if no duel is drawn in the pool."""
    nu = nu_now(pool)
    return draw_chance(expected, nu) if nu > 0.0 else None


def nu_now(pool: PoolAt) -> float:
    """Return how often the pool's duels are drawn now, as `nu_of_pool` does. 0 if no duel is drawn."""

    def find() -> float:
        positions = newest_rated_positions(pool.snapshot, NEWEST_EVENTS, NEWEST_ENTRANTS)
        table = results_of(pool.snapshot, pool.snapshot.events.order.at("uid", positions))
        found = [*replays(pool, positions, table, NEWEST_ENTRANTS)] if table.height else []
        if not any(has_draws(events, pool.name) for events, _ in found):
            return 0.0
        return learnt_nu(pairs_in(pool.system, events, replayed)[0] for events, replayed in found)

    return pool.value(("nu",), find)
