"""Add endpoints' descriptions of themselves, to match endpoints of one service and choose its best address."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, String

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "description",
        Column("endpoint_id", Integer, ForeignKey("endpoint.id"), primary_key=True),
        Column("key", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("family", String, nullable=False),
        Column("fingerprint", String, nullable=False),
        Column("items", String, nullable=False),
        Column("telling", Integer, nullable=False),
        Column("calls_itself", String, nullable=False),
        Column("provider", String, nullable=False),
    )
    op.create_index("description_fingerprint", "description", ["kind", "fingerprint"])
    op.create_index("description_family", "description", ["kind", "family"])
    op.add_column("service", Column("best_id", Integer))
    # Endpoints that were one service stay so until they are probed again.
    op.execute(
        "INSERT INTO same_service (first_id, second_id, signal, detail, same, at) "
        "SELECT min(e.id), other.id, 'document', 'the same document on one site', 1, coalesce(other.last_ok, 0) "
        "FROM endpoint e JOIN endpoint other ON other.service_id = e.service_id AND other.id > e.id GROUP BY other.id"
    )
    op.execute(sa.text("UPDATE service SET best_id = (SELECT min(id) FROM endpoint WHERE service_id = service.id)"))
