"""Signatures of webhooks: HMAC-SHA256 of "id.timestamp.body", as in Standard Webhooks 1.0 (standardwebhooks.com)."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from podium.errors import ParameterError, PodiumError

SECRET_PREFIX = "whsec_"  # noqa: S105  (of secrets, as Standard Webhooks writes them)
VERSION = "v1"
TOLERANCE_S = 300.0


class SignatureError(PodiumError):
    """What came is not what the service sent, or is old."""


def sign(secret: str, message_id: str, timestamp_s: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    digest = hmac.digest(key, f"{message_id}.{timestamp_s}.".encode() + body, hashlib.sha256)
    return f"{VERSION},{base64.b64encode(digest).decode()}"


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, tolerance_s: float = TOLERANCE_S
) -> dict[str, Any]:
    """Verify what a webhook's receiver was sent, and read it.

    Args:
        secret: that `podium webhook create` showed.
        headers: of the request; upper and lower case are alike.
        body: of the request, byte by byte as it came.
        tolerance_s: how old it may be, or early by another clock, in seconds.

    Returns:
        The entry of the pool's log. One that comes twice has the same header `webhook-id`.

    Raises:
        SignatureError: a header is missing, the signature is another's, or the time is not now.
        ParameterError: the secret is none.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent_at, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        timestamp_s = int(sent_at)
    except KeyError as error:
        raise SignatureError(f"the header {error.args[0]} is missing") from None
    except ValueError:
        raise SignatureError(f"the header webhook-timestamp is {sent_at!r}, not seconds since 1970") from None
    try:
        expected = sign(secret, message_id, timestamp_s, body)
    except ValueError:
        raise ParameterError("the secret is not one of `podium webhook create`: whsec_ and base64") from None
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures.split()):
        raise SignatureError("the signature is not of this secret and this body")
    if abs(time.time() - timestamp_s) > tolerance_s:
        raise SignatureError(f"it was sent more than {tolerance_s:g} s from now; mend the clock, or leave it")
    entry: dict[str, Any] = json.loads(body)
    return entry
