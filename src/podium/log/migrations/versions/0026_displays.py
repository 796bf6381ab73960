"""Add the displays of pools: the scale of shown scores, and tiers."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0026", "0025", None, None


def upgrade() -> None:
    """Add the column."""
    connection = op.get_bind()
    connection.exec_driver_sql("ALTER TABLE pool ADD COLUMN display TEXT DEFAULT '' NOT NULL")
    connection.exec_driver_sql("UPDATE compatibility SET earliest = '0026'")
