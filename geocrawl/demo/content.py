"""Make the whole demo web with its truth: which pages exist, their depth, which endpoints are valid or why not."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from geocrawl.demo import sites
from geocrawl.demo.kinds import OFFICES
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
    """All pages and services, and what a crawl should find."""

    pages: Mapping[str, DemoPage]
    """By address without session id; the months of the calendar are made on request."""
    hosts: frozenset[str]
    """host[:port] of all pages and services."""
    depths: Mapping[str, int]
    """Least depth of every page that is reachable from the seeds with robots.txt obeyed, by address."""
    expected: Mapping[str, DemoService]
    """Services that a reachable page links to, by endpoint key, without those that robots.txt forbids."""
    refused: frozenset[str]
    """Keys of the services that a reachable page links to and robots.txt forbids."""

    @property
    def expected_valid(self) -> frozenset[str]:
        """Return the keys of the endpoints that a complete crawl finds valid."""
        return frozenset(key for key, service in self.expected.items() if service.valid)

    @property
    def expected_invalid(self) -> Mapping[str, str]:
        """Return the reason code of each endpoint that a complete crawl finds invalid."""
        return {key: service.reason for key, service in self.expected.items() if not service.valid}


def build_content() -> Content:
    """Make all sites and compute their truth; every call returns the same."""
    built = (
        sites.geoportal(),
        sites.catalogue(),
        sites.agency(),
        sites.network(),
        sites.university(),
        sites.platform(),
        sites.newspaper(),
        sites.shop(),
    )
    pages = {page.address: page for site in built for page in site.pages}
    depths = _depths(pages)
    exposed = dict(_exposed(pages, depths))
    addresses = [*pages, *(service.address for service in SERVICES)]
    return Content(
        pages=pages,
        hosts=frozenset([*(urlsplit(address).netloc for address in addresses), *(office.host for office in OFFICES)]),
        depths=depths,
        expected={key: service for key, service in exposed.items() if service.allowed},
        refused=frozenset(key for key, service in exposed.items() if not service.allowed),
    )


def without_session(address: str) -> str:
    """Return the address of the page to which a link with a session id leads."""
    return _SESSION.sub("", address)


def is_disallowed(address: str) -> bool:
    """Return whether robots.txt forbids an address (plain prefixes, as in ROBOTS)."""
    parts = urlsplit(address)
    rules = ROBOTS.get(parts.netloc, "").splitlines()
    prefixes = [line.partition(":")[2].strip() for line in rules if line.startswith("Disallow")]
    return any(prefix and parts.path.startswith(prefix) for prefix in prefixes)


def _depths(pages: Mapping[str, DemoPage]) -> dict[str, int]:
    """Return the depth of each page, breadth first; the target of a redirect is as deep as its source."""
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
    """Return the endpoint key of a service."""
    url = read_url(service.address)
    assert url is not None, "addresses of the demo are well-formed"
    return endpoint_key(url)
