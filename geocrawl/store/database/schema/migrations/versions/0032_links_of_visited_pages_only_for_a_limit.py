"""Bring a database of the schema 0028 up to date.

- The links of visited pages are kept only while a limit on depth is set, and a mark says which are to be followed.
- Of a pattern the addresses that wait in the lowest tier are counted, in place of those that were served late.
- Facts that only the former program read are dropped.
- The views are made again from the columns of services and layers.
"""

import sqlalchemy as sa
from alembic import op

from geocrawl.settings import NO_DEPTH_LIMIT
from geocrawl.store.database.views import CREATE_VIEWS

revision = "0032"
down_revision = "0028"
branch_labels = None
depends_on = None

_META = sa.table("meta", sa.column("name"), sa.column("value"))
_LIMIT = sa.select(_META.c.value).where(_META.c.name == "max_depth")
_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_STATEMENTS = (
    "UPDATE pattern SET fruitless = CASE WHEN late < fruitless THEN fruitless - late ELSE 0 END, late = 0",
    "DELETE FROM meta WHERE name IN ('patterns:lifted', 'strategy:learner-until', 'daemon:lease')",
    "DELETE FROM meta WHERE name LIKE 'shortcuts:%' OR name LIKE 'worker:%' OR name LIKE 'member:%'",
)


def upgrade() -> None:
    limit = op.get_bind().execute(_LIMIT).scalar()
    moved = sa.Column("moved", _NUMBER, server_default=sa.text("0"), nullable=False)
    if limit is None or int(limit) >= NO_DEPTH_LIMIT:
        op.drop_table("outlinks")  # takes milliseconds, where deleting its rows takes minutes
        links = sa.Column("links", sa.LargeBinary(), nullable=False)
        op.create_table("outlinks", sa.Column("url_id", _NUMBER, primary_key=True), links, moved)
    else:
        op.add_column("outlinks", moved)
    is_moved = sa.text("moved > 0")
    op.create_index("outlinks_moved", "outlinks", ["moved"], sqlite_where=is_moved, postgresql_where=is_moved)
    for statement in _STATEMENTS:
        op.execute(statement)
    for name, view in CREATE_VIEWS.items():
        op.execute(f"DROP VIEW IF EXISTS {name}")
        op.execute(view)
