"""Build pools in memory from their logs. The tables that earlier versions kept next to the log are no longer read."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0022", "0021", None, None

TABLES = (
    "snapshot", "snapshot_day", "staged_status", "change", "pool_state", "standing", "rank_count", "event", "merged",
    "registration", "fixture", "season", "generation", "hindsight", "pool_fact",
)  # fmt: skip


def upgrade() -> None:
    """Drop the tables if the database has no pools. Otherwise, `podium db upgrade` first compares them with the log."""
    connection = op.get_bind()
    if connection.exec_driver_sql("SELECT count(*) FROM pool").scalar() == 0:
        for name in TABLES:
            connection.exec_driver_sql(f"DROP TABLE {name}")
        for name in ("generation_id", "staging_id"):
            connection.exec_driver_sql(f"ALTER TABLE pool DROP COLUMN {name}")
    connection.exec_driver_sql("UPDATE compatibility SET earliest = '0022'")
