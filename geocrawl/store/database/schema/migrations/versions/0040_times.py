"""Add the time that the data of services and of layers is of, and the scales of layers, from their next probe on."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for table in ("service", "layer"):
        op.add_column(table, sa.Column("time_start", sa.Float()))
        op.add_column(table, sa.Column("time_end", sa.Float()))
    op.add_column("layer", sa.Column("time_step", _TEXT, nullable=False, server_default=sa.text("''")))
    op.add_column("layer", sa.Column("min_scale", sa.Float()))
    op.add_column("layer", sa.Column("max_scale", sa.Float()))
