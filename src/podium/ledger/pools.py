"""Which pool a question is about."""

from collections.abc import Mapping, Sequence
from typing import Any

from podium.engine.pool_state import PoolNumbers
from podium.engine.system import System
from podium.errors import ParameterError, UnknownError


def existing_pool(name: str, pools: Sequence[str]) -> str:
    """The pool of that name.

    Raises:
        UnknownError: there is none.
    """
    if name not in pools:
        raise UnknownError(f"there is no pool {name!r} (there are {', '.join(pools)})")
    return name


def only_pool(pools: Sequence[str], name: str | None) -> str | None:
    """The pool of that name, or the only one; None where there is no pool at all.

    Raises:
        UnknownError: there is none of that name.
        ParameterError: no name is given, and there are several.
    """
    if name is not None:
        return existing_pool(name, pools) if pools else None
    if len(pools) > 1:
        raise ParameterError(f"name the pool: there are {', '.join(pools)}")
    return pools[0] if pools else None


def pool_state(system: System, states: Mapping[str, PoolNumbers], pool: str | None) -> Any:
    """The state of a pool as the system's NamedTuple; a new pool's where none is known, `()` where pools have none."""
    state = None if pool is None else states.get(pool)
    kind = system.pool_state_type
    return system.new_pool() if state is None or kind is None else kind(*state.tolist())


def system_in(system: System, states: Mapping[str, PoolNumbers], pool: str | None) -> System:
    """The system bound to the state of a pool; as it is where none is known."""
    state = None if pool is None else states.get(pool)
    return system if state is None else system.within(state)
