"""Add to the search index what is missing in it; keep it fast; copy it into another database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import bindparam, delete, exists, select

from geocrawl.store.catalogue.index.full_text import full_text
from geocrawl.store.catalogue.index.writer import SearchWriter
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema import TEXT_COLUMNS
from geocrawl.store.database.schema.tables import SEARCH_ENTRY, SEARCH_LIST, SEARCH_TEXT, SERVICE
from geocrawl.store.database.steps import ChunkedWork, run

_AT_ONCE = 200
"""Services of one transaction, at most."""
_MOST_LAYERS_AT_ONCE = 5_000
_MISSING = (
    select(SERVICE.c.id, SERVICE.c.layer_count)
    .where(SERVICE.c.id > bindparam("after"), ~exists().where(SEARCH_ENTRY.c.service_id == SERVICE.c.id))
    .order_by(SERVICE.c.id)
    .limit(bindparam("most"))
)
_LEFT_OVER = (
    select(SEARCH_ENTRY.c.service_id).where(SEARCH_ENTRY.c.service_id.not_in(select(SERVICE.c.id))).limit(_AT_ONCE)
)
_FEW_SEGMENTS = 8
"""Parts in which an index that is written to may be: a search looks for each word in each part."""
_WITHOUT_TEXT = (
    select(SEARCH_ENTRY.c.service_id).where(SEARCH_ENTRY.c.service_id.not_in(select(SEARCH_TEXT.c.rowid))).limit(1)
)


def is_complete(connection: Connection) -> bool:
    """Return whether the index has each service, with its words, and no other. Raises DatabaseFault without tables."""
    lacks = connection.execute(_MISSING, {"after": 0, "most": 1}), *map(connection.execute, (_LEFT_OVER, _WITHOUT_TEXT))
    return not any(rows.fetchone() for rows in lacks)


def is_sound(database: Database) -> bool:
    """Return whether the full-text index is undamaged, as far as the engine can tell."""
    return full_text(database.connection).is_sound(database)


def index_missing(database: Database) -> int:
    """Add the services that the index lacks, and take out those that are no more; return how many were added."""
    if not database.connection.execute(_MISSING, {"after": 0, "most": 1}).fetchone():
        return 0
    return run(_add_missing(database))


def index_again(database: Database) -> int:
    """Make the whole index again; return how many services it has. A search meanwhile finds what is already in it."""
    with database.transaction:
        full_text(database.connection).clear(database.connection)
        for table in (SEARCH_ENTRY, SEARCH_LIST):
            database.connection.execute(delete(table))
    return index_missing(database)


def _add_missing(database: Database) -> ChunkedWork[int]:
    connection, writer, added, last = database.connection, SearchWriter(database.connection), 0, 0
    while rows := connection.execute(_MISSING, {"after": last, "most": _AT_ONCE}).fetchall():
        layers = 0
        with database.transaction:
            for number, count in rows:
                writer.write(number)
                last, added, layers = number, added + 1, layers + count
                if layers >= _MOST_LAYERS_AT_ONCE:
                    break
        yield
    while rows := connection.execute(_LEFT_OVER).fetchall():
        with database.transaction:
            for (number,) in rows:
                writer.drop(number)
        yield
    yield from merge_segments(database, few=1)
    return added


def merge_segments(database: Database, few: int = _FEW_SEGMENTS) -> ChunkedWork[None]:
    """Make one part of the full-text index when it is in more than `few`: a search then takes half the time."""
    return full_text(database.connection).merge_segments(database, few)


# --------------------------------------------------------------------------- copying

_COPIED_AT_ONCE = 200
"""Services of one transaction: the words of a server with thousands of layers are hundreds of kilobytes."""
_NEXT = (
    select(*(SEARCH_TEXT.c[name] for name in ("rowid", *TEXT_COLUMNS)))
    .where(SEARCH_TEXT.c.rowid > bindparam("after"))
    .order_by(SEARCH_TEXT.c.rowid)
    .limit(_COPIED_AT_ONCE)
)


def copy_words(source: Connection, target: Database) -> int:
    """Copy the folded texts of all services into an index without any; return how many services they are of."""
    connection, count = target.connection, 0
    index = full_text(connection)
    for rows in _portions(source):
        copied = [index.text_row(number, dict(zip(TEXT_COLUMNS, texts, strict=True))) for number, *texts in rows]
        with target.transaction:
            connection.add_rows(SEARCH_TEXT.name, index.COLUMNS, copied)
        count += len(rows)
    for _ in merge_segments(target, few=1):
        pass  # nobody else works on a database that is being filled
    return count


def _portions(source: Connection) -> Iterator[list[Any]]:
    rows = source.execute(_NEXT, {"after": 0}).fetchall()
    while rows:
        yield rows
        rows = source.execute(_NEXT, {"after": rows[-1][0]}).fetchall()
