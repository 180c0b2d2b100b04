"""Count of a pattern the addresses that wait in the lowest tier, in place of those that were served late."""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("UPDATE pattern SET fruitless = CASE WHEN late < fruitless THEN fruitless - late ELSE 0 END, late = 0")
    op.execute("DELETE FROM meta WHERE name = 'patterns:lifted'")
