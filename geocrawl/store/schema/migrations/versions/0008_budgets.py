"""Add budgets of URL patterns and sites, quarantined sites, counts of refused URLs by reason."""

from alembic import op
from sqlalchemy import Column, Float, Integer, String

from geocrawl.urls import site_of

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pattern",
        Column("key", Integer, primary_key=True),
        Column("fruitless", Integer, nullable=False),
        Column("finds", Integer, nullable=False),
        Column("last_relevance", Integer, nullable=False),
    )
    op.create_table(
        "site",
        Column("name", String, primary_key=True),
        Column("hosts", Integer, nullable=False),
        Column("held_at", Float),
        Column("held_for", String, nullable=False),
        Column("released", Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "alike",
        Column("key", Integer, primary_key=True),
        Column("services", Integer, nullable=False),
    )
    _count_what_is_there()


def _count_what_is_there() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql(
        "INSERT INTO counter (name, value) SELECT 'refused:' || reason, count(*) FROM url WHERE state = 'refused' "
        "AND reason IS NOT NULL AND reason NOT IN ('unranked', 'candidate') GROUP BY reason"
    )
    counts: dict[str, int] = {}
    for (host,) in connection.exec_driver_sql("SELECT name FROM host"):
        counts[site_of(host)] = counts.get(site_of(host), 0) + 1
    for site, hosts in counts.items():
        connection.exec_driver_sql(
            "INSERT INTO site (name, hosts, held_at, held_for, released) VALUES (?, ?, NULL, '', 0)", (site, hosts)
        )
