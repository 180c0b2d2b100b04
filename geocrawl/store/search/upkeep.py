"""Add to the search index what is missing in it; keep it fast; copy it into another database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import ChunkedWork, run
from geocrawl.store.schema import TEXT_COLUMNS
from geocrawl.store.search import postgres

_AT_ONCE = 200
"""Services of one transaction, at most."""
_MOST_LAYERS_AT_ONCE = 5_000
_MISSING = """
SELECT s.id, s.layer_count FROM service s
WHERE s.id > ?1 AND NOT EXISTS (SELECT 1 FROM search_entry x WHERE x.service_id = s.id) ORDER BY s.id LIMIT ?2"""
_LEFT_OVER = "SELECT service_id FROM search_entry WHERE service_id NOT IN (SELECT id FROM service) LIMIT ?"

_SEGMENTS = "SELECT count(DISTINCT segid) FROM search_text_idx"
_MERGE = "INSERT INTO search_text (search_text, rank) VALUES ('merge', ?)"
_CHANGES = "SELECT total_changes()"
_FEW_SEGMENTS = 8
"""Parts in which an index that is written to may be: a search looks for each word in each part."""
_LEAST_CHANGES = 2
"""Fewer changes than these a merge makes that had nothing to do (SQLite's documentation of FTS5)."""
_PAGES = 500
"""Pages of the index that one transaction merges."""


def index_missing(database: Database) -> int:
    """Add the services that the index lacks, and take out those that are no more; return how many were added."""
    if not database.connection.execute(_MISSING, (0, 1)).fetchone():
        return 0
    return run(_add_missing(database))


def index_again(database: Database) -> int:
    """Make the whole index anew; return how many services it has. A search meanwhile finds what is already in it."""
    with database.transaction:
        database.connection.execute("DELETE FROM search_entry")
        database.connection.execute("DELETE FROM search_text")
        database.connection.execute("DELETE FROM search_list")
    return index_missing(database)


def _add_missing(database: Database) -> ChunkedWork[int]:
    from geocrawl.store.search.writer import SearchWriter  # loads SQLAlchemy

    connection, writer, added, last = database.connection, SearchWriter(database.connection), 0, 0
    while rows := connection.execute(_MISSING, (last, _AT_ONCE)).fetchall():
        layers = 0
        with database.transaction:
            for number, count in rows:
                writer.write(number)
                last, added, layers = number, added + 1, layers + count
                if layers >= _MOST_LAYERS_AT_ONCE:
                    break
        yield
    while rows := connection.execute(_LEFT_OVER, (_AT_ONCE,)).fetchall():
        with database.transaction:
            for (number,) in rows:
                writer.drop(number)
        yield
    yield from merge_segments(database, few=1)
    return added


def merge_segments(database: Database, few: int = _FEW_SEGMENTS) -> ChunkedWork[None]:
    """Make one part of the full-text index when it is in more than `few`: a search then takes half the time."""
    connection, pages = database.connection, -_PAGES  # negative: merge all parts, not those of one size alone
    if connection.engine == "postgresql":  # its index has no parts
        return
    if connection.execute(_SEGMENTS).fetchone()[0] <= few:
        return
    while True:
        with database.transaction:
            before = connection.execute(_CHANGES).fetchone()[0]
            connection.execute(_MERGE, (pages,))
            changes = connection.execute(_CHANGES).fetchone()[0] - before
        if changes < _LEAST_CHANGES:
            return
        pages = _PAGES
        yield


# --------------------------------------------------------------------------- copying

_COPIED_AT_ONCE = 200
"""Services of one transaction: the words of a server with thousands of layers are hundreds of kilobytes."""
_NEXT = (
    f"SELECT rowid, {', '.join(TEXT_COLUMNS)} FROM search_text WHERE rowid > ? ORDER BY rowid LIMIT {_COPIED_AT_ONCE}"  # noqa: S608 our own names
)


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
