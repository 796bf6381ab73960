"""Build pools in memory from their logs. The tables that earlier versions kept next to the log are no longer read."""

from alembic import op

from podium.log.schema import FORMER_TABLES

revision, down_revision = "0022", "0021"


def upgrade() -> None:
    """Drop the tables if the database has no pools. Otherwise, `podium db upgrade` first compares them with the log."""
    connection = op.get_bind()
    if connection.exec_driver_sql("SELECT count(*) FROM pool").scalar() == 0:
        for name in FORMER_TABLES:
            connection.exec_driver_sql(f"DROP TABLE {name}")
        for name in ("generation_id", "staging_id"):
            connection.exec_driver_sql(f"ALTER TABLE pool DROP COLUMN {name}")
    connection.exec_driver_sql("UPDATE compatibility SET earliest = '0022'")
