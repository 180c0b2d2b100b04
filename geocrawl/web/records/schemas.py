"""Answer what records have, by what they can be ordered and filtered: as JSON schemas (OGC 19-079r2, 23-058r1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.store.catalogue.search.cql2 import QUERYABLES
from geocrawl.web.site import base_url, document

SCHEMA = "application/schema+json"
_TEXT = {"type": "string"}
_TIME = {"type": "string", "format": "date-time"}
_NUMBER = {"type": "integer"}
_LIST = {"type": "array", "items": {"type": "object"}}
SORTABLES: Mapping[str, Mapping[str, Any]] = {"title": _TEXT, "health": _TEXT, "quality": _NUMBER, "created": _TIME}
PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "id": {**_TEXT, "x-ogc-role": "id"},
    "geometry": {"format": "geometry-any", "x-ogc-role": "primary-geometry"},
    **{name: QUERYABLES[name] for name in ("type", "title")},
    "description": _TEXT,
    "created": {**QUERYABLES["created"], "x-ogc-role": "primary-interval-start"},
    "updated": {**QUERYABLES["updated"], "x-ogc-role": "primary-interval-end"},
    "keywords": {"type": "array", "items": _TEXT},
    **dict.fromkeys(("contacts", "externalIds", "formats"), _LIST),
    "rights": _TEXT,
    "geocrawl:health": QUERYABLES["health"],
    "geocrawl:level": QUERYABLES["level"],
    "geocrawl:availability30d": {"type": "number", "title": "Share of valid answers of 30 days"},
    "geocrawl:quality": QUERYABLES["quality"],
    "geocrawl:qualityParts": {"type": "object"},
    "geocrawl:layers": {**_NUMBER, "title": "Number of layers"},
    "geocrawl:version": _TEXT,
    "geocrawl:country": QUERYABLES["country"],
}
"""Property of a record → its schema."""


async def sortables(request: Request) -> Response:
    """Return by what records can be ordered."""
    return _schema(request, "sortables", SORTABLES)


async def queryables(request: Request) -> Response:
    """Return by what records can be filtered."""
    return _schema(request, "queryables", QUERYABLES)


async def schema(request: Request) -> Response:
    """Return what a record has."""
    return _schema(request, "schema", PROPERTIES)


def _schema(request: Request, path: str, properties: Mapping[str, Mapping[str, Any]]) -> Response:
    return document(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"{base_url(request)}/collections/services/{path}",
            "type": "object",
            "title": "services",
            "properties": properties,
            **({"additionalProperties": False} if path == "queryables" else {}),
        },
        SCHEMA,
    )
