"""Responses that other sites show: cached for minutes, with an entity tag, and allowed in their pages."""

import hashlib

from fastapi import Request, Response

MAX_AGE_S = 300


def shared_response(request: Request, content: bytes, media_type: str) -> Response:
    """What other sites show; a shared cache keeps it only where nobody had to sign in."""
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    is_private = "authorization" in request.headers or bool(getattr(request.state, "signed_in", ""))
    headers = {
        "Cache-Control": f"{'private' if is_private else 'public'}, max-age={MAX_AGE_S}",
        "Content-Security-Policy": "default-src 'none'",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "ETag": tag,
        "Vary": "Authorization, Cookie",
        "X-Content-Type-Options": "nosniff",
    }
    if tag in {each.strip() for each in request.headers.get("if-none-match", "").split(",")}:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)
