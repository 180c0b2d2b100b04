"""Write the statements that make a new database of PostgreSQL: the tables, and what SQLite has besides them.

- Text is compared by its bytes (`COLLATE "C"`), as SQLite does. Numbers have 64 bits.
- There are no foreign keys: each would lock the row that it refers to, and of those the most wanted are hosts. The
  tests of the store run with SQLite's, which check the same statements.
- Some functions of SQLite are defined here, so that people's own statements run on both engines. Those of JSON replace
  NUL, which JSON may write and PostgreSQL's text cannot hold.
- The words of services are a `tsvector` beside the texts (`store/catalogue/index/postgres.py`), in the place of FTS5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, String, Table, Text, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement, ForeignKeyConstraint
from sqlalchemy.types import TypeEngine
from sqlmodel import AutoString

from geocrawl.store.database.schema import TEXT_COLUMNS
from geocrawl.store.database.schema.models import METADATA
from geocrawl.store.database.views import CREATE_VIEWS

_NUMBERED = (
    *("change", "downtime", "evidence", "health_event", "lesson", "notice", "probe"),
    *("run", "search_change", "search_list", "service", "source", "source_list", "watch"),
)
"""Tables whose rows the database numbers; the ids of others are planned or belong to another table."""
_SMALL = frozenset({"attempts", "changes", "depth", "hops", "http_status", "relevance", "tier"})
"""Numbers that each URL has and that fit into 32 bits."""
_BYTES = frozenset({("robots", "body")})
_LAST_IN_INDEX = {"url_queue": "id", "host_ready": "id"}
"""In SQLite each index ends with the row's number, by which these are sorted at last."""
_ALEMBIC_VERSION = "CREATE TABLE alembic_version (version_num text PRIMARY KEY)"
_LEAST = "CREATE FUNCTION {name}(a {kind}, b {kind}) RETURNS {kind} LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {value}"
_FUNCTIONS = (
    *(
        _LEAST.format(name=name, kind=kind, value=f"CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE {chosen}(a, b) END")
        for name, chosen in (("max", "greatest"), ("min", "least"))
        for kind in ("bigint", "double precision")
    ),
    "CREATE FUNCTION instr(a text, b text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN strpos(a, b)",
    "CREATE FUNCTION json_extract(a text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN "
    "CASE WHEN path LIKE '$.%' THEN CAST(replace(a, '\\u0000', '\\ufffd') AS json) ->> substr(path, 3) "
    "ELSE CAST(replace(a, '\\u0000', '\\ufffd') AS json) ->> CAST(btrim(path, '$[]') AS integer) END",
    "CREATE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20 "
    "AS $$\n"
    "WITH given AS (SELECT CAST(replace(list, '\\u0000', '\\ufffd') AS json) AS l)\n"
    "SELECT a.value FROM given, json_array_elements_text(CASE WHEN json_typeof(l) = 'array' THEN l ELSE '[]' END) a\n"
    "UNION ALL SELECT o.value FROM given, json_each_text(CASE WHEN json_typeof(l) = 'object' THEN l ELSE '{}' END) o"
    " $$",
)
_SEARCH_TABLE = (
    "CREATE TABLE search_text (rowid bigint PRIMARY KEY, "
    + ", ".join(f'{name} text COLLATE "C" NOT NULL' for name in TEXT_COLUMNS)
    + ", words tsvector NOT NULL, fields tsvector NOT NULL)"
)
_NOTE = """
CREATE FUNCTION note_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = {row};
  INSERT INTO search_change (service_id) VALUES ({row});
  RETURN NULL;
END $$""".strip()
_READ_OF_ENDPOINT = "service_id, status, health, level, url, deviations"
_SEARCH = (
    _SEARCH_TABLE,
    "CREATE INDEX search_text_words ON search_text USING gin (words)",
    "CREATE INDEX search_text_fields ON search_text USING gin (fields)",
    _NOTE.format(name="new", row="new.id"),
    _NOTE.format(name="old", row="old.id"),
    _NOTE.format(name="new_service", row="new.service_id"),
    _NOTE.format(name="old_service", row="old.service_id"),
    "CREATE TRIGGER search_service_written AFTER UPDATE ON service FOR EACH ROW EXECUTE FUNCTION note_new()",
    "CREATE TRIGGER search_service_deleted AFTER DELETE ON service FOR EACH ROW EXECUTE FUNCTION note_old()",
    "CREATE TRIGGER search_entry_written AFTER INSERT OR UPDATE ON search_entry FOR EACH ROW "
    "EXECUTE FUNCTION note_new_service()",
    f"CREATE TRIGGER search_endpoint_written AFTER UPDATE OF {_READ_OF_ENDPOINT} ON endpoint FOR EACH ROW "
    "WHEN (new.service_id IS NOT NULL) EXECUTE FUNCTION note_new_service()",
    "CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON endpoint FOR EACH ROW "
    "WHEN (old.service_id IS NOT NULL AND old.service_id IS DISTINCT FROM new.service_id) "
    "EXECUTE FUNCTION note_old_service()",
    "CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON endpoint FOR EACH ROW "
    "WHEN (old.service_id IS NOT NULL) EXECUTE FUNCTION note_old_service()",
)


def layout() -> str:
    """Return the statements that make every table, index, function, trigger and view, each followed by ';'."""
    return ";\n".join(_statements()) + ";\n"


def _tables() -> MetaData:
    """Return the tables with PostgreSQL's types, and without foreign keys."""
    made = MetaData()
    for table in METADATA.sorted_tables:
        copy = table.to_metadata(made)
        copy.constraints -= {
            constraint for constraint in copy.constraints if isinstance(constraint, ForeignKeyConstraint)
        }
        for column in copy.columns:
            column.foreign_keys.clear()
            column.type = _type_of(column)
            column.autoincrement = table.name in _NUMBERED and column.primary_key
        former = set(copy.indexes)
        copy.indexes.clear()
        for index in former:
            _add_index(index)
    return made


def _type_of(column: Column[Any]) -> TypeEngine[Any]:
    if (column.table.name, column.name) in _BYTES:
        return LargeBinary()
    if isinstance(column.type, String | AutoString):
        return Text(collation="C")
    if isinstance(column.type, Integer):
        return Integer() if column.name in _SMALL else BigInteger()
    return column.type


def _statements() -> Iterator[str]:
    yield _ALEMBIC_VERSION
    for table in _tables().sorted_tables:
        yield _sql(CreateTable(table))
        yield from (_sql(CreateIndex(index)) for index in _in_order(table))
    yield from _FUNCTIONS
    yield from _SEARCH
    yield from map(_sql, CREATE_VIEWS.values())


def _add_index(index: Index) -> None:
    """Add an index with PostgreSQL's form of the condition to the table of its columns."""
    last = _LAST_IN_INDEX.get(str(index.name))
    where = index.dialect_options["sqlite"].get("where")
    Index(index.name, *index.expressions, *([text(last)] if last else []), postgresql_where=where)


def _in_order(table: Table) -> list[Index]:
    return sorted(table.indexes, key=lambda index: str(index.name))


def _sql(element: ExecutableDDLElement) -> str:
    # With psycopg's style of parameters each % of a text would be doubled.
    return str(element.compile(dialect=postgresql.dialect(paramstyle="named")))  # type: ignore[no-untyped-call]
