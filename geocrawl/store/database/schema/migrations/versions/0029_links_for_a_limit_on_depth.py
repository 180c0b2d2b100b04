"""Keep the links of visited pages only while there is a limit on depth."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_NO_LIMIT = 1_000_000
_META = sa.table("meta", sa.column("name"), sa.column("value"))
_LIMIT = sa.select(_META.c.value).where(_META.c.name == "max_depth")
_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    connection = op.get_bind()
    limit = connection.execute(_LIMIT).scalar()
    if limit is None or int(limit) >= _NO_LIMIT:
        op.drop_table("outlinks")
        op.create_table(
            "outlinks",
            sa.Column("url_id", _NUMBER, primary_key=True),
            sa.Column("links", sa.LargeBinary(), nullable=False),
            sa.Column("moved", _NUMBER, server_default=sa.text("0"), nullable=False),
        )
    else:
        op.add_column("outlinks", sa.Column("moved", _NUMBER, server_default=sa.text("0"), nullable=False))
    is_moved = sa.text("moved > 0")
    op.create_index("outlinks_moved", "outlinks", ["moved"], sqlite_where=is_moved, postgresql_where=is_moved)
    connection.execute(sa.delete(_META).where(_META.c.name.like("shortcuts:%")))
