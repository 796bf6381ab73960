"""Names in addresses: a player may be called "a/b", which routers take for two parts."""

from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import Path
from pydantic import AfterValidator

from podium.service.http.names import LONGEST_SENT
from podium.service.http.strict_json import RefusedError, check_text

STAND_IN = "\x1f"  # for a slash within a name, on its way through the router


class PathMiddleware:
    """Middleware that tells a slash in a name from one between names, and refuses addresses that are no text."""

    def __init__(self, app: Any, refusal: Any) -> None:
        self.app, self.refusal = app, refusal

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand the request on, its address taken apart before it is decoded."""
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
            await self.refusal(422, f"the address {error.why}", "address")(scope, receive, send)
            return
        scope["path"] = "/".join(name.replace("/", STAND_IN) for name in names)
        await self.app(scope, receive, send)


def name_of(part: str) -> str:
    """The name that a part of an address stands for."""
    return part.replace(STAND_IN, "/")


def part(what: str, example: str) -> Any:
    """A name in an address."""
    return Annotated[
        str, Path(min_length=1, max_length=LONGEST_SENT, description=what, examples=[example]), AfterValidator(name_of)
    ]


Pool = part("The ladder.", "karts")
EventId = part("The event's id.", "race-17")
Player = part("The player's name.", "ana")
MatchId = part("The registered match.", "lobby-9")
Season = part("The season's name.", "2025")
