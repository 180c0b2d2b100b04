"""Define what columns of several tables share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import TextClause
from sqlmodel import Field


def starting_with(text: str | TextClause, value: float | str) -> Any:
    """Return a field with the default `text` in the database, which is `value` in Python.

    The database fills in the default, not SQLAlchemy, so that an INSERT names only the columns that its author wrote.
    """
    return Field(default=value, sa_column_kwargs={"server_default": text, "default": None})
