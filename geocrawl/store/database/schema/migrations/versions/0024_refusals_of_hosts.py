"""Count the refusals of each host against its good answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Integer

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_NUMBER = Integer().with_variant(BigInteger(), "postgresql")


def upgrade() -> None:
    op.add_column("host", Column("refusals", _NUMBER, nullable=False, server_default=sa.text("0")))
