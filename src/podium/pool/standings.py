"""The standings of a pool at one point in time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from podium.engine.replay import States
from podium.engine.system import System
from podium.pool.columns import NONE, Columns, is_player, numbers_of, slots_of
from podium.support.arrays import Array

BY_ENTRY = "rows", "played_at", "ratings", "events", "scores", "is_established"


class Order(NamedTuple):
    """Players in the order of a leaderboard: by score and then by number, the highest first."""

    entries: Array  # indices into the standings
    keys: Array  # complex numbers, ascending: the score and the number, both with the opposite sign

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return int(self.entries.nbytes + self.keys.nbytes)

    def where(self, chosen: Array) -> "Order":
        """Return the order of the players for whom this mask of the standings' entries is true."""
        of_order = chosen[self.entries]
        return self if of_order.all() else Order(self.entries[of_order], self.keys[of_order])


def keys_of(scores: Any, numbers: Any) -> Array:
    """Return the keys for these scores and numbers of players. Complex numbers compare by their real part first."""
    keys = np.empty(np.shape(scores), np.complex128)
    keys.real, keys.imag = np.negative(scores), np.negative(numbers)
    return keys


@dataclass(frozen=True)
class Standings:
    """The players and pieces of equipment that have a rating: one entry each, sorted by slot."""

    system: System
    ledger: Columns
    stop: int  # the standings are based on the ledger rows before this one
    slots: Array
    rows: Array  # each entry's newest ledger row
    played_at: Array  # start of the latest rated event, microseconds since 1970
    ratings: Array
    events: Array  # number of rated events
    scores: Array  # value that determines the rank: the rating, or another value chosen by the system
    is_established: Array  # True if the rating is not provisional

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return sum(value.nbytes for value in self.__dict__.values() if isinstance(value, np.ndarray | Order))

    @property
    def states(self) -> States:
        """Return the state of each entry, as an array of shape (entries, fields)."""
        return self.ledger.at("state", self.rows)

    @cached_property
    def numbers(self) -> Array:
        """Return the number in the log of each entry's player or piece of equipment."""
        return numbers_of(self.slots)

    @cached_property
    def is_player(self) -> Array:
        """Return a mask of the entries that are players. Equipment has no rank."""
        return is_player(self.slots)

    @cached_property
    def order(self) -> Order:
        """The order of all players."""
        return self._merged(Order(np.empty(0, np.int64), np.empty(0, np.complex128)), np.arange(self.slots.size))

    @cached_property
    def established(self) -> Order:
        """The order of the players with an established rating."""
        return self.order.where(self.is_established)

    def _merged(self, order: Order, entries: Array) -> Order:
        """Return an order with these entries, which it does not contain yet. Equipment is left out."""
        entries = entries[is_player(self.slots[entries])]
        keys = keys_of(self.scores[entries], numbers_of(self.slots[entries]))
        best_first = np.argsort(keys)
        entries, keys = entries[best_first], keys[best_first]
        places = np.searchsorted(order.keys, keys)
        return Order(np.insert(order.entries, places, entries), np.insert(order.keys, places, keys))

    def updated(self, newer: "Standings") -> "Standings":
        """Return these standings, updated with newer entries for some slots, which may be new.

        If the order of the players is known, only the newer entries are sorted.
        """
        if not self.slots.size:
            return newer
        is_new = self.slots[np.searchsorted(self.slots[:-1], newer.slots)] != newer.slots
        slots = np.sort(np.concatenate([self.slots, newer.slots[is_new]])) if is_new.any() else self.slots
        here = np.searchsorted(slots, self.slots) if is_new.any() else slice(None)
        there = np.searchsorted(slots, newer.slots)
        columns: dict[str, Any] = {}
        for name in BY_ENTRY:
            column = columns[name] = np.empty(slots.size, getattr(self, name).dtype)
            column[here], column[there] = getattr(self, name), getattr(newer, name)
        found = replace(newer, slots=slots, **columns)
        if "order" in vars(self):
            stays = np.ones(slots.size, np.bool_)
            stays[there] = False
            order = Order(np.arange(slots.size)[here][self.order.entries], self.order.keys)
            vars(found)["order"] = found._merged(order.where(stays), there)  # noqa: SLF001  (its own)
        return found

    def find(self, numbers: Sequence[int]) -> Array:
        """Return the entry of each player or piece of equipment with these numbers in the log, or -1 if it has none."""
        slots = slots_of(np.array(numbers, np.int64))
        entries = np.minimum(np.searchsorted(self.slots, slots), self.slots.size - 1)
        return np.where(self.slots[entries] == slots, entries, NONE) if self.slots.size else np.full(slots.size, NONE)
