"""Show what is watched: its state, availability and downtimes, as a page and for programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.model.details import WatchedService
from geocrawl.web.site import STATUS, base_url, document, page, site_of
from geocrawl.wording import iso, spell_downtime

_MOST = 100


async def status_page(request: Request) -> Response:
    """Return the page."""
    return page(request, "status.html", await _some(request))


async def status_document(request: Request) -> Response:
    """Return the same for programs."""
    some, base = await _some(request), base_url(request)
    pages = {"next": some["next"], "prev": some["previous"]}
    return document(
        {
            "numberMatched": some["total"],
            "numberReturned": len(some["watched"]),
            "services": [status_of(each) for each in some["watched"]],
            "links": [
                {"href": f"{base}{STATUS}?f=json&offset={offset}", "rel": rel}
                for rel, offset in pages.items()
                if offset is not None
            ],
        }
    )


async def _some(request: Request) -> dict[str, Any]:
    """Return the services from the `offset` that a request names, and where those before and after them begin."""
    asked = request.query_params.get("offset", "")
    begin = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 7 else 0
    total, found = await site_of(request).reader.read(
        lambda catalogue: (catalogue.watched_count(), catalogue.watched_services(time.time(), _MOST, begin))
    )
    end = begin + len(found)
    previous, next_ = max(begin - _MOST, 0) if begin else None, end if found and end < total else None
    return {**shown(found), "total": total, "previous": previous, "next": next_}


def shown(watched: Sequence[WatchedService]) -> dict[str, Any]:
    """Return what the page shows of services, where a server is and where none is."""
    return {"watched": watched, "total": len(watched), "previous": None, "next": None}


def status_of(each: WatchedService) -> dict[str, object]:
    """Return what programs are told of a service."""
    low, high = each.availability or (None, None)
    return {
        "service": each.id,
        "kind": each.kind,
        "title": each.title,
        "address": each.url,
        "health": each.health,
        "since": iso(each.since),
        "isSlow": each.is_slow,
        "everySeconds": each.every_s,
        "probes30d": each.probes,
        "valid30d": each.valid,
        "availability30d": None if low is None else {"low": low, "high": high},
        "downtimes": [
            {"acknowledged": time_.is_acknowledged, "when": spell_downtime(time_), "note": time_.note}
            for time_ in each.downtimes
        ],
    }
