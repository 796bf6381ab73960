"""A store's public pages as files: their names, the HTML from the service, and their links."""

import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from html import escape, unescape
from itertools import chain
from typing import Any, TypeVar

from anyio.from_thread import start_blocking_portal
from fastapi import FastAPI

from podium.errors import PodiumError
from podium.pages.result_table import MAX_ROWS
from podium.service.http.errors import problem
from podium.service.http.json import PathMiddleware
from podium.service.http.keys import KeyGuard
from podium.service.http.requests import Threads
from podium.service.http.visitors import CachedValue, Sessions
from podium.service.web import boards, distribution, events, home, players, seasons
from podium.service.web.ahead.calendar import KeptStakes
from podium.service.web.rendering import in_order, pool_address, pool_header
from podium.service.web.rules import page as rules
from podium.store import Store
from podium.support.immutable import immutable
from podium.views.player_models import EventListPage, Leaderboard

MAX_NAME_CHARACTERS = 48  # maximum number of characters from a name in a file name
DIGEST_BYTES = 8
PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
WITH_DIGEST = re.compile(rf".*-[0-9a-f]{{{2 * DIGEST_BYTES}}}")
DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)\d")  # invalid as file names on Windows
# Templates and `Markup` escape all text. Therefore, a quote ends an attribute, and no attribute contains `>`.
ANCHOR = re.compile(r'<a\b([^>]*?) href="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
LOADED = re.compile(r'(<(?:link|script)\b[^>]*? (?:href|src)=")(/[^"]*)"')
PageFile = tuple[str, tuple[str, ...], dict[str, str]]  # stem of the file name; names and query in the page's address
Listed = TypeVar("Listed", Leaderboard, EventListPage)


class SiteError(PodiumError):
    """A site cannot be written."""


def file_stem(name: str) -> str:
    """Return a unique stem of a file name for any name.

    ASCII letters and digits stay. A digest represents everything else, including case.
    """
    is_long, has_digest = len(name) > MAX_NAME_CHARACTERS, WITH_DIGEST.match(name)
    if PLAIN.fullmatch(name) and not (is_long or has_digest or DEVICES.fullmatch(name)):
        return name
    legible = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MAX_NAME_CHARACTERS].strip("-")
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return f"{legible or 'name'}-{digest}"


@immutable
class Extent:
    """The number of pages for each pool."""

    players: int = sys.maxsize  # number of players, best first
    events: int = sys.maxsize  # number of events, newest first
    explained: int = 200  # number of newest events with a page of reasons for each player


def public_files(view: Store, pools: Sequence[str], extent: Extent) -> dict[str, str]:
    """Return the files for all public pages, by address. Lists come before the pages to which they link."""
    files = {"/": "index.html", "/find": "find.html"}
    for pool in pools:
        folder = file_stem(pool)
        for file, names, query in chain(list_pages(view, pool, extent), single_pages(view, pool, extent)):
            files[pool_address(pool, *names, **query)] = f"{folder}/{file}.html"
    return files


def list_pages(view: Store, pool: str, extent: Extent) -> Iterator[PageFile]:
    """Yield the files with leaderboards and the list of events."""

    def pages(
        file: str, rows: int, read: Callable[[str | None], Listed], *names: str, **query: str
    ) -> Iterator[PageFile]:
        yield file, names, query
        cursor = read(None).next
        for number in range(2, 2 + (rows - 1) // boards.ROWS):
            if cursor is None:
                return
            yield f"{file}-{number}", names, query | {"cursor": cursor}
            cursor = read(cursor).next

    listing = boards.default_listing(view, view.pool(pool))
    board, listed = partial(view.leaderboard, pool, top=boards.ROWS), partial(view.event_list, pool, top=boards.ROWS)
    yield from pages("index", extent.players, lambda cursor: board(listing, after=cursor))
    if board(listing).listed < board(boards.EVERYBODY).listed:
        yield from pages("all", extent.players, lambda cursor: board(boards.EVERYBODY, after=cursor), all="1")
    yield "newest", (), {"sort": "move"}
    yield from pages("events", extent.events, lambda cursor: listed(before=cursor), "events")


def single_pages(view: Store, pool: str, extent: Extent) -> Iterator[PageFile]:
    """Yield the files about a pool, its players and its events."""
    header = pool_header(view.pool(pool))
    yield "rules", ("system",), {}
    there = {"distribution": True, "equipment": header.kinds, "best": header.has_hindsight, "find": True}
    there |= {"seasons": bool(view.seasons(pool)), "standings": header.has_standings}
    yield from ((page, (page,), {}) for page, is_there in there.items() if is_there)
    for by, values in view.detail_choices(pool).items():
        if values:
            yield f"groups/{by}", ("groups", by), {}
    for number, season in enumerate(view.seasons(pool)):
        for part in [(), ("before",)] if number == 0 else [()]:
            names = season.name, *part
            for page in ("seasons", "standings") if header.has_standings else ("seasons",):
                yield f"{page}/{'/'.join(map(file_stem, names))}", (page, *names), {}
    for row in view.leaderboard(pool, boards.EVERYBODY, top=extent.players).players:
        yield f"players/{file_stem(row.player)}", ("players", row.player), {}
    for number, event in enumerate(view.event_list(pool, top=extent.events).events):
        file, names = f"events/{file_stem(event.event_id)}", ("events", event.event_id)
        yield file, names, {}
        for first in range(1 + MAX_ROWS, event.entrants + 1, MAX_ROWS):
            yield f"{file}.{first}", names, {"from": str(first)}
        for change in view.event(pool, event.event_id).changes if number < extent.explained else ():
            yield f"{file}/{file_stem(change.player)}", (*names, change.player), {}


def read_pages(view: Store, pools: Sequence[str], addresses: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Get pages about these pools from the service.

    Yields:
        The address and HTML of each page, in the version for a visitor without a key, and without forms.

    Raises:
        SiteError: The service responds with an error.
    """
    app = create_pages(view, pools)
    with start_blocking_portal() as portal:
        for address in addresses:
            yield address, portal.call(get_page, app, address)


def create_pages(view: Store, pools: Sequence[str]) -> FastAPI:
    """Return the part of the service that serves a site's pages."""
    app, threads = FastAPI(openapi_url=None), Threads()
    app.state.store, app.state.stakes, app.state.front_pages = view, KeptStakes(), home.FrontPages(view)
    app.state.address = ""
    app.state.public_pools = CachedValue(threads, lambda: frozenset(pools))
    app.state.key_guard, app.state.sessions = KeyGuard(view, threads), Sessions(view, threads)
    app.router.routes.extend(
        in_order(module.router for module in (home, boards, seasons, distribution, rules, players, events))
    )
    app.add_middleware(PathMiddleware, refusal=problem)
    return app


async def get_page(app: Any, address: str) -> str:
    path, _, query = address.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "http_version": "1.1",
        "scheme": "https",
        "state": {"is_static": True},
    }
    scope |= {"path": path, "raw_path": path.encode(), "query_string": query.encode()}
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(message)

    await app(scope | {"headers": [(b"host", b"localhost")]}, receive, send)
    status = messages[0]["status"]
    if status != 200:  # noqa: PLR2004
        raise SiteError(
            f"{address}: the service responds with status {status}. Write the site again, or choose another pool with"
            " --pool"
        )
    return b"".join(message["body"] for message in messages[1:]).decode()


def link_pages(text: str, find_target: Callable[[str, str], str | None]) -> str:
    """Return a page with its links changed.

    Args:
        find_target: Function of a link's address and the part after `#`. It returns the new link, or None to keep only
            the text.
    """

    def replace_link(found: re.Match[str]) -> str:
        before, address, after, words = found.groups()
        if not address.startswith("/"):
            return found[0]
        path, _, part = unescape(address).partition("#")
        target = find_target(path.removesuffix("?from=1"), part)  # an event's page begins with the first row
        if target is None:
            return "" if ' rel="' in found[0] else words  # the file has no next page
        return f'<a{before} href="{escape(target)}"{after}>{words}</a>'

    return ANCHOR.sub(replace_link, text)


def link_files(text: str, file: str, files: dict[str, str], static: str) -> str:
    """Return a page as the file with this name.

    The links on the page lead to other files, and to copies of the files in `static`.
    """
    top = "../" * file.count("/")

    def find_target(path: str, part: str) -> str | None:
        target = files.get(path)
        return None if target is None else top + target + (f"#{part}" if part else "")

    return LOADED.sub(
        lambda found: f'{found[1]}{top}{found[2].removeprefix(f"{static}/")}"', link_pages(text, find_target)
    )
