"""Write the statements that make the tables of a new database of SQLite, from the classes of `store/database/schema`.

The full-text index and the triggers, which SQLModel cannot declare, stand here; `postgres/layout.py` has PostgreSQL's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sqlalchemy import Index
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from geocrawl.store.database.schema import TEXT_COLUMNS
from geocrawl.store.database.schema.models import METADATA, MODELS
from geocrawl.store.database.views import CREATE_VIEWS

_ALEMBIC_VERSION = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
_DECLARED = [each.name for model in MODELS for each in getattr(model, "__table_args__", ()) if isinstance(each, Index)]


@cache
def layout() -> tuple[str, ...]:
    """Return the statements that make every table, index, trigger and view, in their order."""
    return tuple(_statements())


def _statements() -> Iterator[str]:
    dialect = sqlite.dialect()
    yield _ALEMBIC_VERSION
    for table in METADATA.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        # In the declared order: of two indexes that fit a query equally, SQLite chooses by the order of their creation.
        for index in sorted(table.indexes, key=lambda each: _DECLARED.index(each.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))
    yield from _SEARCH
    yield from (str(view.compile(dialect=dialect)) for view in CREATE_VIEWS.values())


def _note(row: str) -> str:
    """Return the statements of a trigger that note the change of a service."""
    return (
        f"BEGIN DELETE FROM search_change WHERE service_id = {row}; "  # noqa: S608 our own
        f"INSERT INTO search_change (service_id) VALUES ({row}); END"
    )


_READ_OF_ENDPOINT = "service_id, status, health, level, url, deviations"
_SEARCH = (
    f"CREATE VIRTUAL TABLE search_text USING fts5({', '.join(TEXT_COLUMNS)}, "
    "tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* M* Co'\")",
    "CREATE VIRTUAL TABLE search_word USING fts5vocab(search_text, row)",
    f"CREATE TRIGGER search_service_written AFTER UPDATE ON service {_note('new.id')}",
    f"CREATE TRIGGER search_service_deleted AFTER DELETE ON service {_note('old.id')}",
    f"CREATE TRIGGER search_entry_added AFTER INSERT ON search_entry {_note('new.service_id')}",
    f"CREATE TRIGGER search_entry_written AFTER UPDATE ON search_entry {_note('new.service_id')}",
    f"CREATE TRIGGER search_endpoint_written AFTER UPDATE OF {_READ_OF_ENDPOINT} ON endpoint "
    f"WHEN new.service_id IS NOT NULL {_note('new.service_id')}",
    "CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON endpoint "
    f"WHEN old.service_id IS NOT NULL AND old.service_id IS NOT new.service_id {_note('old.service_id')}",
    "CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON endpoint "
    f"WHEN old.service_id IS NOT NULL {_note('old.service_id')}",
)
