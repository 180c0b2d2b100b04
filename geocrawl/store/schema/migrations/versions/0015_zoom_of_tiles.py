"""Add the zoom level of tiles that were requested as proof."""

from alembic import op
from sqlalchemy import Column, Integer

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("proof", Column("zoom", Integer))
