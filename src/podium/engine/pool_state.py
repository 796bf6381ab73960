"""Pools with a state: numbers that belong to the pool instead of a player. Every event reads and updates them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import MODES, OTHER_MODE, Occasion
from podium.kernels.compiled import kernel, rule
from podium.kernels.records import finite, read, total, write, write_column

PoolNumbers = npt.NDArray[np.float64]
NO_OCCASION = Occasion(np.nan, -1.0)
DAY = "day"  # the field of a pool's state, if it has one, with the day of its newest event


class LearntParameter(NamedTuple):
    """A number of a pool's state that describes the pool's sport."""

    name: str  # the field
    title: str
    unit: str
    convert: Callable[[float], float]  # from the field's number to the unit
    describe: Callable[[float], str]  # a sentence about a value in that unit


class PoolReader:
    """The part of a system that handles the states of pools. By default, its pools have no state.

    A system can be bound to the state of a pool. Its expectations, forecasts and explanations are then those for that
    pool. It is still the same system: parameters, text, digest and comparison do not change.
    """

    __slots__ = ("_standing",)

    pool_state_type: ClassVar[type[Any] | None] = None  # a NamedTuple of floats
    learnt_parameters: ClassVar[tuple[LearntParameter, ...]] = ()  # numbers of that state that people may read
    reads_days: ClassVar[bool] = False  # True if its events have the column `day`
    workspace: ClassVar[tuple[int, int]] = (0, 0)  # columns of its scratch, and rows in addition to the entrants'

    rates_sides: ClassVar[bool] = False  # a side and the equipment it shares are rated as one unit, by `Sides`
    has_offsets: ClassVar[bool] = False  # entrants have an offset per mode, as a state of its own

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of equipment that entrants share and the system rates."""
        return ()

    def equipment_points(self, moved: float, me: Any, after: Any, item: Any, item_after: Any) -> float:  # noqa: ARG002
        """Return how many points a result moved equipment if it moved an entrant with that equipment by `moved`.

        Args:
            me: The entrant's entering state. `item` is the equipment's state.
            after: The entrant's state after the event. `item_after` is the equipment's state.
        """
        return 0.0

    def mode_number(self, mode: str) -> float:
        """Return the number of a mode in the rules."""
        return MODES.get(mode, OTHER_MODE)

    def new_pool(self) -> Any:
        """Return the state of a pool without rated events."""
        return ()

    @property
    def pool_fields(self) -> int:
        """The number of fields of a pool's state, or 0 without a state."""
        return 0 if self.pool_state_type is None else len(self.pool_state_type._fields)

    def within(self, pool_state: Sequence[float] | PoolNumbers, occasion: Occasion | None = None) -> Self:
        """Return the system bound to a pool in this state, a NamedTuple or (fields) float64."""
        if self.pool_state_type is None:
            return self
        numbers = np.array(pool_state, np.float64)
        if occasion is None:
            names = self.pool_state_type._fields
            occasion = NO_OCCASION._replace(day=float(numbers[names.index(DAY)]) if DAY in names else np.nan)
        bound: Any = replace(self)  # type: ignore[type-var]
        object.__setattr__(bound, "_standing", (numbers, occasion))
        return bound  # type: ignore[no-any-return]

    @property
    def standing(self) -> tuple[PoolNumbers, Occasion]:
        """The state of the pool that the system is bound to (default: a new pool), with the event's time and mode."""
        bound: tuple[PoolNumbers, Occasion] | None = getattr(self, "_standing", None)
        return (np.array(self.new_pool(), np.float64), NO_OCCASION) if bound is None else bound


@rule
def sharpness(params: Any) -> float:
    """Return the factor for log-odds in a field of three or more: favourites win more often than pairs predict."""
    return 1.0


def new_pools(system: PoolReader, count: int) -> PoolNumbers:
    """Return the states of new pools, (pools, fields)."""
    return np.tile(np.array(system.new_pool(), np.float64), (count, 1))


@kernel
def keep_states(
    columns: Any,
    start: int,
    stop: int,
    rating: int,
    prototypes: Any,
    new_states: Any,
    states: Any,
    before: Any,
    after: Any,
) -> int:
    """Write the new states of a rating update's players. Return the first entrant whose state is not finite, or -1.

    Args:
        before: Receives the ratings before the event, (entrants). Empty if they are not needed.
        after: Receives the states after it, (fields, entrants).
    """
    newcomer, _, _ = prototypes
    keep = before.size > 0
    everything = 0.0  # one sum is checked instead of each number
    for i in range(start, stop):
        player = columns.player[i]
        state = read(new_states, i - start, newcomer)
        if keep:
            before[i] = states[player, rating]
            write_column(after, i, state)
        write(states, player, state)
        everything += total(state)
    if not math.isfinite(everything):
        for i in range(start, stop):
            if not finite(read(new_states, i - start, newcomer)):
                return i
    return -1
