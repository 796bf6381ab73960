"""What the service takes and gives, for its checks and its OpenAPI document."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[float, Field(ge=0.0)]
Positive = Annotated[float, Field(gt=0.0)]


class Strict(BaseModel):
    """Nothing is converted, and nothing unknown is taken."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Entry(Strict):
    """A player's line in one heat."""

    player: Name
    heat: Name | None = None
    team: Name | None = None
    position: Positive | None = None
    time_s: Positive | None = None
    score: float | None = None
    team_score: float | None = None
    status: Literal["finished", "quit", "dnf", "disqualified", "did_not_start"] | None = None
    played_s: Count | None = None
    duration_s: Count | None = None
    handicap: bool | None = None


class Event(Strict):
    """One race or match."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "event_id": "race-17",
                    "started_at": "2025-06-01T19:00:00Z",
                    "entries": [{"player": "ana", "position": 1}, {"player": "ben", "position": 2}],
                }
            ]
        },
    )

    event_id: Name
    started_at: Annotated[datetime, Field(strict=False)]
    mode: Name | None = None
    ranked: bool | None = None
    weight: Positive | None = None
    entries: Annotated[list[Entry], Field(min_length=1, max_length=10_000)]

    def rows(self) -> list[dict[str, Any]]:
        """The rows of a results table; a time without an offset is UTC."""
        shared = self.model_dump(exclude={"entries"}, exclude_none=True)
        told = self.started_at
        shared["started_at"] = told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
        return [shared | entry.model_dump(exclude_none=True) for entry in self.entries]


class Batch(Strict):
    """Several events at once: all are taken, or none."""

    events: Annotated[list[Event], Field(min_length=1, max_length=1000)]


class NewPool(Strict):
    """A ladder, and the system that rates it."""

    name: Name
    system: Name
    parameters: dict[str, float | int | bool | str | None] = {}


class Merge(Strict):
    """Two accounts of one player."""

    player: Name
    into: Name


class Change(BaseModel):
    """What an event did to a rating."""

    player: str
    rating_before: float
    rating: float
    delta: float


class Receipt(BaseModel):
    """What became of an event."""

    event_id: str
    seq: int
    status: Literal["rated", "unrated", "voided", "superseded"]
    reason: str
    duplicate: bool
    changes: list[Change]
    rerated: int


class Problem(BaseModel):
    """RFC 9457: what is wrong, where, and how to mend it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    field: str | None = None
