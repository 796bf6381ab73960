"""Pages as responses: what every page holds, its headers, and its entity tag."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar
from urllib.parse import quote, unquote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from podium import __version__
from podium.ledger.hindsight import why_unavailable
from podium.log.players import is_reserved
from podium.log.pools import Pool
from podium.pages import numbers
from podium.pages.environment import create_environment, static_content
from podium.service.http.errors import HEADER, Problem, ProblemResponse
from podium.service.http.json import POOLS_PATH
from podium.service.http.requests import WROTE, WROTE_S, read_one_moment
from podium.service.http.visitors import send_cookie
from podium.support.words import part, plural, shown

if TYPE_CHECKING:
    from podium.store.keys import ApiKey

METHODS = ["GET", "HEAD"]
SEE_OTHER = 303
Function = TypeVar("Function", bound=Callable[..., Any])


def address(*names: str, **query: str) -> str:
    """The path of these names, each of which may hold any letter, and a query."""
    path = "".join(f"/{part(name)}" for name in names) or "/"
    terms = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return f"{path}?{terms}" if terms else path


@lru_cache(maxsize=1 << 14)
def pool_address(pool: str, *names: str, **query: str) -> str:
    return address("p", pool, *names, **query) if is_reserved(pool) else address(pool, *names, **query)


class PageRouter(APIRouter):
    """Routes of pages, which stand in no OpenAPI document."""

    def page(self, path: str) -> Callable[[Function], Function]:
        """Add a page, all of one moment."""

        def add(function: Function) -> Function:
            options: dict[str, Any] = {"methods": METHODS, "include_in_schema": False, "response_class": HTMLResponse}
            self.add_api_route(path, read_one_moment(function), **options)
            return function

        return add

    def pool_page(self, path: str, *, takes_form: bool = False) -> Callable[[Function], Function]:
        """Add a page of each pool, or what a form of one sends to, at both addresses that a pool may have."""

        def add(function: Function) -> Function:
            for prefix in ("/p/{pool}", "/{pool}"):
                whole = prefix + path
                (self.post(whole, include_in_schema=False) if takes_form else self.page(whole))(function)
            return function

        return add


def in_order(routers: Iterable[APIRouter]) -> list[BaseRoute]:
    """Return routes of pages in the order of trying: those below `/p` first, and a pool's name, any text, last."""

    def precedence(route: BaseRoute) -> int:
        path = route.path if isinstance(route, APIRoute) else ""
        return 0 if path.startswith("/p/") else 2 if path.startswith("/{pool}") else 1

    return sorted((route for router in routers for route in router.routes), key=precedence)


MEDIA_TYPES = {
    "podium.css": "text/css; charset=utf-8",
    "podium.js": "text/javascript; charset=utf-8",
    "filter.js": "text/javascript; charset=utf-8",
    "tonight.js": "text/javascript; charset=utf-8",
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
PACKAGES: Final = "podium.service.web", "podium.service.admin", "podium.service.site"  # whose templates there are


class NamedEvent(Protocol):
    """An event that can be linked to."""

    @property
    def event_id(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class PoolHeader:
    """What every page of a pool says of it, and how it writes the pool's numbers."""

    name: str
    title: str
    system_title: str
    digits: int  # decimals of a rating in an explanation; a board has one fewer
    word: str  # for a player, such as "rider"
    contact: str = ""  # where whoever sees a wrong result turns to: an address of mail or of a page
    is_public: bool = True
    sentence: str = ""  # what gains points, to players
    is_undated: bool = False  # whether its events have numbers and no dates
    kinds: tuple[str, ...] = ()  # of equipment that players share and that have ratings, in the plural
    has_hindsight: bool = False

    @property
    def address(self) -> str:
        return pool_address(self.name)

    @property
    def words(self) -> str:
        return plural(self.word)

    def rounded(self, points: float) -> Decimal:
        """Points as a board has them, to calculate with."""
        return shown(points, self.digits - 1)

    def rating(self, points: float | Decimal) -> str:
        """Points as a board has them."""
        return numbers.rating(points, self.digits - 1)

    def margin(self, deviation: float) -> str:
        """How far a rating may be off, as a board has it."""
        return numbers.deviation(deviation, self.digits - 1)

    def change(self, points: float) -> str:
        return numbers.change(points, self.digits)

    def on(self, when: date | float) -> str:
        """When something was, in a sentence: "on 12 Dec 2025", "in no. 17"."""
        return f"{'in' if self.is_undated else 'on'} {numbers.day_words(when)}"

    def player_link(self, player: str) -> Markup:
        return numbers.name_link(f"{self.address}/players/{part(player)}", player)

    def event_link(self, event: NamedEvent, player: str = "") -> Markup:
        """A link to an event, or to the reasons of one of its changes."""
        event_id = event.event_id or ""
        address = pool_address(self.name, "events", event_id, *([player] if player else []))
        return numbers.name_link(address, event.title or event_id)

    def change_link(self, event_id: str, player: str, points: float | Decimal | None) -> str:
        """A change as it is shown, as the link to its reasons; a dash where there is none."""
        return numbers.change_link(points, pool_address(self.name, "events", event_id), player, self.digits)


def pool_header(pool: Pool) -> PoolHeader:
    says = pool.description
    return PoolHeader(
        name=pool.name,
        title=says.title or pool.name,
        system_title=pool.system.title,
        digits=pool.system.digits,
        word=says.player_word or "player",
        contact=says.contact,
        is_public=says.public,
        sentence=pool.system.for_players,
        is_undated=pool.is_undated,
        kinds=tuple(map(plural, pool.system.kinds)),
        has_hindsight=not why_unavailable(pool.system),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What every page holds; each page adds what its own template shows."""

    template: ClassVar[str]
    tab: ClassVar[str] = ""  # the one that is current: leaderboard, events, compare or system

    title: str  # of the browser's tab
    description: str = ""  # where a link to the page is shown
    picture: str = ""  # likewise: the path of a PNG
    pool: PoolHeader | None = None
    newest_entry: int | None = None  # of the pool's log that the page shows; where given, the page says what came later

    def __init_subclass__(cls, template: str = "", tab: str = "") -> None:
        if template:  # not where `slots` makes the class again
            cls.template, cls.tab = template, tab


@dataclass(frozen=True, slots=True)
class Site:
    """What the frame of a page needs of the request and the service."""

    static: str  # the folder of style sheet, script and mark
    origin: str  # scheme and host, for addresses that other programs fetch
    path: str  # of this page, encoded
    me: str = ""  # the player whom the visitor chose as "me", in this pool
    signed_in: str = ""  # the name of the visitor's key, if any
    token: str = ""  # that a form of the visitor's session sends; empty where nobody has signed in
    may_write: bool = False  # whether the visitor may enter results in the pool of the page
    done: str = ""  # a sentence of what was done just now, where that led here
    undo: str = ""  # the number of the kept change that would undo it
    is_static: bool = False  # whether it becomes a file, which answers no form


@cache
def environment() -> Any:
    found = create_environment(*PACKAGES)
    found.globals["pool_address"] = pool_address
    return found


@cache
def templates_digest() -> str:
    """A digest of all that pages are made of, beside their data."""
    digest = hashlib.blake2b(f"{__version__} {DIGEST}".encode(), digest_size=8)
    for package in (*PACKAGES, "podium.pages"):
        for each in sorted(files(package).joinpath("templates").iterdir(), key=lambda found: found.name):
            digest.update(each.read_bytes())
    return digest.hexdigest()


def site(request: Request, pool: PoolHeader | None) -> Site:
    done, _, undo = done_just_now(request).partition("\n")
    key: ApiKey | None = getattr(request.state, "key", None)
    return Site(
        static=STATIC_ADDRESS,
        origin=origin_of(request),
        path=path_of(request),
        me=chosen_player(request),
        signed_in=getattr(request.state, "signed_in", ""),
        token=getattr(request.state, "token", ""),
        may_write=pool is not None and key is not None and key.may("write", pool.name),
        done=done,
        undo=undo,
        is_static=is_static(request),
    )


def is_static(request: Request) -> bool:
    """Return True if the page becomes a file."""
    return getattr(request.state, "is_static", False)


DONE = "podium_done"  # the cookie of a sentence, which the page that follows shows once
DONE_S = 60
MAX_DONE_CHARACTERS = 300


def go_on(request: Request, path: str, sentence: str, undo: str = "") -> Response:
    """Lead a browser to a page, which says what was done, and can undo it with the kept change `undo`."""
    response = RedirectResponse(path, SEE_OTHER)
    words = quote(f"{' '.join(sentence.split())[:MAX_DONE_CHARACTERS]}\n{undo}", safe="")
    send_cookie(request, response, DONE, words, DONE_S, path)
    send_cookie(request, response, WROTE, "1", WROTE_S, "/")
    return response


def done_just_now(request: Request) -> str:
    """Return the sentence on what led to this page, then the number of its undoing; empty where nothing was done."""
    return unquote(request.cookies.get(DONE, ""))


def origin_of(request: Request) -> str:
    """Return the scheme and host with which addresses of pages begin: those of `serve --address`, or the request's."""
    address: str = request.app.state.address
    return address or f"{request.url.scheme}://{request.url.netloc}"


def path_of(request: Request) -> str:
    """The path of a request as it was sent, encoded."""
    path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return path.split(b"?")[0].decode("ascii", "replace")


def chosen_player(request: Request) -> str:
    """The player whom the visitor chose as "me"; the cookie holds no identity, and is the pool's."""
    return unquote(request.cookies.get("me", "").partition(":")[0])


def entity_tag_of(request: Request, version: str) -> str:
    """The entity tag of a page of this version, for whoever looks and the host that they look at."""
    seen_by = f"{request.url.netloc}\0{chosen_player(request)}\0{getattr(request.state, 'signed_in', '')}"
    seen_by += f"\0{done_just_now(request)}"
    digest = hashlib.blake2b(f"{version}\0{seen_by}\0{templates_digest()}".encode("utf-8", "replace"), digest_size=12)
    return f'W/"{digest.hexdigest()}"'


def unchanged(request: Request, version: str) -> Response | None:
    """The answer to whoever has this version of the page already; None where the page is to be sent."""
    tag = entity_tag_of(request, version)
    known = {each.strip() for each in request.headers.get("if-none-match", "").split(",")}
    return Response(status_code=304, headers=HEADERS | {"ETag": tag}) if tag in known else None


def render(request: Request, page: Page, *, status: int = 200, version: str = "", frames: str = "'none'") -> Response:
    return page_response(request, page_text(request, page), status=status, version=version, frames=frames)


def page_text(request: Request, page: Page) -> str:
    text: str = environment().get_template(page.template).render(page=page, site=site(request, page.pool))
    return text


def page_response(
    request: Request, text: str, *, status: int = 200, version: str = "", frames: str = "'none'"
) -> Response:
    headers = HEADERS | {"Content-Security-Policy": CONTENT_SECURITY_POLICY.format(frames)}
    if status == 200:  # noqa: PLR2004
        version = version or hashlib.blake2b(text.encode()).hexdigest()
        same = unchanged(request, version)
        if same is not None:
            return same
        headers["ETag"] = entity_tag_of(request, version)
    response = HTMLResponse(text, status, headers)
    if DONE in request.cookies:
        response.delete_cookie(DONE, path=path_of(request))
    return response


API_PATH = POOLS_PATH.split("/")[1]
HEADLINES = {
    401: "These pages need a key.",
    403: "This key opens other pages.",
    404: "There is no such page.",
    405: "This page cannot be sent anything.",
    409: "This cannot be shown at the moment.",
    422: "This address is not right.",
    429: "That was a lot at once.",
    500: "Something went wrong here.",
    503: "The pages are busy for a moment.",
}
REMEDIES = {
    404: "The name may be spelt otherwise, or the event may have been sent to another pool.",
    429: "Wait a little, then load the page again. Nothing was stored.",
    500: "Nothing was stored. The reason is in the log of the service; whoever runs it finds it by the number below.",
    503: "Nothing was stored. Load the page again in a moment.",
}
SIGN_IN_HELPS = (401, 403)
Handler = Callable[[Request, Any], Any]
PASSED_ON = ("www-authenticate", "retry-after", "allow", HEADER.decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPage(Page, template="problem.html"):
    """What went wrong, what is safe, and what to do."""

    problem: Problem
    headline: str
    remedy: str
    next: str = ""  # where to go on once signed in, where that may help


def page_or_problem(handler: Handler) -> Handler:
    """The handler of an error, which answers browsers with a page."""

    async def handle(request: Request, error: Exception) -> Response:
        answer: ProblemResponse = await handler(request, error)
        is_api = request.url.path.split("/")[1:2] == [API_PATH]
        if is_api or "text/html" not in request.headers.get("accept", ""):  # no browser that wants a page
            return answer
        status, may_sign_in = answer.problem.status, answer.problem.status in SIGN_IN_HELPS
        headline = HEADLINES.get(status, f"{answer.problem.title}.")
        page = ProblemPage(
            title=headline.rstrip("."),
            problem=answer.problem,
            headline=headline,
            remedy=REMEDIES.get(status, ""),
            next=path_of(request) if may_sign_in and request.method in ("GET", "HEAD") else "",
        )
        response = render(request, page, status=status)
        response.headers.update({name: answer.headers[name] for name in PASSED_ON if name in answer.headers})
        return response

    return handle
