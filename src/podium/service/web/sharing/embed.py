"""The leaders of a pool, as a page that other sites may show in a frame."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import Request, Response

from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter
from podium.service.web.boards.leaderboard import SPANS, default_span
from podium.service.web.rendering import Page, PoolFrame, pool_frame, render
from podium.service.web.visiting import VisiblePool
from podium.store.insights.board_models import ListedRow, Listing

LEADERS = 10
router = PageRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedPage(Page):
    """The leaders of a pool."""

    template: ClassVar[str] = "embed.html"
    pool: PoolFrame

    rows: tuple[ListedRow, ...]


@router.pool_page("/embed")
def embed(request: Request, visit: VisiblePool, store: CurrentStore) -> Response:
    """The leaders."""
    pool = store.pool(visit.pool)
    listing = Listing(active_within=SPANS[default_span(store, pool)])
    board, frame = store.listed_board(visit.pool, listing, top=LEADERS), pool_frame(pool)
    page = EmbedPage(title=frame.title, pool=frame, rows=board.rows)
    return render(request, page, frames="*")
