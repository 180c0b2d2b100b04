"""Kinds of columns that more than one table of the schema has."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Integer, TextClause
from sqlmodel import Field

HASH = BigInteger().with_variant(Integer(), "sqlite")
"""A signed 64-bit hash (`store/keys.py`). SQLite's INTEGER holds 64 bits, and a primary key is the row's own number
only when it is declared as INTEGER; other engines need BIGINT."""


def starting_with(text: str | TextClause, value: float | str) -> Any:
    """Return a field whose column is `text` in a row that does not name it; `value` is the same in Python.

    The database fills it in, not SQLAlchemy: an INSERT then names what its writer gives and nothing else.
    """
    return Field(default=value, sa_column_kwargs={"server_default": text, "default": None})
