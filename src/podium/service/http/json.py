"""Strict JSON, names, times and addresses, which no two programs can interpret differently.

The rule for names is in `podium.results.names`, and the store applies it to results.
"""

import json
import math
import re
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import Path, Response
from pydantic import AfterValidator, Field, TypeAdapter
from pydantic_core import from_json

from podium.results.names import LONGEST, NONCHARACTERS, SPACES, normalise, refusal
from podium.results.reading import repeated_key
from podium.support.words import BEFORE_DOTS

MAX_DEPTH = 32
MAX_INTEGER = 2**63 - 1
MAX_KEYS = 1_000  # maximum number per object, because an error describes each unknown key
# Signs that values need a closer check: escapes that may be invalid text, long numbers, and deep nesting.
SUSPICIOUS = re.compile(
    r"\\u(?:0000|[dD][89a-fA-F]|[fF](?:[fF]{2}[eEfF]|[dD][dDeE]))|[0-9]{19}|[0-9][eE]\+?[0-9]{3}|[\[{](?:\s*[\[{]){8}"
)
NESTS = frozenset({dict, list})  # containers of values
NOT_TEXT, NONCHARACTER = re.compile("[\x00\ud800-\udfff]"), re.compile(f"[{NONCHARACTERS}]")


SHAPE = bytes.maketrans(b"123456789E{", b"000000000e[")  # maps all digits to 0, and all brackets to [
WHITESPACE = b" \t\r\n"


class RefusedError(ValueError):
    """A body or a parameter was rejected. The error states the field and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field, self.reason = field, reason


def loads(body: bytes) -> Any:
    """Return the value of a JSON document.

    Raises:
        RefusedError: The document is not JSON, or has a repeated key, too many keys, NaN, an infinity, an integer
            beyond 64 bits, a lone surrogate, a NUL, a noncharacter, or too many levels.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise RefusedError("", f"the body is not UTF-8 (byte {error.start})") from None
    shape = body.translate(SHAPE, WHITESPACE)
    value = parse_quickly(body, text)
    if b"\\" in body or shape.count(b'":') != count_keys(value):  # otherwise, no key appears twice
        value = parse(text, object_pairs_hook=reject_duplicate_keys)
    may_be = b"\\u" in body or b"0" * 19 in shape or b"0e" in shape or b"[" * 9 in shape  # a quick look
    if (may_be and SUSPICIOUS.search(text)) or may_have_noncharacter(body):
        check_value(value, "", 0)
    return value


def parse_quickly(body: bytes, text: str) -> Any:
    """Return the value of a JSON document twice as fast as `parse`. If this fails, `parse` must decide."""
    try:
        return from_json(body, allow_inf_nan=False, cache_strings="all")
    except ValueError:
        return parse(text)


def parse(text: str, **hooks: Any) -> Any:
    """Return the value of a JSON document. If a key is repeated, its last value counts."""
    try:
        return json.loads(text, parse_constant=reject_constant, **hooks)
    except RecursionError:
        raise RefusedError("", "the body is nested too deep") from None
    except json.JSONDecodeError as error:
        raise RefusedError("", f"the body is not JSON ({error.msg}, at character {error.pos})") from None
    except RefusedError:
        raise
    except ValueError:
        raise RefusedError("", "a number has too many digits") from None


def count_keys(value: Any) -> int:
    """Return the number of keys in all objects in a value, or -1 if one object has too many keys."""
    count, level = 0, [value]
    while level:  # all values of one level at a time
        objects = [item for item in level if type(item) is dict]
        sizes = [*map(len, objects)]
        if max(sizes, default=0) > MAX_KEYS:
            return -1
        count += sum(sizes)
        containers = [*map(dict.values, objects), *(item for item in level if type(item) is list)]
        if NESTS.isdisjoint(map(type, chain.from_iterable(containers))):
            break
        level = [container for container in chain.from_iterable(containers) if type(container) in NESTS]
    return count


def reject_constant(word: str) -> float:
    raise RefusedError("", f"{word} is not a JSON number")


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise RefusedError(printable(repeated_key(pairs) or ""), "appears twice in one object")
    if len(value) > MAX_KEYS:
        raise RefusedError("", f"an object has more than {MAX_KEYS:,} keys")
    return value


def printable(key: str) -> str:
    return key.encode("ascii", "backslashreplace").decode()[:100]


def check_value(value: Any, field: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RefusedError("", "the body is nested too deep")
    if isinstance(value, dict):
        for key, item in value.items():
            check_text(key, printable(key))
            check_value(item, f"{field}.{printable(key)}".lstrip("."), depth + 1)
    elif isinstance(value, list):
        for k, item in enumerate(value):
            check_value(item, f"{field}[{k}]", depth + 1)
    elif isinstance(value, str):
        check_text(value, field)
    elif isinstance(value, float) and not math.isfinite(value):
        raise RefusedError(field, "is beyond the largest number")
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        raise RefusedError(field, "is a whole number that does not fit into 64 bits")


def check_text(text: str, field: str) -> None:
    match = NOT_TEXT.search(text)
    if match is not None:
        raise RefusedError(
            field, "contains a NUL character" if match[0] == "\x00" else "contains half of a surrogate pair"
        )
    if may_have_noncharacter(text.encode()) and NONCHARACTER.search(text):
        raise RefusedError(field, "contains a Unicode noncharacter. Leave it out")


def may_have_noncharacter(text: bytes) -> bool:
    """Return True if UTF-8 text contains two bytes that occur in every noncharacter.

    This is far faster than an exact search.
    """
    return not text.isascii() and (b"\xef\xb7" in text or b"\xbf\xbe" in text or b"\xbf\xbf" in text)


MAX_SENT_CHARACTERS = 1000  # before a name is normalized
NAME_RULE = "Text of 1 to 200 visible characters, after conversion to Unicode NFC form and without spaces at its ends."


def normalised_name(name: str) -> str:
    normal = normalise(name)
    reason = refusal(normal)
    if reason:
        raise ValueError(reason)
    return normal


def verbatim_id(identifier: str) -> str:
    """Return an ID exactly as it was sent."""
    normalised_name(identifier)
    return identifier


def not_blank(name: str) -> str:
    """Return a name as it was sent. The store looks it up, or applies the rule for names."""
    if not name.strip(SPACES):
        raise ValueError("is blank")
    return name


SentName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_SENT_CHARACTERS,
        description=NAME_RULE,
        json_schema_extra={"maxLength": LONGEST},  # once it is normalized
    ),
    AfterValidator(not_blank),
]
Name = Annotated[SentName, AfterValidator(normalised_name)]
Identifier = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(verbatim_id)]


MAX_CLOCK_LEAD = timedelta(days=1)  # allowed difference between clocks or time zones
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def in_utc(sent: datetime) -> datetime:
    """Convert a time to UTC. A time without an offset is in UTC already."""
    if not datetime(1800, 1, 1) < sent.replace(tzinfo=None) < datetime(2300, 1, 1):  # noqa: DTZ001  (of any offset)
        raise ValueError("is not between the years 1900 and 2200")
    moment = sent.replace(tzinfo=UTC) if sent.tzinfo is None else sent.astimezone(UTC)
    if not EARLIEST <= moment < LATEST:
        raise ValueError("is not between the years 1900 and 2200")
    return moment


def not_in_the_future(started_at: datetime) -> datetime:
    """Reject an event that starts far in the future, because every event until then would count as late."""
    if started_at > datetime.now(UTC) + MAX_CLOCK_LEAD:
        raise ValueError("is more than a day in the future according to the service's clock")
    return started_at


POOLS_PATH = "/api/v1/pools"
ENCODED_SLASH = "\x1f"  # replaces a slash in a name on its way through the router


class PathMiddleware:
    """Middleware that distinguishes slashes within names from slashes between names, and rejects invalid addresses."""

    def __init__(self, app: Any, refusal: Any) -> None:
        self.app, self.refusal = app, refusal

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        parts = (scope.get("raw_path") or scope["path"].encode()).split(b"?")[0].split(b"/")
        names = [unquote_to_bytes(part).decode("utf-8", "surrogateescape") for part in parts]
        query = unquote_to_bytes(scope.get("query_string", b"").replace(b"+", b" ")).decode("utf-8", "surrogateescape")
        try:
            for text in (*names, query):
                check_text(text, "address")
        except RefusedError as error:
            await self.refusal(422, f"the address {error.reason}", "address")(scope, receive, send)
            return
        scope["path"] = "/".join(name.replace("/", ENCODED_SLASH) for name in names)
        await self.app(scope, receive, send)


def decode_name(part: str) -> str:
    return part.removeprefix(BEFORE_DOTS).replace(ENCODED_SLASH, "/")


@cache
def adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def json_response(model: Any, value: Any, status: int = 200, **headers: str) -> Response:
    """Return a value as a JSON response that follows the schema of its type."""
    return Response(adapter(model).dump_json(value), status, headers, media_type="application/json")


def path_name(description: str, example: str) -> Any:
    return Annotated[
        str,
        Path(min_length=1, max_length=MAX_SENT_CHARACTERS, description=description, examples=[example]),
        AfterValidator(decode_name),
    ]


PoolName = path_name("Name of the pool.", "karts")
EventId = path_name("ID of the event.", "race-17")
PlayerName = path_name("Name of the player.", "ana")
MatchId = path_name("ID of the registered match.", "lobby-9")
ReportId = path_name("ID of the report.", "report-7fd4c6b694")
FixtureId = path_name("ID of the upcoming race.", "race-18")
SeasonName = path_name("Name of the season.", "2025")
