"""The HTTP service for a store. It needs the `service` extra."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.service.app import create_app as create_app


def __getattr__(name: str) -> Any:
    """Load the app only when it is needed, because a worker must answer its parent before that."""
    if name != "create_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from podium.service.app import create_app  # noqa: PLC0415

    return create_app
