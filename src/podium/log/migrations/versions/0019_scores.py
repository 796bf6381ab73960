"""Add the scores that determine ranks: ratings, minus deviations if the system uses them."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "0019", "0018", None, None

WORDS = {
    "sqlite": {"double": "DOUBLE", "is_true": "IS 1"},
    "postgresql": {"double": "DOUBLE PRECISION", "is_true": "IS true"},
}
SCORES = """
ALTER TABLE standing ADD COLUMN score {double} NOT NULL DEFAULT 0;
UPDATE standing SET score = rating;
DROP INDEX ix_standing_generation_id_rating_player_id;
DROP INDEX ix_standing_unsettled;
DROP INDEX ix_standing_unfilled;
DROP INDEX ix_change_unfilled;
CREATE INDEX ix_standing_generation_id_score_player_id ON standing (generation_id, score, player_id);
CREATE INDEX ix_standing_unsettled ON standing (generation_id, score, player_id) WHERE provisional {is_true};
UPDATE compatibility SET earliest = '0019'
"""


def upgrade() -> None:
    """Add the column. A version that does not know the column would write standings without a rank."""
    connection = op.get_bind()
    for statement in SCORES.format(**WORDS[connection.dialect.name]).split(";"):
        connection.exec_driver_sql(statement)
