"""The ledger and pools' states as they are stored, a column each: only the rows that changed are written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import repeat
from operator import ne
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from podium.engine.system import System
from podium.log.pools import (
    BOUND_KEY,
    END_KEY,
    FOREVER,
    OrderKey,
    Pool,
    PoolView,
    is_at,
    key_of,
    newest_first,
)
from podium.log.schema import change, pool_state
from podium.log.statements import FIRST_THING, fetch_parts, insert, of_generation, upsert

Mask = npt.NDArray[np.bool_]
Packed = npt.NDArray[np.void]  # all of one length; objects where they are not, as only damaged ones are


def packed_states(states: npt.NDArray[np.float64]) -> Packed:
    """Each row of states, (rows, fields), as exact doubles, little-endian."""
    return np.ascontiguousarray(states, "<f8").view(f"V{8 * states.shape[1]}")[:, 0]


def state_column(states: Sequence[bytes]) -> Packed:
    if {*map(type, states)} == {bytes} and len(sizes := {*map(len, states)}) == 1 and 0 not in sizes:
        return np.frombuffer(b"".join(states), f"V{sizes.pop()}")
    column: Any = np.empty(len(states), object)
    column[:] = states
    return column  # type: ignore[no-any-return]


def are_other(states: Packed, others: Packed) -> Mask:
    """Which states have other bits than those beside them."""
    if states.dtype != others.dtype or states.dtype == object:
        return np.fromiter(map(ne, states.tolist(), others.tolist()), np.bool_, states.size)
    bits, other_bits = (column.view(np.uint8).reshape(column.size, -1) for column in (states, others))
    differ: Mask = (bits != other_bits).any(axis=1)
    return differ


Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LedgerKey = tuple[int, int, int]  # start, sequence, player
PART_ROWS = 2_000  # that are objects at a time, on their way to arrays
NO_RANK = 0  # in the array, for what is empty in the table
SELECT_ROWS = sa.select(*(column for column in change.c if column.name != "generation_id")).where(of_generation(change))
SELECT_LEDGER = SELECT_ROWS.where(key_of(change) >= BOUND_KEY, key_of(change) < END_KEY)
DELETE_CHANGE = sa.delete(change).where(is_at(change), change.c.player_id == sa.bindparam("player"))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Rows of the ledger, a column each; those of one event stand together. No two have the same key."""

    started_at: Integers  # microseconds since 1970, UTC
    seq: Integers
    player: Integers
    place: Integers  # the order of the row in its event, from 1; 0 where a season begins
    before: Floats
    rating: Floats
    state: Packed  # after the event: exact doubles, little-endian
    rank: Integers  # in the overall result of the event; NO_RANK where there is none
    field: Integers  # rated entrants of the event; 0 where a season begins

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """The columns of rows as the table has them, without their generation."""
        columns: Any = [*zip(*rows, strict=True)] or [()] * len(fields(cls))
        started_at, seq, player, place, before, rating, state, rank, field = columns
        count = len(state)
        numbers: Any = [np.fromiter(each, np.int64, count) for each in (started_at, seq, player, place)]
        numbers += [np.fromiter(each, np.float64, count) for each in (before, rating)]
        ranks = [each or NO_RANK for each in rank] if None in rank else rank
        numbers += [state_column(state), *(np.fromiter(each, np.int64, count) for each in (ranks, field))]
        return cls(*numbers)

    def __len__(self) -> int:
        return len(self.state)

    @property
    def columns(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each.name) for each in fields(self))

    @property
    def keys(self) -> tuple[Integers, Integers, Integers]:
        return self.started_at, self.seq, self.player

    @property
    def starts(self) -> Integers:
        """The first row of each event, or season, in turn."""
        return np.flatnonzero(np.diff(self.seq, prepend=-1) | np.diff(self.started_at, prepend=-1))

    def table_columns(self) -> Iterator[list[Any]]:
        *columns, rank, field = (column.tolist() for column in self.columns)
        yield from (*columns, [None if each == NO_RANK else each for each in rank], field)

    def only(self, chosen: Mask) -> Self:
        return self if chosen.all() else self.at(np.flatnonzero(chosen))

    def at(self, where: Any) -> Self:
        return type(self)(*(column[where] for column in self.columns))

    def in_order(self) -> Self:
        return self.at(np.lexsort(tuple(reversed(self.keys))))

    def counterparts(self, other: "Ledger") -> Integers:
        """For each row the number of the other's row of the same key; -1 where it has none."""
        found = np.full(len(self), -1, np.int64)
        if not len(other):
            return found
        if len(self) == len(other):  # nearly always of the same keys: events stand in their order here, rows there
            order = np.argsort(np.cumsum(np.diff(self.seq, prepend=-1) != 0) * (2 * FIRST_THING) + self.player)
            if all(np.array_equal(mine[order], theirs) for mine, theirs in zip(self.keys, other.keys, strict=True)):
                found[order] = np.arange(order.size)
                return found
        if len(self):
            keys = [np.concatenate(both) for both in zip(self.keys, other.keys, strict=True)]
            order = np.lexsort(tuple(reversed(keys)))  # of two rows of one key, that of `self` stands first
            pairs = np.ones(order.size - 1, np.bool_)
            for key in keys:
                column = key[order]
                pairs &= column[1:] == column[:-1]
            found[order[:-1][pairs]] = order[1:][pairs] - len(self)
        return found

    def unmatched(self, counterparts: Integers) -> Mask:
        """Which rows are the counterpart of none."""
        alone = np.ones(len(self), np.bool_)
        alone[counterparts[counterparts >= 0]] = False
        return alone

    def before_key(self, key: OrderKey) -> Mask:
        is_before: Mask = (self.started_at < key.started_at) | (
            (self.started_at == key.started_at) & (self.seq < key.seq)
        )
        return is_before

    def with_numbers(self, seqs: Mapping[int, int], players: Mapping[int, int]) -> "Ledger":
        """The rows with other numbers of log entries and of players, where there are such."""
        seq, player = (
            np.array([mapping.get(each, each) for each in column.tolist()], np.int64)
            for column, mapping in ((self.seq, seqs), (self.player, players))
        )
        return replace(self, seq=seq, player=player)


NO_ROWS = Ledger.of(())


def joined(parts: Sequence[Ledger]) -> Ledger:
    some = [part for part in parts if len(part)]
    if len(some) <= 1:
        return some[0] if some else NO_ROWS
    columns: Any = {each.name: [getattr(part, each.name) for part in some] for each in fields(Ledger)}
    states = columns.pop("state")
    if len({each.dtype for each in states}) == 1:
        state = np.concatenate(states)
    else:
        state = state_column([state for column in states for state in column.tolist()])
    return Ledger(state=state, **{name: np.concatenate(several) for name, several in columns.items()})


def is_other(new: Ledger, old: Ledger, counterparts: Integers) -> Mask:
    """Which rows have other bits than their counterparts, or none."""
    other = np.ones(len(new), np.bool_)
    if not len(old):
        return other
    has = np.flatnonzero(counterparts >= 0)
    if has.size:
        theirs, mine = old.at(counterparts[has]), new if has.size == len(new) else new.at(has)
        differs = (mine.place != theirs.place) | (mine.rank != theirs.rank) | (mine.field != theirs.field)
        for name in ("before", "rating"):
            differs |= getattr(mine, name).view(np.int64) != getattr(theirs, name).view(np.int64)
        differs |= are_other(mine.state, theirs.state)
        other[has] = differs
    return other


def stored_ledger(pool: PoolView, first: OrderKey, end: OrderKey = FOREVER) -> Ledger:
    params = {"generation": pool.generation} | first._asdict() | end.as_end()
    return joined([Ledger.of(rows) for rows in fetch_parts(pool.connection, SELECT_LEDGER, params, PART_ROWS)])


def write_changes(pool: PoolView, removed: Iterable[LedgerKey], added: Ledger, replaced: Ledger) -> None:
    """Write the difference of two ledgers: the keys that are gone, and the rows that are new, and those other."""
    gone = [
        {"generation": pool.generation, "started_at": started_at, "seq": seq, "player": number}
        for started_at, seq, number in removed
    ]
    if gone:
        pool.connection.execute(DELETE_CHANGE, gone)
    insert(pool.connection, change, table_rows(pool, added))
    upsert(pool.connection, change, table_rows(pool, replaced))


def table_rows(pool: Pool, ledger: Ledger) -> Iterator[tuple[Any, ...]]:
    """Rows of a pool's ledger as those of the table, by player: so they come to few pages of the index by player."""
    by_player = ledger.at(np.argsort(ledger.player, kind="stable"))
    return zip(repeat(pool.generation, len(ledger)), *by_player.table_columns(), strict=True)


PoolStates = dict[OrderKey, bytes]  # after each rated event, in the order of rating: little-endian doubles
SELECT_STATES = sa.select(pool_state.c.started_at, pool_state.c.seq, pool_state.c.state).where(
    of_generation(pool_state), key_of(pool_state) >= BOUND_KEY, key_of(pool_state) < END_KEY
)
SELECT_NEWEST = (
    sa.select(pool_state.c.started_at, pool_state.c.seq, pool_state.c.state)
    .where(of_generation(pool_state), key_of(pool_state) < BOUND_KEY)
    .order_by(*newest_first(pool_state))
    .limit(1)
)
DELETE_STATE = sa.delete(pool_state).where(is_at(pool_state))
DELETE_STATES = sa.delete(pool_state).where(of_generation(pool_state))


class PoolState(NamedTuple):
    key: OrderKey
    state: bytes


def stored_pool_states(pool: PoolView, first: OrderKey, end: OrderKey = FOREVER) -> PoolStates:
    """The states as they are stored, of the events from a key on, up to another."""
    bounds = first._asdict() | end.as_end()
    return {OrderKey(*key): state for *key, state in pool.execute(SELECT_STATES, **bounds)}


def newest_pool_state(pool: PoolView, before: OrderKey = FOREVER) -> PoolState | None:
    """The state of a pool before a key; None of a new pool, and without a look where the system's pools have none."""
    if not pool.system.pool_fields:
        return None
    row = pool.execute(SELECT_NEWEST, **before._asdict()).first()
    return None if row is None else PoolState(OrderKey(row.started_at, row.seq), row.state)


def system_today(pool: PoolView) -> System:
    """A pool's system as it expects now, with what it has learnt of the pool."""
    newest = newest_pool_state(pool)
    return pool.system if newest is None else pool.system.within(np.frombuffer(newest.state, "<f8"))


def write_pool_states(pool: PoolView, old: Mapping[OrderKey, bytes], new: PoolStates) -> None:
    gone = [{"generation": pool.generation} | key._asdict() for key in old if key not in new]
    if gone:
        pool.connection.execute(DELETE_STATE, gone)
    other = {key: state for key, state in new.items() if old.get(key) != state}
    upsert(pool.connection, pool_state, state_rows(pool, other))


def state_rows(pool: Pool, states: PoolStates) -> list[tuple[Any, ...]]:
    return [(pool.generation, *key, state) for key, state in states.items()]
