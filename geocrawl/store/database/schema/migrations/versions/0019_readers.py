"""Note which reader read the description of a service."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, String, Text

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_TEXT = String().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("service", Column("read_by", _TEXT, nullable=False, server_default=sa.text("''")))
