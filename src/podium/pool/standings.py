"""How everyone in a pool stands at one point in time."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from podium.engine.replay import States
from podium.engine.system import System
from podium.log.statements import FIRST_THING
from podium.pool.columns import NONE, Array
from podium.pool.slots import numbers_of, slot_of


@dataclass(frozen=True)
class Standings:
    """Players and pieces of equipment that have a rating, one entry each, by rising slots."""

    system: System
    slots: Array
    rows: Array  # the newest ledger row of each
    states: States  # (entries, fields)
    played_at: Array  # start of the newest rated event, microseconds since 1970

    @cached_property
    def numbers(self) -> Array:
        """The number of each entry in the log."""
        return numbers_of(self.slots)

    @property
    def is_player(self) -> Array:
        """Whether each entry is a player; equipment has no rank."""
        return self.numbers < FIRST_THING

    def field(self, name: str) -> Array:
        """Return one field of each state, such as `rating` or `events`."""
        column: Array = self.states[:, self.system.column(name)]
        return column

    @cached_property
    def scores(self) -> Array:
        """What ranks each entry: the rating, or what the system ranks by."""
        return self.system.scores(self.states)

    @cached_property
    def is_settled(self) -> Array:
        """Whether each rating is settled, that is, not provisional."""
        return ~self.system.unsettled(self.states)

    @cached_property
    def best_first(self) -> Array:
        """The entries of players in the order of a board: highest score first, then the highest number."""
        players = np.flatnonzero(self.is_player)
        return players[np.lexsort((self.numbers[players], self.scores[players]))[::-1]]

    def find(self, number: int) -> int:
        """Return the entry of a player or a piece of equipment by its number in the log, or -1 without a rating."""
        slot = slot_of(number)
        entry = int(np.searchsorted(self.slots, slot))
        return entry if entry < self.slots.size and self.slots[entry] == slot else NONE
