"""Read a catalogue from Python: `from geocrawl import Catalog`.

    with Catalog("geocrawl.db") as catalog:
        for service in catalog.search("land use kind:wms alive:30d"):
            print(service.title, service.url)

It is the door `Catalogue` with what needs rooms above the store: the catalogue of the settings in force, clients of
services, frames of extents. docs/python.md shows more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geocrawl.errors import NothingFound, UsageError
from geocrawl.filters import Filters
from geocrawl.model.catalogue import Layer, Service, columns
from geocrawl.model.details import EndpointHistory
from geocrawl.model.search import Selection
from geocrawl.sanitize import masked
from geocrawl.store.catalogue.catalogue import ALL, Catalogue
from geocrawl.urls.database import DatabaseUrl

if TYPE_CHECKING:
    import geopandas

__all__ = ["Catalog", "CatalogService"]


class CatalogService(Service):
    """A service that a program opens."""

    def owslib(self, *, timeout_s: float = 30, **options: Any) -> Any:
        """Open the service with OWSLib, which requests its capabilities now; return OWSLib's object.

        `options` are those of OWSLib's class. None of geocrawl's limits and rules applies to what OWSLib requests.
        Raises UsageError for a kind that OWSLib has no class for, and for an address whose key is masked; OWSLib's own
        exceptions when the service does not answer.
        """
        from geocrawl.probe.registry import declarations, declared

        kind = declared(self.kind)
        if not kind.client:
            known = ", ".join(sorted(declaration.kind for declaration in declarations() if declaration.client))
            raise UsageError(f"{self.kind}: OWSLib has no client for this kind; it has some for {known}")
        if "***" in self.url:
            raise UsageError(f"{self.url}: its key is masked; open the catalogue with Catalog(…, with_secrets=True)")
        module, _, name = kind.client.partition(":")
        if self.version in kind.client_versions:
            options = {"version": self.version} | options
        return getattr(import_module(module), name)(self.url, timeout=timeout_s, **options)


class Catalog(Catalogue):
    """Reads one catalogue. A `with` statement or `close` closes it; only the thread that opened it may use it."""

    def __init__(self, db: str | DatabaseUrl | None = None, *, with_secrets: bool = False) -> None:
        """Open the catalogue at `db` (a path, `sqlite:///path`, `postgresql://…`), by default the one of commands.

        `with_secrets`: addresses in full, with their keys and passwords. Raises DatabaseFault when it does not exist
        or cannot be read.
        """
        super().__init__(_path(db), with_secrets=with_secrets)

    def search(
        self, text: str = "", filters: Filters = ALL, *, limit: int = 20, offset: int = 0
    ) -> list[CatalogService]:
        """Return the services that a query finds, best first; without words, those valid last come first.

        `text` is in the language of docs/search.md, at most 1,000 services are returned at once. Raises QueryError for
        a query that cannot be read.
        """
        numbers = [hit.id for hit in self.find(text, filters, limit=limit, offset=offset).hits]
        by_number = {service.id: service for service in self._read(Selection(ids=numbers))}
        return [by_number[number] for number in numbers if number in by_number]

    def services(self, text: str = "", filters: Filters = ALL) -> Iterator[CatalogService]:
        """Yield all services, or all that a query finds, by their numbers; one is read at a time."""
        yield from self._read(self.selection(text, filters))

    def get(self, number: int) -> CatalogService:
        """Return the service of this number. Raises NothingFound for a number that the catalogue has not."""
        number = self.number(number)
        service = next(self._read(Selection(ids=(number,))), None)
        if service is None:
            raise NothingFound(f"the catalogue has no service {number}; `geocrawl search` prints numbers")
        return service

    def layers(self, number: int) -> list[Layer]:
        """Return the layers of a service, or their counterparts in other kinds, in the order of its document."""
        return list(self.read_layers(Selection(ids=(self.get(number).id,))))

    def history(self, number: int, now: float | None = None) -> tuple[EndpointHistory, ...]:
        """Return availability, response times, changes of health and of content for each address of a service."""
        histories = super().history(self.get(number).id, time.time() if now is None else now)
        return (
            histories
            if self.with_secrets
            else tuple(replace(history, url=masked(history.url)) for history in histories)
        )

    def to_geodataframe(self, text: str = "", filters: Filters = ALL) -> geopandas.GeoDataFrame:
        """Return all services, or all that a query finds, as a GeoDataFrame: extents in EPSG:4326, None where unknown.

        Raises UsageError when geopandas is not installed.
        """
        try:
            import geopandas
        except ImportError:
            raise UsageError("to_geodataframe: geopandas is not installed (pip install geopandas)") from None
        from geocrawl.export.properties import SERVICE_COLUMNS, extent_of, service_properties

        rows = [
            {"geometry": extent_of(service.box), **service_properties(service)}
            for service in self.services(text, filters)
        ]
        columns = ["geometry", *SERVICE_COLUMNS]
        return geopandas.GeoDataFrame(rows, columns=columns, geometry="geometry", crs="EPSG:4326")

    def _read(self, selection: Selection) -> Iterator[CatalogService]:
        return (
            CatalogService(**{name: getattr(service, name) for name in columns(Service)})
            for service in self.read_services(selection)
        )


def _path(db: str | DatabaseUrl | None) -> str | DatabaseUrl:
    """Return the catalogue to open: `db`, or the one of the settings in force."""
    if db is not None:
        return db
    from geocrawl.config import database_path, load

    return database_path(load(environ=os.environ, cwd=Path.cwd()).settings, os.environ)
