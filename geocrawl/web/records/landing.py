"""Answer `/`, `/conformance`, `/collections` and `/collections/services`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.web.records.record import GEOJSON, link
from geocrawl.web.records.schemas import SCHEMA
from geocrawl.web.site import ITEMS, base_url, document, site_of
from geocrawl.wording import iso

_FILTERS = (
    *("features-3/1.0/conf/queryables", "features-3/1.0/conf/filter", "features-3/1.0/conf/features-filter"),
    *("records-1/1.0/conf/filtering", "records-1/1.0/conf/searchable-catalog-filtering"),
)
_CQL2 = "http://www.opengis.net/spec/cql2/1.0/conf/"
CONFORMS_TO = (
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/landing-page",
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/json",
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/html",
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/oas30",
    "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/html",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-collection",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core-query-parameters",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/json",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/html",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/searchable-catalog",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/sorting",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/searchable-catalog-sorting",
    "http://www.opengis.net/spec/ogcapi-features-5/1.0/conf/schemas",
    *(f"http://www.opengis.net/spec/ogcapi-{each}" for each in _FILTERS),
    *([f"{_CQL2}cql2-text"] if find_spec("cql2") else []),
    *(f"{_CQL2}{each}" for each in ("cql2-json", "basic-cql2", "advanced-comparison-operators")),
    *(f"{_CQL2}{each}" for each in ("case-insensitive-comparison", "basic-spatial-functions")),
)
TITLE = "geocrawl: catalogue of geospatial web services"
DESCRIPTION = (
    "Services such as WMS, WMTS, WFS, ArcGIS, OGC API and STAC, found by a focused crawl, each checked with a real "
    "request and monitored since."
)
WORLD = [-180.0, -90.0, 180.0, 90.0]


async def landing(request: Request) -> Response:
    """Return the landing page for programs."""
    base = base_url(request)
    links = [
        link(f"{base}/?f=json", "self", "application/json", "this document"),
        link(f"{base}/?f=html", "alternate", "text/html", "this document as a page"),
        link(f"{base}/api?f=json", "service-desc", "application/vnd.oai.openapi+json;version=3.0", "the API"),
        link(f"{base}/api?f=html", "service-doc", "text/html", "the API for people"),
        link(f"{base}/conformance", "conformance", "application/json", "what the API conforms to"),
        link(f"{base}/collections", "data", "application/json", "the collections"),
        link(
            f"{base}/collections", "http://www.opengis.net/def/rel/ogc/1.0/data", "application/json", "the collections"
        ),
        link(f"{base}/opensearch.xml", "search", "application/opensearchdescription+xml", "OpenSearch"),
        link(f"{base}/feed.atom", "alternate", "application/atom+xml", "news"),
        link(f"{base}/feed.json", "alternate", "application/feed+json", "news"),
    ]
    return document({"title": TITLE, "description": DESCRIPTION, "links": links})


async def conformance(request: Request) -> Response:
    """Return what the API conforms to."""
    return document({"conformsTo": list(CONFORMS_TO)})


async def collections(request: Request) -> Response:
    """Return the one collection."""
    base = base_url(request)
    links = [
        link(f"{base}/collections?f=json", "self", "application/json", "this document"),
        link(f"{base}/collections?f=html", "alternate", "text/html", "this document as a page"),
    ]
    return document({"links": links, "collections": [await _collection(request)]})


async def collection(request: Request) -> Response:
    """Return the description of the collection `services`."""
    return document(await _collection(request))


async def _collection(request: Request) -> dict[str, Any]:
    base = base_url(request)
    growth = await site_of(request).reader.read(lambda catalogue: catalogue.growth(1))
    place = f"{base}/collections/services"
    return {
        "id": "services",
        "type": "Collection",
        "itemType": "record",
        "title": TITLE,
        "description": DESCRIPTION,
        "keywords": ["WMS", "WMTS", "WFS", "geospatial web services"],
        "crs": ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"],
        "extent": {
            "spatial": {"bbox": [WORLD], "crs": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"},
            "temporal": {"interval": [[iso(growth.start) if growth else None, None]]},
        },
        "links": [
            link(f"{place}?f=json", "self", "application/json", "this document"),
            link(f"{place}?f=html", "alternate", "text/html", "this document as a page"),
            link(f"{base}{ITEMS}?f=json", "items", GEOJSON, "the services"),
            link(f"{base}{ITEMS}?f=html", "items", "text/html", "the services as a page"),
            *(
                link(f"{place}/{path}", f"http://www.opengis.net/def/rel/ogc/1.0/{path}", SCHEMA, title)
                for path, title in (("queryables", "filters"), ("sortables", "orders"), ("schema", "properties"))
            ),
        ],
    }
