"""Describe the API by its paths and parameters: a page for people, OpenAPI 3.0 for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl import __version__
from geocrawl.model.search import FACETS
from geocrawl.web.answers import LANGUAGES
from geocrawl.web.downloads import FILES
from geocrawl.web.parameters import DEFAULT_LIMIT, FILTER_LANGUAGES, MAX_LIMIT, PARAMETERS, SORTS
from geocrawl.web.records import oai, sources
from geocrawl.web.records.documents import DESCRIPTION, DOCUMENTS, SCHEMA, TITLE
from geocrawl.web.records.metadata import FORMS
from geocrawl.web.site import ITEMS, LAYERS, STATUS, Links, base_url, document, page

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
    f"{ITEMS}/{_NUMBER}/months": ("Availability and response times by month, after INSPIRE", "application/json"),
    f"{ITEMS}/{_NUMBER}/thumbnail": ("Small picture of its content", "image/png"),
    f"{ITEMS}/{_NUMBER}/layer.qlr": ("A layer for QGIS", "application/x-qgis-layer-definition"),
    f"{ITEMS}/{_NUMBER}/badge.svg": ("Badge of its health", "image/svg+xml"),
    LAYERS: ("Search layers, with the parameters of a search of services", "application/geo+json"),
    STATUS: ("Watched services: state, availability, downtimes", "application/json"),
    sources.PATH: ("Catalogues of others: records stated and read, and what they led to", "application/json"),
    oai.PATH: ("OAI-PMH 2.0, for harvesters: oai?verb=ListRecords&metadataPrefix=iso19139", "text/xml"),
    "/feed.atom": ("News as Atom; of a search with its parameters", "application/atom+xml"),
    "/feed.json": ("News as JSON feed; of a search with its parameters", "application/feed+json"),
    "/opensearch.xml": ("OpenSearch description", "application/opensearchdescription+xml"),
    "/sitemap.xml": ("Sitemaps", "application/xml"),
}
"""Path → (what it is, media type)."""
_WITH_PAGES = ("/", "/api", *DOCUMENTS, ITEMS, f"{ITEMS}/{_NUMBER}", f"{ITEMS}/{_NUMBER}/months", LAYERS, STATUS)
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


_OF_FILES, _OF_FORMS = ([form.media_type for form in forms.values()] for forms in (FILES, FORMS))
_OTHER_FORMS = {
    ITEMS: [*_OF_FILES, *_OF_FORMS, "application/zip"],
    f"{ITEMS}/{_NUMBER}": _OF_FORMS,
    f"{ITEMS}/{_NUMBER}/months": [FILES["csv"].media_type],
    LAYERS: [FILES["csv"].media_type, FILES["gpkg"].media_type, "application/x-qgis-layer-definition"],
}
"""Path → media types of its answers besides that of `PATHS` and HTML."""


def _operation(path: str, summary: str, media_type: str) -> dict[str, Any]:
    plain = {"type": "object"} if "json" in media_type else {"type": "string"}
    schema: Mapping[str, Any] = sources.SCHEMA if path == sources.PATH else plain
    content: dict[str, Any] = {media_type: {"schema": schema}}
    for each in _OTHER_FORMS.get(path, ()):
        described = {"type": "object"} if "json" in each else {"type": "string", "format": "binary"}
        content.setdefault(each, {"schema": described})
    page_of_it = {"text/html": {"schema": {"type": "string"}}}
    if path in _WITH_PAGES:
        content |= page_of_it
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}, **page_of_it}
    failing = {
        "400": "A parameter cannot be read",
        "404": "Not found",
        "414": "The address is too long",
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
    if path == sources.PATH:
        found += [{"name": name, "in": "query", "schema": schema} for name, schema in sources.PARAMETERS.items()]
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
