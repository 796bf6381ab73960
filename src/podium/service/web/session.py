"""Signing in with a key, and out again."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from podium.service.visits.forms import read_form
from podium.service.visits.sessions import own_path, refuse_foreign, refuse_forged, set_cookie
from podium.service.visits.visitors import CurrentKeyGuard, CurrentSessions
from podium.service.web.addresses import PageRouter
from podium.service.web.rendering import Page, render
from podium.service.web.visiting import CurrentVisitor
from podium.store.keys import session_key

SEE_OTHER = 303
router = PageRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPage(Page):
    """Where a key is entered."""

    template: ClassVar[str] = "sign_in.html"

    title: str = "Sign in"
    next: str = "/"  # where to go on
    refusal: str = ""  # why the key that was sent opens nothing
    role: str = ""  # of the key that one has signed in with already
    opens: str = ""  # the only pool that it opens


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOutPage(Page):
    """Where a session is ended."""

    template: ClassVar[str] = "sign_out.html"

    title: str = "Sign out"
    token: str = ""  # empty where nobody has signed in


@router.page("/sign-in")
async def sign_in_page(request: Request, visitor: CurrentVisitor, next: str = "/") -> Response:  # noqa: A002  (as in the address)
    """The form that takes a key."""
    if visitor.session is None or visitor.key is None:
        return render(request, SignInPage(next=own_path(next)))
    page = SignInPage(next=own_path(next), role=visitor.key.role, opens=visitor.key.pool or "")
    return render(request, page)


@router.post("/sign-in", include_in_schema=False)
async def sign_in(request: Request, guard: CurrentKeyGuard, sessions: CurrentSessions) -> Response:
    """Open a session with a key, and go on to where one came from.

    Raises:
        AccessError: the form comes from another site.
    """
    refuse_foreign(request)
    form = await read_form(request)
    secret, next_path = form.text("key").strip(), own_path(form.text("next"))
    key = await guard.key(secret) if secret else None
    if key is None:
        refusal = await guard.refusal(request, 401, "this key is unknown, expired or revoked")
        return render(request, SignInPage(next=next_path, refusal=str(refusal)), status=refusal.status)
    await guard.count(key)
    response = RedirectResponse(next_path, SEE_OTHER)
    set_cookie(request, response, await sessions.cookie(session_key(key, secret)))
    return response


@router.page("/sign-out")
async def sign_out_page(request: Request, visitor: CurrentVisitor) -> Response:
    """The form that ends a session."""
    return render(request, SignOutPage(token="" if visitor.session is None else visitor.session.token))


@router.post("/sign-out", include_in_schema=False)
async def sign_out(request: Request, visitor: CurrentVisitor) -> Response:
    """Let the browser forget its session.

    Raises:
        AccessError: the form is none of this session.
    """
    if visitor.session is not None:
        refuse_forged(request, visitor.session, (await read_form(request)).text("token"))
    response = RedirectResponse("/", SEE_OTHER)
    set_cookie(request, response, "")
    return response
