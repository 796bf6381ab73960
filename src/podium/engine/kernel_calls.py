"""Run loops over rules, compiled for Podium's own systems or for other systems."""

from collections.abc import Callable
from typing import Any

from numba.core.errors import NumbaError

from podium.engine.rule_checks import check_declarations, run_rules
from podium.engine.rule_errors import compile_sentence
from podium.engine.rules import rate_event
from podium.engine.system import System
from podium.errors import RuleError
from podium.kernels.compiled import SHIPPED, run_by_steps

Kernels = tuple[Callable[..., Any], Callable[..., Any]]
OWN_LOOP = 3  # steps per pair in systems that rate whole events, because their steps are longer


def run_kernel(system: System, kernels: Kernels, steps: int, params: Any, *arguments: Any) -> Any:
    """Run a loop over rules, and return its result. For other systems than Podium's own, it is always compiled.

    Args:
        kernels: the loop compiled for Podium's own systems, and the loop compiled for other systems.
        steps: about twice the number of pairs that the loop compares.
        params: the rules' parameters, as in `System.arguments`. Their type determines which system's rules are run.

    Raises:
        RuleError: numba cannot compile the rules.
    """
    kept, apart = kernels
    try:
        if system.is_ours and type(params) in SHIPPED:
            has_own_loop = rate_event.dispatch(type(params)) is not rate_event.dispatch(object)
            return run_by_steps(kept, OWN_LOOP * steps if has_own_loop else steps, params, *arguments)
        return apart(params, *arguments)
    except NumbaError as error:
        raise compile_error(system, error) from None


def compile_error(system: System, error: Exception) -> RuleError:
    """Return the error that the rules raise in plain Python.

    If they raise none, name the rule and line that numba rejects.
    """
    try:
        check_declarations(system)
        run_rules(system)
    except RuleError as plain_error:
        return plain_error
    return compile_sentence(system, error)
