"""Players that are merged or taken apart again, and seasons that begin: each with a dry run first."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import Request, Response

from podium.errors import ParameterError, PodiumError
from podium.ledger.leaderboard import instant
from podium.service.admin.admission import POOL_ADDRESS, Admin
from podium.service.admin.dry_run import look_at, refusal
from podium.service.admin.intents import Intent
from podium.service.http.stores import CurrentStore
from podium.service.visits.forms import Form
from podium.service.web.addresses import PageRouter
from podium.service.web.rendering import Page, pool_frame, render
from podium.store.read.models import Season

router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayersPage(Page):
    """Where players are merged, and merges undone."""

    template: ClassVar[str] = "merges.html"

    title: str = "Merge players"
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonsPage(Page):
    """The seasons, and the form that begins one."""

    template: ClassVar[str] = "seasons.html"

    title: str = "Seasons"
    token: str
    seasons: tuple[Season, ...]


@router.page("/players")
def players(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """The forms that merge players, and undo that."""
    page = PlayersPage(pool=pool_frame(store.pool(admission.pool)), token=admission.session.token)
    return render(request, page)


@router.post("/merge")
async def merge(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Show what merging two players would do; nothing is stored."""
    form = await admission.form(request)
    intent = Intent("merge", {"player": form.text("player").strip(), "into": form.text("into").strip()})
    return await look_at(request, store, admission, intent)


@router.post("/unmerge")
async def unmerge(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Show what undoing a merge would do; nothing is stored."""
    form = await admission.form(request)
    intent = Intent("unmerge", {"player": form.text("player").strip()})
    return await look_at(request, store, admission, intent)


@router.page("/seasons")
def seasons(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """The seasons, and the form that begins one."""
    page = SeasonsPage(
        pool=pool_frame(store.pool(admission.pool)),
        token=admission.session.token,
        seasons=store.seasons(admission.pool),
    )
    return render(request, page)


@router.post("/seasons")
async def begin_season(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Show what a new season would do; nothing is stored."""
    form = await admission.form(request)
    try:
        intent = season_in(form)
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Begin a season")
    return await look_at(request, store, admission, intent)


def season_in(form: Form) -> Intent:
    """The season that a form describes.

    Raises:
        ParameterError: it describes none.
    """
    try:
        keep = float(form.text("keep")) / 100.0
    except ValueError:
        raise ParameterError("how much of each lead stays is a number from 0 to 100") from None
    starts = instant(form.text("starts_at").strip(), whole_day=False)
    return Intent("season", {"name": form.text("name").strip(), "starts_at": starts.isoformat(), "keep": keep})
