"""Calls of the service as values, and methods that send them: at once, or to be awaited."""

import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, get_args, overload
from urllib.parse import quote

from podium.client.moments import conversion

POOL = "/pools/{pool}"
EVENT = f"{POOL}/events/{{event_id}}"
PLAYER = f"{POOL}/players/{{player}}"
Answer = TypeVar("Answer")
Other = TypeVar("Other")
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer]):
    """A request, and how its answer is read."""

    method: str
    path: str  # as in the OpenAPI document, below /api/v1
    kind: Any  # the type of the JSON in the answer; bytes of a file
    read: Callable[[Any], Answer]  # the answer from that JSON
    names: Mapping[str, str] = field(default_factory=dict)  # in the path
    body: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def url(self) -> str:
        """Return the path with the names in it."""
        return self.path.format_map({name: quote_name(value) for name, value in self.names.items()})

    def of_version(self, version: str | None) -> "Call[Answer]":
        """Return the same request, which is refused where what it changes has another version; where None, none is."""
        return self if version is None else replace(self, headers={"If-Match": f'"{version}"'})

    def then(self, change: Callable[[Answer], Other]) -> "Call[Other]":
        """Return the same request, whose answer is changed before it is returned."""
        read: Callable[[Any], Other] = lambda value: change(self.read(value))  # noqa: E731  (its type is written once)
        return replace(self, read=read)  # type: ignore[arg-type, return-value]  # of another answer


def json_call(
    method: str, path: str, kind: type[Answer], body: Any = None, params: Mapping[str, Any] | None = None, **names: str
) -> Call[Answer]:
    """Return a call whose answer is JSON of a type, with its moments and days as such.

    Args:
        params: those that are None are not sent.
        names: in the path.
    """
    sent = {name: value for name, value in (params or {}).items() if value is not None}
    convert: Callable[[Any], Any] | None = conversion(kind)  # type: ignore[arg-type]  # a type can be hashed
    return Call(method, path, kind, convert or (lambda value: value), names, body, sent)


def quote_name(part: str) -> str:
    """Return a name as a part of an address."""
    dots = part in (".", "..")  # which every client takes for a folder
    return part.replace(".", "%2E") if dots else quote(part, safe="")


class Sender(Protocol):
    """What sends a call and returns its answer."""

    def send(self, call: Call[Answer]) -> Answer:
        """Return the answer."""


class AsyncSender(Protocol):
    """What sends a call, and returns its answer when it is awaited."""

    async def send(self, call: Call[Answer]) -> Answer:
        """Return the answer."""


class route(Generic[Arguments, Answer]):  # noqa: N801  (a decorator)
    """A method that returns a call, as one that sends it: of a client at once, of an asynchronous one to be awaited."""

    def __init__(self, build: Callable[Concatenate[Any, Arguments], Call[Answer]]) -> None:
        self.build = build
        signature = inspect.signature(build)
        (answer,) = get_args(signature.return_annotation)
        shown = signature.replace(return_annotation=None if answer is type(None) else answer)
        build.__signature__ = shown  # type: ignore[attr-defined]  # what `help` shows

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, Arguments], Call[Answer]]: ...
    @overload
    def __get__(self, client: Sender, owner: type) -> Callable[Arguments, Answer]: ...
    @overload
    def __get__(self, client: AsyncSender, owner: type) -> Callable[Arguments, Coroutine[Any, Any, Answer]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        """Return the method of a client."""
        if client is None:
            return self.build

        @functools.wraps(self.build)
        def send(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
            return client.send(self.build(client, *args, **kwargs))

        return send
