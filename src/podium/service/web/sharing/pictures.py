"""The picture of a change that other sites show beside a link to it, as PNG."""

from typing import Annotated, Literal

from fastapi import Depends, Query, Request, Response

from podium.errors import UnknownError
from podium.pages.drawing.share_picture import TALL, WIDE, Caption, share_picture
from podium.pages.why import why_view
from podium.reporting.plotting import with_renderer
from podium.service.http.paths import EventId, PlayerName
from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter, pool_address
from podium.service.web.rendering import origin_of, pool_frame
from podium.service.web.sharing.answers import shared_response
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.store.insights.version_cache import VersionCache

SIZES = {"wide": WIDE, "tall": TALL}
router = PageRouter()


def current_pictures(request: Request) -> VersionCache:
    """The pictures that were drawn lately."""
    pictures: VersionCache = request.app.state.pictures
    return pictures


CurrentPictures = Annotated[VersionCache, Depends(current_pictures)]


@router.pool_page("/events/{event_id}/{player}/picture.png")
def picture(
    request: Request,
    visit: VisiblePool,
    event_id: EventId,
    player: PlayerName,
    store: CurrentStore,
    pictures: CurrentPictures,
    size: Annotated[Literal["wide", "tall"], Query(description="For links, or for phones.")] = "wide",
) -> Response:
    """Why an event moved a player's rating, as a picture."""
    sent = visit.pool, event_id, player, size, origin_of(request)
    png = pictures.value(sent, store.version(visit.pool), lambda: draw(store, *sent))
    return shared_response(request, png, "image/png")


def draw(store: Store, pool_name: str, event_id: str, player: str, size: str, origin: str) -> bytes:
    """Draw the picture.

    Raises:
        UnknownError: there is no such event, or the player is not rated in it.
    """
    pool, explanation = pool_frame(store.pool(pool_name)), store.explain(pool_name, event_id, player)
    if not explanation.groups and explanation.rows.is_empty():
        raise UnknownError(f"there is no picture of a change without reasons: {player} in {event_id}")
    details = store.event(pool_name, event_id)
    address = origin.partition("://")[2] + pool_address(pool_name, "events", event_id, explanation.player)
    caption = Caption(pool.title, details.title or details.event_id, address)
    svg = share_picture(why_view(explanation), caption, SIZES[size])
    png: bytes = with_renderer("svg_to_png", str(svg), scale=1.0)
    return png
