"""Write clauses of statements: columns and values, the elements of a list, a host with its subdomains.

The texts of INSERT and UPDATE are made once. A host's name may hold `_`, which LIKE takes for any character, so names
are compared as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


def insert(table: str, names: Iterable[str], more: str = "") -> str:
    """Return an INSERT into a table of the columns `names`, whose values have these names; `more` follows."""
    return _insert(table, tuple(names), more)


def update(table: str, names: Iterable[str], where: str) -> str:
    """Return an UPDATE of the columns `names`, whose values have these names, of the rows of a table with `where`."""
    return _update(table, tuple(names), where)


@lru_cache(maxsize=100)
def _insert(table: str, names: tuple[str, ...], more: str) -> str:
    columns, values = ", ".join(names), ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({columns}) VALUES ({values}) {more}".rstrip()  # noqa: S608 our own names


@lru_cache(maxsize=100)
def _update(table: str, names: tuple[str, ...], where: str) -> str:
    columns = ", ".join(f"{name} = :{name}" for name in names)
    return f"UPDATE {table} SET {columns} WHERE {where}"  # noqa: S608 our own names


def listed(placeholder: str) -> str:
    """Return the elements of a JSON list of numbers as a subquery: `id IN (SELECT …)`."""
    return f"(SELECT CAST(value AS BIGINT) FROM json_each({placeholder}))"  # noqa: S608 our own placeholder


def is_host_or_subdomain(column: str, parameter: str) -> str:
    """Return the SQL condition that the host in `column` is the one that `parameter` names, or a subdomain of it."""
    name = f"CAST({parameter} AS TEXT)"
    last = f"substr({column}, length({column}) - length({name}), length({name}) + 1)"
    return f"({column} = {name} OR {last} = '.' || {name})"
