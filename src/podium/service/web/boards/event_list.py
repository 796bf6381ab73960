"""The events of a pool, newest first, each with its headline."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from fastapi import Query, Request, Response

from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter, pool_address
from podium.service.web.rendering import Page, PoolFrame, pool_frame, render
from podium.service.web.visiting import VisiblePool
from podium.store.insights.board_models import EventHeadline

ROWS: Final = 50
router = PageRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsPage(Page):
    """A page of the list of events."""

    template: ClassVar[str] = "events.html"

    lines: tuple[tuple[PoolFrame, EventHeadline], ...]
    is_first: bool  # of the list's pages
    next_address: str  # empty where there is none


@router.pool_page("/events")
def events(
    request: Request, visit: VisiblePool, store: CurrentStore, cursor: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """The list: who won, and whom it moved most."""
    newest_entry = store.version(visit.pool)  # before the rest: what comes between is news
    frame = pool_frame(store.pool(visit.pool))
    found = store.event_list(visit.pool, before=cursor or None, top=ROWS)
    page = EventsPage(
        title="Events",
        description=f"Who won, and whom it moved most: the events of {frame.title}, newest first.",
        pool=frame,
        tab="events",
        newest_entry=newest_entry,
        lines=tuple((frame, each) for each in found.events),
        is_first=not cursor,
        next_address=pool_address(visit.pool, "events", cursor=found.next) if found.next else "",
    )
    return render(request, page)
