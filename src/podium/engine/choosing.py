"""How a compiled kernel comes by the function that a system registered for a rule."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import types


def compiled_as(rule: Any) -> Callable[[types.Type], Callable[..., Any] | None]:
    """What numba asks of a rule: the function registered for the type of its first argument, a NamedTuple."""

    def chosen_for(first: types.Type) -> Callable[..., Any] | None:
        if not isinstance(first, types.NamedTuple | types.NamedUniTuple):
            return None
        chosen = rule.dispatch(first.instance_class)
        # Bare of annotations: numba refuses an implementation whose annotations differ from the slot's.
        return FunctionType(chosen.__code__, chosen.__globals__, chosen.__name__, None, chosen.__closure__)

    return chosen_for
