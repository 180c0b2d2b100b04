"""Add downtimes, and whether the last attempt of a sum of probes lies in one."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "downtime",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("service_id", _NUMBER),
        sa.Column("host", _TEXT, nullable=False),
        sa.Column("starts_at", sa.Float(), nullable=False),
        sa.Column("ends_at", sa.Float()),
        sa.Column("weekly", _TEXT, nullable=False),
        sa.Column("zone", _TEXT, nullable=False),
        sa.Column("is_acknowledged", _NUMBER, nullable=False),
        sa.Column("note", _TEXT, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
    )
    op.add_column("probe_sum", sa.Column("is_last_excused", _NUMBER, server_default=sa.text("0"), nullable=False))
