"""Store pages of the topic, compressed, the best ones when room is short (the topic page store of SkyReach).

`store/read/pages.py` reads them back.
"""

from __future__ import annotations

from geocrawl.model import StoredPage
from geocrawl.store.engine.connection import Connection
from geocrawl.store.frontier import statements as sql

_DROPPED_AT_ONCE = 100
"""Pages deleted when one is stored, at most: the limit may have been lowered since they were."""
STORED_BYTES = "stored-bytes"
"""Name of the counter of the bytes that all kept pages take."""


class PageStore:
    """Stores at most `max_bytes` of pages. Works inside the caller's transaction."""

    def __init__(self, connection: Connection, max_bytes: int) -> None:
        self._connection = connection
        self._max_bytes = max_bytes

    def keep(self, url_id: int, page: StoredPage, score: float, at: float) -> bool:
        """Store a page, replacing its former version; then delete pages of the lowest scores until the others fit.

        Returns whether the page stayed.
        """
        self._drop(url_id)
        size = len(page.body)
        if size > self._max_bytes:
            return False
        self._connection.execute(sql.ADD_PAGE, (url_id, score, at, page.encoding, size, page.body))
        self._connection.execute(sql.COUNT, (STORED_BYTES, size))
        stays, taken, left = True, self._taken(), _DROPPED_AT_ONCE
        while taken > self._max_bytes and left > 0:
            left -= 1
            worst = self._connection.execute(sql.WORST_PAGE).fetchone()[0]
            taken -= self._drop(worst)
            stays = stays and worst != url_id
        return stays

    def _taken(self) -> int:
        row = self._connection.execute(sql.COUNTED, (STORED_BYTES,)).fetchone()
        return 0 if row is None else int(row[0])

    def _drop(self, url_id: int) -> int:
        row = self._connection.execute(sql.DROP_PAGE, (url_id,)).fetchone()
        size = 0 if row is None else int(row[0])
        if size:
            self._connection.execute(sql.COUNT, (STORED_BYTES, -size))
        return size
