"""Show the first page: what the catalogue has, and what is new."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.store import Connection
from geocrawl.store.read.history import NewsRow, read_news
from geocrawl.store.read.statistics import KindCount, kind_counts
from geocrawl.store.read.status import CatalogStatus, read_status
from geocrawl.web.negotiation import wanted_language
from geocrawl.web.pages.sentences import sentences
from geocrawl.web.site import page, site_of
from geocrawl.web.wording import Words

_MOST_NEWS = 12


async def overview(request: Request) -> Response:
    """Return the first page."""

    def question(connection: Connection) -> tuple[CatalogStatus, list[KindCount], list[NewsRow]]:
        return read_status(connection, time.time()), kind_counts(connection), read_news(connection, _MOST_NEWS)

    status, kinds, news = await site_of(request).reader.read(question)
    words = Words(wanted_language(request))
    return page(request, "landing.html", {"status": status, "kinds": kinds, "news": sentences(news, words)})
