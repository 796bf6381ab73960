"""Who may administer: whoever has signed in with a key that has the role, and sends the forms of that session."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from podium.service.http.access import lacking, pool_in_path
from podium.service.visits.forms import MAX_FORM_BYTES, Form, read_form
from podium.service.visits.sessions import Session, refuse_forged
from podium.service.visits.visitors import find_visitor, get_key_guard
from podium.store.keys import ApiKey

POOL_ADDRESS = "/admin/{pool}"
SIGN_IN = "sign in with a key that may do this"


@dataclass(frozen=True, slots=True)
class Admission:
    """Whoever has signed in, and the pool of the address, which they may change as far as their key may."""

    key: ApiKey
    session: Session
    pool: str = ""  # empty where the address names none

    async def form(self, request: Request, max_bytes: int = MAX_FORM_BYTES) -> Form:
        """Return the form that a page of this session sends.

        Raises:
            AccessError: it is another's.
            TooLargeError: it is larger than so many bytes.
            RefusedError: it is no form.
        """
        form = await read_form(request, max_bytes)
        refuse_forged(request, self.session, form.text("token"))
        return form


def admitting(role: str) -> Callable[[Request], Awaitable[Admission]]:
    """Return a dependency: whoever has signed in with a key that has a role in the pool of the route."""

    async def check(request: Request) -> Admission:
        visitor, pool = await find_visitor(request), pool_in_path(request)
        guard = await get_key_guard(request)
        if visitor.key is None or visitor.session is None:
            raise await guard.refusal(request, 401, SIGN_IN)
        if pool is not None and not visitor.key.may(role, pool):
            raise await guard.refusal(request, 403, lacking(role, pool))
        return Admission(visitor.key, visitor.session, pool or "")

    return check


SignedIn = Annotated[Admission, Depends(admitting("read"))]
Sender = Annotated[Admission, Depends(admitting("write"))]
Admin = Annotated[Admission, Depends(admitting("admin"))]
