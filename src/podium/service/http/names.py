"""Names in bodies and in addresses: the rule is `podium.results.names`, and the store applies it to results."""

from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import Path
from pydantic import AfterValidator, Field

from podium.pages.environment import BEFORE_DOTS
from podium.results.names import SPACES, normalise, refusal
from podium.service.http.json import RefusedError, check_text

MAX_SENT_CHARACTERS = 1000  # before a name is normalised
NAME_RULE = "Text of 1 to 200 characters that people can see; in Unicode's form NFC, without spaces around it."


def normalised_name(name: str) -> str:
    """Return the name, normalised."""
    normal = normalise(name)
    reason = refusal(normal)
    if reason:
        raise ValueError(reason)
    return normal


def verbatim_id(identifier: str) -> str:
    """Return the id as it was sent, to the letter."""
    normalised_name(identifier)
    return identifier


def not_blank(name: str) -> str:
    """Return the name as it was sent; the store looks it up, or applies the rule."""
    if not name.strip(SPACES):
        raise ValueError("is blank")
    return name


SentName = Annotated[
    str, Field(min_length=1, max_length=MAX_SENT_CHARACTERS, description=NAME_RULE), AfterValidator(not_blank)
]
Name = Annotated[SentName, AfterValidator(normalised_name)]
Identifier = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(verbatim_id)]


POOLS_PATH = "/api/v1/pools"
ENCODED_SLASH = "\x1f"  # stands for a slash within a name, on its way through the router


class PathMiddleware:
    """Middleware that keeps a slash in a name apart from one between names, and refuses addresses that are no text."""

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


def path_name(description: str, example: str) -> Any:
    return Annotated[
        str,
        Path(min_length=1, max_length=MAX_SENT_CHARACTERS, description=description, examples=[example]),
        AfterValidator(decode_name),
    ]


PoolName = path_name("The ladder.", "karts")
EventId = path_name("The event's id.", "race-17")
PlayerName = path_name("The player's name.", "ana")
MatchId = path_name("The registered match.", "lobby-9")
FixtureId = path_name("The race to come.", "race-18")
SeasonName = path_name("The season's name.", "2025")
