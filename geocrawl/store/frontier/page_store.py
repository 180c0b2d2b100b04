"""Store pages of the topic, compressed, the best ones when room is short (the topic page store of SkyReach), and read
them back for `geocrawl pages`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, delete, func, insert, select

from geocrawl.model import KeptPage, StoredPage, Url
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.keys import page_key
from geocrawl.store.database.schema.tables import COUNTER, PAGE_STORE, URL
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


# --------------------------------------------------------------------------- kept pages


@dataclass(frozen=True, slots=True)
class KeptPageRow:
    """A kept page without its body."""

    url: str
    title: str
    score: float
    """Score of the page by the crawl's strategy."""
    stored_at: float
    size_bytes: int
    """Size in the database, compressed."""
    content_type: str
    encoding: str


_FIRST = (URL.c.address, func.coalesce(URL.c.title, ""), PAGE_STORE.c.score, PAGE_STORE.c.stored_at)
_LAST = (func.coalesce(URL.c.content_type, ""), PAGE_STORE.c.encoding)
_KEPT = PAGE_STORE.join(URL, URL.c.id == PAGE_STORE.c.url_id)
_IS_WANTED = PAGE_STORE.c.score >= bindparam("least")
_BEST_FIRST = (PAGE_STORE.c.score.desc(), PAGE_STORE.c.url_id)
_LIST = select(*_FIRST, PAGE_STORE.c.size_bytes, *_LAST).select_from(_KEPT).where(_IS_WANTED).order_by(*_BEST_FIRST)
_PAGES = select(*_FIRST, *_LAST, PAGE_STORE.c.body).select_from(_KEPT)
_WANTED = _PAGES.where(_IS_WANTED).order_by(*_BEST_FIRST)
_COUNT = select(func.count()).select_from(PAGE_STORE).where(_IS_WANTED)
_BY_KEY = _PAGES.where(URL.c.key == bindparam("key"))


def list_kept(connection: Connection, least: float = 0.0, limit: int | None = None) -> list[KeptPageRow]:
    """Return the kept pages of at least this score, the highest first; `limit` None: all."""
    return [KeptPageRow(*row) for row in connection.execute(_LIST.limit(limit), {"least": least})]


def count_kept(connection: Connection, least: float = 0.0) -> int:
    """Return the number of kept pages of at least this score."""
    return int(connection.execute(_COUNT, {"least": least}).fetchone()[0])


def kept_pages(connection: Connection, least: float = 0.0, limit: int | None = None) -> Iterator[KeptPage]:
    """Yield the kept pages of at least this score with their bodies, the highest first; one is in memory at a time."""
    for row in connection.execute(_WANTED.limit(limit), {"least": least}):
        yield _page(row)


def kept_page(connection: Connection, url: Url) -> KeptPage | None:
    """Return the kept page of this identity; None when none is kept."""
    row = connection.execute(_BY_KEY, {"key": page_key(url.identity)}).fetchone()
    return None if row is None else _page(row)


def _page(row: tuple[str, str, float, float, str, str, bytes]) -> KeptPage:
    page = KeptPage(*row)
    return replace(page, body=zlib.decompress(page.body))
