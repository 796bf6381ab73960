"""Add webhooks that post to a chat. They record the leader and the upcoming races that were announced there."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0023", "0022", None, None

TYPES = {"sqlite": "INTEGER", "postgresql": "BIGINT"}
STATEMENTS = """
ALTER TABLE webhook ADD COLUMN format VARCHAR(16) DEFAULT 'json' NOT NULL;
ALTER TABLE webhook ADD COLUMN leader {number};
ALTER TABLE webhook ADD COLUMN announced_until {number};
UPDATE compatibility SET earliest = '0023'
"""


def upgrade() -> None:
    """Add the columns. An earlier version would send its own JSON to chats, which reject it."""
    connection = op.get_bind()
    for statement in STATEMENTS.format(number=TYPES[connection.dialect.name]).split(";"):
        connection.exec_driver_sql(statement)
