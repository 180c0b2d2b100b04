"""Read the answers of a recorded web as a crawl reads them: documents, what they lead to, which services they name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.warc import StoredAnswer
from geocrawl.lab.recorded_worlds.world import TOPIC_KIND, World
from geocrawl.model import Document, Page
from geocrawl.page.document import PageReader
from geocrawl.urls import read_url

_RESOURCE = re.compile(rb"""["']([^"'\s<>]{1,500}\.(?:js|json))["']""")
"""Address of a script or configuration that a page or script names: no link, but such a file may name services."""


def documents(world: World) -> Iterator[tuple[str, Document, StoredAnswer]]:
    """Yield (key, document, answer) of every recorded answer that a crawl reads as a page."""
    reader = PageReader(tag_paths=True)
    for key in world.warc.records:
        stored = world.stored(key)
        url = read_url(f"http://{key}")
        if stored is None or url is None or stored.kind == "robots":
            continue
        headers = {name.lower(): value for name, value in stored.headers}
        page = Page(url, url, stored.status, headers, stored.body, 0.0, 0.0)
        yield key, reader.read(page, depth=0), stored


def targets(world: World, key: str, document: Document, stored: StoredAnswer) -> Iterator[str]:
    """Yield the keys of the recorded answers to which the answer `key` leads."""
    addresses = [link.url.address for link in document.links]
    named = [match.decode("utf-8", "replace") for match in _RESOURCE.findall(stored.body)]
    if 300 <= stored.status < 400:
        named += [value for name, value in stored.headers if name.lower() == "location"]
    base = f"http://{key}"
    addresses += [url.address for url in (read_url(text, base) for text in named) if url is not None]
    for address in addresses:
        target = key_of(address)
        if target in world.warc.records:
            yield target


def named_at(world: World) -> dict[str, set[str]]:
    """Return key of a recorded answer → ids of the valid services of the topic that it names."""
    named: dict[str, set[str]] = {}
    for service in world.services:
        if service.kind == TOPIC_KIND and service.valid and service.reachable:
            for page, _ in service.exposures:
                named.setdefault(key_of(page), set()).add(service.id)
    return named
