"""Add the time between two probes that a watch asks for, and that of an endpoint's last full probe."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("watch", sa.Column("every_s", sa.Float()))
    op.add_column("endpoint", sa.Column("every_s", sa.Float()))
    op.add_column("endpoint", sa.Column("whole_at", sa.Float()))
