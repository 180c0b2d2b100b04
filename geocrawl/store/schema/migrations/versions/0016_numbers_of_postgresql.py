"""Number settlements, URLs and hosts of PostgreSQL by sequences, for workers who write at the same time."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_LAST = {
    "turn_number": "SELECT max(value) FROM counter WHERE name = 'turn'",
    "url_number": "SELECT max(id) FROM url",
    "host_number": "SELECT max(id) FROM host",
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for name, last in _LAST.items():
        op.execute(f"CREATE SEQUENCE {name} MINVALUE 0 START 0")
        op.execute(f"SELECT setval('{name}', coalesce(({last}), 0))")
