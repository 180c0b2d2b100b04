"""Answer the feeds of new, changed and dead services: Atom (RFC 4287) and JSON Feed 1.1."""

from __future__ import annotations

import time
from xml.sax.saxutils import escape, quoteattr

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.store.read.history import NewsRow, read_news
from geocrawl.web.negotiation import wanted_language
from geocrawl.web.pages.sentences import sentence_of
from geocrawl.web.publishing import published
from geocrawl.web.site import ITEMS, base_url, document, site_of
from geocrawl.web.wording import Words
from geocrawl.wording import iso

_MOST = 100


async def _news(request: Request) -> list[NewsRow]:
    return await site_of(request).reader.read(lambda connection: read_news(connection, _MOST))


async def atom(request: Request) -> Response:
    """Return the latest news as Atom."""
    base, words, news = base_url(request), Words(wanted_language(request)), await _news(request)
    updated = iso(news[0].at if news else time.time())
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{words.language}">',
        f"<title>geocrawl: {_text(words('news'))}</title><id>{_text(base)}/</id><updated>{updated}</updated>",
        f'<link rel="self" type="application/atom+xml" href={_attribute(f"{base}/feed.atom")}/>',
        f'<link rel="alternate" type="text/html" href={_attribute(f"{base}/")}/><author><name>geocrawl</name></author>',
    ]
    for each in news:
        place = f"{base}{ITEMS}/{each.service_id}"
        parts.append(
            f"<entry><id>{_text(_identity(each, base))}</id><title>{_text(_title(each, words))}</title>"
            f"<updated>{iso(each.at)}</updated><link href={_attribute(place)}/>"
            f"<category term={_attribute(each.after if each.what == 'health' else each.what)}/>"
            f"<summary>{_text(f'{each.kind.upper()} {each.url}')}</summary></entry>"
        )
    return Response("\n".join([*parts, "</feed>\n"]), media_type="application/atom+xml; charset=utf-8")


async def json_feed(request: Request) -> Response:
    """Return the latest news as a JSON feed."""
    base, words, news = base_url(request), Words(wanted_language(request)), await _news(request)
    items = [
        {
            "id": _identity(each, base),
            "url": f"{base}{ITEMS}/{each.service_id}",
            "title": _title(each, words),
            "content_text": f"{each.kind.upper()} {each.url}",
            "date_published": iso(each.at),
            "tags": [each.after if each.what == "health" else each.what],
        }
        for each in news
    ]
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"geocrawl: {words('news')}",
        "home_page_url": f"{base}/",
        "feed_url": f"{base}/feed.json",
        "language": words.language,
        "items": items,
    }
    return document(feed, "application/feed+json")


def _title(news: NewsRow, words: Words) -> str:
    return f"{news.title or news.url}: {sentence_of(news, words)}"


def _identity(news: NewsRow, base: str) -> str:
    table = "health" if news.what == "health" else "change"
    return f"{base}{ITEMS}/{news.service_id}#{table}-{news.number}"


def _text(text: str) -> str:
    return escape(published(text))


def _attribute(text: str) -> str:
    return quoteattr(published(text))
