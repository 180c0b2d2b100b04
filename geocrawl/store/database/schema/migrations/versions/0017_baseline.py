"""Begin: the schema of the oldest databases that are upgraded. New ones are made from the tables, not by migrations."""

revision = "0017"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    raise SystemExit("a new database is made by the program (`geocrawl seeds add …`), and not by migrations")
