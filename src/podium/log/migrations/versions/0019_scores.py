"""Add the scores that determine ranks: ratings, minus deviations if the system uses them."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0019", "0018"

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
    run_script(op.get_bind(), SCORES)
