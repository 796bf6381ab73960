"""Models of request bodies, functions that parse requests with them, and functions that write responses."""

import json
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from podium.ledger.point_schemes import MAX_CHARACTERS
from podium.log.players import IDS
from podium.log.pools import MAX_CONTACT_CHARACTERS, MAX_WORD_CHARACTERS, Order
from podium.results.columns import MAX_KINDS, MAX_URL, MAX_WEIGHT, SHARED
from podium.results.headings import column_meant_by
from podium.results.names import LONGEST
from podium.service.http.json import (
    Identifier,
    Name,
    RefusedError,
    SentName,
    adapter,
    in_utc,
    not_in_the_future,
    printable,
)
from podium.support.answers import take_meanings
from podium.views.details import DETAILS

Body = TypeVar("Body", bound=BaseModel)


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
        return (
            "can be used only in files if events have dates. Events with the same start are rated in the order in which"
            " they were sent"
        )
    meaning = column_meant_by(name)
    return f"is not a field of this body{f'; did you mean {meaning}?' if meaning not in (None, name) else ''}"


NotNegative = Annotated[float, Field(ge=0.0)]
Positive = Annotated[float, Field(gt=0.0)]
SentUrl = Annotated[str, Field(min_length=1, max_length=MAX_URL)]
Weight = Annotated[float, Field(gt=0.0, le=MAX_WEIGHT)]
SystemName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        description="Name of the rating system, such as adaptive or glicko2. `podium systems` lists all.",
    ),
]
Parameters = Annotated[
    dict[Annotated[str, Field(max_length=64)], float | int | bool | str | None],
    Field(description="Parameters of the system that differ from its defaults."),
]
MAX_KEY_DAYS = 36_525
MAX_PREDICTED = 100  # entrants; the response grows with the square of their number, and takes under a second
MAX_TICKETS = 2_000
MAX_EVENTS = 1_000  # per batch
MAX_ENTRIES = 10_000  # per event


def iso_text(sent: Any) -> Any:
    """Reject a number where an ISO 8601 date is expected."""
    if not isinstance(sent, str) or not sent[:4].isdigit() or "-" not in sent:
        raise ValueError("is not a date. Write it like 2025-01-31T18:00:00Z")
    return sent


Moment = Annotated[datetime, Field(strict=False), BeforeValidator(iso_text), AfterValidator(in_utc)]


def given(model: BaseModel) -> dict[str, Any]:
    """Return the fields of a model that have a value. This is faster than a dump, which examines each value."""
    return {name: value for name, value in model.__dict__.items() if value is not None}


EXAMPLES = json.loads(files("podium.service.api").joinpath("request_examples.json").read_bytes())


def add_example(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Add the example of a body to its schema."""
    if model.__name__ in EXAMPLES:
        schema["examples"] = [EXAMPLES[model.__name__]]


class Strict(BaseModel):
    """A body whose values are not converted, and in which unknown fields are errors.

    The docstrings of its subclasses describe their fields.
    """

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra=add_example)

    def __init_subclass__(cls, **options: Any) -> None:
        for name, text in take_meanings(cls).items():
            setattr(cls, name, Field(cls.__dict__.get(name, ...), description=text))
        super().__init_subclass__(**options)


SentSide = Annotated[
    Literal["home", "white", "away", "black"] | None,
    Field(description="The entrant's side. `home` is the home side, and `white` is the side that moves first."),
]
SentAwards = Annotated[
    SentName | None, Field(description="Awards such as the fastest lap, separated by commas, for championship points.")
]
SentEquipment = Annotated[
    Annotated[dict[SentName, SentName], Field(max_length=MAX_KINDS)] | None,
    Field(description='Equipment that the player used, or the player\'s club, by kind: `{"car": "Ferrari"}`.'),
]


if TYPE_CHECKING:
    PlayerFields = Strict
else:  # details of a player, all of which are optional
    OPTIONAL = dict.fromkeys((*DETAILS, *IDS), (str | None, None))
    PlayerFields = create_model("PlayerFields", __base__=Strict, **OPTIONAL)


class Entry(PlayerFields):
    """A player's result in one heat. Details such as the club are stored for the player, not for the event."""

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
    handicap: bool | NotNegative | None = None
    side: SentSide = None
    awards: SentAwards = None
    age_group: NotNegative | None = None
    birth_year: Positive | None = Field(
        default=None, description="Year of birth. Podium keeps only the age group that it led to."
    )
    shared: SentEquipment = None

    def row(self) -> dict[str, Any]:
        """Return the entry as cells of a results table."""
        cells = {name: value for name, value in given(self).items() if name not in PlayerFields.model_fields}
        return cells | {f"{SHARED}{kind}": name for kind, name in cells.pop("shared", {}).items()}


class Event(Strict):
    """One race or match.

    Attributes:
        event_id: ID of the race or match. It counts only once in its pool.
        started_at: Start time. Default: the time at which the event is received. Pools with the `sequence` order have
            no start times.
        sequence: Number of the event, in pools without dates. Default: the next number.
        match_id: ID of the registered match that this result belongs to.
        title: Title of the event. It does not affect ratings.
        url: Address of a page about the event, starting with http:// or https://.
        entries: The result: one entry per player, or one per player and heat.
    """

    event_id: Annotated[str, Field(min_length=1, max_length=200)]
    started_at: Annotated[Moment, AfterValidator(not_in_the_future)] | None = None
    sequence: float | None = None
    match_id: Identifier | None = None
    mode: SentName | None = None
    ranked: bool | None = None
    weight: Weight | None = None
    title: SentName | None = None
    url: SentUrl | None = None
    entries: Annotated[list[Entry], Field(min_length=1, max_length=MAX_ENTRIES, fail_fast=True)]  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        if self.started_at is not None and self.sequence is not None:
            raise RefusedError("sequence", unknown_field("sequence"))
        shared = {name: value for name, value in given(self).items() if name not in ("entries", "match_id")}
        return [shared | entry.row() for entry in self.entries]

    def details(self) -> list[dict[str, str]]:
        """Return the details of each player who has some."""
        names = ("player", *PlayerFields.model_fields)
        rows = [{name: text for name, text in given(entry).items() if text and name in names} for entry in self.entries]
        return [row for row in rows if len(row) > 1]

    def whens(self) -> list[datetime | float]:
        return [value for value in (self.started_at, self.sequence) if value is not None][:1]


class Batch(Strict):
    """Several events at once. Either all of them are saved, or none."""

    events: Annotated[list[Event], Field(min_length=1, max_length=MAX_EVENTS, fail_fast=True)]


def new_text(description: str, most: int) -> Any:
    """Return a field for a new text. None keeps the present one."""
    return Field(None, max_length=most, description=description)


class Description(Strict):
    """A pool's description, and who can read it. Omitted fields keep their values. An empty string clears a field.

    Attributes:
        public: True if anyone can read the pages and data without a key. Initially false.
    """

    title: str | None = new_text("Title shown on pages.", LONGEST)
    contact: str | None = new_text(
        "Email address or web page of the person who corrects results.", MAX_CONTACT_CHARACTERS
    )
    player_word: str | None = new_text("Word for a single player, such as rider.", MAX_WORD_CHARACTERS)
    public: bool | None = None
    time_zone: str | None = new_text("Time zone of dates on pages, such as Europe/Berlin.", 64)
    points_scheme: str | None = new_text(
        "Championship points: the name of a scheme or a list of points, plus any settings.", MAX_CHARACTERS
    )
    display: str | None = new_text(
        "How scores are shown: `factor` multiplies them, `floor` is the lowest, and `tiers` names ranges. `ids=public`"
        " shows players' IDs. Example: `factor=100 floor=0 ids=public tiers=Bronze:0,Silver:1400`.",
        1_000,
    )
    reports: str | None = new_text(
        "When results that players report count, such as `50% 48h`. Empty if players cannot report.", 100
    )


class NewPool(Description):
    """A pool and its rating system.

    Attributes:
        order: `dated` if its events have dates, or `sequence` if they have numbers instead. By default, the first event
            decides.
    """

    name: Name
    system: SystemName
    parameters: Parameters = {}
    order: Order | None = None


class Configuration(Strict):
    """The rating system for a pool, from its first event onwards."""

    system: SystemName
    parameters: Parameters = {}


class NewOrder(Strict):
    """The new order of a pool's events.

    Attributes:
        order: `dated` if its events have dates, or `sequence` if they have numbers instead.
        started_at: Date of the first event. By default, each event keeps the date it had before, or else gets the date
            on which it was received.
        every: Time between consecutive events, such as 1w.
    """

    order: Order
    started_at: Moment | None = None
    every: Annotated[str, Field(max_length=20)] = ""


class Merge(Strict):
    """Two accounts that belong to one player.

    Attributes:
        player: Account to merge.
        into: Player who gets the results of both.
    """

    player: SentName
    into: SentName


class NewName(Strict):
    """A player's new name.

    Attributes:
        name: New name of the player.
    """

    name: Name


class Entrant(Strict):
    """A player who takes part in a match."""

    player: SentName
    team: Name | None = None


class NewMatch(Strict):
    """A match that is starting.

    Its result counts only once, and a player missing from the result counts as having quit.

    Attributes:
        expires_in_s: Number of seconds to wait for a result.
    """

    match_id: Identifier
    entrants: Annotated[list[Entrant], Field(min_length=1, max_length=10_000, fail_fast=True)]
    expires_in_s: Annotated[float, Field(gt=0.0, le=2_678_400.0)] = 86_400.0


class NewSeason(Strict):
    """A new season. Every lead over a newcomer shrinks to the given share.

    Attributes:
        starts_at: Start of the season, in pools with dates.
        sequence: Number of the season's first event, in pools without dates.
        keep: Share of each lead over a newcomer that remains.
    """

    name: Name
    starts_at: Moment | None = None
    sequence: float | None = None
    keep: Annotated[float, Field(ge=0.0, le=1.0)]
    widens: bool = Field(
        default=True,
        description="Increase the uncertainty of each rating by the number of points that the season deducts from it.",
    )

    @model_validator(mode="after")
    def _begins_once(self) -> Self:
        if (self.starts_at is None) == (self.sequence is None):
            raise ValueError("needs either starts_at (a time) or sequence (the number of an event)")
        return self

    @property
    def when(self) -> datetime | float:
        return self.sequence or 0.0 if self.starts_at is None else self.starts_at


class FieldMember(Strict):
    """An entrant, described like an entry in a result.

    Attributes:
        new: True for a newcomer, even if the name is similar to a known one.
    """

    player: SentName
    side: SentSide = None
    shared: SentEquipment = None
    new: bool = False


Members = list[SentName | FieldMember]


class PredictRequest(Strict):
    """The entrants of a race to predict: individual players, teams, or both.

    Attributes:
        entrants: Entrants who compete individually.
        sides: Members of each team.
        top: Number of places that count as top places.
    """

    entrants: Annotated[Members, Field(max_length=MAX_PREDICTED)] = []
    sides: Annotated[
        list[Annotated[Members, Field(min_length=1, max_length=MAX_PREDICTED)]], Field(max_length=MAX_PREDICTED)
    ] = []
    top: Annotated[int, Field(ge=1, le=MAX_PREDICTED)] = 3


class WaitingPlayer(Strict):
    """A player who is waiting for a match.

    Attributes:
        waited_s: Number of seconds that the player has waited.
        party: Players with the same party play in one team.
        region: Players of the same region are matched first.
    """

    player: SentName
    waited_s: Annotated[float, Field(ge=0.0, le=1e9)]
    party: Name | None = None
    region: Annotated[str, Field(max_length=200)] = ""
    shared: SentEquipment = None


class Tickets(Strict):
    """Players who are waiting for matches, and the matchmaking policy. The ratings come from the pool.

    Attributes:
        size: Number of players in a match.
        teams: Number of teams. 0 means no teams.
        least: Minimum number of players after the target wait. 0 means a full match if there are teams, and 2
            otherwise.
        target_s: Target wait in seconds.
        scale: Rating gap at which the odds are 10 to 1. Default: that of the pool's system.
    """

    tickets: Annotated[list[WaitingPlayer], Field(max_length=MAX_TICKETS, fail_fast=True)]
    size: Annotated[int, Field(ge=2, le=1000)] = 4
    teams: Annotated[int, Field(ge=0, le=1000)] = 0
    least: Annotated[int, Field(ge=0, le=1000)] = 0
    target_s: Annotated[float, Field(gt=0.0, le=1e6)] = 40.0
    scale: Annotated[float | None, Field(gt=0.0, le=1e9)] = None


class NewKey(Strict):
    """A key to create.

    Attributes:
        name: Name of the program or person that uses the key.
        role: `read` reads, `write` also sends results, and `admin` also manages.
        all_pools: True to create a key for all pools. Only a key for all pools can do this.
        expires_in_days: Number of days until the key expires. Null means never.
        per_second: Number of requests allowed per second. Null means no limit.
        backdating_limit_s: Maximum age of events that the key can send or change, in seconds. Null means no limit.
    """

    name: Name
    role: Literal["read", "write", "admin"] = "write"
    all_pools: bool = False
    expires_in_days: Annotated[float | None, Field(gt=0.0, le=MAX_KEY_DAYS)] = None
    per_second: Annotated[float | None, Field(gt=0.0, le=1e9)] = None
    backdating_limit_s: Annotated[float | None, Field(gt=0.0, le=1e10)] = None


class NewWebhook(Strict):
    """A webhook to create.

    Attributes:
        url: Address that is notified of changes in the pool.
        format: `json` for programs; otherwise the chat service. If omitted, the URL decides.
    """

    url: SentUrl
    format: Literal["json", "discord", "slack", "matrix", "text"] | None = None
