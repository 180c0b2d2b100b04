"""Add the number of requests to a host on a day."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Integer

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("asked_day", "asked"):
        op.add_column("host", Column(name, Integer, nullable=False, server_default=sa.text("0")))
