"""The public pages of a store: their addresses, their files, how each is written, and links from file to file."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape, unescape
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from fastapi import Request, Response

from podium.pages.result_table import MOST_ROWS
from podium.service.http.visitors import Visitor
from podium.service.web import boards, events, front, players, spread
from podium.service.web.ahead.calendar import KeptStakes
from podium.service.web.rendering import Page, page_text, pool_address, pool_header
from podium.service.web.rules.page import rules_page
from podium.service.web.visiting import Visit
from podium.store import Store
from podium.store.reading.player_models import EventHeadline, EventListPage, FoundPlayer, ListedPage, Listing

MOST_CHARACTERS = 48  # of a name that stands in a file's
DIGEST_BYTES = 8
PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LIKE_OURS = re.compile(rf".*-[0-9a-f]{{{2 * DIGEST_BYTES}}}")  # a name that ends as file names of others do
DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)\d")  # no files' names on Windows
# Templates and `Markup` escape every text: a quote ends an attribute, and no attribute holds a `>`.
ANCHOR = re.compile(r'<a\b([^>]*?) href="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
LOADED = re.compile(r'(<(?:link|script)\b[^>]*? (?:href|src)=")(/[^"]*)"')


def file_stem(name: str) -> str:
    """The name of a file for a name of any letters; another for each, also where file systems ignore case.

    Letters of ASCII and digits stay; a digest tells apart what else there is.
    """
    if (
        len(name) <= MOST_CHARACTERS
        and PLAIN.fullmatch(name)
        and not (LIKE_OURS.match(name) or DEVICES.fullmatch(name))
    ):
        return name
    legible = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MOST_CHARACTERS].strip("-")
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return f"{legible or 'name'}-{digest}"


def linked(text: str, target: Callable[[str, str], str | None]) -> str:
    """A page whose links lead where `target` says of a path and what follows its `#`; for None only the words stay."""

    def anchor(found: re.Match[str]) -> str:
        before, address, after, words = found.groups()
        if not address.startswith("/"):
            return found[0]
        path, _, part = unescape(address).partition("#")
        there = target(path.removesuffix("?from=1"), part)  # an event's own page begins with the first row
        if there is None:
            return "" if ' rel="' in found[0] else words  # to the next page: there is none
        return f'<a{before} href="{escape(there)}"{after}>{words}</a>'

    return ANCHOR.sub(anchor, text)


def linked_file(text: str, file: str, files: dict[str, str], static: str) -> str:
    """A page as the file of this name, linked to the files of addresses, and to copies of what stands in `static`."""

    def target(path: str, part: str) -> str | None:
        there = files.get(path)
        if there is None:
            return None
        return beside(file, there) + (f"#{part}" if part else "")

    def loaded(found: re.Match[str]) -> str:
        return f'{found[1]}{beside(file, found[2].removeprefix(f"{static}/"))}"'

    return LOADED.sub(loaded, linked(text, target))


def beside(file: str, other: str) -> str:
    """The relative link from a file to another."""
    return "../" * file.count("/") + other


EVERYBODY: Final = Listing(unsettled=True)
Listed = TypeVar("Listed", ListedPage, EventListPage)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of each pool has pages."""

    players: int = 2**62  # the best
    events: int = 2**62  # the newest
    explained: int = 200  # the newest events, of which everybody's Why has a page


@dataclass(frozen=True, slots=True)
class PageFile:
    address: str
    file: str
    write: Callable[[], str]  # its HTML, with the addresses of the service


def public_pages(view: Store, pools: Sequence[str], extent: Extent) -> Iterator[PageFile]:
    """Every page of some pools of one moment, as whoever has no key sees them; lists before what they lead to."""
    every, card = [PoolPages(view, name, extent) for name in pools], partial(front.pool_card, view)
    yield PageFile("/", "index.html", lambda: written("/", front.home_page([*map(card, pools)])))
    found = [hit for each in every for hit in each.found]
    yield PageFile("/find", "find.html", lambda: written("/find", boards.find_page(view, found, None)))
    for each in every:
        yield from each.files()


def request_for(address: str) -> Request:
    """What a browser would send for a page, but for its answer becoming a file."""
    path, _, query = address.partition("?")
    scope = {"type": "http", "method": "GET", "scheme": "https", "server": ("localhost", 443), "headers": []}
    scope |= {"path": unquote(path), "raw_path": path.encode(), "query_string": query.encode()}
    return Request(scope | {"state": {"is_static": True}})


def written(address: str, page: Page) -> str:
    return page_text(request_for(address), page)


def pages_of(read: Callable[[str | None], Listed]) -> Iterator[tuple[str, Listed]]:
    """Every page of a list, each with its cursor; that of the first is empty."""
    cursor = ""
    while True:
        page = read(cursor or None)
        yield cursor, page
        if not page.next:
            return
        cursor = page.next


class PoolPages:
    def __init__(self, view: Store, name: str, extent: Extent) -> None:
        self.view, self.name, self.extent = view, name, extent
        self.visit, self.folder = Visit(name, Visitor()), file_stem(name)
        self.kept = KeptStakes()
        self.listing = boards.default_listing(view, view.pool(name))
        self.everybody = [*self._board_pages(EVERYBODY)]
        ranks = {row.player: row.rank for _, page in self._board_pages(Listing()) for row in page.rows}
        self.found = [
            FoundPlayer(name, row.player, row.rating, ranks.get(row.player), None, is_similar=False)
            for _, page in self.everybody
            for row in page.rows
        ]
        self.event_pages = [*pages_of(lambda cursor: view.event_list(name, before=cursor, top=boards.EVENT_ROWS))]

    def _board_pages(self, listing: Listing) -> Iterator[tuple[str, ListedPage]]:
        return pages_of(lambda cursor: self.view.listed_board(self.name, listing, after=cursor, top=boards.ROWS))

    def files(self) -> Iterator[PageFile]:
        listed = [*self._board_pages(self.listing)]
        yield from self._boards("index", listed)
        if listed[0][1].listed < len(self.found):
            yield from self._boards("all", self.everybody, all="1")
        yield self._routed("newest.html", partial(self._board, sort="move"), sort="move")
        for number, (cursor, _) in enumerate(self.event_pages[: -(-self.extent.events // boards.EVENT_ROWS)], start=1):
            route, query = partial(boards.events, cursor=cursor), {"cursor": cursor} if cursor else {}
            yield self._routed(numbered("events", number), route, "events", **query)
        yield self._page("rules.html", lambda: rules_page(self.view, self.name, 0), "system")
        yield self._routed("distribution.html", spread.distribution, "distribution")
        header = pool_header(self.view.pool(self.name))
        if header.kinds:
            yield self._routed("things.html", spread.things, "things")
        if header.has_hindsight:
            yield self._routed("best.html", spread.best_ever, "best")
        yield self._page("find.html", lambda: boards.find_page(self.view, self.found, header), "find")
        for each in self.found[: self.extent.players]:
            route = partial(self._player, each.player)
            yield self._routed(f"players/{file_stem(each.player)}.html", route, "players", each.player)
        events = [each for _, page in self.event_pages for each in page.events]
        for number, event in enumerate(events[: self.extent.events]):
            yield from self._event(event, is_explained=number < self.extent.explained)

    def _page(self, file: str, page: Callable[[], Page], *names: str, **query: str) -> PageFile:
        address = pool_address(self.name, *names, **query)
        return PageFile(address, f"{self.folder}/{file}", lambda: written(address, page()))

    def _routed(self, file: str, route: Callable[..., Response], *names: str, **query: str) -> PageFile:
        address = pool_address(self.name, *names, **query)

        def write() -> str:
            return bytes(route(request_for(address), self.visit, self.view).body).decode()

        return PageFile(address, f"{self.folder}/{file}", write)

    def _boards(self, stem: str, pages: Sequence[tuple[str, ListedPage]], **query: str) -> Iterator[PageFile]:
        for number, (cursor, _) in enumerate(pages[: -(-self.extent.players // boards.ROWS)], start=1):
            route = partial(self._board, cursor=cursor, everyone="all" in query)
            yield self._routed(numbered(stem, number), route, **query, **({"cursor": cursor} if cursor else {}))

    def _board(self, request: Request, visit: Visit, view: Store, **terms: Any) -> Response:
        shown: dict[str, Any] = {"cursor": "", "min_events": 0, "everyone": False} | terms
        return boards.leaderboard(request, visit, view, **shown)

    def _player(self, name: str, request: Request, visit: Visit, view: Store) -> Response:
        return players.player(request, name, visit, view, self.kept, "all")

    def _event(self, event: EventHeadline, *, is_explained: bool) -> Iterator[PageFile]:
        """The page of an event, those with the other rows of a long result, and everybody's Why."""
        event_id, stem = event.event_id, f"events/{file_stem(event.event_id)}"
        for first in range(1, max(event.entrants, 1) + 1, MOST_ROWS):
            file, query = (f"{stem}.{first}.html", {"from": str(first)}) if first > 1 else (f"{stem}.html", {})
            yield self._page(file, partial(self._event_page, event_id, None, first), "events", event_id, **query)
        for each in self.view.event(self.name, event_id).changes if is_explained else ():
            page = partial(self._event_page, event_id, each.player, None)
            yield self._page(f"{stem}/{file_stem(each.player)}.html", page, "events", event_id, each.player)

    def _event_page(self, event_id: str, player: str | None, first: int | None) -> Page:
        story = self.view.event_story(self.name, event_id, player)
        return events.story_page(self.view, self.visit, story, first, is_about_player=player is not None)


def numbered(stem: str, number: int) -> str:
    return f"{stem}-{number}.html" if number > 1 else f"{stem}.html"
