"""Models of bodies, how bodies of requests are read by them, and answers written."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import models_json_schema

from podium.log.pools import Order
from podium.results.columns import MAX_KINDS, MAX_URL, MAX_WEIGHT, SHARED
from podium.results.headings import column_meant_by
from podium.service.http.json import MAX_SENT_CHARACTERS, Identifier, Name, RefusedError, SentName, loads, printable
from podium.service.http.visitors import read_bytes

MAX_BODY_BYTES = 4_000_000
OFFLOAD_BYTES = 20_000  # a body that takes so long to read that other requests should not wait for it
Body = TypeVar("Body", bound=BaseModel)
T = TypeVar("T")


async def read_body(request: Request, model: type[Body]) -> Body:
    return await read_parsed(request, lambda body: parse_body(body, model))


async def read_parsed(request: Request, parse: Callable[[bytes], T]) -> T:
    """Return what a function reads of the body of a request."""
    body = await read_bytes(request, MAX_BODY_BYTES)
    return await run_in_threadpool(parse, body) if len(body) > OFFLOAD_BYTES else parse(body)


def parse_body(body: bytes, model: type[Body]) -> Body:
    return validate(loads(body), model)


def validate(value: Any, model: type[Body]) -> Body:
    try:
        valid: Body = adapter(model).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{printable(part)}" for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ").replace(" after validation", "")
        if first["type"] == "extra_forbidden":
            reason = unknown_field(str(first["loc"][-1]))
        elif first["type"] == "model_type":
            reason = f"{'' if field else 'the body '}must be a JSON object"
        raise RefusedError(field.lstrip("."), reason) from None
    return valid


def unknown_field(name: str) -> str:
    if name == "sequence":
        return "is for files only where events have dates; those of one start are rated in the order they are sent in"
    meaning = column_meant_by(name)
    return f"is not a field of this body{f'; did you mean {meaning}?' if meaning not in (None, name) else ''}"


@cache
def adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def json_response(model: Any, value: Any, status: int = 200) -> Response:
    """Return a value of a type as an answer, written as the type's schema describes it."""
    return Response(adapter(model).dump_json(value), status, media_type="application/json")


def request_body(*models: type[BaseModel]) -> dict[str, Any]:
    """Return the OpenAPI description of a body that the route reads itself: any of these models."""
    references = [{"$ref": f"#/components/schemas/{model.__name__}"} for model in models]
    schema = references[0] if len(references) == 1 else {"anyOf": references}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def schemas(models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    """Return the OpenAPI schemas of models that routes read themselves, and of what these contain."""
    validated: list[Any] = [(model, "validation") for model in sorted(models, key=lambda model: model.__name__)]
    _, document = models_json_schema(validated, ref_template="#/components/schemas/{model}")
    definitions: dict[str, Any] = document["$defs"]
    return definitions


NotNegative = Annotated[float, Field(ge=0.0)]
Positive = Annotated[float, Field(gt=0.0)]
SentUrl = Annotated[str, Field(min_length=1, max_length=MAX_URL)]
Weight = Annotated[float, Field(gt=0.0, le=MAX_WEIGHT)]
SystemName = Annotated[str, Field(min_length=1, max_length=64)]
Parameters = dict[Annotated[str, Field(max_length=64)], float | int | bool | str | None]
Title = Annotated[str | None, Field(max_length=MAX_SENT_CHARACTERS, description="What pages call it.")]
Contact = Annotated[
    str | None,
    Field(max_length=MAX_SENT_CHARACTERS, description="Who corrects results: a mail address, or that of a page."),
]
PlayerWord = Annotated[
    str | None, Field(max_length=MAX_SENT_CHARACTERS, description="What one player is called, like rider.")
]
Public = Annotated[bool | None, Field(description="Whether its pages and reads need no key; false at first.")]
MAX_CLOCK_LEAD = timedelta(days=1)  # that two clocks, or two notions of a day, may be apart
MAX_PREDICTED = 100  # entrants: the answer grows with their square, and takes less than a second
MAX_TICKETS = 2_000
MAX_EVENTS = 1_000  # of a batch
MAX_ENTRIES = 10_000  # of an event
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def in_utc(sent: datetime) -> datetime:
    """Return a moment in UTC; one without an offset is in UTC."""
    if not datetime(1800, 1, 1) < sent.replace(tzinfo=None) < datetime(2300, 1, 1):  # noqa: DTZ001  (of any offset)
        raise ValueError("is not between the years 1900 and 2200")
    moment = sent.replace(tzinfo=UTC) if sent.tzinfo is None else sent.astimezone(UTC)
    if not EARLIEST <= moment < LATEST:
        raise ValueError("is not between the years 1900 and 2200")
    return moment


def not_in_the_future(started_at: datetime) -> datetime:
    """Refuse an event that starts long after now: every event until then would be rated as a late one."""
    if started_at > datetime.now(UTC) + MAX_CLOCK_LEAD:
        raise ValueError("is in the future: more than a day ahead of the service's clock")
    return started_at


def iso_text(sent: Any) -> Any:
    """Refuse a number in the place of a date in ISO 8601."""
    if not isinstance(sent, str) or not sent[:4].isdigit() or "-" not in sent:
        raise ValueError("is not a date; write it like 2025-01-31T18:00:00Z")
    return sent


Moment = Annotated[datetime, Field(strict=False), BeforeValidator(iso_text), AfterValidator(in_utc)]


def given(model: BaseModel) -> dict[str, Any]:
    """The fields of a model that have a value, as they are; quicker than a dump, which looks into each."""
    return {name: value for name, value in model.__dict__.items() if value is not None}


class Strict(BaseModel):
    """A body of which nothing is converted, and in which no unknown field is allowed."""

    model_config = ConfigDict(strict=True, extra="forbid")


def with_example(example: dict[str, Any]) -> ConfigDict:
    """Return a strict model's configuration, with an example for the OpenAPI document."""
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [example]})


SentSide = Annotated[
    Literal["home", "white", "away", "black"] | None,
    Field(description="Whether the entry is at home, or has the first move: home or white."),
]
SentEquipment = Annotated[
    Annotated[dict[SentName, SentName], Field(max_length=MAX_KINDS)] | None,
    Field(description='What the player has or shares with others, by kind: `{"car": "Ferrari"}`.'),
]


class Entry(Strict):
    """A player's line in one heat."""

    player: SentName
    heat: SentName | None = None
    team: SentName | None = None
    position: Positive | None = None
    time_s: Positive | None = None
    score: float | None = None
    team_score: float | None = None
    status: Literal["finished", "quit", "dnf", "disqualified", "did_not_start"] | None = None
    played_s: NotNegative | None = None
    duration_s: NotNegative | None = None
    handicap: bool | None = None
    side: SentSide = None
    shared: SentEquipment = None

    def row(self) -> dict[str, Any]:
        """The cells of a results table."""
        cells = given(self)
        return cells | {f"{SHARED}{kind}": name for kind, name in cells.pop("shared", {}).items()}


class Event(Strict):
    """One race or match."""

    model_config = with_example(
        {
            "event_id": "race-17",
            "started_at": "2025-06-01T19:00:00Z",
            "entries": [{"player": "ana", "position": 1}, {"player": "ben", "position": 2}],
        }
    )

    event_id: Annotated[str, Field(min_length=1, max_length=200)]
    started_at: Annotated[Moment, AfterValidator(not_in_the_future)] | None = Field(
        None,
        description="When it started. If left out: the time of receipt, except in a pool with the order `sequence`.",
    )
    sequence: float | None = Field(
        None, description="Its number in a pool whose events have no dates; the next one where it is left out."
    )
    match_id: Identifier | None = Field(None, description="The registered match whose result this is.")
    mode: SentName | None = None
    ranked: bool | None = None
    weight: Weight | None = None
    title: SentName | None = Field(None, description="What people call the event; no rating depends on it.")
    url: SentUrl | None = Field(None, description="A page about the event, with http or https.")
    entries: Annotated[list[Entry], Field(min_length=1, max_length=MAX_ENTRIES, fail_fast=True)]

    def rows(self) -> list[dict[str, Any]]:
        if self.started_at is not None and self.sequence is not None:
            raise RefusedError("sequence", unknown_field("sequence"))
        shared = {name: value for name, value in given(self).items() if name not in ("entries", "match_id")}
        return [shared | entry.row() for entry in self.entries]

    def whens(self) -> list[datetime | float]:
        return [each for each in (self.started_at, self.sequence) if each is not None][:1]


class Batch(Strict):
    """Several events at once: all are stored, or none."""

    events: Annotated[list[Event], Field(min_length=1, max_length=MAX_EVENTS, fail_fast=True)]


class NewPool(Strict):
    """A pool, and the system that rates it."""

    model_config = with_example({"name": "karts", "system": "stk", "parameters": {"scale": 1500}})

    name: Name
    system: SystemName
    parameters: Parameters = {}
    order: Annotated[
        Order | None,
        Field(description="`dated` or `sequence` (events have numbers and no dates). The first event's if left out."),
    ] = None
    title: Title = None
    contact: Contact = None
    player_word: PlayerWord = None
    public: Public = None


class Description(Strict):
    """What a pool says of itself, and who may read it; what is left out stays, an empty text is removed."""

    model_config = with_example({"title": "Bikes", "player_word": "rider", "public": True})

    title: Title = None
    contact: Contact = None
    player_word: PlayerWord = None
    public: Public = None


class Configuration(Strict):
    """The system that rates a pool from its first event on."""

    model_config = with_example({"system": "glicko2", "parameters": {}})

    system: SystemName
    parameters: Parameters = {}


class NewOrder(Strict):
    """What orders a pool's events from now on."""

    model_config = with_example({"order": "dated", "started_at": "2026-01-31T00:00:00Z", "every": "1w"})

    order: Annotated[Order, Field(description="`dated`, or `sequence` for numbers and no dates.")]
    started_at: Moment | None = Field(
        None, description="Date of the first event. Each event has its earlier date or that of receipt if left out."
    )
    every: Annotated[str, Field(max_length=20, description="Time from each event to the next, such as 1w.")] = ""


class Merge(Strict):
    """Two accounts of one player."""

    model_config = with_example({"player": "ana-old", "into": "ana"})

    player: SentName
    into: SentName


class NewName(Strict):
    """A player's new name."""

    model_config = with_example({"name": "anna"})

    name: Annotated[Name, Field(description="What the player is called from now on.")]


class Entrant(Strict):
    """A player who starts in a match."""

    player: SentName
    team: Name | None = None


class NewMatch(Strict):
    """A match that starts: its result counts once, and who is missing from it has quit."""

    model_config = with_example({"match_id": "lobby-9", "entrants": [{"player": "ana"}, {"player": "ben"}]})

    match_id: Identifier
    entrants: Annotated[list[Entrant], Field(min_length=1, max_length=10_000, fail_fast=True)]
    expires_in_s: Annotated[float, Field(gt=0.0, le=2_678_400.0, description="Seconds to wait for a result.")] = (
        86_400.0
    )


class NewSeason(Strict):
    """A season that begins: every lead over a newcomer shrinks to a share of itself."""

    model_config = with_example({"name": "2026", "starts_at": "2026-01-01T00:00:00Z", "keep": 0.5})

    name: Name
    starts_at: Moment | None = None
    sequence: float | None = Field(None, description="The number of its first event, in a numbered pool.")
    keep: Annotated[float, Field(ge=0.0, le=1.0)]

    @model_validator(mode="after")
    def _begins_once(self) -> Self:
        if (self.starts_at is None) == (self.sequence is None):
            raise ValueError("begins either at a moment, starts_at, or with the sequence of an event")
        return self

    @property
    def when(self) -> datetime | float:
        return self.sequence or 0.0 if self.starts_at is None else self.starts_at


class FieldMember(Strict):
    """One of a field, as an entry of a result says it."""

    player: SentName
    side: SentSide = None
    shared: SentEquipment = None
    new: Annotated[bool, Field(description="A newcomer, even if the name is nearly a known one.")] = False


Members = list[SentName | FieldMember]


class PredictRequest(Strict):
    """A field whose chances are to be predicted: players alone, sides of several, or both."""

    model_config = with_example({"entrants": ["ana", "ben", "cleo"], "top": 3})

    entrants: Annotated[Members, Field(max_length=MAX_PREDICTED, description="Who starts alone.")] = []
    sides: Annotated[
        list[Annotated[Members, Field(min_length=1, max_length=MAX_PREDICTED)]],
        Field(max_length=MAX_PREDICTED, description="The members of each side."),
    ] = []
    top: Annotated[int, Field(ge=1, le=MAX_PREDICTED)] = 3


class WaitingPlayer(Strict):
    """A player who waits for a match."""

    player: SentName
    waited_s: Annotated[float, Field(ge=0.0, le=1e9)]
    party: Name | None = None
    region: Annotated[str, Field(max_length=200)] = ""
    shared: SentEquipment = None


class Tickets(Strict):
    """Players who wait, and the policy of matches; ratings are the pool's."""

    model_config = with_example(
        {"tickets": [{"player": "ana", "waited_s": 3.5}, {"player": "ben", "waited_s": 20}], "size": 2, "least": 2}
    )

    tickets: Annotated[list[WaitingPlayer], Field(max_length=MAX_TICKETS, fail_fast=True)]
    size: Annotated[int, Field(ge=2, le=1000)] = 4
    teams: Annotated[int, Field(ge=0, le=1000)] = 0
    least: Annotated[int, Field(ge=2, le=1000)] = 2
    target_s: Annotated[float, Field(gt=0.0, le=1e6)] = 40.0
    scale: Annotated[
        float | None, Field(gt=0.0, le=1e9, description="Gap in rating at which the odds are 10 to 1; the pool's own.")
    ] = None


REQUEST_MODELS = (
    Batch, Configuration, Description, Event, Merge, NewMatch, NewName, NewOrder, NewPool, NewSeason,
    PredictRequest, Tickets,
)  # fmt: skip
