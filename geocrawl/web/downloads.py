"""Answer a search as a file to take along (`items?f=csv`): a table, files for maps, connections for QGIS."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.services import export_services
from geocrawl.export.tables import COLUMNS, csv_bytes, endpoint_values, without_secrets
from geocrawl.filters import Sort
from geocrawl.model.catalogue import Service
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.parameters import MAX_LIMIT, SearchRequest, read_search
from geocrawl.web.site import attachment, site_of

_T = TypeVar("_T")
_Service = TypeVar("_Service", bound=Service)
_MOST_LAYERS = 50_000
"""Most layers of one GeoPackage."""
MOST_SYSTEMS = 100
"""Most reference systems that an answer names of a layer, and of a service; its own document has all."""
MOST_CHARS = 4_000_000
"""Most characters of the texts of the services in one answer."""


class File(NamedTuple):
    """A format in which a search is written."""

    media_type: str
    ending: str


FILES = {
    "csv": File("text/csv; charset=utf-8", "csv"),
    "geojson": File("application/geo+json", "geojson"),
    "gpkg": File("application/geopackage+sqlite3", "gpkg"),
    "qgis": File("application/zip", "zip"),
}
"""Value of `f` → the file."""


async def download(request: Request) -> Response:
    """Return the services that a search finds as a file, `MAX_LIMIT` of them unless `limit` says fewer."""
    form = request.query_params["f"].lower()
    numbers = await numbers_found(request, read_search(request).up_to(MAX_LIMIT))
    body = await site_of(request).reader.read(lambda catalogue: _written(catalogue, form, numbers))
    return attachment(body, f"services.{FILES[form].ending}", FILES[form].media_type)


async def numbers_found(request: Request, criteria: SearchRequest) -> list[int]:
    """Return the numbers of the services that a search finds, or names."""
    site = site_of(request)
    if criteria.ids is not None or criteria.address:
        return (await site.reader.read(criteria.numbers_at))[criteria.offset : criteria.offset + criteria.limit]
    return await site.finder.numbers(criteria)


async def newest_found(request: Request) -> list[int] | None:
    """Return the numbers of the newest services that a request searches for; None where it does not search."""
    criteria = read_search(request)
    if not criteria.all.keys() - {"f", "lang"}:
        return None
    return await numbers_found(
        request, replace(criteria, sorts=(Sort.NEWEST,), turned=frozenset(), limit=MAX_LIMIT, offset=0)
    )


def first_within(most: int, size_of: Callable[[_T], int], items: Iterable[_T]) -> Iterator[_T]:
    """Yield the first items, at least one, as many as together have no more than `most` of a size."""
    for number, item in enumerate(items):
        most -= size_of(item)
        if most < 0 and number:
            return
        yield item


def within_chars(services: Iterable[_Service]) -> Iterator[_Service]:
    """Yield the first services, at least one, as many as one answer has room for."""
    return first_within(MOST_CHARS, _chars, services)


def _chars(service: Service) -> int:
    texts = (service.title, service.abstract, service.provider, service.fees, service.access_constraints)
    return sum(map(len, (*texts, *service.keywords, *service.formats)))


def _written(catalogue: Catalogue, form: str, numbers: Collection[int]) -> bytes:
    selection = Selection(ids=numbers)
    if form == "csv":
        endpoints = map(without_secrets, within_chars(catalogue.read_endpoints(selection)))
        return csv_bytes(COLUMNS, (tuple(endpoint_values(endpoint).values()) for endpoint in endpoints))
    with TemporaryDirectory() as folder:
        out = Path(folder) / "services"
        services = list(within_chars(catalogue.read_services(selection)))
        every = catalogue.read_layers(Selection(ids=[each.id for each in services]))
        layers = (replace(layer, crs=layer.crs[:MOST_SYSTEMS]) for layer in islice(every, _MOST_LAYERS))
        export_services(services, layers, form, out, now=time.time())
        return _zipped(out) if form == "qgis" else out.read_bytes()


def _zipped(folder: Path) -> bytes:
    """Return the files of a folder in one archive, empty where QGIS has a connection for none of the services."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    return stream.getvalue()
