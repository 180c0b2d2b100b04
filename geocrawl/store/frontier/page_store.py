"""Store pages of the topic, compressed, the best ones when room is short (the topic page store of SkyReach).

`store/frontier/kept_pages.py` reads them back.
"""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select

from geocrawl.model import StoredPage
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import COUNTER, PAGE_STORE
from geocrawl.store.frontier import statements as sql

_DROPPED_AT_ONCE = 100
"""Pages deleted when one is stored, at most: the limit may have been lowered since they were."""
STORED_BYTES = "stored-bytes"
"""Name of the counter of the bytes that all kept pages take."""
_TAKEN = select(COUNTER.c.value).where(COUNTER.c.name == STORED_BYTES)
_ADD_PAGE = insert(PAGE_STORE)
_DROP_PAGE = delete(PAGE_STORE).where(PAGE_STORE.c.url_id == bindparam("url")).returning(PAGE_STORE.c.size_bytes)
_WORST_PAGE = select(PAGE_STORE.c.url_id).order_by(PAGE_STORE.c.score, PAGE_STORE.c.url_id).limit(1)
"""Find the page to drop first: of equals the one seen first."""


class PageStore:
    """Stores at most `max_bytes` of pages. Works inside the caller's transaction."""

    def __init__(self, connection: Connection, max_bytes: int) -> None:
        self._connection = connection
        self._max_bytes = max_bytes

    def keep(self, url_id: int, page: StoredPage, score: float, at: float) -> bool:
        """Store a page, replacing its former version; then delete pages of the lowest scores until the others fit.

        Returns whether the page stayed.
        """
        drop_page(self._connection, url_id)
        size = len(page.body)
        if size > self._max_bytes:
            return False
        row = {"url_id": url_id, "score": score, "stored_at": at, "encoding": page.encoding, "size_bytes": size}
        self._connection.execute(_ADD_PAGE, {**row, "body": page.body})
        self._connection.execute(sql.COUNT, {"name": STORED_BYTES, "value": size})
        stays, taken, left = True, self._taken(), _DROPPED_AT_ONCE
        while taken > self._max_bytes and left > 0:
            left -= 1
            worst = self._connection.execute(_WORST_PAGE).fetchone()[0]
            taken -= drop_page(self._connection, worst)
            stays = stays and worst != url_id
        return stays

    def _taken(self) -> int:
        row = self._connection.execute(_TAKEN).fetchone()
        return 0 if row is None else int(row[0])


def drop_page(connection: Connection, url_id: int) -> int:
    """Drop a page, if it is kept; return the bytes that it took."""
    row = connection.execute(_DROP_PAGE, {"url": url_id}).fetchone()
    size = 0 if row is None else int(row[0])
    if size:
        connection.execute(sql.COUNT, {"name": STORED_BYTES, "value": -size})
    return size
