"""Every change of a player, page by page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import Query, Request, Response

from podium.service.http.paths import PlayerName
from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter, pool_address
from podium.service.web.players.rows import EventRow, event_rows
from podium.service.web.rendering import Page, pool_frame, render
from podium.service.web.visiting import VisiblePool
from podium.store import Store

ROWS = 50
router = PageRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesPage(Page):
    """A page of a player's changes, newest first."""

    template: ClassVar[str] = "changes.html"

    player: str
    address: str  # of the player's page
    rows: tuple[EventRow, ...]
    is_first: bool
    next_address: str  # empty where there are no more


@router.pool_page("/players/{player}/changes")
def changes(
    request: Request,
    player: PlayerName,
    visit: VisiblePool,
    store: CurrentStore,
    before: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """A page of every change of a player."""
    return render(request, changes_page(store, visit.pool, player, before))


def changes_page(store: Store, pool_name: str, name: str, before: str) -> ChangesPage:
    """What the page shows.

    Args:
        before: where it begins, as the address of a next page has it.

    Raises:
        UnknownError: the player has no rating in the pool.
    """
    newest_entry = store.version(pool_name)
    frame, present = pool_frame(store.pool(pool_name)), store.rank(pool_name, name).player
    page = store.player_changes(pool_name, present, before=before or None, top=ROWS)
    address = pool_address(pool_name, "players", present)
    return ChangesPage(
        title=f"All changes of {present}",
        description=f"Every event of {present} in {frame.title}, with the reason for each change.",
        pool=frame,
        tab="leaderboard",
        newest_entry=newest_entry,
        player=present,
        address=address,
        rows=event_rows(frame, present, page.rows),
        is_first=not before,
        next_address=pool_address(pool_name, "players", present, "changes", before=page.next) if page.next else "",
    )
