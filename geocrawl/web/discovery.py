"""Answer what programs look for on any site: OpenSearch, sitemap, robots.txt."""

from __future__ import annotations

from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.store.read.statistics import last_service_number, service_numbers
from geocrawl.web.problems import Problem
from geocrawl.web.site import ITEMS, base_url, site_of
from geocrawl.wording import day_of

_PART = 20_000
"""Services of one sitemap; the protocol allows 50,000."""


async def opensearch(request: Request) -> Response:
    """Return the OpenSearch 1.1 description of the search."""
    items = escape(f"{base_url(request)}{ITEMS}")
    body = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/" '
        'xmlns:geo="http://a9.com/-/opensearch/extensions/geo/1.0/">\n'
        "<ShortName>geocrawl</ShortName><Description>Geospatial web services that work</Description>"
        "<InputEncoding>UTF-8</InputEncoding>\n"
        f'<Url type="text/html" template="{items}?q={{searchTerms?}}"/>\n'
        f'<Url type="application/geo+json" template="{items}?f=json&amp;q={{searchTerms?}}&amp;bbox={{geo:box?}}'
        '&amp;limit={count?}&amp;offset={startIndex?}" indexOffset="0"/>\n</OpenSearchDescription>\n'
    )
    return Response(body, media_type="application/opensearchdescription+xml")


async def robots(request: Request) -> Response:
    """Return what robots may read: all but previews, which cost others, and every combination of filters."""
    lines = [
        "User-agent: *",
        f"Disallow: {ITEMS}/*/preview",
        f"Disallow: {ITEMS}?",
        f"Sitemap: {base_url(request)}/sitemap.xml",
    ]
    return Response("\n".join(lines) + "\n", media_type="text/plain; charset=utf-8")


async def sitemap(request: Request) -> Response:
    """Return the index of sitemaps, one for each `_PART` numbers of services."""
    last = await site_of(request).reader.read(last_service_number)
    base = escape(base_url(request))
    places = "".join(f"<sitemap><loc>{base}/sitemap-{part}.xml</loc></sitemap>\n" for part in range(last // _PART + 1))
    return _xml(f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</sitemapindex>\n')


async def sitemap_part(request: Request) -> Response:
    """Return one sitemap."""
    text = str(request.path_params["part"])
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise Problem(404, "there is no such sitemap; /sitemap.xml lists them")
    first = int(text) * _PART - 1
    rows = await site_of(request).reader.read(lambda connection: service_numbers(connection, first, _PART))
    base = escape(base_url(request))
    places = "".join(
        f"<url><loc>{base}{ITEMS}/{number}</loc><lastmod>{day_of(at)}</lastmod></url>\n"
        for number, at in rows
        if number <= first + _PART
    )
    return _xml(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n')


def _xml(text: str) -> Response:
    return Response(f'<?xml version="1.0" encoding="utf-8"?>\n{text}', media_type="application/xml")
