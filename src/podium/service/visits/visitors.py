"""Visitors: whoever sends a request, with the key that it has, if any."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from podium.service.http.access import NO_KEY, KeyGuard, lacking, pool_in_path
from podium.service.visits.sessions import Session, Sessions
from podium.store.keys import ApiKey
from podium.store.log.pools import Pool

if TYPE_CHECKING:
    from podium.service.visits.visibility import Visibility


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who sends a request: the bearer of a key, or anybody."""

    key: ApiKey | None = None
    session: Session | None = None  # where the key was signed in with

    def may(self, role: str, pool: str | None) -> bool:
        """Whether the visitor's key has a role in a pool; None stands for what belongs to no pool."""
        return self.key is not None and self.key.may(role, pool)

    def sees(self, pool: Pool) -> bool:
        """Whether the visitor may read a pool."""
        return pool.description.public or self.may("read", pool.name)


async def get_key_guard(request: Request) -> KeyGuard:
    """Return what looks keys up; this and the others are coroutines, so that no thread is needed for them."""
    guard: KeyGuard = request.app.state.key_guard
    return guard


async def get_sessions(request: Request) -> Sessions:
    """Return what writes and reads cookies."""
    sessions: Sessions = request.app.state.sessions
    return sessions


CurrentKeyGuard = Annotated[KeyGuard, Depends(get_key_guard)]
CurrentSessions = Annotated[Sessions, Depends(get_sessions)]


async def find_visitor(request: Request) -> Visitor:
    """Return who sends a request, by its key or else by its session; a cookie that opens nothing is nobody's.

    Raises:
        AccessError: the key in `Authorization` opens nothing, or its rate limit is exceeded.
    """
    known: Visitor | None = getattr(request.state, "visitor", None)
    if known is not None:
        return known
    guard = await get_key_guard(request)
    if "authorization" in request.headers:
        visitor = Visitor(await guard.bearer(request))
    else:
        session = await (await get_sessions(request)).session(request)
        key = None if session is None else await guard.session_key(session.key)
        visitor = Visitor() if key is None else Visitor(key, session)
    if visitor.key is not None:
        await guard.count(visitor.key)
    request.state.visitor = visitor
    request.state.key = visitor.key
    request.state.signed_in = "" if visitor.session is None or visitor.key is None else visitor.key.name
    return visitor


async def is_public(request: Request, pool: str) -> bool:
    """Whether everybody may read a pool."""
    visibility: Visibility = request.app.state.visibility
    return pool in await visibility.public_pools()


async def check_reader(request: Request) -> Visitor:
    """Let whoever may read the pool of the address pass; of what belongs to no pool, a key to all.

    Raises:
        AccessError: the visitor may not.
    """
    guard = await get_key_guard(request)
    visitor, pool = await find_visitor(request), pool_in_path(request)
    if visitor.may("read", pool) or (pool is not None and await is_public(request, pool)):
        return visitor
    if visitor.key is None:
        raise await guard.refusal(request, 401, NO_KEY)
    raise await guard.refusal(request, 403, lacking("read", pool))
