"""Add health of endpoints over time, and changes between two descriptions of a service."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, String

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("endpoint", Column("health", String, nullable=False, server_default=sa.text("'new'")))
    op.add_column("endpoint", Column("health_since", Float))
    op.add_column("endpoint", Column("in_a_row", Integer, nullable=False, server_default=sa.text("0")))
    op.add_column("endpoint", Column("interval_s", Float, nullable=False, server_default=sa.text("0")))
    op.add_column("endpoint", Column("due_at", Float))
    op.create_index("endpoint_due", "endpoint", ["due_at"], sqlite_where=sa.text("due_at IS NOT NULL"))
    # Endpoints valid before this step are alive, and those that failed since are in doubt: both are probed at once.
    op.execute(
        "UPDATE endpoint SET health = CASE WHEN status = 'valid' THEN 'alive' ELSE 'degraded' END, "
        "health_since = last_probe, in_a_row = CASE WHEN status = 'valid' THEN 1 ELSE -1 END, due_at = last_probe "
        "WHERE last_ok IS NOT NULL"
    )
    op.create_table(
        "health_event",
        Column("id", Integer, primary_key=True),
        Column("endpoint_id", Integer, ForeignKey("endpoint.id"), nullable=False),
        Column("at", Float, nullable=False),
        Column("before", String, nullable=False),
        Column("after", String, nullable=False),
        Column("reason", String, nullable=False),
    )
    op.create_index("health_event_endpoint", "health_event", ["endpoint_id", "at"])
    op.create_index("health_event_at", "health_event", ["at"])
    op.create_table(
        "change",
        Column("id", Integer, primary_key=True),
        Column("endpoint_id", Integer, ForeignKey("endpoint.id"), nullable=False),
        Column("service_id", Integer, nullable=False),
        Column("at", Float, nullable=False),
        Column("what", String, nullable=False),
        Column("name", String, nullable=False),
        Column("before", String, nullable=False),
        Column("after", String, nullable=False),
    )
    op.create_index("change_at", "change", ["at"])
    op.create_index("change_service", "change", ["service_id", "at"])
