"""JSON as the service takes it: nothing that two readers could understand differently."""

import json
import math
import re
from typing import Any

from podium.results.objects import repeated_key

DEEPEST = 32
LARGEST = 2**63 - 1
# What makes it worth a look at each value: escapes of no text, long numbers, and depth.
SUSPICIOUS = re.compile(
    r"\\u(?:0000|[dD][89a-fA-F])|[0-9]{19}|[0-9][eE]\+?[0-9]{3}|[\[{](?:\s*[\[{]){8}"
)  # worth a look at each value
NO_TEXT = re.compile("[\x00\ud800-\udfff]")


class RefusedError(ValueError):
    """A body that is refused: where, and why."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}" if field else why)
        self.field, self.why = field, why


def loads(body: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        RefusedError: it is no JSON, or has a key twice, NaN, an infinity, a whole number beyond 64 bits, a lone
            surrogate, a NUL, or is nested too deep.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise RefusedError("", f"the body is not UTF-8 (byte {error.start})") from None
    try:
        value = json.loads(text, parse_constant=refused_constant, object_pairs_hook=once)
    except RecursionError:
        raise RefusedError("", "the body is nested too deep") from None
    except json.JSONDecodeError as error:
        raise RefusedError("", f"the body is not JSON ({error.msg}, at character {error.pos})") from None
    except RefusedError:
        raise
    except ValueError:
        raise RefusedError("", "a number has too many digits") from None
    if SUSPICIOUS.search(text):
        check(value, "", 0)
    return value


def refused_constant(word: str) -> float:
    """Refuse NaN and Infinity."""
    raise RefusedError("", f"{word} is not a JSON number")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, each of whose keys stands once."""
    told = dict(pairs)
    if len(told) < len(pairs):
        raise RefusedError(shown(repeated_key(pairs) or ""), "stands twice in one object")
    return told


def shown(key: str) -> str:
    """A key as an error may repeat it."""
    return key.encode("ascii", "backslashreplace").decode()[:100]


def check(value: Any, field: str, depth: int) -> None:
    """Refuse what no column can hold."""
    if depth > DEEPEST:
        raise RefusedError("", "the body is nested too deep")
    if isinstance(value, dict):
        for key, each in value.items():
            check_text(key, shown(key))
            check(each, f"{field}.{shown(key)}".lstrip("."), depth + 1)
    elif isinstance(value, list):
        for k, each in enumerate(value):
            check(each, f"{field}[{k}]", depth + 1)
    elif isinstance(value, str):
        check_text(value, field)
    elif isinstance(value, float) and not math.isfinite(value):
        raise RefusedError(field, "is beyond the largest number")
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST:
        raise RefusedError(field, "is a whole number beyond 64 bits")


def check_text(text: str, field: str) -> None:
    """Refuse what is no text."""
    found = NO_TEXT.search(text)
    if found is not None:
        raise RefusedError(field, "has a NUL character" if found[0] == "\x00" else "has half of a surrogate pair")
