"""Show the short documents of OGC API – Records as pages: what it conforms to, its collection, the orders."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.web.negotiation import wanted_language
from geocrawl.web.records.landing import CONFORMS_TO, DESCRIPTION, TITLE
from geocrawl.web.records.parameters import SORTS
from geocrawl.web.site import ITEMS, Links, page
from geocrawl.web.wording import Words

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
        (links("/api", f="html"), words("interfaces")),
    ]
    return _page(request, TITLE, DESCRIPTION, below)


async def sortables(request: Request) -> Response:
    """Return the page on the orders of records."""
    words, links = Words(wanted_language(request)), Links(request)
    return _page(request, words("order"), "", [(links(ITEMS, f="html", sortby=name), name) for name in SORTS])


def _page(request: Request, heading: str, about: str, links: Sequence[tuple[str, str]]) -> Response:
    shown = [{"href": href, "title": title} for href, title in links]
    return page(request, "document.html", {"heading": heading, "about": about, "links": shown})
