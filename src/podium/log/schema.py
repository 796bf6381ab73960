"""The tables. States are exact doubles, little-endian, one after the other; entries are lines of JSON.

Names stand in `player`, `thing` and `alias` alone: all else knows a player by a number within the pool, so that one can
be renamed or forgotten. So it does the things that entrants share, in the columns of players, from `FIRST_THING` on.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.schema import SchemaItem

from podium.log.statements import Number, Prefixed, metadata


def table(name: str, *columns: SchemaItem, **options: Any) -> Table:
    return Table(name, metadata, *columns, **options)


def of_pools(name: str, *columns: SchemaItem, **options: Any) -> Table:
    """A table whose rows are each of a pool, the number of which begins their key."""
    return table(name, Column("pool_id", Number, ForeignKey("pool.id"), primary_key=True), *columns, **options)


pools = table(
    "pool",
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("system", String(64), nullable=False),  # as the newest log entry of its configuration says
    Column("parameters", Text, nullable=False),  # JSON
    Column("arithmetic", Integer, nullable=False, server_default=text("1")),  # revision of it that rated the ledger
    Column("secret", LargeBinary, nullable=True),  # the key of the digests in its log; never leaves the database
    Column("closed", Boolean, nullable=False, server_default=false()),  # as the newest entry that closes or opens it
    Column("title", Text, nullable=False, server_default=""),  # these four as the newest entry of a description says
    Column("contact", Text, nullable=False, server_default=""),
    Column("player_word", Text, nullable=False, server_default=""),
    Column("is_public", Boolean, nullable=False, server_default=false()),
)

player = of_pools(
    "player",
    Column("id", Number, primary_key=True, autoincrement=False),  # counted within the pool
    Column("name", Text, nullable=False),
    Column("lookalike", Text, nullable=True),  # `names.key` of the name
    Column("folded", Prefixed, nullable=True),  # `names.fold` of the name
    UniqueConstraint("pool_id", "name"),
    Index(None, "pool_id", "lookalike"),
    Index(None, "pool_id", "folded"),
    sqlite_with_rowid=False,
)

thing = of_pools(  # what entrants share and has a rating of its own: a car, a club
    "thing",
    Column("id", Number, primary_key=True, autoincrement=False),  # counted within the pool, after `FIRST_THING`
    Column("name", Text, nullable=False),  # with its kind: `podium.engine.tables.things.thing_name`
    UniqueConstraint("pool_id", "name"),
    sqlite_with_rowid=False,
)

removed = of_pools(  # names and ids that were removed when a player was anonymized
    "removed",
    Column("hash", String(32), primary_key=True),  # `podium.log.removed.removed_hash`
    Column("player_id", Number, nullable=True),  # whose name it was
    Column("public_id", Text, nullable=True),  # the id instead of it
)

alias = of_pools(  # names that players or things had, under which servers may still send them
    "alias",
    Column("name", Text, primary_key=True),
    Column("player_id", Number, nullable=False),
    Column("folded", Prefixed, nullable=True),  # as of a player's name; empty of a thing's
    Index(None, "pool_id", "player_id"),
    Index(None, "pool_id", "folded"),
)

log = table(
    "log",
    Column("seq", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id"), nullable=False),
    Column("kind", String(16), nullable=False),  # see podium.log.log
    Column("subject", Text, nullable=False),  # an event, a match, a season, or a player's number
    Column("body", LargeBinary, nullable=False),  # entries, a line of JSON each; or JSON of what the kind needs
    Column("digest", LargeBinary, nullable=False),  # of an event's content as it was sent, keyed; empty for the rest
    Column("match_id", Text, nullable=True),  # the registered match whose result an event is
    Column("present", Integer, nullable=True),  # how many of the match's entrants were in the result as it was sent
    Column("received_at", String(32), nullable=False),  # ISO 8601; for people, never read by rating
    Column("actor", Text, nullable=False),
    Column("place", BigInteger, nullable=True),  # in the chain of the pool, from 1
    Column("hash", LargeBinary, nullable=True),  # of the entry before and of this one: podium.log.chain
    Column("reason_hash", LargeBinary, nullable=True),  # of the reason's salt and text, where one was given
    Index(None, "pool_id", "seq"),
    Index(None, "pool_id", "subject", "seq"),
    Index(None, "pool_id", "place", unique=True),
    sqlite_autoincrement=True,
)

reason = of_pools(  # why something was corrected, in the words of who did it; the text may be blanked
    "reason",
    Column("seq", Number, primary_key=True),  # of the log entry
    Column("salt", LargeBinary, nullable=False),
    Column("text", Text, nullable=False),
)

title = of_pools(  # title and address in the body of an entry, which has only their hash; they may be blanked
    "title",
    Column("seq", Number, primary_key=True),  # of the log entry
    Column("salt", LargeBinary, nullable=False),
    Column("text", LargeBinary, nullable=False),  # fields of JSON; empty if they were blanked
    Column("at", Integer, nullable=False),  # bytes of the body before the hash
)

witness = of_pools(  # digests of the ledger that follows from the log: podium.pool.witness
    "witness",
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
)

kept = of_pools(  # caches, which can be deleted at any time: podium.store.kept
    "kept",
    Column("name", String(16), primary_key=True),  # of the cache
    Column("part", Number, primary_key=True, autoincrement=False),
    Column("stamp", Text, nullable=False),  # what it follows from, and its digest
    Column("body", LargeBinary, nullable=False),
)

api_key = table(
    "api_key",
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),  # the key itself is stored nowhere
    Column("role", String(8), nullable=False),  # read, write, admin
    Column("pool", Text, nullable=True),  # the only pool it opens; all where empty
    Column("created_at", String(32), nullable=False),
    Column("revoked_at", String(32), nullable=True),  # for people: `revoked` is what counts
    Column("per_second", Double, nullable=True),  # requests; no limit where empty
    Column("reach_s", Double, nullable=True),  # seconds back that events may have started; no limit where empty
    Column("revoked", Boolean, nullable=False, server_default=false()),  # for good, whatever a clock shows
    Column("expires_at", String(32), nullable=True),  # never where empty
    Column("last_used_at", String(32), nullable=True),  # to a minute
)

signing_secret = table(  # signs the cookies of sessions; one row
    "signing_secret",
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("secret", LargeBinary, nullable=False),
    Column("created_at", String(32), nullable=False),
)

webhook = table(  # where a pool's log is sent, entry by entry
    "webhook",
    Column("id", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id", ondelete="CASCADE"), nullable=False),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),  # signs each delivery, so it is stored in clear
    Column("created_at", String(32), nullable=False),
    Column("delivered_seq", Number, nullable=False),  # of the newest entry that the receiver has taken
    Column("failing_since", String(32), nullable=True),  # the first failure since the last success
    Column("last_error", Text, nullable=False, server_default=""),
    Column("stopped", Boolean, nullable=False, server_default=false()),  # it failed for too long
    Column("private", Boolean, nullable=False, server_default=false()),  # it may be of a private address
    Column("under_way_since", String(32), nullable=True),  # where a delivery takes long at this moment
)

waiting = table(  # for an hour: a file until its questions are answered, or a change until its dry run is confirmed
    "waiting",
    Column("id", String(32), primary_key=True),
    Column("session", LargeBinary, nullable=False),  # that alone may read it: its key, and a digest
    Column("name", Text, nullable=False),  # of the file, or of the kind of change; empty of a text that was pasted
    Column("content", LargeBinary, nullable=False),  # compressed
    Column("expires_at", BigInteger, nullable=False),  # microseconds since 1970, UTC
)

sheet = of_pools(  # a file whose events were sent: under its name, with what its columns mean
    "sheet",
    Column("name", Text, primary_key=True),
    Column("map", Text, nullable=False),  # as TOML has it; empty where the headings say all
)

brought = table(  # which events a sheet has, or had
    "brought",
    Column("pool_id", Number, primary_key=True),
    Column("sheet", Text, primary_key=True),
    Column("event_id", Text, primary_key=True),
    Column("own_id", Text, nullable=False),  # what the sheet calls it
    Column("content_seq", Number, nullable=False),  # of the log entry with the content that the sheet had last
    Column("is_gone", Boolean, nullable=False),  # the sheet has it no more
    ForeignKeyConstraint(["pool_id", "sheet"], ["sheet.pool_id", "sheet.name"]),
    Index(None, "pool_id", "event_id"),
    sqlite_with_rowid=False,
)

running = of_pools(  # the places of the moment in a race; apart from the log, which never knows of them
    "running",
    Column("race_id", Text, primary_key=True),
    Column("posted_at", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("body", Text, nullable=False),  # JSON: players by number, in their places, and those who are out
)

correction = of_pools(
    "correction",
    Column("seq", Number, primary_key=True),  # of the log entry that corrected something
    Column("events", Integer, nullable=False),  # that have another change of a rating than before
    Column("players", Integer, nullable=False),  # who have
    Column("largest", Double, nullable=False),  # points by which a rating after an event is another than before
)

request_budget = table(  # of keys and addresses; in PostgreSQL alone, where several processes share them
    "request_budget",
    Column("owner", String(128), primary_key=True),
    Column("counted_at", Double, nullable=False),  # seconds since 1970, by the database's clock
    Column("requests", Double, nullable=False),  # that were left then
    Column("granted", Integer, nullable=False),  # to the process that drew last
)

compatibility = table(
    "compatibility",
    Column("id", Integer, primary_key=True),  # 1: the only row
    Column("earliest", String(32), nullable=False),  # revision whose versions of Podium may go on with this schema
)

FORMER_TABLES = (  # that earlier versions kept beside the log; those that refer to others stand first
    "snapshot", "snapshot_day", "staged_status", "change", "pool_state", "standing", "rank_count", "event", "merged",
    "registration", "fixture", "season", "generation", "hindsight", "pool_fact",
)  # fmt: skip
