"""Read a catalogue from Python: `from geocrawl import Catalog`.

    with Catalog("geocrawl.db") as catalog:
        for service in catalog.search("land use kind:wms alive:30d"):
            print(service.title, service.url)

Nothing is created or changed. Texts are as strangers wrote them. docs/python.md shows more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from geocrawl.errors import NothingFound, UsageError
from geocrawl.model.catalogue import Layer, Service
from geocrawl.sanitize import masked
from geocrawl.store import Connection, Store
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.read.history import EndpointHistory, history_of_service
from geocrawl.store.catalogue.read.show import current_number
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.store.catalogue.search.filters import Filters
from geocrawl.store.catalogue.services import Selection, read_layers, read_services
from geocrawl.urls.database import Place

if TYPE_CHECKING:
    import geopandas

__all__ = ["Catalog", "CatalogService"]

ALL = Filters()
"""No condition."""


@dataclass(frozen=True, slots=True)
class CatalogService(Service):
    """A service of the catalogue. Times are ISO 8601 in UTC, `box` is west, south, east, north in degrees or None."""

    def owslib(self, *, timeout_s: float = 30, **options: Any) -> Any:
        """Open the service with OWSLib, which requests its capabilities now; return OWSLib's object.

        `options` are those of OWSLib's class. None of geocrawl's limits and rules applies to what OWSLib requests.
        Raises UsageError for a kind that OWSLib has no class for, and for an address whose key is masked; OWSLib's own
        exceptions when the service does not answer.
        """
        from geocrawl.probe.registry import declarations, declared

        kind = declared(self.kind)
        if not kind.client:
            known = ", ".join(sorted(each.kind for each in declarations() if each.client))
            raise UsageError(f"{self.kind}: OWSLib has no client for this kind; it has some for {known}")
        if "***" in self.url:
            raise UsageError(f"{self.url}: its key is masked; open the catalogue with Catalog(…, with_secrets=True)")
        from importlib import import_module

        module, _, name = kind.client.partition(":")
        if self.version in kind.client_versions:
            options = {"version": self.version} | options
        return getattr(import_module(module), name)(self.url, timeout=timeout_s, **options)


class Catalog:
    """Reads one catalogue. A `with` statement or `close` closes it; only the thread that opened it may use it."""

    def __init__(self, db: str | Place | None = None, *, with_secrets: bool = False) -> None:
        """Open the catalogue at `db` (a path, `sqlite:///path`, `postgresql://…`), by default the one of commands.

        `with_secrets`: addresses in full, with their keys and passwords. Raises DatabaseFault when there is none, or
        when it cannot be read.
        """
        self._with_secrets = with_secrets
        self._opened = ExitStack()
        self._connection: Connection = self._opened.enter_context(Store.open_readonly(_path(db)))
        self._engine: SearchEngine | None = None

    def close(self) -> None:
        """Close the database."""
        self._opened.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def search(
        self,
        text: str = "",
        filters: Filters = ALL,
        *,
        limit: int = 20,
        offset: int = 0,
    ) -> list[CatalogService]:
        """Return the services that a query finds, best first; without words, those valid last come first.

        `text` is in the language of docs/search.md, at most 1,000 services are returned at once. Raises QueryError for
        a query that cannot be read.
        """
        hits = self._search_engine().search(text, filters, limit=limit, offset=offset).hits
        by_number = {each.id: each for each in self._services(Selection(ids=[hit.id for hit in hits]))}
        return [by_number[hit.id] for hit in hits if hit.id in by_number]

    def services(self, text: str = "", filters: Filters = ALL) -> Iterator[CatalogService]:
        """Yield all services, or all that a query finds, by their numbers; one is read at a time."""
        is_all = not text.strip() and filters == ALL
        yield from self._services(Selection(ids=None if is_all else self._search_engine().numbers(text, filters)))

    def get(self, number: int) -> CatalogService:
        """Return the service of this number. Raises NothingFound for a number that the catalogue has not."""
        number = current_number(self._connection, number)
        found = next(self._services(Selection(ids=(number,))), None)
        if found is None:
            raise NothingFound(f"the catalogue has no service {number}; `geocrawl search` prints numbers")
        return found

    def layers(self, number: int) -> list[Layer]:
        """Return the layers of a service, or their counterparts in other kinds, in the order of its document."""
        return list(read_layers(self._connection, Selection(ids=(self.get(number).id,))))

    def history(self, number: int) -> tuple[EndpointHistory, ...]:
        """Return availability, response times, changes of health and of content for each address of a service."""
        found = history_of_service(self._connection, self.get(number).id, time.time())
        return found if self._with_secrets else tuple(replace(each, url=masked(each.url)) for each in found)

    def to_geodataframe(self, text: str = "", filters: Filters = ALL) -> geopandas.GeoDataFrame:
        """Return all services, or all that a query finds, as a GeoDataFrame: extents in EPSG:4326, None where unknown.

        Raises UsageError when geopandas is not installed.
        """
        try:
            import geopandas
        except ImportError:
            raise UsageError("to_geodataframe: geopandas is not installed (pip install geopandas)") from None
        from geocrawl.export.properties import SERVICE_COLUMNS, extent_of, service_properties

        rows = [{"geometry": extent_of(each.box), **service_properties(each)} for each in self.services(text, filters)]
        columns = ["geometry", *SERVICE_COLUMNS]
        return geopandas.GeoDataFrame(rows, columns=columns, geometry="geometry", crs="EPSG:4326")

    def _services(self, selection: Selection) -> Iterator[CatalogService]:
        for found in read_services(self._connection, selection, with_secrets=self._with_secrets):
            yield CatalogService(**{field.name: getattr(found, field.name) for field in fields(found)})

    def _search_engine(self) -> SearchEngine:
        if self._engine is None:
            self._engine = search_engine(self._connection)
        return self._engine


def _path(db: str | Place | None) -> str | Place:
    """Return the catalogue to open: `db`, or the one of the settings in force."""
    if db is not None:
        return db
    from geocrawl.config import database_path, load

    return database_path(load(environ=os.environ, cwd=Path.cwd()).settings, os.environ)
