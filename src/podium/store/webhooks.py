"""Webhooks: where a pool's log is sent, and how far each receiver has come."""

import base64
import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

import sqlalchemy as sa

from podium.client.webhooks import SECRET_PREFIX
from podium.errors import ParameterError, UnknownError
from podium.store.keys import timestamp
from podium.store.log.database import read_transaction, write_transaction
from podium.store.log.log import newest_seq
from podium.store.log.pools import get_pool
from podium.store.log.schema import pools, webhook

SECRET_BYTES = 32
SELECT_WEBHOOKS = (
    sa.select(webhook, pools.c.name.label("pool")).join(pools, pools.c.id == webhook.c.pool_id).order_by(webhook.c.id)
)


@dataclass(frozen=True, slots=True)
class Webhook:
    """A receiver of what happens in a pool."""

    id: int
    pool: str
    url: str
    secret: str  # signs each delivery
    delivered_seq: int  # of the newest entry of the log that the receiver has taken
    failing_since: str | None  # ISO 8601: the first failure since the last success
    last_error: str
    stopped: bool  # it failed for too long, or the receiver wants no more
    private: bool  # its URL may be of a private address
    created_at: str  # ISO 8601
    under_way_since: str | None  # ISO 8601: where a delivery takes long at this moment


def create_webhook(engine: sa.Engine, pool_name: str, url: str, *, private: bool = False) -> Webhook:
    refuse_url(url)
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    with write_transaction(engine) as connection:
        pool = get_pool(connection, pool_name)
        row = {"pool_id": pool.id, "url": url, "secret": secret, "created_at": timestamp(), "private": private}
        row["delivered_seq"] = newest_seq(connection, pool)
        (number,) = connection.execute(sa.insert(webhook).returning(webhook.c.id), row).scalars()
    return next(each for each in list_webhooks(engine) if each.id == number)


def refuse_url(url: str) -> None:
    """Refuse what is no URL of HTTP, or has a password that every list would show."""
    try:
        parts = urlsplit(url)
        is_fit = parts.scheme in ("http", "https") and bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:  # so is what no look-up of a name can encode
        is_fit = False
    if not is_fit or not url.isascii() or not url.isprintable() or " " in url:
        raise ParameterError(f"{url!r} is not a URL to send to; write it like https://example.org/podium")
    if "@" in parts.netloc:
        raise ParameterError("the URL has a user or password; the signature tells the receiver who sends")


def list_webhooks(engine: sa.Engine) -> list[Webhook]:
    names = Webhook.__dataclass_fields__
    with read_transaction(engine) as connection:
        rows = connection.execute(SELECT_WEBHOOKS)
        return [Webhook(**{name: getattr(row, name) for name in names}) for row in rows]


def delete_webhook(engine: sa.Engine, number: int) -> None:
    with write_transaction(engine) as connection:
        require_one(connection.execute(sa.delete(webhook).where(webhook.c.id == number)), number)


def resume_webhook(engine: sa.Engine, number: int) -> None:
    """Send to a webhook again that was stopped, from where it stopped."""
    state = {"stopped": False, "failing_since": None, "last_error": ""}
    with write_transaction(engine) as connection:
        require_one(connection.execute(sa.update(webhook).where(webhook.c.id == number).values(**state)), number)


def require_one(result: "sa.CursorResult[tuple[object, ...]]", number: int) -> None:
    if not result.rowcount:
        raise UnknownError(f"there is no webhook {number}")


def store_progress(
    engine: sa.Engine, number: int, delivered_seq: int, *, error: str = "", failing_since: str | None = None,
    stopped: bool = False,
) -> None:  # fmt: skip
    """Store how far a receiver has come, and what went wrong last; nothing where it was deleted meanwhile."""
    state = {"delivered_seq": delivered_seq, "last_error": error, "failing_since": failing_since, "stopped": stopped}
    with write_transaction(engine) as connection:
        connection.execute(sa.update(webhook).where(webhook.c.id == number).values(under_way_since=None, **state))


def store_under_way(engine: sa.Engine, since: dict[int, str | None]) -> None:
    with write_transaction(engine) as connection:
        for number, moment in since.items():
            connection.execute(sa.update(webhook).where(webhook.c.id == number).values(under_way_since=moment))
