"""Write the statements whose columns are those of given values: INSERT and UPDATE. A text is made once."""

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
