"""Begin: the schema that commit 0504a682 wrote. New databases are made from the tables, not by migrations."""

revision = "0028"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    raise SystemExit("a new database is made by the program (`geocrawl seeds add …`), and not by migrations")
