"""Requests to the service as values, and methods that send them synchronously or asynchronously."""

import functools
import inspect
import json
import random
import types
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from time import monotonic
from typing import (
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
    overload,
)
from urllib.parse import quote

try:
    from podium.errors import ParameterError as ParameterError  # noqa: PLC0414  (for the modules beside this one)
    from podium.errors import PodiumError as PodiumError  # noqa: PLC0414
except ModuleNotFoundError:  # the client is installed without the rest of Podium

    class PodiumError(Exception):  # type: ignore[no-redef]
        """An error that a user of Podium can fix. Its text is shown to the user unchanged."""

    class ParameterError(PodiumError, ValueError):  # type: ignore[no-redef]
        """A parameter or value does not exist or is invalid."""


Conversion = Callable[[Any], Any]
Moment = datetime | str  # without an offset it is in UTC; texts are ISO 8601


def moment_text(moment: date) -> str:
    """Return a time or date as ISO 8601. A time without an offset is taken as UTC."""
    if isinstance(moment, datetime) and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.isoformat()


def parameter(value: Any) -> Any:
    """Return a value as an address contains it."""
    return moment_text(value) if isinstance(value, date) else value


def encode(body: Any) -> bytes:
    """Return a body as JSON, with times and dates in ISO 8601."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=json_value).encode()


def json_value(value: Any) -> Any:
    """Return the JSON form of a value of a type that JSON lacks, or raise TypeError."""
    if isinstance(value, date):
        return moment_text(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")


@cache
def conversion(kind: Any) -> Conversion | None:
    """Return a function that parses the times and dates in JSON of a type, or None if the type has none."""
    if kind in (datetime, date):
        parse: Conversion = kind.fromisoformat
        return parse
    if is_typeddict(kind):
        kinds = {name: conversion(convert) for name, convert in get_type_hints(kind).items()}
        needed = {name: convert for name, convert in kinds.items() if convert is not None}
        if not needed:
            return None
        return lambda row: row | {name: convert(row[name]) for name, convert in needed.items() if name in row}
    arguments = get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        inner = next(filter(None, map(conversion, arguments)), None)
        return None if inner is None else lambda value: inner(value) if isinstance(value, str | dict | list) else value
    if get_origin(kind) is list:
        item = conversion(arguments[0])
        return None if item is None else lambda rows: [item(row) for row in rows]
    return None


Entrants = Iterable[str | Mapping[str, Any]]
Answer = TypeVar("Answer")
Other = TypeVar("Other")
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer]):
    """A request, and the conversion of its response."""

    method: str
    path: str  # like in the OpenAPI document, below /api/v1
    kind: Any  # type of the JSON in the answer; bytes for a file
    read: Callable[[Any], Answer]  # converts that JSON to the answer
    names: Mapping[str, str] = field(default_factory=dict)  # in the path
    body: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def url(self) -> str:
        """Return the path with the names filled in."""
        return self.path.format_map({name: quote_name(value) for name, value in self.names.items()})

    def of_version(self, version: str | None) -> "Call[Answer]":
        """Return the same request, which fails if the object has another version. None means no check."""
        return self if version is None else replace(self, headers={"If-Match": f'"{version}"'})

    def then(self, change: Callable[[Answer], Other]) -> "Call[Other]":
        """Return the same request with a further conversion of its response."""
        read: Callable[[Any], Other] = lambda value: change(self.read(value))  # noqa: E731  (its type is written once)
        return replace(self, read=read)  # type: ignore[arg-type, return-value]  # of another answer


def json_call(
    method: str,
    path: str,
    kind: type[Answer],
    body: Any = None,
    params: Mapping[str, Any] | None = None,
    /,
    **names: str | float | date,
) -> Call[Answer]:
    """Return a call whose response is JSON of a type, with its times and dates parsed.

    A parameter that is None is not sent.
    """
    sent = {name: parameter(value) for name, value in (params or {}).items() if value is not None}
    in_path = {name: str(parameter(value)) for name, value in names.items()}
    convert: Callable[[Any], Any] | None = conversion(kind)  # type: ignore[arg-type]  # a type can be hashed
    return Call(method, path, kind, convert or (lambda value: value), in_path, body, sent)


def quote_name(part: str) -> str:
    dots = part in (".", "..")  # clients would take it for a folder
    return part.replace(".", "%2E") if dots else quote(part, safe="")


class Sender(Protocol):
    """An object that sends a call and returns its response."""

    def send(self, call: Call[Answer]) -> Answer:
        """Return the response."""


class AsyncSender(Protocol):
    """An object that sends a call, and returns its response when awaited."""

    async def send(self, call: Call[Answer]) -> Answer:
        """Return the response."""


class route(Generic[Arguments, Answer]):  # noqa: N801  (a decorator)
    """Turn a method that returns a call into one that sends it, synchronously or not, depending on the client."""

    def __init__(self, build: Callable[Concatenate[Any, Arguments], Call[Answer]]) -> None:
        self.build = build
        signature = inspect.signature(build)
        if get_origin(signature.return_annotation) is Call:
            (answer,) = get_args(signature.return_annotation)
            build.__signature__ = signature.replace(return_annotation=answer)  # type: ignore[attr-defined]  # for `help`

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, Arguments], Call[Answer]]: ...
    @overload
    def __get__(self, client: Sender, owner: type) -> Callable[Arguments, Answer]: ...
    @overload
    def __get__(self, client: AsyncSender, owner: type) -> Callable[Arguments, Coroutine[Any, Any, Answer]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        """Return the method for a client."""
        if client is None:
            return self.build

        @functools.wraps(self.build)
        def send(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
            return client.send(self.build(client, *args, **kwargs))

        return send


IN_QUERY = frozenset({"dry_run", "effects_after", "kind", "reason"})  # arguments of writing routes


def sends(
    request: str, kind: Any = None, convert: Callable[[Any], Any] | None = None
) -> Callable[[Callable[Concatenate[Any, Arguments], Answer]], route[Arguments, Answer]]:
    """Turn a declaration without a body into the route of a request, such as `GET /pools/{pool}/events`.

    A GET request has all arguments in its path and its query. Other requests have those of `IN_QUERY` in the query,
    `version` as `If-Match`, and the others in the body.

    Args:
        kind: type of the JSON in the answer. Default: what the declaration returns.
        convert: converts that JSON to what the declaration returns.
    """
    method, path = request.split()

    def decorate(declaration: Callable[Concatenate[Any, Arguments], Answer]) -> route[Arguments, Answer]:
        signature = inspect.signature(declaration)

        @functools.wraps(declaration)
        def build(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            names, query, body = dict[str, Any](), dict[str, Any](), dict[str, Any]()
            for name, value in [*given.arguments.items()][1:]:
                is_in_query = method == "GET" or name in IN_QUERY
                place = names if f"{{{name}}}" in path else query if is_in_query else body
                place[name] = sent(name, value)
            version = body.pop("version", None)
            call = json_call(method, path, kind or signature.return_annotation, body or None, query, **names)
            return call.of_version(version) if convert is None else call.then(convert)

        return route(build)

    return decorate


def sent(name: str, value: Any) -> Any:
    """Return an argument as it is sent: entrants as rows, and other iterables as lists."""
    if name in ("entrants", "players"):
        return entrant_rows(value)
    return [*value] if isinstance(value, Iterable) and not isinstance(value, str) else value


def entrant_rows(entrants: Entrants | None) -> list[Mapping[str, Any]] | None:
    """Return entrants in the form that the service expects. Raise ParameterError if the value is a single string."""
    if isinstance(entrants, str):
        raise ParameterError(f"the entrants {entrants!r} are a string, not a list. Write them as a list of names.")
    return None if entrants is None else [{"player": row} if isinstance(row, str) else row for row in entrants]


def rerated(answer: Mapping[str, Any]) -> int:
    """Return the number of rating changes that were affected."""
    number: int = answer["rerated"]
    return number


def nothing(_answer: object) -> None:
    """Return None for a response that contains nothing new."""


PATIENCE_S = 30.0  # longer than a restart of the service
FIRST_PAUSE_S, MAX_OWN_PAUSE_S = 0.2, 4.0  # doubled after each attempt
MIN_SHARE = 0.5  # smallest share of a pause, so that clients that failed together do not return together
MAX_PAUSE_S = 30.0  # longest pause that the service may request
RETRY_STATUSES = (429, 502, 503, 504)  # possibly temporary errors


class ClientError(PodiumError):
    """The service rejected a request or could not be reached.

    `status` is the HTTP status, or 0 if there was no response. `field` is the field that the service named, if any.
    """

    def __init__(self, message: str, status: int = 0, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.field = status, field


class Attempts:
    """The successive attempts to send a request.

    `pause_s` is the time to wait before the next attempt, and `error` is the last failure. When `is_over` is true, no
    attempts are left.
    """

    def __init__(self, patience_s: float) -> None:
        self.is_over, self.pause_s = False, 0.0
        self.error = ClientError("nothing was sent")
        self._longest_s, self._deadline = FIRST_PAUSE_S, monotonic() + patience_s

    def note_no_answer(self, url: object, error: Exception) -> None:
        self.error = ClientError(f"{url} cannot be reached ({type(error).__name__})")
        self._count(0.0)

    def note_answer(self, answer: Any) -> bool:
        """Record a response. Return True if it is the requested response and not an error."""
        if answer.is_success:
            return True
        self.error = client_error(answer)
        self._count(retry_after_s(answer))
        if answer.status_code not in RETRY_STATUSES:
            self.is_over = True
        return False

    def _count(self, requested_pause_s: float) -> None:
        """Record a failed attempt. Another attempt follows if enough patience is left for the pause before it."""
        own_pause_s = self._longest_s * random.uniform(MIN_SHARE, 1.0)  # noqa: S311  (no secret)
        self.pause_s = max(own_pause_s, requested_pause_s)
        self.is_over = monotonic() + self.pause_s > self._deadline
        self._longest_s = min(2.0 * self._longest_s, MAX_OWN_PAUSE_S)


def retry_after_s(answer: Any) -> float:
    """Return the number of seconds that the service asks the client to wait."""
    seconds = answer.headers.get("retry-after", "")
    return min(float(seconds), MAX_PAUSE_S) if seconds.isdecimal() else 0.0


def client_error(answer: Any) -> ClientError:
    """Return the error that the service described in its response."""
    try:
        problem = answer.json()
        return ClientError(str(problem["detail"]), answer.status_code, problem.get("field"))
    except (ValueError, KeyError, TypeError):
        return ClientError(f"the service answered {answer.status_code}", answer.status_code)
