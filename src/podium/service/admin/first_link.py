"""The link that creates the first admin. It works only once, within 15 minutes, on this machine or over TLS."""

import secrets
from datetime import datetime
from ipaddress import ip_address

import sqlalchemy as sa
from fastapi import Request, Response
from itsdangerous import BadData, URLSafeTimedSerializer

from podium.service.admin.forms import FormsPage, Item, Section, once
from podium.service.http.errors import AccessError
from podium.service.http.requests import CurrentStore, CurrentThreads, run_in
from podium.service.http.visitors import NONCE_BYTES, CurrentKeyGuard, CurrentSessions, set_cookie
from podium.service.web.rendering import PageRouter
from podium.store.keys import create_first_admin, session_key, session_secret

VALID_S = 900
SALT = "podium first link"
USED = (
    "this link has already been used or is too old. If there is no admin, podium serve prints a new link when it"
    " starts."
)
NOT_PRIVATE = "this link works only on the server itself or over https, because others could read the key."
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
router = PageRouter()


def first_path(engine: sa.Engine) -> str:
    return f"/sign-in/{serializer(engine).dumps(secrets.token_urlsafe(NONCE_BYTES))}"


def serializer(engine: sa.Engine) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(session_secret(engine), SALT)


def is_loopback(host: str) -> bool:
    """Return True if a host name means this machine, when used on it."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_private(request: Request) -> bool:
    """Return True if nobody else can read the traffic between the browser and this machine."""
    if request.url.scheme == "https":
        return True
    is_forwarded = any(name in request.headers for name in FORWARDED) or is_from_bare_proxy(request)
    client = request.client.host if request.client else ""
    return not is_forwarded and is_loopback(client) and is_loopback(request.url.hostname or "")


def is_from_bare_proxy(request: Request) -> bool:
    """Return True for signs of a proxy that adds no headers, such as a bare `proxy_pass` in nginx.

    Such proxies use HTTP/1.0, unlike browsers. Browsers send Sec-Fetch-Site over https and to their own machine, but
    not to other sites over http.
    """
    is_browser = request.headers.get("user-agent", "").startswith("Mozilla/")
    return request.scope.get("http_version", "1.1") == "1.0" or (is_browser and "sec-fetch-site" not in request.headers)


def take(engine: sa.Engine, link: str) -> str | None:
    """Create the key that a link promises, or return None if the link no longer works."""
    try:
        _, made_at = serializer(engine).loads(link, max_age=VALID_S, return_timestamp=True)
    except BadData:
        return None
    assert isinstance(made_at, datetime)  # noqa: S101  (because of `return_timestamp`)
    return create_first_admin(engine, made_at)


@router.get("/sign-in/{link}", include_in_schema=False)
async def open_link(
    request: Request,
    link: str,
    store: CurrentStore,
    threads: CurrentThreads,
    guard: CurrentKeyGuard,
    sessions: CurrentSessions,
) -> Response:
    """Create the first admin's key, show it, and sign the admin in with it.

    Raises:
        AccessError: Others might read the traffic, the browser is only previewing the link, or the link no longer
            works.
    """
    if not is_private(request):
        raise await guard.refusal(request, 403, NOT_PRIVATE)
    if "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
        raise AccessError(403, "this link works once, when somebody opens it. Previews do not count.")
    secret = await run_in(threads.writing, take, store.engine, link)
    key = None if secret is None else await guard.key(secret)
    if secret is None or key is None:
        raise await guard.refusal(request, 403, USED)
    request.state.signed_in = key.name
    items = (Item("Administer", address="/admin", note="Create a pool, enter results, create keys for others."),)
    note = (
        "You are signed in for a week. Save the key with your passwords, so that you can sign in again from anywhere."
    )
    page = FormsPage(
        "You are the admin of this site",
        sections=(Section("Continue", notes=(note,), items=items),),
    ).with_secret(secret)
    response = once(request, page)
    set_cookie(request, response, await sessions.cookie(session_key(key, secret)))
    return response
