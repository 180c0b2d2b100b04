"""Add the usual time of an answer of a watched endpoint, and how it answers against that."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.add_column("endpoint", sa.Column("usual_ms", sa.Float()))
    op.add_column("endpoint", sa.Column("speed", _NUMBER, server_default=sa.text("0"), nullable=False))
