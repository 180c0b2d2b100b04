"""Search for a request, in a thread of the search's own: its engine keeps facts of every service in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geocrawl.search.engine import SearchEngine
from geocrawl.search.filters import QueryError
from geocrawl.search.results import Results
from geocrawl.store import Connection
from geocrawl.store.read.published import with_thumbnail
from geocrawl.store.search.index import search_engine
from geocrawl.web.problems import Problem
from geocrawl.web.reader import CatalogReader
from geocrawl.web.records.parameters import Asked


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, with what the pages show beside it."""

    results: Results
    pictures: frozenset[int]
    """Services of the hits that have a thumbnail."""


class Finder:
    """Searches one catalogue; one search at a time."""

    def __init__(self, reader: CatalogReader) -> None:
        """`reader` has one thread, so that one engine does it all."""
        self._reader = reader
        self._connection: Connection | None = None
        self._engine: SearchEngine | None = None

    async def find(self, asked: Asked, *, facets: bool, apart: bool = False) -> Found:
        """Return the services that a request asks for, twins as one hit unless `apart`.

        Raises Problem 400 for a query that cannot be read, 503 when the catalogue cannot."""

        def question(connection: Connection) -> Found:
            results = _search(self._engine_of(connection), asked, facets=facets, apart=apart)
            return Found(results, with_thumbnail(connection, [hit.id for hit in results.hits]))

        try:
            return await self._reader.read(question)
        except QueryError as error:
            raise Problem(400, str(error)) from None

    async def whole(self) -> Results:
        """Return the facets of the whole catalogue."""
        return await self._reader.read(lambda connection: self._engine_of(connection).search(limit=1, facets=True))

    def close(self) -> None:
        """End the thread."""
        self._reader.close()

    def _engine_of(self, connection: Connection) -> SearchEngine:
        """Return the engine of this connection; a new one after the catalogue was opened anew."""
        if self._engine is None or self._connection is not connection:
            self._engine, self._connection = search_engine(connection), connection
        return self._engine


def _search(engine: SearchEngine, asked: Asked, *, facets: bool, apart: bool) -> Results:
    def search(limit: int, offset: int) -> Results:
        return engine.search(
            asked.text, asked.filters, sort=asked.sort, limit=limit, offset=offset, facets=facets, apart=apart
        )

    if not asked.is_descending:
        return search(asked.limit, asked.offset)
    # The engine knows one direction: the page is counted from the end and turned round.
    total = search(1, 0).total
    first = max(total - asked.offset - asked.limit, 0)
    found = search(max(min(asked.limit, total - asked.offset), 1), first)
    return replace(found, hits=tuple(reversed(found.hits)) if total > asked.offset else ())
