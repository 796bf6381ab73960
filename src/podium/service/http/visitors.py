"""The senders of requests: browsers' forms, whose size is limited, sessions, and visitors."""

import asyncio
import hmac
import re
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from typing import Annotated, Generic, TypeVar, cast
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from podium.log.players import is_id
from podium.service.http.errors import AccessError, TooLargeError
from podium.service.http.json import RefusedError, check_text
from podium.service.http.keys import KEY_CACHE_S, KEY_SCHEME, NO_KEY, KeyGuard, lacking, pool_in_path
from podium.service.http.requests import Threads, from_state, run_in
from podium.store import Store
from podium.store.keys import ApiKey, SessionKey, session_secret
from podium.store.waiting import WaitingFile
from podium.support.immutable import immutable

MAX_FORM_BYTES = 100_000  # of a URL-encoded form
MAX_FIELDS = 20_000
NUMBER = re.compile("[0-9]{1,18}")
T = TypeVar("T")


@immutable
class Form:
    """A form, as it was sent."""

    fields: Mapping[str, tuple[str, ...]]
    file: WaitingFile | None = None

    def text(self, name: str) -> str:
        return next(iter(self.fields.get(name, ())), "")

    def stripped(self, name: str) -> str:
        """Return a text without spaces at its ends."""
        return self.text(name).strip()

    def number(self, name: str) -> int:
        """Return a whole number of at most 18 digits, or 0 if there is no such number."""
        text = self.text(name)
        return int(text) if NUMBER.fullmatch(text) else 0


async def read_bytes(request: Request, max_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise TooLargeError(f"the body is larger than {max_bytes:,} bytes. Send it in smaller parts.")
    return bytes(body)


async def read_form(request: Request, max_bytes: int = MAX_FORM_BYTES) -> Form:
    """Return the fields of a form, and its file if it has one. Only multipart forms may exceed 100 kB."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    has_parts = kind == "multipart/form-data"
    body = await read_bytes(request, max_bytes if has_parts else MAX_FORM_BYTES)
    try:
        if has_parts:
            limits = {"max_files": 1, "max_fields": MAX_FIELDS, "max_part_size": max_bytes}
            parser = MultiPartParser(request.headers, whole(body), **limits)
            sent = await run_in_threadpool(asyncio.run, parser.parse())  # parsing is slow if there are many fields
        else:
            text = body.decode("ascii")
            pairs = parse_qsl(text, keep_blank_values=True, errors="surrogateescape", max_num_fields=MAX_FIELDS)
            sent = FormData([*pairs])
    except (MultiPartException, ValueError):
        raise RefusedError("", "the form cannot be read. Open its page again, and send it from there.") from None
    texts = defaultdict[str, list[str]](list)
    file = None
    for name, value in sent.multi_items():
        if isinstance(value, UploadFile):
            file = WaitingFile(value.filename, await value.read()) if value.filename else None
            await value.close()
        else:
            texts[name].append(value)
            check_text(value, name)
    return Form({name: tuple(values) for name, values in texts.items()}, file)


async def whole(body: bytes) -> AsyncGenerator[bytes, None]:
    """Yield a body in one piece, because a parser that is interrupted within a file does not close it."""
    yield body


COOKIE = "podium_session"
SESSION_S = 7 * 86_400  # after this time, users must sign in again
NONCE_BYTES = 12
COOKIE_SALT, TOKEN_SALT = "podium session", "podium form"
MAX_COOKIE_CHARACTERS = 400


@immutable
class Session:
    """The content of a cookie: the key, and the token for forms."""

    key: SessionKey
    token: str  # every form in this session sends it


class CachedValue(Generic[T]):
    """A value from the store that is cached for a second, like keys."""

    def __init__(self, threads: Threads, read: Callable[[], T]) -> None:
        self._threads, self._read = threads, read
        self._read_at, self._value = float("-inf"), cast("T", None)

    async def value(self) -> T:
        now = time.monotonic()
        if now - self._read_at >= KEY_CACHE_S:
            self._value = await run_in(self._threads.keys, self._read)
            self._read_at = now
        return self._value


class Sessions:
    """Writes and reads cookies, using the secret that all processes share."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._secret = CachedValue(threads, partial(session_secret, store.engine))

    async def cookie(self, key: SessionKey) -> str:
        claims = [*key, secrets.token_urlsafe(NONCE_BYTES)]
        return str(URLSafeTimedSerializer(await self._secret.value(), COOKIE_SALT).dumps(claims))

    async def session(self, request: Request) -> Session | None:
        """Return the session of a request, or None if the cookie is missing, forged or too old."""
        cookie = request.cookies.get(COOKIE, "")
        if not cookie or len(cookie) > MAX_COOKIE_CHARACTERS:
            return None
        secret = await self._secret.value()
        try:
            number, fingerprint, nonce = URLSafeTimedSerializer(secret, COOKIE_SALT).loads(cookie, max_age=SESSION_S)
        except BadData:
            return None
        token = str(URLSafeSerializer(secret, TOKEN_SALT).dumps(nonce))
        return Session(SessionKey(number, fingerprint), token)


def set_cookie(request: Request, response: Response, value: str) -> None:
    """Store a session in the browser or, if the value is empty, delete the browser's session."""
    send_cookie(request, response, COOKIE, value, SESSION_S if value else 0, "/")


def send_cookie(request: Request, response: Response, name: str, value: str, seconds: int, path: str) -> None:
    """Store a value in a browser, hidden from scripts, for all pages below a path. With 0 seconds, delete it."""
    is_secure = request.url.scheme == "https"
    response.set_cookie(name, value, seconds, path=path, secure=is_secure, httponly=True, samesite="lax")


def refuse_foreign(request: Request) -> None:
    """Reject a form that came from another site's page."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:  # sent over HTTPS, and on loopback
        is_own = site in ("same-origin", "none")
    else:
        origin = request.headers.get("origin")
        is_own = origin is None or origin.partition("://")[2] == request.headers.get("host")
    if not is_own:
        raise AccessError(403, "this form was sent from a page of another site. Open it here, and send it again.")


def refuse_forged(request: Request, session: Session, token: str) -> None:
    """Reject a form that did not come from a page in this session."""
    refuse_foreign(request)
    if not hmac.compare_digest(token.encode(), session.token.encode()):
        raise AccessError(403, "this form belongs to another session. Open its page again, and send it from there.")


def own_path(text: str) -> str:
    """Return the path on this site at which to continue, or the first page if the text is not such a path."""
    is_own = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if is_own and text.isascii() else "/"


@immutable
class Visitor:
    """The sender of a request, with or without a key."""

    key: ApiKey | None = None
    session: Session | None = None  # if the key belongs to a signed-in user

    def may(self, role: str, pool: str | None) -> bool:
        """Return True if the visitor's key has a role in a pool. None means all pools."""
        return self.key is not None and self.key.may(role, pool)


CurrentKeyGuard = Annotated[KeyGuard, from_state("key_guard")]
CurrentSessions = Annotated[Sessions, from_state("sessions")]


async def find_visitor(request: Request) -> Visitor:
    """Return the sender of a request, found by key or session.

    A request with an invalid cookie is treated as anonymous.
    """
    guard: KeyGuard = request.app.state.key_guard
    if "authorization" in request.headers:
        visitor = Visitor(await guard.bearer(request))
    else:
        session: Session | None = await request.app.state.sessions.session(request)
        key = None if session is None else await guard.key(session.key)
        visitor = Visitor() if key is None else Visitor(key, session)
    if visitor.key is not None:
        await guard.count(visitor.key)
    request.state.key = visitor.key
    request.state.token = "" if visitor.session is None else visitor.session.token
    request.state.signed_in = "" if visitor.session is None or visitor.key is None else visitor.key.name
    return visitor


async def is_public(request: Request, pool: str) -> bool:
    return pool in await public_pools(request)


async def public_pools(request: Request) -> frozenset[str]:
    believed: CachedValue[frozenset[str]] = request.app.state.public_pools
    return await believed.value()


async def check_reader(request: Request) -> Visitor:
    """Admit visitors who may read the pool in the address. Routes without a pool require a key for all pools.

    Public data are open to everyone, including scripts on other sites.
    """
    guard: KeyGuard = request.app.state.key_guard
    pool = pool_in_path(request)
    names_an_id = any(map(is_id, (*request.path_params.values(), *request.query_params.values())))
    if request.method == "GET" and pool is not None and not names_an_id and await is_public(request, pool):
        request.state.is_anybodys = True
        return Visitor()
    visitor = await find_visitor(request)
    request.state.sees_ids = visitor.may("admin", pool)
    if visitor.may("read", pool) or (pool is not None and await is_public(request, pool)):
        return visitor
    if visitor.key is None:
        raise await guard.refusal(request, 401, NO_KEY)
    raise await guard.refusal(request, 403, lacking("read", pool))


check_reader.__dict__["security"] = [KEY_SCHEME, {}]
