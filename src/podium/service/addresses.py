"""Names in addresses: a player may be called "a/b", which routers take for two parts."""

from typing import Any
from urllib.parse import unquote_to_bytes

from podium.service.strict import RefusedError, check_text

STAND_IN = "\x1f"  # for a slash within a name, on its way through the router


class SlashesInNames:
    """Middleware that tells a slash in a name from one between names."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand the request on, its address taken apart before it is decoded."""
        if scope["type"] == "http" and scope.get("raw_path"):
            parts = scope["raw_path"].split(b"?")[0].split(b"/")
            names = [unquote_to_bytes(part).decode("utf-8", "surrogateescape").replace("/", STAND_IN) for part in parts]
            scope = scope | {"path": "/".join(names)}
        await self.app(scope, receive, send)


def name_of(part: str) -> str:
    """The name that a part of an address stands for."""
    return part.replace(STAND_IN, "/")


def refuse_odd(path: str) -> None:
    """Refuse an address that is no text.

    Raises:
        RefusedError: it has a NUL, or is not UTF-8.
    """
    try:
        check_text(path, "address")
    except RefusedError as error:
        raise RefusedError("", f"the address {error.why}") from None
