"""What the service takes and gives, for its checks and its OpenAPI document."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from podium.results.columns import MOST_WEIGHT
from podium.service.http.names import Key, Name, Sent

Count = Annotated[float, Field(ge=0.0)]
Positive = Annotated[float, Field(gt=0.0)]
Weight = Annotated[float, Field(gt=0.0, le=MOST_WEIGHT)]
SystemName = Annotated[str, Field(min_length=1, max_length=64)]
Parameters = dict[Annotated[str, Field(max_length=64)], float | int | bool | str | None]
CLOCKS = timedelta(days=1)  # that two clocks, or two notions of a day, may be apart
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def in_utc(told: datetime) -> datetime:
    """A moment in UTC; one without an offset is.

    Raises:
        ValueError: it is beyond what any event is.
    """
    if not datetime(1800, 1, 1) < told.replace(tzinfo=None) < datetime(2300, 1, 1):  # noqa: DTZ001  (of any offset)
        raise ValueError("is not between the years 1900 and 2200")
    moment = told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
    if not EARLIEST <= moment < LATEST:
        raise ValueError("is not between the years 1900 and 2200")
    return moment


def not_to_come(told: datetime) -> datetime:
    """Refuse an event that starts long after now: it would stand behind all that comes until then.

    Raises:
        ValueError: the server's clock is wrong.
    """
    if told > datetime.now(UTC) + CLOCKS:
        raise ValueError("is more than a day ahead of the service's clock")
    return told


def not_a_number(told: Any) -> Any:
    """Refuse numbers where a date in ISO 8601 is wanted.

    Raises:
        ValueError: it is no text.
    """
    if not isinstance(told, str) or not told[:4].isdigit() or "-" not in told:
        raise ValueError("is not a date; write it like 2025-01-31T18:00:00Z")
    return told


Moment = Annotated[datetime, Field(strict=False), BeforeValidator(not_a_number), AfterValidator(in_utc)]


class Strict(BaseModel):
    """Nothing is converted, and nothing unknown is taken."""

    model_config = ConfigDict(strict=True, extra="forbid")


def shown(example: dict[str, Any]) -> ConfigDict:
    """A strict model's configuration, with an example for the OpenAPI document."""
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [example]})


class Entry(Strict):
    """A player's line in one heat."""

    player: Sent
    heat: Sent | None = None
    team: Sent | None = None
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

    model_config = shown(
        {
            "event_id": "race-17",
            "started_at": "2025-06-01T19:00:00Z",
            "entries": [{"player": "ana", "position": 1}, {"player": "ben", "position": 2}],
        }
    )

    event_id: Annotated[str, Field(min_length=1, max_length=200)]
    started_at: Annotated[Moment, AfterValidator(not_to_come)]
    match_id: Key | None = Field(None, description="The registered match whose result this is.")
    mode: Sent | None = None
    ranked: bool | None = None
    weight: Weight | None = None
    entries: Annotated[list[Entry], Field(min_length=1, max_length=10_000)]

    def rows(self) -> list[dict[str, Any]]:
        """The rows of a results table."""
        shared = self.model_dump(exclude={"entries", "match_id"}, exclude_none=True)
        return [shared | entry.model_dump(exclude_none=True) for entry in self.entries]


class Batch(Strict):
    """Several events at once: all are taken, or none."""

    events: Annotated[list[Event], Field(min_length=1, max_length=1000)]


class NewPool(Strict):
    """A ladder, and the system that rates it."""

    model_config = shown({"name": "karts", "system": "stk", "parameters": {"scale": 1500}})

    name: Name
    system: SystemName
    parameters: Parameters = {}


class Configuration(Strict):
    """What a pool is to be rated with, from its first event on."""

    model_config = shown({"system": "glicko2", "parameters": {}})

    system: SystemName
    parameters: Parameters = {}


class Merge(Strict):
    """Two accounts of one player."""

    model_config = shown({"player": "ana-old", "into": "ana"})

    player: Sent
    into: Sent


class NewName(Strict):
    """What a player is to be called."""

    model_config = shown({"name": "anna"})

    name: Name


class Entrant(Strict):
    """Who starts in a match."""

    player: Sent
    team: Name | None = None


class NewMatch(Strict):
    """A match that starts: its result counts once, and who is missing from it has quit."""

    model_config = shown({"match_id": "lobby-9", "entrants": [{"player": "ana"}, {"player": "ben"}]})

    match_id: Key
    entrants: Annotated[list[Entrant], Field(min_length=1, max_length=10_000)]
    expires_in_s: Annotated[float, Field(gt=0.0, le=2_678_400.0, description="Seconds to wait for a result.")] = (
        86_400.0
    )


class NewSeason(Strict):
    """A season that begins: every lead over a newcomer shrinks to a share of itself."""

    model_config = shown({"name": "2026", "starts_at": "2026-01-01T00:00:00Z", "keep": 0.5})

    name: Name
    starts_at: Moment
    keep: Annotated[float, Field(ge=0.0, le=1.0)]


class Asked(Strict):
    """A field of players whose chances are asked."""

    model_config = shown({"entrants": ["ana", "ben", "cleo"], "top": 3})

    entrants: Annotated[list[Sent], Field(min_length=2, max_length=200)]
    top: Annotated[int, Field(ge=1, le=200)] = 3


class WaitingPlayer(Strict):
    """A player who waits for a match."""

    player: Sent
    waited_s: Annotated[float, Field(ge=0.0, le=1e9)]
    party: Name | None = None
    region: Annotated[str, Field(max_length=200)] = ""


class Tickets(Strict):
    """Who waits, and what matches are wanted; ratings are the pool's."""

    model_config = shown(
        {"tickets": [{"player": "ana", "waited_s": 3.5}, {"player": "ben", "waited_s": 20}], "size": 2, "least": 2}
    )

    tickets: Annotated[list[WaitingPlayer], Field(max_length=10_000)]
    size: Annotated[int, Field(ge=2, le=1000)] = 4
    teams: Annotated[int, Field(ge=0, le=1000)] = 0
    least: Annotated[int, Field(ge=2, le=1000)] = 2
    target_s: Annotated[float, Field(gt=0.0, le=1e6)] = 40.0
    scale: Annotated[
        float | None, Field(gt=0.0, le=1e9, description="Gap in rating at which the odds are 10 to 1; the pool's own.")
    ] = None


class Day(Strict):
    """A day whose ranks are to be kept."""

    model_config = shown({"day": "2026-01-31"})

    day: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None


class Change(BaseModel):
    """What an event did to a rating."""

    player: str
    rating_before: float
    rating: float
    delta: float


class Effect(BaseModel):
    """What becomes of a change of another event; null where there was, or is to be, none."""

    event_id: str | None
    player: str
    rating_was: float | None
    rating: float | None


class Receipt(BaseModel):
    """What became of an event."""

    event_id: str
    seq: int
    status: Literal["rated", "unrated", "voided", "superseded"]
    reason: str
    duplicate: bool
    changes: list[Change]
    rerated: int
    effects: list[Effect]
    warnings: list[str]


class PoolOut(BaseModel):
    """A ladder."""

    name: str
    system: str
    parameters: dict[str, Any] = {}
    notice: Annotated[
        str | None, Field(description="How many players are beyond what the system can rate, and what suits.")
    ] = None


class Page(BaseModel):
    """A page of the leaderboard."""

    players: list[dict[str, Any]]
    next: str | None


class Rerated(BaseModel):
    """How many changes of ratings are new."""

    rerated: int


class MatchOut(BaseModel):
    """A registered match."""

    match_id: str
    entrants: list[str]
    expires_at: datetime
    status: Literal["open", "reported", "expired"]
    results: list[str]


class MadeMatch(BaseModel):
    """Players to play each other."""

    players: list[str]
    teams: list[list[str]]
    spread: float
    quality: float
    waited_s: float
