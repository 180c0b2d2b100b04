"""Keep each running total in one row on PostgreSQL, too, since processes settle visits one after the other there."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_STATEMENTS = (
    "INSERT INTO counter (name, value) SELECT regexp_replace(name, '@[0-9]+$', ''), sum(value) FROM counter "
    "WHERE name ~ '@[0-9]+$' GROUP BY 1 ON CONFLICT (name) DO UPDATE SET value = counter.value + excluded.value",
    "DELETE FROM counter WHERE name ~ '@[0-9]+$'",
    "INSERT INTO counter (name, value) SELECT 'turn', last_value FROM turn_number "
    "ON CONFLICT (name) DO UPDATE SET value = greatest(counter.value, excluded.value)",
    "DROP SEQUENCE turn_number, url_number, host_number",
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql" and connection.scalar(sa.text("SELECT to_regclass('turn_number')")):
        for statement in _STATEMENTS:
            op.execute(statement)
