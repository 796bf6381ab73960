"""Podium: a rating engine for multiplayer races and games that can say why every rating moved."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from podium.version import __version__ as __version__

if TYPE_CHECKING:
    from podium.analysis.conformance import SystemCheck, check_system
    from podium.client import AsyncClient, Client, ClientError
    from podium.errors import Fault, ParameterError, PodiumError, ResultsError, RuleError, UnknownError
    from podium.importers.tables.frames import from_matches, read_results
    from podium.ledger.explanation import Explanation
    from podium.ledger.what_if import WhatIf
    from podium.live import Live
    from podium.rated import Rated, rate
    from podium.results.reading import Results

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "Explanation",
    "Fault",
    "Live",
    "ParameterError",
    "PodiumError",
    "Rated",
    "Results",
    "ResultsError",
    "RuleError",
    "SystemCheck",
    "UnknownError",
    "WhatIf",
    "check_system",
    "from_matches",
    "rate",
    "read_results",
]

_HOMES = {
    "AsyncClient": "client",
    "Client": "client",
    "ClientError": "client",
    "Explanation": "ledger.explanation",
    "Fault": "errors",
    "Live": "live",
    "ParameterError": "errors",
    "PodiumError": "errors",
    "Rated": "rated",
    "Results": "results.reading",
    "ResultsError": "errors",
    "RuleError": "errors",
    "SystemCheck": "analysis.conformance",
    "UnknownError": "errors",
    "WhatIf": "ledger.what_if",
    "check_system": "analysis.conformance",
    "from_matches": "importers.tables.frames",
    "rate": "rated",
    "read_results": "importers.tables.frames",
}


def __getattr__(name: str) -> Any:
    """The public names, imported when they are first used: `podium --help` needs neither numba nor Polars."""
    if name == "importers":  # a room of its own, which most programs never enter
        return import_module("podium.importers")
    if name not in _HOMES:
        message = f"module 'podium' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"podium.{_HOMES[name]}"), name)
