"""Answer what records have, by what they can be ordered and filtered: as JSON schemas (OGC 19-079r2, 23-058r1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.model.catalogue import Service, columns
from geocrawl.model.search import QUERYABLES
from geocrawl.web.site import base_url, document

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
    "rights": {"type": "string"},
    "geocrawl:availability30d": {"type": "number", "title": "Share of valid answers of 30 days"},
    "geocrawl:qualityParts": {"type": "object"},
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
