"""Count the probes of an endpoint by its index alone: those of a service that is asked every five minutes are many."""

from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("probe_endpoint", table_name="probe")
    op.create_index("probe_endpoint", "probe", ["endpoint_id", "at", "status"])
