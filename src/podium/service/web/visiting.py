"""Who may look at the pages of a pool."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from podium.errors import UnknownError
from podium.service.http.access import pool_in_path
from podium.service.http.problems import AccessError
from podium.service.visits.visitors import Visitor, find_visitor, is_public
from podium.store.log.reserved_names import is_reserved

if TYPE_CHECKING:
    from podium.service.visits.visibility import Visibility
    from podium.store import Store

ANY_POOL = "/p/{pool}"  # where every pool is, and one alone whose name is the address of a page


class SignInError(AccessError):
    """There is nothing that everybody may read at this address; who signs in may find something."""

    def __init__(self, pool: str) -> None:
        super().__init__(401, f"there is no public pool {pool!r} on this site; sign in to read one that is private")


@dataclass(frozen=True, slots=True)
class Visit:
    """A page of a pool, and who looks at it: they may, if there is a pool of that name."""

    pool: str
    visitor: Visitor


async def check_visit(request: Request) -> Visit:
    """Let whoever may read the pool of the address pass; a pool that there is not is answered as a private one is.

    Raises:
        SignInError: the pool is not public, and nobody has signed in.
        AccessError: the key that was signed in with does not open it.
        UnknownError: the address is one of a page that there is not.
    """
    pool = pool_in_path(request) or ""
    if is_reserved(pool) and not request.scope["route"].path.startswith(ANY_POOL):
        raise UnknownError("there is no such page")
    visitor = await find_visitor(request)
    if visitor.may("read", pool) or await is_public(request, pool):
        return Visit(pool, visitor)
    if visitor.key is None:
        raise SignInError(pool)
    raise AccessError(403, f"your key opens no pool {pool!r}; sign in with another")


async def visible_pools(request: Request) -> frozenset[str]:
    """Name the pools whose pages a visitor may see."""
    visitor = await find_visitor(request)
    visibility: Visibility = request.app.state.visibility
    if visitor.key is None:
        return await visibility.public_pools()
    if visitor.key.pool is not None:
        return await visibility.public_pools() | {visitor.key.pool}
    store: Store = request.app.state.store
    return frozenset(each.name for each in await run_in_threadpool(store.pools))


CurrentVisitor = Annotated[Visitor, Depends(find_visitor)]  # of pages that are no pool's
VisiblePool = Annotated[Visit, Depends(check_visit)]
VisiblePools = Annotated[frozenset[str], Depends(visible_pools)]
