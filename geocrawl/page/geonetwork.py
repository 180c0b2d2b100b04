"""Read GeoNetwork's search service `q` with `_content_type=json` (2.10 to 3.12; later versions have CSW and OGC
API)."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.formats.json_values import JsonObject, integer_of, one_or_more, string_of
from geocrawl.model import Url
from geocrawl.page.addresses import address_in
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_of_protocol
from geocrawl.urls import RECORDS, records_start, records_url

SIGNAL = "geonetwork"
_MAX_LINKS = 200
"""Most links read of one record."""


def read_geonetwork(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return the records' links and the link to the next page; None for any other document."""
    if "metadata" not in data or "summary" not in data:
        return None
    records = one_or_more(data["metadata"])
    links = [found for record in records for found in _links(record)]
    return [*links, *_next_page(data, url, len(records))]


def _links(record: JsonObject) -> Iterator[RawLink]:
    """Yield the record's links, each `name|description|address|protocol|type|order`.

    A single link is a string; several links are a list of strings.
    """
    title = string_of(record.get("title")) or string_of(record.get("defaultTitle"))
    parts = string_of(record.get("responsibleParty")).split("|")
    organisation = parts[2] if len(parts) > 2 else ""
    texts = record.get("link")
    for text in (texts if isinstance(texts, list) else [texts])[:_MAX_LINKS]:
        fields = text.split("|") if isinstance(text, str) else []
        href = address_in(fields[2]) if len(fields) > 3 else ""
        if href:
            kind = kind_of_protocol(fields[3])
            yield link(
                href, SIGNAL, names=[title, fields[0], fields[3]], descriptions=[organisation, fields[1]], kind=kind
            )


def _next_page(data: JsonObject, url: Url, returned: int) -> list[RawLink]:
    start = records_start(url)
    count = integer_of(data["summary"].get("@count")) if isinstance(data["summary"], dict) else -1
    last = integer_of(data.get("@to"), (start or 0) + returned)
    if start is None or not returned or last <= start or last >= count:
        return []
    following = records_url(url, last, rows=last - start)
    return [RawLink(following.address, RECORDS)] if following is not None else []
