"""Access to the pages of a pool, and the pages for signing in and out."""

from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from podium.errors import UnknownError
from podium.log.players import is_reserved
from podium.service.http import visitors
from podium.service.http.errors import AccessError
from podium.service.http.keys import pool_in_path
from podium.service.web.rendering import SEE_OTHER, Page, PageRouter, PoolHeader, pool_address, pool_header, render
from podium.store import Store
from podium.store.keys import ApiKey, session_key
from podium.support.immutable import immutable

# address that works for every pool, and the only one if the pool's name is also a page's address
ANY_POOL = "/p/{pool}"


@immutable
class PoolRequest:
    """A request for one of a pool's pages."""

    request: Request
    store: Store
    pool: str  # empty for pages of the admin that belong to no pool

    @property
    def header(self) -> PoolHeader:
        return pool_header(self.store.pool(self.pool))

    def path(self, *names: str, **query: str) -> str:
        """Return the path of one of the pool's pages."""
        return pool_address(self.pool, *names, **query)


@immutable
class Visit(PoolRequest):
    """A visit to one of a pool's pages. A page that reads data sees a single version of the store."""

    visitor: visitors.Visitor

    def show(
        self,
        template: str,
        title: str,
        *,
        pool: PoolHeader | None = None,
        status: int = 200,
        version: str = "",
        frames: str = "'none'",
        **content: Any,
    ) -> Response:
        """Return one of the pool's pages, in the same way as `render`. The page reports later log entries."""
        newest = {"newest_entry": self.store.version(self.pool)}
        page = Page(template, title, pool=pool or self.header, **newest | content)
        return render(self.request, page, status=status, version=version, frames=frames)


async def check_visit(request: Request) -> Visit:
    """Admit visitors who may read the pool in the address. The answer is the same for missing and private pools."""
    pool = pool_in_path(request) or ""
    if is_reserved(pool) and not request.scope["route"].path.startswith(ANY_POOL):
        raise UnknownError("there is no such page")
    visitor = await visitors.find_visitor(request)
    if visitor.may("read", pool) or await visitors.is_public(request, pool):
        return Visit(request, request.app.state.store.hiding_ids(), pool, visitor)
    if visitor.key is None:
        raise AccessError(401, f"there is no public pool {pool!r} on this site. Sign in to read a private one")
    raise AccessError(403, f"your key does not open pool {pool!r}. Sign in with another key")


async def visible_pools(request: Request) -> frozenset[str]:
    """Return the names of the pools whose pages a visitor may see."""
    visitor = await visitors.find_visitor(request)
    if visitor.key is None:
        return await visitors.public_pools(request)
    if visitor.key.pool is not None:
        return await visitors.public_pools(request) | {visitor.key.pool}
    store: Store = request.app.state.store
    return frozenset(pool.name for pool in await run_in_threadpool(store.pools))


CurrentVisitor = Annotated[visitors.Visitor, Depends(visitors.find_visitor)]  # for pages that do not belong to a pool
VisiblePool = Annotated[Visit, Depends(check_visit)]
VisiblePools = Annotated[frozenset[str], Depends(visible_pools)]


router = PageRouter()


def sign_in_form(next_path: str, *, refusal: str = "", key: ApiKey | None = None) -> Page:
    """Return the form that asks for a key, with the session's key, or with the reason why a key does not work."""
    return Page("sign_in.html", "Sign in", next=next_path, refusal=refusal, key=key)


@router.page("/sign-in")
async def sign_in_page(request: Request, visitor: CurrentVisitor, next: str = "/") -> Response:  # noqa: A002  (as in the address)
    """Show the form that asks for a key."""
    key = None if visitor.session is None else visitor.key
    return render(request, sign_in_form(visitors.own_path(next), key=key))


@router.post("/sign-in", include_in_schema=False)
async def sign_in(request: Request, guard: visitors.CurrentKeyGuard, sessions: visitors.CurrentSessions) -> Response:
    """Open a session with a key, and continue to the page from which the user came.

    Raises:
        AccessError: The form came from another site.
    """
    visitors.refuse_foreign(request)
    form = await visitors.read_form(request)
    secret, next_path = form.stripped("key"), visitors.own_path(form.text("next"))
    key = await guard.key(secret) if secret else None
    if key is None:
        refusal = await guard.refusal(request, 401, "this key is unknown, expired or revoked")
        return render(request, sign_in_form(next_path, refusal=str(refusal)), status=refusal.status)
    await guard.count(key)
    response = RedirectResponse(next_path, SEE_OTHER)
    visitors.set_cookie(request, response, await sessions.cookie(session_key(key, secret)))
    return response


@router.page("/sign-out")
async def sign_out_page(request: Request, _visitor: CurrentVisitor) -> Response:
    """Show the form that ends a session."""
    return render(request, Page("sign_out.html", "Sign out"))


@router.post("/sign-out", include_in_schema=False)
async def sign_out(request: Request, visitor: CurrentVisitor) -> Response:
    """Delete a browser's session, if the browser has sent one of the session's forms."""
    if visitor.session is not None:
        visitors.refuse_forged(request, visitor.session, (await visitors.read_form(request)).text("token"))
    response = RedirectResponse("/", SEE_OTHER)
    visitors.set_cookie(request, response, "")
    return response
