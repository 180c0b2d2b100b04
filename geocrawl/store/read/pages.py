"""Read back the pages that `crawl --store-pages` kept: `geocrawl pages`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from geocrawl.model import KeptPage, Url
from geocrawl.store.engine.connection import Connection
from geocrawl.store.keys import page_key


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


_LIST = """
SELECT u.address, coalesce(u.title, ''), p.score, p.stored_at, p.size_bytes, coalesce(u.content_type, ''), p.encoding
FROM page_store p JOIN url u ON u.id = p.url_id
WHERE p.score >= ? ORDER BY p.score DESC, p.url_id LIMIT ?"""

_PAGES = """
SELECT u.address, coalesce(u.title, ''), p.score, p.stored_at, coalesce(u.content_type, ''), p.encoding, p.body
FROM page_store p JOIN url u ON u.id = p.url_id"""


def list_kept(connection: Connection, least: float = 0.0, limit: int | None = None) -> list[KeptPageRow]:
    """Return the kept pages of at least this score, the highest first; `limit` None: all."""
    rows = connection.execute(_LIST, (least, -1 if limit is None else limit))
    return [KeptPageRow(*row) for row in rows]


def count_kept(connection: Connection, least: float = 0.0) -> int:
    """Return the number of kept pages of at least this score."""
    return int(connection.execute("SELECT count(*) FROM page_store WHERE score >= ?", (least,)).fetchone()[0])


def kept_pages(connection: Connection, least: float = 0.0, limit: int | None = None) -> Iterator[KeptPage]:
    """Yield the kept pages of at least this score with their bodies, the highest first; one is in memory at a time."""
    statement = f"{_PAGES} WHERE p.score >= ? ORDER BY p.score DESC, p.url_id LIMIT ?"
    for row in connection.execute(statement, (least, -1 if limit is None else limit)):
        yield _page(row)


def kept_page(connection: Connection, url: Url) -> KeptPage | None:
    """Return the kept page of this identity; None when none is kept."""
    row = connection.execute(f"{_PAGES} WHERE u.key = ?", (page_key(url.identity),)).fetchone()
    return None if row is None else _page(row)


def _page(row: tuple[str, str, float, float, str, str, bytes]) -> KeptPage:
    page = KeptPage(*row)
    return replace(page, body=zlib.decompress(page.body))
