"""Find the changes of an endpoint without looking through those of all others."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("change_endpoint", "change", ["endpoint_id", "at"])
