"""Make small webs by number: hosts of many kinds, pages that link to each other and to services, and what goes wrong.

What an address answers depends on the address and on how often it has answered, never on who asks or when. Each trouble
of a page ends before its attempts do, or never; so what a crawl comes to does not depend on the order of visits.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support.answers import CAPABILITIES

_WORDS = ("map", "WMS", "web map service", "geodata", "roads", "news", "weather", "GetCapabilities", "contact", "GIS")
_HTML = "text/html; charset=utf-8"
CRAWL_DELAY_S = 2.0
"""Crawl-delay of slow hosts."""


class Reply(NamedTuple):
    """One answer, or what comes in its place."""

    status: int = 200
    body: bytes = b""
    content_type: str = _HTML
    location: str = ""
    retry_after_s: int = 0
    fault: str = ""
    """reset, lost, truncated, silent or refused; '' for an answer."""


@dataclass(slots=True)
class Host:
    """A host of a made web."""

    name: str
    ip: str
    kind: str
    """well, slow, closed, silent, dead, refused or unwell."""
    crawl_delay_s: float = 0.0


@dataclass(slots=True)
class MadeWeb:
    """A web; `respond` counts answers, so each run has its own."""

    number: int
    hosts: dict[str, Host] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)
    replies: dict[str, Reply] = field(default_factory=dict)
    """By address without its query."""
    troubles: dict[str, list[Reply]] = field(default_factory=dict)
    """What an address answers first."""
    answered: Counter[str] = field(default_factory=Counter)

    def respond(self, host: str, address: str) -> Reply:
        """Return the next reply of an address."""
        kind = self.hosts[host].kind
        if kind in ("silent", "refused"):
            return Reply(fault=kind)
        plain, _, query = address.partition("?")
        before = self.answered[plain]
        self.answered[plain] += 1
        troubles = self.troubles.get(plain, ())
        if before < len(troubles):
            return troubles[before]
        if "/ows/" in plain:
            return _service(plain, query)
        return self.replies.get(plain, Reply(404, b"<title>404</title>"))

    def is_allowed(self, address: str) -> bool:
        """Return whether robots.txt lets an address be asked."""
        host = address.split("/")[2]
        return not (self.hosts[host].kind == "closed" and "/private/" in address)


def _service(plain: str, query: str) -> Reply:
    parameters = dict(part.partition("=")[::2] for part in query.lower().split("&"))
    if parameters.get("request") == "getcapabilities" and parameters.get("service") == "wms":
        name = plain.rpartition("/")[2]
        body = CAPABILITIES.replace("Roads of Härjedalen", f"Roads of {name}")
        return Reply(200, body.encode(), "text/xml")
    return Reply(404, b"<title>no such service</title>")


def make_web(number: int) -> MadeWeb:
    """Return the web of this number, the same every time."""
    rng = random.Random(f"web {number}")  # a text: its seed is the same in every process
    web = MadeWeb(number)
    kinds = ["well", "well", "well", *rng.sample(("well", "slow", "closed", "silent", "dead", "refused", "unwell"), 3)]
    kinds += rng.choices(("well", "slow", "closed", "silent", "dead"), k=rng.randrange(3))
    shared = ("198.51.100.1", "198.51.100.2")
    for place, kind in enumerate(kinds):
        name = f"h{place}.{rng.choice(('example.org', 'example.net', f'e{place}.example'))}"
        ip = rng.choice(shared) if kind in ("well", "slow", "closed") else f"203.0.113.{place + 1}"
        web.hosts[name] = Host(name, ip, kind, CRAWL_DELAY_S if kind == "slow" else 0.0)
        _add_robots(web, web.hosts[name])
    _add_pages(web, rng, rng.randrange(10, 24))
    return web


def _add_robots(web: MadeWeb, host: Host) -> None:
    address = f"http://{host.name}/robots.txt"
    lines = ["User-agent: *"]
    if host.kind == "closed":
        lines.append("Disallow: /private/")
    if host.kind == "slow":
        lines.append(f"Crawl-delay: {host.crawl_delay_s:g}")
    if host.kind == "unwell":
        web.troubles[address] = [Reply(503, retry_after_s=4)]
    web.replies[address] = Reply(200, "\n".join(lines).encode(), "text/plain")


def _add_pages(web: MadeWeb, rng: random.Random, count: int) -> None:
    names = list(web.hosts)
    addresses = list[str]()
    for place in range(count):
        host = web.hosts[names[0] if place == 0 else rng.choice(names)]
        folder = rng.choice(("private/", "", "")) if host.kind == "closed" else ""
        addresses.append(f"http://{host.name}/{folder}p{place}")
    links: dict[str, list[str]] = {address: [] for address in addresses}
    parents = [addresses[0]]
    for address in addresses[1:]:
        parent = rng.choice(parents[-12:])
        links[parent].append(address)
        if web.hosts[address.split("/")[2]].kind in ("well", "slow", "unwell"):
            parents.append(address)
    for address in parents:
        links[address] += rng.choices(addresses, k=rng.randrange(3))
        if rng.random() < 0.3:
            links[address].append(_service_link(web, rng, names))
        if rng.random() < 0.15:
            links[address].append(_redirect(web, rng, address, addresses))
    anchors = {address: rng.choice(_WORDS) for address in sorted({each for of in links.values() for each in of})}
    for place, address in enumerate(addresses):
        web.replies[address] = _page(rng, place, links[address], anchors)
        if place and rng.random() < 0.2:
            web.troubles[address] = [_trouble(rng)]
        elif place and rng.random() < 0.06:
            web.replies[address] = rng.choice((Reply(404), Reply(fault="reset"), Reply(500), Reply(410)))
    web.seeds = [addresses[0]]


def _trouble(rng: random.Random) -> Reply:
    """Return what a page answers once, and then no more."""
    return rng.choice(
        (
            Reply(503, retry_after_s=rng.choice((2, 6, 15))),
            Reply(429, retry_after_s=rng.choice((2, 6, 15))),
            Reply(503),
            Reply(fault="reset"),
            Reply(fault="lost"),
            Reply(fault="truncated"),
            Reply(fault="silent"),
        )
    )


def _service_link(web: MadeWeb, rng: random.Random, names: list[str]) -> str:
    plain = f"http://{rng.choice(names)}/ows/s{rng.randrange(6)}"
    if rng.random() < 0.2:
        web.troubles[plain] = [Reply(503, retry_after_s=3)]
    return f"{plain}?SERVICE=WMS&REQUEST=GetCapabilities"


def _redirect(web: MadeWeb, rng: random.Random, source: str, addresses: list[str]) -> str:
    host = source.split("/")[2]
    address = f"http://{host}/r{len(web.replies)}"
    web.replies[address] = Reply(301, location=rng.choice(addresses))
    return address


def _page(rng: random.Random, place: int, links: list[str], anchors: dict[str, str]) -> Reply:
    """Return a page. All links to an address have the same text: one that may be a service is that for all."""
    words = " ".join(rng.choices(_WORDS, k=6))
    lines = "".join(f'<p><a href="{link}">{anchors[link]}</a></p>' for link in links)
    return Reply(200, f"<title>Page {place} {words}</title><body><p>{words}</p>{lines}</body>".encode())
