"""Add the tables of sources: what lists of records other catalogues state, and how much of each was read."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_HASH = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
_ZERO, _EMPTY = sa.text("0"), sa.text("''")


def upgrade() -> None:
    on_sqlite = op.get_context().dialect.name == "sqlite"
    op.create_table(
        "source",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("key", _HASH, unique=True, nullable=False),
        sa.Column("address", _TEXT, nullable=False),
        sa.Column("family", _TEXT, nullable=False),
        sa.Column("stated", _NUMBER),
        sa.Column("read", _NUMBER, server_default=_ZERO, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("reason", _TEXT, server_default=_EMPTY, nullable=False),
        sa.Column("window", _NUMBER),
        sa.Column("harvest", _NUMBER, server_default=_ZERO, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )
    op.create_table(
        "source_list",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("source_id", _NUMBER, *([sa.ForeignKey("source.id")] if on_sqlite else []), nullable=False),
        sa.Column("key", _HASH, unique=True, nullable=False),
        sa.Column("address", _TEXT, nullable=False),
        sa.Column("slice", _TEXT, server_default=_EMPTY, nullable=False),
        sa.Column("next_key", _HASH),
        sa.Column("stated", _NUMBER),
        sa.Column("read", _NUMBER, server_default=_ZERO, nullable=False),
        sa.Column("digest", _HASH),
        sa.Column("reason", _TEXT, server_default=_EMPTY, nullable=False),
    )
    op.create_index("source_list_source", "source_list", ["source_id"])
    op.create_index("source_list_next", "source_list", ["next_key"])
    op.create_table(
        "source_record",
        sa.Column(
            "source_id",
            _NUMBER,
            *([sa.ForeignKey("source.id")] if on_sqlite else []),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("key", _HASH, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
