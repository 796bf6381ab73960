"""The log of a pool with its reasons, and what the pool says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from podium.errors import PodiumError
from podium.service.admin.admission import POOL_ADDRESS, Admin, Sender
from podium.service.admin.dry_run import SEE_OTHER, refusal
from podium.service.http.stores import CurrentStore
from podium.service.http.threads import Threads, run_in
from podium.service.web.addresses import PageRouter, address
from podium.service.web.rendering import Page, pool_frame, render
from podium.store.log.description import PoolDescription
from podium.store.log.log import AMEND, RESTORE, SUBMIT, VOID
from podium.store.read.models import LogRecord

PAGE_ENTRIES = 50
OF_EVENTS = (SUBMIT, AMEND, VOID, RESTORE)
DEEDS = {  # what was done, in words before whom or what it was done to
    "submit": "Took the result",
    "amend": "Corrected",
    "void": "Voided",
    "restore": "Restored",
    "register": "Registered the match",
    "merge": "Merged",
    "unmerge": "Took the merge back of",
    "rename": "Renamed a player, who is now",
    "pseudonymise": "Forgot the names of",
    "season": "Began the season",
    "configure": "Changed the system",
    "rerate": "Rated all anew by a new version",
    "close": "Closed the pool",
    "reopen": "Opened the pool again",
    "describe": "Changed what the pool says of itself",
    "blank": "Forgot the reason of the entry with the place",
}
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage(Page):
    """What was done to a pool, newest first."""

    template: ClassVar[str] = "log.html"

    title: str = "Log"
    token: str
    is_done: bool  # whether one comes from an act that was stored
    may_administer: bool
    records: tuple[LogRecord, ...]
    of_events: tuple[str, ...] = OF_EVENTS  # kinds whose subject is an event
    deeds: Mapping[str, str] = field(default_factory=lambda: DEEDS)
    next: int | None  # the number of the oldest entry, where there may be older ones


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPage(Page):
    """What a pool says of itself."""

    template: ClassVar[str] = "settings.html"

    title: str = "Settings"
    token: str
    says: PoolDescription
    system: str
    is_done: bool


@router.page("/log")
def log(
    request: Request,
    admission: Sender,
    store: CurrentStore,
    before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
    done: str = "",
) -> Response:
    """What was done to a pool, by whom and why, newest first."""
    records = store.newest_log(admission.pool, before=before, most=PAGE_ENTRIES)
    page = LogPage(
        pool=pool_frame(store.pool(admission.pool)),
        token=admission.session.token,
        is_done=bool(done) and before is None,
        may_administer=admission.key.may("admin", admission.pool),
        records=records,
        next=records[-1].seq if len(records) == PAGE_ENTRIES else None,
    )
    return render(request, page)


@router.post("/log/{seq}/blank")
async def blank_reason(request: Request, admission: Admin, seq: int, store: CurrentStore) -> Response:
    """Forget the reason of a log entry."""
    await admission.form(request)
    threads: Threads = request.app.state.threads
    try:
        await run_in(threads.writing, store.blank_reason, admission.pool, seq, actor=admission.key.name)
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Forget a reason")
    return RedirectResponse(address("admin", admission.pool, "log", done="yes"), SEE_OTHER)


@router.page("/settings")
def settings(request: Request, admission: Admin, store: CurrentStore, done: str = "") -> Response:
    """What a pool says of itself, to be changed."""
    pool = store.pool(admission.pool)
    page = SettingsPage(
        pool=pool_frame(pool),
        token=admission.session.token,
        says=pool.description,
        system=pool.system.name,
        is_done=bool(done),
    )
    return render(request, page)


@router.post("/settings")
async def describe(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Change what a pool says of itself, and who may read it."""
    form = await admission.form(request)
    threads: Threads = request.app.state.threads
    try:
        await run_in(
            threads.writing,
            store.describe_pool,
            admission.pool,
            actor=admission.key.name,
            title=form.text("title"),
            contact=form.text("contact"),
            player_word=form.text("player_word"),
            public=form.text("public") == "yes",
        )
    except PodiumError as error:
        back = address("admin", admission.pool, "settings")
        return await refusal(request, store, admission, error, "Settings", back)
    return RedirectResponse(address("admin", admission.pool, "settings", done="yes"), SEE_OTHER)
