"""`If-Match`: the versions that a correction may be of (RFC 9110, 13.1.1)."""

import re
from typing import Annotated

from fastapi import Header

from podium.service.http.strict_json import RefusedError

ENTITY_TAGS = re.compile(r'\s*(?:W/)?"[^"]*"(?:\s*,\s*(?:W/)?"[^"]*")*\s*')
STRONG_TAG = re.compile(r'(W/)?"([^"]*)"')
IfMatch = Annotated[
    str | None,
    Header(
        max_length=1000,
        description="The `ETag` of the event as it was read: if it has changed since, nothing is done (412).",
    ),
]


def entity_tag(version: str) -> str:
    """Return a version as an entity tag."""
    return f'"{version}"'


def versions_in(if_match: str | None) -> frozenset[str] | None:
    """Return the versions in the header; None where any will do.

    Raises:
        RefusedError: it has no list of entity tags.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    if not ENTITY_TAGS.fullmatch(if_match):
        raise RefusedError("if-match", 'is not the ETag of an event, like "17"')
    return frozenset(version for weak, version in STRONG_TAG.findall(if_match) if not weak)
