"""Data that is stored for one hour: files with open questions, and changes whose dry run is not confirmed yet."""

import hashlib
import secrets
import zlib
from collections import Counter
from typing import NamedTuple

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.log.database import UnavailableError, read_transaction, write, write_transaction
from podium.log.schema import waiting
from podium.log.statements import now

WAITS_US = 3_600_000_000
MAX_BYTES = 128_000_000  # maximum size of all waiting data, compressed, for all keys together
LEAST_SHARES = 8  # a key may use at most one part in this many
LEAST_BYTES = 16_000  # size that each file counts as at least, so that a key has at most 1,000 files
ID_BYTES, KEY_BYTES = 16, 8
GONE = "This has expired, or belongs to another session or pool. Open its page again and send it from there."
FULL = "Too many files are waiting here. Send yours again in a few minutes."
IS_EXPIRED = waiting.c.expires_at <= sa.bindparam("now")
SELECT_FILE = sa.select(waiting.c.name, waiting.c.content).where(
    waiting.c.id == sa.bindparam("id"), waiting.c.session == sa.bindparam("session"), ~IS_EXPIRED
)
SELECT_SIZES = sa.select(waiting.c.id, waiting.c.session, sa.func.length(waiting.c.content)).order_by(
    waiting.c.expires_at.desc(), waiting.c.id
)


class WaitingFile(NamedTuple):
    """A file or a change, as its owner sent it."""

    name: str  # empty for pasted text
    content: bytes


class Owner(NamedTuple):
    """The owner of a file: a key, session, pool and purpose. Only forms with the same owner may read the file."""

    key: int
    session: str
    pool: str
    use: str

    def digest(self) -> bytes:
        """Return the key's number and a digest of all fields, as bytes."""
        own = hashlib.blake2b("\0".join(map(str, self)).encode(), digest_size=16)
        return self.key.to_bytes(KEY_BYTES) + own.digest()


def keep_waiting(engine: sa.Engine, owner: Owner, file: WaitingFile) -> str:
    """Store a file for an hour. If a key has too many files, remove the oldest ones.

    Returns:
        The file's ID, which cannot be guessed.

    Raises:
        UnavailableError: the space for waiting files is full.
    """
    forget_waiting(engine)
    number = secrets.token_urlsafe(ID_BYTES)
    row = {"id": number, "session": owner.digest(), "expires_at": now() + WAITS_US, "name": file.name}
    with write_transaction(engine) as connection:
        connection.execute(sa.insert(waiting), row | {"content": zlib.compress(file.content, 1)})
        sizes = [(upload_id, owned[:KEY_BYTES], size) for upload_id, owned, size in connection.execute(SELECT_SIZES)]
        share, held = MAX_BYTES / max(LEAST_SHARES, len({key for _, key, _ in sizes})), Counter[bytes]()
        for upload_id, key, size in sizes:
            held[key] += max(size, LEAST_BYTES)
            if held[key] > share:
                connection.execute(sa.delete(waiting).where(waiting.c.id == upload_id))
                if upload_id == number:
                    raise UnavailableError(FULL)
    return number


def waiting_file(engine: sa.Engine, owner: Owner, number: str) -> WaitingFile:
    """Return a file that its owner stored within the last hour."""
    forget_waiting(engine)
    with read_transaction(engine) as connection:
        row = connection.execute(SELECT_FILE, {"id": number, "session": owner.digest(), "now": now()}).first()
    if row is None:
        raise UnknownError(GONE)
    return WaitingFile(row.name, zlib.decompress(row.content))


def forget_waiting(engine: sa.Engine) -> None:
    """Delete files that have been waiting for more than an hour."""
    write(engine, sa.delete(waiting).where(IS_EXPIRED), {"now": now()})
