"""Add the last address of a host with a server error, and requests granted to patterns beyond their budget."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Float, Integer, String

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("host", Column("troubled_at", Float, nullable=False, server_default=sa.text("0")))
    op.add_column("host", Column("troubled_address", String, nullable=False, server_default=""))
    op.add_column("pattern", Column("late", Integer, nullable=False, server_default=sa.text("0")))
