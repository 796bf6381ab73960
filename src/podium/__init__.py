"""Podium: a rating engine for multiplayer races and games that can explain every rating change."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from podium.version import __version__ as __version__

if TYPE_CHECKING:
    from podium.analysis.audit import Audit, audit
    from podium.analysis.conformance import SystemCheck, check_system
    from podium.analysis.evaluation import Evaluation, evaluate
    from podium.analysis.scores import Window
    from podium.analysis.simulation import Scenario, Simulated, simulate
    from podium.analysis.tuning import Tuned, tune
    from podium.client import AsyncClient, Client, ClientError
    from podium.errors import Fault, ParameterError, PodiumError, ResultsError, RuleError, UnknownError
    from podium.importers.tables import read_results
    from podium.importers.tables.open_table import from_matches
    from podium.ledger.forecast import Forecast
    from podium.ledger.reasons import Explanation
    from podium.ledger.reasons.what_if import WhatIf
    from podium.ledger.stakes import Stakes
    from podium.live import Live, PlayerChange, RatedEvent
    from podium.parts import rate_parts, rate_pools
    from podium.rated import Rated
    from podium.rating import predict, rate
    from podium.reporting.plotting import plot
    from podium.results.reading import Results

__all__ = [
    "AsyncClient",
    "Audit",
    "Client",
    "ClientError",
    "Evaluation",
    "Explanation",
    "Fault",
    "Forecast",
    "Live",
    "ParameterError",
    "PlayerChange",
    "PodiumError",
    "Rated",
    "RatedEvent",
    "Results",
    "ResultsError",
    "RuleError",
    "Scenario",
    "Simulated",
    "Stakes",
    "SystemCheck",
    "Tuned",
    "UnknownError",
    "WhatIf",
    "Window",
    "audit",
    "check_system",
    "evaluate",
    "from_matches",
    "plot",
    "predict",
    "rate",
    "rate_parts",
    "rate_pools",
    "read_results",
    "simulate",
    "tune",
]

_HOMES = {
    "AsyncClient": "client",
    "Audit": "analysis.audit",
    "Client": "client",
    "ClientError": "client",
    "Evaluation": "analysis.evaluation",
    "Explanation": "ledger.reasons",
    "Fault": "errors",
    "Forecast": "ledger.forecast",
    "Live": "live",
    "ParameterError": "errors",
    "PlayerChange": "live",
    "PodiumError": "errors",
    "Rated": "rated",
    "RatedEvent": "live",
    "Results": "results.reading",
    "ResultsError": "errors",
    "RuleError": "errors",
    "Scenario": "analysis.simulation",
    "Simulated": "analysis.simulation",
    "Stakes": "ledger.stakes",
    "SystemCheck": "analysis.conformance",
    "Tuned": "analysis.tuning",
    "UnknownError": "errors",
    "WhatIf": "ledger.reasons.what_if",
    "Window": "analysis.scores",
    "audit": "analysis.audit",
    "check_system": "analysis.conformance",
    "evaluate": "analysis.evaluation",
    "from_matches": "importers.tables.open_table",
    "plot": "reporting.plotting",
    "predict": "rating",
    "rate": "rating",
    "rate_parts": "parts",
    "rate_pools": "parts",
    "read_results": "importers.tables",
    "simulate": "analysis.simulation",
    "tune": "analysis.tuning",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `podium --help` loads neither numba nor Polars."""
    if name == "importers":  # most programs never use it
        return import_module(f"podium.{name}")
    if name not in _HOMES:
        message = f"module 'podium' has no attribute {name!r}"
        raise AttributeError(message)
    home = _HOMES[name]
    if home == "client":  # the client is in another package
        from podium.errors import needs_extra  # noqa: PLC0415

        with needs_extra("client", "the client"):
            import_module("podium.client")
    return getattr(import_module(f"podium.{home}"), name)


def __dir__() -> list[str]:
    """Return the public names, for tab completion."""
    return [*__all__, "importers", *(name for name in globals() if name.startswith("_"))]
