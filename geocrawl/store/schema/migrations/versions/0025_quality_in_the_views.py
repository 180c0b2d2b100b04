"""Make the views anew: `v_services` has country, contact, availability, answer time, software and quality."""

from alembic import op

from geocrawl.store.engine.views import CREATE_VIEWS

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name, view in CREATE_VIEWS.items():
        op.execute(f"DROP VIEW IF EXISTS {name}")
        op.execute(view)
