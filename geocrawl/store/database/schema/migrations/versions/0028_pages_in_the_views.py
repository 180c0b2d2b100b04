"""Keep the addresses of pages that named endpoints without their keys, and show them in the views."""

import sqlalchemy as sa
from alembic import op

from geocrawl.sanitize import masked
from geocrawl.store.database.views import CREATE_VIEWS

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
_EVIDENCE = sa.table("evidence", sa.column("id"), sa.column("page"), sa.column("masked_page"))
_WRITE = sa.update(_EVIDENCE).where(_EVIDENCE.c.id == sa.bindparam("number")).values(masked_page=sa.bindparam("shown"))


def upgrade() -> None:
    op.add_column("evidence", sa.Column("masked_page", _TEXT))
    connection = op.get_bind()
    pages = connection.execute(sa.select(_EVIDENCE.c.id, _EVIDENCE.c.page))
    rows = [{"number": number, "shown": shown} for number, page in pages if (shown := masked(page)) != page]
    if rows:
        connection.execute(_WRITE, rows)
    for name, view in CREATE_VIEWS.items():
        op.execute(f"DROP VIEW IF EXISTS {name}")
        op.execute(view)
