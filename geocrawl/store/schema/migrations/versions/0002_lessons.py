"""Add the feedback from which strategies learn: visits settled since a strategy's last dump."""

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, String

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lesson",
        Column("number", Integer, primary_key=True),
        Column("url_id", Integer, nullable=False),
        Column("purpose", String, nullable=False),
        Column("depth", Integer, nullable=False),
        Column("found_on", Integer),
        Column("state", String, nullable=False),
        Column("reason", String, nullable=False),
        Column("valid", Integer),
        Column("links", LargeBinary, nullable=False),
        Column("memo", LargeBinary, nullable=False),
    )
