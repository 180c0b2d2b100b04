"""Add the code of a service's licence, which its texts name: the texts that are stored are read."""

import sqlalchemy as sa
from alembic import op

from geocrawl.model.licences import licence_of

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_TEXT = sa.String().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("service", sa.Column("licence", _TEXT, nullable=False, server_default=sa.text("''")))
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT id, access_constraints, fees FROM service")).fetchall()
    codes = [{"id": number, "code": code} for number, *texts in rows if (code := licence_of(*texts))]
    if codes:
        connection.execute(sa.text("UPDATE service SET licence = :code WHERE id = :id"), codes)
