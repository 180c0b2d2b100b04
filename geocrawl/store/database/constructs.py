"""Expressions of statements that the two engines write differently, and that SQLAlchemy has no word for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Integer, Table, Text, bindparam, cast, func, literal_column
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement, ReturnTypeFromArgs
from sqlalchemy.types import TypeDecorator


def upsert(table: Table, *key: str, add: Sequence[str] = ()) -> Insert:
    """Return an INSERT that changes the row which has this key already: `add` names the columns to whose numbers the
    new ones are added, by default all columns but the key are replaced.

    It is SQLite's INSERT, which PostgreSQL's compiler writes as its own; `on_conflict_do_update` is for other changes.
    """
    row = insert(table)
    changed = {name: table.c[name] + row.excluded[name] for name in add}
    replaced = {column.name: row.excluded[column.name] for column in table.c if column.name not in key}
    return row.on_conflict_do_update(index_elements=key, set_=changed or replaced)


class greatest(ReturnTypeFromArgs[Any]):  # noqa: N801 named as the function
    """The greatest of some values. None of them may be NULL: SQLite's `max` is NULL then, `greatest` ignores it."""

    inherit_cache = True


class least(ReturnTypeFromArgs[Any]):  # noqa: N801 named as the function
    """The least of some values; none of them may be NULL."""

    inherit_cache = True


class utc_text(FunctionElement[str]):  # noqa: N801 named as the function
    """A time in seconds since the epoch as text, `2024-05-17T09:30:00Z`."""

    inherit_cache = True
    type = Text()


class whole(FunctionElement[int]):  # noqa: N801 named as the function
    """A number without its fraction."""

    inherit_cache = True
    type = Integer()


class json_member(FunctionElement[str]):  # noqa: N801 named as the function
    """The text of a member of a JSON object: `json_member(column, "code")`."""

    inherit_cache = True
    type = Text()


class json_elements(FunctionElement[str]):  # noqa: N801 named as the function
    """The elements of a JSON list as rows: `json_elements(column).table_valued("value")`."""

    inherit_cache = True


class json_list(FunctionElement[str]):  # noqa: N801 named as the function
    """The values of all rows as a JSON list, an aggregate."""

    inherit_cache = True
    type = Text()


class _List(TypeDecorator[Iterable[Any]]):
    """A list of values as one: an array where the engine has them, else JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Iterable[Any] | None, dialect: Dialect) -> Any:
        values = list(value or ())
        return json.dumps(values) if dialect.name == "sqlite" else values


class _InList(FunctionElement[bool]):
    inherit_cache = True
    type = Boolean()

    def self_group(self, against: object = None) -> Any:
        """Return the condition itself: without this, SQLite's compiler compares it with 1."""
        return self


def in_list(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return the condition that a column has one of the values in the list that is given by this name."""
    return _InList(column, bindparam(name, type_=_List()))


def is_host_or_subdomain(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return the condition that the host in a column is the one that the value of this name is, or a subdomain of it.

    A host's name may hold `_`, which LIKE takes for any character, so names are compared as they are."""
    host = cast(bindparam(name), Text)
    last = func.substr(column, func.length(column) - func.length(host), func.length(host) + 1)
    return (column == host) | (last == literal_column("'.'") + host)


# --------------------------------------------------------------------------- as SQLite and PostgreSQL write them


def _json(document: str) -> str:
    """Return PostgreSQL's JSON of a text, which may hold NUL, as PostgreSQL's text cannot."""
    return rf"CAST(replace({document}, '\u0000', '\ufffd') AS json)"


_UTC_TEXT = """to_char(to_timestamp(floor({all})) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
_TEXTS: tuple[tuple[type[FunctionElement[Any]], str, str], ...] = (
    (greatest, "max({all})", "greatest({all})"),
    (least, "min({all})", "least({all})"),
    (utc_text, "strftime('%Y-%m-%dT%H:%M:%SZ', {all}, 'unixepoch')", _UTC_TEXT),
    (whole, "CAST({all} AS INTEGER)", "CAST(trunc({all}) AS BIGINT)"),
    (json_member, "({0} ->> {1})", f"({_json('{0}')} ->> {{1}})"),
    (json_elements, "json_each({all})", f"json_array_elements_text({_json('{all}')})"),
    (json_list, "json_group_array({all})", "CAST(coalesce(json_agg({all}), '[]') AS text)"),
)
"""Each expression as SQLite and as PostgreSQL write it; `{all}`: its arguments, `{0}` and `{1}`: the first and second.
"""


def _each(element: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> list[str]:
    return [compiler.process(clause, **options) for clause in element.clauses]


def _declare(construct: type[FunctionElement[Any]], dialect: str, text: str) -> None:
    @compiles(construct, dialect)
    def _(element: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> str:
        arguments = _each(element, compiler, **options)
        return text.format(*arguments, all=", ".join(arguments))


for _construct, _sqlite, _postgres in _TEXTS:
    _declare(_construct, "sqlite", _sqlite)
    _declare(_construct, "postgresql", _postgres)


@compiles(_InList, "sqlite")
def _(element: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> str:
    column, values = _each(element, compiler, **options)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 compiled expressions


@compiles(_InList, "postgresql")
def _(element: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> str:
    # An array is looked up by an index, whatever the planner knows of the table. Without SELECT the planner sees the
    # array's length, and reads the whole table for a long one.
    column, values = _each(element, compiler, **options)
    kind = "bigint[]" if isinstance(next(iter(element.clauses)).type, Integer) else "text[]"
    return f"{column} = ANY (CAST((SELECT CAST({values} AS {kind})) AS {kind}))"
