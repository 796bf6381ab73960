"""Titles and addresses of events next to the log, whose entries have only their hashes."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0021", "0020", None, None

TYPES = {"sqlite": ("INTEGER", "BLOB"), "postgresql": ("BIGINT", "BYTEA")}
TABLE = """
CREATE TABLE title (
    pool_id {number} NOT NULL, seq {number} NOT NULL, salt {bytes} NOT NULL, text {bytes} NOT NULL, at INTEGER NOT NULL,
    CONSTRAINT pk_title PRIMARY KEY (pool_id, seq),
    CONSTRAINT fk_title_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
UPDATE compatibility SET earliest = '0021'
"""


def upgrade() -> None:
    """Create the table. A version that does not know it would find no titles."""
    connection = op.get_bind()
    number, content = TYPES[connection.dialect.name]
    for statement in TABLE.format(number=number, bytes=content).split(";"):
        connection.exec_driver_sql(statement)
