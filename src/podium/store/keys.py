"""Keys to the service: made once, kept as digests, opening one pool or all, to read, to write or to do everything."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.store.database import only_reading
from podium.store.schema import api_key

ROLES = ("read", "write", "admin")  # each may what those before it may
PREFIX = "podium_"


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key."""

    id: int
    name: str
    role: str
    pool: str | None
    created_at: str
    revoked_at: str | None

    def may(self, role: str, pool: str | None) -> bool:
        """Whether it opens a pool for a role; None is what belongs to no pool."""
        return ROLES.index(self.role) >= ROLES.index(role) and (self.pool is None or self.pool == pool)


def create_key(engine: sa.Engine, name: str, role: str, pool: str | None = None) -> str:
    """Make a key; it is told this once.

    Raises:
        ParameterError: an unknown role.
    """
    if role not in ROLES:
        raise ParameterError(f"role is {role!r}; it must be one of {', '.join(ROLES)}")
    key = PREFIX + secrets.token_urlsafe(32)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    row = {"name": name, "digest": digest(key), "role": role, "pool": pool, "created_at": now}
    with engine.begin() as connection:
        connection.execute(sa.insert(api_key), row)
    return key


def list_keys(engine: sa.Engine) -> list[Key]:
    """Every key there was."""
    with only_reading(engine).connect() as connection:
        return [loaded(row) for row in connection.execute(sa.select(api_key).order_by(api_key.c.id))]


def revoke_key(engine: sa.Engine, number: int) -> None:
    """Let a key open nothing any more.

    Raises:
        UnknownError: there is none of that number that opens anything.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with engine.begin() as connection:
        here = sa.and_(api_key.c.id == number, api_key.c.revoked_at.is_(None))
        if connection.execute(sa.update(api_key).where(here).values(revoked_at=now)).rowcount == 0:
            raise UnknownError(f"there is no key {number} in use")


def found_key(connection: sa.Connection, key: str) -> Key | None:
    """The key, if it opens anything. Found by its digest, so that no comparison tells how much of it was right."""
    here = sa.and_(api_key.c.digest == digest(key), api_key.c.revoked_at.is_(None))
    row = connection.execute(sa.select(api_key).where(here)).first()
    return None if row is None else loaded(row)


def loaded(row: "sa.Row[tuple[object, ...]]") -> Key:
    """From its row."""
    return Key(row.id, row.name, row.role, row.pool, row.created_at, row.revoked_at)


def digest(key: str) -> bytes:
    """What is kept of a key: it is random and long, so that one round of SHA-256 does."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
