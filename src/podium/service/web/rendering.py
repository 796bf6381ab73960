"""Pages as responses: what every page holds, its headers, and its entity tag."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from inspect import getdoc
from typing import Any, ClassVar, Final
from urllib.parse import unquote

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from podium import __version__
from podium.pages.environment import create_environment
from podium.pages.numbers import plural
from podium.service.web.addresses import pool_address
from podium.service.web.static import DIGEST, STATIC_ADDRESS
from podium.store.log.pools import Pool

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors {}"
)
HEADERS: Final = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY.format("'none'"),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Vary": "Authorization, Cookie",
    "X-Content-Type-Options": "nosniff",
}
PACKAGES: Final = (
    "podium.service.web",
    "podium.service.admin",
)  # whose templates there are, beside those of `podium.pages`


@dataclass(frozen=True, slots=True)
class PoolFrame:
    """What every page of a pool says of it."""

    name: str
    title: str
    system_title: str
    digits: int  # decimals of a rating in an explanation; a board has one fewer
    word: str  # for a player, such as "rider"
    contact: str = ""  # where whoever sees a wrong result turns to: an address of mail or of a page
    is_public: bool = True
    sentence: str = ""  # what the system does

    @property
    def address(self) -> str:
        """Of its leaderboard; those of its other pages begin with it."""
        return pool_address(self.name)

    @property
    def words(self) -> str:
        """The word for players."""
        return plural(self.word)


def pool_frame(pool: Pool) -> PoolFrame:
    """What pages say of a pool."""
    says = pool.description
    return PoolFrame(
        name=pool.name,
        title=says.title or pool.name,
        system_title=pool.system.title,
        digits=pool.system.digits,
        word=says.player_word or "player",
        contact=says.contact,
        is_public=says.public,
        sentence=(getdoc(type(pool.system)) or "").partition("\n")[0],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What every page holds; each page adds what its own template shows."""

    template: ClassVar[str]

    title: str  # of the browser's tab
    description: str = ""  # where a link to the page is shown
    picture: str = ""  # likewise: the path of a PNG
    pool: PoolFrame | None = None
    tab: str = ""  # the one that is current: leaderboard, events, compare or system
    newest_entry: int | None = None  # of the pool's log that the page shows; where given, the page says what came later


@dataclass(frozen=True, slots=True)
class Site:
    """What the frame of a page needs of the request and the service."""

    static: str  # the folder of style sheet, script and mark
    origin: str  # scheme and host, for addresses that other programs fetch
    path: str  # of this page, encoded
    me: str = ""  # the player whom the visitor chose as "me", in this pool
    signed_in: str = ""  # the name of the visitor's key, if any


@cache
def environment() -> Any:
    """The templates of the pages."""
    return create_environment(*PACKAGES)


@cache
def templates_digest() -> str:
    """A digest of all that pages are made of, beside their data."""
    digest = hashlib.blake2b(f"{__version__} {DIGEST}".encode(), digest_size=8)
    for package in (*PACKAGES, "podium.pages"):
        for each in sorted(files(package).joinpath("templates").iterdir(), key=lambda found: found.name):
            digest.update(each.read_bytes())
    return digest.hexdigest()


def site(request: Request) -> Site:
    """What the frame needs of a request."""
    return Site(
        static=STATIC_ADDRESS,
        origin=origin_of(request),
        path=path_of(request),
        me=chosen_player(request),
        signed_in=getattr(request.state, "signed_in", ""),
    )


def origin_of(request: Request) -> str:
    """Scheme and host of a request, with which the addresses of pages begin."""
    return f"{request.url.scheme}://{request.url.netloc}"


def path_of(request: Request) -> str:
    """The path of a request as it was sent, encoded."""
    path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return path.split(b"?")[0].decode("ascii", "replace")


def chosen_player(request: Request) -> str:
    """The player whom the visitor chose as "me"; the cookie holds no identity, and is the pool's."""
    return unquote(request.cookies.get("me", ""))


def entity_tag_of(request: Request, version: str) -> str:
    """The entity tag of a page of this version, for whoever looks and the host that they look at."""
    seen_by = f"{request.url.netloc}\0{chosen_player(request)}\0{getattr(request.state, 'signed_in', '')}"
    digest = hashlib.blake2b(f"{version}\0{seen_by}\0{templates_digest()}".encode("utf-8", "replace"), digest_size=12)
    return f'W/"{digest.hexdigest()}"'


def unchanged(request: Request, version: str) -> Response | None:
    """The answer to whoever has this version of the page already; None where the page is to be sent."""
    tag = entity_tag_of(request, version)
    known = {each.strip() for each in request.headers.get("if-none-match", "").split(",")}
    return Response(status_code=304, headers=HEADERS | {"ETag": tag}) if tag in known else None


def render(request: Request, page: Page, *, status: int = 200, version: str = "", frames: str = "'none'") -> Response:
    """Return a page.

    Args:
        request: whose page it is.
        page: what its template shows.
        status: of the response.
        version: of all that it shows, for its entity tag; of what it holds where empty.
        frames: who may show it in a frame, in the words of `frame-ancestors`.
    """
    return page_response(request, page_text(request, page), status=status, version=version, frames=frames)


def page_text(request: Request, page: Page) -> str:
    """Return the HTML of a page."""
    text: str = environment().get_template(page.template).render(page=page, site=site(request))
    return text


def page_response(
    request: Request, text: str, *, status: int = 200, version: str = "", frames: str = "'none'"
) -> Response:
    """Return HTML as a response; see `render`."""
    headers = HEADERS | {"Content-Security-Policy": CONTENT_SECURITY_POLICY.format(frames)}
    if status == 200:  # noqa: PLR2004
        version = version or hashlib.blake2b(text.encode()).hexdigest()
        same = unchanged(request, version)
        if same is not None:
            return same
        headers["ETag"] = entity_tag_of(request, version)
    return HTMLResponse(text, status, headers)
