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


def required(name: str, kind: Any, **options: Any) -> Column[Any]:
    """Return a column that has a value in every row."""
    return Column(name, kind, nullable=False, **options)


def pool_table(name: str, *columns: SchemaItem, **options: Any) -> Table:
    """Declare a table whose primary key begins with the pool's number."""
    return table(name, Column("pool_id", Number, ForeignKey("pool.id"), primary_key=True), *columns, **options)


pools = table(
    "pool",
    Column("id", Number, primary_key=True),
    required("name", Text, unique=True),
    required("system", String(64)),  # from the newest configuration in the log
    required("parameters", Text),  # JSON
    required("arithmetic", Integer, server_default=text("1")),  # revision that rated the ledger
    Column("secret", LargeBinary),  # key for the log's digests; never leaves the database
    required("closed", Boolean, server_default=false()),  # from the newest closing or reopening
    required("title", Text, server_default=""),  # this and the next six are from the newest description
    required("contact", Text, server_default=""),
    required("player_word", Text, server_default=""),
    required("is_public", Boolean, server_default=false()),
    required("time_zone", Text, server_default=""),
    required("points_scheme", Text, server_default=""),
    required("display", Text, server_default=""),
    required("reports", Text, server_default=""),
)

player = pool_table(
    "player",
    Column("id", Number, primary_key=True, autoincrement=False),  # numbered within the pool
    required("name", Text),
    Column("lookalike", Text),  # `names.key` of the name
    Column("folded", Prefixed),  # `names.fold` of the name
    UniqueConstraint("pool_id", "name"),
    Index(None, "pool_id", "lookalike"),
    Index(None, "pool_id", "folded"),
    sqlite_with_rowid=False,
)

equipment = pool_table(  # equipment that is rated, such as cars and clubs
    "thing",
    Column("id", Number, primary_key=True, autoincrement=False),  # numbered within the pool, from `FIRST_EQUIPMENT` on
    required("name", Text),  # includes the kind: `podium.engine.tables.equipment.equipment_name`
    UniqueConstraint("pool_id", "name"),
    sqlite_with_rowid=False,
)

removed = pool_table(  # names and IDs that were removed by anonymizing a player
    "removed",
    Column("hash", String(32), primary_key=True),  # `podium.log.removed.removed_hash`
    Column("player_id", Number),  # the player with that name
    Column("public_id", Text),  # the replacing ID
)

alias = pool_table(  # former names of players and equipment, which senders may still use
    "alias",
    Column("name", Text, primary_key=True),
    required("player_id", Number),
    Column("folded", Prefixed),  # like a player's; empty for a piece of equipment
    Index(None, "pool_id", "player_id"),
    Index(None, "pool_id", "folded"),
)

log = table(
    "log",
    Column("seq", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id"), nullable=False),
    required("kind", String(16)),  # see podium.log.log
    required("subject", Text),  # event, match, season, or number of a player
    required("body", LargeBinary),  # entries, one line of JSON each, or other JSON
    required("digest", LargeBinary),  # keyed digest of an event's content as sent; empty for other kinds
    Column("match_id", Text),  # registered match of which the event is the result
    Column("present", Integer),  # number of the match's entrants who are in the result as sent
    required("received_at", String(32)),  # ISO 8601; for people only, because ratings do not read it
    required("actor", Text),
    Column("place", BigInteger),  # place in the pool's chain, from 1
    Column("hash", LargeBinary),  # of this entry and the previous one: podium.log.chain
    Column("reason_hash", LargeBinary),  # of the reason's salt and text, if there is one
    Index(None, "pool_id", "seq"),
    Index(None, "pool_id", "subject", "seq"),
    Index(None, "pool_id", "place", unique=True),
    sqlite_autoincrement=True,
)

reason = pool_table(  # reasons for corrections, in the actor's words; texts may be blanked
    "reason",
    Column("seq", Number, primary_key=True),  # of the log entry
    required("salt", LargeBinary),
    required("text", Text),
)

title = pool_table(  # titles and addresses of entries, which may be blanked; the bodies contain only their hashes
    "title",
    Column("seq", Number, primary_key=True),  # of the log entry
    required("salt", LargeBinary),
    required("text", LargeBinary),  # JSON fields; empty if blanked
    required("at", Integer),  # position of the hash in the body, in bytes
)

witness = pool_table(  # digests of the ledger, which is calculated from the log: `digests`
    "witness",
    Column("part", Integer, primary_key=True, autoincrement=False),
    required("digest", LargeBinary),
)

kept = pool_table(  # caches, which can be deleted at any time: podium.store.kept
    "kept",
    Column("name", String(16), primary_key=True),  # name of the cache
    Column("part", Number, primary_key=True, autoincrement=False),
    required("stamp", Text),  # the cache's input, and its digest
    required("body", LargeBinary),
)

api_key = table(
    "api_key",
    Column("id", Number, primary_key=True),
    required("name", Text),
    required("digest", LargeBinary, unique=True),  # the key itself is not stored
    required("role", String(8)),  # read, write, admin
    Column("pool", Text),  # the only pool to which it gives access; null for all pools
    required("created_at", String(32)),
    Column("revoked_at", String(32)),  # for people only; what counts is `revoked`
    Column("per_second", Double),  # requests; null for no limit
    Column("reach_s", Double),  # backdating limit in seconds; null for no limit
    required("revoked", Boolean, server_default=false()),  # permanent, regardless of the clock
    Column("expires_at", String(32)),  # null for never
    Column("last_used_at", String(32)),  # accurate to a minute
)

signing_secret = table(  # key that signs session cookies; one row
    "signing_secret",
    Column("id", Integer, primary_key=True, autoincrement=False),
    required("secret", LargeBinary),
    required("created_at", String(32)),
)

webhook = table(  # receivers of a pool's log entries
    "webhook",
    Column("id", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id", ondelete="CASCADE"), nullable=False),
    required("url", Text),
    required("secret", Text),  # signs deliveries, so it is stored in plain text
    required("created_at", String(32)),
    required("delivered_seq", Number),  # newest entry that was delivered
    Column("failing_since", String(32)),  # first failure since the last success
    required("last_error", Text, server_default=""),
    required("stopped", Boolean, server_default=false()),  # stopped after failing for too long
    required("private", Boolean, server_default=false()),  # private addresses are allowed
    Column("under_way_since", String(32)),  # start of a long delivery in progress
    required("format", String(16), server_default="json"),  # json, or the chat that receives messages
    Column("leader", Number),  # number of the leader when the newest message was sent
    Column("announced_until", Number),  # races that start before it were announced; microseconds
)

waiting = table(  # kept for an hour: files with open questions, and changes whose dry run awaits confirmation
    "waiting",
    Column("id", String(32), primary_key=True),
    required("session", LargeBinary),  # the only session that may read it: its key, and a digest
    required("name", Text),  # name of the file or kind of change; empty for pasted text
    required("content", LargeBinary),  # compressed
    required("expires_at", BigInteger),  # microseconds since 1970, UTC
)

sheet = pool_table(  # uploaded files by name, with the meaning of their columns
    "sheet",
    Column("name", Text, primary_key=True),
    required("map", Text),  # in TOML; empty if the headings suffice
)

brought = table(  # present and former events of a sheet
    "brought",
    Column("pool_id", Number, primary_key=True),
    Column("sheet", Text, primary_key=True),
    Column("event_id", Text, primary_key=True),
    required("own_id", Text),  # the sheet's ID of the event
    required("content_seq", Number),  # log entry with the sheet's last content
    required("is_gone", Boolean),  # True if it is no longer in the sheet
    ForeignKeyConstraint(["pool_id", "sheet"], ["sheet.pool_id", "sheet.name"]),
    Index(None, "pool_id", "event_id"),
    sqlite_with_rowid=False,
)

running = pool_table(  # current places of running races; not part of the log
    "running",
    Column("race_id", Text, primary_key=True),
    required("posted_at", BigInteger),  # microseconds since 1970, UTC
    required("body", Text),  # JSON: player numbers in order of places, and players who are out
)

player_link = pool_table(  # personal links with which players report results
    "player_link",
    Column("player_id", Number, primary_key=True, autoincrement=False),
    required("nonce", String(32)),  # the signed part of the link
    required("seasons", Integer),  # number of the pool's seasons when the link was made
    Column("expires_at", BigInteger),  # microseconds since 1970, UTC; null if it ends with the season
)

report = pool_table(  # results that players reported, until they count and for some days more; not part of the log
    "report",
    Column("report_id", Text, primary_key=True),  # ID of the event that it becomes
    required("reported_at", BigInteger),  # microseconds since 1970, UTC
    required("status", String(16)),  # see podium.store.writing.reports
    required("body", Text),  # JSON: its player, date, rows and answers, with numbers of players
)

correction = pool_table(
    "correction",
    Column("seq", Number, primary_key=True),  # log entry of the correction
    required("events", Integer),  # events with a different rating change
    required("players", Integer),  # players with a different rating change
    required("largest", Double),  # largest difference of a rating after an event, in points
)

request_budget = table(  # request limits of keys and addresses, which processes share; only in PostgreSQL
    "request_budget",
    Column("owner", String(128), primary_key=True),
    required("counted_at", Double),  # seconds since 1970, by the database's clock
    required("requests", Double),  # requests left at that time
    required("granted", Integer),  # requests granted to the newest process
)

compatibility = table(
    "compatibility",
    Column("id", Integer, primary_key=True),  # 1: the only row
    required("earliest", String(32)),  # earliest revision whose versions of Podium can use this schema
)

FORMER_TABLES = (  # tables of earlier versions; those that refer to others come first
    "snapshot", "snapshot_day", "staged_status", "change", "pool_state", "standing", "rank_count", "event", "merged",
    "registration", "fixture", "season", "generation", "hindsight", "pool_fact",
)  # fmt: skip
