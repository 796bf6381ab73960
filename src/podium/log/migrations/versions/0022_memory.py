"""Pools are folded from their logs in memory: the tables that earlier versions kept beside the log are not read."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0022", "0021", None, None

TABLES = (
    "snapshot", "snapshot_day", "staged_status", "change", "pool_state", "standing", "rank_count", "event", "merged",
    "registration", "fixture", "season", "generation", "hindsight", "pool_fact",
)  # fmt: skip


def upgrade() -> None:
    """Drop the tables of a database without pools. Elsewhere `podium db upgrade` compares them with the log first."""
    connection = op.get_bind()
    if connection.exec_driver_sql("SELECT count(*) FROM pool").scalar() == 0:
        for name in TABLES:
            connection.exec_driver_sql(f"DROP TABLE {name}")
        for name in ("generation_id", "staging_id"):
            connection.exec_driver_sql(f"ALTER TABLE pool DROP COLUMN {name}")
    connection.exec_driver_sql("UPDATE compatibility SET earliest = '0022'")
