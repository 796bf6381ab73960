"""Finding players by name, in one pool or in all that the visitor may see."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from podium.service.http.names import MAX_SENT_CHARACTERS
from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter, address, pool_address
from podium.service.web.rendering import HEADERS, Page, PoolFrame, pool_frame, render
from podium.service.web.visiting import VisiblePool, VisiblePools
from podium.store import Store
from podium.store.insights.board_models import FoundPlayer

MOST: Final = 20  # players that are listed
Text = Annotated[str, Query(alias="q", max_length=MAX_SENT_CHARACTERS)]
ListOnly = Annotated[bool, Query(alias="list")]  # whether one hit is listed, too, instead of shown
router = PageRouter()


@dataclass(frozen=True, slots=True)
class Hit:
    """A player who was found."""

    found: FoundPlayer
    pool: PoolFrame
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindPage(Page):
    """The players whose names begin as the text does."""

    template: ClassVar[str] = "find.html"

    text: str
    hits: tuple[Hit, ...]
    similar: tuple[Hit, ...]  # where there are no hits
    is_cut: bool  # there may be more
    form_address: str


@router.page("/find")
def find_everywhere(
    request: Request, pools: VisiblePools, store: CurrentStore, text: Text = "", *, list_only: ListOnly = False
) -> Response:
    """Find a player in every pool that the visitor may see."""
    return answer(request, store, pools, text, None, list_only=list_only)


@router.pool_page("/find")
def find_in_pool(
    request: Request, visit: VisiblePool, store: CurrentStore, text: Text = "", *, list_only: ListOnly = False
) -> Response:
    """Find a player of a pool."""
    frame = pool_frame(store.pool(visit.pool))
    return answer(request, store, [visit.pool], text, frame, list_only=list_only)


def answer(
    request: Request,
    store: Store,
    pools: Iterable[str],
    text: str,
    pool: PoolFrame | None,
    *,
    list_only: bool,
    is_missing: bool = False,
) -> Response:
    """The page of the one player who was found, or a list; its status is 404 where there is none.

    Args:
        is_missing: whether the page was sought of a player who is called just that, and is none.
    """
    found = store.search(text, [*pools], most=MOST) if text.strip() else ()
    frames = {name: pool_frame(store.pool(name)) for name in {each.pool for each in found}}
    every = [Hit(each, frames[each.pool], pool_address(each.pool, "players", each.player)) for each in found]
    hits = tuple(each for each in every if not each.found.is_similar)
    if len(hits) == 1 and not list_only:
        return RedirectResponse(hits[0].address, 303, HEADERS)
    page = FindPage(
        title=f"Find {text}" if text else "Find a player",
        pool=pool,
        text=text,
        hits=hits,
        similar=tuple(each for each in every if each.found.is_similar),
        is_cut=len(hits) == MOST,
        form_address=pool_address(pool.name, "find") if pool else address("find"),
    )
    return render(request, page, status=404 if is_missing or (text.strip() and not hits) else 200)
