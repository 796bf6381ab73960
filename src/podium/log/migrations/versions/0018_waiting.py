"""Add files that wait for answers to questions about their meaning."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0018", "0017", None, None

BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}
TABLE = """
CREATE TABLE waiting (
    id VARCHAR(32) NOT NULL, session {bytes} NOT NULL, name TEXT NOT NULL, content {bytes} NOT NULL,
    expires_at BIGINT NOT NULL, CONSTRAINT pk_waiting PRIMARY KEY (id)
)
"""


def upgrade() -> None:
    """Create the table. A version that does not know it never lets a file wait."""
    connection = op.get_bind()
    connection.exec_driver_sql(TABLE.format(bytes=BYTES[connection.dialect.name]))
