"""Show the first page, the documents of the API, and the API itself: a page for people, OpenAPI for programs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl import __version__
from geocrawl.model.search import QUERYABLES, Results
from geocrawl.web.answers import LANGUAGES, wanted_language
from geocrawl.web.charts import coverage, map_squares
from geocrawl.web.downloads import FILES
from geocrawl.web.parameters import DEFAULT_LIMIT, FACETS, FILTER_LANGUAGES, MAX_LIMIT, PARAMETERS, SORTS
from geocrawl.web.records import oai
from geocrawl.web.records.landing import CONFORMS_TO, DESCRIPTION, TITLE
from geocrawl.web.records.metadata import FORMS
from geocrawl.web.records.schemas import PROPERTIES, SCHEMA
from geocrawl.web.site import ITEMS, LAYERS, Links, base_url, document, page, site_of
from geocrawl.web.texts import Words

MOST_NEWS = 12
MOST_COUNTS = {"kind": 20, "country": 12, "provider": 12, "health": 6}
_SQUARE_DEG = 10
"""Side of the squares of the map, each of which leads to the services there."""
_WORD = re.compile(r"[^\W\d_]{2,}")


async def overview(request: Request) -> Response:
    """Return the first page: what this catalogue holds, counted in services as the search counts them."""
    site = site_of(request)
    layers, news = await site.reader.read(lambda catalogue: (catalogue.layer_count(), catalogue.news(MOST_NEWS)))
    whole = await site.finder.whole()
    counts, _, worldwide = coverage(await site.finder.extents(), _SQUARE_DEG)
    values = {
        "squares": [
            {"x": west, "y": -north, "count": count, "shade": shade, "chosen": {"bbox": _box(west, north)}}
            for west, north, count, shade in map_squares(counts)
        ],
        "worldwide": worldwide,
        "services": whole.services,
        "layers": layers,
        "counts": {name: whole.facets.get(name, ())[:most] for name, most in MOST_COUNTS.items()},
        "newest": whole.hits,
        "examples": _examples(whole),
        "news": news,
    }
    return page(request, "landing.html", values)


def _box(west: int, north: int) -> str:
    """Return the extent of a square of the map."""
    return f"{west},{north - _SQUARE_DEG},{west + _SQUARE_DEG},{north}"


def _examples(whole: Results) -> list[str]:
    """Return queries that find something in this catalogue: words of its newest services, and its commonest country."""
    words = [(hit.kind, max(_WORD.findall(hit.title), key=len, default="")) for hit in whole.hits]
    found = [f"kind:{kind} {word}" if number else word for number, (kind, word) in enumerate(words) if word][:2]
    return list(dict.fromkeys([*found, *(f"country:{each.value}" for each in whole.facets.get("country", ())[:1])]))


# --------------------------------------------------------------------------- documents of the API

_COLLECTION = "/collections/services"


async def conformance(request: Request) -> Response:
    """Return the page on what the API conforms to."""
    return _page(request, Words(wanted_language(request))("conforms-to"), "", [(each, each) for each in CONFORMS_TO])


async def collections(request: Request) -> Response:
    """Return the page on the collections, of which there is one."""
    heading = Words(wanted_language(request))("collections")
    return _page(request, heading, "", [(Links(request)(_COLLECTION, f="html"), TITLE)])


async def collection(request: Request) -> Response:
    """Return the page on the collection `services`."""
    words, links = Words(wanted_language(request)), Links(request)
    below = [
        (links(ITEMS, f="html"), words("search")),
        (links(f"{_COLLECTION}/sortables", f="html"), words("order")),
        (links(f"{_COLLECTION}/queryables", f="html"), words("queryables")),
        (links(f"{_COLLECTION}/schema", f="html"), words("schema")),
        (links("/api", f="html"), words("interfaces")),
    ]
    return _page(request, TITLE, DESCRIPTION, below)


async def sortables(request: Request) -> Response:
    """Return the page on the orders of records."""
    words, links = Words(wanted_language(request)), Links(request)
    return _page(request, words("order"), "", [(links(ITEMS, f="html", sortby=name), name) for name in SORTS])


async def queryables(request: Request) -> Response:
    """Return the page on the properties that a filter may name."""
    return _properties(request, "queryables", QUERYABLES)


async def schema(request: Request) -> Response:
    """Return the page on the properties of a record."""
    return _properties(request, "schema", PROPERTIES)


def _properties(request: Request, path: str, schemas: Mapping[str, Mapping[str, Any]]) -> Response:
    address = Links(request)(f"{_COLLECTION}/{path}", f="json")
    rows = [(address, f"{name}: {each['title']}" if "title" in each else name) for name, each in schemas.items()]
    return _page(request, Words(wanted_language(request))(path), "", rows)


def _page(request: Request, heading: str, about: str, links: Sequence[tuple[str, str]]) -> Response:
    shown = [{"href": href, "title": title} for href, title in links]
    return page(request, "document.html", {"heading": heading, "about": about, "links": shown})


# --------------------------------------------------------------------------- the API

_NUMBER = "{number}"
PATHS: Mapping[str, tuple[str, str]] = {
    "/": ("Landing page", "application/json"),
    "/conformance": ("What the API conforms to", "application/json"),
    "/api": ("This description (OpenAPI 3.0)", "application/vnd.oai.openapi+json;version=3.0"),
    "/collections": ("Collections: there is one, services", "application/json"),
    "/collections/services": ("The collection of services", "application/json"),
    "/collections/services/sortables": ("By what records can be ordered", SCHEMA),
    "/collections/services/queryables": ("By what records can be filtered", SCHEMA),
    "/collections/services/schema": ("What a record has", SCHEMA),
    ITEMS: ("Search services", "application/geo+json"),
    f"{ITEMS}/{_NUMBER}": ("One service", "application/geo+json"),
    f"{ITEMS}/{_NUMBER}/health": ("Health of a service and its addresses", "application/json"),
    f"{ITEMS}/{_NUMBER}/history": ("Changes of health of the addresses", "application/json"),
    f"{ITEMS}/{_NUMBER}/changes": ("Changes of the description", "application/json"),
    f"{ITEMS}/{_NUMBER}/thumbnail": ("Small picture of its content", "image/png"),
    f"{ITEMS}/{_NUMBER}/layer.qlr": ("A layer for QGIS", "application/x-qgis-layer-definition"),
    f"{ITEMS}/{_NUMBER}/badge.svg": ("Badge of its health", "image/svg+xml"),
    LAYERS: ("Search layers, with the parameters of a search of services", "application/geo+json"),
    oai.PATH: ("OAI-PMH 2.0, for harvesters: oai?verb=ListRecords&metadataPrefix=iso19139", "text/xml"),
    "/feed.atom": ("News as Atom; of a search with its parameters", "application/atom+xml"),
    "/feed.json": ("News as JSON feed; of a search with its parameters", "application/feed+json"),
    "/opensearch.xml": ("OpenSearch description", "application/opensearchdescription+xml"),
    "/sitemap.xml": ("Sitemaps", "application/xml"),
}
"""Path → (what it is, media type)."""
_WITH_PAGES = (
    *("/", "/conformance", "/api", "/collections", "/collections/services", "/collections/services/sortables"),
    *("/collections/services/queryables", "/collections/services/schema"),
    *(ITEMS, f"{ITEMS}/{_NUMBER}", LAYERS),
)
_EXAMPLE = """\
from owslib.ogcapi.records import Records

catalogue = Records("{base}/")
found = catalogue.collection_items("services", q="land cover", bbox=[5, 47, 15, 55], limit=10)
for record in found["features"]:
    print(record["properties"]["title"], record["properties"]["externalIds"][0]["value"])"""


async def api_page(request: Request) -> Response:
    """Return the description for people."""
    links = Links(request)
    interfaces = [
        {"path": path, "summary": summary, "href": links(path.replace(_NUMBER, "1"), f=_format(path))}
        for path, (summary, _) in PATHS.items()
    ]
    parameters = [{"name": name, "description": text} for name, text in PARAMETERS.items()]
    values = {
        "interfaces": interfaces,
        "item_parameters": parameters,
        "example": _EXAMPLE.format(base=base_url(request)),
    }
    return page(request, "api.html", values)


def _format(path: str) -> str:
    """Return `json` for paths that have HTML, too."""
    return "json" if path in _WITH_PAGES else ""


async def openapi(request: Request) -> Response:
    """Return the description as OpenAPI 3.0."""
    paths = {path: {"get": _operation(path, *about)} for path, about in PATHS.items()}
    described = {
        "openapi": "3.0.3",
        "info": {"title": TITLE, "description": DESCRIPTION, "version": __version__},
        "servers": [{"url": f"{base_url(request)}/"}],
        "paths": paths,
        "components": {"schemas": {"problem": _PROBLEM}},
    }
    return document(described, "application/vnd.oai.openapi+json;version=3.0")


_PROBLEM = {
    "type": "object",
    "description": "RFC 9457",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}


_OF_FILES, _OF_FORMS = ([each.media_type for each in forms.values()] for forms in (FILES, FORMS))
_OTHER_FORMS = {
    ITEMS: [*_OF_FILES, *_OF_FORMS, "application/zip"],
    f"{ITEMS}/{_NUMBER}": _OF_FORMS,
    LAYERS: [FILES["csv"].media_type, FILES["gpkg"].media_type, "application/x-qgis-layer-definition"],
}
"""Path → media types of its answers besides that of `PATHS` and HTML."""


def _operation(path: str, summary: str, media_type: str) -> dict[str, Any]:
    schema = {"type": "object"} if "json" in media_type else {"type": "string"}
    content = {media_type: {"schema": schema}}
    for each in _OTHER_FORMS.get(path, ()):
        described = {"type": "object"} if "json" in each else {"type": "string", "format": "binary"}
        content.setdefault(each, {"schema": described})
    page_of_it = {"text/html": {"schema": {"type": "string"}}}
    if path in _WITH_PAGES:
        content |= page_of_it
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}, **page_of_it}
    failing = {
        "400": "A parameter cannot be read",
        "404": "There is none",
        "429": "Too many requests",
        "503": "Not now",
    }
    name = path.strip("/").replace("/", "-").replace("{", "").replace("}", "").replace(".", "-")
    return {
        "operationId": name or "landing",
        "summary": summary,
        "parameters": _parameters(path),
        "responses": {
            "200": {"description": summary, "content": content},
            **{status: {"description": text, "content": problem} for status, text in failing.items()},
        },
    }


def _parameters(path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if path == oai.PATH:
        found += [{"name": name, "in": "query", "schema": _TEXT} for name in oai.PARAMETERS]
    if _NUMBER in path:
        found.append({"name": "number", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}})
    if path in (ITEMS, LAYERS, "/feed.atom", "/feed.json"):
        found += [
            {"name": name, "in": "query", "required": False, "description": text, **_form(_SCHEMAS.get(name, _TEXT))}
            for name, text in PARAMETERS.items()
        ]
    return found


def _form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a parameter is written: a list with commas (OGC 17-069r4, 7.15; OGC 20-004r1, 7.6)."""
    lists = {"style": "form", "explode": False} if schema["type"] == "array" else {}
    return {"schema": schema, **lists}


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "q": _TEXTS,
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    "offset": {"type": "integer", "minimum": 0, "default": 0},
    "bbox": {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 6, "example": [5, 47, 15, 55]},
    "type": _TEXTS,
    "ids": _TEXTS,
    "externalIds": _TEXTS,
    "sortby": {"type": "array", "items": {"type": "string", "pattern": f"[+-]?({'|'.join(SORTS)})"}},
    "filter-lang": {"type": "string", "enum": list(FILTER_LANGUAGES), "default": FILTER_LANGUAGES[0]},
    "facets": {**_TEXTS, "example": ["kind", "country"], "description": ", ".join(FACETS)},
    "f": {"type": "string", "enum": ["html", "json", *FILES, *FORMS]},
    "lang": {"type": "string", "enum": list(LANGUAGES)},
}
