"""Show the interfaces for programs, and describe them as OpenAPI 3.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl import __version__
from geocrawl.web.records.landing import DESCRIPTION, TITLE
from geocrawl.web.records.parameters import FACETS, MAX_LIMIT, PARAMETERS, SORTS
from geocrawl.web.site import ITEMS, Links, base_url, document, page

_NUMBER = "{number}"
PATHS: Mapping[str, tuple[str, str]] = {
    "/": ("Landing page", "application/json"),
    "/conformance": ("What the API conforms to", "application/json"),
    "/api": ("This description (OpenAPI 3.0)", "application/vnd.oai.openapi+json;version=3.0"),
    "/collections": ("Collections: there is one, services", "application/json"),
    "/collections/services": ("The collection of services", "application/json"),
    "/collections/services/sortables": ("By what records can be ordered", "application/schema+json"),
    ITEMS: ("Search services", "application/geo+json"),
    f"{ITEMS}/{_NUMBER}": ("One service", "application/geo+json"),
    f"{ITEMS}/{_NUMBER}/health": ("Health of a service and its addresses", "application/json"),
    f"{ITEMS}/{_NUMBER}/history": ("Changes of health of the addresses", "application/json"),
    f"{ITEMS}/{_NUMBER}/changes": ("Changes of the description", "application/json"),
    f"{ITEMS}/{_NUMBER}/thumbnail": ("Small picture of its content", "image/png"),
    f"{ITEMS}/{_NUMBER}/badge.svg": ("Badge of its health", "image/svg+xml"),
    "/feed.atom": ("News as Atom", "application/atom+xml"),
    "/feed.json": ("News as JSON feed", "application/feed+json"),
    "/opensearch.xml": ("OpenSearch description", "application/opensearchdescription+xml"),
    "/sitemap.xml": ("Sitemaps", "application/xml"),
}
"""Path → (what it is, media type)."""
_WITH_PAGES = (
    *("/", "/conformance", "/api", "/collections", "/collections/services", "/collections/services/sortables"),
    *(ITEMS, f"{ITEMS}/{_NUMBER}"),
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


def _operation(path: str, summary: str, media_type: str) -> dict[str, Any]:
    schema = {"type": "object"} if "json" in media_type else {"type": "string"}
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}}
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
            "200": {"description": summary, "content": {media_type: {"schema": schema}}},
            **{status: {"description": text, "content": problem} for status, text in failing.items()},
        },
    }


def _parameters(path: str) -> list[dict[str, Any]]:
    found = []
    if _NUMBER in path:
        found.append({"name": "number", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}})
    if path == ITEMS:
        found += [
            {"name": name, "in": "query", "required": False, "description": text, "schema": _SCHEMAS.get(name, _TEXT)}
            for name, text in PARAMETERS.items()
        ]
    return found


_TEXT = {"type": "string"}
_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": 20},
    "offset": {"type": "integer", "minimum": 0, "default": 0},
    "bbox": {"type": "string", "example": "5,47,15,55"},
    "sortby": {"type": "string", "enum": [*SORTS, "-title"]},
    "facets": {"type": "string", "example": "kind,country", "description": ", ".join(FACETS)},
}
