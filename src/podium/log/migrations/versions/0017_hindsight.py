"""Add strengths with hindsight, which take all later results into account."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0017", "0016", None, None

WORDS = {"sqlite": {"number": "INTEGER", "bytes": "BLOB"}, "postgresql": {"number": "BIGINT", "bytes": "BYTEA"}}
TABLE = """
CREATE TABLE hindsight (
    pool_id {number} NOT NULL, player_id {number} NOT NULL, curve {bytes} NOT NULL,
    CONSTRAINT pk_hindsight PRIMARY KEY (pool_id, player_id),
    CONSTRAINT fk_hindsight_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id) ON DELETE CASCADE
)
"""


def upgrade() -> None:
    """Create the table. A version that does not know it works without it."""
    connection = op.get_bind()
    connection.exec_driver_sql(TABLE.format(**WORDS[connection.dialect.name]))
