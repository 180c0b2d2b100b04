"""Add services of every kind, their content checks, and which endpoints are one service."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, String

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("layer", Column("item", String, nullable=False, server_default=sa.text("'layer'")))
    op.add_column("layer", Column("formats", String, nullable=False, server_default=sa.text("'[]'")))
    op.add_column("endpoint", Column("level", String))
    op.add_column("endpoint", Column("proved_at", Float))
    op.add_column("endpoint", Column("https", Integer))
    op.add_column("endpoint", Column("cors", String))
    op.create_table(
        "proof",
        Column("endpoint_id", Integer, ForeignKey("endpoint.id"), primary_key=True),
        Column("position", Integer, primary_key=True),
        Column("layer", String, nullable=False),
        Column("crs", String, nullable=False),
        Column("outcome", String, nullable=False),
        Column("elapsed_ms", Float, nullable=False),
        Column("detail", String, nullable=False),
        Column("url", String, nullable=False),
    )
    op.create_table(
        "thumbnail",
        Column("endpoint_id", Integer, ForeignKey("endpoint.id"), primary_key=True),
        Column("at", Float, nullable=False),
        Column("image", LargeBinary, nullable=False),
    )
    op.create_table(
        "same_service",
        Column("first_id", Integer, ForeignKey("endpoint.id"), primary_key=True),
        Column("second_id", Integer, ForeignKey("endpoint.id"), primary_key=True),
        Column("signal", String, primary_key=True),
        Column("detail", String, nullable=False),
        Column("same", Integer, nullable=False),
        Column("at", Float, nullable=False),
    )
    op.create_index("same_service_second", "same_service", ["second_id"])
