"""Answer what programs look for on any site: feeds (Atom, RFC 4287; JSON Feed 1.1), OpenSearch, sitemap, robots.txt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.model.details import NewsRow
from geocrawl.model.kinds import short_name
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.answers import LazyResponse, Problem, wanted_language
from geocrawl.web.downloads import newest_found
from geocrawl.web.publishing import published
from geocrawl.web.records.metadata import FORMS
from geocrawl.web.site import ITEMS, base_url, document, site_of
from geocrawl.web.texts import Words, sentence_of
from geocrawl.wording import day_of, iso

_MOST = 100


async def _news(request: Request) -> list[NewsRow]:
    """Return the latest news: of all services, or of those that the request searches for as `items` does."""
    numbers = await newest_found(request)
    return await site_of(request).reader.read(lambda catalogue: catalogue.news(_MOST, numbers))


def _own(request: Request, base: str) -> tuple[str, str]:
    """Return the address of a feed and the one of the page with what it tells of."""
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{base}{request.url.path}{query}", f"{base}{ITEMS}{query}" if query else f"{base}/"


@dataclass(frozen=True, slots=True)
class Feed:
    """News, with the addresses that a feed of them states."""

    news: Sequence[NewsRow]
    words: Words
    title: str
    identity: str
    """Identifier of the feed, which never changes (RFC 4287, 4.2.6)."""
    own: str
    page: str
    """Address of the page with what it tells of."""
    base: str
    """Address of the root, without a slash at the end."""
    place_of: Callable[[int], str]
    """Returns the address of the page of a service."""
    updated: float


async def _feed(request: Request) -> Feed:
    base, words, news = base_url(request), Words(wanted_language(request)), await _news(request)
    own, page = _own(request, base)
    return Feed(
        news,
        words,
        " ".join(filter(None, (f"geocrawl: {words('news')}", request.query_params.get("q", "")))),
        own if request.url.query else f"{base}/",
        own,
        page,
        base,
        lambda number: f"{base}{ITEMS}/{number}",
        news[0].at if news else time.time(),
    )


async def atom(request: Request) -> Response:
    """Return the latest news as Atom."""
    return Response(atom_of(await _feed(request)), media_type="application/atom+xml; charset=utf-8")


async def json_feed(request: Request) -> Response:
    """Return the latest news as a JSON feed."""
    return document(json_feed_of(await _feed(request)), "application/feed+json")


def atom_of(feed: Feed) -> str:
    """Return news as Atom."""
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{feed.words.language}">',
        f"<title>{_text(feed.title)}</title><id>{_text(feed.identity)}</id><updated>{iso(feed.updated)}</updated>",
        f'<link rel="self" type="application/atom+xml" href={_attribute(feed.own)}/>',
        f'<link rel="alternate" type="text/html" href={_attribute(feed.page)}/><author><name>geocrawl</name></author>',
    ]
    for each in feed.news:
        parts.append(
            f"<entry><id>{_text(_identity(each, feed.base))}</id><title>{_text(_title(each, feed.words))}</title>"
            f"<updated>{iso(each.at)}</updated><link href={_attribute(feed.place_of(each.service_id))}/>"
            f"<category term={_attribute(each.after if each.what == 'health' else each.what)}/>"
            f"<summary>{_text(f'{short_name(each.kind)} {each.url}')}</summary></entry>"
        )
    return "\n".join([*parts, "</feed>\n"])


def json_feed_of(feed: Feed) -> Mapping[str, Any]:
    """Return news as a JSON feed, to be masked."""
    items = [
        {
            "id": _identity(each, feed.base),
            "url": feed.place_of(each.service_id),
            "title": _title(each, feed.words),
            "content_text": f"{short_name(each.kind)} {each.url}",
            "date_published": iso(each.at),
            "tags": [each.after if each.what == "health" else each.what],
        }
        for each in feed.news
    ]
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": feed.page,
        "feed_url": feed.own,
        "language": feed.words.language,
        "items": items,
    }


def _title(news: NewsRow, words: Words) -> str:
    return f"{news.title or news.url}: {sentence_of(news, words)}"


def _identity(news: NewsRow, base: str) -> str:
    table = "health" if news.what == "health" else "change"
    return f"{base}{ITEMS}/{news.service_id}#{table}-{news.number}"


def _text(text: str) -> str:
    return escape(published(text))


def _attribute(text: str) -> str:
    return quoteattr(published(text))


# --------------------------------------------------------------------------- OpenSearch, sitemap, robots.txt

PART = 20_000
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
    """Return what robots may read: all but previews, which cost others, and every combination of filters.

    The whole catalogue is permitted page by page in each form of records, since other catalogues take it over."""
    forms = (f"f={form}{rest}" for form in ("json", *FORMS) for rest in ("$", "&limit=", "&offset="))
    lines = [
        "User-agent: *",
        *(f"Disallow: {ITEMS}/*/{path}" for path in ("preview", "legend", "info")),
        f"Disallow: {ITEMS}?",
        *(f"Allow: {ITEMS}?{query}" for query in ("limit=", "offset=", *forms)),
        f"Sitemap: {base_url(request)}/sitemap.xml",
    ]
    return Response("\n".join(lines) + "\n", media_type="text/plain; charset=utf-8")


async def sitemap(request: Request) -> Response:
    """Return the index of sitemaps, one for each `PART` numbers of services."""
    last = await site_of(request).reader.read(Catalogue.last_number)
    return _xml(lambda: sitemap_index(base_url(request), last))


async def sitemap_part(request: Request) -> Response:
    """Return one sitemap."""
    text = str(request.path_params["part"])
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise Problem(404, "there is no such sitemap; /sitemap.xml lists them")
    first = int(text) * PART - 1
    rows = await site_of(request).reader.read(lambda catalogue: catalogue.last_answers(first, PART))
    base = base_url(request)
    return _xml(lambda: url_set((f"{base}{ITEMS}/{number}", at) for number, at in rows if number <= first + PART))


def sitemap_index(base: str, last: int) -> str:
    """Return the index of the sitemaps of services up to the number `last`."""
    base = escape(base)
    places = "".join(f"<sitemap><loc>{base}/sitemap-{part}.xml</loc></sitemap>\n" for part in range(last // PART + 1))
    return f'{_XML}<sitemapindex xmlns="{_SITEMAPS}">\n{places}</sitemapindex>\n'


def url_set(pages: Iterable[tuple[str, float]]) -> str:
    """Return a sitemap of pages, each an address and the time of its last change."""
    places = "".join(
        f"<url><loc>{escape(address)}</loc><lastmod>{day_of(at)}</lastmod></url>\n" for address, at in pages
    )
    return f'{_XML}<urlset xmlns="{_SITEMAPS}">\n{places}</urlset>\n'


_XML = '<?xml version="1.0" encoding="utf-8"?>\n'
_SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"


def _xml(text: Callable[[], str]) -> Response:
    return LazyResponse(text, 200, {}, "application/xml")
