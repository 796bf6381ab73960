"""Content for other sites: feeds, badges, an embedded board, and pictures of changes."""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple

from fastapi import Query, Request, Response
from pydantic_core import to_json

from podium.errors import UnknownError
from podium.ledger.reasons.explaining import explain
from podium.log.players import names_of
from podium.pages.numbers import day_words, utc_text
from podium.pages.share_picture import (
    CARD_ROWS,
    TALL,
    WIDE,
    CardRow,
    badge_svg,
    card_words,
    draw_png,
    result_card,
    share_picture,
    standings_card,
)
from podium.pages.why import why_view
from podium.service.http.json import EventId, PlayerName
from podium.service.web.boards import default_listing, ranked_card
from podium.service.web.messages import headline_of, plain, title_of
from podium.service.web.rendering import (
    Page,
    PageRouter,
    PoolHeader,
    is_known,
    origin_of,
    page_text,
    pool_address,
    pool_header,
)
from podium.service.web.visiting import VisiblePool, Visit
from podium.store import Store
from podium.store.following import PoolReader
from podium.support.words import capitalised, counted, ordinal_number, shown_change
from podium.views.board import ESTABLISHED, Board
from podium.views.changes import Changes
from podium.views.events import rated_event
from podium.views.player_models import EventHeadline, FormLine

MAX_AGE_S = 300


def shared_response(request: Request, content: bytes, media_type: str) -> Response:
    """Return content for other sites.

    Shared caches may store it unless it is private, or contains this site's address.
    """
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    is_signed_in = "authorization" in request.headers or bool(getattr(request.state, "signed_in", ""))
    # the address may come from the request's Host header
    is_private = is_signed_in or origin_of(request).encode() in content
    headers = {
        "Cache-Control": f"{'private' if is_private else 'public'}, max-age={MAX_AGE_S}",
        "Content-Security-Policy": "default-src 'none'",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "ETag": tag,
        "Vary": "Authorization, Cookie, Host",
        "X-Content-Type-Options": "nosniff",
    }
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


def picture_response(visit: Visit, kind: tuple[Hashable, ...], draw: Callable[[], bytes]) -> Response:
    """Return a picture as PNG. It is cached for its kind and the pool's edition."""
    store, pool = visit.store, visit.pool
    return shared_response(visit.request, store.answers.value((pool, *kind), store.edition(pool), draw), "image/png")


router = PageRouter()


@router.pool_page("/players/{player}/badge.svg")
def badge(visit: VisiblePool, player: PlayerName) -> Response:
    return shared_response(
        visit.request, badge_svg(*badge_texts(visit.store, visit.pool, player)).encode(), "image/svg+xml"
    )


@router.pool_page("/players/{player}/badge.json")
def badge_parts(visit: VisiblePool, player: PlayerName) -> Response:
    """Return the texts of a badge, for use by badge services."""
    label, message = badge_texts(visit.store, visit.pool, player)
    parts = {"schemaVersion": 1, "label": label, "message": message, "color": "4f46b8"}
    return shared_response(visit.request, to_json(parts), "application/json")


def badge_texts(store: Store, pool_name: str, player: str) -> tuple[str, str]:
    found = store.pool(pool_name)
    pool, (card, _) = pool_header(found), ranked_card(store, found, player)
    note = pool.score_note(card)
    shown = f"{pool.score(card)} ({note})" if pool.score_digits is not None else f"{pool.score(card)} {note}".rstrip()
    rank = "provisional" if card.rank is None else f"#{card.rank} of {card.listed}"
    return pool.title, " · ".join(filter(None, [shown, card.tier, rank]))


LEADERS = 10


@router.pool_page("/embed")
def embed(visit: VisiblePool) -> Response:
    pool = visit.store.pool(visit.pool)
    listing = default_listing(visit.store, pool)
    board = visit.store.leaderboard(visit.pool, listing, top=LEADERS)
    return visit.show("embed.html", visit.header.title, rows=board.players, frames="*")


ENTRIES = 30
NEVER = datetime(1970, 1, 1, tzinfo=UTC)  # date of a feed that has no entries


class Entry(NamedTuple):
    path: str  # path of the linked page, which is also the entry's ID
    title: str
    summary: str
    updated: str


@router.pool_page("/feed.xml")
def pool_feed(visit: VisiblePool) -> Response:
    pool = visit.header
    events = visit.store.event_list(visit.pool, top=ENTRIES).events
    moments = visit.store.event_moments(visit.pool, [event.event_id for event in events])
    entries = [event_entry(pool, event, moments[event.event_id]) for event in events]
    return feed_response(visit.request, pool.title, f"{pool.address}/feed.xml", pool.address, entries)


@router.pool_page("/players/{player}/feed.xml")
def player_feed(visit: VisiblePool, player: PlayerName) -> Response:
    store = visit.store
    pool, name = visit.header, store.rank(visit.pool, player).player
    rows = store.player_changes(visit.pool, name, top=ENTRIES).rows
    moments = store.event_moments(visit.pool, [row.event_id for row in rows if row.event_id is not None])
    entries = [change_entry(pool, name, row, moments[row.event_id]) for row in rows if row.event_id in moments]
    address = visit.path("players", name)
    return feed_response(visit.request, f"{name}, {pool.title}", f"{address}/feed.xml", address, entries)


def event_entry(pool: PoolHeader, event: EventHeadline, updated: datetime) -> Entry:
    title = f"{event.title or event.event_id}: {event.headline}"
    summary = f"{number_words(pool, event)}{counted(event.entrants, 'entrant')}, {event.status}."
    return Entry(pool.path("events", event.event_id), title, summary, utc_text(updated))


def number_words(pool: PoolHeader, line: EventHeadline | FormLine) -> str:
    """Return the number of an event in a pool without dates, in which its time is only the time of receipt."""
    return f"{capitalised(day_words(line.when))}. " if pool.is_undated else ""


def change_entry(pool: PoolHeader, player: str, line: FormLine, updated: datetime) -> Entry:
    event_id = line.event_id or ""
    place = "" if line.rank is None or line.field is None else f"Place {line.rank} of {line.field}. "
    title = f"{player} {pool.change(line.shown)} in {line.title or event_id}"
    path = pool.path("events", event_id, player)
    return Entry(path, title, f"{number_words(pool, line)}{place}A reason for every point.", utc_text(updated))


def feed_response(request: Request, title: str, path: str, address: str, entries: Sequence[Entry]) -> Response:
    """Return a feed in the Atom format.

    `path` is the path of the feed, and `address` is the address of the page to which it belongs.
    """
    page = Page(
        "feed.xml",
        title,
        origin=origin_of(request),
        path=path,
        address=address,
        entries=entries,
        updated=max((entry.updated for entry in entries), default=utc_text(NEVER)),
    )
    return shared_response(request, page_text(request, page).encode(), "application/atom+xml")


Theme = Annotated[Literal["light", "dark"], Query(description="Dark text on a light background, or light on dark.")]


@router.pool_page("/card.png")
def standings_picture(visit: VisiblePool, theme: Theme = "light") -> Response:
    """Return a card with a pool's standings: the top players on the leaderboard."""
    store = visit.store
    address, is_dark = origin_of(visit.request).partition("://")[2], theme == "dark"
    pool = store.pool(visit.pool)
    header, listing = pool_header(pool), default_listing(store, pool)

    def draw_card() -> bytes:
        board = store.leaderboard(pool.name, listing, top=CARD_ROWS)
        events = store.event_list(pool.name, top=1).events
        rows = [
            CardRow(
                ordinal_number(row.rank) if row.rank else "", plain(row.player), row.newest_shown or 0.0,
                "" if row.newest_shown is None else header.change(row.newest_shown),
                header.score(row), shown_move(row.move), row.spark,
            )
            for row in board.players
        ]  # fmt: skip
        heading = f"{header.title} · {counted(board.listed, header.word)}"
        if board.newest is not None:
            heading += f" · {day_words(header.local(board.newest.when))}"
        link = f"{address}{header.address}"
        cause = "".join(f"{event.title or event.event_id}: {event.headline}" for event in events)
        return draw_png(standings_card(heading, rows, link, cause=cause, count=board.listed, dark=is_dark))

    return picture_response(visit, ("standings card", is_dark, address), draw_card)


def shown_move(places: int | None) -> str:
    """Return the number of ranks that a player has moved, as text, or an empty string if the rank is the same."""
    return f"{'▲' if places > 0 else '▼'}{abs(places)}" if places else ""


@router.pool_page("/cards/{event_id}.png")
def result_picture(
    visit: VisiblePool,
    event_id: EventId,
    theme: Theme = "light",
) -> Response:
    """Return the card with the result of an event."""
    address, is_dark = origin_of(visit.request).partition("://")[2], theme == "dark"

    def draw_card() -> bytes:
        return visit.store.read_pool(visit.pool, lambda pool: card_png(pool, event_id, address, dark=is_dark))

    return picture_response(visit, ("card", event_id, is_dark, address), draw_card)


def card_png(pool: PoolReader, event_id: str, host: str, *, dark: bool = False) -> bytes:
    """Draw the result of an event as a PNG of 1200 x 630 pixels, with places, changes, ratings and ranks.

    Args:
        host: Host in the result's address, without a scheme, or an empty string if unknown.

    Raises:
        UnknownError: The event does not exist or is not rated.
    """
    header, (event, replayed) = pool_header(pool), rated_event(pool, event_id)
    changes = Changes.by_event(pool.snapshot, event).of_players
    moved = changes.answers(names_of(pool, changes.numbers.tolist()))
    gains = {change.player: float(shown_change(change.rating_before, change.rating, header.digits)) for change in moved}
    best = max(gains, key=gains.__getitem__)
    shown = explain(pool.system, *replayed, best)
    winners, places = shown.winners, shown.places
    newest = pool.snapshot.events.newest_rated
    board = Board.of(pool, ESTABLISHED)
    # otherwise, later events have changed the ranks
    is_newest = newest is not None and newest.event_id == event.event_id
    ranked = board.ranked(board.listed(changes.numbers.tolist())) if is_newest else []
    ranks = {standing.player: ordinal_number(rank) for rank, standing in ranked}
    rows = [
        CardRow(
            ordinal_number(places[change.player]) if change.player in places else "\N{EN DASH}", plain(change.player),
            gains[change.player], header.change(gains[change.player]),
            header.rating(change.rating), ranks.get(change.player, ""),
        )
        for change in sorted(moved, key=lambda change: places.get(change.player, len(moved) + 1))
    ]  # fmt: skip
    title = title_of(pool, event)
    heading = heading_of(header, title, pool.moment(event.started_at))
    address = f"{host}{header.path('events', event.event_id)}" if host else ""
    headline, cause = card_words(f"{headline_of(winners) or title}.", shown)
    return draw_png(result_card(heading, headline, rows, address, cause=cause, dark=dark))


def heading_of(pool: PoolHeader, event: str, moment: datetime | None) -> str:
    """Return a pool, an event's title and, if it is known, its date."""
    day = "" if moment is None else day_words(pool.local(moment))
    return " · ".join(filter(None, [pool.title, event, day]))


SIZES = {"wide": WIDE, "tall": TALL}


@router.pool_page("/events/{event_id}/{player}/picture.png")
def picture(
    visit: VisiblePool,
    event_id: EventId,
    player: PlayerName,
    size: Annotated[Literal["wide", "tall"], Query(description="For links, or for phones.")] = "wide",
) -> Response:
    sent = visit.pool, event_id, player, size, origin_of(visit.request)
    return picture_response(visit, ("picture", *sent), lambda: draw(visit.store, *sent))


def draw(store: Store, pool_name: str, event_id: str, player: str, size: str, origin: str) -> bytes:
    pool, explanation = pool_header(store.pool(pool_name)), store.explain(pool_name, event_id, player)
    if not explanation.groups and explanation.rows.is_empty():
        raise UnknownError(f"the change of {player} in {event_id} has no reasons, so there is no picture")
    details = store.event(pool_name, event_id)
    address = origin.partition("://")[2] + pool_address(pool_name, "events", event_id, explanation.player)
    heading = heading_of(pool, details.title or details.event_id, details.started_at)
    return draw_png(share_picture(why_view(explanation), heading, address, SIZES[size]))
