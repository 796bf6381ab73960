"""Keys to the service: made once, kept as digests, opening one pool or all, to read, to write or to do everything."""

import hashlib
import math
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.store.sql.database import only_reading
from podium.store.sql.schema import api_key

ROLES = ("read", "write", "admin")  # each may what those before it may
PREFIX = "podium_"
IN_USE = sa.or_(api_key.c.revoked_at.is_(None), api_key.c.revoked_at > sa.bindparam("now"))
FOUND = sa.select(api_key).where(api_key.c.digest == sa.bindparam("told"), IN_USE)


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key."""

    id: int
    name: str
    role: str
    pool: str | None
    created_at: str
    revoked_at: str | None
    per_second: float | None

    def may(self, role: str, pool: str | None) -> bool:
        """Whether it opens a pool for a role; None is what belongs to no pool."""
        return ROLES.index(self.role) >= ROLES.index(role) and (self.pool is None or self.pool == pool)


def create_key(
    engine: sa.Engine, name: str, role: str, pool: str | None = None, per_second: float | None = None
) -> str:
    """Make a key; it is told this once.

    Args:
        per_second: requests that it may send on average; as many as it likes where None.

    Raises:
        ParameterError: an unknown role, or a rate that is not above 0.
    """
    if role not in ROLES:
        raise ParameterError(f"role is {role!r}; it must be one of {', '.join(ROLES)}")
    if per_second is not None and not 0.0 < per_second < math.inf:
        raise ParameterError(f"the rate is {per_second}; it must be above 0 requests a second")
    row = {"name": name, "role": role, "pool": pool, "per_second": per_second, "created_at": moment()}
    with engine.begin() as connection:
        return added(connection, row)


def added(connection: sa.Connection, row: dict[str, Any]) -> str:
    """A new key with these properties."""
    key = PREFIX + secrets.token_urlsafe(32)
    connection.execute(sa.insert(api_key), row | {"digest": digest(key)})
    return key


def moment(after: timedelta = timedelta()) -> str:
    """The time, as it is kept."""
    return (datetime.now(UTC) + after).isoformat(timespec="seconds")


def list_keys(engine: sa.Engine) -> list[Key]:
    """Every key there was."""
    with only_reading(engine).connect() as connection:
        return [loaded(row) for row in connection.execute(sa.select(api_key).order_by(api_key.c.id))]


def revoke_key(engine: sa.Engine, number: int) -> None:
    """Let a key open nothing any more.

    Raises:
        UnknownError: there is none of that number that opens anything.
    """
    with engine.begin() as connection:
        end(connection, number, moment())


def rotate_key(engine: sa.Engine, number: int, grace: timedelta = timedelta()) -> str:
    """A new key in the place of another, which opens as before for a while yet; told this once.

    Raises:
        UnknownError: there is none of that number that opens anything.
    """
    with engine.begin() as connection:
        row = end(connection, number, moment(grace))
        kept = {name: getattr(row, name) for name in ("name", "role", "pool", "per_second")}
        return added(connection, kept | {"created_at": moment()})


def end(connection: sa.Connection, number: int, at: str) -> "sa.Row[tuple[object, ...]]":
    """Let a key open nothing from a moment on; its row."""
    row = connection.execute(sa.select(api_key).where(api_key.c.id == number, IN_USE), {"now": moment()}).first()
    if row is None:
        raise UnknownError(f"there is no key {number} in use")
    connection.execute(sa.update(api_key).where(api_key.c.id == number).values(revoked_at=at))
    return row


def found_key(connection: sa.Connection, key: str) -> Key | None:
    """The key, if it opens anything. Found by its digest, so that no comparison tells how much of it was right."""
    row = connection.execute(FOUND, {"told": digest(key), "now": moment()}).first()
    return None if row is None else loaded(row)


def loaded(row: "sa.Row[tuple[object, ...]]") -> Key:
    """From its row."""
    return Key(row.id, row.name, row.role, row.pool, row.created_at, row.revoked_at, row.per_second)


def digest(key: str) -> bytes:
    """What is kept of a key: it is random and long, so that one round of SHA-256 does."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
