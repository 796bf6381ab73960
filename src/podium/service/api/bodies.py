"""How bodies of requests are read, and answers written, by models."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.json_schema import models_json_schema

from podium.results.headings import fold, meanings
from podium.service.access.visitors import limited_stream
from podium.service.http.json import RefusedError, loads, printable

MAX_BODY_BYTES = 4_000_000
OFFLOAD_BYTES = 20_000  # a body that takes so long to read that other requests should not wait for it
Body = TypeVar("Body", bound=BaseModel)
T = TypeVar("T")


async def read_body(request: Request, model: type[Body]) -> Body:
    """Return the body of a request, as a model."""
    return await read_parsed(request, lambda body: parse_body(body, model))


async def read_parsed(request: Request, parse: Callable[[bytes], T]) -> T:
    """Return what a function reads of the body of a request."""
    body = await read_bytes(request)
    return await run_in_threadpool(parse, body) if len(body) > OFFLOAD_BYTES else parse(body)


async def read_bytes(request: Request) -> bytes:
    """Return the body of a request as it is."""
    return b"".join([chunk async for chunk in limited_stream(request, MAX_BODY_BYTES)])


def parse_body(body: bytes, model: type[Body]) -> Body:
    """Return a JSON text as a model."""
    return validate(loads(body), model)


def validate(value: Any, model: type[Body]) -> Body:
    """Return a value as a model."""
    try:
        valid: Body = adapter(model).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{printable(part)}" for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            reason = unknown_field(str(first["loc"][-1]))
        raise RefusedError(field.lstrip("."), reason) from None
    return valid


def unknown_field(name: str) -> str:
    """Return what is wrong with a field that a body has not."""
    if name == "sequence":
        return "is for files only where events have dates; those of one start are rated in the order they are sent in"
    meaning = meanings().get(fold(name))
    return f"is not a field of this body{f'; did you mean {meaning}?' if meaning not in (None, name) else ''}"


@cache
def adapter(model: Any) -> TypeAdapter[Any]:
    """Return what validates values of a type and writes them as JSON; built once."""
    return TypeAdapter(model)


def json_response(model: Any, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value of a type as an answer, written as the type's schema describes it."""
    return Response(adapter(model).dump_json(value), status, headers, "application/json")


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
