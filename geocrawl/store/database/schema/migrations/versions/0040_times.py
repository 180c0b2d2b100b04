"""Add the time that the data of services and of layers is of, and the scales of layers, known from their next probe on.
The views are made again, because they show them."""

import sqlalchemy as sa
from alembic import op

from geocrawl.store.database.views import CREATE_VIEWS

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for name in CREATE_VIEWS:
        op.execute(f"DROP VIEW IF EXISTS {name}")
    for table in ("service", "layer"):
        op.add_column(table, sa.Column("time_start", sa.Float()))
        op.add_column(table, sa.Column("time_end", sa.Float()))
    op.add_column("layer", sa.Column("time_step", _TEXT, nullable=False, server_default=sa.text("''")))
    op.add_column("layer", sa.Column("min_scale", sa.Float()))
    op.add_column("layer", sa.Column("max_scale", sa.Float()))
    for view in CREATE_VIEWS.values():
        op.execute(view)
