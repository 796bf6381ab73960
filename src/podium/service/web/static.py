"""The files that pages load: named by a digest of what they hold, so that browsers never fetch one twice."""

import hashlib
from typing import Final

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from podium.pages.environment import static_content
from podium.service.web.addresses import PageRouter

MEDIA_TYPES = {
    "podium.css": "text/css; charset=utf-8",
    "podium.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
FILES: Final = {name: static_content(name) for name in MEDIA_TYPES}
DIGEST: Final = hashlib.blake2b(b"".join(FILES.values()), digest_size=8).hexdigest()
STATIC_ADDRESS: Final = f"/static/{DIGEST}"
router = PageRouter()


@router.page("/static/{digest}/{name}")
async def static_file(request: Request, digest: str, name: str) -> Response:
    """A file; one that an earlier version named comes too, but is not stored by whoever fetches it."""
    if name not in FILES:
        raise HTTPException(404, f"there is no file {name}")
    headers = FOREVER if digest == DIGEST else {"Cache-Control": "no-store"}
    return Response(FILES[name], media_type=MEDIA_TYPES[name], headers=headers)


@router.page("/favicon.ico")
async def icon() -> Response:
    """The mark, for browsers that look for it here."""
    return Response(FILES["mark.svg"], media_type=MEDIA_TYPES["mark.svg"], headers={"Cache-Control": "max-age=86400"})
