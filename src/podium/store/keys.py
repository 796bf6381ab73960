"""API keys (for one pool or all pools, stored only as digests), sessions, request budgets and webhooks."""

import base64
import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.log.database import acquire_pool_lock, read_transaction, write, write_transaction
from podium.log.log import newest_seq
from podium.log.pools import get_pool
from podium.log.schema import api_key, pools, signing_secret, webhook
from podium.log.statements import among, values
from podium.support.immutable import immutable

ROLES = ("read", "write", "admin")  # each role includes the previous ones
PREFIX = "podium_"
SECRET_PREFIX = "whsec_"  # noqa: S105  (of secrets of webhooks, as Standard Webhooks writes them)
NO_POOL = 0  # with a lock for this number, only one process creates the first admin's key
FINGERPRINT_CHARACTERS = 24
BACKDATING_LIMIT = "reach_s"  # name of the column
SPAN = re.compile(r"([0-9]{1,6})([dhm])")
SPAN_UNITS_S = {"d": 86_400.0, "h": 3_600.0, "m": 60.0}
HAS_EXPIRED = api_key.c.expires_at <= sa.bindparam("now")
IS_VALID = sa.and_(~api_key.c.revoked, sa.or_(api_key.c.expires_at.is_(None), ~HAS_EXPIRED))
SELECT_KEY = sa.select(api_key).where(api_key.c.digest == sa.bindparam("digest"), IS_VALID)
SELECT_NUMBERED = sa.select(api_key).where(api_key.c.id == sa.bindparam("number"), IS_VALID)
SELECT_VALID = sa.select(api_key.c.id).where(among(api_key.c.id), IS_VALID)
SELECT_EXPIRED = sa.select(api_key.c.id).where(~api_key.c.revoked, HAS_EXPIRED)
ADMINISTERS_ALL = sa.and_(api_key.c.role == "admin", api_key.c.pool.is_(None))
SELECT_ADMINS = sa.select(api_key.c.id).where(ADMINISTERS_ALL, IS_VALID)
SELECT_ADMINS_SINCE = sa.select(api_key.c.id).where(
    ADMINISTERS_ALL, sa.or_(IS_VALID, api_key.c.created_at >= sa.bindparam("since"))
)
UPDATE_EXPIRED = sa.update(api_key).where(~api_key.c.revoked, HAS_EXPIRED).values(
    revoked=True, revoked_at=api_key.c.expires_at
)  # fmt: skip
UPDATE_LAST_USE = (
    sa.update(api_key).where(api_key.c.id == sa.bindparam("number")).values(last_used_at=sa.bindparam("used"))
)


@immutable
class ApiKey:
    """An API key without its secret."""

    id: int
    name: str
    role: str  # one of ROLES
    pool: str | None  # None: every pool
    created_at: str  # ISO 8601, like the other times
    revoked_at: str | None
    per_second: float | None  # requests per second; None: no limit
    revoked: bool
    expires_at: str | None  # None: never
    last_used_at: str | None  # accurate to a minute; None: never used
    backdating_limit_s: float | None  # maximum age of an event that the key may change; None: no limit

    @classmethod
    def from_row(cls, row: "sa.Row[tuple[object, ...]]") -> Self:
        stored = {"backdating_limit_s": BACKDATING_LIMIT}
        return cls(*(getattr(row, stored.get(field.name, field.name)) for field in fields(cls)))

    @property
    def is_limited(self) -> bool:
        """True if the key has a limit that does not apply to keys created with it."""
        return self.backdating_limit_s is not None or self.per_second is not None or self.expires_at is not None

    def may(self, role: str, pool: str | None) -> bool:
        """Return True if the key has a role in a pool.

        If the pool is None, check the role for actions outside pools.
        """
        return ROLES.index(self.role) >= ROLES.index(role) and (self.pool is None or self.pool == pool)


class SessionKey(NamedTuple):
    """The details of a key, as stored in a browser session."""

    number: int
    fingerprint: str  # needed because a key's number may be reused after a pool and its keys are deleted


def create_key(
    engine: sa.Engine,
    name: str,
    role: str,
    pool: str | None = None,
    per_second: float | None = None,
    *,
    lifetime: timedelta | None = None,
    backdating_limit_s: float | None = None,
) -> str:
    """Create a key. Its secret is shown only once.

    Args:
        engine: the database.
        name: the name of the key.
        role: the role of the key.
        pool: the pool that the key can access. Default: all pools.
        per_second: maximum number of requests per second.
        lifetime: time until the key expires.
        backdating_limit_s: age in seconds of the oldest event that the key may submit or correct. Default: no limit.
    """
    if role not in ROLES:
        raise ParameterError(f"role {role!r} does not exist. Use one of {', '.join(ROLES)}.")
    if not name.isprintable():
        raise ParameterError("the key's name contains characters that cannot be printed")
    if per_second is not None and not 0.0 < per_second < math.inf:
        raise ParameterError(f"{per_second} requests per second is too low. Enter a rate greater than 0.")
    if lifetime is not None and lifetime <= timedelta():
        raise ParameterError("The key would expire at once. Give a longer lifetime, such as 30d.")
    if backdating_limit_s is not None and not 0.0 < backdating_limit_s < math.inf:
        raise ParameterError(
            f"A backdating limit of {backdating_limit_s} seconds is too low. Enter a time greater than 0."
        )
    limits = {"per_second": per_second, BACKDATING_LIMIT: backdating_limit_s}
    row = {"name": name, "role": role, "pool": pool, "created_at": timestamp()} | limits
    row["expires_at"] = None if lifetime is None else timestamp(lifetime)
    with write_transaction(engine) as connection:
        if pool is not None:
            names = sorted(connection.execute(sa.select(pools.c.name)).scalars())
            if pool not in names:
                existing = f"the pools are {', '.join(map(repr, names))}" if names else "there are no pools yet"
                raise UnknownError(f"there is no pool {pool!r}; {existing}")
        return insert_key(connection, row)


def has_admin(engine: sa.Engine) -> bool:
    with read_transaction(engine) as connection:
        return connection.execute(SELECT_ADMINS, {"now": timestamp()}).first() is not None


def create_first_admin(engine: sa.Engine, since: datetime) -> str | None:
    """Create a key that administers all pools.

    Return None if such a key exists, or if one has been created since a given time.
    """
    moment = since.isoformat(timespec="seconds")
    with write_transaction(engine) as connection:
        acquire_pool_lock(connection, NO_POOL)
        if connection.execute(SELECT_ADMINS_SINCE, {"now": timestamp(), "since": moment}).first() is not None:
            return None
        return insert_key(connection, {"name": "first admin", "role": "admin", "created_at": timestamp()})


def parse_backdating_limit(text: str) -> float:
    """Convert a duration such as 30d, 12h or 90m to seconds."""
    written = SPAN.fullmatch(text)
    if written is None:
        raise ParameterError(f"{text!r} is not a time span. Write it like 30d, 12h or 90m.")
    return float(written[1]) * SPAN_UNITS_S[written[2]]


def insert_key(connection: sa.Connection, row: dict[str, Any]) -> str:
    secret = PREFIX + secrets.token_urlsafe(32)
    connection.execute(sa.insert(api_key), row | {"digest": digest(secret)})
    return secret


def timestamp(after: timedelta = timedelta()) -> str:
    """Return the current time, or the time after a delay, in the table's ISO 8601 form."""
    return (datetime.now(UTC) + after).isoformat(timespec="seconds")


def list_keys(engine: sa.Engine) -> list[ApiKey]:
    with read_transaction(engine) as connection:
        return [ApiKey.from_row(row) for row in connection.execute(sa.select(api_key).order_by(api_key.c.id))]


def key_faults(engine: sa.Engine) -> list[str]:
    """Return a sentence about each key in the database that Podium did not write."""
    with read_transaction(engine) as connection:
        known = {None, *connection.execute(sa.select(pools.c.name)).scalars()}
        rows = connection.execute(sa.select(api_key).order_by(api_key.c.id)).all()
    return [
        f"key {row.id}: its role, pool or digest was altered. Revoke it with `podium key revoke {row.id}`."
        for row in rows
        if row.role not in ROLES or row.pool not in known or len(row.digest) != hashlib.sha256().digest_size
    ]


def revoke_key(engine: sa.Engine, number: int) -> None:
    with write_transaction(engine) as connection:
        get_valid_key(connection, number)
        end_key(connection, number, revoked=True, revoked_at=timestamp())


def rotate_key(engine: sa.Engine, number: int, grace: timedelta = timedelta()) -> str:
    """Replace a key. Return the new key, which has the same name, role, pool, rate limit and expiry."""
    with write_transaction(engine) as connection:
        row = get_valid_key(connection, number)
        if grace > timedelta():
            end_key(connection, number, expires_at=min(timestamp(grace), row.expires_at or timestamp(grace)))
        else:
            end_key(connection, number, revoked=True, revoked_at=timestamp())
        copied = ("name", "role", "pool", "per_second", BACKDATING_LIMIT, "expires_at")
        properties = {name: getattr(row, name) for name in copied}
        return insert_key(connection, properties | {"created_at": timestamp()})


def get_valid_key(connection: sa.Connection, number: int) -> "sa.Row[tuple[object, ...]]":
    row = connection.execute(SELECT_NUMBERED, {"number": number, "now": timestamp()}).first()
    if row is None:
        raise UnknownError(f"there is no key {number} in use")
    return row


def end_key(connection: sa.Connection, number: int, **properties: Any) -> None:
    connection.execute(sa.update(api_key).where(api_key.c.id == number).values(**properties))


def revoke_expired(engine: sa.Engine) -> int:
    """Revoke expired keys, so that setting the clock back cannot make them valid again. Return the number of keys."""
    now = {"now": timestamp()}
    with read_transaction(engine) as connection:
        if not connection.execute(SELECT_EXPIRED, now).first():
            return 0
    expired: int = write(engine, UPDATE_EXPIRED, now)
    return expired


def store_last_uses(engine: sa.Engine, last_uses: Mapping[int, str]) -> None:
    if last_uses:
        write(engine, UPDATE_LAST_USE, [{"number": key, "used": used} for key, used in last_uses.items()])


def valid_keys(engine: sa.Engine, numbers: Collection[int]) -> set[int]:
    with read_transaction(engine) as connection:
        valid = set(connection.execute(SELECT_VALID, {"among": values(numbers), "now": timestamp()}).scalars())
    if not valid.issuperset(numbers):
        revoke_expired(engine)
    return valid


def find_key(connection: sa.Connection, secret: str) -> ApiKey | None:
    """Find a valid key by its digest, so that the response time does not reveal how much of a secret is correct."""
    row = connection.execute(SELECT_KEY, {"digest": digest(secret), "now": timestamp()}).first()
    return None if row is None else ApiKey.from_row(row)


def session_key(key: ApiKey, secret: str) -> SessionKey:
    return SessionKey(key.id, fingerprint(digest(secret)))


def find_session_key(connection: sa.Connection, session_key: SessionKey) -> ApiKey | None:
    row = connection.execute(SELECT_NUMBERED, {"number": session_key.number, "now": timestamp()}).first()
    return None if row is None or fingerprint(row.digest) != session_key.fingerprint else ApiKey.from_row(row)


def fingerprint(key_digest: bytes) -> str:
    """Return a string that distinguishes a key from others with its number.

    It reveals neither the key nor its digest.
    """
    return hashlib.sha256(key_digest).hexdigest()[:FINGERPRINT_CHARACTERS]


def digest(secret: str) -> bytes:
    """Return the stored digest of a key. One round of SHA-256 is enough, because the secret is random and long."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


FORGOTTEN_AFTER_S = 3_600.0  # by then, a budget has long been full again
DRAW = sa.text("""
    INSERT INTO request_budget (owner, counted_at, requests, granted)
    SELECT :owner, extract(epoch FROM clock_timestamp()), :burst - drawn, drawn
    FROM (SELECT least(:most, floor(:burst)) AS drawn) AS new
    ON CONFLICT (owner) DO UPDATE SET (counted_at, requests, granted) = (
        SELECT excluded.counted_at, available - least(:most, floor(available)), least(:most, floor(available))
        FROM (SELECT least(
            :burst, request_budget.requests + (excluded.counted_at - request_budget.counted_at) * :per_second
        ) AS available) AS grown
    )
    RETURNING granted, requests
""")
FORGET = sa.text("DELETE FROM request_budget WHERE counted_at < extract(epoch FROM clock_timestamp()) - :seconds")


def draw(engine: sa.Engine, owner: str, per_second: float, burst: float, most: int) -> tuple[int, float]:
    """Draw requests from a budget in PostgreSQL, so that this process can spend them."""
    sent = {"owner": owner, "per_second": per_second, "burst": burst, "most": most}
    with write_transaction(engine) as connection:
        row = connection.execute(DRAW, sent).one()
    return row.granted, row.requests


def forget_budgets(engine: sa.Engine) -> None:
    """Delete the budgets from which no process has drawn for an hour."""
    if engine.dialect.name == "postgresql":
        write(engine, FORGET, {"seconds": FORGOTTEN_AFTER_S})


SECRET_BYTES = 32
ROW = 1  # the only row
SELECT_SECRET = sa.select(signing_secret.c.secret).where(signing_secret.c.id == ROW)
INSERT_SECRET = sa.text(
    "INSERT INTO signing_secret (id, secret, created_at) VALUES (:id, :secret, :created_at) ON CONFLICT (id) DO NOTHING"
)


def session_secret(engine: sa.Engine) -> bytes:
    """Return the secret for sessions. The first process that needs it creates it."""
    with read_transaction(engine) as connection:
        secret: bytes | None = connection.execute(SELECT_SECRET).scalar()
    if secret is not None:
        return secret
    with write_transaction(engine) as connection:
        connection.execute(INSERT_SECRET, new_row())
        return bytes(connection.execute(SELECT_SECRET).scalar_one())


def rotate_session_secret(engine: sa.Engine) -> None:
    """Replace the secret for sessions. This ends every session."""
    with write_transaction(engine) as connection:
        connection.execute(sa.delete(signing_secret))
        connection.execute(INSERT_SECRET, new_row())


def new_row() -> dict[str, object]:
    return {"id": ROW, "secret": secrets.token_bytes(SECRET_BYTES), "created_at": timestamp()}


SELECT_WEBHOOKS = (
    sa.select(webhook, pools.c.name.label("pool")).join(pools, pools.c.id == webhook.c.pool_id).order_by(webhook.c.id)
)


@immutable
class Webhook:
    """A receiver of everything that happens in a pool."""

    id: int
    pool: str
    url: str
    secret: str  # signs each delivery
    delivered_seq: int  # number of the newest log entry that the receiver has accepted
    failing_since: str | None  # ISO 8601: the first failure since the last success
    last_error: str
    stopped: bool  # True if deliveries have failed for too long, or if the receiver does not want any more
    private: bool  # True if its URL may point to a private address
    created_at: str  # ISO 8601
    under_way_since: str | None  # ISO 8601; set while a delivery is taking long
    format: str  # `JSON`, or one of `CHATS`
    leader: int | None  # number of the leader when the newest message to a chat was sent
    announced_until: int | None  # races that start before it were announced; microseconds since 1970

    @property
    def shown_url(self) -> str:
        """Return the URL.

        For a chat, return only its host and last four characters, because anyone who knows the URL can post there.
        """
        return self.url if self.format == JSON else f"{urlsplit(self.url).hostname}/…{self.url[-4:]}"


JSON, CHATS = "json", ("discord", "slack", "matrix", "text")
CHAT_HOSTS = {"discord.com": "discord", "discordapp.com": "discord", "hooks.slack.com": "slack"}


def sign(secret: str, message_id: str, timestamp_s: int, body: bytes) -> str:
    """Return the value of the `webhook-signature` header, following Standard Webhooks 1.0."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return f"v1,{base64.b64encode(hmac.digest(key, f'{message_id}.{timestamp_s}.'.encode() + body, 'sha256')).decode()}"


def create_webhook(engine: sa.Engine, pool_name: str, url: str, *, form: str = "", private: bool = False) -> Webhook:
    """Create a webhook that receives everything that happens in a pool from now on.

    Args:
        form: `JSON` for a program, or one of `CHATS` for a chat service. An empty string selects the chat service to
            which the URL belongs, or else JSON.
        private: True if the URL may point to a private address.

    Returns:
        The webhook, with the secret that signs its deliveries.

    Raises:
        ParameterError: the URL or the form is invalid.
        UnknownError: there is no such pool.
    """
    refuse_url(url)
    if form not in ("", JSON, *CHATS):
        raise ParameterError(f"{form!r} is not a webhook format. Use one of {', '.join((JSON, *CHATS))}.")
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    with write_transaction(engine) as connection:
        pool = get_pool(connection, pool_name)
        row = {"pool_id": pool.id, "url": url, "secret": secret, "created_at": timestamp(), "private": private}
        row["format"] = form or CHAT_HOSTS.get(urlsplit(url).hostname or "", JSON)
        row["delivered_seq"] = newest_seq(pool)
        (number,) = connection.execute(sa.insert(webhook).returning(webhook.c.id), row).scalars()
    return next(hook for hook in list_webhooks(engine) if hook.id == number)


def refuse_url(url: str) -> None:
    """Raise a ParameterError if a URL is not HTTP, or if it contains a password. Every list of webhooks shows URLs."""
    try:
        parts = urlsplit(url)
        is_fit = parts.scheme in ("http", "https") and bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:  # also invalid: a host name that cannot be encoded for a lookup
        is_fit = False
    if not is_fit or not url.isascii() or not url.isprintable() or " " in url:
        raise ParameterError(f"{url!r} is not an HTTP URL. Write it like https://example.org/podium")
    if "@" in parts.netloc:
        raise ParameterError(
            "The URL contains a user name or password. Remove it: the signature identifies the sender."
        )


def list_webhooks(engine: sa.Engine, pool: str | None = None) -> list[Webhook]:
    """List the webhooks of a pool. By default, list the webhooks of all pools."""
    names = Webhook.__dataclass_fields__
    with read_transaction(engine) as connection:
        rows = connection.execute(SELECT_WEBHOOKS)
        return [Webhook(**{name: getattr(row, name) for name in names}) for row in rows if pool in (None, row.pool)]


def find_webhook(engine: sa.Engine, pool: str, number: int) -> Webhook:
    for hook in list_webhooks(engine, pool):
        if hook.id == number:
            return hook
    raise UnknownError(f"pool {pool!r} has no webhook {number}")


def delete_webhook(engine: sa.Engine, number: int) -> None:
    require_one(write(engine, sa.delete(webhook).where(webhook.c.id == number)), number)


def resume_webhook(engine: sa.Engine, number: int) -> None:
    """Resume a stopped webhook from the entry at which it stopped."""
    state = {"stopped": False, "failing_since": None, "last_error": ""}
    require_one(write(engine, sa.update(webhook).where(webhook.c.id == number).values(**state)), number)


def require_one(changed: int, number: int) -> None:
    if not changed:
        raise UnknownError(f"there is no webhook {number}")


def store_progress(
    engine: sa.Engine, receiver: Webhook, delivered_seq: int, *, error: str = "", failing_since: str | None = None,
    stopped: bool = False, leader: int | None = None, announced_until: int | None = None,
) -> None:  # fmt: skip
    """Store the progress of deliveries to a receiver, and the latest error.

    If the webhook has been deleted, do nothing.

    Args:
        leader: the number of the leader when the latest message to a chat was sent.
        announced_until: time in microseconds since 1970. Races that start before it have been announced in the chat.
    """
    state = {"delivered_seq": delivered_seq, "last_error": error, "failing_since": failing_since, "stopped": stopped}
    chat = {"leader": leader, "announced_until": announced_until}
    # another webhook may have the same number by now
    is_receiver = webhook.c.id == receiver.id, webhook.c.secret == receiver.secret
    write(engine, sa.update(webhook).where(*is_receiver).values(under_way_since=None, **state, **chat))


def store_under_way(engine: sa.Engine, since: dict[int, str | None]) -> None:
    with write_transaction(engine) as connection:
        for number, moment in since.items():
            connection.execute(sa.update(webhook).where(webhook.c.id == number).values(under_way_since=moment))
