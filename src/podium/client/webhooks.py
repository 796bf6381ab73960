"""Webhook signatures: HMAC-SHA256 of "id.timestamp.body", as in Standard Webhooks 1.0 (standardwebhooks.com)."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from podium.client.calls import ParameterError, PodiumError

SECRET_PREFIX = "whsec_"  # noqa: S105  (of secrets, as Standard Webhooks writes them)
VERSION = "v1"
TOLERANCE_S = 300.0


class SignatureError(PodiumError):
    """The message did not come from the service, or is too old."""


def sign(secret: str, message_id: str, timestamp_s: int, body: bytes) -> str:
    """Return the value of the `webhook-signature` header."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    digest = hmac.digest(key, f"{message_id}.{timestamp_s}.".encode() + body, hashlib.sha256)
    return f"{VERSION},{base64.b64encode(digest).decode()}"


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, tolerance_s: float = TOLERANCE_S
) -> dict[str, Any]:
    """Verify and parse a received webhook.

    Args:
        secret: The secret shown by `podium webhook create`.
        headers: Headers of the request, in upper or lower case.
        body: Unchanged bytes of the request's body.
        tolerance_s: Maximum age of the message in seconds. Because clocks differ, it may also be this far in the
            future.

    Returns:
        The entry of the pool's log. A repeated entry has the same `webhook-id` header.

    Raises:
        SignatureError: A header is missing, the signature is wrong, or the message is too old.
        ParameterError: The secret is malformed.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent_at, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        timestamp_s = int(sent_at)
    except KeyError as error:
        raise SignatureError(f"the {error.args[0]} header is missing") from None
    except ValueError:
        raise SignatureError(f"the header webhook-timestamp is {sent_at!r}, not seconds since 1970") from None
    try:
        expected = sign(secret, message_id, timestamp_s, body)
    except ValueError:
        raise ParameterError("the secret is malformed. Use the one from `podium webhook create` (whsec_…).") from None
    if not any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures.split()):
        raise SignatureError("the signature does not match this secret and body")
    if abs(time.time() - timestamp_s) > tolerance_s:
        raise SignatureError(
            f"the webhook is more than {tolerance_s:g} s old or in the future. Check the clock, or ignore the message."
        )
    entry: dict[str, Any] = json.loads(body)
    return entry
