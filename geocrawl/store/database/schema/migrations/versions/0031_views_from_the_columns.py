"""Make the views again from the columns of services and layers: the mean time of one answer is not shown."""

from alembic import op

from geocrawl.store.database.views import CREATE_VIEWS

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name, view in CREATE_VIEWS.items():
        op.execute(f"DROP VIEW IF EXISTS {name}")
        op.execute(view)
