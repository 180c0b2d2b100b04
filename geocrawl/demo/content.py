"""The whole demo web with its truth: which pages exist and how deep, which endpoints are good and why not."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from geocrawl.demo import chinese, english, leisure
from geocrawl.demo.pages import DemoPage
from geocrawl.demo.services import SERVICES, DemoService, find_service
from geocrawl.urls import endpoint_key, read_url

SEEDS = ("http://www.norvale-geoportal.example/", "http://www.qingshan-map.example/")
ROBOTS: Mapping[str, str] = {
    "www.norvale-geoportal.example": "User-agent: *\nDisallow: /internal/\nDisallow: /download/\n",
    "maps.norvale-geoportal.example": "User-agent: *\nDisallow: /geoserver/draft/\n",
    "secure.norvale-geoportal.example": "User-agent: *\nDisallow: /\n",
    "shop.lanternlane.example": "User-agent: *\nDisallow: /cart\n",
    "www.qingshan-map.example": "User-agent: *\nDisallow:\n",
}
"""By host; the others have none (404)."""

_FAR = 1_000_000
_SESSION = re.compile(r";jsessionid=[^/?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Content:
    """Everything there is, and what a crawl should make of it."""

    pages: Mapping[str, DemoPage]
    """By address without session id; the calendar's months are made when asked for."""
    hosts: frozenset[str]
    """host[:port] of all pages and services."""
    depths: Mapping[str, int]
    """Least depth of every page that is reachable from the seeds with robots.txt obeyed, by address."""
    expected: Mapping[str, DemoService]
    """Services with a link on such a page, by endpoint key; those that robots.txt forbids to ask left out."""
    refused: frozenset[str]
    """Keys of the services that a reachable page links to and robots.txt forbids."""

    @property
    def expected_valid(self) -> frozenset[str]:
        """Keys of the endpoints that a crawl to the end finds and proves."""
        return frozenset(key for key, service in self.expected.items() if service.valid)

    @property
    def expected_invalid(self) -> Mapping[str, str]:
        """Reason code of each endpoint that a crawl to the end finds and rejects."""
        return {key: service.reason for key, service in self.expected.items() if not service.valid}


def build_content() -> Content:
    """Make all sites and work out their truth; the same every time."""
    sites = (
        english.geoportal(),
        english.catalogue(),
        english.agency(),
        english.university(),
        chinese.platform(),
        leisure.newspaper(),
        leisure.shop(),
    )
    pages = {page.address: page for site in sites for page in site.pages}
    depths = _depths(pages)
    exposed = dict(_exposed(pages, depths))
    addresses = [*pages, *(service.address for service in SERVICES)]
    return Content(
        pages=pages,
        hosts=frozenset(urlsplit(address).netloc for address in addresses),
        depths=depths,
        expected={key: service for key, service in exposed.items() if service.allowed},
        refused=frozenset(key for key, service in exposed.items() if not service.allowed),
    )


def without_session(address: str) -> str:
    """The address of the page that a link with a session id leads to."""
    return _SESSION.sub("", address)


def is_disallowed(address: str) -> bool:
    """Whether robots.txt forbids this address (plain prefixes, as written in ROBOTS)."""
    parts = urlsplit(address)
    rules = ROBOTS.get(parts.netloc, "").splitlines()
    prefixes = [line.partition(":")[2].strip() for line in rules if line.startswith("Disallow")]
    return any(prefix and parts.path.startswith(prefix) for prefix in prefixes)


def _depths(pages: Mapping[str, DemoPage]) -> dict[str, int]:
    """Breadth first; the target of a redirect is as deep as its source."""
    depths = dict.fromkeys(SEEDS, 0)
    waiting = deque(SEEDS)
    while waiting:
        address = waiting.popleft()
        redirect = pages[address].status != 200
        for link in map(without_session, pages[address].links):
            depth = depths[address] + (not redirect)
            if link in pages and depth < depths.get(link, _FAR) and not is_disallowed(link):
                depths[link] = depth
                (waiting.appendleft if redirect else waiting.append)(link)
    return depths


def _exposed(pages: Mapping[str, DemoPage], depths: Iterable[str]) -> Iterable[tuple[str, DemoService]]:
    for address in depths:
        for link in pages[address].links:
            parts = urlsplit(link)
            service = find_service(parts.netloc, parts.path, parts.query)
            if service is not None and "service=wfs" not in link.lower():
                yield key_of(service), service


def key_of(service: DemoService) -> str:
    """The endpoint key of a service."""
    url = read_url(service.address)
    assert url is not None, "addresses of the demo are well-formed"
    return endpoint_key(url)
