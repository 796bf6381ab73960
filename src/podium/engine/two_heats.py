"""The rule for two heats at once, of models whose messages take their time: `podium.engine.side_by_side` says why."""

from functools import singledispatch
from typing import Any

from numba.extending import overload

from podium.engine.rules import compiled_as
from podium.kernels.compiled import IN_KERNELS


@singledispatch
def judge_two_heats(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, middle: int, stop: int, scratch: Any, other: Any
) -> None:
    """Judge a heat in `scratch` and the next one in `other`, to the bits of `judge_heat`; nobody is in both.

    Each is all of its event: entries, and entrants, `start` to `middle`, and from there to `stop`; the second may have
    none.
    """
    raise NotImplementedError(f"{type(params).__module__} registers no judge_two_heats")


@overload(judge_two_heats, jit_options=IN_KERNELS)
def _(params, prototypes, columns, heat, start, middle, stop, scratch, other):  # type: ignore[no-untyped-def]
    return compiled_as(judge_two_heats)(params)
