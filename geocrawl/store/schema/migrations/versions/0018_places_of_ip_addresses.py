"""Let all processes keep the bound on requests to one IP address together, and tell kills from failed attempts.

On PostgreSQL processes now settle visits one after the other: running totals have one row each, and the number of the
last settlement is one of them.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Float, Integer, String, Text

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_TEXT = String().with_variant(Text(collation="C"), "postgresql")
_NUMBER = Integer().with_variant(BigInteger(), "postgresql")

_ONE_ROW_A_TOTAL = (
    "INSERT INTO counter (name, value) SELECT regexp_replace(name, '@[0-9]+$', ''), sum(value) FROM counter "
    "WHERE name ~ '@[0-9]+$' GROUP BY 1 ON CONFLICT (name) DO UPDATE SET value = counter.value + excluded.value",
    "DELETE FROM counter WHERE name ~ '@[0-9]+$'",
    "INSERT INTO counter (name, value) SELECT 'turn', last_value FROM turn_number "
    "ON CONFLICT (name) DO UPDATE SET value = greatest(counter.value, excluded.value)",
    "DROP SEQUENCE turn_number, url_number, host_number",
)


def upgrade() -> None:
    op.create_table(
        "ip_place",
        Column("ip", _TEXT, primary_key=True),
        Column("slot", _NUMBER, primary_key=True, autoincrement=False),
        Column("begins_at", Float, nullable=False),
        Column("until", Float, nullable=False),
        Column("owner", _TEXT, nullable=False),
        sqlite_with_rowid=False,
    )
    op.add_column("url", Column("kills", _NUMBER, nullable=False, server_default=sa.text("0")))
    op.create_index("ip_place_begins", "ip_place", ["begins_at"])
    if op.get_bind().dialect.name == "postgresql":
        for statement in _ONE_ROW_A_TOTAL:
            op.execute(statement)
