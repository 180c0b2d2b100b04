"""Add the fields of the features of layers, known from their next content check on, and those of a service to the
search."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("layer", sa.Column("fields", _TEXT, nullable=False, server_default=sa.text("'[]'")))
    op.add_column("search_entry", sa.Column("fields", _NUMBER, nullable=False, server_default=sa.text("0")))
