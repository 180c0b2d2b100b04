"""Write the layout of a new database (`schema.sql`) from the tables."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Index
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from geocrawl.store.schema import METADATA, MODELS
from geocrawl.store.schema.search import SEARCH_DDL
from geocrawl.store.schema.views import VIEWS, view_sql

_ALEMBIC_VERSION = """
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)""".strip()

_DECLARED = [each.name for model in MODELS for each in getattr(model, "__table_args__", ()) if isinstance(each, Index)]


def schema_sql() -> str:
    """Return the statements that make every table, index and view, each followed by ';' and an empty line."""
    return ";\n\n".join(_statements()) + "\n"


def _statements() -> Iterator[str]:
    yield _ALEMBIC_VERSION
    for table in METADATA.sorted_tables:
        yield _sql(CreateTable(table))
        # In the declared order: of two indexes that fit a query equally, SQLite chooses by the order of their creation.
        for index in sorted(table.indexes, key=lambda each: _DECLARED.index(each.name)):
            yield _sql(CreateIndex(index))
    yield from SEARCH_DDL
    for name in VIEWS:
        yield view_sql(name)


def _sql(element: ExecutableDDLElement) -> str:
    text = str(element.compile(dialect=sqlite.dialect()))
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
