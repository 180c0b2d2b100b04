"""Add the language of a service's texts; those that are stored are read."""

import sqlalchemy as sa
from alembic import op

from geocrawl.model.languages import language_of

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("service", sa.Column("language", _TEXT, nullable=False, server_default=sa.text("''")))
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT id, title, abstract FROM service")).fetchall()
    codes = [{"id": number, "code": code} for number, *texts in rows if (code := language_of(texts))]
    if codes:
        connection.execute(sa.text("UPDATE service SET language = :code WHERE id = :id"), codes)
