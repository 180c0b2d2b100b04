"""Add the daemon's tables: daily counts, revisits, start pages, opt-outs of hosts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Float, Integer, String

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "daily",
        Column("day", String, primary_key=True),
        Column("name", String, primary_key=True),
        Column("value", Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.add_column("url", Column("digest", Integer))
    op.add_column("url", Column("changes", Integer, nullable=False, server_default=sa.text("0")))
    op.add_column("url", Column("revisit_s", Float))
    op.add_column("url", Column("revisit_at", Float))
    op.create_index("url_revisit", "url", ["revisit_at"], sqlite_where=sa.text("revisit_at IS NOT NULL"))
    op.create_table(
        "seed",
        Column("identity", String, primary_key=True),
        Column("address", String, nullable=False),
        Column("title", String, nullable=False),
        Column("region", String, nullable=False),
        Column("language", String, nullable=False),
        Column("source", String, nullable=False),
        Column("added_at", Float, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "blocked",
        Column("host", String, primary_key=True),
        Column("reason", String, nullable=False),
        Column("at", Float, nullable=False),
        sqlite_with_rowid=False,
    )
