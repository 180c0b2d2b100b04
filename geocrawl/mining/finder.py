"""Find services and portals among the addresses, links and pages of an archive, by the crawler's own classifiers.

`Detector` recognises services; `detect.software` recognises portals by their software's addresses; a link to another
site whose text has a word of the gws link model (eq. 3, level 2) is a page to begin with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from geocrawl.detect import Detector
from geocrawl.detect.software import Portal, portal_of
from geocrawl.mining.model import Find, Place
from geocrawl.model import Candidate, Document, Link, Relevance, Url
from geocrawl.priority.nearness import LinkMeasure
from geocrawl.urls import read_url

_MOST_PAGES = 100
"""Pages to begin with that one page may name."""


class RawLink(NamedTuple):
    """A link as an archive has it, not resolved."""

    href: str
    text: str
    where: str
    """Element of the link, as `Link.where`."""


class Finder:
    """Finds services and portals; has no state but caches."""

    def __init__(self, detector: Detector, measure: LinkMeasure) -> None:
        """`measure`: determines whether the text of a link is about services."""
        self._detector = detector
        self._measure = measure

    def of_address(self, text: str, place: Place) -> Iterator[Find]:
        """Yield what an address by itself reveals: a service, services within its query, or a portal."""
        url = read_url(text)
        if url is None:
            return
        candidates = self._detector.of_text(url)
        for candidate in candidates:
            yield Find(text, place, candidate)
        if not candidates and (portal := portal_of(url)) is not None:
            yield from _of_portal(portal, Find(text, place))

    def of_links(self, page: Url, base: str, links: list[RawLink], place: Place) -> Iterator[Find]:
        """Yield what the links of a page reveal; `base`: the page's own base for its links, '' for its address."""
        start = (read_url(base, page) if base else None) or page
        read = {}
        for href, text, where in links:
            url = read_url(href, start)
            if url is not None:
                read[url.identity, text] = Link(url, text, where=where)
        yield from self.of_document(Document(page, 0, 200, "text/html", "utf-8", "", "", tuple(read.values())), place)

    def of_document(self, document: Document, place: Place) -> Iterator[Find]:
        """Yield what a page reveals: itself, when it is a service's document, and its links."""
        page, taken = document.url, set()
        for candidate, index in self._detector.candidates(document):
            evidence = candidate.evidence
            taken.add(index)
            yield Find(evidence.link, place, candidate, page=page.address, text=evidence.anchor)
        firsts: dict[str, Find] = {}
        for index, link in enumerate(document.links):
            found = self._page(page, link, place) if index not in taken else None
            if found is not None and len(firsts) < _MOST_PAGES:
                firsts.setdefault(found.key[1], found)
        yield from firsts.values()

    def _page(self, page: Url, link: Link, place: Place) -> Find | None:
        """Return the page to begin with that a link reveals; None for any other link."""
        find = Find(link.url.address, place, page=page.address, text=link.anchor)
        portal = portal_of(link.url)
        if portal is not None and (found := next(_of_portal(portal, find), None)) is not None:
            return found
        is_mention = link.where in ("a", "area") and link.anchor and link.url.site != page.site
        if is_mention and self._measure.match("", link.anchor).level is Relevance.HIGH:
            return replace(find, first=link.url, sign="text")
        return None


def _of_portal(portal: Portal, find: Find) -> Iterator[Find]:
    """Yield the find completed by where reading a portal begins: a list of records, else its likeliest service."""
    first = portal.first()
    if isinstance(first, Candidate):
        yield replace(find, candidate=first)
    elif first is not None:
        yield replace(find, first=first, sign=portal.software.name)
