"""What pools say of themselves, and whether everybody may read them; the secret that signs sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let pools have a description, which is empty and not public until it is set; add the table of the secret."""
    for name in ("title", "contact", "player_word"):
        op.add_column("pool", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.add_column("pool", sa.Column("is_public", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "signing_secret",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signing_secret")),
    )
