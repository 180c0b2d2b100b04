"""Answer how much was read of other people's catalogues, and what their records led to."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.model import SourceState
from geocrawl.web.answers import Problem
from geocrawl.web.parameters import MAX_LIMIT
from geocrawl.web.site import document, site_of
from geocrawl.wording import iso

PATH = "/sources"
STATES = ("reading", "whole", "short")
DEFAULT_LIMIT = 50
SCHEMA = {
    "type": "object",
    "required": ["sources"],
    "properties": {
        "sources": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "address": {"type": "string", "description": "Address of the list, without position"},
                    "family": {"type": "string", "description": "Interface of the catalogue: csw, ckan, arcgis …"},
                    "stated": {"type": "integer", "nullable": True, "description": "Records that the list states"},
                    "read": {"type": "integer", "description": "Different records that were read"},
                    "named": {"type": "integer", "description": "Those of them that name a service"},
                    "state": {"type": "string", "enum": list(STATES)},
                    "reason": {"type": "string", "description": "Why reading ended before the total; '' for none"},
                    "at": {"type": "string", "format": "date-time", "description": "When its last page was read"},
                    "endpoints": {
                        "type": "object",
                        "description": "Endpoints that the records name",
                        "properties": {name: {"type": "integer"} for name in ("new", "known", "dead", "waiting")},
                    },
                },
            },
        }
    },
}
"""Schema of the answer (OpenAPI 3.0)."""
PARAMETERS = {
    "state": {"type": "string", "enum": list(STATES)},
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
}
"""Name → schema."""


async def sources(request: Request) -> Response:
    """Return the lists of records of other catalogues, the latest first. Raises Problem 400 for wrong parameters."""
    given = dict(request.query_params)
    state, limit = given.get("state", ""), given.get("limit", str(DEFAULT_LIMIT))
    if state not in ("", *STATES):
        raise Problem(400, f"state: expected {', '.join(STATES)}")
    if not (limit.isdecimal() and 1 <= len(limit) <= 9 and int(limit) >= 1):
        raise Problem(400, "limit: expected a number from 1 on")
    most = min(int(limit), MAX_LIMIT)
    found = await site_of(request).reader.read(lambda catalogue: catalogue.sources(state=state, most=most))
    return document({"sources": [_row(each) for each in found]})


def _row(source: SourceState) -> dict[str, object]:
    return {
        "address": source.address,
        "family": source.family,
        "stated": source.stated,
        "read": source.read,
        "named": source.named,
        "state": source.state,
        "reason": source.reason,
        "at": iso(source.at),
        "endpoints": {"new": source.new, "known": source.known, "dead": source.dead, "waiting": source.waiting},
    }
