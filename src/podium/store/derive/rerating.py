"""Everything that derives from the log, brought up to date from some event on, in the transaction that is open.

Events are rated in order of (start, log sequence). What is to be rated again starts from each player's state before,
which the ledger holds; only what changed is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.errors import Fault, NotFiniteError, ResultsError
from podium.ledger.history import changes
from podium.live import Live
from podium.results.columns import ALL
from podium.results.reading import Results
from podium.store.derive import snapshots
from podium.store.derive.standings import (
    EVERYONE,
    Ledger,
    LedgerRow,
    Standing,
    apply_ledger,
    kept_ledger,
    kept_standings,
    refresh_standings,
    standings_before,
    write_changes,
)
from podium.store.log.content import unpacked
from podium.store.log.players import merges, names_of
from podium.store.log.pools import FOREVER, KEY, START, Key, Pool, key_of, key_params
from podium.store.sql.schema import event, log, season

RATED, UNRATED, VOIDED, SUPERSEDED = "rated", "unrated", "voided", "superseded"
NOT_FINITE = "not_finite"  # why an event is not rated that would make a rating no finite number
AFTER_REFUSAL = 64  # events that are tried together after one that cannot be rated
ALL_EVENTS = 2**62
COUNTING = event.c.status.not_in([VOIDED, SUPERSEDED])
SELECT_EVENTS_FROM = (
    sa.select(event.c.event_id, event.c.started_at, event.c.seq, event.c.status, event.c.reason, log.c.body)
    .join(log, log.c.seq == event.c.content_seq)
    .where(event.c.pool_id == sa.bindparam("pool"), COUNTING, key_of(event) >= KEY)
    .order_by(event.c.started_at, event.c.seq)
    .limit(sa.bindparam("most", ALL_EVENTS))
)
RESETS = (
    sa.select(season.c.started_at, season.c.seq, season.c.keep)
    .where(season.c.pool_id == sa.bindparam("pool"), key_of(season) >= KEY)
    .order_by(season.c.started_at, season.c.seq)
)
UPDATE_STATUS = (
    sa.update(event)
    .where(event.c.pool_id == sa.bindparam("pool"), event.c.event_id == sa.bindparam("event"))
    .values(status=sa.bindparam("status"), reason=sa.bindparam("reason"))
)


@dataclass(frozen=True, slots=True)
class Rerated:
    """What came of it."""

    old: Ledger  # the ledger as it was, from the first event that was rated again
    new: Ledger
    written: Ledger  # the rows that are new or other
    marks: dict[str, tuple[str, str]]  # status and reason of each event that was looked at
    not_finite: tuple[NotFiniteError, ...]  # events that cannot be rated, and were not marked so before


class Outcome(NamedTuple):
    """What rating made of events."""

    ledger: Ledger
    not_finite: dict[str, NotFiniteError]  # by event: those that cannot be rated, and change nothing


class Reset(NamedTuple):
    """A season begins: every lead over a newcomer shrinks to a share of itself."""

    key: Key
    keep: float


@dataclass(frozen=True, slots=True)
class SeasonSegment:
    """Events between two resets, and the reset at their end, if there is one."""

    events: Sequence[Any]
    table: pl.DataFrame
    reset: Reset | None


def rerate(connection: sa.Connection, pool: Pool, first: Key) -> Rerated:
    """Rate the events from `first` on, and write what changed.

    Raises:
        ResultsError: an event lacks what the system needs, or a merged player would stand twice in one heat.
    """
    stretches, _ = events_from(connection, pool, first)
    old = kept_ledger(connection, pool, first)
    players = {number for _, _, number in old}
    for each in stretches:
        players.update(map(int, each.table["player"].to_list()))
    if any(each.reset for each in stretches):
        players.update(connection.execute(EVERYONE, {"pool": pool.id}).scalars())
    stood = kept_standings(connection, pool, sorted(players))
    last = standings_before(connection, pool, stood, first)
    outcome = rated_on(pool, resumed(pool, last), stretches)
    new = outcome.ledger
    written = write_changes(connection, pool, old, new)
    marks = mark_events(connection, pool, stretches, outcome)
    marked = {row.event_id for each in stretches for row in each.events if row.reason == NOT_FINITE}
    refused = tuple(error for event_id, error in outcome.not_finite.items() if event_id not in marked)
    apply_ledger(last, new)
    refresh_standings(connection, pool, stood, last)
    moved = [at for at, _, _ in (*written, *(old.keys() - new.keys()))]
    if moved:
        snapshots.spoil(connection, pool, min(moved))
    return Rerated(old, new, written, marks, refused)


def events_from(
    connection: sa.Connection, pool: Pool, first: Key, most: int = ALL_EVENTS
) -> tuple[list[SeasonSegment], Key]:
    """The events from a key on that count, in the order of rating, with their rows; and where the rest begins."""
    found = connection.execute(SELECT_EVENTS_FROM, key_params(pool, first) | {"most": most}).all()
    end = FOREVER if len(found) < most else Key(found[-1].started_at, found[-1].seq + 1)
    told = [
        Reset(Key(row.started_at, row.seq), row.keep) for row in connection.execute(RESETS, key_params(pool, first))
    ]
    resets = [each for each in told if each.key < end]
    merged = merges(connection, pool)
    stretches, start = [], 0
    for reset in [*resets, None]:
        stop = start
        while stop < len(found) and (reset is None or Key(found[stop].started_at, found[stop].seq) < reset.key):
            stop += 1
        table = unpacked((row.body, row.started_at) for row in found[start:stop])
        if merged and table.height:
            table = table.with_columns(pl.col("player").replace({str(k): str(v) for k, v in merged.items()}))
            refuse_twice(connection, pool, table)
        stretches.append(SeasonSegment(found[start:stop], table, reset))
        start = stop
    return stretches, end


def counting_results(connection: sa.Connection, pool: Pool) -> Results:
    """The results that count, players by name: a table that any replay rates to the same bits, but for seasons."""
    rows = connection.execute(SELECT_EVENTS_FROM, key_params(pool, START))
    return Results(
        tabled(pool, named(connection, pool, unpacked((row.body, row.started_at) for row in rows))), pool.name
    )


def named(connection: sa.Connection, pool: Pool, table: pl.DataFrame) -> pl.DataFrame:
    """The table with the names of those who the players are by now."""
    if table.is_empty():
        return table
    merged = merges(connection, pool)
    numbers = [int(name) for name in table["player"].unique()]
    ends = {number: merged.get(number, number) for number in numbers}
    names = names_of(connection, pool, set(ends.values()))
    called = {str(number): names[end] for number, end in ends.items()}
    return table.with_columns(pl.col("player").replace_strict(called, return_dtype=pl.String))


def tabled(pool: Pool, table: pl.DataFrame) -> pl.DataFrame:
    """The table as a checked results table has it."""
    columns = {column.name: column for column in table}
    columns["pool"] = pl.Series("pool", [pool.name]).new_from_index(0, table.height)
    return pl.DataFrame([columns[name] for name in ALL if name in columns])


def refuse_twice(connection: sa.Connection, pool: Pool, table: pl.DataFrame) -> None:
    """Refuse a merge of two who met."""
    keys = ["event_id", "player", *(["heat"] if "heat" in table.columns else [])]
    twice = table.filter(table.select(keys).is_duplicated())
    if twice.height:
        event_id, number = twice.select("event_id", "player").row(0)
        (name,) = names_of(connection, pool, [int(number)]).values()
        raise ResultsError("merge", [Fault(None, "player", name, f"took part in {event_id} as both")])


def resumed(pool: Pool, last: Mapping[int, Standing]) -> Live:
    """Live rating that goes on from where players stand."""
    live = Live(pool.system)
    live.resume({(pool.name, str(number)): (each.state, each.played_at) for number, each in last.items()})
    return live


def rated_on(pool: Pool, live: Live, stretches: Sequence[SeasonSegment]) -> Outcome:
    """The ledger of the events, rated from where `live` stands, which moves."""
    outcome = Outcome({}, {})
    for each in stretches:
        if each.table.height:
            rate_stretch(pool, live, each, outcome)
        if each.reset is not None:
            outcome.ledger.update(season_begins(pool, live, each.reset))
    return outcome


def rate_stretch(pool: Pool, live: Live, stretch: SeasonSegment, outcome: Outcome) -> None:
    """Add the ledger of the events, rated as if those that cannot be rated were not there."""
    ids = [row.event_id for row in stretch.events]
    keys = {row.event_id: (row.started_at, row.seq) for row in stretch.events}
    start, count = 0, len(ids)
    while start < len(ids):
        some = ids[start : start + count]
        table = stretch.table if len(some) == len(ids) else stretch.table.filter(pl.col("event_id").is_in(some))
        try:
            outcome.ledger.update(played(pool, live, table, keys))
        except NotFiniteError as error:
            # What comes before it is rated next, and what comes after it with more at a time as all goes well.
            at = some.index(str(error.event_id))
            if at:
                before = stretch.table.filter(pl.col("event_id").is_in(some[:at]))
                outcome.ledger.update(played(pool, live, before, keys))
            outcome.not_finite[some[at]] = error
            start, count = start + at + 1, AFTER_REFUSAL
        else:
            start, count = start + len(some), 2 * count


def played(pool: Pool, live: Live, table: pl.DataFrame, keys: Mapping[str, tuple[int, int]]) -> Ledger:
    """The ledger of events, rated from where `live` stands.

    Raises:
        NotFiniteError: an event cannot be rated; `live` has not moved.
    """
    events, replayed = live.advance(Results(tabled(pool, table), pool.name))
    before, after = changes(pool.system, events, replayed)
    ratings = after[:, pool.system.state_type._fields.index("rating")].tolist()
    ids, players = (table[name][events.ledger.row].to_list() for name in ("event_id", "player"))
    packed = states_as_bytes(after)
    told: Ledger = {}
    place, last = 0, ""
    for event_id, name, was, rating, state in zip(ids, players, before.tolist(), ratings, packed, strict=True):
        place = place + 1 if event_id == last else 1
        last = event_id
        told[*keys[event_id], int(name)] = LedgerRow(place, was, rating, state)
    return told


def season_begins(pool: Pool, live: Live, reset: Reset) -> Ledger:
    """The ledger of a reset: everyone who has a state."""
    seats, before, after = live.reset(reset.keep)
    rating = pool.system.state_type._fields.index("rating")
    rows = zip(seats, before[:, rating].tolist(), after[:, rating].tolist(), states_as_bytes(after), strict=True)
    return {(*reset.key, int(name)): LedgerRow(0, was, now, state) for (_, name), was, now, state in rows}


def states_as_bytes(states: Any) -> list[bytes]:
    """Each row of states, (rows, fields), as exact doubles."""
    packed, size = np.ascontiguousarray(states, "<f8").tobytes(), 8 * states.shape[1]
    return [packed[at : at + size] for at in range(0, len(packed), size)]


def mark_events(
    connection: sa.Connection, pool: Pool, stretches: Sequence[SeasonSegment], outcome: Outcome
) -> dict[str, tuple[str, str]]:
    """Say of each event whether it is rated, and if not, why; only what was said otherwise is written."""
    marks: dict[str, tuple[str, str]] = {}
    other = []
    for row, mark in marks_of(pool, stretches, outcome):
        marks[row.event_id] = mark
        if mark != (row.status, row.reason):
            other.append({"pool": pool.id, "event": row.event_id, "status": mark[0], "reason": mark[1]})
    if other:
        connection.execute(UPDATE_STATUS, other)
    return marks


def marks_of(pool: Pool, stretches: Sequence[SeasonSegment], outcome: Outcome) -> Iterator[tuple[Any, tuple[str, str]]]:
    """Each event's row, and its status and reason by what became of it."""
    in_ledger = {(at, seq) for at, seq, _ in outcome.ledger}
    for each in stretches:
        rest = [row.event_id for row in each.events if (row.started_at, row.seq) not in in_ledger]
        why = reasons(pool, each.table, rest) | dict.fromkeys(outcome.not_finite, NOT_FINITE) if rest else {}
        for row in each.events:
            yield row, (UNRATED, why[row.event_id]) if row.event_id in why else (RATED, "")


def reasons(pool: Pool, table: pl.DataFrame, unrated: list[str]) -> dict[str, str]:
    """Why these events are not rated."""
    rest = table.filter(pl.col("event_id").is_in(unrated))
    ranked = pl.col("ranked").any() if "ranked" in table.columns else pl.lit(value=True)
    finished = (pl.col("status") == "finished").any()
    told = {}
    for event_id, counts, ends in rest.group_by("event_id").agg(ranked.alias("r"), finished.alias("f")).iter_rows():
        nobody = pool.system.needs_finisher and not ends
        told[event_id] = "unranked" if not counts else "nobody_finished" if nobody else "too_few_entrants"
    return told
