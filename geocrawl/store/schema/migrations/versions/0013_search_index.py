"""Add the search index in the place of `service_text`.

The index is empty at first: a service without a row in `search_entry` is added to it when a database is opened to be
written (`store.search.upkeep`), in short transactions, so that a large catalogue is not locked for minutes.
"""

from alembic import op
from sqlalchemy import Column, Integer, String

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DROP TABLE service_text")
    op.create_table(
        "search_entry",
        Column("service_id", Integer, primary_key=True),
        Column("systems", Integer, nullable=False),
        Column("formats", Integer, nullable=False),
        Column("country", String, nullable=False),
        Column("title_words", Integer, nullable=False),
        Column("words", Integer, nullable=False),
        Column("completeness", Integer, nullable=False),
        Column("evidence", Integer, nullable=False),
    )
    op.create_table(
        "search_list",
        Column("id", Integer, primary_key=True),
        Column("digest", String, nullable=False, unique=True),
        Column("items", String, nullable=False),
    )
    op.create_table(
        "search_change",
        Column("seq", Integer, primary_key=True),
        Column("service_id", Integer, nullable=False, unique=True),
        sqlite_autoincrement=True,
    )
    op.execute(
        "CREATE VIRTUAL TABLE search_text USING fts5("
        "title, keywords, layers, abstract, provider, found, address, "
        "tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* M* Co'\")"
    )
    op.execute("CREATE VIRTUAL TABLE search_word USING fts5vocab(search_text, row)")
    for statement in _triggers():
        op.execute(statement)


def _triggers() -> list[str]:
    def note(row: str) -> str:
        return (
            f"DELETE FROM search_change WHERE service_id = {row}; "  # noqa: S608 our own
            f"INSERT INTO search_change (service_id) VALUES ({row});"
        )

    read = "service_id, status, health, level, url, deviations"
    return [
        f"CREATE TRIGGER search_service_written AFTER UPDATE ON service BEGIN {note('new.id')} END",
        f"CREATE TRIGGER search_service_deleted AFTER DELETE ON service BEGIN {note('old.id')} END",
        f"CREATE TRIGGER search_entry_added AFTER INSERT ON search_entry BEGIN {note('new.service_id')} END",
        f"CREATE TRIGGER search_entry_written AFTER UPDATE ON search_entry BEGIN {note('new.service_id')} END",
        f"CREATE TRIGGER search_endpoint_written AFTER UPDATE OF {read} ON endpoint "
        f"WHEN new.service_id IS NOT NULL BEGIN {note('new.service_id')} END",
        "CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON endpoint "
        "WHEN old.service_id IS NOT NULL AND old.service_id IS NOT new.service_id "
        f"BEGIN {note('old.service_id')} END",
        "CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON endpoint "
        f"WHEN old.service_id IS NOT NULL BEGIN {note('old.service_id')} END",
    ]
