"""The key of names that look alike; `podium db upgrade` fills it in, and new players have it at once."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the key, empty, and its index."""
    op.add_column("player", sa.Column("lookalike", sa.Text(), nullable=True))
    op.create_index(op.f("ix_player_pool_id_lookalike"), "player", ["pool_id", "lookalike"])
