"""The append-only log, from which everything else about a pool is derived, and its hash chain.

Each entry stores a hash of itself and of the previous entry. Only values that mean the same in every database are
hashed. These include the place in the chain instead of the entry's number. The pool's number and the digest are
excluded. Reasons and titles have separate salted hashes, so their texts can be blanked without breaking the chain.
"""

import functools
import hashlib
import json
import re
import secrets
import struct
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.log.database import CARRY_OVER, StoreError
from podium.log.pools import PoolView
from podium.log.schema import log, reason, title
from podium.log.statements import among, insert, of_pool, run_prepared
from podium.results.names import NONCHARACTERS
from podium.support.answers import answer

SUBMIT, AMEND, VOID, UNVOID = "submit", "amend", "void", "restore"  # events
MOVE = "move"  # events: new content, or the same content again, which moves behind the other events at its time
REGISTER = "register"  # a starting match, with its entrants
PLAN, CANCEL = "plan", "cancel"  # fixtures: its complete new data, and its cancellation
MERGE, UNMERGE = "merge", "unmerge"  # accounts, by number
RENAME, ANONYMIZE = "rename", "pseudonymise"  # players, by number
SEASON, CONFIGURE, RERATE = "season", "configure", "rerate"  # the pool; the last by a version with different arithmetic
CLOSE, REOPEN = "close", "reopen"  # the pool
DESCRIBE = "describe"  # the pool: its complete new description
START = "start"  # players, by number: the rating before the first event; without a body, a newcomer's
DETAIL = "detail"  # players, by number: all details of the player, which stand next to the log as titles do
BLANK = "blank"  # the reason or title of an entry, by its place in the chain
REDACT = "redact"  # redacted texts of earlier entries, with the hashes of their present content
KINDS = (
    SUBMIT, AMEND, VOID, UNVOID, REGISTER, MERGE, UNMERGE, RENAME, ANONYMIZE, SEASON, CONFIGURE, RERATE, CLOSE,
    REOPEN, DESCRIBE, BLANK, PLAN, CANCEL, MOVE, REDACT, START, DETAIL,
)  # fmt: skip
CURRENT_KINDS = {UNVOID: "unvoid", ANONYMIZE: "anonymize"}  # current names of kinds that are stored under a former name
WITH_CONTENT = (SUBMIT, AMEND, MOVE)  # kinds whose body is an event's content; the digest identifies repeats
DIGEST_BYTES = SALT_BYTES = 16
TITLED = (*WITH_CONTENT, PLAN, DETAIL)  # kinds whose body may have a title or details
TEXT = rb', ?"(?:title|url|details)": ?"(?:[^"\\]|\\.)*"'  # in JSON; texts escape "
TITLE = re.compile(TEXT + b"(?:" + TEXT + b")*")  # not "(...)+", because a search for a comma is eight times as fast
SEAL = b',"sealed":"'  # precedes the hash of a title in a body
SELECT_SEQUENCE = sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'log'")
DRAW_SEQUENCE = sa.text("SELECT nextval(pg_get_serial_sequence('log', 'seq')) FROM generate_series(1, :count)")
GENESIS = hashlib.sha256(b"the log of a Podium pool, chain 1").digest()  # comes before the first entry
HASHED = ("place", "received_at", "kind", "actor", "subject", "body", "match_id", "present", "reason_hash")
CHUNK_ENTRIES = 200  # number of entries read at once; a body can have thousands of lines
HAS_TITLE = sa.and_(title.c.pool_id == log.c.pool_id, title.c.seq == log.c.seq)
SELECT_NEWEST_LINK = sa.select(log.c.place, log.c.hash).where(of_pool(log)).order_by(log.c.seq.desc()).limit(1)
SELECT_ENTRIES = (
    sa.select(log.c.seq, log.c.hash, *(log.c[name] for name in HASHED))
    .add_columns(title.c.salt.label("title_salt"), title.c.text.label("title"), title.c.at.label("title_at"))
    .outerjoin(title, HAS_TITLE)
    .where(of_pool(log), log.c.place > sa.bindparam("after"))
    .order_by(log.c.place)
    .limit(CHUNK_ENTRIES)
)


@answer
class Head:
    """The newest entry in a pool's log. Its hash also covers all earlier entries.

    Attributes:
        place: Number of entries up to and including this one.
        hash: SHA-256 hash, in hexadecimal digits.
    """

    place: int  # 0 if there are no entries
    hash: str

    def __str__(self) -> str:
        """Return the head in the form that `podium verify --head` expects."""
        return f"{self.place}:{self.hash}"


PRESENT = struct.Struct(">BQ").pack  # a byte, and a length in 8 bytes


def entry_hash(previous: bytes, values: Iterable[Any]) -> bytes:
    """Return the hash of an entry, given its column values in the order of `HASHED`.

    Returns:
        SHA-256 of `previous` and every value. A value is a byte 0 for None, or else a byte 1, the length in 8
        big-endian bytes, and the bytes of the value (text in UTF-8, numbers in decimal digits).
    """
    place, received_at, kind, actor, *others = values
    own = packed([place]), packed_together(received_at, kind, actor), packed(others)
    return hashlib.sha256(previous + b"".join(own)).digest()


def packed(values: Iterable[Any]) -> bytes:
    """Return values as `entry_hash` hashes them."""
    parts = []
    for value in values:
        if value is None:
            parts.append(b"\0")
        else:
            content = value if isinstance(value, bytes) else str(value).encode()
            parts += (PRESENT(1, len(content)), content)
    return b"".join(parts)


@functools.lru_cache(maxsize=8)  # the entries of one request have the same ones
def packed_together(*values: str) -> bytes:
    """Return texts in the form in which they are hashed. The entries of a request share them."""
    return packed(values)


def reason_hash(salt: bytes, text: str) -> bytes:
    """Return the hash of a reason or a title. The salt prevents others from guessing the text."""
    return hashlib.sha256(salt + text.encode()).digest()


def newest_head(pool: PoolView) -> Head:
    rows = pool.run(SELECT_NEWEST_LINK)
    if not rows:
        return Head(0, GENESIS.hex())
    ((place, digest),) = rows
    if digest is None:
        raise StoreError(f"pool {pool.name!r} has a log without a chain, as in earlier versions; {CARRY_OVER}")
    return Head(place, digest.hex())


class ChainedEntry(NamedTuple):
    """An entry of the chain with its title, in the order of `SELECT_ENTRIES`."""

    seq: int
    hash: Any
    place: int  # 0 if there are no entries
    received_at: str
    kind: str
    actor: str
    subject: str
    body: bytes
    match_id: str | None
    present: int | None
    reason_hash: bytes | None
    title_salt: Any  # this and the following values are None if the entry has no title
    title: Any
    title_at: Any

    @property
    def hashed(self) -> tuple[Any, ...]:
        """The values of the columns in `HASHED`."""
        return self[2 : len(HASHED) + 2]


def chained_entries(pool: PoolView) -> Iterator[ChainedEntry]:
    """Yield the entries of a pool's log in the order of the chain, a few at a time."""
    after = -(2**62)
    while entries := [*map(ChainedEntry._make, pool.run(SELECT_ENTRIES, after=after))]:
        yield from entries
        after = entries[-1].place


CHANNEL = "podium_log"
NOTIFY = sa.text(f"SELECT pg_notify('{CHANNEL}', :payload)")


def announce(pool: PoolView, seq: int) -> None:
    """Announce to all processes, once this transaction is committed, that a pool's log now extends to an entry."""
    if pool.connection.dialect.name == "postgresql":
        pool.execute(NOTIFY, payload=f"{seq} {pool.name}")


def current_kind(kind: str) -> str:
    """Return the name that responses use for an entry's stored kind."""
    return CURRENT_KINDS.get(kind, kind)


class LogEntry(NamedTuple):
    """An entry to append. Appending it assigns its number, place, pool and time."""

    subject: str
    body: bytes
    actor: str
    digest: bytes = b""  # digest of an event's content
    match_id: str | None = None  # registered match of which the event is the result
    present: int | None = None  # number of the match's entrants who are in the result
    reason: str = ""  # the actor's reason
    kind: str = ""  # needed if entries of several kinds are appended together


class Logged(NamedTuple):
    seqs: list[int]  # numbers of the entries, ascending
    head: Head  # head of the log after them


def json_entry(subject: str, details: Any, actor: str, reason: str = "") -> LogEntry:
    """Return an entry with `details` as a JSON body. The body is empty if `details` is None."""
    body = b"" if details is None else json.dumps(details, ensure_ascii=False).encode()
    return LogEntry(subject, body, actor, reason=reason)


def keyed_digest(content: bytes, secret: bytes) -> bytes:
    """Return a digest that identifies equal content, but reveals nothing to anyone who lacks the secret."""
    inner, outer = keyed_hashes(secret)
    hashed, digest = inner.copy(), outer.copy()
    hashed.update(hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest())
    digest.update(hashed.digest())
    found: bytes = digest.digest()
    return found[:DIGEST_BYTES]


@functools.lru_cache(maxsize=1)  # copying them takes half the time of `hmac.digest`
def keyed_hashes(secret: bytes) -> list[Any]:
    """Return the inner and the outer SHA-256 of an HMAC (RFC 2104), begun with a secret of at most 64 bytes."""
    return [hashlib.sha256(bytes(byte ^ pad for byte in secret.ljust(64, b"\0"))) for pad in (0x36, 0x5C)]


def append(pool: PoolView, kind: str, entries: Sequence[LogEntry]) -> Logged:
    """Append entries to the log and its chain. Numbers are assigned while the pool is locked."""
    head = newest_head(pool)
    if not entries:
        return Logged([], head)
    received_at = datetime.now(UTC).isoformat(timespec="microseconds")  # for people; ratings do not read it
    seqs = draw_numbers(pool.connection, len(entries))
    previous, rows = bytes.fromhex(head.hash), list[tuple[Any, ...]]()
    reasons, titles = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
    for place, (seq, entry) in enumerate(zip(seqs, entries, strict=True), start=head.place + 1):
        subject, body, actor, digest, match_id, present, text, own_kind = entry
        own_kind = own_kind or kind
        sealed = None
        if text:
            salt = secrets.token_bytes(SALT_BYTES)
            sealed = reason_hash(salt, text)
            reasons.append((pool.id, seq, salt, text))
        found = TITLE.search(body.partition(b"\n")[0]) if own_kind in TITLED else None
        if found:
            salt, at = secrets.token_bytes(SALT_BYTES), found.start()
            titles.append((pool.id, seq, salt, found[0], at))
            body = body[:at] + seal(salt, found[0]) + body[found.end() :]
        # in the order of `HASHED`
        hashed = place, received_at, own_kind, actor, subject, body, match_id, present, sealed
        previous = entry_hash(previous, hashed)
        logged = subject, body, digest, match_id, present, received_at, actor
        rows.append((seq, pool.id, own_kind, *logged, place, previous, sealed))  # in column order
    for table, written in ((log, rows), (reason, reasons), (title, titles)):
        insert(pool.connection, table, written)
    announce(pool, seqs[-1])
    return Logged(seqs, Head(head.place + len(rows), previous.hex()))


def draw_numbers(connection: sa.Connection, count: int) -> list[int]:
    """Assign increasing numbers that no entry has ever had.

    All numbers are assigned at once, because assigning them one by one would take as long as rating.
    """
    if connection.dialect.name == "postgresql":
        return list(connection.execute(DRAW_SEQUENCE, {"count": count}).scalars())
    last = next((seq for (seq,) in run_prepared(connection, SELECT_SEQUENCE, {})), 0)  # the database is locked
    return list(range(last + 1, last + 1 + count))


def seal(salt: bytes, text: bytes) -> bytes:
    """Return the text that replaces the title in a body."""
    return SEAL + reason_hash(salt, text.decode()).hex().encode() + b'"'


AFTER_SEAL = title.c.at + len(seal(b"", b"")) + 1
TITLED_BODY = sa.func.substr(log.c.body, 1, title.c.at).op("||")(title.c.text)
whole_body = sa.func.coalesce(  # including its title
    sa.select(sa.cast(TITLED_BODY.op("||")(sa.func.substr(log.c.body, AFTER_SEAL)), sa.LargeBinary))
    .where(HAS_TITLE)
    .correlate(log)
    .scalar_subquery(),
    log.c.body,
).label("body")
SELECT_BODIES = sa.select(log.c.seq, whole_body).where(among(log.c.seq))
SELECT_CONTENTS = SELECT_BODIES.add_columns(log.c.digest)
TITLE_OR_HEAD = (  # the title if it is stored next to the log, otherwise the start of the body
    sa.select(log.c.seq, sa.func.coalesce(title.c.text, sa.func.substr(log.c.body, 1, 16_384)))
    .outerjoin(title, HAS_TITLE)
    .where(of_pool(log))
)
SELECT_TITLES = TITLE_OR_HEAD.where(among(log.c.seq))
SELECT_EVERY_TITLE = TITLE_OR_HEAD.where(sa.or_(*(log.c.kind == kind for kind in WITH_CONTENT)))
SELECT_NEWEST_SEQ = sa.select(sa.func.max(log.c.seq)).where(of_pool(log))


def newest_seq(pool: PoolView) -> int:
    """Return the number of the pool's newest log entry. Ratings change only if this number changes.

    Returns:
        The number, or 0 if the log is empty.
    """
    ((newest,),) = pool.run(SELECT_NEWEST_SEQ)
    return newest or 0


def bodies_of(pool: PoolView, seqs: Iterable[int]) -> dict[int, bytes]:
    return dict(pool.run(SELECT_BODIES, among=seqs))


def contents_of(pool: PoolView, seqs: Iterable[int]) -> dict[int, tuple[bytes, bytes]]:
    """Return the body and digest of event contents, by the number of the log entry."""
    return {seq: (body, digest) for seq, body, digest in pool.run(SELECT_CONTENTS, among=seqs)}


def titles_in(pool: PoolView, seqs: Iterable[int] | None = None) -> dict[int, dict[str, str]]:
    """Return the texts that are stored next to log entries, such as `title`, `url` and `details`, by entry number.

    Args:
        seqs: The numbers of the log entries. Default: all contents of the pool.
    """
    rows = pool.run(SELECT_EVERY_TITLE) if seqs is None else pool.run(SELECT_TITLES, among=seqs)
    found = ((seq, TITLE.search(text.partition(b"\n")[0])) for seq, text in rows)
    return {seq: json.loads(b"{" + match[0].lstrip(b", ") + b"}") for seq, match in found if match}


def entries_after(pool: PoolView, seq: int, limit: int) -> list[Any]:
    """Return up to `limit` entries with numbers above `seq`, oldest first and without their bodies."""
    select = (
        sa.select(log.c.seq, log.c.kind, log.c.subject, log.c.received_at, log.c.actor)
        .where(log.c.pool_id == pool.id, log.c.seq > seq)
        .order_by(log.c.seq)
        .limit(limit)
    )
    return list(pool.execute(select))


MAX_CHARACTERS = 500
UNSEEN = re.compile(  # controls, lone surrogates, separators of lines and paragraphs, noncharacters
    f"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029{NONCHARACTERS}]"
)
SELECT_REASONS = (
    sa.select(reason.c.seq, log.c.place, reason.c.text)
    .join(log, log.c.seq == reason.c.seq)
    .where(of_pool(reason))
    .order_by(reason.c.seq)
)
DELETE_REASON = sa.delete(reason).where(of_pool(reason), reason.c.seq == sa.bindparam("entry"))


def admit_reason(text: str) -> str:
    """Return the normalized reason, or an empty string for no reason."""
    normal = unicodedata.normalize("NFC", text.strip())
    if len(normal) > MAX_CHARACTERS:
        raise ParameterError(f"the reason has {len(normal)} characters. Use at most {MAX_CHARACTERS}.")
    unseen = UNSEEN.search(normal)
    if unseen is not None:
        raise ParameterError(
            f"the reason contains a non-text character (U+{ord(unseen[0]):04X}). Write it as one line."
        )
    return normal


def blank_reason(pool: PoolView, seq: int, *, actor: str = "") -> None:
    """Blank the reason for a correction, and record this in the log.

    Args:
        seq: Number of the log entry with the correction.

    Raises:
        UnknownError: The pool does not exist, or the entry has no reason.
    """
    place = next((row.place for row in pool.execute(SELECT_REASONS) if row.seq == seq), None)
    if place is None:
        raise UnknownError(f"log entry {seq} of pool {pool.name!r} has no reason to blank")
    blank_all(pool, [(seq, place)], actor)


def blank_all(pool: PoolView, entries: Sequence[tuple[int, int]], actor: str) -> None:
    if entries:
        append(pool, BLANK, [json_entry(str(place), None, actor) for _, place in entries])
        pool.connection.execute(DELETE_REASON, [{"pool": pool.id, "entry": seq} for seq, _ in entries])
