"""Players by number in the log; matches, seasons, snapshots; keys with a rate."""

import hashlib
import json
import math
from collections import Counter

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DEFAULTS = {"ranked": True, "handicap": False, "weight": 1.0}  # of columns that a line leaves out from now on

log = sa.table("log", *map(sa.column, ("seq", "pool_id", "kind", "subject", "body", "digest", "received_at", "actor")))
pool = sa.table("pool", *map(sa.column, ("id", "system", "parameters")))
merged = sa.table("merged", *map(sa.column, ("pool_id", "player_id", "into_id")))
player = sa.table("player", *map(sa.column, ("id", "pool_id", "name")))


def upgrade() -> None:
    """Create the new tables, and convert the log."""
    connection = op.get_bind()
    op.create_table(
        "alias",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["player.id"], name=op.f("fk_alias_player_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_alias_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "name", name=op.f("pk_alias")),
    )
    op.create_index(op.f("ix_alias_player_id"), "alias", ["player_id"], unique=False)
    op.create_table(
        "merged",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("into_id", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["into_id"], ["player.id"], name=op.f("fk_merged_into_id")),
        sa.ForeignKeyConstraint(["player_id"], ["player.id"], name=op.f("fk_merged_player_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_merged_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "player_id", name=op.f("pk_merged")),
    )
    op.create_table(
        "registration",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("match_id", sa.Text(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_registration_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "match_id", name=op.f("pk_registration")),
    )
    op.create_table(
        "season",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("keep", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_season_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "name", name=op.f("pk_season")),
    )
    op.create_table(
        "snapshot_day",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_snapshot_day_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "day", name=op.f("pk_snapshot_day")),
    )
    op.create_table(
        "snapshot",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["player.id"], name=op.f("fk_snapshot_player_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_snapshot_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "day", "player_id", name=op.f("pk_snapshot")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_snapshot_pool_id_player_id_day"), "snapshot", ["pool_id", "player_id", "day"])
    for table in ("log", "event"):
        op.add_column(table, sa.Column("match_id", sa.Text(), nullable=True))
        op.add_column(table, sa.Column("present", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_event_pool_id_match_id"), "event", ["pool_id", "match_id"])
    op.add_column("api_key", sa.Column("per_second", sa.Double(), nullable=True))
    op.drop_index(op.f("ix_log_pool_id_subject_seq"), "log")
    op.create_index(op.f("ix_log_pool_id_seq"), "log", ["pool_id", "seq"])
    move_changes(connection)
    move_standings(connection)
    count_finely(connection)
    configure(connection)
    number_players(connection)
    set_planner_statistics(connection)


def set_planner_statistics(connection: sa.Connection) -> None:
    """Give SQLite's planner the statistics of a large ledger, or it takes a player's changes for half of all."""
    if connection.dialect.name != "sqlite":
        return
    connection.exec_driver_sql("ANALYZE")
    connection.exec_driver_sql("DELETE FROM sqlite_stat1 WHERE tbl = 'change'")
    connection.exec_driver_sql(
        "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('change', 'change', '8000000 8000000 8 8 1'), "
        "('change', 'ix_change_pool_id_player_id_started_at_seq', '8000000 8000000 400 1 1')"
    )


def move_changes(connection: sa.Connection) -> None:
    """Store the ledger in SQLite in the order of its key, without an index beside it."""
    if connection.dialect.name != "sqlite":
        return
    op.rename_table("change", "old_change")
    op.drop_index(op.f("ix_change_pool_id_player_id_started_at_seq"), "old_change")
    op.create_table(
        "change",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("rating_before", sa.Double(), nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["player.id"], name=op.f("fk_change_player_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_change_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "started_at", "seq", "player_id", name=op.f("pk_change")),
        sqlite_with_rowid=False,
    )
    connection.exec_driver_sql("INSERT INTO change SELECT * FROM old_change")
    op.drop_table("old_change")
    op.create_index(
        op.f("ix_change_pool_id_player_id_started_at_seq"), "change", ["pool_id", "player_id", "started_at", "seq"]
    )


def move_standings(connection: sa.Connection) -> None:
    """Store the standings with the time of the newest event."""
    op.rename_table("standing", "old_standing")
    op.drop_index(op.f("ix_standing_pool_id_rating_player_id"), "old_standing")
    if connection.dialect.name == "postgresql":
        for kind in ("pk_standing", "fk_standing_player_id", "fk_standing_pool_id"):
            op.drop_constraint(op.f(kind), "old_standing")
    op.create_table(
        "standing",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("played_at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["player.id"], name=op.f("fk_standing_player_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_standing_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "player_id", name=op.f("pk_standing")),
        sqlite_with_rowid=False,
    )
    connection.exec_driver_sql(
        "INSERT INTO standing (pool_id, player_id, rating, events, started_at, seq, played_at, state) "
        "SELECT pool_id, player_id, rating, events, started_at, seq, started_at, state FROM old_standing"
    )
    op.drop_table("old_standing")
    op.create_index(op.f("ix_standing_pool_id_rating_player_id"), "standing", ["pool_id", "rating", "player_id"])


def count_finely(connection: sa.Connection) -> None:
    """Count players per part of a point beside those per point."""
    op.drop_table("rank_count")
    op.create_table(
        "rank_count",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("per_point", sa.Integer(), nullable=False),
        sa.Column("bucket", sa.BigInteger(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_rank_count_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "per_point", "bucket", name=op.f("pk_rank_count")),
        sqlite_with_rowid=False,
    )
    rows = connection.exec_driver_sql("SELECT pool_id, rating FROM standing").all()
    counts = Counter((pool_id, fine, math.floor(rating * fine)) for pool_id, rating in rows for fine in (1, 256))
    table = sa.table("rank_count", *map(sa.column, ("pool_id", "per_point", "bucket", "players")))
    counted = [
        dict(zip(("pool_id", "per_point", "bucket"), key, strict=True)) | {"players": n} for key, n in counts.items()
    ]
    if counted:
        connection.execute(sa.insert(table), counted)


def configure(connection: sa.Connection) -> None:
    """Log every pool's configuration."""
    rows = connection.execute(sa.select(pool)).all()
    for row in rows:
        body = json.dumps({"system": row.system, "parameters": json.loads(row.parameters)}).encode()
        shared = {"pool_id": row.id, "kind": "configure", "subject": "", "received_at": "", "actor": "migration"}
        connection.execute(sa.insert(log), shared | {"body": body, "digest": digest(body)})


def number_players(connection: sa.Connection) -> None:
    """Replace names in the log's bodies and merges by numbers, and renew the digests."""
    numbers = {(row.pool_id, row.name): row.id for row in connection.execute(sa.select(player))}

    def number_of(pool_id: int, name: str) -> int:
        if (pool_id, name) not in numbers:
            new = sa.insert(player).values(pool_id=pool_id, name=name).returning(player.c.id)
            numbers[pool_id, name] = connection.execute(new).scalar_one()
        return int(numbers[pool_id, name])

    into: dict[tuple[int, int], int] = {}
    select = sa.select(log.c.seq, log.c.pool_id, log.c.kind, log.c.subject, log.c.body).order_by(log.c.seq)
    for row in connection.execute(select.where(log.c.kind.in_(["submit", "amend", "merge"]))).all():
        if row.kind == "merge":
            gone, stays = (number_of(row.pool_id, name) for name in (row.subject, row.body.decode()))
            into = {each: stays if end == gone else end for each, end in into.items()} | {(row.pool_id, gone): stays}
            body = json.dumps({"into": stays}).encode()
            changed = {"subject": str(gone), "body": body, "digest": digest(body)}
        else:
            lines = [json.loads(line) for line in row.body.decode().split("\n") if line]
            short = [{k: v for k, v in line.items() if k not in DEFAULTS or v != DEFAULTS[k]} for line in lines]
            plain = [{k: v for k, v in line.items() if k != "player"} | {"player": line["player"]} for line in short]
            numbered = [line | {"player": number_of(row.pool_id, line["player"])} for line in plain]
            changed = {"body": lines_as_json(numbered), "digest": digest(lines_as_json(plain))}
        connection.execute(sa.update(log).where(log.c.seq == row.seq).values(changed))
    for (pool_id, gone), stays in into.items():
        connection.execute(sa.insert(merged).values(pool_id=pool_id, player_id=gone, into_id=stays))


def lines_as_json(lines: list[dict[str, object]]) -> bytes:
    """Lines of JSON."""
    return "".join(f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n" for line in lines).encode()


def digest(content: bytes) -> bytes:
    """The hash that tells equal content from other content."""
    return hashlib.blake2b(content, digest_size=16).digest()
