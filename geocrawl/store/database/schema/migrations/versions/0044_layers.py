"""Add licence and language of layers, known from the next description of their service on, and the times of data that
records state."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for name in ("licence", "language"):
        op.add_column("layer", sa.Column(name, _TEXT, nullable=False, server_default=sa.text("''")))
    for name in ("time_start", "time_end"):
        op.add_column("evidence", sa.Column(name, sa.Float()))
