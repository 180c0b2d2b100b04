"""Add the sums of probes of an hour, a day or a month.

Upkeep rolls up the probes that exist, some of each endpoint at a time: a database may hold millions. Until then they
are read as they are.
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    on_sqlite = op.get_context().dialect.name == "sqlite"
    key = [sa.ForeignKey("endpoint.id")] if on_sqlite else []
    op.create_table(
        "probe_sum",
        sa.Column("endpoint_id", _NUMBER, *key, primary_key=True, autoincrement=False),
        sa.Column("start", sa.Float(), primary_key=True, autoincrement=False),
        sa.Column("first_at", sa.Float(), nullable=False),
        sa.Column("last_at", sa.Float(), nullable=False),
        sa.Column("is_last_valid", _NUMBER, nullable=False),
        sa.Column("probes", _NUMBER, nullable=False),
        sa.Column("valid", _NUMBER, nullable=False),
        sa.Column("known_s", sa.Float(), nullable=False),
        sa.Column("up_s", sa.Float(), nullable=False),
        sa.Column("refused", _NUMBER, nullable=False),
        sa.Column("unconfirmed", _NUMBER, nullable=False),
        sa.Column("timed", _NUMBER, nullable=False),
        sa.Column("total_ms", sa.Float(), nullable=False),
        sa.Column("times", _TEXT, nullable=False),
        sqlite_with_rowid=False,
    )
