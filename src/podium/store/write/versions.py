"""Versions of an event: whoever corrects one may say which version the correction is of."""

from collections.abc import Collection
from typing import Any

from podium.store.derive.rerating import VOIDED
from podium.store.sql.database import StoreError


class StaleError(StoreError):
    """The event has changed since the version that a correction is of."""


def version_of(row: Any) -> str:
    """The version of an event's row: it changes with the content, and when the event is voided or restored."""
    return f"{row.content_seq}-voided" if row.status == VOIDED else f"{row.content_seq}"


def require_version(row: Any, versions: Collection[str] | None) -> None:
    """Refuse a correction of another version than the event has.

    Args:
        versions: those it may have; any where None.

    Raises:
        StaleError: it has none of them.
    """
    if versions is not None and version_of(row) not in versions:
        raise StaleError(f"event {row.event_id!r} has changed since; read it again, and then correct it")
