"""Add the time between two probes that a watch asks for, and that of an endpoint's last full probe.

The views are made again, because a server keeps the columns of the tables that they read.
"""

import sqlalchemy as sa
from alembic import op

from geocrawl.store.database.views import CREATE_VIEWS

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("watch", sa.Column("every_s", sa.Float()))
    op.add_column("endpoint", sa.Column("every_s", sa.Float()))
    op.add_column("endpoint", sa.Column("whole_at", sa.Float()))
    for name, view in CREATE_VIEWS.items():
        op.execute(f"DROP VIEW IF EXISTS {name}")
        op.execute(view)
