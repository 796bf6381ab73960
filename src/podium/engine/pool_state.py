"""Pools with a state: numbers that belong to a pool rather than to a player, read and moved by its every event."""

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
DAY = "day"  # the field of a pool's state, where it has one, that holds the day of its newest event


class LearntParameter(NamedTuple):
    """A number of a pool's state that says something of its sport."""

    name: str  # the field
    title: str
    unit: str
    convert: Callable[[float], float]  # the field's number into the unit
    describe: Callable[[float], str]  # what so many of the unit say, in a sentence


class PoolReader:
    """What a system has to do with the states of pools; by default its pools have none.

    A system may be bound to the state of a pool, and then expects, forecasts and explains as in that pool. It is the
    same system all the same: binding shows in no parameter, text, digest or comparison.
    """

    __slots__ = ("_standing",)

    pool_state_type: ClassVar[type[Any] | None] = None  # a NamedTuple of floats
    learnt_parameters: ClassVar[tuple[LearntParameter, ...]] = ()  # of that state, for people
    reads_days: ClassVar[bool] = False  # whether its events have the column `day`
    room: ClassVar[tuple[int, int]] = (0, 0)  # scratch of its own: numbers a row, rows beside those of the entrants

    rates_sides: ClassVar[bool] = False  # a side, and what it shares, is rated as one, from the room of `Sides`
    has_offsets: ClassVar[bool] = False  # of entrants in modes: each is a state beside its own

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of things that entrants share, of which the system rates each."""
        return ()

    def thing_points(self, moved: float, me: Any, after: Any, thing: Any, thing_after: Any) -> float:  # noqa: ARG002
        """What a result moved a thing by, in points, that moved by `moved` an entrant who is a unit with it.

        Args:
            me: what the entrant brought, and `after` the state it left with; so too of the thing.
        """
        return 0.0

    def mode_number(self, mode: str) -> float:
        """The number by which the rules know a mode."""
        return MODES.get(mode, OTHER_MODE)

    def new_pool(self) -> Any:
        """The state of a pool in which nothing has been rated."""
        return ()

    @property
    def pool_fields(self) -> int:
        """How many numbers the state of a pool has; 0 where it has none."""
        return 0 if self.pool_state_type is None else len(self.pool_state_type._fields)

    def within(self, pool_state: Sequence[float] | PoolNumbers, occasion: Occasion | None = None) -> Self:
        """The system bound to a pool in this state: (fields) float64, or the NamedTuple."""
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
        """The state of the pool that the system is bound to, a new pool's where it is not, and the occasion."""
        bound: tuple[PoolNumbers, Occasion] | None = getattr(self, "_standing", None)
        return (np.array(self.new_pool(), np.float64), NO_OCCASION) if bound is None else bound


@rule
def sharpness(params: Any) -> float:
    """By what log-odds in a field of three and more are multiplied, where the best win more often than pairs say."""
    return 1.0


def new_pools(system: PoolReader, count: int) -> PoolNumbers:
    """The states of so many pools in which nothing has been rated, (pools, fields)."""
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
    """Move players on to their new states, and keep what changed; the first entrant with one not finite, or -1.

    Args:
        before: the ratings that entrants brought, (entrants); or none, where they are not kept.
        after: the states that they left with, (fields, entrants).
    """
    newcomer, _, _ = prototypes
    keep = before.size > 0
    everything = 0.0  # one sum is checked, not each number
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
