"""Files that wait until it is answered what their columns mean: for an hour at most, and for one session."""

import hashlib
import secrets
from typing import NamedTuple

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.store.log.database import read_transaction, write_transaction
from podium.store.log.schema import waiting
from podium.store.log.statements import now

WAITS_US = 3_600_000_000
MOST_BYTES = 32_000_000  # of a session's files: the oldest go first
ID_BYTES = 16
GONE = "the file does not wait here any more; send it again"
IS_EXPIRED = waiting.c.expires_at <= sa.bindparam("now")
SELECT_FILE = sa.select(waiting.c.name, waiting.c.content).where(
    waiting.c.id == sa.bindparam("id"), waiting.c.session == sa.bindparam("session"), ~IS_EXPIRED
)
SELECT_SIZES = (
    sa.select(waiting.c.id, sa.func.length(waiting.c.content))
    .where(waiting.c.session == sa.bindparam("session"))
    .order_by(waiting.c.expires_at.desc(), waiting.c.id)
)


class WaitingFile(NamedTuple):
    """What was sent."""

    name: str  # empty of a text that was pasted
    content: bytes


def keep_waiting(engine: sa.Engine, session: str, file: WaitingFile) -> str:
    """Keep a file for an hour.

    Args:
        session: what its forms send; nobody else reads the file.

    Returns:
        The file's id, which no one can guess.
    """
    forget_waiting(engine)
    number, owner = secrets.token_urlsafe(ID_BYTES), digest(session)
    row = {"id": number, "session": owner, "expires_at": now() + WAITS_US, **file._asdict()}
    with write_transaction(engine) as connection:
        connection.execute(sa.insert(waiting), row)
        total = 0
        for each, size in connection.execute(SELECT_SIZES, {"session": owner}).all():
            total += size
            if total > MOST_BYTES:
                connection.execute(sa.delete(waiting).where(waiting.c.id == each))
    return number


def waiting_file(engine: sa.Engine, session: str, number: str) -> WaitingFile:
    """Return a file that waits.

    Raises:
        UnknownError: it has waited for an hour, or is another session's, or there was none.
    """
    forget_waiting(engine)
    with read_transaction(engine) as connection:
        row = connection.execute(SELECT_FILE, {"id": number, "session": digest(session), "now": now()}).first()
    if row is None:
        raise UnknownError(GONE)
    return WaitingFile(*row)


def forget_waiting(engine: sa.Engine) -> None:
    """Delete the files that have waited for an hour."""
    with write_transaction(engine) as connection:
        connection.execute(sa.delete(waiting).where(IS_EXPIRED), {"now": now()})


def digest(session: str) -> bytes:
    """What is stored of a session in its stead."""
    return hashlib.blake2b(session.encode(), digest_size=16).digest()
