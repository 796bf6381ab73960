"""What an admin may do: the pools of the key, and a pool's log, settings, players, seasons and keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, ClassVar

from fastapi import Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from podium.errors import ParameterError, PodiumError, UnknownError
from podium.service.access.visitors import Form
from podium.service.admin.dry_run import SEE_OTHER, look_at, refusal
from podium.service.admin.intents import POOL_ADDRESS, Admin, Admission, Intent, Sender, SignedIn
from podium.service.http.errors import AccessError
from podium.service.http.threads import CurrentStore, run_in
from podium.service.web.rendering import Page, PageRouter, PoolHeader, address, pool_header, render
from podium.store import Store
from podium.store.keys import ROLES, ApiKey, create_key, list_keys, revoke_key
from podium.store.log.log import AMEND, RESTORE, SUBMIT, VOID
from podium.store.log.order import Order, read_when
from podium.store.log.pools import PoolDescription
from podium.store.reading.models import LogRecord, Season

PAGE_ENTRIES = 50
OF_EVENTS = (SUBMIT, AMEND, VOID, RESTORE)
DEEDS = {  # what was done, in words before whom or what it was done to
    "submit": "Took the result",
    "amend": "Corrected",
    "void": "Voided",
    "restore": "Restored",
    "register": "Registered the match",
    "plan": "Planned the race",
    "cancel": "Cancelled the race",
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
router = PageRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPage(Page):
    """The pools that a key opens."""

    template: ClassVar[str] = "admin.html"

    title: str = "Admin"
    role: str
    pools: tuple[PoolHeader, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolAdminPage(Page):
    """What a key may do to a pool."""

    template: ClassVar[str] = "pool_admin.html"

    title: str = "Admin"
    may_write: bool
    may_administer: bool
    is_closed: bool
    waiting: tuple[str, ...]  # matches without a result


@router.page("/admin")
def admin(request: Request, admission: SignedIn, store: CurrentStore) -> Response:
    """The pools that the key of the session opens."""
    pools = tuple(pool_header(each) for each in store.pools() if admission.key.may(ROLES[0], each.name))
    return render(request, AdminPage(role=admission.key.role, pools=pools))


@router.page(POOL_ADDRESS)
def pool_admin(request: Request, admission: SignedIn, store: CurrentStore) -> Response:
    """What the key of the session may do to a pool."""
    pool = store.pool(admission.pool)
    page = PoolAdminPage(
        pool=pool_header(pool),
        may_write=admission.key.may("write", pool.name),
        may_administer=admission.key.may("admin", pool.name),
        is_closed=pool.closed,
        waiting=tuple(store.waiting_matches(pool.name)),
    )
    return render(request, page)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage(Page):
    """What was done to a pool, newest first."""

    template: ClassVar[str] = "log.html"

    title: str = "Log"
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
    says: PoolDescription
    system: str
    is_done: bool


@router.page(POOL_ADDRESS + "/log")
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
        pool=pool_header(store.pool(admission.pool)),
        is_done=bool(done) and before is None,
        may_administer=admission.key.may("admin", admission.pool),
        records=records,
        next=records[-1].seq if len(records) == PAGE_ENTRIES else None,
    )
    return render(request, page)


@router.post(POOL_ADDRESS + "/log/{seq}/blank")
async def blank_reason(request: Request, admission: Admin, seq: int, store: CurrentStore) -> Response:
    """Forget the reason of a log entry."""
    await admission.form(request)
    try:
        await run_in(
            request.app.state.threads.writing, store.blank_reason, admission.pool, seq, actor=admission.key.name
        )
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Forget a reason")
    return RedirectResponse(address("admin", admission.pool, "log", done="yes"), SEE_OTHER)


@router.page(POOL_ADDRESS + "/settings")
def settings(request: Request, admission: Admin, store: CurrentStore, done: str = "") -> Response:
    """What a pool says of itself, to be changed."""
    pool = store.pool(admission.pool)
    page = SettingsPage(
        pool=pool_header(pool),
        says=pool.description,
        system=pool.system.name,
        is_done=bool(done),
    )
    return render(request, page)


@router.post(POOL_ADDRESS + "/settings")
async def describe(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Change what a pool says of itself, and who may read it."""
    form = await admission.form(request)
    try:
        await run_in(
            request.app.state.threads.writing,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayersPage(Page):
    """Where players are merged, and merges undone."""

    template: ClassVar[str] = "merges.html"

    title: str = "Merge players"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonsPage(Page):
    """The seasons, and the form that begins one."""

    template: ClassVar[str] = "seasons.html"

    title: str = "Seasons"
    seasons: tuple[Season, ...]


@router.page(POOL_ADDRESS + "/players")
def players(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """The forms that merge players, and undo that."""
    page = PlayersPage(pool=pool_header(store.pool(admission.pool)))
    return render(request, page)


@router.post(POOL_ADDRESS + "/merge")
async def merge(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Show what merging two players would do; nothing is stored."""
    form = await admission.form(request)
    intent = Intent("merge", {"player": form.text("player").strip(), "into": form.text("into").strip()})
    return await look_at(request, store, admission, intent)


@router.post(POOL_ADDRESS + "/unmerge")
async def unmerge(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Show what undoing a merge would do; nothing is stored."""
    form = await admission.form(request)
    intent = Intent("unmerge", {"player": form.text("player").strip()})
    return await look_at(request, store, admission, intent)


@router.page(POOL_ADDRESS + "/seasons")
def seasons(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """The seasons, and the form that begins one."""
    page = SeasonsPage(
        pool=pool_header(store.pool(admission.pool)),
        seasons=store.seasons(admission.pool),
    )
    return render(request, page)


@router.post(POOL_ADDRESS + "/seasons")
async def begin_season(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Show what a new season would do; nothing is stored."""
    form = await admission.form(request)
    try:
        intent = season_in(form, await run_in_threadpool(store.order, admission.pool))
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Begin a season")
    return await look_at(request, store, admission, intent)


def season_in(form: Form, order: Order | None) -> Intent:
    try:
        keep = float(form.text("keep")) / 100.0
    except ValueError:
        raise ParameterError("how much of each lead stays is a number from 0 to 100") from None
    starts = read_when(order, form.text("starts_at").strip())
    when = starts.isoformat() if isinstance(starts, datetime) else starts
    return Intent("season", {"name": form.text("name").strip(), "starts_at": when, "keep": keep})


MAX_DAYS = 36_525.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysPage(Page):
    """The keys that open a pool alone."""

    template: ClassVar[str] = "keys.html"

    title: str = "Keys"
    keys: tuple[ApiKey, ...]
    own: int  # the number of the key that one has signed in with
    is_limited: bool  # whether that key may create none
    secret: str = ""  # of a key that was created just now


@router.page(POOL_ADDRESS + "/keys")
def keys(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """The keys to a pool, and the form that creates one."""
    return render(request, keys_page(store, admission))


@router.post(POOL_ADDRESS + "/keys")
async def create(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Create a key to a pool, and show it, once."""
    form = await admission.form(request)
    try:
        refuse_limited(admission.key)
        secret = await run_in(request.app.state.threads.writing, create_for_pool, store, admission.pool, form)
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Create a key", address("admin", admission.pool, "keys"))
    page = await run_in_threadpool(keys_page, store, admission, secret)
    answer = render(request, page)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@router.post(POOL_ADDRESS + "/keys/{number}/revoke")
async def revoke(request: Request, admission: Admin, number: int, store: CurrentStore) -> Response:
    """Revoke a key to this pool alone."""
    await admission.form(request)
    try:
        await run_in(request.app.state.threads.writing, revoke_of_pool, store, admission.pool, number)
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Revoke a key", address("admin", admission.pool, "keys"))
    return RedirectResponse(address("admin", admission.pool, "keys"), SEE_OTHER)


def keys_page(store: Store, admission: Admission, secret: str = "") -> KeysPage:
    """The keys that open a pool alone, the newest first."""
    own = [each for each in list_keys(store.engine) if each.pool == admission.pool]
    return KeysPage(
        pool=pool_header(store.pool(admission.pool)),
        keys=tuple(reversed(own)),
        own=admission.key.id,
        is_limited=is_limited(admission.key),
        secret=secret,
    )


def is_limited(key: ApiKey) -> bool:
    """Whether a key has a limit that one which it created would not have."""
    return key.reach_s is not None or key.per_second is not None or key.expires_at is not None


def refuse_limited(key: ApiKey) -> None:
    """Refuse to create keys with a key that has a limit: they would outlive it, or reach further.

    Raises:
        AccessError: it has.
    """
    if is_limited(key):
        raise AccessError(403, "a key that expires, or has a limit, creates no others; sign in with one that has none")


def create_for_pool(store: Store, pool: str, form: Form) -> str:
    """Create the key that a form describes, for a pool alone; its secret."""
    name, days = form.text("name").strip(), form.text("days").strip()
    if not name:
        raise ParameterError("the key needs a name: whose it is")
    try:
        lifetime = None if not days else timedelta(days=float(days))
    except (ValueError, OverflowError):
        raise ParameterError("the days until it expires are a number") from None
    if lifetime is not None and lifetime > timedelta(days=MAX_DAYS):
        raise ParameterError(f"a key expires after {MAX_DAYS:,.0f} days at most")
    return create_key(store.engine, name, form.text("role"), pool, lifetime=lifetime)


def revoke_of_pool(store: Store, pool: str, number: int) -> None:
    """Revoke a key that opens this pool alone."""
    if not any(each.id == number and each.pool == pool for each in list_keys(store.engine)):
        raise UnknownError(f"pool {pool!r} has no key {number} of its own")
    revoke_key(store.engine, number)
