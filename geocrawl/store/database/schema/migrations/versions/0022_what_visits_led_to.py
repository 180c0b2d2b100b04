"""Note the tier, the relevance of the link and the success of each visit."""

from alembic import op
from sqlalchemy import BigInteger, Column, Integer

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_NUMBER = Integer().with_variant(BigInteger(), "postgresql")


def upgrade() -> None:
    for name in ("link_relevance", "visit_tier", "led"):
        op.add_column("url", Column(name, _NUMBER, nullable=True))
