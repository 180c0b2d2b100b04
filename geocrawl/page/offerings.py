"""Read OWS Context in GeoJSON (OGC 14-055r2): the operations of each resource's offerings."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.formats.json_values import JsonObject, one_or_more, string_of
from geocrawl.model import Url
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_of_protocol


def read_offerings(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links of a context document or of one of its resources; None for any other document."""
    resources = one_or_more(data.get("features")) or [data]
    links = [found for resource in resources for found in _operations(resource)]
    return links or None


def _operations(resource: JsonObject) -> Iterator[RawLink]:
    """Yield the operations requested by GET; a POST's address alone requests nothing (OGC 14-055r2, 7.1.4)."""
    properties = resource.get("properties")
    if not isinstance(properties, dict):
        return
    for offering in one_or_more(properties.get("offerings")):
        kind = kind_of_protocol(string_of(offering.get("code")))
        for operation in one_or_more(offering.get("operations")):
            href = string_of(operation.get("href"))
            if href and string_of(operation.get("method")).upper() in ("", "GET"):
                names = [string_of(properties.get("title")), string_of(operation.get("code"))]
                descriptions = [string_of(properties.get("publisher")), string_of(properties.get("abstract"))]
                yield link(href, "owc", names=names, descriptions=descriptions, kind=kind)
