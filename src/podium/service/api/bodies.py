"""Bodies, read strictly: the value of the JSON, then the model that it must fit."""

from typing import Any, TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.json_schema import models_json_schema

from podium.service.http.problems import TooLargeError
from podium.service.http.strict_json import RefusedError, loads, shown

LARGEST = 4_000_000  # bytes
LONG = 20_000  # bytes that take long enough to read that others should not wait for it
Body = TypeVar("Body")


async def body_of(request: Request, kind: type[Body], **others: type[Body]) -> Body:
    """The body of a request, as a model.

    Args:
        others: models of other bodies, by the field that tells them.

    Raises:
        TooLargeError: it is too large.
        RefusedError: it is no JSON, not plain, or does not fit.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise TooLargeError(f"the body is larger than {LARGEST:,} bytes; send less at once")
        parts.append(part)
    body = b"".join(parts)
    return await run_in_threadpool(read, body, kind, others) if size > LONG else read(body, kind, others)


def read(body: bytes, kind: type[Body], others: dict[str, type[Body]]) -> Body:
    """A JSON text as a model."""
    value = loads(body)
    told = next((others[name] for name in others if name in value), kind) if isinstance(value, dict) else kind
    return validate(value, told)


def validate(value: Any, kind: type[Body]) -> Body:
    """The value as the service takes it.

    Raises:
        RefusedError: it does not fit; the field is named.
    """
    try:
        return adapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        named = "".join(f"[{part}]" if isinstance(part, int) else f".{shown(part)}" for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden" and first["loc"][-1] == "sequence":
            why = "is for files only; events of one start are rated in the order in which they are sent"
        raise RefusedError(named.lstrip("."), why) from None


TAKEN: set[type[BaseModel]] = set()


def request_body(*kinds: type[BaseModel]) -> dict[str, Any]:
    """The OpenAPI words for a body that the route reads itself: any of these models."""
    TAKEN.update(kinds)
    several = [{"$ref": f"#/components/schemas/{kind.__name__}"} for kind in kinds]
    schema = several[0] if len(several) == 1 else {"anyOf": several}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def schemas() -> dict[str, Any]:
    """The OpenAPI schemas of all models that routes read themselves."""
    kinds: list[Any] = [(kind, "validation") for kind in sorted(TAKEN, key=lambda kind: kind.__name__)]
    _, found = models_json_schema(kinds, ref_template="#/components/schemas/{model}")
    told: dict[str, Any] = found["$defs"]
    return told


ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: type[Body]) -> TypeAdapter[Body]:
    """What checks a model; made once."""
    if kind not in ADAPTERS:
        ADAPTERS[kind] = TypeAdapter(kind)
    return ADAPTERS[kind]
