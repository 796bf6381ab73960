"""A player's rating and rank for another site: a badge as SVG, or its parts as JSON."""

from fastapi import Request, Response
from pydantic_core import to_json

from podium.pages.drawing.share_picture import badge_svg
from podium.pages.numbers import deviation, rating
from podium.service.http.paths import PlayerName
from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter
from podium.service.web.boards.leaderboard import ranked_card
from podium.service.web.rendering import pool_frame
from podium.service.web.sharing.answers import shared_response
from podium.service.web.visiting import VisiblePool
from podium.store import Store

router = PageRouter()


@router.pool_page("/players/{player}/badge.svg")
def badge(request: Request, visit: VisiblePool, player: PlayerName, store: CurrentStore) -> Response:
    """The badge."""
    return shared_response(request, badge_svg(*badge_texts(store, visit.pool, player)).encode(), "image/svg+xml")


@router.pool_page("/players/{player}/badge.json")
def badge_parts(request: Request, visit: VisiblePool, player: PlayerName, store: CurrentStore) -> Response:
    """What the badge says, as makers of badges take it."""
    label, message = badge_texts(store, visit.pool, player)
    parts = {"schemaVersion": 1, "label": label, "message": message, "color": "4f46b8"}
    return shared_response(request, to_json(parts), "application/json")


def badge_texts(store: Store, pool_name: str, player: str) -> tuple[str, str]:
    """The two halves of a badge: the pool, and rating and rank.

    Raises:
        UnknownError: the player has no rating here.
    """
    found = store.pool(pool_name)
    pool, (card, _) = pool_frame(found), ranked_card(store, found, player)
    digits = pool.digits - 1
    margin = "" if card.deviation is None else f" {deviation(card.deviation, digits)}"
    rank = "settling" if card.rank is None else f"#{card.rank} of {card.listed}"
    return pool.title, f"{rating(card.rating, digits)}{margin} · {rank}"
