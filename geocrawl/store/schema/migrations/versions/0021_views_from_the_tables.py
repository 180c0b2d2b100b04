"""Make the views anew: their statements are now written with the tables, and compiled for each engine."""

from alembic import op

from geocrawl.store.engine.views import CREATE_VIEWS

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name, view in CREATE_VIEWS.items():
        op.execute(f"DROP VIEW IF EXISTS {name}")
        op.execute(view)
