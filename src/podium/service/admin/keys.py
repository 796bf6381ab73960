"""The keys to a pool: created, and shown once; revoked."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from podium.errors import ParameterError, PodiumError, UnknownError
from podium.service.admin.admission import POOL_ADDRESS, Admin, Admission
from podium.service.admin.dry_run import SEE_OTHER, refusal
from podium.service.http.problems import AccessError
from podium.service.http.stores import CurrentStore
from podium.service.http.threads import Threads, run_in
from podium.service.visits.forms import Form
from podium.service.web.addresses import PageRouter, address
from podium.service.web.rendering import Page, pool_frame, render
from podium.store import Store
from podium.store.keys import ApiKey, create_key, list_keys, revoke_key

MAX_DAYS = 36_525.0
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysPage(Page):
    """The keys that open a pool alone."""

    template: ClassVar[str] = "keys.html"

    title: str = "Keys"
    token: str
    keys: tuple[ApiKey, ...]
    own: int  # the number of the key that one has signed in with
    is_limited: bool  # whether that key may create none
    secret: str = ""  # of a key that was created just now


@router.page("/keys")
def keys(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """The keys to a pool, and the form that creates one."""
    return render(request, keys_page(store, admission))


@router.post("/keys")
async def create(request: Request, admission: Admin, store: CurrentStore) -> Response:
    """Create a key to a pool, and show it, once."""
    form = await admission.form(request)
    threads: Threads = request.app.state.threads
    try:
        refuse_limited(admission.key)
        secret = await run_in(threads.writing, create_for_pool, store, admission.pool, form)
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Create a key", address("admin", admission.pool, "keys"))
    page = await run_in_threadpool(keys_page, store, admission, secret)
    answer = render(request, page)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@router.post("/keys/{number}/revoke")
async def revoke(request: Request, admission: Admin, number: int, store: CurrentStore) -> Response:
    """Revoke a key to this pool alone."""
    await admission.form(request)
    threads: Threads = request.app.state.threads
    try:
        await run_in(threads.writing, revoke_of_pool, store, admission.pool, number)
    except PodiumError as error:
        return await refusal(request, store, admission, error, "Revoke a key", address("admin", admission.pool, "keys"))
    return RedirectResponse(address("admin", admission.pool, "keys"), SEE_OTHER)


def keys_page(store: Store, admission: Admission, secret: str = "") -> KeysPage:
    """The keys that open a pool alone, the newest first.

    Raises:
        UnknownError: there is no such pool.
    """
    own = [each for each in list_keys(store.engine) if each.pool == admission.pool]
    return KeysPage(
        pool=pool_frame(store.pool(admission.pool)),
        token=admission.session.token,
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
    """Create the key that a form describes, for a pool alone; its secret.

    Raises:
        ParameterError: the form describes none.
    """
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
    """Revoke a key that opens this pool alone.

    Raises:
        UnknownError: there is no such key.
    """
    if not any(each.id == number and each.pool == pool for each in list_keys(store.engine)):
        raise UnknownError(f"pool {pool!r} has no key {number} of its own")
    revoke_key(store.engine, number)
