"""Read back the pages that `crawl --store-pages` kept: `geocrawl pages`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, func, select

from geocrawl.model import KeptPage, Url
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.keys import page_key
from geocrawl.store.database.schema.tables import PAGE_STORE, URL


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
