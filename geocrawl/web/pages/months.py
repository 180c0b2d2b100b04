"""Show how available and how fast a service was in each of the last months, as a page, JSON and CSV."""

from __future__ import annotations

import io
import time

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.properties import name_of
from geocrawl.export.report import month_values, write_months_csv
from geocrawl.model.details import ServiceDetail
from geocrawl.model.inspire import LEAST_AVAILABLE, LEAST_IN_TIME, ServiceMonth, last_months
from geocrawl.web.site import detail_of, document, number_of, page, site_of

_MONTHS = 13
"""Months of the past that are told: the one under way and a year."""


async def months_page(request: Request) -> Response:
    """Return the page of the months, the newest first."""
    detail, found = await _months(request)
    bounds = {"least_available": LEAST_AVAILABLE, "least_in_time": LEAST_IN_TIME}
    return page(request, "months.html", {"title": name_of(detail.service), "months": found[::-1], **bounds})


async def months_document(request: Request) -> Response:
    """Return the months as JSON, the oldest first."""
    detail, found = await _months(request)
    return document({"service": detail.service.id, "months": [month_values(each) for each in found]})


async def months_file(request: Request) -> Response:
    """Return the months as CSV, the oldest first."""
    _, found = await _months(request)
    stream = io.StringIO()
    write_months_csv(found, stream)
    return Response(stream.getvalue(), media_type="text/csv")


async def _months(request: Request) -> tuple[ServiceDetail, list[ServiceMonth]]:
    detail, spans = await detail_of(request, number_of(request)), last_months(time.time(), _MONTHS)
    number = detail.service.id
    return detail, await site_of(request).reader.read(lambda catalogue: list(catalogue.service_months(spans, number)))
