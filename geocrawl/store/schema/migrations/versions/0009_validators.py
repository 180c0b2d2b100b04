"""Add validators, for conditional requests for pages and services."""

from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, String

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "validator",
        Column("url_id", Integer, ForeignKey("url.id"), primary_key=True),
        Column("address", String, nullable=False),
        Column("etag", String, nullable=False),
        Column("modified", String, nullable=False),
        Column("read_at", Float, nullable=False),
    )
