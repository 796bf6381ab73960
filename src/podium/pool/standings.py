"""The standings of a pool at one point in time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from podium.engine.replay import States
from podium.engine.system import System
from podium.pool.columns import NONE, Columns, is_player, numbers_of, slots_of
from podium.support.arrays import Array

BY_ENTRY = "rows", "played_at", "ratings", "events", "scores", "is_established"


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
        return sum(value.nbytes for value in self.__dict__.values() if isinstance(value, np.ndarray))

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
    def best_first(self) -> Array:
        """Return the players' entries in leaderboard order: by score and then by number, the highest first."""
        players = np.flatnonzero(self.is_player)  # in ascending order of number, because slots are ascending
        return players[np.argsort(self.scores[players], kind="stable")[::-1]]

    def updated(self, newer: "Standings") -> "Standings":
        """Return these standings, updated with newer entries for some slots, which may be new."""
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
        return replace(newer, slots=slots, **columns)

    def find(self, numbers: Sequence[int]) -> Array:
        """Return the entry of each player or piece of equipment with these numbers in the log, or -1 if it has none."""
        slots = slots_of(np.array(numbers, np.int64))
        entries = np.minimum(np.searchsorted(self.slots, slots), self.slots.size - 1)
        return np.where(self.slots[entries] == slots, entries, NONE) if self.slots.size else np.full(slots.size, NONE)
