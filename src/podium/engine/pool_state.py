"""Pools with a state: numbers that belong to the pool, not to a player. Every event reads and updates them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from podium.engine.inputs import MODES, OTHER_MODE, Occasion
from podium.kernels.compiled import kernel, rule
from podium.kernels.records import finite, read, total, write, write_column
from podium.support.arrays import Floats

PoolNumbers = Floats
NO_OCCASION = Occasion(np.nan, -1.0)
DAY = "day"  # the field of a pool's state that holds the day of its newest event, if it has one


class LearntParameter(NamedTuple):
    """A number in a pool's state that describes the sport played in the pool."""

    name: str  # the field
    title: str
    unit: str
    convert: Callable[[float], float]  # converts the field's value to the unit
    describe: Callable[[float], str]  # returns a sentence about a value in that unit


class PoolReader:
    """The part of a system that handles the states of pools. By default, pools have no state.

    A system can be bound to the state of a pool. Its expected scores, forecasts and explanations then apply to that
    pool. It is still the same system: its parameters, text, digest and equality do not change.
    """

    __slots__ = ("_standing",)

    pool_state_type: ClassVar[type[Any] | None] = None  # a NamedTuple of floats
    learnt_parameters: ClassVar[tuple[LearntParameter, ...]] = ()  # numbers in that state that people may read
    reads_days: ClassVar[bool] = False  # True if events need the column `day`
    workspace: ClassVar[tuple[int, int]] = (0, 0)  # columns of its scratch, and rows beyond those for entrants

    rates_sides: ClassVar[bool] = False  # a side and its shared equipment are rated as one unit, using `Sides`
    has_offsets: ClassVar[bool] = False  # entrants have an offset per mode, each with its own state

    @property
    def rates_margins(self) -> bool:
        """True if the system reads the margins of duels. A margin is a difference of two numbers in `Columns.score`."""
        return False

    @property
    def rates_sizes(self) -> bool:
        """True if the system reads the number of players on one side relative to the other: `Columns.surplus`."""
        return False

    @property
    def usual_margin(self) -> float | None:
        """The margin to assume for an upcoming duel, or None if the system rates no margins or has seen too few."""
        return None

    def expected_margin(self, comparison: Any) -> float | None:  # noqa: ARG002
        """Return a duel's expected margin, given its comparison, or None if its margin did not count."""
        return None

    @property
    def reads_home(self) -> bool:
        """True if the system reads which side is at home."""
        return self.rates_sides

    @property
    def season_month(self) -> int:
        """The month in which seasons begin, for systems whose idle time counts seasons."""
        return 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of shared equipment that the system rates, such as cars."""
        return ()

    def equipment_points(self, moved: float, me: Any, after: Any, item: Any, item_after: Any) -> float:  # noqa: ARG002
        """Return the points by which a result moved a piece of equipment.

        `moved` is the change in the rating of the entrant who used it.

        Args:
            me: The user's entering state. `item` is the equipment's.
            after: The user's state after the event. `item_after` is the equipment's.
        """
        return 0.0

    def mode_number(self, mode: str) -> float:
        """Return the number that represents a mode in the rules."""
        return MODES.get(mode, OTHER_MODE)

    def modes_on(self, modes: PoolNumbers, days: Callable[[], PoolNumbers]) -> PoolNumbers:  # noqa: ARG002
        """Return the mode numbers of heats, adjusted if the rules depend on the date.

        Args:
            days: Function that returns days since the start of the year 1. NaN for heats without a date.
        """
        return modes

    def new_pool(self) -> Any:
        """Return the state of a pool without rated events."""
        return ()

    @property
    def pool_fields(self) -> int:
        """The number of fields in a pool's state, or 0 if pools have no state."""
        return 0 if self.pool_state_type is None else len(self.pool_state_type._fields)

    def within(self, pool_state: Sequence[float] | PoolNumbers, occasion: Occasion | None = None) -> Self:
        """Return the system bound to a pool in this state, given as a NamedTuple or a float64 array of its fields."""
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
        """The state of the pool to which the system is bound, and the event's time and mode.

        By default, the pool is new.
        """
        bound: tuple[PoolNumbers, Occasion] | None = getattr(self, "_standing", None)
        return (np.array(self.new_pool(), np.float64), NO_OCCASION) if bound is None else bound


@rule
def sharpness(params: Any) -> float:
    """Return the factor for log-odds in fields of three or more. Favourites win these more often than pairs predict."""
    return 1.0


def new_pools(system: PoolReader, count: int) -> PoolNumbers:
    """Return the states of new pools, as an array of shape (pools, fields)."""
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
    """Store the new states of the players in a rating update.

    Return the first entrant whose state is not finite, or -1.

    Args:
        before: Array of shape (entrants,) that receives the ratings before the event. Empty if they are not needed.
        after: Array of shape (fields, entrants) that receives the states after the event.
    """
    newcomer, _, _ = prototypes
    keep = before.size > 0
    everything = 0.0  # the sum is checked instead of each number
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
