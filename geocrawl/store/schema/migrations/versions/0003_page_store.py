"""Add pages kept for their topic."""

from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, String

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "page_store",
        Column("url_id", Integer, ForeignKey("url.id"), primary_key=True),
        Column("score", Float, nullable=False),
        Column("stored_at", Float, nullable=False),
        Column("encoding", String, nullable=False),
        Column("size_bytes", Integer, nullable=False),
        Column("body", LargeBinary, nullable=False),
    )
    op.create_index("page_store_worst", "page_store", ["score", "url_id"])
