"""Note how long endpoints were seen failing and where they have moved, and keep former numbers of services."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Float, Integer, String, Text

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_TEXT = String().with_variant(Text(collation="C"), "postgresql")
_NUMBER = Integer().with_variant(BigInteger(), "postgresql")


def upgrade() -> None:
    op.add_column("endpoint", Column("failing_s", Float, nullable=False, server_default=sa.text("0")))
    op.add_column("endpoint", Column("woken_at", Float))
    op.add_column("endpoint", Column("moved_to", _TEXT))
    is_moved = sa.text("moved_to IS NOT NULL")
    op.create_index("endpoint_moved", "endpoint", ["moved_to"], sqlite_where=is_moved, postgresql_where=is_moved)
    op.create_table(
        "service_alias",
        Column("old", _NUMBER, primary_key=True, autoincrement=False),
        Column("new", _NUMBER, nullable=False),
        Column("endpoint_id", _NUMBER),
    )
    op.create_index("service_alias_new", "service_alias", ["new"])
