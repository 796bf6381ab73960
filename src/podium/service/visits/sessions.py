"""Sessions of browsers: a signed cookie that stands for a key, without the key being in it."""

import hmac
import secrets
import time
from dataclasses import dataclass

from fastapi import Request, Response
from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer

from podium.service.http.access import KEY_CACHE_S
from podium.service.http.problems import AccessError
from podium.service.http.threads import Threads, run_in
from podium.store import Store
from podium.store.keys import SessionKey
from podium.store.sessions import session_secret

COOKIE = "podium_session"
SESSION_S = 7 * 86_400  # after that one signs in again
NONCE_BYTES = 12
COOKIE_SALT, TOKEN_SALT = "podium session", "podium form"
MAX_COOKIE_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Session:
    """What a cookie says: whose key, and what its forms have to send."""

    key: SessionKey
    token: str  # that a form of this session has to send


class Sessions:
    """Writes cookies and reads them, with the secret that all processes share."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store, self._threads = store, threads
        self._secret, self._read_at = b"", float("-inf")

    async def _current_secret(self) -> bytes:
        """Return the secret; once it is rotated, the old one is believed for a second."""
        now = time.monotonic()
        if now - self._read_at >= KEY_CACHE_S:
            self._secret = await run_in(self._threads.keys, session_secret, self._store.engine)
            self._read_at = now
        return self._secret

    async def cookie(self, key: SessionKey) -> str:
        """Return the cookie of a new session."""
        claims = [*key, secrets.token_urlsafe(NONCE_BYTES)]
        return str(URLSafeTimedSerializer(await self._current_secret(), COOKIE_SALT).dumps(claims))

    async def session(self, request: Request) -> Session | None:
        """Return the session of a request; None where its cookie is missing, forged, or too old."""
        cookie = request.cookies.get(COOKIE, "")
        if not cookie or len(cookie) > MAX_COOKIE_CHARACTERS:
            return None
        secret = await self._current_secret()
        try:
            number, fingerprint, nonce = URLSafeTimedSerializer(secret, COOKIE_SALT).loads(cookie, max_age=SESSION_S)
        except BadData:
            return None
        token = str(URLSafeSerializer(secret, TOKEN_SALT).dumps(nonce))
        return Session(SessionKey(number, fingerprint), token)


def set_cookie(request: Request, response: Response, value: str) -> None:
    """Let the browser keep a session, or forget it where the value is empty."""
    response.set_cookie(
        COOKIE,
        value,
        max_age=SESSION_S if value else 0,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def refuse_foreign(request: Request) -> None:
    """Refuse a form that a page of another site sends.

    Raises:
        AccessError: it does.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:  # sent over HTTPS, and on loopback
        is_own = site in ("same-origin", "none")
    else:
        origin = request.headers.get("origin")
        is_own = origin is None or origin.partition("://")[2] == request.headers.get("host")
    if not is_own:
        raise AccessError(403, "this form was sent by a page of another site; open it here and send it again")


def refuse_forged(request: Request, session: Session, token: str) -> None:
    """Refuse a form that no page of this session sends.

    Args:
        token: what the form sent as its own.

    Raises:
        AccessError: it comes from another site, or without the session's token.
    """
    refuse_foreign(request)
    if not hmac.compare_digest(token.encode(), session.token.encode()):
        raise AccessError(403, "this form is of another session; open its page again and send it from there")


def own_path(text: str, default: str = "/") -> str:
    """Return the path on this site to go on to; the default where a text is none, or leads elsewhere."""
    is_own = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if is_own and text.isascii() else default
