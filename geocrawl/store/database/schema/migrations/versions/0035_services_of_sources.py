"""Add which services the records of a source name: the number of such records, and the endpoints."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_ZERO = sa.text("0")


def upgrade() -> None:
    on_sqlite = op.get_context().dialect.name == "sqlite"
    op.add_column("source", sa.Column("named", _NUMBER, server_default=_ZERO, nullable=False))
    op.create_table(
        "source_service",
        sa.Column(
            "source_id",
            _NUMBER,
            *([sa.ForeignKey("source.id")] if on_sqlite else []),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("endpoint_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("is_new", _NUMBER, nullable=False),
        sqlite_with_rowid=False,
    )
