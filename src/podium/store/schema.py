"""The tables. States are exact doubles, little-endian, one after the other; entries are lines of JSON."""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
Number = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts only INTEGER keys up by itself

pool = Table(
    "pool",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("system", String(64), nullable=False),
    Column("parameters", Text, nullable=False),  # JSON
)

log = Table(
    "log",
    metadata,
    Column("seq", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id"), nullable=False),
    Column("kind", String(16), nullable=False),  # submit, amend, void, restore, merge
    Column("subject", Text, nullable=False),  # an event, or the player who is merged away
    Column("body", LargeBinary, nullable=False),  # entries; or the player merged into
    Column("digest", LargeBinary, nullable=False),  # of an event's content
    Column("received_at", String(32), nullable=False),  # ISO 8601; told, never read by rating
    Column("actor", Text, nullable=False),
    Index(None, "pool_id", "subject", "seq"),
    sqlite_autoincrement=True,
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),  # the key itself is kept nowhere
    Column("role", String(8), nullable=False),  # read, write, admin
    Column("pool", Text, nullable=True),  # the only one it opens; all where empty
    Column("created_at", String(32), nullable=False),
    Column("revoked_at", String(32), nullable=True),
)

# Everything below derives from the log.

event = Table(
    "event",
    metadata,
    Column("pool_id", Number, ForeignKey("pool.id"), primary_key=True),
    Column("event_id", Text, primary_key=True),
    Column("seq", Number, nullable=False),  # of its submission: orders events that started together
    Column("content_seq", Number, nullable=False),  # of the log entry with its content as it stands
    Column("started_at", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("status", String(16), nullable=False),  # rated, unrated, voided
    Column("reason", String(64), nullable=False),  # why it is not rated; empty where it is
    Index(None, "pool_id", "started_at", "seq"),
)

player = Table(
    "player",
    metadata,
    Column("id", Number, primary_key=True),
    Column("pool_id", Number, ForeignKey("pool.id"), nullable=False),
    Column("name", Text, nullable=False),
    UniqueConstraint("pool_id", "name"),
)

change = Table(
    "change",
    metadata,
    Column("pool_id", Number, ForeignKey("pool.id"), primary_key=True),
    Column("started_at", BigInteger, primary_key=True),
    Column("seq", Number, primary_key=True),
    Column("player_id", Number, ForeignKey("player.id"), primary_key=True),
    Column("place", Integer, nullable=False),  # of the player's first line in the event
    Column("rating_before", Double, nullable=False),
    Column("rating", Double, nullable=False),
    Column("state", LargeBinary, nullable=False),  # after the event
    Index(None, "pool_id", "player_id", "started_at", "seq"),
)

standing = Table(
    "standing",
    metadata,
    Column("pool_id", Number, ForeignKey("pool.id"), primary_key=True),
    Column("player_id", Number, ForeignKey("player.id"), primary_key=True),
    Column("rating", Double, nullable=False),
    Column("events", Integer, nullable=False),
    Column("started_at", BigInteger, nullable=False),  # of the player's newest event
    Column("seq", Number, nullable=False),
    Column("state", LargeBinary, nullable=False),
    Index(None, "pool_id", "rating", "player_id"),
)

rank_count = Table(
    "rank_count",
    metadata,
    Column("pool_id", Number, ForeignKey("pool.id"), primary_key=True),
    Column("bucket", BigInteger, primary_key=True),  # the rating's whole part
    Column("players", Integer, nullable=False),
)
