"""Forms as browsers send them, up to a size."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from podium.service.http.problems import TooLargeError
from podium.service.http.strict_json import RefusedError, check_text

MAX_FORM_BYTES = 100_000  # of one without a file
MAX_FIELDS = 20_000


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file, as whoever sent it calls it."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """What a form sends."""

    fields: Mapping[str, tuple[str, ...]]
    file: SentFile | None = None

    def text(self, name: str) -> str:
        """The first text of a field; empty where there is none."""
        return next(iter(self.fields.get(name, ())), "")


async def limited_stream(request: Request, max_bytes: int) -> AsyncGenerator[bytes, None]:
    """Yield the body of a request.

    Raises:
        TooLargeError: it is larger than so many bytes.
    """
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes:
            raise TooLargeError(f"the body is larger than {max_bytes:,} bytes; send less at once")
        yield chunk


async def read_form(request: Request, max_bytes: int = MAX_FORM_BYTES) -> Form:
    """Return the fields of a form, and its file if it has one.

    Raises:
        TooLargeError: it is larger than so many bytes.
        RefusedError: it is no form, or its text is none.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = b"".join([chunk async for chunk in limited_stream(request, max_bytes)])
    try:
        if kind == "multipart/form-data":
            limits = {"max_files": 1, "max_fields": MAX_FIELDS, "max_part_size": max_bytes}
            sent = await MultiPartParser(request.headers, whole(body), **limits).parse()
        else:
            sent = parse_fields(body)
    except (MultiPartException, ValueError):
        raise RefusedError("", "the form cannot be read; open its page again and send it from there") from None
    fields: dict[str, tuple[str, ...]] = {}
    file = None
    for name, value in sent.multi_items():
        if isinstance(value, UploadFile):
            file = SentFile(value.filename, await value.read()) if value.filename else None
            await value.close()
        else:
            fields[name] = (*fields.get(name, ()), value)
            check_text(value, name)
    return Form(fields, file)


async def whole(body: bytes) -> AsyncGenerator[bytes, None]:
    """Yield a body at once: a parser that is left in the midst of a file would not close it."""
    yield body


def parse_fields(body: bytes) -> FormData:
    """Return the names and values of a form without a file.

    Raises:
        ValueError: it is none, or has too many fields.
    """
    text = body.decode("ascii")
    return FormData([*parse_qsl(text, keep_blank_values=True, errors="surrogateescape", max_num_fields=MAX_FIELDS)])
