"""The rows of the views for SQL (docs/database.md)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from tests.golden.catalogue import Catalogue
from tests.golden.masks import VOLATILE_NAMES

KEYS = {"v_layers": 2}
"""How many of a view's first columns tell a row from all others, where it is not one."""


def texts(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield name and text of each view, and of the list of them."""
    with closing(_connection(catalogue)) as connection:
        views = _views(connection, catalogue)
        yield "views/all", "".join(f"{view}\n" for view in views)
        for view in views:
            lines = list(_lines(connection, view))
            yield f"views/{view}", catalogue.masked("".join(f"{line}\n" for line in lines))


def _connection(catalogue: Catalogue) -> Any:
    if catalogue.server is None:
        return sqlite3.connect(f"file:{catalogue.url}?mode=ro", uri=True)
    import psycopg

    return psycopg.connect(catalogue.url, options="-c search_path=geocrawl")


def _views(connection: Any, catalogue: Catalogue) -> list[str]:
    statement = (
        "SELECT name FROM sqlite_master WHERE type = 'view'"
        if catalogue.server is None
        else "SELECT table_name FROM information_schema.views WHERE table_schema = 'geocrawl'"
    )
    return sorted(row[0] for row in connection.execute(statement).fetchall() if row[0].startswith("v_"))


def _lines(connection: Any, view: str) -> Iterator[str]:
    """Yield a line for each value: the key of its row, its column, the value."""
    keys = KEYS.get(view, 1)
    order = ", ".join(str(number + 1) for number in range(keys))
    cursor = connection.execute(f"SELECT * FROM {view} ORDER BY {order}")
    columns = [each[0] for each in cursor.description]
    for row in cursor.fetchall():
        key = ".".join(map(str, row[:keys]))
        for column, value in zip(columns, row, strict=True):
            shown = f"<{column}>" if column in VOLATILE_NAMES and value is not None else _shown(value)
            yield f"{key} {column} = {shown}"


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=float)  # PostgreSQL has shares as decimals
