"""Everything that derives from the log, brought up to date from some event on, in the transaction that is open.

Events are rated in order of (start, log sequence). What is to be rated again starts from each player's state before,
which the ledger holds; only what changed is written.
"""

import functools
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from podium.errors import Fault, ResultsError
from podium.ledger import changes
from podium.live import Live
from podium.results import Results
from podium.store.content import unpacked
from podium.store.schema import change, event, log, player, pool, rank_count, standing
from podium.systems import find
from podium.systems.base import System

CHUNK = 500  # values in one IN (...)
RATED, UNRATED, VOIDED = "rated", "unrated", "voided"
MERGE = "merge"  # the kind of log entry that says who plays on as whom


class Key(NamedTuple):
    """Where an event stands in the order of rating."""

    started_at: int
    seq: int


START = Key(-(2**62), 0)  # before every event


class Row(NamedTuple):
    """A row of the ledger, but for its key."""

    place: int
    rating_before: float
    rating: float
    state: bytes


Ledger = dict[tuple[int, int, int], Row]  # by start, sequence, player


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool, and its system."""

    id: int
    name: str
    system: System

    @classmethod
    def loaded(cls, row: Any) -> "Pool":
        """From its row."""
        return cls(row.id, row.name, system_of(row.system, row.parameters))


@functools.cache
def system_of(name: str, parameters: str) -> System:
    """The system that a pool's row describes."""
    return find(name).from_text(json.loads(parameters))


@dataclass(frozen=True, slots=True)
class Rerated:
    """What came of it."""

    written: Ledger  # the rows that are new or other
    names: dict[int, str]
    marks: dict[str, tuple[str, str]]  # status and reason of each event that was looked at


def rerate(connection: sa.Connection, of: Pool, first: Key) -> Rerated:
    """Rate the events from `first` on, and write what changed.

    Raises:
        ResultsError: an event lacks what the system needs, or a merged player would stand twice in one heat.
    """
    table, keys = suffix(connection, of, first)
    ids = player_ids(connection, of.id, table["player"].unique().to_list())
    live = Live(of.system)
    names = {number: name for name, number in ids.items()}
    before = states_before(connection, of, list(ids.values()), first)
    live.resume({(of.name, names[number]): kept for number, kept in before.items()})
    new = rated(of, live, table, keys, ids)
    old = ledger_from(connection, of.id, first)
    written = written_changes(connection, of.id, old, new)
    marks = mark_events(connection, of, table, keys, new)
    refresh_standings(connection, of, {number for _, _, number in (*old, *new)}, new)
    return Rerated(written, names, marks)


def suffix(connection: sa.Connection, of: Pool, first: Key) -> tuple[pl.DataFrame, dict[str, Key]]:
    """The rows of the events from a key on that are not voided, in the order of rating, and each event's key."""
    told = (
        sa.select(event.c.event_id, event.c.started_at, event.c.seq, log.c.body)
        .join(log, log.c.seq == event.c.content_seq)
        .where(event.c.pool_id == of.id, event.c.status != VOIDED)
        .where(sa.tuple_(event.c.started_at, event.c.seq) >= sa.tuple_(*map(sa.literal, first)))
        .order_by(event.c.started_at, event.c.seq)
    )
    found = connection.execute(told).all()
    table = unpacked((row.body for row in found), of.name)
    merged = merges(connection, of.id)
    if merged and table.height:
        table = table.with_columns(pl.col("player").replace(merged))
        refuse_twice(table)
    return table, {row.event_id: Key(row.started_at, row.seq) for row in found}


def merges(connection: sa.Connection, pool_id: int) -> dict[str, str]:
    """Who plays on as whom, resolved to the end."""
    told = sa.select(log.c.subject, log.c.body).where(log.c.pool_id == pool_id, log.c.kind == MERGE)
    into = {row.subject: row.body.decode() for row in connection.execute(told.order_by(log.c.seq))}
    ends = {}
    for name in into:
        end = name
        while end in into:
            end = into[end]
        ends[name] = end
    return ends


def refuse_twice(table: pl.DataFrame) -> None:
    """Refuse a merge of two who met."""
    keys = ["event_id", "player", *(["heat"] if "heat" in table.columns else [])]
    twice = table.filter(table.select(keys).is_duplicated())
    if twice.height:
        event_id, name = twice.select("event_id", "player").row(0)
        raise ResultsError("merge", [Fault(None, "player", name, f"took part in {event_id} as both")])


def player_ids(connection: sa.Connection, pool_id: int, names: Sequence[str]) -> dict[str, int]:
    """The numbers of players, newcomers given one."""
    known: dict[str, int] = {}
    for some in chunks(names):
        told = sa.select(player.c.name, player.c.id).where(player.c.pool_id == pool_id, player.c.name.in_(some))
        known |= {row.name: row.id for row in connection.execute(told)}
    new = [{"pool_id": pool_id, "name": name} for name in names if name not in known]
    if new:
        added = sa.insert(player).returning(player.c.id, player.c.name, sort_by_parameter_order=True)
        known |= {row.name: row.id for row in connection.execute(added, new)}
    return known


def chunks(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """The values, so many at a time."""
    return (values[first : first + CHUNK] for first in range(0, len(values), CHUNK))


def states_before(
    connection: sa.Connection, of: Pool, players: Sequence[int], first: Key
) -> dict[int, tuple[bytes, int]]:
    """Each player's state and newest event before a key; nobody who had none."""
    found: dict[int, tuple[bytes, int]] = {}
    later = []
    for some in chunks(players):
        told = sa.select(standing).where(standing.c.pool_id == of.id, standing.c.player_id.in_(some))
        for row in connection.execute(told):
            if Key(row.started_at, row.seq) < first:
                found[row.player_id] = (row.state, row.started_at)
            else:
                later.append(row.player_id)
    newest = newest_change(of.id).where(
        sa.tuple_(change.c.started_at, change.c.seq) < sa.tuple_(*map(sa.literal, first))
    )
    for number in later:
        last = connection.execute(newest, {"who": number}).first()
        if last is not None:
            found[number] = (last.state, last.started_at)
    return found


def newest_change(pool_id: int) -> "sa.Select[tuple[float, int, int, bytes]]":
    """The newest row of player `who` in the ledger: rating, start, sequence and state."""
    return (
        sa.select(change.c.rating, change.c.started_at, change.c.seq, change.c.state)
        .where(change.c.pool_id == pool_id, change.c.player_id == sa.bindparam("who"))
        .order_by(change.c.started_at.desc(), change.c.seq.desc())
        .limit(1)
    )


def rated(of: Pool, live: Live, table: pl.DataFrame, keys: dict[str, Key], ids: dict[str, int]) -> Ledger:
    """The ledger of the rows, rated from where `live` stands."""
    if table.is_empty():
        return {}
    events, replayed = live.advance(Results(table, of.name))
    before, after = changes(of.system, events, replayed)
    at = of.system.state_type._fields.index("rating")
    taken = events.results.frame[events.ledger.row].select("event_id", "player")
    packed, ratings = np.ascontiguousarray(after, "<f8"), after[:, at].tolist()
    told: Ledger = {}
    place, last = 0, ""
    for k, (event_id, name) in enumerate(taken.iter_rows()):
        place = place + 1 if event_id == last else 1
        last = event_id
        told[*keys[event_id], ids[name]] = Row(place, float(before[k]), ratings[k], packed[k].tobytes())
    return told


def ledger_from(connection: sa.Connection, pool_id: int, first: Key) -> Ledger:
    """The ledger as it is written, from a key on."""
    told = sa.select(change).where(
        change.c.pool_id == pool_id,
        sa.tuple_(change.c.started_at, change.c.seq) >= sa.tuple_(*map(sa.literal, first)),
    )
    return {
        (row.started_at, row.seq, row.player_id): Row(row.place, row.rating_before, row.rating, row.state)
        for row in connection.execute(told)
    }


def written_changes(connection: sa.Connection, pool_id: int, old: Ledger, new: Ledger) -> Ledger:
    """Write the difference of two ledgers; the rows that are new or other."""
    gone = [key for key in old if key not in new]
    other = {key: row for key, row in new.items() if key in old and old[key] != row}
    added = {key: row for key, row in new.items() if key not in old}
    here = sa.and_(
        change.c.pool_id == pool_id,
        change.c.started_at == sa.bindparam("at"),
        change.c.seq == sa.bindparam("number"),
        change.c.player_id == sa.bindparam("who"),
    )
    if gone:
        found = [{"at": at, "number": number, "who": who} for at, number, who in gone]
        connection.execute(sa.delete(change).where(here), found)
    if other:
        rows = [{"at": at, "number": number, "who": who} | row._asdict() for (at, number, who), row in other.items()]
        connection.execute(sa.update(change).where(here).values(bound(*Row._fields)), rows)
    if added:
        names = ("started_at", "seq", "player_id")
        rows = [{"pool_id": pool_id} | dict(zip(names, key, strict=True)) | row._asdict() for key, row in added.items()]
        connection.execute(sa.insert(change), rows)
    return other | added


def bound(*names: str) -> dict[str, sa.BindParameter[Any]]:
    """Columns set from values of their own names."""
    return {name: sa.bindparam(name) for name in names}


def mark_events(
    connection: sa.Connection, of: Pool, table: pl.DataFrame, keys: dict[str, Key], new: Ledger
) -> dict[str, tuple[str, str]]:
    """Say of each event whether it is rated, and if not, why; only what was said otherwise is written."""
    in_ledger = {(at, seq) for at, seq, _ in new}
    marks = {event_id: (RATED, "") for event_id, key in keys.items() if key in in_ledger}
    rest = table.filter(~pl.col("event_id").is_in(list(marks)))
    ranked = pl.col("ranked").any() if "ranked" in table.columns else pl.lit(value=True)
    finished = (pl.col("status") == "finished").any()
    for event_id, counts, ends in rest.group_by("event_id").agg(ranked.alias("r"), finished.alias("f")).iter_rows():
        nobody = of.system.needs_finisher and not ends
        marks[event_id] = UNRATED, "unranked" if not counts else "nobody_finished" if nobody else "too_few_entrants"
    said: dict[str, tuple[str, str]] = {}
    for some in chunks(list(marks)):
        told = sa.select(event.c.event_id, event.c.status, event.c.reason).where(
            event.c.pool_id == of.id, event.c.event_id.in_(some)
        )
        said |= {row.event_id: (row.status, row.reason) for row in connection.execute(told)}
    other = [
        {"event": event_id, "status": status, "reason": reason}
        for event_id, (status, reason) in marks.items()
        if said[event_id] != (status, reason)
    ]
    if other:
        here = sa.and_(event.c.pool_id == of.id, event.c.event_id == sa.bindparam("event"))
        connection.execute(sa.update(event).where(here).values(bound("status", "reason")), other)
    return marks


class Last(NamedTuple):
    """A player's newest event, and what came of it."""

    rating: float
    started_at: int
    seq: int
    state: bytes


def refresh_standings(connection: sa.Connection, of: Pool, players: set[int], new: Ledger) -> None:
    """The newest state of each of these players, and the counts of ranks.

    Args:
        new: the ledger from some event on to its end.
    """
    last = last_states(connection, of, players, new)
    old: dict[int, float] = {}
    for some in chunks(sorted(players)):
        told = sa.select(standing.c.player_id, standing.c.rating)
        here = told.where(standing.c.pool_id == of.id, standing.c.player_id.in_(some))
        old |= {row.player_id: row.rating for row in connection.execute(here)}
    at = of.system.state_type._fields.index("events")
    rows = {
        number: each._asdict() | {"events": int(np.frombuffer(each.state, "<f8")[at])} for number, each in last.items()
    }
    mine = sa.and_(standing.c.pool_id == of.id, standing.c.player_id == sa.bindparam("who"))
    gone = [{"who": number} for number in old if number not in last]
    changed = [{"who": number} | row for number, row in rows.items() if number in old]
    added = [{"pool_id": of.id, "player_id": number} | row for number, row in rows.items() if number not in old]
    if gone:
        connection.execute(sa.delete(standing).where(mine), gone)
    if changed:
        connection.execute(sa.update(standing).where(mine).values(bound("events", *Last._fields)), changed)
    if added:
        connection.execute(sa.insert(standing), added)
    counts = Counter(bucket(each.rating) for each in last.values())
    counts.subtract(bucket(rating) for rating in old.values())
    count_ranks(connection, of.id, counts)


def last_states(connection: sa.Connection, of: Pool, players: set[int], new: Ledger) -> dict[int, Last]:
    """The newest of each player, who may be without: from the new ledger, else from what is kept before it."""
    found = {
        number: Last(row.rating, at, seq, row.state)
        for (at, seq, number), row in sorted(new.items(), key=lambda item: item[0][:2])
    }
    newest = newest_change(of.id)
    for number in players - found.keys():
        row = connection.execute(newest, {"who": number}).first()
        if row is not None:
            found[number] = Last(row.rating, row.started_at, row.seq, row.state)
    return found


def bucket(rating: float) -> int:
    """The count that a rating belongs to."""
    return math.floor(rating)


def count_ranks(connection: sa.Connection, pool_id: int, counts: Counter[int]) -> None:
    """Add to the counts of players per whole rating; a count of nobody goes."""
    rows = [{"pool_id": pool_id, "bucket": at, "players": more} for at, more in counts.items() if more]
    if not rows:
        return
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    added = insert(rank_count)
    grown = {"players": rank_count.c.players + added.excluded.players}
    connection.execute(added.on_conflict_do_update(index_elements=["pool_id", "bucket"], set_=grown), rows)
    if any(row["players"] < 0 for row in rows):
        empty = sa.and_(rank_count.c.pool_id == pool_id, rank_count.c.players == 0)
        connection.execute(sa.delete(rank_count).where(empty))


def found_pool(connection: sa.Connection, name: str) -> Pool | None:
    """The pool of that name."""
    row = connection.execute(sa.select(pool).where(pool.c.name == name)).first()
    return None if row is None else Pool.loaded(row)
