"""Pages as responses: their common content, their headers and their entity tags."""

import hashlib
import math
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
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
from podium.service.http.errors import HEADER, ProblemResponse
from podium.service.http.json import POOLS_PATH
from podium.service.http.requests import WROTE, WROTE_S, QuickRoute, read_one_moment
from podium.service.http.visitors import send_cookie
from podium.support.immutable import immutable
from podium.support.words import part, plural, shown, shown_change

if TYPE_CHECKING:
    from podium.store.keys import ApiKey

METHODS = ["GET", "HEAD"]
SEE_OTHER = 303
Function = TypeVar("Function", bound=Callable[..., Any])


def address(*names: str, **query: str) -> str:
    """Return the path made from these names (which may contain any characters) and a query."""
    path = "".join(f"/{part(name)}" for name in names) or "/"
    terms = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return f"{path}?{terms}" if terms else path


@lru_cache(maxsize=1 << 14)
def pool_address(pool: str, *names: str, **query: str) -> str:
    return address("p", pool, *names, **query) if is_reserved(pool) else address(pool, *names, **query)


class PageRouter(APIRouter):
    """Routes for pages, which are not in the OpenAPI document."""

    def __init__(self, **options: Any) -> None:
        super().__init__(route_class=QuickRoute, **options)

    def page(self, path: str) -> Callable[[Function], Function]:
        """Add a page that reads a single version of the store."""

        def add(function: Function) -> Function:
            options: dict[str, Any] = {"methods": METHODS, "include_in_schema": False, "response_class": HTMLResponse}
            self.add_api_route(path, read_one_moment(function), **options)
            return function

        return add

    def pool_page(self, path: str, *, takes_form: bool = False) -> Callable[[Function], Function]:
        """Add a page that every pool has, or the target of a form, at both of a pool's possible addresses."""

        def add(function: Function) -> Function:
            for prefix in ("/p/{pool}", "/{pool}"):
                whole = prefix + path
                (self.post(whole, include_in_schema=False) if takes_form else self.page(whole))(function)
            return function

        return add


def in_order(routers: Iterable[APIRouter]) -> list[BaseRoute]:
    """Return routes in the order of matching. Routes below `/p` are first, and pools' names (any text) are last."""

    def precedence(route: BaseRoute) -> int:
        path = route.path if isinstance(route, APIRoute) else ""
        return 0 if path.startswith("/p/") else 2 if path.startswith("/{pool}") else 1

    return sorted((route for router in routers for route in router.routes), key=precedence)


MEDIA_TYPES = {
    "podium.css": "text/css; charset=utf-8",
    "reference.css": "text/css; charset=utf-8",
    "podium.js": "text/javascript; charset=utf-8",
    "filter.js": "text/javascript; charset=utf-8",
    "reference.js": "text/javascript; charset=utf-8",
    "forms.css": "text/css; charset=utf-8",
    "forms.js": "text/javascript; charset=utf-8",
    "tonight.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
    "icon.png": "image/png",  # for home screens of phones, which may cut off a tenth at each side
    "manifest.json": "application/manifest+json",
}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
FILES: Final = {name: static_content(name) for name in MEDIA_TYPES}
DIGEST: Final = hashlib.blake2b(b"".join(FILES.values()), digest_size=8).hexdigest()
STATIC_ADDRESS: Final = f"/static/{DIGEST}"
router = PageRouter()


@router.page("/static/{digest}/{name}")
async def static_file(request: Request, digest: str, name: str) -> Response:
    """Return a static file. An earlier version's file is also returned, but not cached."""
    if name not in FILES:
        raise HTTPException(404, f"there is no file {name}")
    headers = FOREVER if digest == DIGEST else {"Cache-Control": "no-store"}
    return Response(FILES[name], media_type=MEDIA_TYPES[name], headers=headers)


@router.page("/favicon.ico")
async def icon() -> Response:
    """Return the icon for browsers that look for it at this address."""
    return Response(FILES["mark.svg"], media_type=MEDIA_TYPES["mark.svg"], headers={"Cache-Control": "max-age=86400"})


CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self';"
    " manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {}"
)
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY.format("'none'"),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Vary": "Authorization, Cookie",
    "X-Content-Type-Options": "nosniff",
}
PACKAGES: Final = "podium.service.web", "podium.service.admin", "podium.service.site"  # packages with templates


class NamedEvent(Protocol):
    """The details for a link to an event."""

    @property
    def event_id(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...


class Ranked(Protocol):
    """A player with the number that decides the rank."""

    @property
    def rating(self) -> float: ...
    @property
    def deviation(self) -> float | None: ...
    @property
    def score(self) -> float: ...
    @property
    def tier(self) -> str | None: ...


@immutable
class PoolHeader:
    """A pool's data and formats, which all of its pages use."""

    name: str
    title: str
    system_title: str
    digits: int  # number of decimals of ratings in explanations; boards show one fewer
    word: str  # the word for a player, such as "rider"
    contact: str = ""  # email address or page for reporting wrong results
    is_public: bool = True
    sentence: str = ""  # how players gain points
    is_undated: bool = False  # True if the pool's events have numbers instead of dates
    kinds: tuple[str, ...] = ()  # kinds of rated equipment, in the plural
    has_hindsight: bool = False
    zone: tzinfo = UTC
    has_standings: bool = False
    score_digits: int | None = None  # decimals of scores that differ from the ratings; None if there are none

    @property
    def address(self) -> str:
        return self.path()

    def path(self, *names: str, **query: str) -> str:
        """Return the path of one of the pool's pages."""
        return pool_address(self.name, *names, **query)

    @property
    def contact_address(self) -> str:
        return self.contact if "://" in self.contact else f"mailto:{self.contact}"

    @property
    def words(self) -> str:
        return plural(self.word)

    def rounded(self, points: float) -> Decimal:
        """Return points rounded as on a board, for calculations."""
        return shown(points, self.digits - 1)

    def rating(self, points: float | Decimal) -> str:
        """Return points in the form for boards."""
        return numbers.rating(points, self.digits - 1)

    def margin(self, deviation: float) -> str:
        """Return the margin of a rating in the form for boards."""
        return numbers.deviation(deviation, self.digits - 1)

    def score(self, row: Ranked) -> str:
        """Return the number that decides a player's rank, as it is shown on a board."""
        return self.rating(row.rating) if self.score_digits is None else numbers.rating(row.score, self.score_digits)

    def score_note(self, row: Ranked) -> str:
        """Return the margin of a rating, with the rating before it if a score decides the rank."""
        margin = "" if row.deviation is None else self.margin(row.deviation)
        return margin if self.score_digits is None else f"{self.rating(row.rating)} {margin}".rstrip()

    def standing(self, row: Ranked) -> Markup:
        """Return the number that decides a player's rank, with its note and tier.

        On a phone, there is no note next to a score or tier.
        """
        is_short = self.score_digits is not None or row.tier
        note = "soft desk" if is_short else "soft", self.score_note(row)
        return numbers.with_notes(self.score(row), [note, ("soft", row.tier or "")])

    def change(self, points: float) -> str:
        return numbers.change(points, self.digits)

    @property
    def today(self) -> str:
        return datetime.now(self.zone).date().isoformat()

    def local(self, when: Any) -> Any:
        """Return a time in the pool's time zone. Dates without a time, numbers and None are returned unchanged."""
        has_time = isinstance(when, datetime) and not numbers.is_date(when)
        return when.astimezone(self.zone) if has_time else when

    def on(self, when: date | float) -> str:
        """Return the time of an event for use in a sentence, such as "on 12 Dec 2025" or "in no. 17"."""
        return f"{'in' if self.is_undated else 'on'} {numbers.day_words(self.local(when))}"

    def player_link(self, player: str) -> Markup:
        return numbers.name_link(f"{self.address}/players/{part(player)}", player)

    def event_link(self, event: NamedEvent, player: str = "") -> Markup:
        """Return a link to an event, or to the reasons for one of its changes."""
        event_id = event.event_id or ""
        address = self.path("events", event_id, *([player] if player else []))
        return numbers.name_link(address, event.title or event_id)

    def change_link(self, event_id: str, player: str, points: float | Decimal | None) -> str:
        """Return a change as a link to its reasons, or a dash if there is no change."""
        return numbers.change_link(points, self.path("events", event_id), player, self.digits)

    def last_change(self, spark: tuple[float, ...]) -> str:
        """Return the difference between the last two ratings, or a dash if there is only one."""
        return numbers.change(shown_change(spark[-2], spark[-1], self.digits)) if len(spark) > 1 else numbers.DASH


def pool_header(pool: Pool) -> PoolHeader:
    says = pool.description
    has_scores = bool(pool.system.ranking) or pool.display.factor != 1.0 or pool.display.floor > -math.inf
    return PoolHeader(
        name=pool.name,
        title=says.title or pool.name,
        system_title=pool.system.title,
        digits=pool.system.digits,
        word=says.player_word or "player",
        contact=says.contact,
        is_public=says.public,
        sentence=pool.system.for_players.replace("players", plural(says.player_word or "player")),
        is_undated=pool.is_undated,
        kinds=tuple(map(plural, pool.system.kinds)),
        has_hindsight=not why_unavailable(pool.system),
        zone=says.zone,
        has_standings=bool(says.points_scheme),
        score_digits=pool.display.digits(pool.system.digits - 1) if has_scores else None,
    )


class Page(SimpleNamespace):
    """The content of a page.

    It holds these fields, which every page's frame needs, plus any that the page's own template needs.
    """

    description = ""  # shown in previews of links to the page
    picture = ""  # path of a PNG that is shown in previews
    tab = ""  # current tab: leaderboard, events, standings, calendar, compare or system
    current = ""  # current link between the organisers' pages of a pool
    pool: PoolHeader | None = None
    newest_entry: int | None = None  # newest log entry that the page includes; if set, the page reports later entries

    def __init__(self, template: str, title: str, **content: Any) -> None:
        super().__init__(**content)
        self.template = template
        self.title = title  # shown in the browser's tab


@immutable
class Site:
    """The data for the frame of a page, from the request and the service."""

    static: str  # folder with the style sheet, the script and the icon
    origin: str  # scheme and host, for addresses that other programs load
    me: str = ""  # the player whom the visitor chose as "me" in this pool
    signed_in: str = ""  # the name of the visitor's key, if any
    token: str = ""  # token for the session's forms; empty if nobody has signed in
    may_write: bool = False  # True if the visitor may enter results in this pool
    may_administer: bool = False
    done: str = ""  # sentence about the action that led here
    undo: str = ""  # number of the stored change that would undo the action
    is_static: bool = False  # True if the page becomes a file, which has no forms


@cache
def environment() -> Any:
    found = create_environment(*PACKAGES)
    found.globals["pool_address"] = pool_address
    return found


@cache
def templates_digest() -> str:
    """Return a digest of everything except data on which pages depend."""
    digest = hashlib.blake2b(f"{__version__} {DIGEST}".encode(), digest_size=8)
    for package in (*PACKAGES, "podium.pages"):
        for template in sorted(files(package).joinpath("templates").iterdir(), key=lambda found: found.name):
            digest.update(template.read_bytes())
    return digest.hexdigest()


def site(request: Request, pool: PoolHeader | None) -> Site:
    done, _, undo = done_just_now(request).partition("\n")
    key: ApiKey | None = getattr(request.state, "key", None)
    return Site(
        static=STATIC_ADDRESS,
        origin=origin_of(request),
        me=chosen_player(request),
        signed_in=getattr(request.state, "signed_in", ""),
        token=getattr(request.state, "token", ""),
        may_write=pool is not None and key is not None and key.may("write", pool.name),
        may_administer=pool is not None and key is not None and key.may("admin", pool.name),
        done=done,
        undo=undo,
        is_static=is_static(request),
    )


def is_static(request: Request) -> bool:
    """Return True if the page will become a file."""
    return getattr(request.state, "is_static", False)


DONE = "podium_done"  # cookie with a sentence that the next page shows once
DONE_S = 60
MAX_DONE_CHARACTERS = 300


def go_on(request: Request, path: str, sentence: str, undo: str = "") -> Response:
    """Redirect a browser to a page that reports an action. `undo` is the stored change that can undo it."""
    response = RedirectResponse(path, SEE_OTHER)
    words = quote(f"{' '.join(sentence.split())[:MAX_DONE_CHARACTERS]}\n{undo}", safe="")
    send_cookie(request, response, DONE, words, DONE_S, path)
    send_cookie(request, response, WROTE, "1", WROTE_S, "/")
    return response


def done_just_now(request: Request) -> str:
    """Return the sentence about the action that led to this page, and the number of the change that undoes it.

    Both may be empty.
    """
    return unquote(request.cookies.get(DONE, ""))


def origin_of(request: Request) -> str:
    """Return the scheme and host for addresses of pages, from `serve --address` or from the request."""
    address: str = request.app.state.address
    return address or f"{request.url.scheme}://{request.url.netloc}"


def path_of(request: Request) -> str:
    """Return the path of a request in its encoded form, as it was sent."""
    path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return path.split(b"?")[0].decode("ascii", "replace")


def chosen_player(request: Request) -> str:
    """Return the player whom the visitor chose as "me".

    The cookie is for one pool, and does not identify the visitor.
    """
    return unquote(request.cookies.get("me", "").partition(":")[0])


def entity_tag_of(request: Request, version: str) -> str:
    """Return the entity tag for this version of a page, for this visitor and this host."""
    key: ApiKey | None = getattr(request.state, "key", None)
    seen_by = f"{request.url.netloc}\0{chosen_player(request)}\0{key and key.id}\0{done_just_now(request)}"
    digest = hashlib.blake2b(f"{version}\0{seen_by}\0{templates_digest()}".encode("utf-8", "replace"), digest_size=12)
    return f'W/"{digest.hexdigest()}"'


def unchanged(request: Request, version: str) -> Response | None:
    """Return the response for a browser that already has this version, or None if the page must be sent."""
    tag = entity_tag_of(request, version)
    return Response(status_code=304, headers=HEADERS | {"ETag": tag}) if is_known(request, tag) else None


def is_known(request: Request, tag: str) -> bool:
    """Return True if the browser has the version with this entity tag, which a proxy may have made weak."""
    known = request.headers.get("if-none-match", "").split(",")
    return tag.removeprefix("W/") in {each.strip().removeprefix("W/") for each in known}


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
    403: "This key does not open this page.",
    404: "This page does not exist.",
    405: "This page does not accept data.",
    409: "This cannot be shown at the moment.",
    422: "This address is not valid.",
    429: "Too many requests at once.",
    500: "Something went wrong here.",
    503: "The service is busy.",
}
REMEDIES = {
    404: "Check the spelling of the name. An event may also be in another pool.",
    429: "Wait a little, then load the page again. Nothing was saved.",
    500: "Nothing was saved. The organisers can find the reason in the service's log, using the number below.",
    503: "Nothing was saved. Load the page again in a moment.",
}
SIGN_IN_HELPS = (401, 403)
Handler = Callable[[Request, Any], Any]
PASSED_ON = ("www-authenticate", "retry-after", "allow", HEADER.decode())


def page_or_problem(handler: Handler) -> Handler:
    """Return an error handler that responds with a page if the request comes from a browser."""

    async def handle(request: Request, error: Exception) -> Response:
        answer: ProblemResponse = await handler(request, error)
        is_api = request.url.path.split("/")[1:2] == [API_PATH]
        # the client is not a browser that expects a page
        if is_api or "text/html" not in request.headers.get("accept", ""):
            return answer
        status, may_sign_in = answer.problem.status, answer.problem.status in SIGN_IN_HELPS
        is_form = request.method == "POST" and status == 404  # noqa: PLR2004
        headline = "Nothing was saved." if is_form else HEADLINES.get(status, f"{answer.problem.title}.")
        page = Page(
            "problem.html",
            headline.rstrip("."),
            problem=answer.problem,
            headline=headline,
            remedy="" if is_form else REMEDIES.get(status, ""),
            next=path_of(request) if may_sign_in and request.method in ("GET", "HEAD") else "",
        )
        response = render(request, page, status=status)
        response.headers.update({name: answer.headers[name] for name in PASSED_ON if name in answer.headers})
        return response

    return handle
