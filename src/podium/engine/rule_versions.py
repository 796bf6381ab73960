"""Which rules kernels were compiled with, since numba would go on with those of that time."""

from typing import Any

from podium.engine.duels.steps import face_off, judge_result, update_two
from podium.engine.rules import (
    compare,
    compare_all,
    counts,
    enter,
    evidence,
    expect,
    in_pool,
    judge_heat,
    judge_large_heat,
    rate_event,
    rate_two,
    settle,
)
from podium.engine.two_heats import judge_two_heats

# The rules that kernels call.
COMPILED = (
    *(in_pool, enter, compare, evidence, settle, expect, counts, rate_two, rate_event, judge_heat),
    *(compare_all, judge_large_heat, judge_two_heats),
    *(face_off, judge_result, update_two),
)
_versions: dict[type[Any], dict[tuple[Any, ...], type[Any]]] = {}  # by parameters' type, and by the rules for it


def functions_of(kind: type[Any]) -> tuple[Any, ...]:
    """The functions that are registered for parameters of this type now, one for each rule that kernels call."""
    return tuple(rule.dispatch(kind) for rule in COMPILED)


def are_ours(functions: tuple[Any, ...]) -> bool:
    """Whether Podium itself registered them all."""
    return all(function.__module__.startswith("podium.") for function in functions)


def version_of(kind: type[Any]) -> type[Any]:
    """The type of parameters that kernels are compiled for: another one for each set of rules that `kind` had.

    numba compiles once for a type, and would go on with the rules of that time.
    """
    versions, functions = _versions.setdefault(kind, {}), functions_of(kind)
    if functions not in versions:
        if versions:
            versions[functions] = type(kind.__name__ + ".again" * len(versions), (kind,), {"__slots__": ()})
        else:
            qualify(kind)
            versions[functions] = kind
    return versions[functions]


def qualify(kind: type[Any]) -> None:
    """Give a type of numbers its module's name too.

    numba names machine code after the names of its arguments' types, and takes types of one name for one: two systems
    loaded from the cache would run each other's code where both call them `Params`, and a stranger's `State` would be
    written into the cache of Podium's own, which no process without that stranger could read.
    """
    if "." not in kind.__name__:
        kind.__name__ = f"{kind.__module__}.{kind.__qualname__}"
