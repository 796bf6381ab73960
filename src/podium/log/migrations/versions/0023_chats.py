"""Add webhooks that post to a chat. They record the leader and the upcoming races that were announced there."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0023", "0022"

STATEMENTS = """
ALTER TABLE webhook ADD COLUMN format VARCHAR(16) DEFAULT 'json' NOT NULL;
ALTER TABLE webhook ADD COLUMN leader {number};
ALTER TABLE webhook ADD COLUMN announced_until {number};
UPDATE compatibility SET earliest = '0023'
"""


def upgrade() -> None:
    """Add the columns. An earlier version would send its own JSON to chats, which reject it."""
    run_script(op.get_bind(), STATEMENTS)
