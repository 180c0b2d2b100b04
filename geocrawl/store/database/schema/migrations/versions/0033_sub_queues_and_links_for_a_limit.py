"""Bring a database of the schema 0028 up to date.

- The links of visited pages are kept only while a limit on depth is set, and a mark says which are to be followed.
- Of a pattern the addresses that wait in the lowest tier are counted, in place of those that were served late.
- The sub-queue of a page is stored in place of the level of the link at its last visit, and visits are counted by it.
  It is not known of pages that were never visited.
- Facts that only the former program read are dropped.
"""

import sqlalchemy as sa
from alembic import op

from geocrawl.settings import NO_DEPTH_LIMIT

revision = "0033"
down_revision = "0028"
branch_labels = None
depends_on = None

_META = sa.table("meta", sa.column("name"), sa.column("value"))
_LIMIT = sa.select(_META.c.value).where(_META.c.name == "max_depth")
_NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_STATEMENTS = (
    "UPDATE pattern SET fruitless = CASE WHEN late < fruitless THEN fruitless - late ELSE 0 END, late = 0",
    "ALTER TABLE url RENAME COLUMN link_relevance TO sub_queue",
    "UPDATE url SET sub_queue = 3 * sub_queue + coalesce((SELECT page.relevance FROM url AS page "
    "WHERE page.id = url.found_on), 0) WHERE sub_queue IS NOT NULL AND found_on IS NOT NULL",
    "UPDATE url SET sub_queue = 8 WHERE depth = 0 AND purpose = 'page' AND found_on IS NULL",
    "DELETE FROM counter WHERE name LIKE 'visits:page:%' OR name LIKE 'visits:link:%' OR name LIKE 'led:page:%' "
    "OR name LIKE 'led:link:%'",
    "INSERT INTO counter (name, value) SELECT 'visits:sub-queue:' || sub_queue, count(*) FROM url "
    "WHERE sub_queue IS NOT NULL AND visit_tier IS NOT NULL GROUP BY sub_queue",
    "INSERT INTO counter (name, value) SELECT 'led:sub-queue:' || sub_queue, sum(led) FROM url "
    "WHERE sub_queue IS NOT NULL AND visit_tier IS NOT NULL GROUP BY sub_queue",
    "INSERT INTO counter (name, value) SELECT 'queued:8', count(*) FROM url "
    "WHERE sub_queue = 8 AND state = 'waiting' HAVING count(*) > 0",
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
