"""Note for each endpoint what its server's other protocols have in common."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Integer

from geocrawl.store.database.keys import twin_key

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_HASH = BigInteger().with_variant(Integer(), "sqlite")
_ENDPOINT = sa.table("endpoint", sa.column("id"), sa.column("key"), sa.column("server"))
_WRITE = sa.update(_ENDPOINT).where(_ENDPOINT.c.id == sa.bindparam("endpoint")).values(server=sa.bindparam("own"))


def upgrade() -> None:
    op.add_column("endpoint", Column("server", _HASH))
    connection = op.get_bind()
    rows = connection.execute(sa.select(_ENDPOINT.c.id, _ENDPOINT.c.key)).all()
    if rows:
        connection.execute(_WRITE, [{"endpoint": number, "own": twin_key(key)} for number, key in rows])
    op.create_index("endpoint_server", "endpoint", ["server"])
