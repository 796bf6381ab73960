"""The database tables. States are sequences of exact little-endian doubles. Entries are lines of JSON.

Names are stored only in `player`, `equipment` and `alias`. Everything else refers to a player by a number within the
pool, so that players can be renamed or anonymized. Equipment uses the same columns, with numbers from `FIRST_EQUIPMENT`
on.
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


def pool_table(name: str, *columns: SchemaItem, **options: Any) -> Table:
    """Declare a table whose primary key begins with the pool's number."""
    return table(name, Column("pool_id", Number, ForeignKey("pool.id"), primary_key=True), *columns, **options)


pools = table(
    "pool",
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("system", String(64), nullable=False),  # from the newest configuration in the log
    Column("parameters", Text, nullable=False),  # JSON
    Column("arithmetic", Integer, nullable=False, server_default=text("1")),  # revision that rated the ledger
    Column("secret", LargeBinary, nullable=True),  # key for the log's digests; never leaves the database
    Column("closed", Boolean, nullable=False, server_default=false()),  # from the newest closing or reopening
    Column("title", Text, nullable=False, server_default=""),  # this and the next six are from the newest description
    Column("contact", Text, nullable=False, server_default=""),
    Column("player_word", Text, nullable=False, server_default=""),
    Column("is_public", Boolean, nullable=False, server_default=false()),
    Column("time_zone", Text, nullable=False, server_default=""),
    Column("points_scheme", Text, nullable=False, server_default=""),
    Column("display", Text, nullable=False, server_default=""),
    Column("reports", Text, nullable=False, server_default=""),
)

player = pool_table(
    "player",
    Column("id", Number, primary_key=True, autoincrement=False),  # numbered within the pool
    Column("name", Text, nullable=False),
    Column("lookalike", Text, nullable=True),  # `names.key` of the name
    Column("folded", Prefixed, nullable=True),  # `names.fold` of the name
    UniqueConstraint("pool_id", "name"),
    Index(None, "pool_id", "lookalike"),
    Index(None, "pool_id", "folded"),
    sqlite_with_rowid=False,
)

equipment = pool_table(  # equipment that is rated, such as cars and clubs
    "thing",
    Column("id", Number, primary_key=True, autoincrement=False),  # numbered within the pool, from `FIRST_EQUIPMENT` on
    Column("name", Text, nullable=False),  # includes the kind: `podium.engine.tables.equipment.equipment_name`
    UniqueConstraint("pool_id", "name"),
    sqlite_with_rowid=False,
)

removed = pool_table(  # names and IDs that were removed by anonymizing a player
    "removed",
    Column("hash", String(32), primary_key=True),  # `podium.log.removed.removed_hash`
    Column("player_id", Number, nullable=True),  # the player with that name
    Column("public_id", Text, nullable=True),  # the replacing ID
)

alias = pool_table(  # former names of players and equipment, which senders may still use
    "alias",
    Column("name", Text, primary_key=True),
    Column("player_id", Number, nullable=False),
    Column("folded", Prefixed, nullable=True),  # like a player's; empty for a piece of equipment
    Index(None, "pool_id", "player_id"),
    Index(None, "pool_id", "folded"),
)

log = table(
    "log",
    Column("seq", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id"), nullable=False),
    Column("kind", String(16), nullable=False),  # see podium.log.log
    Column("subject", Text, nullable=False),  # event, match, season, or number of a player
    Column("body", LargeBinary, nullable=False),  # entries, one line of JSON each, or other JSON
    Column("digest", LargeBinary, nullable=False),  # keyed digest of an event's content as sent; empty for other kinds
    Column("match_id", Text, nullable=True),  # registered match of which the event is the result
    Column("present", Integer, nullable=True),  # number of the match's entrants who are in the result as sent
    Column("received_at", String(32), nullable=False),  # ISO 8601; for people only, because ratings do not read it
    Column("actor", Text, nullable=False),
    Column("place", BigInteger, nullable=True),  # place in the pool's chain, from 1
    Column("hash", LargeBinary, nullable=True),  # of this entry and the previous one: podium.log.chain
    Column("reason_hash", LargeBinary, nullable=True),  # of the reason's salt and text, if there is one
    Index(None, "pool_id", "seq"),
    Index(None, "pool_id", "subject", "seq"),
    Index(None, "pool_id", "place", unique=True),
    sqlite_autoincrement=True,
)

reason = pool_table(  # reasons for corrections, in the actor's words; texts may be blanked
    "reason",
    Column("seq", Number, primary_key=True),  # of the log entry
    Column("salt", LargeBinary, nullable=False),
    Column("text", Text, nullable=False),
)

title = pool_table(  # titles and addresses of entries, which may be blanked; the bodies contain only their hashes
    "title",
    Column("seq", Number, primary_key=True),  # of the log entry
    Column("salt", LargeBinary, nullable=False),
    Column("text", LargeBinary, nullable=False),  # JSON fields; empty if blanked
    Column("at", Integer, nullable=False),  # position of the hash in the body, in bytes
)

witness = pool_table(  # digests of the ledger, which is calculated from the log: `digests`
    "witness",
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
)

kept = pool_table(  # caches, which can be deleted at any time: podium.store.kept
    "kept",
    Column("name", String(16), primary_key=True),  # name of the cache
    Column("part", Number, primary_key=True, autoincrement=False),
    Column("stamp", Text, nullable=False),  # the cache's input, and its digest
    Column("body", LargeBinary, nullable=False),
)

api_key = table(
    "api_key",
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),  # the key itself is not stored
    Column("role", String(8), nullable=False),  # read, write, admin
    Column("pool", Text, nullable=True),  # the only pool to which it gives access; null for all pools
    Column("created_at", String(32), nullable=False),
    Column("revoked_at", String(32), nullable=True),  # for people only; what counts is `revoked`
    Column("per_second", Double, nullable=True),  # requests; null for no limit
    Column("reach_s", Double, nullable=True),  # backdating limit in seconds; null for no limit
    Column("revoked", Boolean, nullable=False, server_default=false()),  # permanent, regardless of the clock
    Column("expires_at", String(32), nullable=True),  # null for never
    Column("last_used_at", String(32), nullable=True),  # accurate to a minute
)

signing_secret = table(  # key that signs session cookies; one row
    "signing_secret",
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("secret", LargeBinary, nullable=False),
    Column("created_at", String(32), nullable=False),
)

webhook = table(  # receivers of a pool's log entries
    "webhook",
    Column("id", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id", ondelete="CASCADE"), nullable=False),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),  # signs deliveries, so it is stored in plain text
    Column("created_at", String(32), nullable=False),
    Column("delivered_seq", Number, nullable=False),  # newest entry that was delivered
    Column("failing_since", String(32), nullable=True),  # first failure since the last success
    Column("last_error", Text, nullable=False, server_default=""),
    Column("stopped", Boolean, nullable=False, server_default=false()),  # stopped after failing for too long
    Column("private", Boolean, nullable=False, server_default=false()),  # private addresses are allowed
    Column("under_way_since", String(32), nullable=True),  # start of a long delivery in progress
    Column("format", String(16), nullable=False, server_default="json"),  # json, or the chat that receives messages
    Column("leader", Number, nullable=True),  # number of the leader when the newest message was sent
    Column("announced_until", Number, nullable=True),  # races that start before it were announced; microseconds
)

waiting = table(  # kept for an hour: files with open questions, and changes whose dry run awaits confirmation
    "waiting",
    Column("id", String(32), primary_key=True),
    Column("session", LargeBinary, nullable=False),  # the only session that may read it: its key, and a digest
    Column("name", Text, nullable=False),  # name of the file or kind of change; empty for pasted text
    Column("content", LargeBinary, nullable=False),  # compressed
    Column("expires_at", BigInteger, nullable=False),  # microseconds since 1970, UTC
)

sheet = pool_table(  # uploaded files by name, with the meaning of their columns
    "sheet",
    Column("name", Text, primary_key=True),
    Column("map", Text, nullable=False),  # in TOML; empty if the headings suffice
)

brought = table(  # present and former events of a sheet
    "brought",
    Column("pool_id", Number, primary_key=True),
    Column("sheet", Text, primary_key=True),
    Column("event_id", Text, primary_key=True),
    Column("own_id", Text, nullable=False),  # the sheet's ID of the event
    Column("content_seq", Number, nullable=False),  # log entry with the sheet's last content
    Column("is_gone", Boolean, nullable=False),  # True if it is no longer in the sheet
    ForeignKeyConstraint(["pool_id", "sheet"], ["sheet.pool_id", "sheet.name"]),
    Index(None, "pool_id", "event_id"),
    sqlite_with_rowid=False,
)

running = pool_table(  # current places of running races; not part of the log
    "running",
    Column("race_id", Text, primary_key=True),
    Column("posted_at", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("body", Text, nullable=False),  # JSON: player numbers in order of places, and players who are out
)

player_link = pool_table(  # personal links with which players report results
    "player_link",
    Column("player_id", Number, primary_key=True, autoincrement=False),
    Column("nonce", String(32), nullable=False),  # the signed part of the link
    Column("seasons", Integer, nullable=False),  # number of the pool's seasons when the link was made
    Column("expires_at", BigInteger, nullable=True),  # microseconds since 1970, UTC; null if it ends with the season
)

report = pool_table(  # results that players reported, until they count and for some days more; not part of the log
    "report",
    Column("report_id", Text, primary_key=True),  # ID of the event that it becomes
    Column("reported_at", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("status", String(16), nullable=False),  # see podium.store.writing.reports
    Column("actor", Text, nullable=False),  # sender of the event, for the log
    Column("body", Text, nullable=False),  # JSON: its player, date, rows and answers, with numbers of players
)

correction = pool_table(
    "correction",
    Column("seq", Number, primary_key=True),  # log entry of the correction
    Column("events", Integer, nullable=False),  # events with a different rating change
    Column("players", Integer, nullable=False),  # players with a different rating change
    Column("largest", Double, nullable=False),  # largest difference of a rating after an event, in points
)

request_budget = table(  # request limits of keys and addresses, which processes share; only in PostgreSQL
    "request_budget",
    Column("owner", String(128), primary_key=True),
    Column("counted_at", Double, nullable=False),  # seconds since 1970, by the database's clock
    Column("requests", Double, nullable=False),  # requests left at that time
    Column("granted", Integer, nullable=False),  # requests granted to the newest process
)

compatibility = table(
    "compatibility",
    Column("id", Integer, primary_key=True),  # 1: the only row
    Column("earliest", String(32), nullable=False),  # earliest revision whose versions of Podium can use this schema
)

FORMER_TABLES = (  # tables of earlier versions; those that refer to others come first
    "snapshot", "snapshot_day", "staged_status", "change", "pool_state", "standing", "rank_count", "event", "merged",
    "registration", "fixture", "season", "generation", "hindsight", "pool_fact",
)  # fmt: skip
