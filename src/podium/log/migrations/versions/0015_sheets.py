"""Add sheets, and the events that came from them."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0015", "0014"

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
    run_script(op.get_bind(), TABLES)
