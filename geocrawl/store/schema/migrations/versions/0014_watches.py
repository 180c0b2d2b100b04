"""Add watches, and the notices that they send."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, String

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "watch",
        Column("id", Integer, primary_key=True),
        Column("service_id", Integer),
        Column("query", String, nullable=False),
        Column("recipient", String, nullable=False),
        Column("secret", String, nullable=False),
        Column("created_at", Float, nullable=False),
        Column("known", String, nullable=False),
        Column("change_id", Integer, nullable=False),
        Column("sent_at", Float),
        Column("failures", Integer, nullable=False, server_default=sa.text("0")),
        Column("retry_at", Float, nullable=False, server_default=sa.text("0")),
        Column("busy_until", Float, nullable=False, server_default=sa.text("0")),
        Column("last_error", String, nullable=False, server_default=sa.text("''")),
    )
    op.create_table(
        "notice",
        Column("id", Integer, primary_key=True),
        Column("watch_id", Integer, ForeignKey("watch.id"), nullable=False),
        Column("at", Float, nullable=False),
        Column("what", String, nullable=False),
        Column("service_id", Integer, nullable=False),
        Column("detail", String, nullable=False),
        Column("sent_at", Float),
    )
    op.create_index("notice_watch", "notice", ["watch_id", "sent_at"])
