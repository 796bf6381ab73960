"""Run loops over rules, compiled for Podium's own systems or for other systems."""

from collections.abc import Callable
from typing import Any

from numba.core.errors import NumbaError

from podium.engine.rule_checks import check_declarations, run_rules
from podium.engine.rule_errors import compile_sentence
from podium.engine.system import System
from podium.errors import RuleError
from podium.kernels.compiled import SHIPPED

Kernels = tuple[Callable[..., Any], Callable[..., Any]]


def run_kernel(system: System, kernels: Kernels, params: Any, *arguments: Any) -> Any:
    """Run a loop over rules, compiled for Podium's own systems or for other systems, and return its result.

    Args:
        kernels: the loop compiled for Podium's own systems, and the loop compiled for other systems.
        params: the rules' parameters, as in `System.arguments`. Their type determines which system's rules are run.

    Raises:
        RuleError: numba cannot compile the rules.
    """
    kept, apart = kernels
    try:
        return (kept if system.is_ours and type(params) in SHIPPED else apart)(params, *arguments)
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
