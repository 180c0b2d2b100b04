"""Describe the API (OGC API – Records, OGC 20-004r1, part 1): what it conforms to, its collection, by what records are
ordered and filtered, and what they have (JSON schemas, OGC 19-079r2, 23-058r1); each as JSON and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.model.catalogue import Service, columns
from geocrawl.model.search import QUERYABLES
from geocrawl.web.answers import Make, wanted_language
from geocrawl.web.parameters import SORTS
from geocrawl.web.records.record import GEOJSON, link
from geocrawl.web.site import ITEMS, Links, base_url, document, page, site_of
from geocrawl.web.texts import Words
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
    f"{_CQL2}cql2-text",
    *(f"{_CQL2}{each}" for each in ("cql2-json", "basic-cql2", "advanced-comparison-operators")),
    *(f"{_CQL2}{each}" for each in ("case-insensitive-comparison", "basic-spatial-functions")),
)
TITLE = "geocrawl: catalogue of geospatial web services"
DESCRIPTION = (
    "Services such as WMS, WMTS, WFS, ArcGIS, OGC API and STAC, found by a focused crawl, each checked with a real "
    "request and monitored since."
)
SCHEMA = "application/schema+json"
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_ROLES = {"created": "primary-interval-start", "updated": "primary-interval-end"}
SORTABLES = {name: QUERYABLES[name] for name in ("title", "health", "quality", "created")}
PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "id": {"type": "string", "x-ogc-role": "id"},
    "geometry": {"format": "geometry-any", "x-ogc-role": "primary-geometry"},
    **{
        column.record: {**column.schema, **({"x-ogc-role": role} if (role := _ROLES.get(column.record)) else {})}
        for column in columns(Service).values()
        if column.record
    },
    "keywords": {"type": "array", "items": {"type": "string"}},
    **dict.fromkeys(("contacts", "externalIds", "formats"), _OBJECTS),
    "language": {"type": "object", "properties": {"code": {"type": "string"}}},
    "rights": {"type": "string"},
    "geocrawl:availability30d": {"type": "number", "title": "Share of valid answers of 30 days"},
    "geocrawl:qualityParts": {"type": "object"},
}
"""Property of a record → its schema."""


_COLLECTION = "/collections/services"
_WORLD = [-180.0, -90.0, 180.0, 90.0]


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


async def _conformance(request: Request) -> Response:
    return document({"conformsTo": list(CONFORMS_TO)})


async def _conformance_page(request: Request) -> Response:
    return _page(request, Words(wanted_language(request))("conforms-to"), "", [(each, each) for each in CONFORMS_TO])


async def _collections(request: Request) -> Response:
    base = base_url(request)
    links = [
        link(f"{base}/collections?f=json", "self", "application/json", "this document"),
        link(f"{base}/collections?f=html", "alternate", "text/html", "this document as a page"),
    ]
    return document({"links": links, "collections": [await _description(request)]})


async def _collections_page(request: Request) -> Response:
    heading = Words(wanted_language(request))("collections")
    return _page(request, heading, "", [(Links(request)(_COLLECTION, f="html"), TITLE)])


async def _collection(request: Request) -> Response:
    return document(await _description(request))


async def _collection_page(request: Request) -> Response:
    words, links = Words(wanted_language(request)), Links(request)
    below = [
        (links(ITEMS, f="html"), words("search")),
        (links(f"{_COLLECTION}/sortables", f="html"), words("order")),
        (links(f"{_COLLECTION}/queryables", f="html"), words("queryables")),
        (links(f"{_COLLECTION}/schema", f="html"), words("schema")),
        (links("/api", f="html"), words("interfaces")),
    ]
    return _page(request, TITLE, DESCRIPTION, below)


async def _description(request: Request) -> dict[str, Any]:
    """Return the description of the collection."""
    base = base_url(request)
    growth = await site_of(request).reader.read(lambda catalogue: catalogue.growth(1))
    place = f"{base}{_COLLECTION}"
    return {
        "id": "services",
        "type": "Collection",
        "itemType": "record",
        "title": TITLE,
        "description": DESCRIPTION,
        "keywords": ["WMS", "WMTS", "WFS", "geospatial web services"],
        "crs": ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"],
        "extent": {
            "spatial": {"bbox": [_WORLD], "crs": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"},
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


# --------------------------------------------------------------------------- schemas


def _schema(name: str, properties: Mapping[str, Mapping[str, Any]]) -> Make:
    """Return what answers with the JSON schema of some properties."""

    async def answer(request: Request) -> Response:
        return document(
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": f"{base_url(request)}{_COLLECTION}/{name}",
                "type": "object",
                "title": "services",
                "properties": properties,
                **({"additionalProperties": False} if name == "queryables" else {}),
            },
            SCHEMA,
        )

    return answer


def _schema_page(name: str, properties: Mapping[str, Mapping[str, Any]]) -> Make:
    """Return what answers with a page that lists the properties."""

    async def answer(request: Request) -> Response:
        address = Links(request)(f"{_COLLECTION}/{name}", f="json")
        titles = [f"{key}: {schema['title']}" if "title" in schema else key for key, schema in properties.items()]
        return _page(request, Words(wanted_language(request))(name), "", [(address, title) for title in titles])

    return answer


async def _sortables_page(request: Request) -> Response:
    words, links = Words(wanted_language(request)), Links(request)
    return _page(request, words("order"), "", [(links(ITEMS, f="html", sortby=name), name) for name in SORTS])


def _page(request: Request, heading: str, about: str, links: Sequence[tuple[str, str]]) -> Response:
    shown = [{"href": href, "title": title} for href, title in links]
    return page(request, "document.html", {"heading": heading, "about": about, "links": shown})


DOCUMENTS: Mapping[str, tuple[Make, Make]] = {
    "/conformance": (_conformance_page, _conformance),
    "/collections": (_collections_page, _collections),
    _COLLECTION: (_collection_page, _collection),
    f"{_COLLECTION}/sortables": (_sortables_page, _schema("sortables", SORTABLES)),
    f"{_COLLECTION}/queryables": (_schema_page("queryables", QUERYABLES), _schema("queryables", QUERYABLES)),
    f"{_COLLECTION}/schema": (_schema_page("schema", PROPERTIES), _schema("schema", PROPERTIES)),
}
"""Path → what answers with the page, and with the JSON document."""
