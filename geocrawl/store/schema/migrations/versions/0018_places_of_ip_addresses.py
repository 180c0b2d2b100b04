"""Let all processes keep the bound on requests to one IP address together."""

from alembic import op
from sqlalchemy import Column, Float, Integer, String

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ip_place",
        Column("ip", String, primary_key=True),
        Column("slot", Integer, primary_key=True, autoincrement=False),
        Column("begins_at", Float, nullable=False),
        Column("until", Float, nullable=False),
        Column("owner", String, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ip_place_begins", "ip_place", ["begins_at"])
