"""The id of each request: its sender's where that is a sane one, or one of the service's own."""

import re
import secrets
from contextvars import ContextVar
from itertools import count

HEADER = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
PROCESS = secrets.token_hex(4)
NUMBERS = count(1)

current_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)  # of the request that is answered


def choose_request_id(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the id that the sender gave, or a new one."""
    for name, value in headers:
        if name == HEADER and SANE.fullmatch(value):
            return value.decode("ascii")
    return f"{PROCESS}-{next(NUMBERS):x}"
