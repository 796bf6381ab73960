"""API keys of the service: stored as digests, for one pool or all, to read, to write or to administer."""

import hashlib
import math
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.store.sql.database import read_transaction, write_transaction
from podium.store.sql.schema import api_key

ROLES = ("read", "write", "admin")  # each includes those before it
PREFIX = "podium_"
REACH = re.compile(r"([0-9]{1,6})([dhm])")
REACH_UNITS_S = {"d": 86_400.0, "h": 3_600.0, "m": 60.0}
IS_VALID = sa.or_(api_key.c.revoked_at.is_(None), api_key.c.revoked_at > sa.bindparam("now"))
SELECT_KEY = sa.select(api_key).where(api_key.c.digest == sa.bindparam("digest"), IS_VALID)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key, but for its secret."""

    id: int
    name: str
    role: str  # one of ROLES
    pool: str | None  # None: every pool
    created_at: str  # ISO 8601
    revoked_at: str | None  # ISO 8601; may be in the future
    per_second: float | None  # requests; None: no limit
    reach_s: float | None = None  # seconds back that events may have started; None: no limit

    @classmethod
    def from_row(cls, row: "sa.Row[tuple[object, ...]]") -> Self:
        """Read the key from its row."""
        return cls(row.id, row.name, row.role, row.pool, row.created_at, row.revoked_at, row.per_second, row.reach_s)

    def may(self, role: str, pool: str | None) -> bool:
        """Whether the key has a role in a pool; None stands for what belongs to no pool."""
        return ROLES.index(self.role) >= ROLES.index(role) and (self.pool is None or self.pool == pool)


def create_key(
    engine: sa.Engine,
    name: str,
    role: str,
    pool: str | None = None,
    per_second: float | None = None,
    reach_s: float | None = None,
) -> str:
    """Create a key; it is shown only once.

    Args:
        per_second: requests that it may send on average; no limit where None.
        reach_s: seconds back from now that the events may have started which it sends or corrects; no limit where None.

    Returns:
        The secret, which is not stored.

    Raises:
        ParameterError: the role is unknown, or the rate or the reach is not above 0.
    """
    if role not in ROLES:
        raise ParameterError(f"role is {role!r}; it must be one of {', '.join(ROLES)}")
    if per_second is not None and not 0.0 < per_second < math.inf:
        raise ParameterError(f"the rate is {per_second}; it must be above 0 requests a second")
    if reach_s is not None and not 0.0 < reach_s < math.inf:
        raise ParameterError(f"the reach is {reach_s} seconds; it must be above 0")
    limits = {"per_second": per_second, "reach_s": reach_s}
    row = {"name": name, "role": role, "pool": pool, "created_at": timestamp()} | limits
    with write_transaction(engine) as connection:
        return insert_key(connection, row)


def parse_reach(text: str) -> float:
    """Read a time like 30d, 12h or 90m, in seconds.

    Raises:
        ParameterError: the text is none.
    """
    written = REACH.fullmatch(text)
    if written is None:
        raise ParameterError(f"{text!r} is not a time; write it like 30d, 12h or 90m")
    return float(written[1]) * REACH_UNITS_S[written[2]]


def insert_key(connection: sa.Connection, row: dict[str, Any]) -> str:
    """Store a new key with these properties, and return its secret."""
    secret = PREFIX + secrets.token_urlsafe(32)
    connection.execute(sa.insert(api_key), row | {"digest": digest(secret)})
    return secret


def timestamp(after: timedelta = timedelta()) -> str:
    """The time now, or so long after, in ISO 8601 as the table has it."""
    return (datetime.now(UTC) + after).isoformat(timespec="seconds")


def list_keys(engine: sa.Engine) -> list[ApiKey]:
    """List every key, the revoked ones too, oldest first."""
    with read_transaction(engine) as connection:
        return [ApiKey.from_row(row) for row in connection.execute(sa.select(api_key).order_by(api_key.c.id))]


def revoke_key(engine: sa.Engine, number: int) -> None:
    """Revoke a key at once.

    Raises:
        UnknownError: there is no key of that number, or it is revoked.
    """
    with write_transaction(engine) as connection:
        revoke_from(connection, number, timestamp())


def rotate_key(engine: sa.Engine, number: int, grace: timedelta = timedelta()) -> str:
    """Replace a key by a new one of the same name, role, pool and rate limit, which is shown only once.

    Args:
        grace: how long the old key still works.

    Returns:
        The new key's secret, which is not stored.

    Raises:
        UnknownError: there is no key of that number, or it is revoked.
    """
    with write_transaction(engine) as connection:
        row = revoke_from(connection, number, timestamp(grace))
        properties = {name: getattr(row, name) for name in ("name", "role", "pool", "per_second", "reach_s")}
        return insert_key(connection, properties | {"created_at": timestamp()})


def revoke_from(connection: sa.Connection, number: int, revoked_at: str) -> "sa.Row[tuple[object, ...]]":
    """Revoke a key from a moment on, and return its row.

    Raises:
        UnknownError: there is no key of that number, or it is revoked.
    """
    row = connection.execute(sa.select(api_key).where(api_key.c.id == number, IS_VALID), {"now": timestamp()}).first()
    if row is None:
        raise UnknownError(f"there is no key {number} in use")
    connection.execute(sa.update(api_key).where(api_key.c.id == number).values(revoked_at=revoked_at))
    return row


def find_key(connection: sa.Connection, secret: str) -> ApiKey | None:
    """Find a valid key by its digest, so that no comparison gives away how much of a secret is right."""
    row = connection.execute(SELECT_KEY, {"digest": digest(secret), "now": timestamp()}).first()
    return None if row is None else ApiKey.from_row(row)


def digest(secret: str) -> bytes:
    """What is stored of a key: its secret is random and long, so that one round of SHA-256 does."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
