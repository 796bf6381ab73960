"""Add hashes of the names and IDs that were removed when a player was anonymized."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0020", "0019", None, None

TYPES = {"sqlite": ("INTEGER", "BLOB"), "postgresql": ("BIGINT", "BYTEA")}
TABLE = """
CREATE TABLE removed (
    pool_id {number} NOT NULL, hash VARCHAR(32) NOT NULL, player_id {number}, public_id TEXT,
    CONSTRAINT pk_removed PRIMARY KEY (pool_id, hash),
    CONSTRAINT fk_removed_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
UPDATE compatibility SET earliest = '0020'
"""


def upgrade() -> None:
    """Create the table. A version that does not know the table would bring back removed names."""
    connection = op.get_bind()
    number, content = TYPES[connection.dialect.name]
    for statement in TABLE.format(number=number, bytes=content).split(";"):
        connection.exec_driver_sql(statement)
