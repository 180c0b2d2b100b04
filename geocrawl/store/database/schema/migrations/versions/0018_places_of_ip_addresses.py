"""Let all processes keep the bound on requests to one IP address together, and tell kills from failed attempts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Float, Integer, String, Text

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_TEXT = String().with_variant(Text(collation="C"), "postgresql")
_NUMBER = Integer().with_variant(BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "ip_place",
        Column("ip", _TEXT, primary_key=True),
        Column("slot", _NUMBER, primary_key=True, autoincrement=False),
        Column("begins_at", Float, nullable=False),
        Column("until", Float, nullable=False),
        Column("owner", _TEXT, nullable=False),
        sqlite_with_rowid=False,
    )
    op.add_column("url", Column("kills", _NUMBER, nullable=False, server_default=sa.text("0")))
    op.create_index("ip_place_begins", "ip_place", ["begins_at"])
