"""The append-only log, from which everything else about a pool is derived. It contains reasons and can be verified."""

import hashlib
import hmac
import json
import re
import secrets
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.log import chain
from podium.log.pools import PoolView
from podium.log.schema import log, reason, title
from podium.log.statements import among, insert, of_pool, run_prepared
from podium.results.names import NONCHARACTERS
from podium.support.words import counted

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
TITLE = re.compile(rb'(?:, ?"(?:title|url|details)": ?"(?:[^"\\]|\\.)*")+')  # in JSON; texts escape "
SEAL = b',"sealed":"'  # precedes the hash of a title in a body
SELECT_SEQUENCE = sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'log'")
DRAW_SEQUENCE = sa.text("SELECT nextval(pg_get_serial_sequence('log', 'seq')) FROM generate_series(1, :count)")


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
    head: chain.Head  # head of the log after them


def json_entry(subject: str, details: Any, actor: str, reason: str = "") -> LogEntry:
    """Return an entry with `details` as a JSON body. The body is empty if `details` is None."""
    body = b"" if details is None else json.dumps(details, ensure_ascii=False).encode()
    return LogEntry(subject, body, actor, reason=reason)


def keyed_digest(content: bytes, secret: bytes) -> bytes:
    """Return a digest that identifies equal content, but reveals nothing to anyone who lacks the secret."""
    digest = hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()
    return hmac.digest(secret, digest, "sha256")[:DIGEST_BYTES]  # RFC 2104


def append(pool: PoolView, kind: str, entries: Sequence[LogEntry]) -> Logged:
    """Append entries to the log and its chain. Numbers are assigned while the pool is locked."""
    head = chain.newest_head(pool)
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
            sealed = chain.reason_hash(salt, text)
            reasons.append((pool.id, seq, salt, text))
        found = TITLE.search(body.partition(b"\n")[0]) if own_kind in TITLED else None
        if found:
            salt, at = secrets.token_bytes(SALT_BYTES), found.start()
            titles.append((pool.id, seq, salt, found[0], at))
            body = body[:at] + seal(salt, found[0]) + body[found.end() :]
        # in the order of `HASHED`
        hashed = place, received_at, own_kind, actor, subject, body, match_id, present, sealed
        previous = chain.entry_hash(previous, hashed)
        logged = subject, body, digest, match_id, present, received_at, actor
        rows.append((seq, pool.id, own_kind, *logged, place, previous, sealed))  # in column order
    for table, written in ((log, rows), (reason, reasons), (title, titles)):
        insert(pool.connection, table, written)
    chain.announce(pool, seqs[-1])
    return Logged(seqs, chain.Head(head.place + len(rows), previous.hex()))


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
    return SEAL + chain.reason_hash(salt, text.decode()).hex().encode() + b'"'


AFTER_SEAL = title.c.at + len(seal(b"", b"")) + 1
TITLED_BODY = sa.func.substr(log.c.body, 1, title.c.at).op("||")(title.c.text)
whole_body = sa.func.coalesce(  # including its title
    sa.select(sa.cast(TITLED_BODY.op("||")(sa.func.substr(log.c.body, AFTER_SEAL)), sa.LargeBinary))
    .where(title.c.pool_id == log.c.pool_id, title.c.seq == log.c.seq)
    .correlate(log)
    .scalar_subquery(),
    log.c.body,
).label("body")
SELECT_BODIES = sa.select(log.c.seq, whole_body).where(among(log.c.seq))
SELECT_CONTENTS = SELECT_BODIES.add_columns(log.c.digest)
TITLE_OR_HEAD = (  # the title if it is stored next to the log, otherwise the start of the body
    sa.select(log.c.seq, sa.func.coalesce(title.c.text, sa.func.substr(log.c.body, 1, 16_384)))
    .outerjoin(title, sa.and_(title.c.pool_id == log.c.pool_id, title.c.seq == log.c.seq))
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


SELECT_HASHED_REASONS = sa.select(reason.c.seq, reason.c.salt, reason.c.text).where(of_pool(reason))
SELECT_NEWEST_CHAINED = (
    sa.select(log.c.seq, log.c.place, log.c.hash)
    .where(of_pool(log), log.c.place.is_not(None))
    .order_by(log.c.place.desc())
    .limit(1)
)
SELECT_ADDED = (
    sa.select(log.c.seq, log.c.kind, log.c.subject).where(of_pool(log), log.c.place.is_(None)).order_by(log.c.seq)
)
COUNT_REASONS_GIVEN = sa.select(sa.func.count()).where(of_pool(log), log.c.reason_hash.is_not(None))
COUNT_REASONS = sa.select(sa.func.count()).select_from(reason).where(of_pool(reason))
COUNT_BLANKED_TITLES = sa.select(sa.func.count()).where(of_pool(title), title.c.text == b"")


SELECT_REDACTIONS = sa.select(log.c.body).where(of_pool(log), log.c.kind == REDACT).order_by(log.c.seq)
Redactions = dict[int, bytes]  # by place: the hash of a redacted entry's present content; the entry's own hash stays


def redactions(pool: PoolView) -> Redactions:
    return {place: digest for body in pool.execute(SELECT_REDACTIONS).scalars() for place, digest in redacted(body)}


def redacted(body: bytes) -> list[tuple[int, bytes]]:
    """Return the places and hashes in the body of a redaction."""
    return [(int(place), bytes.fromhex(digest)) for place, digest in json.loads(body)["hashes"].items()]


class Checked(NamedTuple):
    """The most recently verified entry."""

    place: int
    seq: int
    hashes: tuple[bytes, ...]  # as stored, and as it should be if it differs


def chain_faults(pool: PoolView) -> Iterator[str]:
    reasons = {row.seq: row for row in pool.execute(SELECT_HASHED_REASONS)}
    changed = redactions(pool)
    last, removed, blanked = Checked(0, 0, (chain.GENESIS,)), list[tuple[int, str]](), set[str]()
    for row in chain.chained_entries(pool):
        seq, _, place, _, kind, _, subject, *_ = row  # by position, which is twice as fast as by name
        if place > last.place + 1:
            yield f"{missing(last.place + 1, place - 1)} removed before {named(row)}"
        elif place != last.place + 1:
            yield f"{named(row)} has the place of another entry"
        if seq <= last.seq:
            yield f"{named(row)} was moved: it comes before entry {last.place}, which has the number {last.seq}"
        last, fits = follow(last, row, changed)
        if not fits:
            yield f"{named(row)} was altered, or the entry before it: its hash does not match their content"
        if kind == BLANK:
            blanked.add(subject)
        texts = dict(text_faults(row, reasons.pop(seq, None)))
        removed += [(place, text) for text, is_there in texts.items() if not is_there]
        yield from (f"{text} was altered" for text, is_there in texts.items() if is_there)
    yield from (
        f"{text} was removed, but no entry of the log says that it was blanked"
        for place, text in removed
        if str(place) not in blanked
    )
    yield from (f"a reason is stored for log entry number {seq}, which has no reason" for seq in reasons)
    for row in pool.execute(SELECT_ADDED):
        yield f"a log entry ({describe(row)}) was added: it is not in the chain"


def text_faults(row: Any, given: Any) -> Iterator[tuple[str, bool]]:
    """Yield each reason or title that does not match its hash, together with False if the text was removed."""
    if given is None and row.reason_hash is not None:
        yield f"the reason of {named(row)}", False
    elif given is not None and row.reason_hash != chain.reason_hash(given.salt, given.text):
        yield f"the reason of {named(row)}", True
    if not row.title and SEAL in row.body:
        yield f"the title of {named(row)}", False
    elif row.title and not row.body.startswith(seal(row.title_salt, row.title), row.title_at):
        yield f"the title of {named(row)}", True


def named(row: Any) -> str:
    return f"log entry {row.place} ({describe(row)})"


def describe(row: Any) -> str:
    return f"number {row.seq}, {row.kind}{f' of {row.subject!r}' if row.subject else ''}"


def missing(first: int, last: int) -> str:
    return f"log entry {first} was" if first == last else f"log entries {first} to {last} were"


def follow(last: Checked, row: Any, changed: Redactions) -> tuple[Checked, bool]:
    """Verify the next entry. Return it, and True if its hash matches its columns and the previous entry.

    The hash of a redacted entry's columns is stored in the entry that records the redaction.
    """
    seq, stored_hash, *hashed = row[: len(chain.HASHED) + 2]
    place = hashed[0]
    if place != last.place + 1:
        return Checked(place, seq, (stored_hash or b"",)), True  # cannot be verified without the previous entry
    expected = [chain.entry_hash(previous, hashed) for previous in last.hashes]
    fits = stored_hash in expected or changed.get(place) in expected
    hashes = (stored_hash,) if fits else (stored_hash or b"", *expected)
    return Checked(place, seq, hashes), fits


def stored_head(pool: PoolView) -> chain.Head:
    row = pool.execute(SELECT_NEWEST_CHAINED).first()
    return chain.Head(0, chain.GENESIS.hex()) if row is None else chain.Head(row.place, (row.hash or b"").hex())


def head_fault(pool: PoolView, head: chain.Head) -> str:
    """Return the reason why a log never had this head, or an empty string if it did."""
    link = pool.execute(chain.SELECT_LINK, place=head.place).first()
    if link is None:
        newest = stored_head(pool)
        return f"{missing(newest.place + 1, head.place)} removed: the log ends before the head {head}"
    if link.hash is None or link.hash.hex() != head.hash:
        return f"log entry {head.place} does not match the head {head}: it was altered, or an earlier entry"
    return ""


def head_note(pool: PoolView) -> str:
    """Return a sentence with a log's head, and the number of blanked texts and redacted entries."""
    counts = COUNT_REASONS_GIVEN, COUNT_REASONS, COUNT_BLANKED_TITLES
    given, stored, titles = (pool.execute(query).scalar_one() for query in counts)
    found = (
        (given - stored, "reason", "blanked"),
        (titles, "title", "blanked"),
        (len(redactions(pool)), "entry", "redacted"),
    )
    notes = (f"; {counted(n, what)} {'is' if n == 1 else 'are'} {done}" for n, what, done in found if n)
    return f"{pool.name}: head {stored_head(pool)}{''.join(notes)}"


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
