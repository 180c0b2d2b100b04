"""OWS Context in GeoJSON (OGC 14-055r2): the operations of each resource's offerings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geocrawl.model import Url
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_of_protocol
from geocrawl.page.values import objects, text_of


def read_offerings(data: dict[str, Any], url: Url) -> list[RawLink] | None:
    """Links of a context document or of one of its resources; None for any other document."""
    resources = objects(data.get("features")) or [data]
    links = [found for resource in resources for found in _operations(resource)]
    return links or None


def _operations(resource: dict[str, Any]) -> Iterator[RawLink]:
    """Those that are asked by GET; a POST's address alone asks for nothing (OGC 14-055r2, 7.1.4)."""
    properties = resource.get("properties")
    if not isinstance(properties, dict):
        return
    for offering in objects(properties.get("offerings")):
        kind = kind_of_protocol(text_of(offering.get("code")))
        for operation in objects(offering.get("operations")):
            href = text_of(operation.get("href"))
            if href and text_of(operation.get("method")).upper() in ("", "GET"):
                names = [text_of(properties.get("title")), text_of(operation.get("code"))]
                said_of_it = [text_of(properties.get("publisher")), text_of(properties.get("abstract"))]
                yield link(href, "owc", names=names, said_of_it=said_of_it, kind=kind)
