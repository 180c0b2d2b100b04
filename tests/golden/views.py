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
KEPT = {"v_services": (0, 4, 14, 24), "v_layers": (0, 1, 50, 99), "v_health": (0, 5, 14, 20)}
"""Positions of the rows that are kept of a view: texts in Chinese and English, several kinds, an invalid endpoint."""


def texts(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield name and text of each view, and of the list of them."""
    with closing(_connection(catalogue)) as connection:
        views = _views(connection, catalogue)
        yield "views/all", "".join(f"{view}\n" for view in views)
        for view in views:
            rows = catalogue.layout.listed(list(_rows(connection, view)), KEPT[view])
            yield f"views/{view}", catalogue.masked("".join(f"{row}\n" for row in rows))


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


def _rows(connection: Any, view: str) -> Iterator[str]:
    """Yield the rows, with a line for each value: the key of the row, the column, the value."""
    keys = KEYS.get(view, 1)
    order = ", ".join(str(number + 1) for number in range(keys))
    cursor = connection.execute(f"SELECT * FROM {view} ORDER BY {order}")
    columns = [column[0] for column in cursor.description]
    for row in cursor.fetchall():
        key = ".".join(map(str, row[:keys]))
        yield "\n".join(f"{key} {column} = {_shown(column, value)}" for column, value in zip(columns, row, strict=True))


def _shown(column: str, value: object) -> str:
    """Return a value as text; PostgreSQL has shares as decimals, and other blanks in JSON."""
    if column in VOLATILE_NAMES and value is not None:
        return f"<{column}>"
    if isinstance(value, str) and value.startswith("["):
        value = json.dumps(json.loads(value), ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False, default=float)
