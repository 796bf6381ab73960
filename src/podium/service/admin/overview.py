"""Where an admin begins: the pools of the key, and what can be done to one."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import Request, Response
from starlette.routing import BaseRoute

from podium.service.admin import dry_run, records, sending
from podium.service.admin.intents import POOL_ADDRESS, SignedIn
from podium.service.http.threads import CurrentStore
from podium.service.web.rendering import Page, PageRouter, PoolHeader, pool_header, render
from podium.store.keys import ROLES

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


def admin_routes() -> list[BaseRoute]:
    """Every page of admins."""
    return [route for each in (router, sending.router, records.router, dry_run.router) for route in each.routes]
