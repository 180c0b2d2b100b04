"""Answer `/collections/services/items/{number}/preview`: a picture of a layer."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.web.details import detail_of, number_of
from geocrawl.web.preview.requests import picture_url, read_wanted
from geocrawl.web.problems import Problem
from geocrawl.web.site import site_of


async def preview(request: Request) -> Response:
    """Return a PNG that the service drew. Raises Problem as `Previews.picture` does, and 404 without previews."""
    previews = site_of(request).previews
    if previews is None:
        raise Problem(404, "this server shows no previews (--no-preview)")
    service = (await detail_of(request, number_of(request))).service
    url = picture_url(service, read_wanted(dict(request.query_params), service))
    picture = await previews.picture(url)
    return Response(picture, headers={"Cache-Control": "private, max-age=600"}, media_type="image/png")
