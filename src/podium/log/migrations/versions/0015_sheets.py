"""Add sheets, and the events that came from them."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0015", "0014", None, None

WORDS = {
    "sqlite": {"number": "INTEGER", "by_key": " WITHOUT ROWID"},
    "postgresql": {"number": "BIGINT", "by_key": ""},
}
TABLES = """
CREATE TABLE sheet (
    pool_id {number} NOT NULL, name TEXT NOT NULL, map TEXT NOT NULL, CONSTRAINT pk_sheet PRIMARY KEY (pool_id, name),
    CONSTRAINT fk_sheet_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE brought (
    pool_id {number} NOT NULL, sheet TEXT NOT NULL, event_id TEXT NOT NULL, own_id TEXT NOT NULL,
    content_seq {number} NOT NULL, is_gone BOOLEAN NOT NULL,
    CONSTRAINT pk_brought PRIMARY KEY (pool_id, sheet, event_id),
    CONSTRAINT fk_brought_pool_id_sheet FOREIGN KEY (pool_id, sheet) REFERENCES sheet (pool_id, name)
){by_key};
CREATE INDEX ix_brought_pool_id_event_id ON brought (pool_id, event_id);
UPDATE compatibility SET earliest = '0015'
"""


def upgrade() -> None:
    """Create the tables. A version without them would place moved events at their earlier positions."""
    connection = op.get_bind()
    for statement in TABLES.format(**WORDS[connection.dialect.name]).split(";"):
        connection.exec_driver_sql(statement)
