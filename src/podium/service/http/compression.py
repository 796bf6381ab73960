"""Answers are compressed for whoever takes gzip, but for those who are signed in.

Their pages hold a token; beside what they typed, its length when compressed would tell of it (BREACH).
"""

from typing import Any

from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import HTTPConnection

LEAST_BYTES = 1024  # of an answer that is compressed
LEVEL = 5  # of zlib: 9 takes four times as long, and saves a twentieth
COMPRESSED_TYPES = ("application/vnd.apache.parquet",)  # beside those that the framework knows


class CompressionMiddleware:
    """Compresses answers above a kilobyte; never a stream of events."""

    def __init__(self, app: Any, session_cookie: str) -> None:
        self.app, self.session_cookie = app, session_cookie
        excluded = (*DEFAULT_EXCLUDED_CONTENT_TYPES, *COMPRESSED_TYPES)
        self.compressed = GZipMiddleware(app, LEAST_BYTES, LEVEL, exclude_content_types=excluded)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on."""
        is_signed_in = scope["type"] == "http" and self.session_cookie in HTTPConnection(scope).cookies
        await (self.app if is_signed_in else self.compressed)(scope, receive, send)
