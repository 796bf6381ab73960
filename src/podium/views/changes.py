"""Rating changes, as rows of a pool's ledger with their meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import repeat
from typing import Any, Self

import numpy as np

from podium.engine.replay import States
from podium.ledger.history import are_established
from podium.pool.columns import is_player, numbers_of, slot_of
from podium.pool.contents import rows_of
from podium.pool.snapshot import Event, Snapshot
from podium.support.answers import changeable_answer
from podium.support.arrays import Array
from podium.support.words import shown_change


@changeable_answer  # a large batch has thousands
class Change:
    """A rating change that an event made for a player.

    Attributes:
        player: The player's current name.
        rating_before: The rating before the change, in points.
        rating: The rating after the change, in points.
        delta: The change, in points.
        deviation: Uncertainty after the change, in points. Null if the system has no deviation.
        provisional: True if the rating is provisional after the change.
    """

    player: str
    rating_before: float
    rating: float
    delta: float
    deviation: float | None
    provisional: bool


@dataclass(frozen=True)
class Changes:
    """Rows of a ledger.

    Each row is the change that an event or a season made to the rating of a player or equipment.
    """

    snapshot: Snapshot
    rows: Array | range

    @classmethod
    def by_event(cls, snapshot: Snapshot, event: Event) -> Self:
        """Return the changes from an event: first players, then equipment."""
        return cls(snapshot, range(*snapshot.span(event.position)))

    @classmethod
    def by_events(cls, snapshot: Snapshot, positions: Array) -> tuple["Changes", Array]:
        """Return the players' changes from the events at these positions, and for each the position of its event."""
        begins, lengths = snapshot.spans(positions)
        every, event = cls(snapshot, rows_of(begins, lengths)), np.repeat(np.arange(lengths.size), lengths)
        chosen = is_player(every.slots)
        return every.where(chosen), event[chosen]

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, where: Any) -> "Changes":
        """Return the changes at these indices."""
        return Changes(self.snapshot, self.places[where])

    def where(self, chosen: Array) -> "Changes":
        """Return the changes for which `chosen` is true."""
        return self if chosen.all() else self.at(chosen)

    @property
    def places(self) -> Array:
        """The row number in the ledger of each change."""
        return np.arange(self.rows.start, self.rows.stop) if isinstance(self.rows, range) else self.rows

    def cells(self, name: str) -> Array:
        """Return one column of the ledger."""
        ledger, rows = self.snapshot.rows, self.rows
        return ledger.part(name, rows.start, rows.stop) if isinstance(rows, range) else ledger.at(name, rows)

    def field(self, name: str) -> Array:
        """Return one field of the states."""
        found: Array = self.states[:, self.snapshot.pool.system.column(name)]
        return found

    @property
    def of_players(self) -> "Changes":
        """The changes of players, without equipment."""
        return self.where(is_player(self.slots))

    @property
    def without_seasons(self) -> "Changes":
        """The changes from events, without seasons."""
        return self.where(self.cells("place") > 0)

    @cached_property
    def uids(self) -> Array:
        """The uid of the event or season behind each change."""
        return self.cells("event")

    @cached_property
    def slots(self) -> Array:
        """The slot of the player or piece of equipment for each change."""
        return self.cells("slot")

    @cached_property
    def numbers(self) -> Array:
        """The log's number for the player or piece of equipment of each change."""
        return numbers_of(self.slots)

    @cached_property
    def rank(self) -> Array:
        """The player's rank in each event, or 0 if there is none."""
        return self.cells("rank")

    @cached_property
    def before(self) -> Array:
        """The rating before each change."""
        return self.cells("before")

    @cached_property
    def states(self) -> States:
        """The state after each change."""
        return self.cells("state")

    @cached_property
    def rating(self) -> Array:
        """The rating after each change."""
        return self.field("rating")

    @cached_property
    def gain(self) -> Array:
        """The points that each change added to the rating."""
        gain: Array = self.rating - self.before
        return gain

    @property
    def positions(self) -> Array:
        """The position of each change's event in the order of rating."""
        return self.snapshot.positions(self.places)

    @property
    def started_at(self) -> Array:
        """The start of each change's event, in microseconds since 1970."""
        return self.snapshot.events.columns.at("started_at", self.uids)

    @property
    def content_seqs(self) -> list[int]:
        """The sequence number of the log entry that holds each event's content."""
        found: list[int] = self.snapshot.events.columns.at("content_seq", self.uids).tolist()
        return found

    @property
    def event_ids(self) -> list[str | None]:
        """The ID of each event, or None for a season."""
        return [*map(self.snapshot.events.id_of, self.uids.tolist())]

    @property
    def deviations(self) -> list[float | None]:
        """The deviation of each rating, or None if the system has no deviation."""
        has_deviation = "deviation" in self.snapshot.pool.system.state_type._fields
        return self.field("deviation").tolist() if has_deviation else [None] * len(self)

    @property
    def shown(self) -> list[Decimal]:
        """Each change, rounded for display."""
        digits = repeat(self.snapshot.pool.system.digits)
        return [*map(shown_change, self.before.tolist(), self.rating.tolist(), digits)]

    @property
    def shown_sum(self) -> float:
        """The sum of the changes, each of which is rounded for display first."""
        return float(sum(self.shown))

    def answers(self, names: Mapping[int, str]) -> list[Change]:
        """Return each change with the player's name, which is looked up by number in `names`."""
        established = are_established(self.snapshot.pool.system, self.states).tolist()
        columns = self.numbers.tolist(), self.before.tolist(), self.rating.tolist(), self.deviations, established
        return [
            Change(names[number], before, rating, rating - before, deviation, not is_established)
            for number, before, rating, deviation, is_established in zip(*columns, strict=True)
        ]


def career_of(snapshot: Snapshot, number: int) -> Changes:
    """Return all changes of a player, in the order of rating."""
    return Changes(snapshot, snapshot.career(slot_of(number)))
