"""When something was, in what is read: at a moment, or in a counted pool the n-th; the other of the two is None."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from podium.store.log.order import When


def is_none(value: object) -> bool:
    """Whether there is no value."""
    return value is None


def drop_null(schema: dict[str, Any]) -> None:
    """Let a schema be that of the value alone: where there is none, the field is left out."""
    (value,) = (each for each in schema.pop("anyOf") if each != {"type": "null"})
    del schema["default"]
    schema.update(value)


OPTIONAL = {"exclude_if": is_none, "json_schema_extra": drop_null}
STARTED = {"description": "When it started; null in a counted pool."}
LAST_PLAYED = {"description": "When the player's last rated event started; null in a counted pool."}


@dataclass(frozen=True)
class Started:
    """What started at a moment, its `started_at`, or has a number in a counted pool."""

    __slots__ = ()

    sequence: float | None = field(
        default=None, kw_only=True, metadata=OPTIONAL | {"description": "Its number in a counted pool."}
    )

    @property
    def when(self: Any) -> When:
        """The one of both that there is."""
        when: When = self.started_at if self.sequence is None else self.sequence
        return when


@dataclass(frozen=True)
class Compared:
    """What is compared with the ranks of a day, `since`, or with those before an event of a counted pool."""

    __slots__ = ()

    since_sequence: float | None = field(
        default=None, kw_only=True, metadata=OPTIONAL | {"description": "Since before which event in a counted pool."}
    )

    @property
    def since_when(self: Any) -> date | float | None:
        """The one of both that there is; None where nothing is compared."""
        since: date | float | None = self.since if self.since_sequence is None else self.since_sequence
        return since


@dataclass(frozen=True)
class LastPlayed:
    """Who played last at a moment, `last_played_at`, or in an event with a number of a counted pool."""

    __slots__ = ()

    last_sequence: float | None = field(
        default=None,
        kw_only=True,
        metadata=OPTIONAL | {"description": "The number of the player's last rated event in a counted pool."},
    )

    @property
    def last_when(self: Any) -> When:
        """The one of both that there is."""
        when: When = self.last_played_at if self.last_sequence is None else self.last_sequence
        return when
