"""Copy the words of the search index from one database into another, of the same or another engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.schema import TEXT_COLUMNS
from geocrawl.store.search import postgres
from geocrawl.store.search.upkeep import merge_segments

_AT_ONCE = 200
"""Services of one transaction: the words of a server with thousands of layers are hundreds of kilobytes."""
_NEXT = f"SELECT rowid, {', '.join(TEXT_COLUMNS)} FROM search_text WHERE rowid > ? ORDER BY rowid LIMIT {_AT_ONCE}"  # noqa: S608 our own names


def copy_words(source: Connection, target: Database) -> int:
    """Copy the folded texts of all services into an index without any; return how many services they are of."""
    connection, count = target.connection, 0
    is_server = connection.engine == "postgresql"
    columns = ("rowid", *TEXT_COLUMNS, "words", "fields") if is_server else ("rowid", *TEXT_COLUMNS)
    for rows in _portions(source):
        if is_server:
            rows = [postgres.text_row(number, dict(zip(TEXT_COLUMNS, texts, strict=True))) for number, *texts in rows]
        with target.transaction:
            connection.add_rows("search_text", columns, rows)
        count += len(rows)
    for _ in merge_segments(target, few=1):
        pass  # nobody else works on a database that is being filled
    return count


def _portions(source: Connection) -> Iterator[list[Any]]:
    rows = source.execute(_NEXT, (0,)).fetchall()
    while rows:
        yield rows
        rows = source.execute(_NEXT, (rows[-1][0],)).fetchall()
