"""Define types of columns that several tables share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Integer, TextClause
from sqlmodel import Field

HASH = BigInteger().with_variant(Integer(), "sqlite")
"""A signed 64-bit hash (`keys.py`). SQLite's INTEGER has 64 bits, and only a primary key declared as INTEGER
is the row's own number; other engines need BIGINT.
"""


def starting_with(text: str | TextClause, value: float | str) -> Any:
    """Return a field with the default `text` in the database, which is `value` in Python.

    The database fills in the default, not SQLAlchemy, so that an INSERT names only the columns that its author wrote.
    """
    return Field(default=value, sa_column_kwargs={"server_default": text, "default": None})
