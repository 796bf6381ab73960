"""Feeds of a pool's events and of a player's changes, in the format Atom (RFC 4287)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from fastapi import Request, Response

from podium.pages.numbers import change
from podium.service.http.paths import PlayerName
from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter, pool_address
from podium.service.web.rendering import PoolFrame, origin_of, pool_frame
from podium.service.web.sharing.answers import shared_response
from podium.service.web.visiting import VisiblePool
from podium.store.insights.board_models import EventHeadline
from podium.store.insights.player_models import FormLine

ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
ENTRIES = 30
NEVER = datetime(1970, 1, 1, tzinfo=UTC)  # when a feed without an entry was last updated
router = PageRouter()


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed."""

    path: str  # of the page that it leads to, which is what tells it from others, too
    title: str
    summary: str
    updated: datetime


@router.pool_page("/feed.xml")
def pool_feed(request: Request, visit: VisiblePool, store: CurrentStore) -> Response:
    """The newest events of a pool."""
    pool = pool_frame(store.pool(visit.pool))
    events = store.event_list(visit.pool, top=ENTRIES).events
    entries = [event_entry(pool, each) for each in events]
    return feed_response(request, pool.title, f"{pool.address}/feed.xml", pool.address, entries)


@router.pool_page("/players/{player}/feed.xml")
def player_feed(request: Request, visit: VisiblePool, player: PlayerName, store: CurrentStore) -> Response:
    """The newest changes of a player."""
    pool, name = pool_frame(store.pool(visit.pool)), store.rank(visit.pool, player).player
    rows = store.player_changes(visit.pool, name, top=ENTRIES).rows
    entries = [change_entry(pool, name, each) for each in rows if each.event_id is not None]
    address = pool_address(visit.pool, "players", name)
    return feed_response(request, f"{name}, {pool.title}", f"{address}/feed.xml", address, entries)


def event_entry(pool: PoolFrame, event: EventHeadline) -> Entry:
    """An event."""
    title = f"{event.title or event.event_id}: {event.headline}"
    summary = f"{event.entrants} entrants, {event.status}."
    return Entry(pool_address(pool.name, "events", event.event_id), title, summary, event.started_at)


def change_entry(pool: PoolFrame, player: str, line: FormLine) -> Entry:
    """A change of a player."""
    event_id = line.event_id or ""
    place = "" if line.rank is None or line.field is None else f"Place {line.rank} of {line.field}. "
    title = f"{player} {change(line.shown, pool.digits)} in {line.title or event_id}"
    path = pool_address(pool.name, "events", event_id, player)
    return Entry(path, title, f"{place}Every point has its reason.", line.started_at)


def feed_response(request: Request, title: str, path: str, page: str, entries: Sequence[Entry]) -> Response:
    """A feed as a response."""
    return shared_response(request, feed_text(origin_of(request), title, path, page, entries), MEDIA_TYPE)


def feed_text(origin: str, title: str, path: str, page: str, entries: Sequence[Entry]) -> bytes:
    """The XML of a feed.

    Args:
        origin: scheme and host of the service.
        title: what the feed is about.
        path: its own.
        page: the path of the page that it is about.
        entries: newest first.
    """
    ET.register_namespace("", ATOM)
    feed = ET.Element(f"{{{ATOM}}}feed")
    add(feed, "id", origin + path)
    add(feed, "title", title)
    add(feed, "updated", as_text(max((each.updated for each in entries), default=NEVER)))
    add(add(feed, "author"), "name", "Podium")
    add(feed, "link", rel="self", type=MEDIA_TYPE, href=origin + path)
    add(feed, "link", rel="alternate", type="text/html", href=origin + page)
    for each in entries:
        entry = add(feed, "entry")
        add(entry, "id", origin + each.path)
        add(entry, "title", each.title)
        add(entry, "updated", as_text(each.updated))
        add(entry, "link", rel="alternate", type="text/html", href=origin + each.path)
        add(entry, "summary", each.summary)
    text: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return text


def add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    """Add an element."""
    element = ET.SubElement(parent, f"{{{ATOM}}}{name}", attributes)
    element.text = text or None
    return element


def as_text(moment: datetime) -> str:
    """A moment as RFC 3339 has it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
